/* kernels_fast_image.c: windows and pooling, a plane at a time where windows keep its size: a plane
 * shifted by whole rows and columns is one run of memory, and what wrapped around is masked. The
 * same additions in the same order as in the references, so the same bits. */
#include "kernels_fast.h"

#include <string.h>

#define PLANE_MAX 4096

/* Windows keep the size of the planes, and a plane fits the arrays here. */
static bool keeps_size(const struct dp_geometry *at)
{
    return at->stride[0] == 1 && at->stride[1] == 1 && at->out[0] == at->height &&
           at->out[1] == at->width && at->height * at->width <= PLANE_MAX;
}

/* Tap (kh, kw) reads place + shift for the places first..end-1; keep[] is 0 where that is in the
 * padding. */
struct tap {
    ptrdiff_t shift;
    size_t first, end;
    int32_t keep[PLANE_MAX];
};

static void tap_at(const struct dp_geometry *at, size_t kh, size_t kw, struct tap *tap)
{
    const ptrdiff_t width = (ptrdiff_t)at->width, plane = (ptrdiff_t)at->height * width;
    const ptrdiff_t down = (ptrdiff_t)kh - (ptrdiff_t)at->padding[0];
    const ptrdiff_t right = (ptrdiff_t)kw - (ptrdiff_t)at->padding[1];
    const ptrdiff_t shift = down * width + right;
    const ptrdiff_t first = shift < 0 ? -shift : 0, end = shift > 0 ? plane - shift : plane;
    tap->shift = shift;
    tap->first = (size_t)(first < plane ? first : plane);
    tap->end = (size_t)(end > 0 ? end : 0);
    for (ptrdiff_t i = 0; i < plane; ++i) {
        const ptrdiff_t h = i / width + down, w = i % width + right;
        tap->keep[i] = h >= 0 && h < (ptrdiff_t)at->height && w >= 0 && w < width;
    }
}

static void shift_plane(const struct tap *tap, const float *x, float *col, size_t plane)
{
    const float *from = x + tap->shift;
    for (size_t i = 0; i < tap->first; ++i)
        col[i] = 0.0f;
    for (size_t i = tap->first; i < tap->end; ++i) {
        const float value = from[i];
        col[i] = tap->keep[i] ? value : 0.0f;
    }
    for (size_t i = tap->end > tap->first ? tap->end : tap->first; i < plane; ++i)
        col[i] = 0.0f;
}

void dp_fast_im2col(const void *args)
{
    const struct dp_columns *g = args;
    const struct dp_geometry *at = &g->at;
    const size_t plane = at->height * at->width, taps = at->kernel[0] * at->kernel[1];
    struct tap tap;
    if (!keeps_size(at)) {
        dp_ref_im2col(args);
        return;
    }
    for (size_t k = 0; k < taps; ++k) {
        tap_at(at, k / at->kernel[1], k % at->kernel[1], &tap);
        for (size_t c = 0; c < at->channels; ++c) {
            float *col = g->col + (c * taps + k) * at->images * plane;
            for (size_t n = 0; n < at->images; ++n)
                shift_plane(&tap, g->x + (n * at->channels + c) * plane, col + n * plane, plane);
        }
    }
}

/* An element that is 0 so far has no sign to lose when 0 is added. */
static void add_plane(const struct tap *tap, const float *col, float *x)
{
    float *to = x + tap->shift;
    for (size_t i = tap->first; i < tap->end; ++i) {
        const float value = col[i];
        to[i] += tap->keep[i] ? value : 0.0f;
    }
}

void dp_fast_col2im(const void *args)
{
    const struct dp_columns *g = args;
    const struct dp_geometry *at = &g->at;
    const size_t plane = at->height * at->width, taps = at->kernel[0] * at->kernel[1];
    struct tap tap;
    if (!keeps_size(at)) {
        dp_ref_col2im(args);
        return;
    }
    memset(g->x, 0, at->images * at->channels * plane * sizeof *g->x);
    for (size_t k = 0; k < taps; ++k) {
        tap_at(at, k / at->kernel[1], k % at->kernel[1], &tap);
        for (size_t c = 0; c < at->channels; ++c) {
            const float *col = g->col + (c * taps + k) * at->images * plane;
            for (size_t n = 0; n < at->images; ++n)
                add_plane(&tap, col + n * plane, g->x + (n * at->channels + c) * plane);
        }
    }
}

/* Later ones win when they are larger, or no numbers. */
static void take(const float *x, size_t place, float *most, size_t *best)
{
    const float value = x[place];
    const bool better = (value > *most) | (value != value);
    *best = better ? place : *best;
    *most = better ? value : *most;
}

/* Two rows of a plane to one, 2 x 2 windows side by side. */
static void pool_rows(const float *x, size_t row, size_t width, size_t outs, float *y,
                      int32_t *index)
{
    for (size_t o = 0; o < outs; ++o) {
        size_t best = row + 2 * o;
        float most = x[best];
        take(x, row + 2 * o + 1, &most, &best);
        take(x, row + width + 2 * o, &most, &best);
        take(x, row + width + 2 * o + 1, &most, &best);
        y[o] = most;
        index[o] = (int32_t)best;
    }
}

static bool is_two_by_two(const struct dp_geometry *at)
{
    return at->kernel[0] == 2 && at->kernel[1] == 2 && at->stride[0] == 2 && at->stride[1] == 2 &&
           at->padding[0] == 0 && at->padding[1] == 0;
}

void dp_fast_max_pool(const void *args)
{
    const struct dp_max_pool *g = args;
    const struct dp_geometry *at = &g->at;
    float *y = g->y;
    int32_t *index = g->index;
    if (!is_two_by_two(at)) {
        dp_ref_max_pool(args);
        return;
    }
    for (size_t p = 0; p < at->images * at->channels; ++p) {
        const float *x = g->x + p * at->height * at->width;
        for (size_t oh = 0; oh < at->out[0]; ++oh) {
            pool_rows(x, 2 * oh * at->width, at->width, at->out[1], y, index);
            y += at->out[1];
            index += at->out[1];
        }
    }
}

void dp_fast_max_pool_grad(const void *args)
{
    const struct dp_max_pool *g = args;
    const struct dp_geometry *at = &g->at;
    const size_t windows = at->out[0] * at->out[1], plane = at->height * at->width;
    const float *dy = g->y;
    const int32_t *index = g->index;
    float *dx = g->x;
    memset(dx, 0, at->images * at->channels * plane * sizeof *dx);
    for (size_t p = 0; p < at->images * at->channels; ++p) {
        for (size_t o = 0; o < windows; ++o)
            dx[(size_t)index[o]] += dy[o];
        dx += plane;
        dy += windows;
        index += windows;
    }
}

/* Lane by lane as the reference says, eight at a time. */
void dp_fast_add_rows(const void *args)
{
    const struct dp_add_rows *g = args;
    for (size_t r = 0; r < g->rows; ++r) {
        const float *x = g->x + r * g->cols;
        float s[8] = {0};
        size_t c = 0;
        for (; g->cols - c >= 8; c += 8) {
            for (size_t l = 0; l < 8; ++l)
                s[l] += x[c + l];
        }
        for (; c < g->cols; ++c)
            s[c % 8] += x[c];
        const float sum = ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]));
        g->out[r] = g->accumulate ? g->out[r] + sum : sum;
    }
}

void dp_fast_swap(const void *args)
{
    const struct dp_swap *g = args;
    const size_t block = g->block;
    for (size_t j = 0; j < g->j; ++j) {
        for (size_t i = 0; i < g->i; ++i) {
            const float *x = g->x + (i * g->j + j) * block;
            float *y = g->y + (j * g->i + i) * block;
            const float bias = g->bias ? g->bias[i] : 0.0f;
            if (!g->bias)
                memcpy(y, x, block * sizeof *y);
            for (size_t b = 0; g->bias && b < block; ++b)
                y[b] = x[b] + bias;
        }
    }
}
