/* verify/sums.h: outputs and gradients as sums over rows of numbers with bounds. All computations
 * after the loss are linear in the upstream, so a row whose upstream is s times that of its pattern
 * has s times its gradients and s times their bounds.
 *
 * The numbers of an exact model are whole. A bound is then the sum of |terms| instead, and the
 * error of a number says by how much the |terms| of its sum exceed it. */
#ifndef HARNESS_VERIFY_SUMS_H
#define HARNESS_VERIFY_SUMS_H

#include <stdbool.h>
#include <stdint.h>

#include "verify/arrays.h"
#include "verify/bounded.h"

struct verify_sums {
    const struct verify *verify;
    const void *context;             /* of the workload */
    struct reference_arrays *arrays; /* filled in */
    double rows, scales;             /* of this pattern: how many, and the sum of their scales */
    /* A model that is exact has none of these two. */
    double *size[REFERENCE_PARAMS];  /* sums of |terms| of the gradients */
    double *terms[REFERENCE_PARAMS]; /* ... and how many: what is exactly 0 rounds nothing */
    int whole;  /* the parameter whose gradients are sums of whole numbers; -1: none */
    bool exact; /* all numbers are whole */
    struct bounded_sum empty; /* a sum without terms */
    double largest;           /* sum of |terms| of numbers that are exact */
};

/* A pattern of a workload adds its gradients by these. Its model is zeroed before the first one.
 *
 * Fills x with the n inputs of a pattern. */
void verify_sums_input(const struct verify_sums *sums, size_t pattern, size_t n, struct bounded *x);

/* Adds a times b, a term of gradient i of parameter p. It is inline because models call it for
 * every term. */
static inline void verify_sums_add(struct verify_sums *sums, int p, size_t i, struct bounded a,
                                   struct bounded b)
{
    struct reference_array *grad = &sums->arrays->grad[p];

    if (sums->exact) { /* also a term that is 0: to skip it takes longer than to add it */
        grad->value[i] += sums->scales * a.v * b.v;
        grad->bound[i] += sums->scales * (fabs(a.v) + a.e) * (fabs(b.v) + b.e);
        return;
    }
    const double carried = bounded_carried(a, b), size = fabs(a.v * b.v) + carried;

    if (size == 0)
        return;
    grad->value[i] += sums->scales * a.v * b.v;
    grad->bound[i] += sums->scales * (carried + sums->empty.operands * size);
    sums->size[p][i] += sums->scales * size;
    sums->terms[p][i] += sums->rows;
}

/* Adds a times x[k], a term of gradient i + k, for each of n. */
void verify_sums_add_row(struct verify_sums *sums, int p, size_t i, struct bounded a,
                         const struct bounded *x, size_t n);

/* Computes the last layer, a linear one with `in` inputs whose weight is parameter p: the outputs,
 * its two gradients, and the gradient of its input. Of an exact model it also computes the loss. */
void verify_sums_linear(struct verify_sums *sums, size_t pattern, int p, const struct bounded *x,
                        size_t in, struct bounded *dx);

/* ---- convolutions with windows of 3 x 3, in numbers with bounds: verify/windows.c ---- */

/* Weights are [outs, channels, 3, 3], images [channels, side, side], results [outs, out_side,
 * out_side]. A weight that is 0 rounds nothing and is never counted as a term. */
#define WINDOWS_TAPS     9
#define WINDOWS_CHANNELS 32  /* at most */
#define WINDOWS_SIDE     8   /* of a result, at most */
#define WINDOWS_PLANE    100 /* numbers of a channel with a margin of 1, at most */

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
