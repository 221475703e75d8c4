/* verify/near.c: arithmetic of numbers with bounds. */
#include "verify/near.h"

#include <math.h>
#include <stdbool.h>

static const double U = NEAR_U, FUNCTION = 8 * NEAR_U;

double near_gamma(double n)
{
    return n * U < 1 ? n * U / (1 - n * U) : INFINITY;
}

static struct near rounded(double v, double e)
{
    return (struct near){v, e + U * (fabs(v) + e)};
}

static struct near of_function(double v, double e)
{
    return (struct near){v, e + FUNCTION * (fabs(v) + e)};
}

struct near near_plus(struct near a, struct near b)
{
    return rounded(a.v + b.v, a.e + b.e);
}

static double carried(struct near a, struct near b)
{
    return fabs(a.v) * b.e + fabs(b.v) * a.e + a.e * b.e;
}

struct near near_times(struct near a, struct near b)
{
    return rounded(a.v * b.v, carried(a, b));
}

struct near near_over(struct near a, struct near b)
{
    const double v = a.v / b.v;

    if (!(fabs(b.v) > b.e))
        return (struct near){v, INFINITY};
    return of_function(v, (a.e + fabs(v) * b.e) / (fabs(b.v) - b.e));
}

struct near near_one_minus(struct near a)
{
    return rounded(1 - a.v, a.e);
}

struct near near_root(struct near a)
{
    const double v = sqrt(a.v);

    if (!(a.v > a.e))
        return (struct near){v, INFINITY};
    return of_function(v, a.e / (v + sqrt(a.v - a.e)));
}

/* slope: |f'| there; curve: above |f''| everywhere. */
static struct near smooth(double v, double slope, double curve, double e)
{
    return of_function(v, (slope + curve * e) * e);
}

struct near near_tanh(struct near a)
{
    const double t = tanh(a.v);

    return smooth(t, 1 - t * t, 0.77, a.e);
}

struct near near_sigmoid(struct near a)
{
    const double s = 1 / (1 + exp(-a.v));

    return smooth(s, s * (1 - s), 0.1, a.e);
}

/* A share changes by at most exp(d) where no a changes by more than d / 2, and a difference is a
 * number less than that away. n + 24: the sum, its two exp and the quotient; 2 more for what these
 * relative errors make of one another. Beyond 80 exp may be cut off to 0. */
void near_softmax(const struct near *a, size_t n, struct near *share)
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

        share[k] = (struct near){v, known && range < 80 ? v * expm1(d) : INFINITY};
    }
}

void near_sum_add(struct near_sum *sum, struct near a, struct near b)
{
    const double product = fabs(a.v * b.v), moved = carried(a, b);

    if (product + moved == 0)
        return;
    sum->v += a.v * b.v;
    sum->size += product;
    sum->carried += moved + sum->operands * (product + moved);
    ++sum->terms;
}

double near_rounding(double n, double operands)
{
    return operands > 0 ? near_gamma(8 * n) : near_gamma(n);
}

struct near near_sum_done(const struct near_sum *sum)
{
    const double size = sum->size + sum->carried;

    return (struct near){sum->v, sum->carried +
                                     near_rounding((double)sum->terms + 1, sum->operands) * size};
}

void near_sum_add_dot(struct near_sum *sum, const double *w, size_t stride, const struct near *x,
                      size_t n)
{
    for (size_t k = 0; k < n; ++k)
        near_sum_add(sum, (struct near){w[k * stride], 0}, x[k]);
}

void near_sum_add_one(struct near_sum *sum, struct near a)
{
    near_sum_add(sum, a, (struct near){1, 0});
}

struct near near_dot(const double *w, size_t stride, const struct near *x, size_t n)
{
    struct near_sum sum = {.v = 0};

    near_sum_add_dot(&sum, w, stride, x, n);
    return near_sum_done(&sum);
}
