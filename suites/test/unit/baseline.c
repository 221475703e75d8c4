/* baseline.c: tests of the statistics of sessions: by hand, and by simulation with a fixed seed. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdint.h>

#include "compare/baseline.h"
#include "noise.h"

enum { TRIALS = 10000 };

/* Returns the share of 10000 comparisons in which a new session, slower by this factor, gets the
 * verdict. */
static double baseline_share_of(enum pairs_verdict verdict, size_t sittings, size_t cells,
                                double slower, double sd, uint64_t seed)
{
    struct baseline_judged judged;
    double x[64];
    size_t found = 0;

    for (int trial = 0; trial < TRIALS; ++trial) {
        for (size_t i = 0; i < sittings; ++i)
            x[i] = 10 + sd * noise_normal(&seed);
        baseline_judge(x, sittings, 10 + slower + sd * noise_normal(&seed), cells, &judged);
        found += judged.verdict == verdict;
    }
    return (double)found / TRIALS;
}

/* The bounds are one-sided at alpha / cells each. The tolerance is four standard deviations of a
 * share of 10000. */
Test(baseline, coverage)
{
    static const size_t counts[] = {6, 10, 20};

    for (size_t c = 0; c < 3; ++c)
        for (size_t cells = 1; cells <= 12; cells += 11) {
            const double error = BASELINE_ALPHA / (double)cells;
            const double room = 4 * sqrt(error * (1 - error) / TRIALS);
            struct baseline_judged judged;
            uint64_t seed = 20261123 + cells;
            double x[64], below = 0, above = 0;

            for (int trial = 0; trial < TRIALS; ++trial) {
                for (size_t i = 0; i < counts[c]; ++i)
                    x[i] = 3 + 0.02 * noise_normal(&seed);
                baseline_judge(x, counts[c], 3 + 0.02 * noise_normal(&seed), cells, &judged);
                below += judged.hi < 1;
                above += judged.lo > 1;
            }
            cr_assert(fabs(below / TRIALS - error) < room, "%zu, %zu: %g below", counts[c], cells,
                      below / TRIALS);
            cr_assert(fabs(above / TRIALS - error) < room, "%zu, %zu: %g above", counts[c], cells,
                      above / TRIALS);
        }
}

/* A session like the others is hardly ever called slower, and the margin makes that rarer. */
Test(baseline, alarms)
{
    cr_assert(baseline_share_of(PAIRS_REGRESSED, 6, 1, 0, 0.02, 1) < 0.05);
    cr_assert(baseline_share_of(PAIRS_IMPROVED, 10, 1, 0, 0.02, 2) < 0.05);
    cr_assert(baseline_share_of(PAIRS_REGRESSED, 10, 12, 0, 0.05, 3) < 0.05 / 12);
    /* On the edge itself the error is 0.05: four standard deviations of the share are 0.009. */
    cr_assert(baseline_share_of(PAIRS_EQUIVALENT, 10, 1, log(PAIRS_ALIKE), 0.01, 4) < 0.059);
}

/* The change that is said to be found in 80 of 100 comparisons is found about as often. */
Test(baseline, detectable)
{
    static const size_t counts[] = {6, 10, 20, 40};

    for (size_t c = 0; c < 4; ++c)
        for (size_t cells = 1; cells <= 12; cells += 11) {
            struct baseline_judged judged;
            double x[64];

            /* The standard deviation is 0.02 and the mean is 0. */
            for (size_t i = 0; i < counts[c]; ++i)
                x[i] = (i % 2 == 0 ? 1 : -1) * 0.02 * sqrt(1 - 1 / (double)counts[c]);
            baseline_spread(x, counts[c], &judged);
            baseline_power(counts[c], cells, &judged);
            cr_assert(fabs(judged.sd - 0.02) < 1e-12);
            const double share = baseline_share_of(PAIRS_REGRESSED, counts[c], cells,
                                                   log(judged.detectable), 0.02, 77);
            cr_assert(share > 0.75 && share < 0.87, "%zu sittings, %zu cells: %g", counts[c], cells,
                      share);
        }
}

/* Six sessions of mean 2 and standard deviation 0.01; t of 5 at .95 is 2.015048. */
Test(baseline, by_hand)
{
    const double a = 0.01 * sqrt(5.0 / 6);
    const double x[] = {2 - a, 2 + a, 2 - a, 2 + a, 2 - a, 2 + a};
    const double half = 2.0150483733 * 0.01 * sqrt(7.0 / 6);
    struct baseline_judged judged;

    baseline_judge(x, 6, 2.05, 1, &judged);
    cr_assert(fabs(judged.mean - 2) < 1e-12 && fabs(judged.sd - 0.01) < 1e-12);
    cr_assert(fabs(log(judged.ratio) - 0.05) < 1e-12);
    cr_assert(fabs(log(judged.lo) - (0.05 - half)) < 1e-9);
    cr_assert(fabs(log(judged.hi) - (0.05 + half)) < 1e-9);
    cr_assert(judged.verdict == PAIRS_REGRESSED);
    baseline_judge(x, 6, 1.95, 1, &judged);
    cr_assert(judged.verdict == PAIRS_IMPROVED);
    baseline_judge(x, 6, 2, 1, &judged);
    cr_assert(judged.verdict == PAIRS_EQUIVALENT);
    baseline_judge(x, 6, 2, 42, &judged);
    cr_assert(judged.verdict == PAIRS_INCONCLUSIVE, "a wider interval for one of 42 cells");
    baseline_judge(x, 6, 2.03, 1, &judged);
    cr_assert(judged.verdict == PAIRS_INCONCLUSIVE, "3 %% are within what sittings differ by");
    baseline_power(6, 1, &judged);
    cr_assert(judged.needed == 6 && fabs(log(judged.detectable) - log(1.01) - 0.0317) < 2e-3);
    baseline_power(6, 12, &judged);
    cr_assert(judged.needed > 6 && judged.needed < 40, "%zu", judged.needed);
    judged.sd = 0.02;
    baseline_power(6, 12, &judged);
    cr_assert(judged.needed == 0, "one sitting differs by more than that from any mean");
}

Test(baseline, invalid)
{
    double x[] = {2, 2.01, 2, 2.01, 2, 2.01};
    struct baseline_judged judged;

    baseline_judge(x, 5, 3, 1, &judged);
    cr_assert(judged.verdict == PAIRS_INVALID && isnan(judged.ratio));
    baseline_judge(x, 6, (double)NAN, 1, &judged);
    cr_assert(judged.verdict == PAIRS_INVALID);
    baseline_judge(x, 6, (double)INFINITY, 1, &judged);
    cr_assert(judged.verdict == PAIRS_INVALID);
    x[3] = (double)NAN;
    baseline_judge(x, 6, 2, 1, &judged);
    cr_assert(judged.verdict == PAIRS_INVALID);
    baseline_spread(x, 1, &judged);
    baseline_power(1, 1, &judged);
    cr_assert(judged.mean == 2 && isnan(judged.sd) && isnan(judged.detectable));
    baseline_spread(x, 0, &judged);
    cr_assert(isnan(judged.mean));
}
