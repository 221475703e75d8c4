/* verify/cnn_probe.c: the probe step of the model cnn, in numbers with bounds. They are positive,
 * so that every ReLU lets everything pass. If the largest number of a pool cannot be told from
 * another, the gradient may go to either, and the bounds of both allow for it. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "verify/sums.h"

enum { SIDE = 8, PLANE = 64, FIRST = 32, SECOND = 64, POOLED = 1024, TAPS = 9 };

/* The activations of one pattern, and the gradients of them. */
struct cnn {
    struct bounded x[PLANE], a[FIRST * PLANE], b[SECOND * PLANE], pooled[POOLED];
    struct bounded da[FIRST * PLANE], db[SECOND * PLANE], dpooled[POOLED];
    struct bounded_sum sum[FIRST * PLANE]; /* of da */
};

/* Finds the place that tap (kh, kw) of the window around place reads. It returns false if that is
 * outside of the image. */
static bool tap_place(size_t place, size_t tap, size_t *from)
{
    const size_t h = place / SIDE + tap / 3, w = place % SIDE + tap % 3; /* one too far each */

    if (h < 1 || h > SIDE || w < 1 || w > SIDE)
        return false;
    *from = (h - 1) * SIDE + (w - 1);
    return true;
}

static struct bounded let_pass(struct bounded z)
{
    return z.v > z.e ? z : (struct bounded){z.v, INFINITY};
}

/* Computes out = max(0, bias + W in), with windows of 3 x 3. */
static void convolve(const struct verify *v, int p, const struct bounded *in, size_t channels,
                     size_t outs, struct bounded *out)
{
    const double *weight = v->arrays->param[p].value, *bias = v->arrays->param[p + 1].value;
    size_t from;

    for (size_t o = 0; o < outs; ++o) {
        struct bounded_sum sum[PLANE];

        for (size_t i = 0; i < PLANE; ++i)
            sum[i] = (struct bounded_sum){.operands = v->operands};
        for (size_t t = 0; t < channels * TAPS; ++t) {
            const struct bounded w = {weight[o * channels * TAPS + t], 0};

            for (size_t i = 0; i < PLANE && w.v != 0; ++i)
                if (tap_place(i, t % TAPS, &from))
                    bounded_sum_add(&sum[i], w, in[t / TAPS * PLANE + from]);
        }
        for (size_t i = 0; i < PLANE; ++i) {
            /* A bias alone is not rounded: equal places of a pool stay equal. */
            const bool alone = sum[i].terms == 0;

            bounded_sum_add_one(&sum[i], (struct bounded){bias[o], 0});
            out[o * PLANE + i] =
                alone ? (struct bounded){bias[o], 0} : let_pass(bounded_sum_done(&sum[i]));
        }
    }
}

/* The index in b of number k of the window of pooled value o. */
static size_t pool_place(size_t o, size_t k)
{
    const size_t corner = o / 4 % 4 * 2 * SIDE + o % 4 * 2;

    return o / 16 * PLANE + corner + k / 2 * SIDE + k % 2;
}

/* The index in b of the largest number of the window; of equal numbers, of the first. */
static size_t pool_best(const struct cnn *m, size_t o)
{
    size_t best = pool_place(o, 0);

    for (size_t k = 1; k < 4; ++k)
        if (m->b[pool_place(o, k)].v > m->b[best].v)
            best = pool_place(o, k);
    return best;
}

/* Computes the largest number of each 2 x 2 window. It is no farther away than any of the four. */
static void pool(struct cnn *m)
{
    for (size_t o = 0; o < POOLED; ++o) {
        m->pooled[o] = m->b[pool_best(m, o)];
        for (size_t k = 0; k < 4; ++k)
            m->pooled[o].e = fmax(m->pooled[o].e, m->b[pool_place(o, k)].e);
    }
}

static void pool_back(struct cnn *m)
{
    memset(m->db, 0, sizeof m->db);
    for (size_t o = 0; o < POOLED; ++o) {
        const size_t best = pool_best(m, o);
        const struct bounded g = m->dpooled[o];

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

/* Adds the gradients of the weight and the bias, which are parameters p and p + 1, from dy. */
static void weights_back(struct verify_sums *sums, int p, const struct bounded *in, size_t channels,
                         size_t outs, const struct bounded *dy)
{
    size_t from;

    for (size_t i = 0; i < outs * PLANE; ++i) {
        const size_t o = i / PLANE;

        if (fabs(dy[i].v) + dy[i].e == 0)
            continue;
        verify_sums_add(sums, p + 1, o, dy[i], (struct bounded){1, 0});
        for (size_t t = 0; t < channels * TAPS; ++t)
            if (tap_place(i % PLANE, t % TAPS, &from))
                verify_sums_add(sums, p, o * channels * TAPS + t, dy[i],
                                in[t / TAPS * PLANE + from]);
    }
}

/* Computes da from db. */
static void second_back(const struct verify *v, struct cnn *m)
{
    size_t from;

    for (size_t i = 0; i < FIRST * PLANE; ++i)
        m->sum[i] = (struct bounded_sum){.operands = v->operands};
    for (size_t i = 0; i < SECOND * PLANE; ++i) {
        const double *weight = v->arrays->param[2].value + i / PLANE * FIRST * TAPS;

        for (size_t t = 0; t < FIRST * TAPS; ++t)
            if (weight[t] != 0 && tap_place(i % PLANE, t % TAPS, &from))
                bounded_sum_add(&m->sum[t / TAPS * PLANE + from], m->db[i],
                                (struct bounded){weight[t], 0});
    }
    for (size_t i = 0; i < FIRST * PLANE; ++i)
        m->da[i] = bounded_sum_done(&m->sum[i]);
}

struct model {
    const struct verify *verify;
    struct cnn cnn;
};

static void one_pattern(void *model, struct verify_sums *sums, const struct workload_set *set,
                        size_t r)
{
    const struct verify *v = ((struct model *)model)->verify;
    struct cnn *m = &((struct model *)model)->cnn;

    for (size_t i = 0; i < PLANE; ++i)
        m->x[i] = (struct bounded){workload_input(set, r, i), 0};
    convolve(v, 0, m->x, 1, FIRST, m->a);
    convolve(v, 2, m->a, FIRST, SECOND, m->b);
    pool(m);
    verify_sums_linear(sums, set, r, 4, m->pooled, POOLED, m->dpooled);
    if (sums->scales == 0)
        return;
    pool_back(m);
    weights_back(sums, 2, m->a, FIRST, SECOND, m->db);
    second_back(v, m);
    weights_back(sums, 0, m->x, 1, FIRST, m->da);
}

int verify_cnn_probe(struct verify *v, const struct workload_set *set, struct text_error *why)
{
    struct model *m = calloc(1, sizeof *m);
    int status;

    if (!m)
        return verify_starved(why);
    m->verify = v;
    status = verify_sums_fill(v, set, one_pattern, m, why);
    free(m);
    return status;
}
