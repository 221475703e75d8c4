/* verify/sums.h: outputs and gradients of models that round, as sums over rows of numbers
 * with bounds. All that follows the loss is linear in the upstream, so a row whose upstream is s
 * times its pattern's has s times its gradients and s times their bounds. */
#ifndef HARNESS_VERIFY_SUMS_H
#define HARNESS_VERIFY_SUMS_H

#include "verify/arrays.h"
#include "verify/bounded.h"

struct verify_sums {
    struct reference_arrays *arrays; /* filled in */
    double rows, scales;             /* of this pattern: how many, and the sum of their scales */
    double *size[REFERENCE_PARAMS];  /* sums of |terms| of the gradients */
    double *terms[REFERENCE_PARAMS]; /* ... and how many: what is exactly 0 rounds nothing */
    int whole;       /* the parameter whose gradients are sums of whole numbers; -1: none */
    double operands; /* of bounded_sum */
};

/* Fills in one pattern. */
typedef void verify_pattern_fn(void *model, struct verify_sums *sums,
                               const struct workload_set *set, size_t pattern);
/* All patterns, with bounds. 0, or -1 and why. */
int verify_sums_fill(struct verify *v, const struct workload_set *set, verify_pattern_fn *pattern,
                     void *model, struct text_error *why);

/* a times b is a term of gradient i of parameter p. */
void verify_sums_add(struct verify_sums *sums, int p, size_t i, struct bounded a, struct bounded b);
/* The last layer, a linear one from in numbers, whose weight is parameter p: outputs, its two
 * gradients, and that of its input. */
void verify_sums_linear(struct verify_sums *sums, const struct workload_set *set, size_t pattern,
                        int p, const struct bounded *x, size_t in, struct bounded *dx);

#endif
