/* verify_near.c: arithmetic of numbers with bounds. */
#include "verify_near.h"

#include <math.h>

#include "verify_dense.h"

static const double U = DENSE_U, FUNCTION = 8 * DENSE_U;

static struct near rounded(double v, double e)
{
    return (struct near){v, e + U * (fabs(v) + e)};
}

struct near near_plus(struct near a, struct near b)
{
    return rounded(a.v + b.v, a.e + b.e);
}

struct near near_times(struct near a, struct near b)
{
    return rounded(a.v * b.v, fabs(a.v) * b.e + fabs(b.v) * a.e + a.e * b.e);
}

struct near near_one_minus(struct near a)
{
    return rounded(1 - a.v, a.e);
}

/* slope: |f'| there; curve: above |f''| everywhere. */
static struct near function(double v, double slope, double curve, double e)
{
    const double carried = (slope + curve * e) * e;

    return (struct near){v, carried + FUNCTION * (fabs(v) + carried)};
}

struct near near_tanh(struct near a)
{
    const double t = tanh(a.v);

    return function(t, 1 - t * t, 0.77, a.e);
}

struct near near_sigmoid(struct near a)
{
    const double s = 1 / (1 + exp(-a.v));

    return function(s, s * (1 - s), 0.1, a.e);
}

struct near near_dot(const double *w, size_t stride, const struct near *x, size_t n)
{
    double v = 0, size = 0, carried = 0;

    for (size_t k = 0; k < n; k++) {
        v += w[k * stride] * x[k].v;
        size += fabs(w[k * stride] * x[k].v);
        carried += fabs(w[k * stride]) * x[k].e;
    }
    return (struct near){v, carried + dense_gamma((double)n + 1) * (size + carried)};
}
