/* verify/capsnet.c: a float64 step of the model capsnet. Up to the capsules all numbers are
 * integers, so it is known which of them a ReLU lets pass; those of the probe are positive, with
 * bounds. From the votes on, all numbers have bounds. */
#include "verify/sums.h"

#include <math.h>
#include <string.h>

enum { CAPSULES_IN = 32, CAPSULES_OUT = 10, CAPSULE_IN = 8, CAPSULE_OUT = 16, ROUNDS = 3 };
enum { SIDE = 8, FIRST = 32, FIRST_SIDE = 6, SECOND = 64, SECOND_SIDE = 2 };
enum { A_PLANE = FIRST_SIDE * FIRST_SIDE, PLACES = SECOND_SIDE * SECOND_SIDE };
enum { VOTES = CAPSULES_OUT * CAPSULE_OUT };

/* ---- routing --------------------------------------------------------------------------------- */

/* Routing by agreement of capsules (Sabour, Frosst and Hinton, Dynamic Routing Between Capsules).
 * Shares are the softmax of logits, which are 0 at first; v = squash(s), where s is the sum of
 * votes times their shares; a logit grows by how far its vote agrees with v. */

/* The numbers of one pattern. share: those of the last round. */
struct routing {
    struct bounded vote[CAPSULES_IN][CAPSULES_OUT][CAPSULE_OUT];
    struct bounded share[CAPSULES_IN][CAPSULES_OUT];
    struct bounded s[CAPSULES_OUT][CAPSULE_OUT], v[CAPSULES_OUT][CAPSULE_OUT];
};

static const struct bounded ZERO = {0, 0}, ONE = {1, 0}, HALF = {0.5, 0};
static const struct bounded TINY = {1e-8, BOUNDED_U * 1e-8}; /* also as a float */

/* Returns before + a . b. */
static struct bounded dot(struct bounded before, const struct bounded *a, const struct bounded *b,
                          size_t n)
{
    struct bounded_sum sum = {.v = 0};

    bounded_sum_add_one(&sum, before);
    for (size_t k = 0; k < n; ++k)
        bounded_sum_add(&sum, a[k], b[k]);
    return bounded_sum_done(&sum);
}

/* Numbers that forward and backward of squash share: q = |s|^2, root = sqrt(q + tiny), factor = q /
 * (1 + q) / root. */
struct length {
    struct bounded q, root, factor;
};

/* Computes the factor as one function of q, whose logarithm has the derivative h; |h'| is below 2.5
 * / q^2. If quotient and root had separate bounds, these would not use that both have the same q.
 * The 28 roundings are those of a sum, a quotient, a sum with tiny, a root and a quotient. */
static struct length length_of(const struct bounded *s)
{
    struct length l = {.q = dot(ZERO, s, s, CAPSULE_OUT)};
    const struct bounded q = l.q;
    const double v = q.v / (1 + q.v) / sqrt(q.v + TINY.v), least = q.v - q.e;
    const double h = 1 / q.v - 1 / (2 * (q.v + TINY.v)) - 1 / (1 + q.v);
    const double moved = expm1(q.e * (fabs(h) + 2.5 * q.e / (least * least)));

    l.root = bounded_root(bounded_plus(q, TINY));
    l.factor = (struct bounded){v, INFINITY};
    if (least > 0)
        l.factor.e = v * (moved + 28 * BOUNDED_U * (1 + moved));
    return l;
}

/* Computes share, s and v from the votes. */
static void routing_forward(struct routing *r)
{
    struct bounded logit[CAPSULES_IN][CAPSULES_OUT];

    memset(logit, 0, sizeof logit);
    for (int round = 0; round < ROUNDS; ++round) {
        for (size_t i = 0; i < CAPSULES_IN; ++i) {
            for (size_t j = 0; j < CAPSULES_OUT && round > 0; ++j)
                logit[i][j] = dot(logit[i][j], r->vote[i][j], r->v[j], CAPSULE_OUT);
            bounded_softmax(logit[i], CAPSULES_OUT, r->share[i]);
        }
        for (size_t j = 0; j < CAPSULES_OUT; ++j) {
            for (size_t k = 0; k < CAPSULE_OUT; ++k) {
                struct bounded_sum sum = {.v = 0};

                for (size_t i = 0; i < CAPSULES_IN; ++i)
                    bounded_sum_add(&sum, r->share[i][j], r->vote[i][j][k]);
                r->s[j][k] = bounded_sum_done(&sum);
            }
            const struct length l = length_of(r->s[j]);

            for (size_t k = 0; k < CAPSULE_OUT; ++k)
                r->v[j][k] = bounded_times(l.factor, r->s[j][k]);
        }
    }
}

/* Computes the gradient of s from that of v; the gradient of a vote is the gradient of s times its
 * share. If f is the factor as a function of q, this is f dv + 2 f' (s . dv) s, where f' = 1 / ((1
 * + q)^2 root) - q / (2 (1 + q) root^3). */
static void routing_backward(const struct routing *r, const struct bounded *dv,
                             struct bounded ds[CAPSULES_OUT][CAPSULE_OUT])
{
    for (size_t j = 0; j < CAPSULES_OUT; ++j, dv += CAPSULE_OUT) {
        const struct length l = length_of(r->s[j]);
        const struct bounded more = bounded_plus(ONE, l.q);
        const struct bounded rise =
            bounded_over(ONE, bounded_times(bounded_times(more, more), l.root));
        const struct bounded fall =
            bounded_over(bounded_times(HALF, l.q),
                         bounded_times(bounded_times(more, bounded_plus(l.q, TINY)), l.root));
        const struct bounded slope = bounded_plus(rise, (struct bounded){-fall.v, fall.e});
        const struct bounded along = bounded_times(bounded_times((struct bounded){2, 0}, slope),
                                                   dot(ZERO, r->s[j], dv, CAPSULE_OUT));

        for (size_t k = 0; k < CAPSULE_OUT; ++k)
            ds[j][k] =
                bounded_plus(bounded_times(l.factor, dv[k]), bounded_times(along, r->s[j][k]));
    }
}

/* ---- the model ------------------------------------------------------------------------------- */

/* The activations of one pattern, and the gradients of them. */
struct capsnet {
    struct bounded x[SIDE * SIDE], a[FIRST * A_PLANE], u[SECOND * PLACES];
    struct routing routing;
    struct bounded dv[VOTES], ds[CAPSULES_OUT][CAPSULE_OUT], du[SECOND * PLACES],
        da[FIRST * A_PLANE];
    struct bounded_sum sum[FIRST * A_PLANE];                /* of da */
    struct bounded columns[A_PLANE * FIRST * WINDOWS_TAPS]; /* of windows_weights */
};

static const struct windows first = {1, SIDE, FIRST, FIRST_SIDE, 1, 0};
static const struct windows second = {FIRST, FIRST_SIDE, SECOND, SECOND_SIDE, 2, 0};

static void capsnet_pattern(void *model, struct verify_sums *sums, size_t r)
{
    struct capsnet *m = model;
    const struct reference_array *param = sums->arrays->param;
    const bool exact = !sums->verify->probe; /* a and u */

    verify_sums_input(sums, r, SIDE * SIDE, m->x);

    const double of_a = windows_forward(&first, exact, param[0].value, param[1].value, m->x, m->a);

    for (size_t i = 0; i < FIRST * A_PLANE; ++i) {
        if (m->a[i].e > 0 && !(m->a[i].v > m->a[i].e))
            m->a[i].e = INFINITY;
        m->a[i].v = fmax(m->a[i].v, 0);
    }

    const double of_u = windows_forward(&second, exact, param[2].value, param[3].value, m->a, m->u);

    sums->largest = fmax(sums->largest, fmax(of_a, of_u));
    /* The input of capsule i begins at u[i * CAPSULE_IN]; its weight is [VOTES, CAPSULE_IN]. */
    for (size_t i = 0; i < CAPSULES_IN; ++i)
        for (size_t e = 0; e < VOTES; ++e)
            m->routing.vote[i][e / CAPSULE_OUT][e % CAPSULE_OUT] =
                bounded_dot(param[4].value + (i * VOTES + e) * CAPSULE_IN, 1, m->u + i * CAPSULE_IN,
                            CAPSULE_IN);
    routing_forward(&m->routing);
    verify_sums_linear(sums, r, 5, m->routing.v[0], VOTES, m->dv);
    routing_backward(&m->routing, m->dv, m->ds);
    /* du and the gradient of the weight of the capsules, from ds. */
    for (size_t i = 0; i < CAPSULES_IN; ++i) {
        struct bounded dvote[VOTES];

        for (size_t e = 0; e < VOTES; ++e) {
            const size_t j = e / CAPSULE_OUT;

            dvote[e] = bounded_times(m->routing.share[i][j], m->ds[j][e % CAPSULE_OUT]);
            verify_sums_add_row(sums, 4, (i * VOTES + e) * CAPSULE_IN, dvote[e],
                                m->u + i * CAPSULE_IN, CAPSULE_IN);
        }
        for (size_t k = 0; k < CAPSULE_IN; ++k)
            m->du[i * CAPSULE_IN + k] =
                bounded_dot(param[4].value + i * VOTES * CAPSULE_IN + k, CAPSULE_IN, dvote, VOTES);
    }
    windows_weights(&second, sums, 2, m->a, m->du, m->columns);
    windows_input(&second, param[2].value, sums->empty, m->du, m->sum, m->da);
    for (size_t i = 0; i < FIRST * A_PLANE; ++i)
        if (!(m->a[i].v > 0)) /* the ReLU let nothing pass */
            m->da[i] = (struct bounded){0, 0};
    windows_weights(&first, sums, 0, m->x, m->da, m->columns);
}

const struct verify_reference verify_reference_capsnet = {
    .workload = "capsnet", .pattern = capsnet_pattern, .bytes = sizeof(struct capsnet)};
