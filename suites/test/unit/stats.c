/* stats.c: tests of the statistics: published ranks, textbook vectors, coverage by simulation. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "noise.h"
#include "numbers/stats.h"

static void fill_ascending(double x[], size_t n)
{
    for (size_t i = 0; i < n; ++i)
        x[i] = (double)(i + 1);
}

struct rank_row {
    size_t n;
    double level;
    size_t lo, hi;   /* 0: there is no interval */
    double coverage; /* rounded to three digits; 0: not listed */
};

/* Ranks of the binomial interval of the median. */
static const struct rank_row ranks[] = {
    {1, .95, 0, 0, 0},         {2, .95, 0, 0, 0},       {3, .95, 0, 0, 0},
    {4, .95, 0, 0, 0},         {5, .95, 0, 0, 0},       {6, .95, 1, 6, .969},
    {7, .95, 1, 7, .984},      {8, .95, 1, 8, .992},    {10, .95, 2, 9, .979},
    {15, .95, 4, 12, .965},    {20, .95, 6, 15, .959},  {25, .95, 8, 18, .957},
    {30, .95, 10, 21, .957},   {50, .95, 18, 33, .967}, {100, .95, 40, 61, .965},
    {200, .95, 86, 115, .960}, {6, .99, 0, 0, 0},       {7, .99, 0, 0, 0},
    {8, .99, 1, 8, .992},      {10, .99, 1, 10, 0},     {15, .99, 3, 13, 0},
    {20, .99, 4, 17, 0},       {25, .99, 6, 20, 0},     {30, .99, 8, 23, 0},
    {50, .99, 16, 35, 0},      {100, .99, 37, 64, 0},   {200, .99, 82, 119, 0},
};

Test(stats, median_interval_ranks)
{
    double x[200];
    fill_ascending(x, 200);
    for (size_t i = 0; i < sizeof ranks / sizeof ranks[0]; ++i) {
        const struct rank_row *row = &ranks[i];
        const struct stats_interval got = stats_median_interval(x, row->n, row->level);
        cr_assert(got.valid == (row->lo != 0), "n %zu at %g", row->n, row->level);
        if (!got.valid) {
            cr_assert(isnan(got.lo) && isnan(got.hi) && isnan(got.coverage), "n %zu", row->n);
            continue;
        }
        cr_assert(got.rank_lo == row->lo && got.rank_hi == row->hi, "n %zu at %g: %zu-%zu", row->n,
                  row->level, got.rank_lo, got.rank_hi);
        cr_assert(got.lo == (double)row->lo && got.hi == (double)row->hi, "n %zu: %g to %g", row->n,
                  got.lo, got.hi);
        cr_assert(got.coverage >= row->level, "n %zu: %g", row->n, got.coverage);
        cr_assert(row->coverage == 0 || fabs(got.coverage - row->coverage) <= 0.0005,
                  "n %zu: coverage %.6f, want %.3f", row->n, got.coverage, row->coverage);
    }
}

/* P(Bin(n, 1/2) = k) */
static double probability_of(size_t n, size_t k)
{
    const double count = (double)n, rank = (double)k;
    return exp(lgamma(count + 1) - lgamma(rank + 1) - lgamma(count - rank + 1) - count * log(2));
}

/* Beyond 1074 samples 0.5^n is zero: the interval must still be there, and get narrower. */
Test(stats, median_interval_of_many)
{
    static double x[5000];
    fill_ascending(x, 5000);
    double share = 1;
    for (size_t n = 6; n <= 5000; n += n < 600 ? 1 : 37) {
        const struct stats_interval got = stats_median_interval(x, n, 0.95);
        cr_assert(got.valid && got.rank_lo >= 1 && got.rank_hi <= n, "n %zu", n);
        cr_assert(got.rank_lo + got.rank_hi == n + 1, "n %zu: not symmetric", n);
        cr_assert(got.coverage >= 0.95 && got.coverage <= 1, "n %zu: %.9f", n, got.coverage);
        /* One rank less on each side is not enough; the approximation may have one rank more. */
        const size_t spare = n > 500;
        const double ends =
            probability_of(n, got.rank_lo) + (double)spare * probability_of(n, got.rank_lo + spare);
        cr_assert(got.coverage - 2 * ends < 0.95, "n %zu: %.9f is too wide", n, got.coverage);
        share = (double)(got.rank_hi - got.rank_lo) / (double)n;
    }
    cr_assert(share < 0.03, "at n = 5000 the interval still has %g of the samples", share);
}

Test(stats, median_interval_bad_arguments)
{
    double x[10];
    fill_ascending(x, 10);
    cr_assert(!stats_median_interval(x, 0, 0.95).valid);
    cr_assert(!stats_median_interval(x, 10, 0).valid);
    cr_assert(!stats_median_interval(x, 10, 1).valid);
    cr_assert(!stats_median_interval(x, 10, (double)NAN).valid);
    x[9] = (double)NAN;
    cr_assert(!stats_median_interval(x, 10, 0.95).valid, "a NaN was hidden");
}

/* The true median of these numbers is 0.5; the exact coverage is 0.9572 at n = 30. */
Test(stats, median_interval_coverage)
{
    enum { TRIALS = 20000, N = 30 };
    uint64_t state = 20240917;
    int covered = 0;
    for (int trial = 0; trial < TRIALS; ++trial) {
        double x[N], scratch[N];
        for (int i = 0; i < N; ++i)
            x[i] = noise_uniform(&state);
        const struct stats_summary s = stats_summarise(x, N, scratch);
        covered += s.ci.lo <= 0.5 && 0.5 <= s.ci.hi;
    }
    const double share = (double)covered / TRIALS;
    /* Four standard deviations of a share of 20000. */
    cr_assert(fabs(share - 0.95722) < 0.0058, "covered %.4f, want 0.9572", share);
}

Test(stats, quantiles)
{
    const double x[] = {1, 2, 4, 8, 16};
    cr_assert(stats_quantile(x, 5, 0) == 1 && stats_quantile(x, 5, 1) == 16);
    cr_assert(stats_quantile(x, 5, 0.5) == 4 && stats_quantile(x, 5, 0.25) == 2);
    cr_assert(stats_quantile(x, 5, 0.375) == 3 && stats_quantile(x, 4, 0.5) == 3);
    cr_assert(stats_quantile(x, 1, 0.7) == 1);
    cr_assert(isnan(stats_quantile(x, 0, 0.5)) && isnan(stats_quantile(x, 5, -0.1)));
    cr_assert(isnan(stats_quantile(x, 5, 1.1)) && isnan(stats_quantile(x, 5, (double)NAN)));
    const double infinite[] = {1, (double)INFINITY, (double)INFINITY};
    cr_assert(isinf(stats_quantile(infinite, 3, 0.75)));
}

/* 2 4 4 4 5 5 7 9: mean 5, squares of deviations 32, products of neighbours' deviations 10. */
Test(stats, textbook_summary)
{
    const double x[] = {2, 4, 4, 4, 5, 5, 7, 9};
    double scratch[8];
    const struct stats_summary s = stats_summarise(x, 8, scratch);
    cr_assert(s.min == 2 && s.max == 9 && s.mean == 5 && s.median == 4.5);
    cr_assert(s.p25 == 4 && s.p75 == 5.5 && fabs(s.p05 - 2.7) < 1e-12);
    cr_assert(fabs(s.p95 - 8.3) < 1e-12);
    cr_assert(fabs(s.cv - sqrt(32.0 / 7) / 5) < 1e-15, "cv %.17g", s.cv);
    /* (-3)(-1) + (-1)(-1) + (-1)(-1) + (-1)(0) + 0 + 0 (2) + (2)(4) = 13 */
    cr_assert(fabs(s.rho1 - 13.0 / 32) < 1e-15, "rho1 %.17g", s.rho1);
    cr_assert(fabs(s.n_eff - 8 * (19.0 / 45)) < 1e-12, "n_eff %.17g", s.n_eff);
    cr_assert(s.ci.valid && s.ci.lo == 2 && s.ci.hi == 9);
}

/* Quartiles 11 and 13 of 9..15: fences at 8 and 16, 5 and 19. */
Test(stats, outliers_are_not_dropped)
{
    const double x[] = {10, 11, 11, 11, 12, 12, 12, 13, 13, 13, 14, 7, 30};
    double scratch[13];
    const struct stats_summary s = stats_summarise(x, 13, scratch);
    cr_assert(s.p25 == 11 && s.p75 == 13, "quartiles %g %g", s.p25, s.p75);
    const struct stats_fences f = stats_tukey_fences(s.p25, s.p75);
    cr_assert(f.severe_lo == 5 && f.mild_lo == 8 && f.mild_hi == 16 && f.severe_hi == 19);
    cr_assert(s.max == 30 && s.min == 7, "an outlier was dropped");
}

Test(stats, small_and_constant)
{
    const double x[] = {3, 3, 3, 3};
    double scratch[4];
    for (size_t n = 1; n <= 4; ++n) {
        const struct stats_summary s = stats_summarise(x, n, scratch);
        cr_assert(s.median == 3 && s.mean == 3 && s.cv == 0 && s.rho1 == 0, "n %zu", n);
        cr_assert(s.n_eff == (double)n && !s.ci.valid, "n %zu", n);
    }
}

Test(stats, alternating_samples_are_not_worth_more)
{
    double x[50], scratch[50];
    for (size_t i = 0; i < 50; ++i)
        x[i] = i % 2 == 0 ? 1 : 2;
    const struct stats_summary s = stats_summarise(x, 50, scratch);
    cr_assert(s.rho1 < -0.9 && s.n_eff == 50, "rho1 %g n_eff %g", s.rho1, s.n_eff);
}

Test(stats, nan_is_never_hidden)
{
    for (size_t at = 0; at < 9; ++at) {
        double x[9], scratch[9];
        fill_ascending(x, 9);
        x[at] = (double)NAN;
        const struct stats_summary s = stats_summarise(x, 9, scratch);
        cr_assert(isnan(s.median) && isnan(s.mean) && isnan(s.min) && isnan(s.max), "at %zu", at);
        cr_assert(isnan(s.p05) && isnan(s.p95) && isnan(s.cv) && !s.ci.valid, "at %zu", at);
    }
}

Test(stats, settling)
{
    double x[40], scratch[40];
    for (int i = 0; i < 40; ++i)
        x[i] = i < 4 ? 200 : 100;
    cr_assert(fabs(stats_settling(x, 40, scratch) - log(2)) < 1e-12);
    x[39] = 1e9;
    cr_assert(fabs(stats_settling(x, 40, scratch) - log(2)) < 1e-12, "an outlier changes nothing");
    cr_assert(stats_settling(x + 4, 20, scratch) == 0);
    cr_assert(isnan(stats_settling(x, 19, scratch)), "too few");
}

Test(stats, binomial_tail)
{
    static const struct {
        size_t k, n;
        double chance, tail;
    } rows[] = {
        {6, 6, 0.5, 1.0 / 64},     {5, 6, 0.5, 7.0 / 64},        {0, 6, 0.5, 1},
        {2, 3, 1.0 / 3, 7.0 / 27}, {1, 4, 0.25, 1 - 81.0 / 256}, {2000, 2000, 0.999, 0.13520}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
        const double got = stats_binomial_tail(rows[i].k, rows[i].n, rows[i].chance);
        cr_assert(fabs(got - rows[i].tail) < 1e-5, "row %zu: %.17g", i, got);
    }
    cr_assert(isnan(stats_binomial_tail(4, 3, 0.5)) && isnan(stats_binomial_tail(1, 3, 0)) &&
              isnan(stats_binomial_tail(1, 3, 1)));
}

/* 12.706, 2.228, 2.042, 2.021, 1.980: as printed in tables of the t distribution. */
Test(stats, student)
{
    static const struct {
        size_t df;
        double t;
    } rows[] = {{1, 12.706}, {10, 2.228}, {30, 2.042}, {40, 2.021}, {120, 1.980}};
    const double x[] = {1, 2, 3, 4, 5};
    double mean;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
        cr_assert(fabs(stats_t975(rows[i].df) - rows[i].t) < 6e-4, "%zu: %g", rows[i].df,
                  stats_t975(rows[i].df));
    }
    cr_assert(isnan(stats_t975(0)));
    const struct stats_interval interval = stats_mean_interval(x, 5, &mean);
    cr_assert(mean == 3 && interval.valid && fabs(interval.hi - 4.96324) < 1e-4 &&
                  fabs(interval.lo - 1.03676) < 1e-4,
              "%g [%g, %g]", mean, interval.lo, interval.hi);
    cr_assert(!stats_mean_interval(x, 2, &mean).valid && mean == 1.5);
    cr_assert(!stats_mean_interval(x, 0, &mean).valid && isnan(mean));
}

/* By the incomplete beta function to 40 digits, which the program does not use. */
Test(stats, student_quantile)
{
    static const struct {
        size_t df;
        double p, t;
    } rows[] = {{1, 0.75, 1.0},
                {1, 0.975, 12.70620473617},
                {2, 0.95, 2.919985580354},
                {3, 0.99, 4.540702858568},
                {5, 0.975, 2.570581835636},
                {5, 0.8, 0.9195437802408},
                {5, 0.9958333333333333, 4.219309115883},
                {9, 0.95, 1.833112932656},
                {9, 0.9988095238095238, 4.178621925094},
                {9, 0.999975, 7.21526925445},
                {19, 0.995, 2.860934606465},
                {30, 0.975, 2.042272456301},
                {59, 0.9995, 3.463210304952},
                {1000, 0.975, 1.962339080826}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
        const double t = stats_t_quantile(rows[i].p, rows[i].df);
        cr_assert(fabs(t / rows[i].t - 1) < 1e-10, "df %zu, p %g: %.13g", rows[i].df, rows[i].p, t);
        cr_assert(fabs(stats_t_quantile(1 - rows[i].p, rows[i].df) / t + 1) < 1e-9, "mirrored");
    }
    cr_assert(fabs(stats_t_quantile(0.975, 9) - stats_t975(9)) < 1e-4);
    cr_assert(stats_t_quantile(0.5, 7) == 0);
    cr_assert(isnan(stats_t_quantile(0.9, 0)) && isnan(stats_t_quantile(0, 5)) &&
              isnan(stats_t_quantile(1, 5)) && isnan(stats_t_quantile((double)NAN, 5)));
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The median by selection is that of the sorted numbers, to the bit: few and many different values,
 * in order, in reverse, with the large ones in the middle. */
/* 10 of computation, 4 of communication: a whole step of 10 hides all of it, one of 14 nothing. */
Test(stats, hidden_part_of_the_communication)
{
    static const double wholes[][2] = {{10, 1}, {11, 0.75}, {12, 0.5},
                                       {14, 0}, {9, 1.25},  {20, -1.5}};
    for (size_t i = 0; i < sizeof wholes / sizeof wholes[0]; ++i) {
        const double hidden = stats_hidden(10, 4, wholes[i][0], 1);
        cr_assert(hidden == wholes[i][1], "whole %g: %g", wholes[i][0], hidden);
    }
    cr_assert(stats_hidden(10, 4, 12, 4) == 0.5, "as long as the clock can tell");
    static const double unknown[][4] = {
        {10, 4, 12, 4.5}, {10, 0, 10, 0},        {10, -1, 10, 0},     {0, 4, 12, 0},
        {10, 4, 0, 0},    {NAN, 4, 12, 0},       {10, NAN, 12, 0},    {10, 4, NAN, 0},
        {10, 4, 12, NAN}, {10, INFINITY, 12, 0}, {INFINITY, 4, 12, 0}};
    for (size_t i = 0; i < sizeof unknown / sizeof unknown[0]; ++i) {
        const double *x = unknown[i];
        cr_assert(isnan(stats_hidden(x[0], x[1], x[2], x[3])), "row %zu is a number", i);
    }
}

Test(stats, median_is_that_of_the_sorted)
{
    double x[600], sorted[600];
    uint64_t state = 9;
    cr_assert(isnan(stats_median(x, 0)));
    for (size_t n = 1; n <= 600; n += n < 40 ? 1 : 37) {
        for (int kind = 0; kind < 7; ++kind) {
            const double most = kind == 0 ? 1 : kind == 1 ? 3 : 1e9;
            for (size_t i = 0; i < n; ++i) {
                x[i] = floor(noise_uniform(&state) * most);
                x[i] = kind == 3 ? (double)i : kind == 4 ? (double)(n - i) : x[i];
                x[i] = kind == 5 ? (double)(i < n / 2 ? i : n - i) : x[i];
                x[i] = kind == 6 ? -x[i] / 3 : x[i];
                sorted[i] = x[i];
            }
            qsort(sorted, n, sizeof sorted[0], by_value);
            const double want = stats_quantile(sorted, n, 0.5), got = stats_median(x, n);
            cr_assert(got == want, "%zu numbers of kind %d: %.17g, not %.17g", n, kind, got, want);
        }
    }
    x[0] = 1;
    x[1] = NAN;
    x[2] = 3;
    cr_assert(isnan(stats_median(x, 3)));
}
