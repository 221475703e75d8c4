/* kernels_ref_norm.c: the portable kernels of batch and layer normalisation. */
#include "kernels_ref.h"
#include "lanes.h"

/* Value number k of channel c. */
static size_t ref_norm_place(const struct dp_batch_norm_args *g, size_t c, size_t k)
{
    return (k / g->inner * g->channels + c) * g->inner + k % g->inner;
}

static void ref_norm_normalise(const struct dp_batch_norm_args *g, size_t c, double mean,
                               double var)
{
    const struct dp_norm_line line = dp_norm_line(g, c, mean, var);
    for (size_t k = 0; k < g->rows * g->inner; ++k) {
        const size_t i = ref_norm_place(g, c, k);
        g->y[i] = (float)(((double)g->x[i] - line.mean) * line.factor + line.bias);
    }
}

void dp_ref_batch_norm(const void *args)
{
    const struct dp_batch_norm_args *g = args;
    const size_t n = g->rows * g->inner;
    for (size_t c = 0; c < g->channels; ++c) {
        double sums[DP_SUM_LANES] = {0.0}, squares[DP_SUM_LANES] = {0.0};
        for (size_t k = 0; k < n; ++k)
            sums[k % DP_SUM_LANES] += (double)g->x[ref_norm_place(g, c, k)];
        const double mean = dp_sum_of_lanes(sums) / (double)n;
        for (size_t k = 0; k < n; ++k) {
            const double d = (double)g->x[ref_norm_place(g, c, k)] - mean;
            squares[k % DP_SUM_LANES] += d * d;
        }
        const double square = dp_sum_of_lanes(squares);
        ref_norm_normalise(g, c, mean, square / (double)n);
        dp_norm_move(&g->running_mean[c], g->momentum, mean);
        dp_norm_move(&g->running_var[c], g->momentum, square / ((double)n - 1.0));
    }
    *g->count += 1;
}

void dp_ref_batch_norm_eval(const void *args)
{
    const struct dp_batch_norm_args *g = args;
    for (size_t c = 0; c < g->channels; ++c)
        ref_norm_normalise(g, c, (double)g->running_mean[c], (double)g->running_var[c]);
}

void dp_ref_batch_norm_grad(const void *args)
{
    const struct dp_batch_norm_args *g = args;
    const size_t n = g->rows * g->inner;
    for (size_t c = 0; c < g->channels; ++c) {
        const double mean = (double)g->mean[c], invstd = (double)g->invstd[c];
        double sums[DP_SUM_LANES] = {0.0}, products[DP_SUM_LANES] = {0.0};
        for (size_t k = 0; k < n; ++k) {
            const size_t i = ref_norm_place(g, c, k);
            sums[k % DP_SUM_LANES] += (double)g->dy[i];
            products[k % DP_SUM_LANES] += (double)g->dy[i] * ((double)g->x[i] - mean) * invstd;
        }
        const double sum = dp_sum_of_lanes(sums), product = dp_sum_of_lanes(products);
        dp_norm_add(g->dweight, c, product, g->accumulate_weight);
        dp_norm_add(g->dbias, c, sum, g->accumulate_bias);
        const struct dp_norm_slope s = dp_norm_slope(g, c, sum, product);
        for (size_t k = 0; g->y && k < n; ++k) {
            const size_t i = ref_norm_place(g, c, k);
            const double xhat = ((double)g->x[i] - s.mean) * s.invstd;
            g->y[i] = (float)(s.factor * ((double)g->dy[i] - s.shift - xhat * s.slope));
        }
    }
}

void dp_ref_layer_norm(const void *args)
{
    const struct dp_layer_norm_args *g = args;
    const double n = (double)g->width;
    for (size_t r = 0; r < g->rows; ++r) {
        const float *x = g->x + r * g->width;
        double sums[DP_SUM_LANES] = {0.0}, squares[DP_SUM_LANES] = {0.0};
        for (size_t c = 0; c < g->width; ++c)
            sums[c % DP_SUM_LANES] += (double)x[c];
        const double mean = dp_sum_of_lanes(sums) / n;
        for (size_t c = 0; c < g->width; ++c)
            squares[c % DP_SUM_LANES] += ((double)x[c] - mean) * ((double)x[c] - mean);
        const double invstd = 1.0 / sqrt(dp_sum_of_lanes(squares) / n + g->eps);
        g->mean[r] = (float)mean;
        g->invstd[r] = (float)invstd;
        for (size_t c = 0; c < g->width; ++c)
            g->y[r * g->width + c] =
                (float)(((double)x[c] - mean) * invstd * (double)g->weight[c] + (double)g->bias[c]);
    }
}

static double row_xhat(const struct dp_layer_norm_args *g, size_t r, size_t c)
{
    return ((double)g->x[r * g->width + c] - (double)g->mean[r]) * (double)g->invstd[r];
}

void dp_ref_layer_norm_grad(const void *args)
{
    const struct dp_layer_norm_args *g = args;
    for (size_t r = 0; g->y && r < g->rows; ++r) {
        const float *dy = g->dy + r * g->width;
        double sums[DP_SUM_LANES] = {0.0}, products[DP_SUM_LANES] = {0.0};
        for (size_t c = 0; c < g->width; ++c) {
            const double d = (double)dy[c] * (double)g->weight[c];
            sums[c % DP_SUM_LANES] += d;
            products[c % DP_SUM_LANES] += d * row_xhat(g, r, c);
        }
        const double shift = dp_sum_of_lanes(sums) / (double)g->width;
        const double slope = dp_sum_of_lanes(products) / (double)g->width;
        for (size_t c = 0; c < g->width; ++c) {
            const double d = (double)dy[c] * (double)g->weight[c];
            g->y[r * g->width + c] =
                (float)((double)g->invstd[r] * (d - shift - row_xhat(g, r, c) * slope));
        }
    }
    for (size_t c = 0; c < g->width; ++c) {
        double sum = 0.0, product = 0.0;
        for (size_t r = 0; r < g->rows; ++r) {
            sum += (double)g->dy[r * g->width + c];
            product += (double)g->dy[r * g->width + c] * row_xhat(g, r, c);
        }
        dp_norm_add(g->dweight, c, product, g->accumulate_weight);
        dp_norm_add(g->dbias, c, sum, g->accumulate_bias);
    }
}
