/* verify/routing.c: shares are the softmax of logits, which are 0 at first; v = squash(s), s the
 * sums of votes by their shares; a logit grows by how far its vote agrees with v. */
#include "verify/routing.h"

#include <math.h>
#include <string.h>

static const struct near ZERO = {0, 0}, ONE = {1, 0}, HALF = {0.5, 0};
static const struct near TINY = {1e-8, NEAR_U * 1e-8}; /* also as a float */

/* before + a . b */
static struct near dot(struct near before, const struct near *a, const struct near *b, size_t n)
{
    struct near_sum sum = {.v = 0};

    near_sum_add_one(&sum, before);
    for (size_t k = 0; k < n; ++k)
        near_sum_add(&sum, a[k], b[k]);
    return near_sum_done(&sum);
}

/* What both ways of squash are made of: q = |s|^2, root = sqrt(q + tiny), factor = q / (1 + q) /
 * root. */
struct length {
    struct near q, root, factor;
};

/* As one function of q, whose logarithm has the derivative h; |h'| is below 2.5 / q^2. Taken apart,
 * quotient and root would not know that they are of the same q. 28: a sum, a quotient, a sum with
 * what is tiny, a root and a quotient. */
static struct near factor_of(struct near q)
{
    const double v = q.v / (1 + q.v) / sqrt(q.v + TINY.v), least = q.v - q.e;

    if (!(least > 0))
        return (struct near){v, INFINITY};

    const double h = 1 / q.v - 1 / (2 * (q.v + TINY.v)) - 1 / (1 + q.v);
    const double moved = expm1(q.e * (fabs(h) + 2.5 * q.e / (least * least)));

    return (struct near){v, v * (moved + 28 * NEAR_U * (1 + moved))};
}

static struct length length_of(const struct near *s)
{
    struct length l = {.q = dot(ZERO, s, s, CAPSULE_OUT)};

    l.root = near_root(near_plus(l.q, TINY));
    l.factor = factor_of(l.q);
    return l;
}

static void combine(struct routing *r)
{
    for (size_t j = 0; j < CAPSULES_OUT; ++j) {
        for (size_t k = 0; k < CAPSULE_OUT; ++k) {
            struct near_sum sum = {.v = 0};

            for (size_t i = 0; i < CAPSULES_IN; ++i)
                near_sum_add(&sum, r->share[i][j], r->vote[i][j][k]);
            r->s[j][k] = near_sum_done(&sum);
        }
        const struct length l = length_of(r->s[j]);

        for (size_t k = 0; k < CAPSULE_OUT; ++k)
            r->v[j][k] = near_times(l.factor, r->s[j][k]);
    }
}

void routing_forward(struct routing *r)
{
    struct near logit[CAPSULES_IN][CAPSULES_OUT];

    memset(logit, 0, sizeof logit);
    for (int round = 0; round < ROUNDS; ++round) {
        for (size_t i = 0; i < CAPSULES_IN; ++i) {
            for (size_t j = 0; j < CAPSULES_OUT && round > 0; ++j)
                logit[i][j] = dot(logit[i][j], r->vote[i][j], r->v[j], CAPSULE_OUT);
            near_softmax(logit[i], CAPSULES_OUT, r->share[i]);
        }
        combine(r);
    }
}

/* With f the factor as a function of q: f dv + 2 f' (s . dv) s, where
 * f' = 1 / ((1 + q)^2 root) - q / (2 (1 + q) root^3). */
void routing_backward(const struct routing *r, const struct near *dv,
                      struct near ds[CAPSULES_OUT][CAPSULE_OUT])
{
    for (size_t j = 0; j < CAPSULES_OUT; ++j, dv += CAPSULE_OUT) {
        const struct length l = length_of(r->s[j]);
        const struct near more = near_plus(ONE, l.q);
        const struct near rise = near_over(ONE, near_times(near_times(more, more), l.root));
        const struct near fall = near_over(
            near_times(HALF, l.q), near_times(near_times(more, near_plus(l.q, TINY)), l.root));
        const struct near slope = near_plus(rise, (struct near){-fall.v, fall.e});
        const struct near along =
            near_times(near_times((struct near){2, 0}, slope), dot(ZERO, r->s[j], dv, CAPSULE_OUT));

        for (size_t k = 0; k < CAPSULE_OUT; ++k)
            ds[j][k] = near_plus(near_times(l.factor, dv[k]), near_times(along, r->s[j][k]));
    }
}
