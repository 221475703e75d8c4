/* numbers/tolerance.c: factors of one-sided tolerance bounds of a normal distribution.
 *
 * mean + k s is above the content's quantile z with the chance that the mean's error, of standard
 * deviation 1 / sqrt(n), is above z - k s. The chance is integrated over the distribution of s. */

#include <math.h>

#include "numbers/stats.h"

static const double MOST = 1e3;

/* The chance that k is enough: by Simpson's rule, up to where there is no density any more. */
static double confidence_of(double k, size_t n, double z)
{
    enum { STEPS = 4000 };
    const double df = (double)n - 1.0, most = 1.0 + 12.0 / sqrt(2.0 * df), width = most / STEPS;
    const double factor = 0.5 * df * log(0.5 * df) - lgamma(0.5 * df);
    double sum = 0.0;

    for (int i = 0; i <= STEPS; ++i) {
        const double s = i * width, weight = i == 0 || i == STEPS ? 1.0 : i % 2 == 1 ? 4.0 : 2.0;
        /* The density of the standard deviation of n values of a standard normal distribution, and
         * the chance of the mean. */
        const double density =
            s <= 0.0 ? 0.0 : 2.0 * exp(factor + (df - 1.0) * log(s) - 0.5 * df * s * s);
        const double normal = 0.5 * erfc(-sqrt((double)n) * (k * s - z) / sqrt(2.0));

        sum += weight * density * normal;
    }
    return sum * width / 3.0;
}

double tolerance_factor(size_t n, double content, double confidence)
{
    const double z = stats_normal_width(2.0 * content - 1.0);
    double lo = 0.0, hi = MOST;

    if (n < 2)
        return (double)NAN;
    for (int i = 0; i < 60; ++i) {
        const double k = 0.5 * (lo + hi);

        if (confidence_of(k, n, z) < confidence)
            lo = k;
        else
            hi = k;
    }
    return hi;
}
