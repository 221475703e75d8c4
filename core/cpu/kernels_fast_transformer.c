/* kernels_fast_transformer.c: gelu, the softmax of attention, and layer normalisation in loops that
 * compilers vectorise: exp as a polynomial in single precision, sums in lanes. Not the reference's
 * bits. */
#include "fast_functions.h"
#include "kernels_fast.h"

#define LANES 8

static const float SLOPE = 1.59576912f, CUBIC = 0.044715f; /* 2 sqrt(2/pi) */

/* (1 + tanh(u)) / 2 = sigmoid(2u), which loses no digits where tanh is near -1. */
DP_WIDE static void gelu(float *restrict y, const float *restrict x, size_t n)
{
    for (size_t i = 0; i < n; ++i)
        y[i] = x[i] * sigmoid(SLOPE * (x[i] + CUBIC * x[i] * x[i] * x[i]));
}

/* Beyond 100 the slope of sigmoid is 0, and the square below stays finite. */
DP_WIDE static void gelu_grad(float *restrict dx, const float *restrict dy, const float *restrict x,
                              size_t n)
{
    for (size_t i = 0; i < n; ++i) {
        const float s = sigmoid(SLOPE * (x[i] + CUBIC * x[i] * x[i] * x[i]));
        const float above = x[i] < -100.0f ? -100.0f : x[i], z = above > 100.0f ? 100.0f : above;
        const float slope = SLOPE * (1.0f + 3.0f * CUBIC * z * z);
        dx[i] = dy[i] * (s + z * s * (1.0f - s) * slope);
    }
}

void dp_fast_gelu(const void *args)
{
    const struct dp_gelu_args *g = args;
    if (g->tanh_form)
        gelu(g->y, g->x, g->n);
    else
        dp_ref_gelu(args);
}

void dp_fast_gelu_grad(const void *args)
{
    const struct dp_gelu_args *g = args;
    if (g->tanh_form)
        gelu_grad(g->y, g->dy, g->x, g->n);
    else
        dp_ref_gelu_grad(args);
}

DP_WIDE static void softmax(float *p, size_t n, float scale)
{
    float most[LANES], sums[LANES] = {0.0f}, largest = p[0], sum = 0.0f;
    const size_t whole = n - n % LANES;
    for (size_t k = 0; k < LANES; ++k)
        most[k] = p[0];
    for (size_t s = 0; s < whole; s += LANES) {
        for (size_t k = 0; k < LANES; ++k)
            most[k] = p[s + k] > most[k] ? p[s + k] : most[k];
    }
    for (size_t s = whole; s < n; ++s)
        largest = p[s] > largest ? p[s] : largest;
    for (size_t k = 0; k < LANES; ++k)
        largest = most[k] > largest ? most[k] : largest;
    for (size_t s = 0; s < n; ++s)
        p[s] = exp_below(scale * (p[s] - largest));
    for (size_t s = 0; s < whole; s += LANES) {
        for (size_t k = 0; k < LANES; ++k)
            sums[k] += p[s + k];
    }
    for (size_t s = whole; s < n; ++s)
        sum += p[s];
    for (size_t k = 0; k < LANES; ++k)
        sum += sums[k];
    const float part = 1.0f / sum;
    for (size_t s = 0; s < n; ++s)
        p[s] *= part;
}

void dp_fast_causal(const void *args)
{
    const struct dp_causal_args *g = args;
    for (size_t r = 0; r < g->n * g->time; ++r) {
        float *p = g->p + r * g->time;
        const size_t seen = r % g->time + 1;
        softmax(p, seen, (float)g->scale);
        memset(p + seen, 0, (g->time - seen) * sizeof *p);
    }
}

DP_WIDE static void softmax_grad(float *restrict d, const float *restrict p, size_t n, float scale)
{
    float sums[LANES] = {0.0f}, sum = 0.0f;
    const size_t whole = n - n % LANES;
    for (size_t s = 0; s < whole; s += LANES) {
        for (size_t k = 0; k < LANES; ++k)
            sums[k] += p[s + k] * d[s + k];
    }
    for (size_t s = whole; s < n; ++s)
        sum += p[s] * d[s];
    for (size_t k = 0; k < LANES; ++k)
        sum += sums[k];
    for (size_t s = 0; s < n; ++s)
        d[s] = scale * p[s] * (d[s] - sum);
}

void dp_fast_causal_grad(const void *args)
{
    const struct dp_causal_args *g = args;
    for (size_t r = 0; r < g->n * g->time; ++r) {
        float *d = g->d + r * g->time;
        const size_t seen = r % g->time + 1;
        softmax_grad(d, g->p + r * g->time, seen, (float)g->scale);
        memset(d + seen, 0, (g->time - seen) * sizeof *d);
    }
}
