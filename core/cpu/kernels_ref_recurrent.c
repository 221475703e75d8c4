/* kernels_ref_recurrent.c: the portable kernels of a step of an LSTM, row by row, unit by unit. */
#include "kernels_ref.h"

#include <math.h>

/* Neither branch overflows. */
static float sigmoid(float x)
{
    const float e = expf(-fabsf(x));
    return x >= 0.0f ? 1.0f / (1.0f + e) : e / (1.0f + e);
}

void dp_ref_lstm(const void *args)
{
    const struct dp_lstm_args *g = args;
    const size_t width = g->hidden;
    for (size_t r = 0; r < g->rows; ++r) {
        float *gate = g->gates + r * 4 * width;
        for (size_t k = 0; k < 4 * width; ++k) {
            const float sum = gate[k] + g->bias_x[k] + g->bias_h[k];
            gate[k] = k / width == 2 ? tanhf(sum) : sigmoid(sum);
        }
        for (size_t u = 0; u < width; ++u) {
            const size_t at = r * width + u;
            const float kept = g->c_before ? gate[width + u] * g->c_before[at] : 0.0f;
            g->c[at] = kept + gate[u] * gate[2 * width + u];
            g->h[at] = gate[3 * width + u] * tanhf(g->c[at]);
        }
    }
}

void dp_ref_lstm_grad(const void *args)
{
    const struct dp_lstm_args *g = args;
    const size_t width = g->hidden;
    for (size_t r = 0; r < g->rows; ++r) {
        for (size_t u = 0; u < width; ++u) {
            float *gate = g->gates + r * 4 * width + u;
            const size_t at = r * width + u;
            const float i = gate[0], f = gate[width], n = gate[2 * width], o = gate[3 * width];
            const float before = g->c_before ? g->c_before[at] : 0.0f, t = tanhf(g->c[at]);
            const float later = g->last ? 0.0f : g->dc[at];
            const float dc = later + g->dh[at] * o * (1.0f - t * t);
            gate[0] = dc * n * i * (1.0f - i);
            gate[width] = dc * before * f * (1.0f - f);
            gate[2 * width] = dc * i * (1.0f - n * n);
            gate[3 * width] = g->dh[at] * t * o * (1.0f - o);
            g->dc[at] = dc * f;
        }
    }
}
