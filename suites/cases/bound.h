/* bound.h: answers that are known up to rounding: numbers in double, each with a bound for how far
 * a computation in float, in any order of its sums, can be from it. The bounds follow the
 * operations one by one: each product and each sum of n terms rounds by at most 2^-23 of its
 * magnitude, twice what it takes. Exact data give exact values. */
#ifndef CASES_BOUND_H
#define CASES_BOUND_H

#include "check.h"

struct bound {
    double value, off; /* off: the bound */
};

struct bound_matrix {
    size_t rows, columns;
    struct bound *at; /* row by row */
};

/* Numbers that are floats already. A vector is one row. */
struct bound_matrix bound_given(struct check *c, size_t rows, size_t columns,
                                const double values[]);
struct bound_matrix bound_taken(struct check *c, const struct impl_array *array);
struct bound_matrix bound_turned(struct check *c, const struct bound_matrix *m);
/* a b; a b^T + bias, a row of the columns, NULL: none. */
struct bound_matrix bound_product(struct check *c, const struct bound_matrix *a,
                                  const struct bound_matrix *b);
struct bound_matrix bound_linear(struct check *c, const struct bound_matrix *x,
                                 const struct bound_matrix *weight,
                                 const struct bound_matrix *bias);
struct bound_matrix bound_relu(struct check *c, const struct bound_matrix *x);
struct bound_matrix bound_relu_back(struct check *c, const struct bound_matrix *x,
                                    const struct bound_matrix *g);
/* factor * m + summand */
struct bound_matrix bound_scaled(struct check *c, const struct bound_matrix *m, double factor,
                                 double summand);
struct bound_matrix bound_centred(struct check *c, const struct bound_matrix *m); /* by columns */
struct bound_matrix bound_sums(struct check *c, const struct bound_matrix *m);    /* of columns */
/* The sum of all a * b, or of all a where b is NULL. */
struct bound_matrix bound_dot(struct check *c, const struct bound_matrix *a,
                              const struct bound_matrix *b);

/* Every element within its bound. */
void bound_is(struct check *c, const char *what, const struct impl_array *got,
              const struct bound_matrix *want);

/* ---- two networks ------------------------------------------------------------------------------
 */

enum { BOUND_PARAMS = 4 };

struct bound_answer {
    struct bound_matrix y, dx, grad[BOUND_PARAMS];
};

/* linear, relu, linear: weight, bias, weight, bias. */
struct bound_answer bound_net(struct check *c, const struct bound_matrix param[BOUND_PARAMS],
                              const struct bound_matrix *x, const struct bound_matrix *g);
/* linear, relu, affine, subtract_mean: weight, bias, and the affine's two numbers. */
struct bound_answer bound_shard(struct check *c, const struct bound_matrix param[BOUND_PARAMS],
                                const struct bound_matrix *x, const struct bound_matrix *g);

#endif
