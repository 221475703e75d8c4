/* verify/windows.c: convolutions in numbers with bounds, place by place. */
#include "verify/windows.h"

#include <math.h>
#include <string.h>

enum { TAPS = WINDOWS_TAPS, SIDE = WINDOWS_SIDE };

/* Finds the place that tap (kh, kw) of the window around place reads. It returns false if that is
 * outside of the image. */
static bool tap_place(const struct windows *w, size_t place, size_t tap, size_t *from)
{
    const size_t row = place / w->out_side * w->stride + tap / 3; /* one too far each */
    const size_t column = place % w->out_side * w->stride + tap % 3;

    if (row < 1 || row > w->side || column < 1 || column > w->side)
        return false;
    *from = (row - 1) * w->side + (column - 1);
    return true;
}

double windows_forward(const struct windows *windows, bool exact, const double *weight,
                       const double *bias, const struct bounded *x, struct bounded *y)
{
    const size_t taps = windows->channels * TAPS, plane = windows->side * windows->side;
    const size_t places = windows->out_side * windows->out_side;
    double largest = 0;

    for (size_t i = 0; i < windows->outs * places; ++i) {
        const double *w = weight + i / places * taps;
        struct bounded_sum sum = {.v = 0};
        size_t from;

        if (bias)
            bounded_sum_add_one(&sum, (struct bounded){bias[i / places], 0});
        for (size_t t = 0; t < taps; ++t)
            if (w[t] != 0 && tap_place(windows, i % places, t % TAPS, &from))
                bounded_sum_add(&sum, (struct bounded){w[t], 0}, x[t / TAPS * plane + from]);
        y[i] = exact ? (struct bounded){sum.v, 0} : bounded_sum_done(&sum);
        largest = fmax(largest, sum.size);
    }
    return largest;
}

/* Computes the gradient of number i of an image. places: numbers of a plane. */
static struct norm_gradient back_to(const struct windows *windows, const double *weight,
                                    const struct norm_gradient *dy, size_t i, size_t places)
{
    struct bounded_sum own = {.v = 0}, all = {.v = 0};
    size_t terms = 0, from;

    for (size_t t = 0; t < windows->outs * TAPS; ++t) {
        const size_t out = t / TAPS;
        const double w = weight[(out * windows->channels + i / places) * TAPS + t % TAPS];

        /* The window whose tap t reads this place is centred where the opposite tap of this place
         * points. */
        if (w == 0 || !tap_place(windows, i % places, TAPS - 1 - t % TAPS, &from))
            continue;
        bounded_sum_add(&own, (struct bounded){w, 0}, dy[out * places + from].own);
        bounded_sum_add(&all, (struct bounded){w, 0}, dy[out * places + from].all);
        ++terms;
    }
    own.terms = all.terms = terms;
    return (struct norm_gradient){bounded_sum_done(&own), bounded_sum_done(&all)};
}

void windows_backward(const struct windows *windows, const double *weight,
                      const struct norm_gradient *dy, struct norm_gradient *dx)
{
    const size_t places = windows->side * windows->side;

    for (size_t i = 0; i < windows->channels * places; ++i)
        dx[i] = back_to(windows, weight, dy, i, places);
}

/* A channel of an image with a margin of zeros. */
struct padded {
    double value[WINDOWS_PLANE], size[WINDOWS_PLANE], away[WINDOWS_PLANE];
};

static void pad(const struct windows *windows, const struct bounded *x, struct padded *to)
{
    const size_t side = windows->side;

    memset(to, 0, sizeof *to);
    for (size_t i = 0; i < side * side; ++i) {
        const size_t at = (i / side + 1) * (side + 2) + i % side + 1;

        to->value[at] = x[i].v;
        to->size[at] = fabs(x[i].v);
        to->away[at] = x[i].e;
    }
}

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
    const size_t plane = windows->side * windows->side;
    const size_t places = windows->out_side * windows->out_side;
    struct padded padded;

    for (size_t c = 0; c < windows->channels; ++c) {
        pad(windows, x + c * plane, &padded);
        for (size_t i = 0; i < windows->outs * TAPS; ++i)
            add_tap(windows, &padded, i % TAPS, dy + i / TAPS * places,
                    &sum[(i / TAPS * windows->channels + c) * TAPS + i % TAPS]);
    }
}
