/* launch_inexact_norm.c: twins of batch normalisation, whose sums a GPU computes in another order:
 * each thread of a channel's block adds every n-th of its values, then the block adds the sums of
 * its threads, in double. */
#include "launch_inexact.h"

#include <math.h>

enum { THREADS = 256 };

/* Returns value number k of channel c. */
static size_t batch_place(const struct dp_batch_norm_args *g, size_t c, size_t k)
{
    return (k / g->inner * g->channels + c) * g->inner + k % g->inner;
}

static void move_to(float *running, double momentum, double value)
{
    *running = (float)((1.0 - momentum) * (double)*running + momentum * value);
}

/* Returns the sum of (x - mean)^power. */
static double batch_sum_of(const struct dp_batch_norm_args *g, size_t c, double mean, int power)
{
    double part[THREADS] = {0.0};
    for (size_t k = 0; k < g->rows * g->inner; ++k) {
        const double d = (double)g->x[batch_place(g, c, k)] - mean;
        part[k % THREADS] += power == 1 ? d : d * d;
    }
    return twin_tree(part, THREADS);
}

void twin_batch_norm(const void *args)
{
    const struct dp_batch_norm_args *g = args;
    const double n = (double)(g->rows * g->inner);
    for (size_t c = 0; c < g->channels; ++c) {
        const double mean = batch_sum_of(g, c, 0.0, 1) / n, squares = batch_sum_of(g, c, mean, 2);
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

static void batch_add_to(float *grad, size_t c, double value, bool accumulate)
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
        batch_add_to(g->dweight, c, product, g->accumulate_weight);
        batch_add_to(g->dbias, c, sum, g->accumulate_bias);
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
