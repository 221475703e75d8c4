/* numbers/stats.c: order statistics, the summary of a cell, permutation tests, tolerance
 * bounds, lines and outliers.
 *
 * A NaN sample is never hidden: it makes the mean, the quantiles and the interval NaN or absent.
 * Median intervals are exact up to EXACT_LIMIT samples and conservative above. */
#include "numbers/stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define EXACT_LIMIT 500 /* 2^-500 is a normal double: the terms can be added as they are */

/* With NaN last one look at the last element finds any. */
int stats_order(double a, double b)
{
    if (isnan(a) || isnan(b))
        return (isnan(a) != 0) - (isnan(b) != 0);
    return (a > b) - (a < b);
}

static int compare_doubles(const void *a, const void *b)
{
    return stats_order(*(const double *)a, *(const double *)b);
}

static bool has_nan(const double sorted[], size_t n)
{
    return isnan(sorted[0]) || isnan(sorted[n - 1]);
}

void stats_sort(double x[], size_t n)
{
    qsort(x, n, sizeof x[0], compare_doubles);
}

double stats_quantile(const double sorted[], size_t n, double q)
{
    if (n == 0 || !(q >= 0 && q <= 1) || has_nan(sorted, n))
        return NAN;
    const double position = q * (double)(n - 1);
    const size_t below = (size_t)position;
    if (below + 1 >= n)
        return sorted[n - 1];
    const double lo = sorted[below], hi = sorted[below + 1];
    /* Equal infinities must not become infinity - infinity. */
    return lo < hi ? lo + (position - (double)below) * (hi - lo) : lo;
}

/* Moves the element of rank k among x[lo..hi] to its place: all before are not larger, all after
 * it not smaller. Rounds that hardly get on are not repeated for ever: then it sorts. */
static void select_rank(double x[], size_t lo, size_t hi, size_t k)
{
    for (int rounds = 0; lo < hi; ++rounds) {
        if (rounds == 64) {
            stats_sort(x + lo, hi - lo + 1);
            return;
        }
        /* The pivot is the middle one of the first, the middle and the last. */
        const double a = x[lo], b = x[lo + (hi - lo) / 2], c = x[hi];
        const double pivot = fmax(fmin(a, b), fmin(fmax(a, b), c));
        size_t i = lo, j = hi;
        for (;;) {
            while (x[i] < pivot)
                ++i;
            while (x[j] > pivot)
                --j;
            if (i >= j)
                break;
            const double other = x[i];
            x[i++] = x[j];
            x[j--] = other;
        }
        /* x[lo..j] <= pivot <= x[j+1..hi], and both have elements. */
        if (k <= j) {
            hi = j;
        } else {
            lo = j + 1;
        }
    }
}

double stats_median(double x[], size_t n)
{
    for (size_t i = 0; i < n; ++i) {
        if (isnan(x[i]))
            return NAN;
    }
    if (n == 0)
        return NAN;
    const size_t below = (n - 1) / 2;
    select_rank(x, 0, n - 1, below);
    double pair[2] = {x[below], x[below]};
    for (size_t i = below + 1; i < n; ++i)
        pair[1] = i == below + 1 || x[i] < pair[1] ? x[i] : pair[1];
    return stats_quantile(pair, n % 2 == 0 ? 2 : 1, 0.5);
}

/* Largest d >= 1 with P(Bin(n, 1/2) <= d - 1) <= tail; 0: none. n <= EXACT_LIMIT. */
static size_t exact_rank(size_t n, double tail)
{
    double term = ldexp(1, -(int)n), sum = 0;
    size_t d = 0;
    for (size_t k = 0; k < n / 2 + 1; ++k) {
        sum += term;
        if (!(sum <= tail))
            break;
        d = k + 1;
        term *= (double)(n - k) / (double)(k + 1);
    }
    return d;
}

double stats_normal_width(double level)
{
    double lo = 0, hi = 40;
    for (int i = 0; i < 100; ++i) {
        const double middle = (lo + hi) / 2;
        if (erfc(middle * sqrt(0.5)) > 1 - level) {
            lo = middle;
        } else {
            hi = middle;
        }
    }
    return hi;
}

/* P(rank_lo <= K < rank_hi) for K ~ Bin(n, 1/2), added from the middle outwards: those are the
 * terms that do not underflow. */
static double binomial_coverage(size_t n, size_t rank_lo, size_t rank_hi)
{
    const size_t middle = n / 2;
    int sign;
    const double log_middle = lgamma_r((double)n + 1, &sign) - lgamma_r((double)middle + 1, &sign) -
                              lgamma_r((double)(n - middle) + 1, &sign) - (double)n * log(2);
    const double first = exp(log_middle);
    double sum = first, term = first;
    for (size_t k = middle; k > rank_lo; --k) {
        term *= (double)k / (double)(n - k + 1);
        sum += term;
    }
    term = first;
    for (size_t k = middle; k + 1 < rank_hi; ++k) {
        term *= (double)(n - k) / (double)(k + 1);
        sum += term;
    }
    return fmin(sum, 1);
}

double stats_binomial_tail(size_t k, size_t n, double chance)
{
    if (k > n || !(chance > 0 && chance < 1))
        return NAN;
    double sum = 0;
    int sign;
    for (size_t i = k; i <= n; ++i) {
        const double ways = lgamma_r((double)n + 1, &sign) - lgamma_r((double)i + 1, &sign) -
                            lgamma_r((double)(n - i) + 1, &sign);
        sum += exp(ways + (double)i * log(chance) + (double)(n - i) * log1p(-chance));
    }
    return fmin(sum, 1);
}

struct stats_interval stats_median_interval(const double sorted[], size_t n, double level)
{
    struct stats_interval interval = {.lo = NAN, .hi = NAN, .coverage = NAN};
    if (n == 0 || !(level > 0 && level < 1) || has_nan(sorted, n))
        return interval;
    size_t rank = n <= EXACT_LIMIT ? exact_rank(n, (1 - level) / 2) : 0;

    if (n > EXACT_LIMIT) { /* by the normal approximation, slightly conservative */
        const double count = (double)n, width = stats_normal_width(level) * sqrt(count);

        rank = (size_t)fmax(0, floor((count - width) / 2));
    }
    /* The ranks must be two different ones: level and n decide, not luck. */
    if (rank == 0 || rank >= n - rank + 1)
        return interval;
    interval.valid = true;
    interval.rank_lo = rank;
    interval.rank_hi = n - rank + 1;
    interval.lo = sorted[interval.rank_lo - 1];
    interval.hi = sorted[interval.rank_hi - 1];
    interval.coverage = binomial_coverage(n, interval.rank_lo, interval.rank_hi);
    return interval;
}

struct stats_fences stats_tukey_fences(double p25, double p75)
{
    const double range = p75 - p25;
    return (struct stats_fences){
        .severe_lo = p25 - 3 * range,
        .mild_lo = p25 - 1.5 * range,
        .mild_hi = p75 + 1.5 * range,
        .severe_hi = p75 + 3 * range,
    };
}

static double stats_mean(const double x[], size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; ++i)
        sum += x[i];
    return sum / (double)n;
}

struct stats_summary stats_summarise(const double x[], size_t n, double scratch[])
{
    memcpy(scratch, x, n * sizeof x[0]);
    stats_sort(scratch, n);
    struct stats_summary s = {
        .min = stats_quantile(scratch, n, 0),
        .max = stats_quantile(scratch, n, 1),
        .mean = stats_mean(x, n),
        .median = stats_quantile(scratch, n, 0.5),
        .p05 = stats_quantile(scratch, n, 0.05),
        .p25 = stats_quantile(scratch, n, 0.25),
        .p75 = stats_quantile(scratch, n, 0.75),
        .p95 = stats_quantile(scratch, n, 0.95),
        .ci = stats_median_interval(scratch, n, 0.95),
    };
    /* cv, rho1 and n_eff: what the order and the spread of the samples say. */
    double squares = 0, products = 0;
    for (size_t i = 0; i < n; ++i) {
        const double d = x[i] - s.mean;
        squares += d * d;
        if (i + 1 < n)
            products += d * (x[i + 1] - s.mean);
    }
    /* Constant samples have no spread and no correlation; 0/0 would claim they are unknown. */
    const bool constant = squares == 0;
    s.cv = n < 2 || constant ? 0 : sqrt(squares / (double)(n - 1)) / s.mean;
    s.rho1 = n < 3 || constant ? 0 : products / squares;
    const double n_eff = (double)n * (1 - s.rho1) / (1 + s.rho1);
    s.n_eff = n_eff > (double)n ? (double)n : n_eff;
    if (n == 0)
        s.cv = s.rho1 = s.n_eff = NAN;
    return s;
}

double stats_hidden(double compute, double comm, double whole, double least)
{
    if (!(compute > 0) || !(whole > 0) || !(comm > 0) || !(comm >= least) || !isfinite(compute) ||
        !isfinite(comm) || !isfinite(whole))
        return NAN;
    return (compute + comm - whole) / comm;
}

double stats_settling(const double x[], size_t n, double scratch[])
{
    const size_t first = n / 10, last = n / 2;
    if (n < 20)
        return NAN;
    memcpy(scratch, x, first * sizeof x[0]);
    const double begin = stats_median(scratch, first);
    memcpy(scratch, x + (n - last), last * sizeof x[0]);
    return log(begin / stats_median(scratch, last));
}

/* Up to 30 as tables have it; beyond, Cornish and Fisher's expansion of it around the normal one.
 */
double stats_t975(size_t df)
{
    static const double table[] = {12.7062, 4.3027, 3.1824, 2.7764, 2.5706, 2.4469, 2.3646, 2.3060,
                                   2.2622,  2.2281, 2.2010, 2.1788, 2.1604, 2.1448, 2.1314, 2.1199,
                                   2.1098,  2.1009, 2.0930, 2.0860, 2.0796, 2.0739, 2.0687, 2.0639,
                                   2.0595,  2.0555, 2.0518, 2.0484, 2.0452, 2.0423};
    const double z = 1.959964, n = (double)df;
    if (df == 0)
        return NAN;
    if (df <= sizeof table / sizeof table[0])
        return table[df - 1];
    return z + (z * z * z + z) / (4 * n) +
           (5 * z * z * z * z * z + 16 * z * z * z + 3 * z) / (96 * n * n);
}

/* P(|T| <= sqrt(df) tan(angle)): for whole degrees of freedom a sum of so many terms, and no
 * approximation (Abramowitz and Stegun, 26.7.3 and 26.7.4). */
static double t_within(double angle, size_t df)
{
    const double cosine = cos(angle), square = cosine * cosine;
    const bool odd = df % 2 == 1;
    double term = odd ? cosine : 1, sum = 0;
    for (size_t k = odd ? 3 : 2; k <= df; k += 2) {
        sum += term;
        term *= square * (double)(k - 1) / (double)k;
    }
    return odd ? 2 / acos(-1) * (angle + sin(angle) * sum) : sin(angle) * sum;
}

double stats_t_quantile(double p, size_t df)
{
    if (df == 0 || !(p > 0 && p < 1))
        return NAN;
    const double within = fabs(2 * p - 1);
    double lo = 0, hi = acos(0);
    for (int i = 0; i < 60; ++i) {
        const double middle = (lo + hi) / 2;
        if (t_within(middle, df) < within) {
            lo = middle;
        } else {
            hi = middle;
        }
    }
    return copysign(sqrt((double)df) * tan(lo), p - 0.5);
}

struct stats_interval stats_mean_interval(const double x[], size_t n, double *mean)
{
    struct stats_interval interval = {.lo = NAN, .hi = NAN, .coverage = NAN};
    double squares = 0;
    *mean = n == 0 ? NAN : stats_mean(x, n);
    if (n < 3)
        return interval;
    for (size_t i = 0; i < n; ++i)
        squares += (x[i] - *mean) * (x[i] - *mean);
    const double half = stats_t975(n - 1) * sqrt(squares / (double)(n - 1) / (double)n);
    interval.valid = isfinite(half);
    interval.lo = *mean - half;
    interval.hi = *mean + half;
    interval.coverage = 0.95;
    return interval;
}

/* ---- permutation tests: what an order says, against what random orders say --------------------
 */

/* No distribution is assumed, only that without an effect every order is as likely as any other. */
double permute_test(const double x[], size_t n, permute_statistic_fn *statistic,
                    const void *context, size_t rounds, uint64_t seed, double scratch[])
{
    const double seen = fabs(statistic(x, n, context));
    size_t as_far = 1; /* the order of x itself */
    if (isnan(seen))
        return NAN;
    memcpy(scratch, x, n * sizeof x[0]);
    for (size_t i = 0; i < rounds; ++i) {
        for (size_t k = n; k > 1; --k) {
            const size_t j = (size_t)(random_next(&seed) % k);
            const double other = scratch[j];
            scratch[j] = scratch[k - 1];
            scratch[k - 1] = other;
        }
        /* An order that is the same but for rounding is as far. */
        as_far += fabs(statistic(scratch, n, context)) >= seen * (1 - 1e-9);
    }
    return (double)as_far / (double)(rounds + 1);
}

double permute_slope(const double x[], size_t n, const void *context)
{
    const double *at = context;
    const double middle = stats_mean(at, n), mean = stats_mean(x, n);
    double above = 0, below = 0;
    for (size_t i = 0; i < n; ++i) {
        above += (at[i] - middle) * (x[i] - mean);
        below += (at[i] - middle) * (at[i] - middle);
    }
    return below > 0 ? above / below : NAN;
}

double permute_lag1(const double x[], size_t n, const void *context)
{
    const double mean = stats_mean(x, n);
    double products = 0, squares = 0;
    (void)context;
    for (size_t i = 0; i < n; ++i) {
        squares += (x[i] - mean) * (x[i] - mean);
        products += i + 1 < n ? (x[i] - mean) * (x[i + 1] - mean) : 0;
    }
    return squares > 0 ? products / squares : NAN;
}

/* ---- tolerance bounds ------------------------------------------------------------------------ */

/* mean + k s is above the content's quantile z with the chance that the mean's error, of standard
 * deviation 1 / sqrt(n), is above z - k s. The chance is integrated over the distribution of s. */
static const double MOST_FACTOR = 1e3;

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
    double lo = 0.0, hi = MOST_FACTOR;

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

/* ---- lines ----------------------------------------------------------------------------------- */

static double distance(const struct line *line, double x, double y)
{
    return fabs(1 - (line->alpha + line->beta * x) / y);
}

/* Takes the line if it has less than the best one. Two points of one x have none: no number is
 * less.
 */
static void try_line(const struct line *line, const double x[], const double y[], size_t n,
                     struct line *best, double *least)
{
    double sum = 0;

    for (size_t i = 0; i < n && sum < *least; ++i)
        sum += distance(line, x[i], y[i]);
    if (sum < *least) {
        *least = sum;
        *best = *line;
    }
}

/* The least is at a corner of what is allowed: through two points, or through one and level or from
 * 0. */
struct line line_fit(const double x[], const double y[], size_t n, bool rising)
{
    struct line best = {NAN, NAN};
    double least = INFINITY;

    for (size_t i = 0; i < n; ++i)
        if (!(isfinite(x[i]) && isfinite(y[i]) && y[i] > 0))
            return best;
    for (size_t i = 0; i < n; ++i) {
        const struct line level = {y[i], 0}, from_0 = {0, y[i] / x[i]};

        for (size_t k = i + 1; k < n; ++k) {
            const double beta = (y[k] - y[i]) / (x[k] - x[i]);
            const struct line line = {y[i] - beta * x[i], beta};

            if (!rising || (line.alpha >= 0 && beta >= 0))
                try_line(&line, x, y, n, &best, &least);
        }
        if (rising)
            try_line(&level, x, y, n, &best, &least);
        if (rising && from_0.beta >= 0)
            try_line(&from_0, x, y, n, &best, &least);
    }
    return best;
}

double line_off(const struct line *line, const double x[], const double y[], size_t n, size_t *at)
{
    double most = NAN;

    *at = 0;
    for (size_t i = 0; i < n; ++i) {
        const double off = distance(line, x[i], y[i]);

        if (isnan(off))
            return NAN;
        if (!(off <= most)) {
            most = off;
            *at = i;
        }
    }
    return most;
}

/* ---- outliers -------------------------------------------------------------------------------- */

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
