/* kernels_fast_recurrent.c: a step of an LSTM with sigmoid and tanh as polynomials. The bits differ
 * from those of the reference. */
#include "fast_functions.h"
#include "kernels_fast.h"

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

/* Computes one unit of a row after the other. The arrays do not overlap. */
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
    static const float zeros[UNITS_MAX] = {0.0f};
    if (n > UNITS_MAX) {
        dp_ref_lstm_grad(args);
        return;
    }
    if (g->last)
        memset(g->dc, 0, g->rows * n * sizeof *g->dc);
    for (size_t r = 0; r < g->rows; ++r) {
        float *gate = g->gates + r * 4 * n;
        cells_back(gate, gate + n, gate + 2 * n, gate + 3 * n,
                   g->c_before ? g->c_before + r * n : zeros, g->c + r * n, g->dh + r * n,
                   g->dc + r * n, n);
    }
}
