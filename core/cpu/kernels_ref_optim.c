/* kernels_ref_optim.c: the portable kernels of AdamW and of clipping. */
#include "kernels_ref.h"

#include <math.h>

void dp_ref_adamw(const void *args)
{
    const struct dp_adamw_args *g = args;
    const float keep = g->rates[0], size = g->rates[1], root = g->rates[2];
    for (size_t i = 0; i < g->n; ++i) {
        const float grad = g->grad[i], part = g->rest1 * grad, square = g->rest2 * grad * grad;
        g->m[i] = g->first ? part : g->beta1 * g->m[i] + part;
        g->s[i] = g->first ? square : g->beta2 * g->s[i] + square;
        g->value[i] = g->value[i] * keep - size * g->m[i] / (sqrtf(g->s[i]) / root + g->eps);
    }
}

static double add_lanes(double lane[DP_SQUARES_LANES])
{
    for (size_t half = DP_SQUARES_LANES / 2; half > 0; half /= 2) {
        for (size_t l = 0; l < half; ++l)
            lane[l] += lane[l + half];
    }
    return lane[0];
}

void dp_ref_squares(const void *args)
{
    const struct dp_squares_args *g = args;
    for (size_t first = 0; first < g->n; first += DP_SQUARES_CHUNK) {
        double lane[DP_SQUARES_LANES] = {0.0};
        for (size_t i = first; i < g->n && i - first < DP_SQUARES_CHUNK; ++i)
            lane[i % DP_SQUARES_LANES] += (double)g->x[i] * (double)g->x[i];
        g->sums[first / DP_SQUARES_CHUNK] = add_lanes(lane);
    }
}

/* A NaN stays a NaN in this form. */
void dp_ref_clip(const void *args)
{
    const struct dp_clip_args *g = args;
    double lane[DP_SQUARES_LANES] = {0.0};
    for (size_t i = 0; i < g->n; ++i)
        lane[i % DP_SQUARES_LANES] += g->sums[i];
    const double norm = sqrt(add_lanes(lane)), factor = g->most / (norm + 1e-6);
    *g->norm = norm;
    *g->factor = factor > 1.0 ? 1.0f : (float)factor;
}

void dp_ref_scale(const void *args)
{
    const struct dp_scale_args *g = args;
    const float factor = *g->factor;
    for (size_t i = 0; i < g->n && factor != 1.0f; ++i)
        g->x[i] *= factor;
}
