/* numbers/outlier.h: which of many values is not like the others, by median and MAD. Pure functions
 * on arrays; no allocation. */
#ifndef HARNESS_OUTLIER_H
#define HARNESS_OUTLIER_H

#include <stdbool.h>
#include <stddef.h>

/* With fewer values no outlier is found, because their MAD is near 0 too often. */
enum { OUTLIER_LEAST = 8 };
/* A difference of logarithms that is smaller is none, however sure it is. */
#define OUTLIER_EFFECT 0.03
/* The error of all comparisons together: the chance that a value is named although none should be.
 */
#define OUTLIER_ALPHA 0.05

/* Where values like the others are. */
struct outlier_band {
    bool valid; /* false: fewer than OUTLIER_LEAST */
    double middle, lo, hi;
};

/* The band of the logarithms x, which are finite. It is middle +- t s, and at least OUTLIER_EFFECT
 * to each side. s is 1.4826 MAD, and t the quantile of Student's t at OUTLIER_ALPHA, two-sided, by
 * Sidak over all comparisons of the family. Its degrees of freedom are 0.3 (n - 1), at most 10: a
 * MAD is worth 0.37 (n - 1) of them for normal scatter, and the difference allows for heavier
 * tails, as the worst of 8 devices has. scratch has n elements. */
struct outlier_band outlier_band(const double x[], size_t n, size_t comparisons, double scratch[]);

#endif
