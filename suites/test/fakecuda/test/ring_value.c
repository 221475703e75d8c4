/* ring_value.c: what the ring works on, and what should come out. Data differ between steps and
 * devices, so that what comes from the wrong one shows. */
#include "ring_parts.h"

#include <string.h>

void ring_weights(float *w)
{
    for (size_t i = 0; i < RING_COUNT; ++i)
        w[i] = (float)((int)(i * 5 % 7) - 3);
}

void ring_input(float *x, int step, int device)
{
    const size_t shift = (size_t)step * 7 + (size_t)device * 3;
    for (size_t i = 0; i < RING_COUNT; ++i)
        x[i] = (float)((int)((i * 3 + shift + i / 11) % 5) - 2);
}

/* By columns, each sum in the order of the index. */
static void ring_value_product(float *y, const float *w, const float *x)
{
    for (size_t col = 0; col < RING_SIDE; ++col) {
        for (size_t row = 0; row < RING_SIDE; ++row) {
            float sum = 0.0f;
            for (size_t k = 0; k < RING_SIDE; ++k)
                sum += w[k * RING_SIDE + row] * x[col * RING_SIDE + k];
            y[col * RING_SIDE + row] = sum > 0.0f ? sum : 0.0f;
        }
    }
}

bool ring_is_right(const struct ring *r)
{
    float w[RING_DEVICES][RING_COUNT];
    bool right = true;
    for (int d = 0; d < RING_DEVICES; ++d)
        ring_weights(w[d]);
    for (int step = 0; step < RING_STEPS; ++step) {
        float y[RING_DEVICES][RING_COUNT], x[RING_COUNT];
        for (int d = 0; d < RING_DEVICES; ++d) {
            ring_input(x, step, d);
            ring_value_product(y[d], w[d], x);
        }
        for (int d = 0; d < RING_DEVICES; ++d) {
            const float *from = y[(d + RING_DEVICES - 1) % RING_DEVICES];
            for (size_t i = 0; i < RING_COUNT; ++i)
                w[d][i] -= RING_RATE * (y[d][i] + from[i]);
        }
    }
    for (int d = 0; d < RING_DEVICES; ++d) {
        const float *from = w[(d + RING_DEVICES - 1) % RING_DEVICES];
        for (size_t i = 0; i < RING_COUNT; ++i)
            right = right && r->result[d][i] == w[d][i] + from[i];
    }
    return right;
}
