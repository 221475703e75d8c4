/* verify/cnn.c: a float64 step of the model cnn, pattern by pattern, by plain loops that skip
 * zeros. All numbers are integers; the sum of |terms| is computed with every sum.
 *
 * The numbers of the probe have bounds. They are positive, so that every ReLU lets everything pass.
 * If the largest number of a pool cannot be told from another, the gradient may go to either, and
 * the bounds of both allow for it. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "verify/sums.h"
#include "verify/windows.h"

enum { SIDE = 8, PLANE = 64, FIRST = 32, SECOND = 64, POOLED = 1024, TAPS = WINDOWS_TAPS };

static const struct windows first = {1, SIDE, FIRST, SIDE, 1, 1};
static const struct windows second = {FIRST, SIDE, SECOND, SIDE, 1, 1};

/* The index in the second image of number k of the 2 x 2 window of pooled value o. */
static size_t pool_place(size_t o, size_t k)
{
    const size_t corner = o / 4 % 4 * 2 * SIDE + o % 4 * 2;

    return o / 16 * PLANE + corner + k / 2 * SIDE + k % 2;
}

/* ---- whole numbers --------------------------------------------------------------------------- */

/* The activations of one pattern, and the gradients of them. */
struct cnn {
    double x[PLANE], a[FIRST * PLANE], b[SECOND * PLANE], pooled[POOLED];
    size_t from[POOLED]; /* the index in b of each pooled value */
    double da[FIRST * PLANE], db[SECOND * PLANE], dpooled[POOLED];
    double terms_a[FIRST * PLANE]; /* sums of |terms| of da */
    double largest;                /* of the sums of |terms| of a and b */
    double operand;                /* the largest of all activations and their gradients */
};

/* Computes out = max(0, bias + W in). The weight is parameter p. */
static void cnn_forward(const struct verify *v, int p, const struct windows *w, const double *in,
                        double *out, double *largest)
{
    const double *weight = v->arrays->param[p].value, *bias = v->arrays->param[p + 1].value;
    const size_t taps = w->channels * TAPS;
    double terms[PLANE];

    for (size_t o = 0; o < w->outs; ++o) {
        double *y = out + o * PLANE;

        for (size_t i = 0; i < PLANE; ++i) {
            y[i] = bias[o];
            terms[i] = fabs(bias[o]);
        }
        for (size_t t = 0; t < taps; ++t) {
            const double by = weight[o * taps + t];
            size_t from;

            for (size_t i = 0; i < PLANE && by != 0; ++i) {
                if (!windows_tap(w, i, t % TAPS, &from))
                    continue;
                y[i] += by * in[t / TAPS * PLANE + from];
                terms[i] += fabs(by * in[t / TAPS * PLANE + from]);
            }
        }
        for (size_t i = 0; i < PLANE; ++i) {
            *largest = fmax(*largest, terms[i]);
            y[i] = fmax(y[i], 0);
        }
    }
}

/* Computes the gradients of the weight and bias of a convolution from dy, and also that of its
 * input unless back is NULL. */
static void cnn_backward(struct verify *v, int p, const struct windows *w, const double *in,
                         const double *dy, double times, struct cnn *back)
{
    struct reference_arrays *d = v->arrays;

    for (size_t i = 0; i < w->outs * PLANE; ++i) {
        if (dy[i] == 0)
            continue;
        reference_add(&d->grad[p + 1], i / PLANE, times, dy[i]);
        for (size_t tap = 0; tap < TAPS; ++tap) {
            size_t from, at = i / PLANE * w->channels * TAPS + tap;

            if (!windows_tap(w, i % PLANE, tap, &from))
                continue;
            for (size_t c = 0; c < w->channels; ++c, from += PLANE, at += TAPS) {
                const double term = dy[i] * d->param[p].value[at];

                reference_add(&d->grad[p], at, times, dy[i] * in[from]);
                if (back && term != 0) {
                    back->da[from] += term;
                    back->terms_a[from] += fabs(term);
                }
            }
        }
    }
}

static int cnn_fill(struct verify *v, const struct workload_set *set, struct text_error *why)
{
    struct cnn *m = calloc(1, sizeof *m);
    struct reference_arrays *d = v->arrays;

    (void)set;
    if (!m)
        return verify_starved(why);
    /* A ReLU that gave 0 passes no gradient. Scales of rows are at most 3. */
    for (size_t r = 0; r < v->patterns; ++r) {
        memcpy(m->x, d->input + r * PLANE, sizeof m->x);
        cnn_forward(v, 0, &first, m->x, m->a, &m->largest);
        cnn_forward(v, 2, &second, m->a, m->b, &m->largest);
        for (size_t o = 0; o < POOLED; ++o) {
            m->from[o] = pool_place(o, 0);
            for (size_t k = 1; k < 4; ++k) /* of equal numbers the first counts */
                if (m->b[pool_place(o, k)] > m->b[m->from[o]])
                    m->from[o] = pool_place(o, k);
            m->pooled[o] = m->b[m->from[o]];
        }
        reference_linear(v, r, 4, m->pooled, POOLED, m->dpooled, NULL);
        memset(m->db, 0, sizeof m->db);
        for (size_t o = 0; o < POOLED; ++o)
            m->db[m->from[o]] = m->pooled[o] > 0 ? m->dpooled[o] : 0;
        memset(m->da, 0, sizeof m->da);
        memset(m->terms_a, 0, sizeof m->terms_a);
        cnn_backward(v, 2, &second, m->a, m->db, v->weight[r], m);
        for (size_t i = 0; i < FIRST * PLANE; ++i) {
            m->largest = fmax(m->largest, 3 * m->terms_a[i]);
            m->da[i] = m->a[i] > 0 ? m->da[i] : 0;
        }
        cnn_backward(v, 0, &first, m->x, m->da, v->weight[r], NULL);
        for (size_t i = 0; i < PLANE; ++i)
            m->operand = fmax(m->operand, fabs(m->x[i]));
        for (size_t i = 0; i < FIRST * PLANE; ++i)
            m->operand = fmax(m->operand, fmax(m->a[i], 3 * fabs(m->da[i])));
        for (size_t i = 0; i < SECOND * PLANE; ++i)
            m->operand = fmax(m->operand, fmax(m->b[i], 3 * fabs(m->db[i])));
    }
    d->output.bound[0] = fmax(d->output.bound[0], m->largest);
    d->operand = m->operand;
    free(m);
    return 0;
}

/* ---- the probe ------------------------------------------------------------------------------- */

struct cnn_probe {
    struct bounded x[PLANE], a[FIRST * PLANE], b[SECOND * PLANE], pooled[POOLED];
    struct bounded da[FIRST * PLANE], db[SECOND * PLANE], dpooled[POOLED];
    struct bounded_sum sum[FIRST * PLANE]; /* of da */
};

/* Computes out = max(0, bias + W in). The weight is parameter p. */
static void probe_forward(const struct verify *v, int p, const struct windows *w,
                          const struct bounded *in, struct bounded *out)
{
    const double *weight = v->arrays->param[p].value, *bias = v->arrays->param[p + 1].value;
    const size_t taps = w->channels * TAPS;
    size_t from;

    for (size_t i = 0; i < w->outs * PLANE; ++i) {
        const size_t o = i / PLANE;
        struct bounded_sum sum = {.operands = v->operands};

        for (size_t t = 0; t < taps; ++t)
            if (weight[o * taps + t] != 0 && windows_tap(w, i % PLANE, t % TAPS, &from))
                bounded_sum_add(&sum, (struct bounded){weight[o * taps + t], 0},
                                in[t / TAPS * PLANE + from]);
        /* A bias alone is not rounded: equal places of a pool stay equal. */
        const bool alone = sum.terms == 0;

        bounded_sum_add_one(&sum, (struct bounded){bias[o], 0});

        const struct bounded z = bounded_sum_done(&sum);

        out[i] = (struct bounded){z.v, z.v > z.e ? z.e : INFINITY};
        if (alone)
            out[i] = (struct bounded){bias[o], 0};
    }
}

/* The index in b of the largest number of the window; of equal numbers, of the first. */
static size_t pool_best(const struct cnn_probe *m, size_t o)
{
    size_t best = pool_place(o, 0);

    for (size_t k = 1; k < 4; ++k)
        if (m->b[pool_place(o, k)].v > m->b[best].v)
            best = pool_place(o, k);
    return best;
}

static void one_pattern(void *model, struct verify_sums *sums, const struct workload_set *set,
                        size_t r)
{
    struct cnn_probe *m = model;
    const struct verify *v = sums->verify;

    for (size_t i = 0; i < PLANE; ++i)
        m->x[i] = (struct bounded){workload_input(set, r, i), 0};
    probe_forward(v, 0, &first, m->x, m->a);
    probe_forward(v, 2, &second, m->a, m->b);
    /* The largest number of a window is no farther away than any of the four. */
    for (size_t o = 0; o < POOLED; ++o) {
        m->pooled[o] = m->b[pool_best(m, o)];
        for (size_t k = 0; k < 4; ++k)
            m->pooled[o].e = fmax(m->pooled[o].e, m->b[pool_place(o, k)].e);
    }
    verify_sums_linear(sums, set, r, 4, m->pooled, POOLED, m->dpooled);
    if (sums->scales == 0)
        return;
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
    windows_weights(&second, sums, 2, m->a, m->db);
    windows_input(&second, v->arrays->param[2].value, v->operands, m->db, m->sum, m->da);
    windows_weights(&first, sums, 0, m->x, m->da);
}

static int cnn_probe(struct verify *v, const struct workload_set *set, struct text_error *why)
{
    return verify_sums_fill(v, set, one_pattern, sizeof(struct cnn_probe), NULL, why);
}

const struct verify_reference verify_reference_cnn = {"cnn", cnn_fill, cnn_probe};
