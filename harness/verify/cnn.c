/* verify/cnn.c: a float64 step of the model cnn, pattern by pattern, by plain loops that skip
 * zeros. Its numbers are whole; the sum of |terms| is computed with every sum.
 *
 * The numbers of the probe have bounds. They are positive, so that every ReLU lets everything pass.
 * If the largest number of a pool cannot be told from another, the gradient may go to either, and
 * the bounds of both allow for it. */
#include <math.h>
#include <string.h>

#include "verify/sums.h"

enum { SIDE = 8, PLANE = 64, FIRST = 32, SECOND = 64, POOLED = 1024, TAPS = WINDOWS_TAPS };

static const struct windows first = {1, SIDE, FIRST, SIDE, 1, 1};
static const struct windows second = {FIRST, SIDE, SECOND, SIDE, 1, 1};

/* The activations of one pattern, and the gradients of them. */
struct cnn {
    struct bounded x[PLANE], a[FIRST * PLANE], b[SECOND * PLANE], pooled[POOLED];
    size_t from[POOLED]; /* the index in b of each pooled value */
    struct bounded da[FIRST * PLANE], db[SECOND * PLANE], dpooled[POOLED];
    struct bounded_sum sum[FIRST * PLANE];        /* of da */
    struct bounded columns[PLANE * FIRST * TAPS]; /* of windows_weights */
};

/* Computes out = max(0, bias + W in). The weight is parameter p. */
static void cnn_forward(struct verify_sums *sums, int p, const struct windows *w,
                        const struct bounded *in, struct bounded *out)
{
    const double *weight = sums->arrays->param[p].value, *bias = sums->arrays->param[p + 1].value;
    const size_t taps = w->channels * TAPS;
    struct windows_map map;

    windows_map(w, &map);
    for (size_t o = 0; o < w->outs; ++o) {
        struct bounded_sum sum[PLANE];

        for (size_t i = 0; i < PLANE; ++i)
            sum[i] = sums->empty;
        for (size_t t = 0; t < taps; ++t) {
            const struct bounded by = {weight[o * taps + t], 0};

            for (size_t i = 0; i < PLANE && by.v != 0; ++i)
                if (map.from[i][t % TAPS] != WINDOWS_OUTSIDE)
                    bounded_sum_add(&sum[i], by, in[t / TAPS * PLANE + map.from[i][t % TAPS]]);
        }
        for (size_t i = 0; i < PLANE; ++i) {
            /* A bias alone is not rounded: equal places of a pool stay equal. */
            const bool alone = sum[i].terms == 0;

            bounded_sum_add_one(&sum[i], (struct bounded){bias[o], 0});

            const struct bounded z = bounded_sum_done(&sum[i]);

            out[o * PLANE + i] = (struct bounded){z.v, z.v > z.e ? z.e : INFINITY};
            if (sums->exact)
                out[o * PLANE + i] = (struct bounded){fmax(z.v, 0), 0};
            else if (alone)
                out[o * PLANE + i] = (struct bounded){bias[o], 0};
            if (sums->exact && sum[i].size > sums->largest)
                sums->largest = sum[i].size;
        }
    }
}

/* The index in the second image of number k of the 2 x 2 window of pooled value o. */
static size_t pool_place(size_t o, size_t k)
{
    const size_t corner = o / 4 % 4 * 2 * SIDE + o % 4 * 2;

    return o / 16 * PLANE + corner + k / 2 * SIDE + k % 2;
}

/* Fills db from dpooled. A ReLU that gave 0 passes no gradient. */
static void pool_backward(struct cnn *m, bool exact)
{
    memset(m->db, 0, sizeof m->db);
    for (size_t o = 0; o < POOLED; ++o) {
        const size_t best = m->from[o];
        const struct bounded g = {m->dpooled[o].v, exact ? 0 : m->dpooled[o].e};

        if (m->pooled[o].v > 0)
            m->db[best] = g;
        for (size_t k = 0; k < 4; ++k) {
            const size_t at = pool_place(o, k);
            const double room = m->b[best].e + m->b[at].e;

            if (at == best || room == 0 || m->b[best].v - m->b[at].v > room)
                continue;
            m->db[at].e = m->db[best].e = fabs(g.v) + g.e;
        }
    }
}

static double largest_of(const struct bounded *x, size_t n)
{
    double most = 0;

    for (size_t i = 0; i < n; ++i)
        most = fabs(x[i].v) > most ? fabs(x[i].v) : most;
    return most;
}

static void cnn_pattern(void *model, struct verify_sums *sums, size_t r)
{
    struct cnn *m = model;
    struct reference_arrays *d = sums->arrays;

    verify_sums_input(sums, r, PLANE, m->x);
    cnn_forward(sums, 0, &first, m->x, m->a);
    cnn_forward(sums, 2, &second, m->a, m->b);
    for (size_t o = 0; o < POOLED; ++o) {
        size_t best = pool_place(o, 0);

        for (size_t k = 1; k < 4; ++k) /* of equal numbers the first counts */
            if (m->b[pool_place(o, k)].v > m->b[best].v)
                best = pool_place(o, k);
        m->from[o] = best;
        m->pooled[o] = m->b[best];
        /* It is no farther away than any of the four. */
        for (size_t k = 0; k < 4; ++k)
            if (m->b[pool_place(o, k)].e > m->pooled[o].e)
                m->pooled[o].e = m->b[pool_place(o, k)].e;
    }
    verify_sums_linear(sums, r, 4, m->pooled, POOLED, m->dpooled);
    if (sums->scales == 0)
        return;
    pool_backward(m, sums->exact);
    windows_weights(&second, sums, 2, m->a, m->db, m->columns);
    windows_input(&second, d->param[2].value, sums->empty, m->db, m->sum, m->da);
    for (size_t i = 0; i < FIRST * PLANE && sums->exact; ++i) {
        if (3 * m->sum[i].size > sums->largest) /* scales are at most 3 */
            sums->largest = 3 * m->sum[i].size;
        m->da[i] = (struct bounded){m->a[i].v > 0 ? m->sum[i].v : 0, 0};
    }
    windows_weights(&first, sums, 0, m->x, m->da, m->columns);
    if (!sums->exact)
        return;
    d->operand = fmax(d->operand, largest_of(m->x, PLANE));
    d->operand = fmax(d->operand, largest_of(m->a, FIRST * PLANE));
    d->operand = fmax(d->operand, largest_of(m->b, SECOND * PLANE));
    d->operand = fmax(d->operand, 3 * largest_of(m->da, FIRST * PLANE));
    d->operand = fmax(d->operand, 3 * largest_of(m->db, SECOND * PLANE));
}

const struct verify_reference verify_reference_cnn = {
    .workload = "cnn", .pattern = cnn_pattern, .bytes = sizeof(struct cnn)};
