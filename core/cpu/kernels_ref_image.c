/* kernels_ref_image.c: the portable kernels of images: windows as columns, pooling, and swapped
 * dimensions. */
#include "kernels_ref.h"

#include <math.h>

/* Gives place k of window o along an axis; false if it is in the padding. */
static bool inside(const struct dp_geometry *at, int axis, size_t o, size_t k, size_t *place)
{
    const size_t size = axis == 0 ? at->height : at->width;
    const size_t from = o * at->stride[axis] + k;
    *place = from - at->padding[axis];
    return from >= at->padding[axis] && *place < size;
}

void dp_ref_im2col(const void *args)
{
    const struct dp_columns *g = args;
    const struct dp_geometry *at = &g->at;
    size_t h, w, i = 0;
    for (size_t row = 0; row < at->channels * at->kernel[0] * at->kernel[1]; ++row) {
        const size_t c = row / at->kernel[1] / at->kernel[0];
        const size_t kh = row / at->kernel[1] % at->kernel[0], kw = row % at->kernel[1];
        for (size_t n = 0; n < at->images; ++n) {
            const float *x = g->x + (n * at->channels + c) * at->height * at->width;
            for (size_t o = 0; o < at->out[0] * at->out[1]; ++o) {
                const bool in =
                    inside(at, 0, o / at->out[1], kh, &h) && inside(at, 1, o % at->out[1], kw, &w);
                g->col[i++] = in ? x[h * at->width + w] : 0.0f;
            }
        }
    }
}

/* Adds row (c, kh, kw) of col to the images. */
static void add_row(const struct dp_columns *g, const float *col, size_t c, size_t kh, size_t kw)
{
    const struct dp_geometry *at = &g->at;
    size_t h, w;
    for (size_t n = 0; n < at->images; ++n) {
        float *x = g->x + (n * at->channels + c) * at->height * at->width;
        for (size_t o = 0; o < at->out[0] * at->out[1]; ++o, ++col) {
            if (inside(at, 0, o / at->out[1], kh, &h) && inside(at, 1, o % at->out[1], kw, &w))
                x[h * at->width + w] += *col;
        }
    }
}

void dp_ref_col2im(const void *args)
{
    const struct dp_columns *g = args;
    const struct dp_geometry *at = &g->at;
    const size_t width = at->images * at->out[0] * at->out[1];
    const size_t elements = at->images * at->channels * at->height * at->width;
    const float *col = g->col;
    for (size_t i = 0; i < elements; ++i)
        g->x[i] = 0.0f;
    for (size_t c = 0; c < at->channels; ++c) {
        for (size_t k = 0; k < at->kernel[0] * at->kernel[1]; ++k, col += width)
            add_row(g, col, c, k / at->kernel[1], k % at->kernel[1]);
    }
}

void dp_ref_swap(const void *args)
{
    const struct dp_swap *g = args;
    for (size_t j = 0; j < g->j; ++j) {
        for (size_t i = 0; i < g->i; ++i) {
            const float *x = g->x + (i * g->j + j) * g->block;
            float *y = g->y + (j * g->i + i) * g->block;
            for (size_t b = 0; b < g->block; ++b)
                y[b] = g->bias ? x[b] + g->bias[i] : x[b];
        }
    }
}

void dp_ref_add_rows(const void *args)
{
    const struct dp_add_rows *g = args;
    for (size_t r = 0; r < g->rows; ++r) {
        float s[8] = {0};
        for (size_t c = 0; c < g->cols; ++c)
            s[c % 8] += g->x[r * g->cols + c];
        const float sum = ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]));
        g->out[r] = g->accumulate ? g->out[r] + sum : sum;
    }
}

/* The place of the maximum in window (oh, ow) of a plane; -1: the window is all padding. */
static int32_t largest(const struct dp_geometry *at, const float *x, size_t oh, size_t ow)
{
    int32_t best = -1;
    size_t h, w;
    for (size_t k = 0; k < at->kernel[0] * at->kernel[1]; ++k) {
        if (!inside(at, 0, oh, k / at->kernel[1], &h) || !inside(at, 1, ow, k % at->kernel[1], &w))
            continue;
        const size_t place = h * at->width + w;
        if (best < 0 || x[place] > x[best] || isnan(x[place]))
            best = (int32_t)place;
    }
    return best;
}

void dp_ref_max_pool(const void *args)
{
    const struct dp_max_pool *g = args;
    const struct dp_geometry *at = &g->at;
    const size_t windows = at->out[0] * at->out[1];
    for (size_t p = 0; p < at->images * at->channels; ++p) {
        const float *x = g->x + p * at->height * at->width;
        for (size_t o = 0; o < windows; ++o) {
            const int32_t best = largest(at, x, o / at->out[1], o % at->out[1]);
            g->index[p * windows + o] = best;
            g->y[p * windows + o] = x[best];
        }
    }
}

void dp_ref_max_pool_grad(const void *args)
{
    const struct dp_max_pool *g = args;
    const struct dp_geometry *at = &g->at;
    const size_t windows = at->out[0] * at->out[1], plane = at->height * at->width;
    const size_t planes = at->images * at->channels;
    for (size_t i = 0; i < planes * plane; ++i)
        g->x[i] = 0.0f;
    for (size_t i = 0; i < planes * windows; ++i)
        g->x[i / windows * plane + (size_t)g->index[i]] += g->y[i];
}
