/* kernels_ref_transformer.c: the portable kernels of gelu and of attention. */
#include "kernels_ref.h"

#include <math.h>

static const double ROOT_2_PI = 0.79788456080286535588, ROOT_HALF = 0.70710678118654752440;
static const double CUBIC = 0.044715, DENSITY_0 = 0.39894228040143267794; /* 1 / sqrt(2 pi) */

void dp_ref_gelu(const void *args)
{
    const struct dp_gelu_args *g = args;
    for (size_t i = 0; i < g->n; ++i) {
        const double x = (double)g->x[i];
        const double f =
            g->tanh_form ? tanh(ROOT_2_PI * (x + CUBIC * x * x * x)) : erf(x * ROOT_HALF);
        g->y[i] = (float)(0.5 * x * (1.0 + f));
    }
}

static double slope_tanh(double x)
{
    const double t = tanh(ROOT_2_PI * (x + CUBIC * x * x * x));
    return 0.5 * (1.0 + t) + 0.5 * x * (1.0 - t * t) * ROOT_2_PI * (1.0 + 3.0 * CUBIC * x * x);
}

static double slope_erf(double x)
{
    return 0.5 * (1.0 + erf(x * ROOT_HALF)) + x * DENSITY_0 * exp(-0.5 * x * x);
}

void dp_ref_gelu_grad(const void *args)
{
    const struct dp_gelu_args *g = args;
    for (size_t i = 0; i < g->n; ++i) {
        const double x = (double)g->x[i];
        g->y[i] = (float)((double)g->dy[i] * (g->tanh_form ? slope_tanh(x) : slope_erf(x)));
    }
}

static void ref_transformer_multiply(const struct dp_gemm_heads *g, const float *a, const float *b,
                                     float *c)
{
    for (size_t i = 0; i < g->m; ++i) {
        for (size_t j = 0; j < g->n; ++j) {
            float sum = 0.0f;
            for (size_t l = 0; l < g->k; ++l) {
                const float x = a[g->transpose_a ? l * g->at_a.lead + i : i * g->at_a.lead + l];
                const float y = b[g->transpose_b ? j * g->at_b.lead + l : l * g->at_b.lead + j];
                sum += x * y;
            }
            c[i * g->at_c.lead + j] = sum;
        }
    }
}

void dp_ref_gemm_heads(const void *args)
{
    const struct dp_gemm_heads *g = args;
    for (size_t r = 0; r < g->rows; ++r) {
        for (size_t h = 0; h < g->heads; ++h)
            ref_transformer_multiply(g, g->a + r * g->at_a.row + h * g->at_a.head,
                                     g->b + r * g->at_b.row + h * g->at_b.head,
                                     g->c + r * g->at_c.row + h * g->at_c.head);
    }
}

/* The softmax of the numbers that a row uses. */
static void ref_transformer_softmax(float *p, size_t n, double scale)
{
    double largest = scale * (double)p[0], sum = 0.0;
    for (size_t s = 1; s < n; ++s)
        largest = scale * (double)p[s] > largest ? scale * (double)p[s] : largest;
    for (size_t s = 0; s < n; ++s)
        sum += exp(scale * (double)p[s] - largest);
    for (size_t s = 0; s < n; ++s)
        p[s] = (float)(exp(scale * (double)p[s] - largest) / sum);
}

void dp_ref_causal(const void *args)
{
    const struct dp_causal_args *g = args;
    for (size_t r = 0; r < g->n * g->time; ++r) {
        float *p = g->p + r * g->time;
        const size_t seen = r % g->time + 1;
        ref_transformer_softmax(p, seen, g->scale);
        for (size_t s = seen; s < g->time; ++s)
            p[s] = 0.0f;
    }
}

void dp_ref_causal_grad(const void *args)
{
    const struct dp_causal_args *g = args;
    for (size_t r = 0; r < g->n * g->time; ++r) {
        const float *p = g->p + r * g->time;
        float *d = g->d + r * g->time;
        const size_t seen = r % g->time + 1;
        double sum = 0.0;
        for (size_t s = 0; s < seen; ++s)
            sum += (double)p[s] * (double)d[s];
        for (size_t s = 0; s < g->time; ++s)
            d[s] = s < seen ? (float)(g->scale * (double)p[s] * ((double)d[s] - sum)) : 0.0f;
    }
}
