/* verify/windows.c: convolutions in numbers with bounds, place by place. */
#include "verify/sums.h"

#include <math.h>
#include <string.h>

enum { TAPS = WINDOWS_TAPS, SIDE = WINDOWS_SIDE };

void windows_map(const struct windows *windows, struct windows_map *map)
{
    const size_t side = windows->out_side, margin = windows->margin, end = windows->side + margin;

    for (size_t h = 0; h < side; ++h)
        for (size_t w = 0; w < side; ++w)
            for (size_t t = 0; t < TAPS; ++t) {
                const size_t row = h * windows->stride + t / 3;
                const size_t column = w * windows->stride + t % 3;
                const bool inside = row >= margin && row < end && column >= margin && column < end;

                map->from[h * side + w][t] =
                    inside ? (row - margin) * windows->side + column - margin : WINDOWS_OUTSIDE;
            }
}

double windows_forward(const struct windows *windows, bool exact, const double *weight,
                       const double *bias, const struct bounded *x, struct bounded *y)
{
    const size_t taps = windows->channels * TAPS, plane = windows->side * windows->side;
    const size_t places = windows->out_side * windows->out_side;
    struct windows_map map;
    double largest = 0;

    windows_map(windows, &map);
    for (size_t i = 0; i < windows->outs * places; ++i) {
        const double *w = weight + i / places * taps;
        const size_t *from = map.from[i % places];
        struct bounded_sum sum = {.v = 0};

        if (bias)
            bounded_sum_add_one(&sum, (struct bounded){bias[i / places], 0});
        for (size_t t = 0; t < taps; ++t)
            if (w[t] != 0 && from[t % TAPS] != WINDOWS_OUTSIDE)
                bounded_sum_add(&sum, (struct bounded){w[t], 0},
                                x[t / TAPS * plane + from[t % TAPS]]);
        y[i] = exact ? (struct bounded){sum.v, 0} : bounded_sum_done(&sum);
        largest = fmax(largest, sum.size);
    }
    return largest;
}

void windows_weights(const struct windows *windows, struct verify_sums *sums, int p,
                     const struct bounded *x, const struct bounded *dy, struct bounded *columns)
{
    const size_t taps = windows->channels * TAPS, plane = windows->side * windows->side;
    const size_t places = windows->out_side * windows->out_side;
    struct windows_map map;

    windows_map(windows, &map);
    /* Each window reads these, in the order of the taps of a weight; outside of the image is 0. */
    for (size_t i = 0; i < places; ++i)
        for (size_t t = 0; t < taps; ++t) {
            const size_t from = map.from[i][t % TAPS];

            columns[i * taps + t] =
                from == WINDOWS_OUTSIDE ? (struct bounded){0, 0} : x[t / TAPS * plane + from];
        }
    for (size_t i = 0; i < windows->outs * places; ++i) {
        if (fabs(dy[i].v) + dy[i].e == 0)
            continue;
        verify_sums_add(sums, p + 1, i / places, dy[i], (struct bounded){1, 0});
        verify_sums_add_row(sums, p, i / places * taps, dy[i], columns + i % places * taps, taps);
    }
}

void windows_input(const struct windows *windows, const double *weight, struct bounded_sum empty,
                   const struct bounded *dy, struct bounded_sum *sum, struct bounded *dx)
{
    const size_t taps = windows->channels * TAPS, plane = windows->side * windows->side;
    const size_t places = windows->out_side * windows->out_side;
    size_t tap[WINDOWS_CHANNELS * TAPS]; /* those whose weight is not 0 */
    struct windows_map map;

    windows_map(windows, &map);
    for (size_t i = 0; i < windows->channels * plane; ++i)
        sum[i] = empty;
    for (size_t o = 0; o < windows->outs; ++o) {
        const double *w = weight + o * taps;
        size_t n = 0;

        for (size_t t = 0; t < taps; ++t)
            if (w[t] != 0)
                tap[n++] = t;
        for (size_t i = 0; i < places; ++i) {
            const struct bounded g = dy[o * places + i];
            const bool any = g.v != 0 || g.e != 0; /* else its terms are 0 */

            for (size_t k = 0; k < (any ? n : 0); ++k) {
                const size_t from = map.from[i][tap[k] % TAPS];

                if (from != WINDOWS_OUTSIDE)
                    bounded_sum_add(&sum[tap[k] / TAPS * plane + from], g,
                                    (struct bounded){w[tap[k]], 0});
            }
        }
    }
    for (size_t i = 0; i < windows->channels * plane; ++i)
        dx[i] = bounded_sum_done(&sum[i]);
}

void windows_backward(const struct windows *windows, const double *weight,
                      const struct norm_gradient *dy, struct norm_gradient *dx)
{
    const size_t places = windows->side * windows->side;
    struct windows_map map;

    windows_map(windows, &map);
    for (size_t i = 0; i < windows->channels * places; ++i) {
        struct bounded_sum own = {.v = 0}, all = {.v = 0};
        size_t terms = 0;

        for (size_t t = 0; t < windows->outs * TAPS; ++t) {
            const size_t out = t / TAPS;
            const double w = weight[(out * windows->channels + i / places) * TAPS + t % TAPS];

            /* The window whose tap t reads this place is centred where the opposite tap of this
             * place points. */
            const size_t from = map.from[i % places][TAPS - 1 - t % TAPS];

            if (w == 0 || from == WINDOWS_OUTSIDE)
                continue;
            bounded_sum_add(&own, (struct bounded){w, 0}, dy[out * places + from].own);
            bounded_sum_add(&all, (struct bounded){w, 0}, dy[out * places + from].all);
            ++terms;
        }
        own.terms = all.terms = terms;
        dx[i] = (struct norm_gradient){bounded_sum_done(&own), bounded_sum_done(&all)};
    }
}

/* A channel of an image with a margin of zeros. */
struct padded {
    double value[WINDOWS_PLANE], size[WINDOWS_PLANE], away[WINDOWS_PLANE];
};

/* Adds the terms of tap t of a result whose gradients are dy. There is a sum for each column,
 * because these are as accurate as one sum, and faster. */
static void add_tap(const struct windows *windows, const struct padded *x, size_t t,
                    const struct windows_upstream *dy, struct windows_sum *sum)
{
    const size_t pitch = windows->side + 2, side = windows->out_side;
    double v[SIDE] = {0}, s[SIDE] = {0}, e[SIDE] = {0};

    for (size_t h = 0; h < side; ++h, dy += side) {
        const size_t row = h * windows->stride + t / 3;

        for (size_t w = 0; w < side; ++w) {
            const size_t from = row * pitch + w * windows->stride + t % 3;

            v[w] += dy[w].value * x->value[from];
            s[w] += dy[w].size * x->size[from];
            e[w] += dy[w].away * (x->size[from] + x->away[from]) + dy[w].size * x->away[from];
        }
    }
    for (size_t w = 0; w < side; ++w) {
        sum->value += v[w];
        sum->size += s[w];
        sum->carried += e[w];
    }
}

void windows_add(const struct windows *windows, const struct bounded *x,
                 const struct windows_upstream *dy, struct windows_sum *sum)
{
    const size_t side = windows->side, places = windows->out_side * windows->out_side;
    struct padded padded;

    for (size_t c = 0; c < windows->channels; ++c, x += side * side) {
        memset(&padded, 0, sizeof padded);
        for (size_t i = 0; i < side * side; ++i) {
            const size_t at = (i / side + 1) * (side + 2) + i % side + 1;

            padded.value[at] = x[i].v;
            padded.size[at] = fabs(x[i].v);
            padded.away[at] = x[i].e;
        }
        for (size_t i = 0; i < windows->outs * TAPS; ++i)
            add_tap(windows, &padded, i % TAPS, dy + i / TAPS * places,
                    &sum[(i / TAPS * windows->channels + c) * TAPS + i % TAPS]);
    }
}
