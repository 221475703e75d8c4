/* verify/windows.h: convolutions with windows of 3 x 3, in numbers with bounds.
 * Weights are [outs, channels, 3, 3], images [channels, side, side], results [outs, out_side,
 * out_side]. A weight that is 0 rounds nothing and is never counted as a term. */
#ifndef HARNESS_VERIFY_WINDOWS_H
#define HARNESS_VERIFY_WINDOWS_H

#include <stdbool.h>
#include <stdint.h>

#include "verify/bounded.h"

#define WINDOWS_TAPS     9
#define WINDOWS_CHANNELS 32  /* at most */
#define WINDOWS_SIDE     8   /* of a result, at most */
#define WINDOWS_PLANE    100 /* numbers of a channel with a margin of 1, at most */

struct verify_sums;
struct windows {
    size_t channels, side, outs, out_side, stride;
    size_t margin; /* of zeros around the image: 0 or 1 */
};

/* The place that each tap of the window around a place reads, or WINDOWS_OUTSIDE of the image. */
#define WINDOWS_OUTSIDE SIZE_MAX
struct windows_map {
    size_t from[WINDOWS_SIDE * WINDOWS_SIDE][WINDOWS_TAPS];
};
void windows_map(const struct windows *windows, struct windows_map *map);

/* Computes y = W x + bias (NULL: none). exact: the numbers are whole; the caller sees in the
 * largest sum of |terms|, which is returned, whether the sums are exact. */
double windows_forward(const struct windows *windows, bool exact, const double *weight,
                       const double *bias, const struct bounded *x, struct bounded *y);
/* Adds the gradients of the weight and the bias, which are parameters p and p + 1, from dy.
 * columns: workspace, one for each tap of each place. */
void windows_weights(const struct windows *windows, struct verify_sums *sums, int p,
                     const struct bounded *x, const struct bounded *dy, struct bounded *columns);
/* Computes dx from dy. sum: workspace, one for each number of the image, each of which begins as
 * empty. */
void windows_input(const struct windows *windows, const double *weight, struct bounded_sum empty,
                   const struct bounded *dy, struct bounded_sum *sum, struct bounded *dx);
/* A gradient that is s own + all in a row whose upstream is s times that of its pattern. */
struct norm_gradient {
    struct bounded own, all;
};
/* Computes dx from dy, for a stride and a margin of 1. A step adds up s own + all as one number, so
 * both parts are rounded as often as that sum has terms. */
void windows_backward(const struct windows *windows, const double *weight,
                      const struct norm_gradient *dy, struct norm_gradient *dx);

/* The gradient of a result, added up over rows that are alike: value, sum of |values|, and how far
 * both are away. */
struct windows_upstream {
    double value, size, away;
};
/* The gradient of a weight: the sums of its terms, of |terms|, and of the errors that they
 * carry. */
struct windows_sum {
    double value, size, carried;
};
/* Adds the terms of x to the sum of each weight, for a margin of 1. */
void windows_add(const struct windows *windows, const struct bounded *x,
                 const struct windows_upstream *dy, struct windows_sum *sum);

#endif
