/* verify/norm.c: batch norm in numbers with bounds. */
#include "verify/norm.h"

#include <math.h>

static const double D = 0x1p-53;   /* one double rounding of a number of size 1 */
static const double FEW = 0x1p-49; /* a handful of them */

/* A product in double. Its bound has the errors of the operands, and a few roundings. */
static struct bounded times(struct bounded a, struct bounded b)
{
    const double size = (fabs(a.v) + a.e) * (fabs(b.v) + b.e);

    return (struct bounded){a.v * b.v, size - fabs(a.v * b.v) + FEW * size};
}

static struct bounded plus(struct bounded a, struct bounded b)
{
    const double size = fabs(a.v) + a.e + fabs(b.v) + b.e;

    return (struct bounded){a.v + b.v, a.e + b.e + FEW * size};
}

static struct bounded minus(struct bounded a, struct bounded b)
{
    return plus(a, (struct bounded){-b.v, b.e});
}

/* Rounds to float. */
static struct bounded rounded(struct bounded a)
{
    return (struct bounded){a.v, a.e + BOUNDED_U * (fabs(a.v) + a.e)};
}

void norm_add_mean(struct norm *norm, double times, struct bounded x)
{
    norm->n += times;
    norm->mean.v += times * x.v;
    norm->mean.e += times * x.e;
    norm->sum_size += times * (fabs(x.v) + x.e);
}

/* The error of a mean is the mean of the errors of its values, plus the roundings of its sum. */
void norm_end_mean(struct norm *norm)
{
    norm->mean.v /= norm->n;
    norm->mean.e = (norm->mean.e + (norm->n + 8) * D * norm->sum_size) / norm->n;
    norm->sum_size = 0;
}

/* If d is the difference from the mean and m is how far d is away, then d^2 is 2 |d| m + m^2
 * away. */
void norm_add_variance(struct norm *norm, double times, struct bounded x)
{
    const struct bounded d = minus(x, norm->mean);

    norm->invstd.v += times * d.v * d.v;
    norm->invstd.e += times * (2 * fabs(d.v) + d.e) * d.e;
}

/* 1 / sqrt falls ever more slowly, so its error is largest at the least possible variance. */
void norm_end_variance(struct norm *norm, double eps)
{
    const double variance = norm->invstd.v / norm->n + eps;
    const double away =
        (norm->invstd.e + (norm->n + 8) * D * (norm->invstd.v + norm->invstd.e)) / norm->n;
    const double v = 1 / sqrt(variance);

    norm->invstd.v = v;
    norm->invstd.e =
        variance > away ? 1 / sqrt(variance - away) - v + FEW / sqrt(variance - away) : INFINITY;
}

struct bounded norm_forward(const struct norm *norm, struct bounded x)
{
    const struct bounded factor = times(norm->invstd, (struct bounded){norm->weight, 0});

    return rounded(plus(times(minus(x, norm->mean), factor), (struct bounded){norm->bias, 0}));
}

/* The normalised value as backward computes it: with mean and 1 / deviation as floats. */
static struct bounded normalised(const struct norm *norm, struct bounded x)
{
    return times(minus(x, rounded(norm->mean)), rounded(norm->invstd));
}

static struct bounded scaled(double by, struct bounded a)
{
    return (struct bounded){by * a.v, by * a.e};
}

static void add_to(struct bounded *sum, double *size, struct bounded a)
{
    sum->v += a.v;
    sum->e += a.e;
    *size += fabs(a.v) + a.e;
}

void norm_add_upstream(struct norm *norm, double scales, double rows, struct bounded x,
                       const struct norm_gradient *g)
{
    const struct bounded hat = normalised(norm, x);

    add_to(&norm->sum, &norm->sum_size, scaled(scales, g->own));
    add_to(&norm->sum, &norm->sum_size, scaled(rows, g->all));
    add_to(&norm->product, &norm->product_size, scaled(scales, times(g->own, hat)));
    add_to(&norm->product, &norm->product_size, scaled(rows, times(g->all, hat)));
}

void norm_end_upstream(struct norm *norm)
{
    norm->sum.e += (norm->n + 8) * D * norm->sum_size;
    norm->product.e += (norm->n + 8) * D * norm->product_size;
}

/* Computes weight invstd (g - mean of g - normalised x mean of (g normalised x)). */
struct norm_gradient norm_backward(const struct norm *norm, struct bounded x,
                                   const struct norm_gradient *g)
{
    const struct bounded factor = times(rounded(norm->invstd), (struct bounded){norm->weight, 0});
    const struct bounded slope = scaled(1 / norm->n, norm->product);
    const struct bounded share =
        plus(scaled(1 / norm->n, norm->sum), times(normalised(norm, x), slope));

    return (struct norm_gradient){.own = rounded(times(factor, g->own)),
                                  .all = rounded(times(factor, minus(g->all, share)))};
}
