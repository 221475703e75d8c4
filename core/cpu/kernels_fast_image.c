/* kernels_fast_image.c: windows and pooling. If windows keep the size of a plane, a whole plane is
 * computed at a time: shifted by rows and columns it is one run of memory, and elements that
 * wrapped around are masked. The additions are those of the references in the same order, so the
 * bits are the same. */
#include "kernels_fast.h"

#include <string.h>

#define PLANE_MAX 4096

/* True if windows keep the size of the planes, and a plane fits the arrays here. */
static bool keeps_size(const struct dp_geometry *at)
{
    return at->stride[0] == 1 && at->stride[1] == 1 && at->out[0] == at->height &&
           at->out[1] == at->width && at->height * at->width <= PLANE_MAX;
}

/* Tap (kh, kw) reads place + shift for the places first..end-1. keep[] is 0 where that is in the
 * padding. */
struct tap {
    ptrdiff_t shift;
    size_t first, end;
    bool near; /* at most one plane away */
    int16_t keep[PLANE_MAX];
};

static void tap_at(const struct dp_geometry *at, size_t k, struct tap *tap)
{
    const ptrdiff_t width = (ptrdiff_t)at->width, plane = (ptrdiff_t)at->height * width;
    const ptrdiff_t down = (ptrdiff_t)(k / at->kernel[1]) - (ptrdiff_t)at->padding[0];
    const ptrdiff_t right = (ptrdiff_t)(k % at->kernel[1]) - (ptrdiff_t)at->padding[1];
    const ptrdiff_t shift = down * width + right;
    const ptrdiff_t first = shift < 0 ? -shift : 0, end = shift > 0 ? plane - shift : plane;
    tap->shift = shift;
    tap->first = (size_t)(first < plane ? first : plane);
    tap->end = (size_t)(end > 0 ? end : 0);
    tap->near = shift <= plane && -shift <= plane;
    for (ptrdiff_t i = 0; i < plane; ++i) {
        const ptrdiff_t h = i / width + down, w = i % width + right;
        tap->keep[i] = h >= 0 && h < (ptrdiff_t)at->height && w >= 0 && w < width;
    }
}

/* Some planes have a neighbour in memory: a shift that reads beyond one plane reads the next, and
 * does not keep that. Before the first plane of all, and after the last, there is no neighbour. */
struct planes {
    size_t n, size, from_step, to_step; /* planes; then in floats: of each, from one to the next */
    bool first, last;                   /* its first plane is the first of all, its last the last */
};

/* True if places beyond those that are kept may be read in plane n. */
static inline bool is_inner(const struct planes *p, size_t n)
{
    return !(p->first && n == 0) && !(p->last && n + 1 == p->n);
}

/* to[i] = from[i + shift] where that is kept, else 0. */
DP_WIDE static void shift_planes(const struct planes *p, const struct tap *tap, const float *from,
                                 float *restrict to)
{
    const int16_t *keep = tap->keep;
    const size_t size = p->size;
    for (size_t n = 0; n < p->n; ++n, from += p->from_step, to += p->to_step) {
        const bool inner = tap->near && is_inner(p, n);
        const size_t first = inner ? 0 : tap->first, end = inner ? size : tap->end;
        const float *shifted = from + tap->shift;
        for (size_t i = 0; i < first; ++i)
            to[i] = 0.0f;
        for (size_t i = first; i < end; ++i) {
            const float value = shifted[i];
            to[i] = keep[i] ? value : 0.0f;
        }
        for (size_t i = end > first ? end : first; i < size; ++i)
            to[i] = 0.0f;
    }
}

void dp_fast_im2col(const void *args)
{
    const struct dp_columns *g = args;
    const struct dp_geometry *at = &g->at;
    const size_t plane = at->height * at->width, taps = at->kernel[0] * at->kernel[1];
    struct planes p = {at->images, plane, at->channels * plane, plane, false, false};
    struct tap tap;
    if (!keeps_size(at)) {
        dp_ref_im2col(args);
        return;
    }
    for (size_t k = 0; k < taps; ++k) {
        tap_at(at, k, &tap);
        for (size_t c = 0; c < at->channels; ++c) {
            p.first = c == 0;
            p.last = c + 1 == at->channels;
            shift_planes(&p, &tap, g->x + c * plane, g->col + (c * taps + k) * at->images * plane);
        }
    }
}

/* to[i + shift] += from[i] where that is kept. No element is -0 here, so adding 0 to one, even to
 * one of the neighbouring plane, changes nothing. */
DP_WIDE static void add_planes(const struct planes *p, const struct tap *tap, const float *from,
                               float *restrict to)
{
    const int16_t *keep = tap->keep;
    for (size_t n = 0; n < p->n; ++n, from += p->from_step, to += p->to_step) {
        const bool inner = tap->near && is_inner(p, n);
        const size_t first = inner ? 0 : tap->first, end = inner ? p->size : tap->end;
        float *shifted = to + tap->shift;
        for (size_t i = first; i < end; ++i) {
            const float value = from[i];
            shifted[i] += keep[i] ? value : 0.0f;
        }
    }
}

void dp_fast_col2im(const void *args)
{
    const struct dp_columns *g = args;
    const struct dp_geometry *at = &g->at;
    const size_t plane = at->height * at->width, taps = at->kernel[0] * at->kernel[1];
    struct planes p = {at->images, plane, plane, at->channels * plane, false, false};
    struct tap tap;
    if (!keeps_size(at)) {
        dp_ref_col2im(args);
        return;
    }
    memset(g->x, 0, at->images * at->channels * plane * sizeof *g->x);
    for (size_t k = 0; k < taps; ++k) {
        tap_at(at, k, &tap);
        for (size_t c = 0; c < at->channels; ++c) {
            p.first = c == 0;
            p.last = c + 1 == at->channels;
            add_planes(&p, &tap, g->col + (c * taps + k) * at->images * plane, g->x + c * plane);
        }
    }
}

/* A later value wins if it is larger, or a NaN. */
static inline void fast_image_take(float value, int32_t place, float *most, int32_t *best)
{
    const bool better = (value > *most) | (value != value);
    *best = better ? place : *best;
    *most = better ? value : *most;
}

/* The same for four windows. It works on bits, because a branch for each would be mispredicted half
 * of the time. */
typedef float four __attribute__((vector_size(4 * sizeof(float))));
typedef int32_t four_places __attribute__((vector_size(4 * sizeof(int32_t))));

static inline void take_four(four value, four_places place, four *most, four_places *best)
{
    const four_places better = (value > *most) | (value != value);
    *best = (place & better) | (*best & ~better);
    *most = (four)(((four_places)value & better) | ((four_places)*most & ~better));
}

/* Splits eight numbers of a row: the left numbers of four windows, and the right ones. */
static inline void part_windows(const float *row, four *left, four *right)
{
    four a, b;
    memcpy(&a, row, sizeof a);
    memcpy(&b, row + 4, sizeof b);
    *left = (four){a[0], a[2], b[0], b[2]};
    *right = (four){a[1], a[3], b[1], b[3]};
}

/* Two rows of a plane become one, by 2 x 2 windows that do not overlap, from window o on. */
struct rows {
    const float *x; /* the plane */
    size_t row, width;
    float *y;
    int32_t *index;
};

static void pool_four(const struct rows *r, size_t o)
{
    const four_places first = {0, 2, 4, 6};
    const four_places place = (int32_t)(r->row + 2 * o) + first, under = place + (int32_t)r->width;
    const float *upper = r->x + r->row + 2 * o;
    four_places best = place;
    four most, value, left, right;
    part_windows(upper, &most, &value);
    part_windows(upper + r->width, &left, &right);
    take_four(value, place + 1, &most, &best);
    take_four(left, under, &most, &best);
    take_four(right, under + 1, &most, &best);
    memcpy(r->y + o, &most, sizeof most);
    memcpy(r->index + o, &best, sizeof best);
}

static void pool_one(const struct rows *r, size_t o)
{
    const int32_t place = (int32_t)(r->row + 2 * o), under = place + (int32_t)r->width;
    const float *upper = r->x + place, *lower = r->x + under;
    int32_t best = place;
    float most = upper[0];
    fast_image_take(upper[1], place + 1, &most, &best);
    fast_image_take(lower[0], under, &most, &best);
    fast_image_take(lower[1], under + 1, &most, &best);
    r->y[o] = most;
    r->index[o] = best;
}

/* If fewer than four windows are left, some are computed twice. */
static void pool_rows(const struct rows *r, size_t outs)
{
    for (size_t o = 0; outs >= 4 && o < outs; o += 4)
        pool_four(r, o + 4 <= outs ? o : outs - 4);
    for (size_t o = 0; outs < 4 && o < outs; ++o)
        pool_one(r, o);
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
    struct rows rows = {.width = at->width, .y = g->y, .index = g->index};
    if (!is_two_by_two(at)) {
        dp_ref_max_pool(args);
        return;
    }
    for (size_t p = 0; p < at->images * at->channels; ++p) {
        rows.x = g->x + p * at->height * at->width;
        for (size_t oh = 0; oh < at->out[0]; ++oh) {
            rows.row = 2 * oh * at->width;
            pool_rows(&rows, at->out[1]);
            rows.y += at->out[1];
            rows.index += at->out[1];
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

/* Adds lane by lane as in the reference, eight at a time. */
DP_WIDE static float sum_lanes(const float *x, size_t n)
{
    float s[8] = {0};
    size_t c = 0;
    for (; n - c >= 8; c += 8) {
        for (size_t l = 0; l < 8; ++l)
            s[l] += x[c + l];
    }
    for (; c < n; ++c)
        s[c % 8] += x[c];
    return ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]));
}

void dp_fast_add_rows(const void *args)
{
    const struct dp_add_rows *g = args;
    for (size_t r = 0; r < g->rows; ++r) {
        const float sum = sum_lanes(g->x + r * g->cols, g->cols);
        g->out[r] = g->accumulate ? g->out[r] + sum : sum;
    }
}

DP_WIDE static void fast_image_add_number(float *restrict y, const float *restrict x, float number,
                                          size_t n)
{
    for (size_t i = 0; i < n; ++i)
        y[i] = x[i] + number;
}

void dp_fast_swap(const void *args)
{
    const struct dp_swap *g = args;
    const size_t block = g->block;
    for (size_t j = 0; j < g->j; ++j) {
        for (size_t i = 0; i < g->i; ++i) {
            const float *x = g->x + (i * g->j + j) * block;
            float *y = g->y + (j * g->i + i) * block;
            if (g->bias)
                fast_image_add_number(y, x, g->bias[i], block);
            else
                memcpy(y, x, block * sizeof *y);
        }
    }
}
