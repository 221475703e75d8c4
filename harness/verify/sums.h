/* verify/sums.h: outputs and gradients as sums over rows of numbers with bounds. All computations
 * after the loss are linear in the upstream, so a row whose upstream is s times that of its pattern
 * has s times its gradients and s times their bounds.
 *
 * The numbers of an exact model are whole. A bound is then the sum of |terms| instead, and the
 * error of a number says by how much the |terms| of its sum exceed it. */
#ifndef HARNESS_VERIFY_SUMS_H
#define HARNESS_VERIFY_SUMS_H

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

#endif
