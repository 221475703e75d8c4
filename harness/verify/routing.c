/* verify/routing.c: routing by agreement. Shares are the softmax of logits, which are 0 at first; v
 * = squash(s), where s is the sum of votes times their shares; a logit grows by how far its vote
 * agrees with v. */
#include "verify/routing.h"

#include <math.h>
#include <string.h>

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
static struct bounded factor_of(struct bounded q)
{
    const double v = q.v / (1 + q.v) / sqrt(q.v + TINY.v), least = q.v - q.e;

    if (!(least > 0))
        return (struct bounded){v, INFINITY};

    const double h = 1 / q.v - 1 / (2 * (q.v + TINY.v)) - 1 / (1 + q.v);
    const double moved = expm1(q.e * (fabs(h) + 2.5 * q.e / (least * least)));

    return (struct bounded){v, v * (moved + 28 * BOUNDED_U * (1 + moved))};
}

static struct length length_of(const struct bounded *s)
{
    struct length l = {.q = dot(ZERO, s, s, CAPSULE_OUT)};

    l.root = bounded_root(bounded_plus(l.q, TINY));
    l.factor = factor_of(l.q);
    return l;
}

static void combine(struct routing *r)
{
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

void routing_forward(struct routing *r)
{
    struct bounded logit[CAPSULES_IN][CAPSULES_OUT];

    memset(logit, 0, sizeof logit);
    for (int round = 0; round < ROUNDS; ++round) {
        for (size_t i = 0; i < CAPSULES_IN; ++i) {
            for (size_t j = 0; j < CAPSULES_OUT && round > 0; ++j)
                logit[i][j] = dot(logit[i][j], r->vote[i][j], r->v[j], CAPSULE_OUT);
            bounded_softmax(logit[i], CAPSULES_OUT, r->share[i]);
        }
        combine(r);
    }
}

/* If f is the factor as a function of q, this is f dv + 2 f' (s . dv) s, where f' = 1 / ((1 + q)^2
 * root) - q / (2 (1 + q) root^3). */
void routing_backward(const struct routing *r, const struct bounded *dv,
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
