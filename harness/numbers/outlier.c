/* numbers/outlier.c: see numbers/stats.h. */
#include "numbers/stats.h"

#include <math.h>
#include <string.h>

/* 1 / the third quartile of a standard normal distribution. */
static const double MAD_TO_DEVIATION = 1.4826022185056018;

struct outlier_band outlier_band(const double x[], size_t n, size_t comparisons, double scratch[])
{
    struct outlier_band band = {.valid = false, .middle = NAN, .lo = NAN, .hi = NAN};
    const double worth = 0.3 * (double)(n - 1); /* degrees of freedom */

    if (n < OUTLIER_LEAST || comparisons < n)
        return band;
    memcpy(scratch, x, n * sizeof x[0]);
    band.middle = stats_median(scratch, n);
    for (size_t i = 0; i < n; ++i)
        scratch[i] = fabs(x[i] - band.middle);
    const double scale = MAD_TO_DEVIATION * stats_median(scratch, n);
    const double error = -expm1(log1p(-OUTLIER_ALPHA) / (double)comparisons);
    double half = stats_t_quantile(1 - error / 2, worth > 10 ? 10 : (size_t)worth) * scale;

    half = fmax(half, OUTLIER_EFFECT); /* more than half of the values may be equal */
    band.lo = band.middle - half;
    band.hi = band.middle + half;
    band.valid = true;
    return band;
}
