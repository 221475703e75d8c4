/* numbers/outlier.h: which of many values is not like the others, by median and MAD. Pure functions
 * on arrays; no allocation. */
#ifndef HARNESS_OUTLIER_H
#define HARNESS_OUTLIER_H

#include <stdbool.h>
#include <stddef.h>

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

#endif
