/* kernels_fast_layer_norm.c: layer normalisation. The same operations in the same order as in the
 * references, so the same bits. */
#include "kernels_fast.h"
#include "lanes.h"
#include "norm.h"

/* Columns whose sums over the rows are made at a time. */
#define COLUMNS 64

DP_WIDE static double sum_values(const float *x, size_t n)
{
    double s[DP_SUM_LANES] = {0.0};
    size_t i = 0;
    for (; n - i >= DP_SUM_LANES; i += DP_SUM_LANES)
        for (size_t l = 0; l < DP_SUM_LANES; ++l)
            s[l] += (double)x[i + l];
    for (size_t l = 0; i + l < n; ++l)
        s[l] += (double)x[i + l];
    return dp_sum_of_lanes(s);
}

DP_WIDE static double sum_squares(const float *x, size_t n, double mean)
{
    double s[DP_SUM_LANES] = {0.0};
    size_t i = 0;
    for (; n - i >= DP_SUM_LANES; i += DP_SUM_LANES)
        for (size_t l = 0; l < DP_SUM_LANES; ++l)
            s[l] += ((double)x[i + l] - mean) * ((double)x[i + l] - mean);
    for (size_t l = 0; i + l < n; ++l)
        s[l] += ((double)x[i + l] - mean) * ((double)x[i + l] - mean);
    return dp_sum_of_lanes(s);
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
        const double mean = sum_values(x, g->width) / n;
        const double invstd = 1.0 / sqrt(sum_squares(x, g->width, mean) / n + g->eps);
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
    double sums[DP_SUM_LANES] = {0.0}, products[DP_SUM_LANES] = {0.0};
    const float *x = r->x, *dy = r->dy, *weight = r->weight;
    const double mean = r->mean, invstd = r->invstd;
    size_t c = 0;
    for (; r->n - c >= DP_SUM_LANES; c += DP_SUM_LANES) {
        for (size_t l = 0; l < DP_SUM_LANES; ++l) {
            const double d = (double)dy[c + l] * (double)weight[c + l];
            sums[l] += d;
            products[l] += d * (((double)x[c + l] - mean) * invstd);
        }
    }
    for (size_t l = 0; c + l < r->n; ++l) {
        const double d = (double)dy[c + l] * (double)weight[c + l];
        sums[l] += d;
        products[l] += d * (((double)x[c + l] - mean) * invstd);
    }
    *shift = dp_sum_of_lanes(sums) / (double)r->n;
    *slope = dp_sum_of_lanes(products) / (double)r->n;
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
        for (size_t c = 0; c < n; ++c) {
            dp_norm_add(g->dweight, from + c, product[c], g->accumulate_weight);
            dp_norm_add(g->dbias, from + c, sum[c], g->accumulate_bias);
        }
    }
}
