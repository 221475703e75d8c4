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
    size_t n;
    double min, max, mean, median;
    double p05, p25, p75, p95; /* by linear interpolation between order statistics */
    double p99;                /* NaN below 299 samples: no bound exists */
    struct stats_interval ci;  /* of the median, 95 %, exact binomial */
    double cv;                 /* standard deviation / mean; 0 for n < 2 */
    double rho1;               /* lag-1 autocorrelation in the order given; 0 for n < 3 */
    double n_eff;              /* n (1 - rho1) / (1 + rho1), at most n */
    size_t mild, severe, low;  /* Tukey fences (1.5, 3 IQR); low: those below */
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
double stats_mean(const double x[], size_t n);
struct stats_interval stats_median_interval(const double sorted[], size_t n, double level);
/* z with P(|Z| <= z) = level for a standard normal Z. */
double stats_normal_width(double level);

/* Tukey's fences around the quartiles: a value outside mild_lo..mild_hi is an outlier, outside
 * severe_lo..severe_hi a severe one. Outliers are flagged and counted, never dropped. */
struct stats_fences {
    double severe_lo, mild_lo, mild_hi, severe_hi;
};
struct stats_fences stats_tukey_fences(double p25, double p75);

/* x in time order; scratch has n elements and is overwritten.  n >= 1. */
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

/* Steady state: over the last window values, |slope| * window < slope_limit * mean and every
 * value within spread_limit of the mean (fio's two rules). False when n < window. */
struct stats_steady_rule {
    size_t window;
    double slope_limit;  /* fraction of the mean over the whole window, e.g. 0.005 */
    double spread_limit; /* e.g. 0.05; 0: not checked */
};
bool stats_is_steady(const double x[], size_t n, const struct stats_steady_rule *rule);

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

#endif
