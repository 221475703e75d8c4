/* numbers/stats.h: the statistics of a cell. Pure functions on arrays; no allocation unless said
 * so. */
#ifndef HARNESS_STATS_H
#define HARNESS_STATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* An interval between two order statistics; valid false: there is none at this n and level. */
struct stats_interval {
    bool valid;
    double lo, hi;
    size_t rank_lo, rank_hi; /* 1-based */
    double coverage;         /* achieved, at least the level asked for */
};

struct stats_summary {
    double min, max, mean, median;
    double p05, p25, p75, p95; /* by linear interpolation between order statistics */
    struct stats_interval ci;  /* of the median, 95 %, exact binomial */
    double cv;                 /* standard deviation / mean; 0 for n < 2 */
    double rho1;               /* lag-1 autocorrelation in the order given; 0 for n < 3 */
    double n_eff;              /* n (1 - rho1) / (1 + rho1), at most n */
};

/* The order of two numbers, for qsort: ascending, NaN last. */
int stats_order(double a, double b);
/* Ascending, NaN last. */
void stats_sort(double x[], size_t n);
/* sorted ascending, NaN last; NaN when there is one, when n is 0 or q outside 0..1. */
double stats_quantile(const double sorted[], size_t n, double q);
/* For finite numbers the same as stats_quantile(sorted, n, 0.5), in less time: x comes into another
 * order. */
double stats_median(double x[], size_t n);
struct stats_interval stats_median_interval(const double sorted[], size_t n, double level);
/* z with P(|Z| <= z) = level for a standard normal Z. */
double stats_normal_width(double level);

/* Tukey's fences around the quartiles: a value outside mild_lo..mild_hi is an outlier, outside
 * severe_lo..severe_hi a severe one. Outliers are flagged and counted, never dropped. */
struct stats_fences {
    double severe_lo, mild_lo, mild_hi, severe_hi;
};
struct stats_fences stats_tukey_fences(double p25, double p75);

/* x in time order; scratch has n elements and is overwritten. All of none is NaN. */
struct stats_summary stats_summarise(const double x[], size_t n, double scratch[]);

/* The part of a communication that a step hides by its computation, from the times of both by
 * themselves and of the whole step: (compute + comm - whole) / comm. Noise puts it below 0 and
 * above 1, too: what is cut off there would bend every median of such numbers. NaN: one of them is
 * no positive number, or comm is less than least, a time that the clock cannot tell from nothing.
 */
double stats_hidden(double compute, double comm, double whole, double least);

/* P(K >= k) for K ~ Bin(n, chance). NaN: k is more than n, or chance not between 0 and 1. */
double stats_binomial_tail(size_t k, size_t n, double chance);

/* How much faster the steps of a launch got while they were measured: the logarithm of the median
 * of their first tenth over that of their last half. NaN: fewer than 20. scratch has n elements. */
double stats_settling(const double x[], size_t n, double scratch[]);
/* The 97.5th percentile of Student's t; NaN: df is 0. */
double stats_t975(size_t df);
/* t with P(T <= t) = p for Student's t of df degrees of freedom; NaN: df is 0, or p not within
 * 0..1.
 */
double stats_t_quantile(double p, size_t df);
/* Mean and 95 % interval by Student's t of independent values; valid false: fewer than 3. The ranks
 * are 0. */
struct stats_interval stats_mean_interval(const double x[], size_t n, double *mean);

/* ---- permutation tests ---- */

/* A number of x[0..n-1] in that order. */
typedef double permute_statistic_fn(const double x[], size_t n, const void *context);

/* How often a random order of x has a statistic at least as far from 0 as that of x: 1 / (1 +
 * rounds) or more, and the same for the same seed. NaN: the statistic of x is none. scratch has n
 * elements. */
double permute_test(const double x[], size_t n, permute_statistic_fn *statistic,
                    const void *context, size_t rounds, uint64_t seed, double scratch[]);

/* The least-squares slope of x against the n doubles of context; NaN: those are all equal. */
permute_statistic_fn permute_slope;
/* The autocorrelation of neighbours, -1 to 1; NaN: x are all equal. */
permute_statistic_fn permute_lag1;

/* ---- what nearly all of a population reaches ---- */

/* k, so that mean + k * standard deviation of n values of a normal distribution is above `content`
 * of that distribution in `confidence` of all samples; both between 0.5 and 1. NaN: n is below 2.
 */
double tolerance_factor(size_t n, double content, double confidence);

/* ---- a straight line through times that span decades ---- */

/* y = alpha + beta x; both NaN: there is none. */
struct line {
    double alpha, beta;
};

/* The line with the least sum of |1 - line / y|, of those through two of the points: one of them
 * always has the least of all lines. Distances are parts of y, so that a time of a microsecond
 * counts as much as one of a second; and they are not squared, so that a few points that lie far
 * above, of a machine that was busy, do not bend it. None: fewer than two different x, or a number
 * that is not finite, or a y that is not positive. Time n^3. rising: of lines that neither begin
 * below 0 nor fall: of costs that cannot be negative. Where the best of all lines does, the best
 * one left is level, or begins at 0. */
struct line line_fit(const double x[], const double y[], size_t n, bool rising);

/* The largest |1 - line / y|, and *at, its index. NaN: n is 0, or one of them is. */
double line_off(const struct line *line, const double x[], const double y[], size_t n, size_t *at);

/* ---- which of many values is not like the others, by median and MAD ---- */

/* Fewer values show none: a MAD of so few is near 0 too often. */
enum { OUTLIER_LEAST = 8 };
/* A difference of logarithms that is smaller is none, however sure it is. */
#define OUTLIER_EFFECT 0.03
/* For all comparisons together: the chance that a value is named where none is to be. */
#define OUTLIER_ALPHA 0.05

/* Where values like the others are. */
struct outlier_band {
    bool valid; /* false: fewer than OUTLIER_LEAST */
    double middle, lo, hi;
};

/* The band of x, logarithms, finite. It is middle +- t s, and at least OUTLIER_EFFECT to each side:
 * s is 1.4826 MAD, and t the quantile of Student's t at OUTLIER_ALPHA, two-sided, by Sidak over all
 * comparisons of the family. Its degrees of freedom are 0.3 (n - 1), at most 10: a MAD is worth
 * 0.37 (n - 1) of them where the scatter is normal, and the rest is for tails that are heavier, as
 * those of the worst of 8 devices are. scratch has n elements. */
struct outlier_band outlier_band(const double x[], size_t n, size_t comparisons, double scratch[]);

/* ---- splitmix64: evenly spread bits that are a function of a seed alone ---- */

static inline uint64_t random_mixed(uint64_t x)
{
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

static inline uint64_t random_next(uint64_t *state)
{
    return random_mixed(*state += UINT64_C(0x9e3779b97f4a7c15));
}

#endif
