/* kernels_fast_layer_norm.c: layer normalisation. The operations are those of the references in the
 * same order, so the bits are the same. */
#include "kernels_fast.h"
#include "lanes.h"

/* Sums over the rows are made for so many columns at a time: 15 KiB of a worker's stack. */
enum { COLUMNS = 960 };

DP_WIDE static double sum_values(const float *x, size_t n)
{
    dp_lanes sums = {0.0}, values;
    double s[DP_SUM_LANES];
    size_t i = 0;
    for (; n - i >= DP_SUM_LANES; i += DP_SUM_LANES) {
        dp_lanes_load(&values, x + i);
        sums += values;
    }
    memcpy(s, &sums, sizeof s);
    for (size_t l = 0; i + l < n; ++l)
        s[l] += (double)x[i + l];
    return dp_sum_of_lanes(s);
}

DP_WIDE static double sum_squares(const float *x, size_t n, double mean)
{
    dp_lanes sums = {0.0}, values;
    double s[DP_SUM_LANES];
    size_t i = 0;
    for (; n - i >= DP_SUM_LANES; i += DP_SUM_LANES) {
        dp_lanes_load(&values, x + i);
        values -= mean;
        sums += values * values;
    }
    memcpy(s, &sums, sizeof s);
    for (size_t l = 0; i + l < n; ++l)
        s[l] += ((double)x[i + l] - mean) * ((double)x[i + l] - mean);
    return dp_sum_of_lanes(s);
}

DP_WIDE static void fast_layer_norm_normalise(float *restrict y, const float *restrict x,
                                              const float *restrict weight,
                                              const float *restrict bias, size_t n, double mean,
                                              double invstd)
{
    size_t c = 0;
    for (; n - c >= DP_SUM_LANES; c += DP_SUM_LANES) {
        dp_lanes values, factor, term;
        dp_lanes_load(&values, x + c);
        dp_lanes_load(&factor, weight + c);
        dp_lanes_load(&term, bias + c);
        values = (values - mean) * invstd * factor + term;
        dp_lanes_store(y + c, &values);
    }
    for (; c < n; ++c)
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
        fast_layer_norm_normalise(g->y + r * g->width, x, g->weight, g->bias, g->width, mean,
                                  invstd);
    }
}

/* A row, and the results of its forward. */
struct row {
    const float *x, *dy, *weight;
    double mean, invstd;
    size_t begin, n, first; /* columns begin to n; sums are made from column first on */
};

/* Sums of these columns over the rows so far. */
struct sums {
    double dy[COLUMNS], product[COLUMNS]; /* dy xhat */
};

/* Computes the means of d = dy weight and of d xhat, and adds the row to the sums of the columns
 * from first on. */
DP_WIDE static void look_at_row(const struct row *r, struct sums *sums, double *shift,
                                double *slope)
{
    dp_lanes total = {0.0}, products = {0.0}, x, dy, weight, sum;
    double s[DP_SUM_LANES], p[DP_SUM_LANES];
    size_t c = r->begin;
    for (; r->n - c >= DP_SUM_LANES; c += DP_SUM_LANES) {
        dp_lanes_load(&x, r->x + c);
        dp_lanes_load(&dy, r->dy + c);
        dp_lanes_load(&weight, r->weight + c);
        x = (x - r->mean) * r->invstd;
        if (c - r->first < COLUMNS) {
            memcpy(&sum, sums->dy + (c - r->first), sizeof sum);
            sum += dy;
            memcpy(sums->dy + (c - r->first), &sum, sizeof sum);
            memcpy(&sum, sums->product + (c - r->first), sizeof sum);
            sum += dy * x;
            memcpy(sums->product + (c - r->first), &sum, sizeof sum);
        }
        dy *= weight;
        total += dy;
        products += dy * x;
    }
    memcpy(s, &total, sizeof s);
    memcpy(p, &products, sizeof p);
    for (size_t l = 0; c < r->n; ++l, ++c) {
        const double xhat = ((double)r->x[c] - r->mean) * r->invstd, one = (double)r->dy[c];
        sums->dy[c - r->first] += one;
        sums->product[c - r->first] += one * xhat;
        s[l] += one * (double)r->weight[c];
        p[l] += one * (double)r->weight[c] * xhat;
    }
    *shift = dp_sum_of_lanes(s) / (double)r->n;
    *slope = dp_sum_of_lanes(p) / (double)r->n;
}

DP_WIDE static void fast_layer_norm_input_grad(float *restrict dx, const struct row *r,
                                               double shift, double slope)
{
    size_t c = 0;
    for (; r->n - c >= DP_SUM_LANES; c += DP_SUM_LANES) {
        dp_lanes x, d, weight;
        dp_lanes_load(&x, r->x + c);
        dp_lanes_load(&d, r->dy + c);
        dp_lanes_load(&weight, r->weight + c);
        x = (x - r->mean) * r->invstd;
        d = r->invstd * (d * weight - shift - x * slope);
        dp_lanes_store(dx + c, &d);
    }
    for (; c < r->n; ++c) {
        const double d = (double)r->dy[c] * (double)r->weight[c];
        const double xhat = ((double)r->x[c] - r->mean) * r->invstd;
        dx[c] = (float)(r->invstd * (d - shift - xhat * slope));
    }
}

/* Only with the last columns is the whole row known, so dx is written then. */
static void columns_grad(const struct dp_layer_norm_args *g, size_t first, size_t n)
{
    const bool last = first + n == g->width;
    struct sums sums;
    for (size_t c = 0; c < n; ++c)
        sums.dy[c] = sums.product[c] = 0.0;
    for (size_t r = 0; r < g->rows; ++r) {
        const struct row row = {
            g->x + r * g->width,  g->dy + r * g->width, g->weight, (double)g->mean[r],
            (double)g->invstd[r], last ? 0 : first,     first + n, first};
        double shift, slope;
        look_at_row(&row, &sums, &shift, &slope);
        if (g->y && last)
            fast_layer_norm_input_grad(g->y + r * g->width, &row, shift, slope);
    }
    for (size_t c = 0; c < n; ++c) {
        dp_norm_add(g->dweight, first + c, sums.product[c], g->accumulate_weight);
        dp_norm_add(g->dbias, first + c, sums.dy[c], g->accumulate_bias);
    }
}

void dp_fast_layer_norm_grad(const void *args)
{
    const struct dp_layer_norm_args *g = args;
    for (size_t first = 0; first < g->width; first += COLUMNS)
        columns_grad(g, first, g->width - first < COLUMNS ? g->width - first : COLUMNS);
}
