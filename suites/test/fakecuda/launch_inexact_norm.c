/* launch_inexact_norm.c: twins of batch and layer normalisation, whose sums a GPU computes in
 * another order: each thread of a block adds every n-th of its values, then the block adds the sums
 * of its threads, in double. */
#include "launch_inexact.h"

#include <math.h>

enum { THREADS = 256, COLUMNS = 32, LANES = THREADS / COLUMNS };

/* The place of value number k of channel c. The rows of a layer norm are the channels of one row.
 */
static size_t norm_place(size_t channels, size_t inner, size_t c, size_t k)
{
    return (k / inner * channels + c) * inner + k % inner;
}

static size_t batch_place(const struct dp_batch_norm_args *g, size_t c, size_t k)
{
    return norm_place(g->channels, g->inner, c, k);
}

static void move_to(float *running, double momentum, double value)
{
    *running = (float)((1.0 - momentum) * (double)*running + momentum * value);
}

/* Returns the sum of (x - mean)^power of a channel. */
static double norm_sum_of(const float *x, const size_t shape[3], size_t c, double mean, int power)
{
    double part[THREADS] = {0.0};
    for (size_t k = 0; k < shape[0] * shape[2]; ++k) {
        const double d = (double)x[norm_place(shape[1], shape[2], c, k)] - mean;
        part[k % THREADS] += power == 1 ? d : d * d;
    }
    return twin_tree(part, THREADS);
}

void twin_batch_norm(const void *args)
{
    const struct dp_batch_norm_args *g = args;
    const double n = (double)(g->rows * g->inner);
    const size_t shape[3] = {g->rows, g->channels, g->inner};
    for (size_t c = 0; c < g->channels; ++c) {
        const double mean = norm_sum_of(g->x, shape, c, 0.0, 1) / n;
        const double squares = norm_sum_of(g->x, shape, c, mean, 2);
        const double invstd = 1.0 / sqrt(squares / n + g->eps);
        const double factor = invstd * (double)g->weight[c];
        g->mean[c] = (float)mean;
        g->invstd[c] = (float)invstd;
        for (size_t k = 0; k < g->rows * g->inner; ++k) {
            const size_t i = batch_place(g, c, k);
            g->y[i] = (float)(((double)g->x[i] - mean) * factor + (double)g->bias[c]);
        }
        move_to(&g->running_mean[c], g->momentum, mean);
        move_to(&g->running_var[c], g->momentum, squares / (n - 1.0));
    }
    *g->count += 1;
}

static void norm_add_to(float *grad, size_t c, double value, bool accumulate)
{
    if (grad)
        grad[c] = (float)(accumulate ? (double)grad[c] + value : value);
}

void twin_batch_norm_grad(const void *args)
{
    const struct dp_batch_norm_args *g = args;
    const size_t n = g->rows * g->inner;
    for (size_t c = 0; c < g->channels; ++c) {
        const double mean = (double)g->mean[c], invstd = (double)g->invstd[c];
        double sums[THREADS] = {0.0}, products[THREADS] = {0.0};
        for (size_t k = 0; k < n; ++k) {
            const size_t i = batch_place(g, c, k);
            sums[k % THREADS] += (double)g->dy[i];
            products[k % THREADS] += (double)g->dy[i] * ((double)g->x[i] - mean) * invstd;
        }
        const double sum = twin_tree(sums, THREADS), product = twin_tree(products, THREADS);
        norm_add_to(g->dweight, c, product, g->accumulate_weight);
        norm_add_to(g->dbias, c, sum, g->accumulate_bias);
        const double factor = (double)g->weight[c] * invstd;
        const double shift = g->training ? sum / (double)n : 0.0;
        const double slope = g->training ? product / (double)n : 0.0;
        for (size_t k = 0; g->y && k < n; ++k) {
            const size_t i = batch_place(g, c, k);
            const double xhat = ((double)g->x[i] - mean) * invstd;
            g->y[i] = (float)(factor * ((double)g->dy[i] - shift - xhat * slope));
        }
    }
}

void twin_layer_norm(const void *args)
{
    const struct dp_layer_norm_args *g = args;
    const double n = (double)g->width;
    const size_t shape[3] = {1, g->rows, g->width};
    for (size_t r = 0; r < g->rows; ++r) {
        const float *x = g->x + r * g->width;
        const double mean = norm_sum_of(g->x, shape, r, 0.0, 1) / n;
        const double invstd = 1.0 / sqrt(norm_sum_of(g->x, shape, r, mean, 2) / n + g->eps);
        g->mean[r] = (float)mean;
        g->invstd[r] = (float)invstd;
        for (size_t c = 0; c < g->width; ++c)
            g->y[r * g->width + c] =
                (float)(((double)x[c] - mean) * invstd * (double)g->weight[c] + (double)g->bias[c]);
    }
}

static double xhat(const struct dp_layer_norm_args *g, size_t r, size_t c)
{
    return ((double)g->x[r * g->width + c] - (double)g->mean[r]) * (double)g->invstd[r];
}

void twin_layer_norm_grad(const void *args)
{
    const struct dp_layer_norm_args *g = args;
    for (size_t r = 0; g->y && r < g->rows; ++r) {
        const float *dy = g->dy + r * g->width;
        double sums[THREADS] = {0.0}, products[THREADS] = {0.0};
        for (size_t c = 0; c < g->width; ++c) {
            const double d = (double)dy[c] * (double)g->weight[c];
            sums[c % THREADS] += d;
            products[c % THREADS] += d * xhat(g, r, c);
        }
        const double shift = twin_tree(sums, THREADS) / (double)g->width;
        const double slope = twin_tree(products, THREADS) / (double)g->width;
        for (size_t c = 0; c < g->width; ++c) {
            const double d = (double)dy[c] * (double)g->weight[c];
            g->y[r * g->width + c] =
                (float)((double)g->invstd[r] * (d - shift - xhat(g, r, c) * slope));
        }
    }
    for (size_t c = 0; c < g->width; ++c) {
        double sums[LANES] = {0.0}, products[LANES] = {0.0};
        for (size_t r = 0; r < g->rows; ++r) {
            const double dy = (double)g->dy[r * g->width + c];
            sums[r % LANES] += dy;
            products[r % LANES] += dy * xhat(g, r, c);
        }
        norm_add_to(g->dweight, c, twin_tree(products, LANES), g->accumulate_weight);
        norm_add_to(g->dbias, c, twin_tree(sums, LANES), g->accumulate_bias);
    }
}
