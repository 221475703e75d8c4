/* kernels_fast_layer_norm.c: layer normalisation with sums in lanes, still in double: the
 * reference's bits but for a last one, now and then. */
#include "kernels_fast.h"

#include <math.h>

#define LANES   8
#define COLUMNS 64

/* The sum of (x - mean)^power; power 1 or 2. */
DP_WIDE static double sum_of(const float *x, size_t n, double mean, int power)
{
    double lane[LANES] = {0.0}, sum = 0.0;
    const size_t whole = n - n % LANES;
    for (size_t c = 0; power == 1 && c < whole; c += LANES) {
        for (size_t k = 0; k < LANES; ++k)
            lane[k] += (double)x[c + k];
    }
    for (size_t c = 0; power == 2 && c < whole; c += LANES) {
        for (size_t k = 0; k < LANES; ++k)
            lane[k] += ((double)x[c + k] - mean) * ((double)x[c + k] - mean);
    }
    for (size_t c = whole; c < n; ++c)
        sum += power == 1 ? (double)x[c] : ((double)x[c] - mean) * ((double)x[c] - mean);
    for (size_t k = 0; k < LANES; ++k)
        sum += lane[k];
    return sum;
}

DP_WIDE static void normalise(float *restrict y, const float *restrict x,
                              const float *restrict weight, const float *restrict bias, size_t n,
                              double mean, double invstd)
{
    for (size_t c = 0; c < n; ++c)
        y[c] = (float)(((double)x[c] - mean) * invstd * (double)weight[c] + (double)bias[c]);
}

void dp_fast_layer_norm(const void *args)
{
    const struct dp_layer_norm_args *g = args;
    const double n = (double)g->width;
    for (size_t r = 0; r < g->rows; ++r) {
        const float *x = g->x + r * g->width;
        const double mean = sum_of(x, g->width, 0.0, 1) / n;
        const double invstd = 1.0 / sqrt(sum_of(x, g->width, mean, 2) / n + g->eps);
        g->mean[r] = (float)mean;
        g->invstd[r] = (float)invstd;
        normalise(g->y + r * g->width, x, g->weight, g->bias, g->width, mean, invstd);
    }
}

/* A row, and what its forward has left. */
struct row {
    const float *x, *dy, *weight;
    double mean, invstd;
    size_t n;
};

/* Means of d = dy weight and of d xhat. */
DP_WIDE static void means(const struct row *r, double *shift, double *slope)
{
    double sums[LANES] = {0.0}, products[LANES] = {0.0}, sum = 0.0, product = 0.0;
    const float *x = r->x, *dy = r->dy, *weight = r->weight;
    const double mean = r->mean, invstd = r->invstd;
    const size_t whole = r->n - r->n % LANES;
    for (size_t c = 0; c < whole; c += LANES) {
        for (size_t k = 0; k < LANES; ++k) {
            const double d = (double)dy[c + k] * (double)weight[c + k];
            sums[k] += d;
            products[k] += d * (((double)x[c + k] - mean) * invstd);
        }
    }
    for (size_t c = whole; c < r->n; ++c) {
        const double d = (double)dy[c] * (double)weight[c];
        sum += d;
        product += d * (((double)x[c] - mean) * invstd);
    }
    for (size_t k = 0; k < LANES; ++k) {
        sum += sums[k];
        product += products[k];
    }
    *shift = sum / (double)r->n;
    *slope = product / (double)r->n;
}

DP_WIDE static void input_grad(float *restrict dx, const struct row *r, double shift, double slope)
{
    const float *restrict x = r->x, *restrict dy = r->dy, *restrict weight = r->weight;
    const double mean = r->mean, invstd = r->invstd;
    for (size_t c = 0; c < r->n; ++c) {
        const double d = (double)dy[c] * (double)weight[c];
        const double xhat = ((double)x[c] - mean) * invstd;
        dx[c] = (float)(invstd * (d - shift - xhat * slope));
    }
}

/* Adds one row to the sums of some columns. */
DP_WIDE static void add_row(double *restrict sum, double *restrict product, const float *restrict x,
                            const float *restrict dy, size_t n, double mean, double invstd)
{
    for (size_t c = 0; c < n; ++c) {
        sum[c] += (double)dy[c];
        product[c] += (double)dy[c] * (((double)x[c] - mean) * invstd);
    }
}

static void add_to(float *grad, const double sum[], size_t n, bool accumulate)
{
    for (size_t c = 0; grad && c < n; ++c)
        grad[c] = (float)(accumulate ? (double)grad[c] + sum[c] : sum[c]);
}

void dp_fast_layer_norm_grad(const void *args)
{
    const struct dp_layer_norm_args *g = args;
    for (size_t r = 0; g->y && r < g->rows; ++r) {
        const struct row row = {g->x + r * g->width, g->dy + r * g->width, g->weight,
                                (double)g->mean[r],  (double)g->invstd[r], g->width};
        double shift, slope;
        means(&row, &shift, &slope);
        input_grad(g->y + r * g->width, &row, shift, slope);
    }
    for (size_t from = 0; (g->dweight || g->dbias) && from < g->width; from += COLUMNS) {
        double sum[COLUMNS] = {0.0}, product[COLUMNS] = {0.0};
        const size_t n = g->width - from < COLUMNS ? g->width - from : COLUMNS;
        for (size_t r = 0; r < g->rows; ++r)
            add_row(sum, product, g->x + r * g->width + from, g->dy + r * g->width + from, n,
                    (double)g->mean[r], (double)g->invstd[r]);
        add_to(g->dweight ? g->dweight + from : NULL, product, n, g->accumulate_weight);
        add_to(g->dbias ? g->dbias + from : NULL, sum, n, g->accumulate_bias);
    }
}
