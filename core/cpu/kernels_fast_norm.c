/* kernels_fast_norm.c: batch normalisation of planes, which are runs of memory. The operations are
 * those of the references in the same order, so the bits are the same; a plane begins at lane 0. */
#include "kernels_fast.h"
#include "lanes.h"

#include <string.h>

static bool is_planes(const struct dp_batch_norm_args *g)
{
    return g->inner > 0 && g->inner % DP_SUM_LANES == 0;
}

DP_WIDE static void add_values(double sums[DP_SUM_LANES], const float *x, size_t n)
{
    dp_lanes s, values;
    memcpy(&s, sums, sizeof s);
    for (size_t i = 0; i < n; i += DP_SUM_LANES) {
        dp_lanes_load(&values, x + i);
        s += values;
    }
    memcpy(sums, &s, sizeof s);
}

DP_WIDE static void add_squares(double squares[DP_SUM_LANES], const float *x, double mean, size_t n)
{
    dp_lanes s, values;
    memcpy(&s, squares, sizeof s);
    for (size_t i = 0; i < n; i += DP_SUM_LANES) {
        dp_lanes_load(&values, x + i);
        values -= mean;
        s += values * values;
    }
    memcpy(squares, &s, sizeof s);
}

DP_WIDE static void fast_norm_write_line(float *restrict y, const float *restrict x,
                                         const struct dp_norm_line *line, size_t n)
{
    const double mean = line->mean, factor = line->factor, bias = line->bias;
    for (size_t i = 0; i < n; ++i)
        y[i] = (float)(((double)x[i] - mean) * factor + bias);
}

void dp_fast_batch_norm(const void *args)
{
    const struct dp_batch_norm_args *g = args;
    const double n = (double)(g->rows * g->inner);
    const size_t inner = g->inner, step = g->channels * inner;
    if (!is_planes(g)) {
        dp_ref_batch_norm(args);
        return;
    }
    for (size_t c = 0; c < g->channels; ++c) {
        const float *x = g->x + c * inner;
        double sums[DP_SUM_LANES] = {0.0}, squares[DP_SUM_LANES] = {0.0};
        for (size_t r = 0; r < g->rows; ++r)
            add_values(sums, x + r * step, inner);
        const double mean = dp_sum_of_lanes(sums) / n;
        for (size_t r = 0; r < g->rows; ++r)
            add_squares(squares, x + r * step, mean, inner);
        const double square = dp_sum_of_lanes(squares);
        const struct dp_norm_line line = dp_norm_line(g, c, mean, square / n);
        for (size_t r = 0; r < g->rows; ++r)
            fast_norm_write_line(g->y + c * inner + r * step, x + r * step, &line, inner);
        dp_norm_move(&g->running_mean[c], g->momentum, mean);
        dp_norm_move(&g->running_var[c], g->momentum, square / (n - 1.0));
    }
    *g->count += 1;
}

/* The input of the two sums of a gradient: a plane of one channel. */
struct plane {
    const float *dy, *x;
    double mean, invstd;
    size_t n;
};

DP_WIDE static void add_grads(double sums[DP_SUM_LANES], double products[DP_SUM_LANES],
                              const struct plane *p)
{
    dp_lanes s, t, x, dy;
    memcpy(&s, sums, sizeof s);
    memcpy(&t, products, sizeof t);
    for (size_t i = 0; i < p->n; i += DP_SUM_LANES) {
        dp_lanes_load(&x, p->x + i);
        dp_lanes_load(&dy, p->dy + i);
        s += dy;
        t += dy * (x - p->mean) * p->invstd;
    }
    memcpy(sums, &s, sizeof s);
    memcpy(products, &t, sizeof t);
}

DP_WIDE static void write_slope(float *restrict dx, const struct plane *p,
                                const struct dp_norm_slope *slope)
{
    const float *restrict dy = p->dy, *restrict x = p->x;
    const struct dp_norm_slope s = *slope;
    for (size_t i = 0; i < p->n; ++i) {
        const double xhat = ((double)x[i] - s.mean) * s.invstd;
        dx[i] = (float)(s.factor * ((double)dy[i] - s.shift - xhat * s.slope));
    }
}

void dp_fast_batch_norm_grad(const void *args)
{
    const struct dp_batch_norm_args *g = args;
    const size_t step = g->channels * g->inner;
    if (!is_planes(g)) {
        dp_ref_batch_norm_grad(args);
        return;
    }
    for (size_t c = 0; c < g->channels; ++c) {
        const size_t first = c * g->inner;
        struct plane p = {NULL, NULL, (double)g->mean[c], (double)g->invstd[c], g->inner};
        double sums[DP_SUM_LANES] = {0.0}, products[DP_SUM_LANES] = {0.0};
        for (size_t r = 0; r < g->rows; ++r) {
            p.dy = g->dy + first + r * step;
            p.x = g->x + first + r * step;
            add_grads(sums, products, &p);
        }
        const double sum = dp_sum_of_lanes(sums), product = dp_sum_of_lanes(products);
        dp_norm_add(g->dweight, c, product, g->accumulate_weight);
        dp_norm_add(g->dbias, c, sum, g->accumulate_bias);
        const struct dp_norm_slope slope = dp_norm_slope(g, c, sum, product);
        for (size_t r = 0; g->y && r < g->rows; ++r) {
            p.dy = g->dy + first + r * step;
            p.x = g->x + first + r * step;
            write_slope(g->y + first + r * step, &p, &slope);
        }
    }
}
