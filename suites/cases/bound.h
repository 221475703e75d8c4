/* bound.h: answers that are known up to rounding: numbers in double, each with a bound for the
 * error of a computation in float, with its sums in any order. The bounds follow the operations one
 * by one: each product and each sum of n terms is taken to round by at most 2^-23 of its magnitude,
 * twice the real limit. Exact data give exact values. */
#ifndef CASES_BOUND_H
#define CASES_BOUND_H

#include "check.h"

struct bound {
    double value, off; /* off: the bound */
};

struct bound_matrix {
    size_t rows, columns;
    struct bound *at; /* in row-major order */
};

/* Returns a matrix of numbers that are floats already. A vector is one row. */
struct bound_matrix bound_given(struct check *c, size_t rows, size_t columns,
                                const double values[]);
struct bound_matrix bound_taken(struct check *c, const struct impl_array *array);
/* Return a b; and a b^T + bias, where bias is a row of the columns, or NULL for none. */
struct bound_matrix bound_linear(struct check *c, const struct bound_matrix *x,
                                 const struct bound_matrix *weight,
                                 const struct bound_matrix *bias);
struct bound_matrix bound_relu(struct check *c, const struct bound_matrix *x);
/* Returns factor * m + summand. */
struct bound_matrix bound_scaled(struct check *c, const struct bound_matrix *m, double factor,
                                 double summand);

/* Checks that every element is within its bound. */
void bound_is(struct check *c, const char *what, const struct impl_array *got,
              const struct bound_matrix *want);

/* ---- two networks ---------------------------------------------------------------------------- */

enum { BOUND_PARAMS = 4 };

struct bound_answer {
    struct bound_matrix y, dx, grad[BOUND_PARAMS];
};

/* The answer of linear, relu, linear, with the parameters weight, bias, weight, bias. */
struct bound_answer bound_net(struct check *c, const struct bound_matrix param[BOUND_PARAMS],
                              const struct bound_matrix *x, const struct bound_matrix *g);
/* The answer of linear, relu, affine, subtract_mean, with the parameters weight, bias, and the two
 * numbers of affine. */
struct bound_answer bound_shard(struct check *c, const struct bound_matrix param[BOUND_PARAMS],
                                const struct bound_matrix *x, const struct bound_matrix *g);

#endif
