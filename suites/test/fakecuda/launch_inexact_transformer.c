/* launch_inexact_transformer.c: twins of layer normalisation and of attention's softmax, whose sums
 * a GPU computes in another order: each of n threads adds every n-th value, then their sums are
 * added in a tree, in double. */
#include "launch_inexact.h"

#include <math.h>

enum { THREADS = 256, WARP = 32, COLUMNS = 32, LANES = THREADS / COLUMNS };

/* Returns the sum of (x - mean)^power of a row. */
static double rows_sum_of(const float *x, size_t n, double mean, int power)
{
    double part[THREADS] = {0.0};
    for (size_t c = 0; c < n; ++c) {
        const double d = (double)x[c] - mean;
        part[c % THREADS] += power == 1 ? d : d * d;
    }
    return twin_tree(part, THREADS);
}

void twin_layer_norm(const void *args)
{
    const struct dp_layer_norm_args *g = args;
    const double n = (double)g->width;
    for (size_t r = 0; r < g->rows; ++r) {
        const float *x = g->x + r * g->width;
        const double mean = rows_sum_of(x, g->width, 0.0, 1) / n;
        const double invstd = 1.0 / sqrt(rows_sum_of(x, g->width, mean, 2) / n + g->eps);
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

static void rows_add_to(float *grad, size_t c, double value, bool accumulate)
{
    if (grad)
        grad[c] = (float)(accumulate ? (double)grad[c] + value : value);
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
        rows_add_to(g->dweight, c, twin_tree(products, LANES), g->accumulate_weight);
        rows_add_to(g->dbias, c, twin_tree(sums, LANES), g->accumulate_bias);
    }
}

void twin_causal(const void *args)
{
    const struct dp_causal_args *g = args;
    for (size_t r = 0; r < g->n * g->time; ++r) {
        float *p = g->p + r * g->time;
        const size_t seen = r % g->time + 1;
        double largest = -(double)INFINITY, part[WARP] = {0.0};
        for (size_t s = 0; s < seen; ++s)
            largest = g->scale * (double)p[s] > largest ? g->scale * (double)p[s] : largest;
        for (size_t s = 0; s < seen; ++s)
            part[s % WARP] += exp(g->scale * (double)p[s] - largest);
        const double sum = twin_tree(part, WARP);
        for (size_t s = 0; s < g->time; ++s)
            p[s] = s < seen ? (float)(exp(g->scale * (double)p[s] - largest) / sum) : 0.0f;
    }
}

void twin_causal_grad(const void *args)
{
    const struct dp_causal_args *g = args;
    for (size_t r = 0; r < g->n * g->time; ++r) {
        const float *p = g->p + r * g->time;
        float *d = g->d + r * g->time;
        const size_t seen = r % g->time + 1;
        double part[WARP] = {0.0};
        for (size_t s = 0; s < seen; ++s)
            part[s % WARP] += (double)p[s] * (double)d[s];
        const double sum = twin_tree(part, WARP);
        for (size_t s = 0; s < g->time; ++s)
            d[s] = s < seen ? (float)(g->scale * (double)p[s] * ((double)d[s] - sum)) : 0.0f;
    }
}
