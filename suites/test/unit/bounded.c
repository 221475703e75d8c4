/* bounded.c: the result of a float computation with operands within their bounds is within the
 * bound. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdint.h>

#include "verify/bounded.h"

enum { TRIES = 20000, TERMS = 16 };

/* Returns a number in -1..1, a function of state (Steele, Lea, Flood 2014). */
static double bounded_draw(uint64_t *state)
{
    uint64_t x = *state += 0x9e3779b97f4a7c15U;

    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
    return (double)((x ^ (x >> 31)) >> 11) * 0x1p-52 - 1;
}

/* Returns a number of some size, with a bound from none to a part of it. */
static struct bounded bounded_number(uint64_t *state)
{
    const double v = ldexp(bounded_draw(state), (int)(6 * bounded_draw(state)));
    const double part = bounded_draw(state);

    return (struct bounded){(double)(float)v, part < 0 ? 0 : fabs(v) * pow(part, 8)};
}

/* Returns a float that is within the bound of a. */
static float within(struct bounded a, uint64_t *state)
{
    float x = (float)(a.v + a.e * bounded_draw(state));

    while (fabs((double)x - a.v) > a.e)
        x = nextafterf(x, (float)a.v);
    return x;
}

static void holds(const char *what, struct bounded result, float got)
{
    cr_assert(isfinite(result.e), "%s: no bound", what);
    cr_assert(fabs((double)got - result.v) <= result.e, "%s: %.9g is %.3g from %.17g, bound %.3g",
              what, (double)got, fabs((double)got - result.v), result.v, result.e);
}

Test(bounded, of_two)
{
    uint64_t state = 1;

    for (int i = 0; i < TRIES; ++i) {
        const struct bounded a = bounded_number(&state), b = bounded_number(&state);
        const float x = within(a, &state), y = within(b, &state);

        holds("plus", bounded_plus(a, b), x + y);
        holds("times", bounded_times(a, b), x * y);
        holds("over", bounded_over(a, b), x / y);
    }
}

Test(bounded, of_one)
{
    uint64_t state = 2;

    for (int i = 0; i < TRIES; ++i) {
        const struct bounded a = bounded_number(&state), b = {fabs(a.v), a.e};
        const float x = within(a, &state), y = within(b, &state);

        holds("one minus", bounded_one_minus(a), 1 - x);
        holds("root", bounded_root(b), sqrtf(y));
        holds("tanh", bounded_tanh(a), tanhf(x));
        holds("sigmoid", bounded_sigmoid(a), 1 / (1 + expf(-x)));
    }
}

static float float_dot(const float *x, const float *y)
{
    float sum = 0;

    for (int k = 0; k < TERMS; ++k)
        sum += x[k] * y[k];
    return sum;
}

Test(bounded, sums)
{
    uint64_t state = 3;

    for (int i = 0; i < TRIES / TERMS; ++i) {
        struct bounded_sum sum = {.v = 0};
        struct bounded a[TERMS];
        double w[TERMS];
        float x[TERMS], y[TERMS], exact[TERMS];

        for (int k = 0; k < TERMS; ++k) {
            const struct bounded b = bounded_number(&state);

            a[k] = bounded_number(&state);
            w[k] = b.v;
            bounded_sum_add(&sum, a[k], b);
            x[k] = within(a[k], &state);
            y[k] = within(b, &state);
            exact[k] = (float)b.v;
        }
        holds("sum", bounded_sum_done(&sum), float_dot(x, y));
        holds("dot", bounded_dot(w, 1, a, TERMS), float_dot(x, exact));
    }
}

/* Computes it in the way of core/cpu/kernels_ref_capsule.c. */
static void float_softmax(const float *x, float *share)
{
    float most = x[0], total = 0;

    for (int k = 1; k < TERMS; ++k)
        most = fmaxf(most, x[k]);
    for (int k = 0; k < TERMS; ++k)
        total += expf(x[k] - most);
    for (int k = 0; k < TERMS; ++k)
        share[k] = expf(x[k] - most) / total;
}

Test(bounded, softmax)
{
    uint64_t state = 4;

    for (int i = 0; i < TRIES / TERMS; ++i) {
        struct bounded a[TERMS], share[TERMS];
        float x[TERMS], got[TERMS];

        for (int k = 0; k < TERMS; ++k) {
            a[k] = bounded_number(&state);
            a[k] = (struct bounded){fmod(a[k].v, 16), fmin(a[k].e, 1)};
            x[k] = within(a[k], &state);
        }
        bounded_softmax(a, TERMS, share);
        float_softmax(x, got);
        for (int k = 0; k < TERMS; ++k)
            holds("softmax", share[k], got[k]);
    }
}

/* No number can be told apart from those with which there is no result. */
Test(bounded, no_bound)
{
    const struct bounded wide = {1, 1}, far[2] = {{0, 0}, {81, 0}};
    struct bounded share[2];

    cr_assert(isinf(bounded_over((struct bounded){1, 0}, wide).e));
    cr_assert(isinf(bounded_root(wide).e));
    bounded_softmax(far, 2, share);
    cr_assert(isinf(share[0].e) && isinf(share[1].e));
    /* 0 times what has no bound. */
    const struct bounded unknown = bounded_times((struct bounded){0, 0}, bounded_root(wide));

    bounded_softmax((struct bounded[]){unknown, unknown}, 2, share);
    cr_assert(!isfinite(share[0].e) && !isfinite(share[1].e));
}

/* A bound that allows everything would hold, too, so bounds must be narrow. */
Test(bounded, is_narrow)
{
    const struct bounded a = {3, 0x1p-22}, b = {7, 0x1p-21};
    const struct bounded over = bounded_over(a, b), times = bounded_times(a, b);
    struct bounded share[2];

    bounded_softmax((const struct bounded[]){a, b}, 2, share);
    cr_assert(times.e < 8 * 0x1p-21 + 21 * 0x1p-23, "%.3g", times.e);
    cr_assert(over.e < 0x1p-21 && bounded_root(a).e < 0x1p-19, "%.3g", over.e);
    cr_assert(share[1].e < 0x1p-17, "%.3g", share[1].e);
}
