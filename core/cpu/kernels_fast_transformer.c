/* kernels_fast_transformer.c: gelu, the softmax of attention, and layer normalisation in loops that
 * compilers vectorise: exp is a polynomial in single precision, and sums are in lanes. The bits
 * differ from those of the reference. */
#include "fast_functions.h"
#include "kernels_fast.h"

/* Sums in lanes, as a vector; see lanes.h. */
enum { LANES = 8 };

typedef float lanes __attribute__((vector_size(LANES * sizeof(float))));

static const float SLOPE = 1.59576912f, CUBIC = 0.044715f; /* 2 sqrt(2/pi) */
static const float DENSITY = 0.39894228f;                  /* 1 / sqrt(2 pi) */

/* (1 + tanh(u)) / 2 = sigmoid(2u), which loses no digits where tanh is near -1. */
DP_WIDE static void gelu_tanh(float *restrict y, const float *restrict x, size_t n)
{
    for (size_t i = 0; i < n; ++i)
        y[i] = x[i] * sigmoid(SLOPE * (x[i] + CUBIC * x[i] * x[i] * x[i]));
}

/* Beyond this bound the slope of sigmoid and the density are 0; up to it squares stay finite. */
static inline float clamped(float x)
{
    const float above = x < -100.0f ? -100.0f : x;
    return above > 100.0f ? 100.0f : above;
}

DP_WIDE static void gelu_tanh_grad(float *restrict dx, const float *restrict dy,
                                   const float *restrict x, size_t n)
{
    for (size_t i = 0; i < n; ++i) {
        const float s = sigmoid(SLOPE * (x[i] + CUBIC * x[i] * x[i] * x[i]));
        const float z = clamped(x[i]);
        const float slope = SLOPE * (1.0f + 3.0f * CUBIC * z * z);
        dx[i] = dy[i] * (s + z * s * (1.0f - s) * slope);
    }
}

static inline float polynomial(const float factor[], int n, float x)
{
    float sum = factor[0];
    for (int i = 1; i < n; ++i)
        sum = sum * x + factor[i];
    return sum;
}

/* (1 + erf(x / sqrt(2))) / 2 within 8 units in the last place, and within 8 (1 + x^2) below 0. Near
 * 0 it uses erf, and further away 1 - erf, which loses no digits. Coefficients: Cephes, ndtrf. */
static inline float normal(float x)
{
    static const float near[] = {7.853861353153693e-5f, -8.010193625184903e-4f,
                                 5.188327685732524e-3f, -2.685381193529856e-2f,
                                 1.128358514861418e-1f, -3.761262582423300e-1f,
                                 1.128379165726710e+0f};
    static const float middle[] = {
        2.326819970068386e-2f,  -1.387039388740657e-1f, 3.687424674597105e-1f,
        -5.824733027278666e-1f, 6.210004621745983e-1f,  -4.944515323274145e-1f,
        3.404879937665872e-1f,  -2.741127028184656e-1f, 5.638259427386472e-1f};
    static const float far[] = {-1.047766399936249e+1f, 1.297719955372516e+1f,
                                -7.495518717768503e+0f, 2.921019019210786e+0f,
                                -1.015265279202700e+0f, 4.218463358204948e-1f,
                                -2.820767439740514e-1f, 5.641895067754075e-1f};
    const float z = x * 0.70710678f, size = fabsf(z), part = 1.0f / (size < 1.0f ? 1.0f : size);
    const float close = 0.5f + 0.5f * z * polynomial(near, 7, z * z);
    const float at = part * part, one = polynomial(middle, 9, at), two = polynomial(far, 8, at);
    const float tail = 0.5f * exp_below(-z * z) * part * (size < 2.0f ? one : two);
    const float outside = z < 0.0f ? tail : 1.0f - tail;
    return size < 1.0f ? close : outside;
}

DP_WIDE static void gelu_erf(float *restrict y, const float *restrict x, size_t n)
{
    for (size_t i = 0; i < n; ++i)
        y[i] = x[i] * normal(x[i]);
}

DP_WIDE static void gelu_erf_grad(float *restrict dx, const float *restrict dy,
                                  const float *restrict x, size_t n)
{
    for (size_t i = 0; i < n; ++i) {
        const float z = clamped(x[i]);
        dx[i] = dy[i] * (normal(x[i]) + z * DENSITY * exp_below(-0.5f * z * z));
    }
}

void dp_fast_gelu(const void *args)
{
    const struct dp_gelu_args *g = args;
    if (g->tanh_form)
        gelu_tanh(g->y, g->x, g->n);
    else
        gelu_erf(g->y, g->x, g->n);
}

void dp_fast_gelu_grad(const void *args)
{
    const struct dp_gelu_args *g = args;
    if (g->tanh_form)
        gelu_tanh_grad(g->y, g->dy, g->x, g->n);
    else
        gelu_erf_grad(g->y, g->dy, g->x, g->n);
}

DP_WIDE static float largest_of(const float *p, size_t n)
{
    return largest_number(p, n);
}

DP_WIDE static float fast_transformer_sum_of(const float *p, size_t n)
{
    lanes sums = {0.0f}, values;
    float sum = 0.0f;
    const size_t whole = n - n % LANES;
    for (size_t s = 0; s < whole; s += LANES) {
        memcpy(&values, p + s, sizeof values);
        sums += values;
    }
    for (size_t s = whole; s < n; ++s)
        sum += p[s];
    for (size_t k = 0; k < LANES; ++k)
        sum += sums[k];
    return sum;
}

DP_WIDE static void exp_each(float *p, size_t n, float scale, float largest)
{
    for (size_t s = 0; s < n; ++s)
        p[s] = exp_below(scale * (p[s] - largest));
}

static void fast_transformer_softmax(float *p, size_t n, float scale)
{
    exp_each(p, n, scale, largest_of(p, n));
    const float part = 1.0f / fast_transformer_sum_of(p, n);
    for (size_t s = 0; s < n; ++s)
        p[s] *= part;
}

void dp_fast_causal(const void *args)
{
    const struct dp_causal_args *g = args;
    for (size_t r = 0; r < g->n * g->time; ++r) {
        float *p = g->p + r * g->time;
        const size_t seen = r % g->time + 1;
        fast_transformer_softmax(p, seen, (float)g->scale);
        memset(p + seen, 0, (g->time - seen) * sizeof *p);
    }
}

DP_WIDE static void softmax_grad(float *restrict d, const float *restrict p, size_t n, float scale)
{
    lanes sums = {0.0f}, a, b;
    float sum = 0.0f;
    const size_t whole = n - n % LANES;
    for (size_t s = 0; s < whole; s += LANES) {
        memcpy(&a, p + s, sizeof a);
        memcpy(&b, d + s, sizeof b);
        sums += a * b;
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
