/* rank.c: tests of the rank tests: every choice enumerated, published tables and examples, and how
 * often they err where the truth is known. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "noise.h"
#include "numbers/rank.h"

/* Computes ranks by sorting, equal numbers get the mean of their ranks: a different way from that
 * of rank.c. */
static void ranks_by_sorting(const double x[], size_t n, double rank[])
{
    size_t at[20] = {0};
    for (size_t i = 0; i < n; ++i) {
        size_t j = i;
        for (; j > 0 && x[at[j - 1]] > x[i]; --j)
            at[j] = at[j - 1];
        at[j] = i;
    }
    for (size_t first = 0, end; first < n; first = end) {
        for (end = first; end < n && x[at[end]] == x[at[first]]; ++end) {
        }
        for (size_t k = first; k < end; ++k)
            rank[at[k]] = (double)(first + 1 + end) / 2;
    }
}

/* Returns the share of all 2^n signs whose sum of positive ranks is at least the observed one. */
static double signed_p_of_all(const double d[], size_t n, double margin)
{
    double size[20] = {0}, rank[20] = {0}, seen = 0;
    size_t as_large = 0;
    for (size_t i = 0; i < n; ++i)
        size[i] = fabs(d[i] - margin);
    ranks_by_sorting(size, n, rank);
    for (size_t i = 0; i < n; ++i)
        seen += d[i] > margin ? rank[i] : 0;
    for (unsigned signs = 0; signs < 1U << n; ++signs) {
        double sum = 0;
        for (size_t i = 0; i < n; ++i)
            sum += (signs >> i & 1) != 0 && size[i] > 0 ? rank[i] : 0;
        as_large += sum >= seen;
    }
    return (double)as_large / (double)(1U << n);
}

/* kind 0: no two numbers are equal; 1: there are ties; 2: there are ties and zeros; 3: only those
 * and ones. */
static double next_of_kind(uint64_t *state, int kind)
{
    const double x = noise_uniform(state);
    return kind == 0   ? x - 0.3
           : kind == 1 ? floor(x * 6) - 2.5
                       : floor(x * (kind == 2 ? 5 : 2)) - 1;
}

Test(rank, signed_p_is_that_of_all_signs)
{
    uint64_t state = 14;
    for (size_t n = 1; n <= 10; ++n) {
        for (int round = 0; round < 24; ++round) {
            double d[10];
            for (size_t i = 0; i < n; ++i)
                d[i] = next_of_kind(&state, round % 4);
            const double margin = round % 3 == 0 ? 0.5 : 0;
            const double want = signed_p_of_all(d, n, margin), got = rank_signed_p(d, n, margin);
            cr_assert(fabs(got - want) < 1e-14, "%zu of kind %d: %.17g, not %.17g", n, round % 4,
                      got, want);
        }
    }
    const double none[3] = {0, 0, 0}, equal[3] = {0.5, 0.5, 0.5};
    cr_assert(rank_signed_p(none, 3, 0) == 1 && rank_signed_p(equal, 3, 0.5) == 1);
}

/* Returns p by all choices of n of n + m: the share with a sum as small, or as large, as the
 * observed one, times two. */
static double sum_p_of_all(const double x[], size_t n, size_t m)
{
    double rank[20] = {0}, seen = 0;
    size_t all = 0, below = 0, above = 0;
    ranks_by_sorting(x, n + m, rank);
    for (size_t i = 0; i < n; ++i)
        seen += rank[i];
    for (unsigned choice = 0; choice < 1U << (n + m); ++choice) {
        double sum = 0;
        size_t chosen = 0;
        for (size_t i = 0; i < n + m; ++i) {
            sum += (choice >> i & 1) != 0 ? rank[i] : 0;
            chosen += choice >> i & 1;
        }
        all += chosen == n;
        below += chosen == n && sum <= seen;
        above += chosen == n && sum >= seen;
    }
    return fmin(2.0 * (double)(below < above ? below : above) / (double)all, 1);
}

Test(rank, sum_p_is_that_of_all_choices)
{
    uint64_t state = 41;
    for (size_t n = 1; n <= 6; ++n) {
        for (size_t m = 1; m <= 5; ++m) {
            for (int round = 0; round < 8; ++round) {
                double x[12], got = NAN;
                for (size_t i = 0; i < n + m; ++i)
                    x[i] = next_of_kind(&state, round % 4);
                const double want = sum_p_of_all(x, n, m);
                got = rank_sum_p(x, n, x + n, m);
                cr_assert(fabs(got - want) < 1e-14, "%zu and %zu of kind %d: %.17g, not %.17g", n,
                          m, round % 4, got, want);
                cr_assert(got >= rank_sum_least_p(n, m) * (1 - 1e-14));
            }
        }
    }
}

/* Returns p of the differences 1..n of which some are negative, so that the ranks of these have the
 * sum t. */
static double p_of_negative_sum(size_t n, size_t t)
{
    double d[RANK_MOST];
    for (size_t i = n; i > 0; --i) {
        const size_t rank = i <= t ? i : 0;
        d[i - 1] = rank != 0 ? -(double)rank : (double)i;
        t -= rank;
    }
    return rank_signed_p(d, n, 0);
}

/* Wilcoxon's table: the largest smaller sum that is significant at .05 and at .025, one-sided. */
Test(rank, signed_critical_values)
{
    static const size_t rows[][3] = {
        {5, 0, SIZE_MAX}, {6, 2, 0},    {7, 3, 2},    {8, 5, 3},    {9, 8, 5},     {10, 10, 8},
        {11, 13, 10},     {12, 17, 13}, {13, 21, 17}, {14, 25, 21}, {15, 30, 25},  {16, 35, 29},
        {17, 41, 34},     {18, 47, 40}, {19, 53, 46}, {20, 60, 52}, {25, 100, 89}, {30, 151, 137}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
        for (size_t k = 0; k < 2; ++k) {
            const size_t n = rows[i][0], sum = rows[i][k + 1];
            const double alpha = k == 0 ? 0.05 : 0.025;
            cr_assert(sum == SIZE_MAX || p_of_negative_sum(n, sum) <= alpha, "%zu at %g", n, alpha);
            cr_assert(p_of_negative_sum(n, sum + 1) > alpha, "%zu at %g: more than %zu", n, alpha,
                      sum);
        }
    }
    for (size_t n = 1; n <= RANK_MOST; ++n)
        cr_assert(p_of_negative_sum(n, 0) == ldexp(1, -(int)n), "all of %zu are positive", n);
}

/* a is 1..n with gaps, so that u of the n m pairs are in the wrong order. */
static double p_of_u(size_t n, size_t m, size_t u)
{
    double a[RANK_MOST], b[RANK_MOST], p = NAN;
    for (size_t j = 0; j < m; ++j)
        b[j] = (double)j + 1;
    for (size_t i = n; i > 0; --i) {
        const size_t above = u < m ? u : m; /* values of b that this one is larger than */
        a[i - 1] = (double)above + 0.5 + 0.001 * (double)i;
        u -= above;
    }
    p = rank_sum_p(a, n, b, m);
    return p;
}

/* Mann's and Whitney's table: the largest U that is significant at .05, two-sided. */
Test(rank, sum_critical_values)
{
    static const size_t rows[][3] = {{4, 4, 0},    {4, 5, 1},    {5, 5, 2},    {5, 8, 6},
                                     {6, 6, 5},    {6, 10, 11},  {7, 7, 8},    {8, 8, 13},
                                     {9, 9, 17},   {10, 10, 23}, {12, 12, 37}, {15, 15, 64},
                                     {10, 20, 55}, {20, 20, 127}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
        const size_t n = rows[i][0], m = rows[i][1], u = rows[i][2];
        cr_assert(p_of_u(n, m, u) <= 0.05 && p_of_u(m, n, u) <= 0.05, "%zu and %zu: %zu", n, m, u);
        cr_assert(p_of_u(n, m, u + 1) > 0.05, "%zu and %zu: more than %zu", n, m, u);
    }
    cr_assert(fabs(rank_sum_least_p(6, 6) - 2.0 / 924) < 1e-15);
    cr_assert(rank_sum_least_p(1, 1) == 1 && rank_sum_least_p(3, 3) == 0.1);
    cr_assert(fabs(p_of_u(60, 60, 0) / rank_sum_least_p(60, 60) - 1) < 1e-12);
}

/* Two examples by Hollander and Wolfe: depression scores, and the permeability of a membrane. */
Test(rank, published_examples)
{
    static const double x[9] = {1.83, .50, 1.62, 2.48, 1.68, 1.88, 1.55, 3.06, 1.30};
    static const double y[9] = {.878, .647, .598, 2.05, 1.06, 1.29, 1.06, 3.14, 1.29};
    static const double a[10] = {.80, .83, 1.89, 1.04, 1.45, 1.38, 1.91, 1.64, .73, 1.46};
    static const double b[5] = {1.15, .88, .90, .74, 1.21};
    double d[9], p;
    for (size_t i = 0; i < 9; ++i)
        d[i] = x[i] - y[i];
    cr_assert(rank_signed_p(d, 9, 0) == 10.0 / 512, "%g", rank_signed_p(d, 9, 0));
    struct rank_estimate got = rank_signed_estimate(d, 9, 0.95);
    cr_assert(fabs(got.middle - .46) < 1e-9 && fabs(got.lo - .01) < 1e-9 &&
                  fabs(got.hi - .786) < 1e-9 && fabs(got.coverage - .961) < 5e-4,
              "%g [%g, %g], %g", got.middle, got.lo, got.hi, got.coverage);
    p = rank_sum_p(b, 5, a, 10);
    cr_assert(fabs(p - .2544) < 1e-4, "%g", p);
    got = rank_sum_shift(b, 5, a, 10, 0.95);
    cr_assert(fabs(got.middle - .305) < 1e-9 && fabs(got.lo + .15) < 1e-9 &&
                  fabs(got.hi - .76) < 1e-9,
              "%g [%g, %g], %g", got.middle, got.lo, got.hi, got.coverage);
}

/* The ends of an interval are where its test begins to reject. */
Test(rank, intervals_are_what_the_tests_do_not_reject)
{
    uint64_t state = 5;
    double d[10], moved[10], p;
    for (size_t n = 6; n <= 10; ++n) {
        for (size_t i = 0; i < n; ++i)
            d[i] = noise_normal(&state);
        const struct rank_estimate got = rank_signed_estimate(d, n, 0.95);
        cr_assert(got.valid && got.lo < got.middle && got.middle < got.hi, "%zu", n);
        cr_assert(signed_p_of_all(d, n, got.lo - 1e-9) <= 0.025, "%zu", n);
        cr_assert(signed_p_of_all(d, n, got.lo + 1e-9) > 0.025, "%zu", n);
        const struct rank_estimate shift = rank_sum_shift(d, 4, d + 4, n - 4, 0.9);
        for (int side = -1; side <= 1 && shift.valid; side += 2) {
            for (size_t i = 0; i < n; ++i)
                moved[i] = d[i] - (i < 4 ? 0 : shift.lo + side * 1e-9);
            p = sum_p_of_all(moved, 4, n - 4);
            cr_assert((p <= 0.1) == (side < 0), "%zu, side %d: %g", n, side, p);
        }
        cr_assert(shift.valid == (n > 6), "4 and %zu at .9", n - 4);
    }
    cr_assert(!rank_signed_estimate(d, 5, 0.95).valid, "5 pairs have no interval of 95 %%");
    cr_assert(rank_signed_estimate(d, 6, 0.95).coverage == 1 - 2.0 / 64);
}

/* Expects that of 2,000 comparisons as many cover, or reject, as the ranks say, within four
 * deviations. */
static void expect_rate(const char *what, size_t hits, double chance)
{
    const double rate = (double)hits / 2000, error = sqrt(chance * (1 - chance) / 2000);
    cr_assert(fabs(rate - chance) < 4 * error, "%s: %g, not %g", what, rate, chance);
}

Test(rank, errs_as_often_as_it_says)
{
    uint64_t state = 2026;
    size_t covers = 0, rejects = 0, sum_covers = 0, sum_rejects = 0, finds = 0;
    struct rank_estimate pairs = {.coverage = NAN}, samples = {.coverage = NAN};
    for (int round = 0; round < 2000; ++round) {
        double a[8], b[8], d[10], p;
        for (size_t i = 0; i < 8; ++i) { /* skewed, with a few far out: any distribution will do */
            a[i] = exp(noise_normal(&state));
            b[i] = exp(noise_normal(&state));
        }
        for (size_t i = 0; i < 10; ++i)
            d[i] = 0.01 + 0.02 * noise_normal(&state) * (round % 2 == 0 ? 1 : 9);
        pairs = rank_signed_estimate(d, 10, 0.95);
        covers += pairs.lo <= 0.01 && 0.01 <= pairs.hi;
        rejects += rank_signed_p(d, 10, 0.01) <= 0.05;
        samples = rank_sum_shift(a, 8, b, 8, 0.95);
        sum_covers += samples.lo <= 0 && 0 <= samples.hi;
        p = rank_sum_p(a, 8, b, 8);
        sum_rejects += p <= 0.05;
        for (size_t i = 0; i < 8; ++i)
            b[i] = 3 * exp(noise_normal(&state)) + 3;
        p = rank_sum_p(a, 8, b, 8);
        finds += p <= 0.05;
    }
    expect_rate("signed intervals that cover", covers, pairs.coverage);
    /* 43 of 1024 choices of signs have a sum of 45 or more: the table's 10. */
    expect_rate("signed tests that reject", rejects, 43.0 / 1024);
    expect_rate("intervals of two samples that cover", sum_covers, samples.coverage);
    expect_rate("tests of two samples that reject", sum_rejects, 1 - samples.coverage);
    cr_assert(finds > 1900, "shifts found: %zu", finds);
}

Test(rank, holm_is_the_textbook_one)
{
    const double p[5] = {.01, .04, .03, .005, NAN};
    double adjusted[5];
    static const double want[4] = {.03, .06, .06, .02}, with_nan[4] = {.04, .09, .09, .025};
    rank_holm(p, 4, adjusted);
    for (size_t i = 0; i < 4; ++i)
        cr_assert(fabs(adjusted[i] - want[i]) < 1e-15, "%zu: %g", i, adjusted[i]);
    rank_holm(p, 5, adjusted);
    cr_assert(isnan(adjusted[4]));
    for (size_t i = 0; i < 4; ++i)
        cr_assert(fabs(adjusted[i] - with_nan[i]) < 1e-15, "%zu: %g", i, adjusted[i]);
    rank_holm(NULL, 0, adjusted);
}

/* A change without scatter is found as soon as it counts. Twice the scatter takes twice the effect
 * beyond the margin, and the number of pairs grows with the square. */
Test(rank, detectable_effect_and_pairs)
{
    const double d[10] = {-.02, -.02, -.02, .02, .02, .02, .01, -.01, .3, -.3}, still[8] = {0};
    double twice[10];
    const double got = rank_detectable(d, 10, 0.01, 0, 0.05);
    for (size_t i = 0; i < 10; ++i)
        twice[i] = 2 * d[i];
    cr_assert(got > 0.01 && got == rank_detectable(d, 10, 0.01, 0, 0.05), "%g", got);
    cr_assert(fabs(rank_detectable(twice, 10, 0, 0, 0.05) - 2 * (got - 0.01)) < 1e-12);
    cr_assert(rank_detectable(d, 10, 0.01, 2, 0.05) > 1.9,
              "the estimate has to be that large, too");
    cr_assert(rank_pairs_needed(0.05, 10, 0, 0.05, 0.03) == 28, "10 (5 / 3)^2");
    cr_assert(rank_pairs_needed(0.05, 10, 0.01, 0.05, 0.01) == 0, "no more than the margin");
    cr_assert(rank_pairs_needed(0.01, 4, 0.01, 0.04 / 42, 0.05) == 11, "what lets p be so small");
    cr_assert(rank_pairs_needed(0.01, 4, 0.01, 0.04 / 160, 0.05) == 12);
    cr_assert(rank_pairs_needed(0.05, 10, 0, 0.05, 1e-9) == 0, "more than can be");
    cr_assert(rank_detectable(still, 8, 0.01, 0, 0.05) == 0.01);
    cr_assert(rank_detectable(still, 8, 0.01, 0.02, 0.05) == 0.02);
    cr_assert(isnan(rank_detectable(still, 4, 0.01, 0.02, 0.05)), "4 pairs show nothing at .05");
    cr_assert(isnan(rank_detectable(still, 1, 0.01, 0.02, 0.5)));
}

Test(rank, what_is_not_finite_or_too_much_is_unknown)
{
    static const double bad[3] = {NAN, INFINITY, -INFINITY};
    double d[RANK_MOST + 1] = {0};
    for (size_t i = 0; i < 3; ++i) {
        d[2] = bad[i];
        cr_assert(isnan(rank_signed_p(d, 5, 0)) && isnan(rank_detectable(d, 5, 0, 0, 0.05)));
        cr_assert(!rank_signed_estimate(d, 5, 0.5).valid &&
                  isnan(rank_signed_estimate(d, 5, 0.5).middle));
        cr_assert(isnan(rank_sum_p(d, 5, d + 5, 5)));
        cr_assert(isnan(rank_sum_shift(d + 5, 5, d, 5, 0.5).middle));
        cr_assert(rank_pairs_needed(bad[i], 5, 0, 0.05, 0.1) == 0);
    }
    d[2] = 0;
    cr_assert(isnan(rank_signed_p(d, 0, 0)) && isnan(rank_signed_p(d, RANK_MOST + 1, 0)));
    cr_assert(isnan(rank_signed_p(d, 5, (double)NAN)));
    cr_assert(isnan(rank_sum_p(d, RANK_MOST + 1, d, 1)));
    cr_assert(isnan(rank_sum_p(d, 0, d, 1)) && isnan(rank_sum_least_p(0, 1)));
    cr_assert(!rank_sum_shift(d, 1, d, 0, 0.5).valid);
    cr_assert(rank_signed_p(d, RANK_MOST, 0) == 1);
    cr_assert(rank_sum_p(d, RANK_MOST, d, RANK_MOST) == 1);
}
