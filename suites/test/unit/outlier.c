/* outlier.c: bands around values that are alike: by hand, and by simulation with fixed seeds. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdint.h>

#include "noise.h"
#include "numbers/stats.h"

enum { MOST = 256, TRIALS = 2000 };

/* Student's t of two degrees of freedom has a quantile that can be written down. */
Test(outlier, by_hand)
{
    const double x[9] = {0.7, 0.1, 0.9, 0.2, 0.3, 0.6, 0.4, 0.8, 0.5};
    double scratch[9];

    for (size_t comparisons = 9; comparisons <= 9000; comparisons *= 10) {
        const struct outlier_band band = outlier_band(x, 9, comparisons, scratch);
        const double error = 1 - pow(0.95, 1.0 / (double)comparisons), p = 1 - error / 2;
        const double t = (2 * p - 1) / sqrt(2 * p * (1 - p)), half = t * 1.4826022 * 0.2;

        cr_assert(band.valid && fabs(band.middle - 0.5) < 1e-15);
        cr_assert(fabs(band.hi - 0.5 - half) < 1e-6 * half, "%g, not %g", band.hi - 0.5, half);
        cr_assert(fabs(0.5 - band.lo - half) < 1e-6 * half);
    }
}

Test(outlier, few_and_equal)
{
    double x[MOST] = {0}, scratch[MOST];
    struct outlier_band band;

    for (size_t n = 0; n < OUTLIER_LEAST; ++n)
        cr_assert(!outlier_band(x, n, 100, scratch).valid);
    cr_assert(!outlier_band(x, 9, 8, scratch).valid, "a family smaller than its own values");
    x[3] = 700;
    band = outlier_band(x, OUTLIER_LEAST, OUTLIER_LEAST, scratch);
    cr_assert(band.valid && band.middle == 0);
    cr_assert(band.lo == -OUTLIER_EFFECT && band.hi == OUTLIER_EFFECT);
}

/* A value is outside of its band in at most 5 of 100 trials, for all values of a trial together. */
Test(outlier, false_rate)
{
    static const size_t sizes[] = {8, 11, 15, 18, 24, 32, 64, 256};

    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; ++s) {
        const size_t n = sizes[s];
        uint64_t state = 20261123 + n;
        double x[MOST], scratch[MOST];
        size_t found = 0;

        for (int trial = 0; trial < TRIALS; ++trial) {
            struct outlier_band band;
            bool outside = false;

            for (size_t i = 0; i < n; ++i)
                x[i] = noise_normal(&state);
            band = outlier_band(x, n, n, scratch);
            for (size_t i = 0; i < n; ++i)
                outside = outside || x[i] < band.lo || x[i] > band.hi;
            found += outside;
        }
        cr_assert((double)found <= OUTLIER_ALPHA * TRIALS, "%zu values: %zu of %d", n, found,
                  TRIALS);
    }
}
