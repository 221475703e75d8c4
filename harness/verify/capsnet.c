/* verify/capsnet.c: a float64 step of the model capsnet. Up to the capsules all numbers are
 * integers, so it is known which of them a ReLU lets pass; those of the probe are positive, with
 * bounds. From the votes on, all numbers have bounds. */
#include "verify/routing.h"
#include "verify/sums.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SIDE = 8, FIRST = 32, FIRST_SIDE = 6, SECOND = 64, SECOND_SIDE = 2, TAPS = 9 };
enum { A_PLANE = FIRST_SIDE * FIRST_SIDE, PLACES = SECOND_SIDE * SECOND_SIDE };
enum { VOTES = CAPSULES_OUT * CAPSULE_OUT };

/* The activations of one pattern, and the gradients of them. */
struct capsnet {
    bool probe; /* else a and u are exact */
    struct bounded x[SIDE * SIDE], a[FIRST * A_PLANE], u[SECOND * PLACES];
    double largest; /* sum of |terms| of a and u */
    struct routing routing;
    struct bounded dv[VOTES], ds[CAPSULES_OUT][CAPSULE_OUT], du[SECOND * PLACES],
        da[FIRST * A_PLANE];
    struct bounded_sum sum[FIRST * A_PLANE]; /* of da */
};

/* A convolution with windows of 3 x 3 and no padding. */
struct windows {
    size_t channels, side, outs, out_side, stride;
};

static const struct windows first = {1, SIDE, FIRST, FIRST_SIDE, 1};
static const struct windows second = {FIRST, FIRST_SIDE, SECOND, SECOND_SIDE, 2};

/* The index in the input that tap t (of the taps of all channels) of the window at place reads. */
static size_t tap(const struct windows *w, size_t place, size_t t)
{
    const size_t row = place / w->out_side * w->stride + t % TAPS / 3;
    const size_t column = place % w->out_side * w->stride + t % 3;

    return t / TAPS * w->side * w->side + row * w->side + column;
}

/* Computes y = W x + bias, and returns the largest sum of |terms|. */
static double convolve(const struct windows *w, bool exact, const struct bounded *x,
                       const double *weight, const double *bias, struct bounded *y)
{
    const size_t taps = w->channels * TAPS, places = w->out_side * w->out_side;
    double largest = 0;

    for (size_t i = 0; i < w->outs * places; ++i) {
        const size_t o = i / places;
        struct bounded_sum sum = {.v = 0};

        bounded_sum_add_one(&sum, (struct bounded){bias[o], 0});
        for (size_t t = 0; t < taps; ++t)
            if (weight[o * taps + t] != 0)
                bounded_sum_add(&sum, (struct bounded){weight[o * taps + t], 0},
                                x[tap(w, i % places, t)]);
        y[i] = exact ? (struct bounded){sum.v, 0} : bounded_sum_done(&sum);
        largest = fmax(largest, sum.size);
    }
    return largest;
}

/* Adds the gradients of the weight and the bias, which are parameters p and p + 1, from dy. */
static void weights_back(struct verify_sums *sums, int p, const struct windows *w,
                         const struct bounded *x, const struct bounded *dy)
{
    const size_t taps = w->channels * TAPS, places = w->out_side * w->out_side;

    for (size_t i = 0; i < w->outs * places; ++i) {
        const size_t o = i / places;

        for (size_t t = 0; t < taps; ++t)
            verify_sums_add(sums, p, o * taps + t, dy[i], x[tap(w, i % places, t)]);
        verify_sums_add(sums, p + 1, o, dy[i], (struct bounded){1, 0});
    }
}

/* Computes da from du, where the ReLU let a pass. */
static void second_back(const struct reference_arrays *d, struct capsnet *m)
{
    const size_t taps = FIRST * TAPS;

    memset(m->sum, 0, sizeof m->sum);
    for (size_t i = 0; i < SECOND * PLACES; ++i) {
        const double *weight = d->param[2].value + i / PLACES * taps;

        for (size_t t = 0; t < taps; ++t)
            if (weight[t] != 0)
                bounded_sum_add(&m->sum[tap(&second, i % PLACES, t)], m->du[i],
                                (struct bounded){weight[t], 0});
    }
    for (size_t i = 0; i < FIRST * A_PLANE; ++i)
        m->da[i] = m->a[i].v > 0 ? bounded_sum_done(&m->sum[i]) : (struct bounded){0, 0};
}

/* Computes the votes. The input of capsule i begins at u[i * CAPSULE_IN]; its weight is [VOTES,
 * CAPSULE_IN]. */
static void vote(const struct reference_arrays *d, struct capsnet *m)
{
    for (size_t i = 0; i < CAPSULES_IN; ++i)
        for (size_t e = 0; e < VOTES; ++e)
            m->routing.vote[i][e / CAPSULE_OUT][e % CAPSULE_OUT] =
                bounded_dot(d->param[4].value + (i * VOTES + e) * CAPSULE_IN, 1,
                            m->u + i * CAPSULE_IN, CAPSULE_IN);
}

/* Computes du and the gradient of the weight of the capsules from ds. */
static void vote_back(struct verify_sums *sums, struct capsnet *m)
{
    const double *weight = sums->arrays->param[4].value;

    for (size_t i = 0; i < CAPSULES_IN; ++i) {
        struct bounded dvote[VOTES];

        for (size_t e = 0; e < VOTES; ++e) {
            const size_t j = e / CAPSULE_OUT;

            dvote[e] = bounded_times(m->routing.share[i][j], m->ds[j][e % CAPSULE_OUT]);
            for (size_t k = 0; k < CAPSULE_IN; ++k)
                verify_sums_add(sums, 4, (i * VOTES + e) * CAPSULE_IN + k, dvote[e],
                                m->u[i * CAPSULE_IN + k]);
        }
        for (size_t k = 0; k < CAPSULE_IN; ++k)
            m->du[i * CAPSULE_IN + k] =
                bounded_dot(weight + i * VOTES * CAPSULE_IN + k, CAPSULE_IN, dvote, VOTES);
    }
}

static void forward(const struct reference_arrays *d, struct capsnet *m)
{
    double largest = convolve(&first, !m->probe, m->x, d->param[0].value, d->param[1].value, m->a);

    for (size_t i = 0; i < FIRST * A_PLANE; ++i) {
        if (m->a[i].e > 0 && !(m->a[i].v > m->a[i].e))
            m->a[i].e = INFINITY;
        m->a[i].v = fmax(m->a[i].v, 0);
    }
    largest = fmax(largest,
                   convolve(&second, !m->probe, m->a, d->param[2].value, d->param[3].value, m->u));
    m->largest = fmax(m->largest, largest);
    vote(d, m);
    routing_forward(&m->routing);
}

static void one_pattern(void *model, struct verify_sums *sums, const struct workload_set *set,
                        size_t r)
{
    struct capsnet *m = model;

    for (size_t i = 0; i < SIDE * SIDE; ++i)
        m->x[i] = (struct bounded){workload_input(set, r, i), 0};
    forward(sums->arrays, m);
    verify_sums_linear(sums, set, r, 5, m->routing.v[0], VOTES, m->dv);
    routing_backward(&m->routing, m->dv, m->ds);
    vote_back(sums, m);
    weights_back(sums, 2, &second, m->a, m->du);
    second_back(sums->arrays, m);
    weights_back(sums, 0, &first, m->x, m->da);
}

static int fill(struct verify *v, const struct workload_set *set, struct text_error *why)
{
    struct capsnet *m = calloc(1, sizeof *m);
    int status;

    if (!m)
        return verify_starved(why);
    m->probe = v->probe;
    status = verify_sums_fill(v, set, one_pattern, m, why);
    if (status == 0 && !(m->largest < 0x1p24)) {
        snprintf(why->text, sizeof why->text,
                 "a sum of |terms| may reach %.0f, not below %.0f: results would not be exact",
                 m->largest, 0x1p24);
        status = -1;
    }
    free(m);
    return status;
}

const struct verify_reference verify_reference_capsnet = {"capsnet", fill, fill};
