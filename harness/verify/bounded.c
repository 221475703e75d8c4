/* verify/bounded.c: arithmetic of numbers with bounds. */
#include "verify/bounded.h"

#include <math.h>
#include <stdbool.h>

static const double U = BOUNDED_U, FUNCTION = 8 * BOUNDED_U;

double bounded_gamma(double n)
{
    return n * U < 1 ? n * U / (1 - n * U) : INFINITY;
}

static struct bounded rounded(double v, double e)
{
    return (struct bounded){v, e + U * (fabs(v) + e)};
}

static struct bounded of_function(double v, double e)
{
    return (struct bounded){v, e + FUNCTION * (fabs(v) + e)};
}

struct bounded bounded_plus(struct bounded a, struct bounded b)
{
    return rounded(a.v + b.v, a.e + b.e);
}

struct bounded bounded_times(struct bounded a, struct bounded b)
{
    return rounded(a.v * b.v, bounded_carried(a, b));
}

struct bounded bounded_over(struct bounded a, struct bounded b)
{
    const double v = a.v / b.v;

    if (!(fabs(b.v) > b.e))
        return (struct bounded){v, INFINITY};
    return of_function(v, (a.e + fabs(v) * b.e) / (fabs(b.v) - b.e));
}

struct bounded bounded_one_minus(struct bounded a)
{
    return rounded(1 - a.v, a.e);
}

struct bounded bounded_root(struct bounded a)
{
    const double v = sqrt(a.v);

    if (!(a.v > a.e))
        return (struct bounded){v, INFINITY};
    return of_function(v, a.e / (v + sqrt(a.v - a.e)));
}

/* slope: |f'| at the value; curve: an upper bound of |f''| everywhere. */
static struct bounded smooth(double v, double slope, double curve, double e)
{
    return of_function(v, (slope + curve * e) * e);
}

struct bounded bounded_tanh(struct bounded a)
{
    const double t = tanh(a.v);

    return smooth(t, 1 - t * t, 0.77, a.e);
}

struct bounded bounded_sigmoid(struct bounded a)
{
    const double s = 1 / (1 + exp(-a.v));

    return smooth(s, s * (1 - s), 0.1, a.e);
}

/* If no a changes by more than d / 2, a share changes by a factor of at most exp(d). A difference
 * is away by less than one number is. The n + 24 roundings are those of the sum, of its two exp and
 * of the quotient; 2 more allow for what these relative errors make of one another. If two numbers
 * are more than 80 apart, exp may be cut off to 0. */
void bounded_softmax(const struct bounded *a, size_t n, struct bounded *share)
{
    double most = a[0].v, least = a[0].v, e = 0, total = 0;
    bool known = true;

    for (size_t k = 0; k < n; ++k) {
        known = known && isfinite(a[k].e); /* fmax passes over NaN */
        most = fmax(most, a[k].v);
        least = fmin(least, a[k].v);
        e = fmax(e, a[k].e);
    }
    for (size_t k = 0; k < n; ++k)
        total += exp(a[k].v - most);

    const double range = most - least + 2 * e;
    const double d = 2 * e + 2 * U * range + ((double)n + 26) * U;

    for (size_t k = 0; k < n; ++k) {
        const double v = exp(a[k].v - most) / total;

        share[k] = (struct bounded){v, known && range < 80 ? v * expm1(d) : INFINITY};
    }
}

double bounded_rounding(double n, double operands)
{
    return operands > 0 ? bounded_gamma(8 * n) : bounded_gamma(n);
}

struct bounded bounded_sum_rounded(const struct bounded_sum *sum)
{
    const double size = sum->size + sum->carried;

    return (struct bounded){
        sum->v, sum->carried + bounded_rounding((double)sum->terms + 1, sum->operands) * size};
}

void bounded_sum_add_dot(struct bounded_sum *sum, const double *w, size_t stride,
                         const struct bounded *x, size_t n)
{
    struct bounded_sum all = *sum; /* in registers */

    for (size_t k = 0; k < n; ++k)
        bounded_sum_add(&all, (struct bounded){w[k * stride], 0}, x[k]);
    *sum = all;
}

struct bounded bounded_dot(const double *w, size_t stride, const struct bounded *x, size_t n)
{
    struct bounded_sum sum = {.v = 0};

    bounded_sum_add_dot(&sum, w, stride, x, n);
    return bounded_sum_done(&sum);
}
