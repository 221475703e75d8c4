/* kernels_fast_optim.c: AdamW and sums of squares, written so that compilers vectorise them. The
 * operations are those of the reference in the same order, so the bits are the same. */
#include "kernels_fast.h"

#include <math.h>

/* Only later steps; the first step has other operations, and the reference computes it. */
DP_WIDE static void fast_optim_step(const struct dp_adamw_args *g, float *restrict value,
                                    float *restrict m, float *restrict s,
                                    const float *restrict grads)
{
    const float keep = g->rates[0], size = g->rates[1], root = g->rates[2], eps = g->eps;
    const float beta1 = g->beta1, rest1 = g->rest1, beta2 = g->beta2, rest2 = g->rest2;
    const size_t n = g->n;
    for (size_t i = 0; i < n; ++i) {
        const float grad = grads[i];
        const float mean = beta1 * m[i] + rest1 * grad;
        const float square = beta2 * s[i] + rest2 * grad * grad;
        m[i] = mean;
        s[i] = square;
        value[i] = value[i] * keep - size * mean / (sqrtf(square) / root + eps);
    }
}

void dp_fast_adamw(const void *args)
{
    const struct dp_adamw_args *g = args;
    if (g->first)
        dp_ref_adamw(args);
    else
        fast_optim_step(g, g->value, g->m, g->s, g->grad);
}

/* Adds the squares of rows, one per lane each. */
DP_WIDE static void add_squares(double *restrict lane, const float *restrict x, size_t rows)
{
    for (size_t r = 0; r < rows; ++r, x += DP_SQUARES_LANES) {
        for (size_t l = 0; l < DP_SQUARES_LANES; ++l)
            lane[l] += (double)x[l] * (double)x[l];
    }
}

static double sum_chunk(const float *x, size_t n)
{
    const size_t rows = n / DP_SQUARES_LANES, done = rows * DP_SQUARES_LANES;
    double lane[DP_SQUARES_LANES] = {0.0};
    add_squares(lane, x, rows);
    for (size_t i = done; i < n; ++i)
        lane[i - done] += (double)x[i] * (double)x[i];
    for (size_t half = DP_SQUARES_LANES / 2; half > 0; half /= 2) {
        for (size_t l = 0; l < half; ++l)
            lane[l] += lane[l + half];
    }
    return lane[0];
}

void dp_fast_squares(const void *args)
{
    const struct dp_squares_args *g = args;
    for (size_t first = 0; first < g->n; first += DP_SQUARES_CHUNK) {
        const size_t left = g->n - first;
        g->sums[first / DP_SQUARES_CHUNK] =
            sum_chunk(g->x + first, left < DP_SQUARES_CHUNK ? left : DP_SQUARES_CHUNK);
    }
}
