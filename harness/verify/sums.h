/* verify/sums.h: outputs and gradients of models that round, as sums over rows of numbers with
 * bounds. All computations after the loss are linear in the upstream, so a row whose upstream is s
 * times that of its pattern has s times its gradients and s times their bounds. */
#ifndef HARNESS_VERIFY_SUMS_H
#define HARNESS_VERIFY_SUMS_H

#include "verify/arrays.h"
#include "verify/bounded.h"

struct verify_sums {
    const struct verify *verify;
    const void *context;             /* of verify_sums_fill */
    struct reference_arrays *arrays; /* filled in */
    double rows, scales;             /* of this pattern: how many, and the sum of their scales */
    double *size[REFERENCE_PARAMS];  /* sums of |terms| of the gradients */
    double *terms[REFERENCE_PARAMS]; /* ... and how many: what is exactly 0 rounds nothing */
    int whole;       /* the parameter whose gradients are sums of whole numbers; -1: none */
    double operands; /* of bounded_sum */
    double largest;  /* sum of |terms| of numbers that are exact */
};

/* Adds the gradients of one pattern. model is memory for its numbers, zeroed before the first. */
typedef void verify_pattern_fn(void *model, struct verify_sums *sums,
                               const struct workload_set *set, size_t pattern);
/* Adds all patterns, with bounds. bytes: the size of the model. Returns 0, or -1 and the reason. */
int verify_sums_fill(struct verify *v, const struct workload_set *set, verify_pattern_fn *pattern,
                     size_t bytes, const void *context, struct text_error *why);

/* Adds a times b, a term of gradient i of parameter p. */
void verify_sums_add(struct verify_sums *sums, int p, size_t i, struct bounded a, struct bounded b);
/* Computes the last layer, a linear one with `in` inputs whose weight is parameter p: the outputs,
 * its two gradients, and the gradient of its input. */
void verify_sums_linear(struct verify_sums *sums, const struct workload_set *set, size_t pattern,
                        int p, const struct bounded *x, size_t in, struct bounded *dx);

#endif
