/* numbers/rank.h: tests and intervals of ranks, exact: they hold whatever the distribution is, and
 * are counted, not approximated.
 *
 * Signed ranks are for pairs: d[i] is the difference of pair i, of logarithms where ratios are
 * meant. Rank sums are for two samples that are not paired. Values that are equal share the mean of
 * their ranks, and the distribution is that of these ranks. A value that is not finite makes a p
 * NaN and an estimate invalid. */
#ifndef HARNESS_RANK_H
#define HARNESS_RANK_H

#include <stdbool.h>
#include <stddef.h>

#define RANK_MOST 60 /* pairs, or values of one sample: more are not counted */

/* A shift, by Hodges and Lehmann, and its interval. */
struct rank_estimate {
    double middle; /* NaN: of nothing, or of something that is not finite */
    bool valid;    /* there is an interval at this number of values and level; else NaN: */
    double lo, hi;
    double coverage; /* achieved, at least the level asked for */
};

/* ---- pairs -------------------------------------------------------------------------------- */

/* One-sided p that differences are larger than margin: of all 2^k signs of the k of them that are
 * not equal to it, the part with a sum of positive ranks as large as this one or larger. Those that
 * are equal to margin have ranks, but no sign (Pratt): they never make the others count for more.
 * NaN: n is 0 or more than RANK_MOST. */
double rank_signed_p(const double d[], size_t n, double margin);
/* The median of the n (n+1) / 2 means of two, each with itself, too. */
struct rank_estimate rank_signed_estimate(const double d[], size_t n, double level);

/* The difference that a one-sided test at alpha against margin finds in about 80 of 100 comparisons
 * of n pairs, with an estimate of least or more: of 200 comparisons whose pairs are drawn from
 * these, moved to 0, with a sign that is drawn, too, as the order in a pair is. So rare large
 * differences count as often as they were seen. The same for the same d. NaN: n is below 2 or above
 * RANK_MOST, or so few pairs find nothing. */
double rank_detectable(const double d[], size_t n, double margin, double least, double alpha);
/* Pairs that it takes to find effect so where n find detectable, at least as many as let p be alpha
 * at all. 0: no number does, or more than 10^9. */
size_t rank_pairs_needed(double detectable, size_t n, double margin, double alpha, double effect);

/* ---- two samples -------------------------------------------------------------------------- */

/* Two-sided p that a[n] and b[m] are of different distributions: twice the smaller tail of the
 * distribution of the sum of ranks over all choices of n of the n + m values, at most 1. NaN: n or
 * m is 0 or more than RANK_MOST. */
double rank_sum_p(const double a[], size_t n, const double b[], size_t m);
/* The smallest p that there is of as many. */
double rank_sum_least_p(size_t n, size_t m);
/* The median of the n m differences b - a. */
struct rank_estimate rank_sum_shift(const double a[], size_t n, const double b[], size_t m,
                                    double level);

/* ---- many tests --------------------------------------------------------------------------- */

/* Holm: rejecting where adjusted[i] <= alpha is wrong anywhere with a chance of at most alpha,
 * however the m tests depend on each other. A NaN counts as a test and stays NaN. */
void rank_holm(const double p[], size_t m, double adjusted[]);

#endif
