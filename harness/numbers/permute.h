/* numbers/permute.h: permutation tests, and what they test here. Pure functions on arrays; no
 * allocation. */
#ifndef HARNESS_PERMUTE_H
#define HARNESS_PERMUTE_H

#include <stddef.h>
#include <stdint.h>

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

#endif
