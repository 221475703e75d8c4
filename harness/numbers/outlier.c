/* numbers/outlier.c: see numbers/outlier.h. */
#include "numbers/outlier.h"

#include "numbers/stats.h"

#include <math.h>
#include <string.h>

/* 1 / the third quartile of a standard normal distribution. */
static const double MAD_TO_DEVIATION = 1.4826022185056018;

static size_t degrees_of(size_t n)
{
    const double worth = 0.3 * (double)(n - 1);

    return worth > 10 ? 10 : (size_t)worth;
}

static double scale_of(const double x[], size_t n, double middle, double scratch[])
{
    for (size_t i = 0; i < n; ++i)
        scratch[i] = fabs(x[i] - middle);
    return MAD_TO_DEVIATION * stats_median(scratch, n);
}

struct outlier_band outlier_band(const double x[], size_t n, size_t comparisons, double scratch[])
{
    struct outlier_band band = {.valid = false, .middle = NAN, .lo = NAN, .hi = NAN};
    double error, half;

    if (n < OUTLIER_LEAST || comparisons < n)
        return band;
    memcpy(scratch, x, n * sizeof x[0]);
    band.middle = stats_median(scratch, n);
    error = -expm1(log1p(-OUTLIER_ALPHA) / (double)comparisons);
    half = stats_t_quantile(1 - error / 2, degrees_of(n)) * scale_of(x, n, band.middle, scratch);
    half = fmax(half, OUTLIER_EFFECT); /* more than half of the values may be equal */
    band.lo = band.middle - half;
    band.hi = band.middle + half;
    band.valid = true;
    return band;
}
