/* kernels_fast_recurrent.c: an LSTM's step with sigmoid and tanh as polynomials, which compilers
 * vectorise; the C library's functions are called one number at a time. Within 4 units in the last
 * place where |x| < 87, beyond that within 2^-125: not the reference's bits. */
#include "kernels_fast.h"

#include <math.h>
#include <string.h>

static inline float of_bits(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static inline uint32_t bits_of(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* exp of x <= 0: x = n log 2 + r, |r| <= log(2) / 2, a polynomial in r times 2^n. Adding 1.5 * 2^23
 * rounds to a whole number, which the last bits then hold. Coefficients: Cephes, expf. */
static inline float exp_below(float x)
{
    const float least = x < -87.0f ? -87.0f : x;
    const float shifted = least * 1.44269504f + 12582912.0f, n = shifted - 12582912.0f;
    const float r = (least - n * 0.693359375f) + n * 2.12194440e-4f;
    float p = 1.9875691500e-4f;
    p = p * r + 1.3981999507e-3f;
    p = p * r + 8.3334519073e-3f;
    p = p * r + 4.1665795894e-2f;
    p = p * r + 1.6666665459e-1f;
    p = p * r + 5.0000001201e-1f;
    return (p * r * r + r + 1.0f) * of_bits((bits_of(shifted) << 23) + 0x3f800000u);
}

static inline float sigmoid(float x)
{
    const float e = exp_below(-fabsf(x)), one = 1.0f;
    return (x >= 0.0f ? one : e) / (one + e);
}

/* Near 0 a polynomial, where 1 - 2 / (1 + exp(2x)) loses digits. Coefficients: Cephes, tanhf. */
static inline float tanh_fast(float x)
{
    const float size = fabsf(x), z = x * x, e = exp_below(-2.0f * size);
    const float far = (1.0f - e) / (1.0f + e), signed_far = x < 0.0f ? -far : far;
    float p = -5.70498872745e-3f;
    p = p * z + 2.06390887954e-2f;
    p = p * z - 5.37397155531e-2f;
    p = p * z + 1.33314422036e-1f;
    p = p * z - 3.33332819422e-1f;
    const float close = p * z * x + x;
    return size < 0.625f ? close : signed_far;
}

DP_WIDE static void sigmoids(float *gate, const float *bias_x, const float *bias_h, size_t n)
{
    for (size_t k = 0; k < n; ++k)
        gate[k] = sigmoid(gate[k] + bias_x[k] + bias_h[k]);
}

DP_WIDE static void tanhs(float *gate, const float *bias_x, const float *bias_h, size_t n)
{
    for (size_t k = 0; k < n; ++k)
        gate[k] = tanh_fast(gate[k] + bias_x[k] + bias_h[k]);
}

DP_WIDE static void cells(const float *gate, const float *before, float *c, float *h, size_t n)
{
    const float *i = gate, *f = gate + n, *g = gate + 2 * n, *o = gate + 3 * n;
    for (size_t u = 0; before && u < n; ++u)
        c[u] = f[u] * before[u] + i[u] * g[u];
    for (size_t u = 0; !before && u < n; ++u)
        c[u] = i[u] * g[u];
    for (size_t u = 0; u < n; ++u)
        h[u] = o[u] * tanh_fast(c[u]);
}

void dp_fast_lstm(const void *args)
{
    const struct dp_lstm_args *g = args;
    const size_t n = g->hidden;
    for (size_t r = 0; r < g->rows; ++r) {
        float *gate = g->gates + r * 4 * n;
        sigmoids(gate, g->bias_x, g->bias_h, 2 * n);
        tanhs(gate + 2 * n, g->bias_x + 2 * n, g->bias_h + 2 * n, n);
        sigmoids(gate + 3 * n, g->bias_x + 3 * n, g->bias_h + 3 * n, n);
        cells(gate, g->c_before ? g->c_before + r * n : NULL, g->c + r * n, g->h + r * n, n);
    }
}

/* One unit after the other of a row; all arrays are apart. */
DP_WIDE static void cells_back(float *restrict i, float *restrict f, float *restrict g,
                               float *restrict o, const float *restrict before,
                               const float *restrict c, const float *restrict dh,
                               float *restrict later, size_t n)
{
    for (size_t u = 0; u < n; ++u) {
        const float in = i[u], forget = f[u], fresh = g[u], out = o[u], t = tanh_fast(c[u]);
        const float dc = later[u] + dh[u] * out * (1.0f - t * t);
        i[u] = dc * fresh * in * (1.0f - in);
        f[u] = dc * before[u] * forget * (1.0f - forget);
        g[u] = dc * in * (1.0f - fresh * fresh);
        o[u] = dh[u] * t * out * (1.0f - out);
        later[u] = dc * forget;
    }
}

#define UNITS_MAX 4096

void dp_fast_lstm_grad(const void *args)
{
    const struct dp_lstm_args *g = args;
    const size_t n = g->hidden;
    float zeros[UNITS_MAX];
    if (n > UNITS_MAX) {
        dp_ref_lstm_grad(args);
        return;
    }
    memset(zeros, 0, n * sizeof *zeros);
    if (g->last)
        memset(g->dc, 0, g->rows * n * sizeof *g->dc);
    for (size_t r = 0; r < g->rows; ++r) {
        float *gate = g->gates + r * 4 * n;
        cells_back(gate, gate + n, gate + 2 * n, gate + 3 * n,
                   g->c_before ? g->c_before + r * n : zeros, g->c + r * n, g->dh + r * n,
                   g->dc + r * n, n);
    }
}
