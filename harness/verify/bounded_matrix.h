/* verify/bounded_matrix.h: matrices of numbers with bounds (verify/bounded.h), products of them
 * with weights of which most are 0, and the gradients of such weights.
 *
 * A sum of products of two rows of n numbers is away by the errors that its factors carry. If there
 * are many such sums, lengths bound them (Cauchy and Schwarz): sum of |a| |b| <= |a| |b|. */
#ifndef HARNESS_VERIFY_BOUNDED_MATRIX_H
#define HARNESS_VERIFY_BOUNDED_MATRIX_H

#include "verify/arrays.h"
#include "verify/bounded.h"

struct bounded_matrix {
    size_t rows, width;
    double *v, *e; /* [rows, width] */
};

int bounded_matrix_open(struct bounded_matrix *matrix, size_t rows,
                        size_t width); /* zeros; -1: memory is short */
void bounded_matrix_close(struct bounded_matrix *matrix);
struct bounded bounded_matrix_at(const struct bounded_matrix *matrix, size_t i);
void bounded_matrix_put(const struct bounded_matrix *matrix, size_t i, struct bounded value);
void bounded_matrix_add(struct bounded_matrix *to, const struct bounded_matrix *from);
void bounded_matrix_copy(struct bounded_matrix *to,
                         const struct bounded_matrix *from); /* of the same size */
/* Rounds the operands of matrix products as the variant does. The bounds of a variant are not
 * used. */
void bounded_matrix_operands(struct bounded_matrix *matrix, struct maths_variant variant);

/* The numbers of a matrix that are not 0, row by row. */
struct sparse {
    size_t outs;
    size_t *from;   /* [outs + 1]: where a row begins */
    size_t *column; /* of each number; from has positions in it and in the values */
    double *value;
};

/* Opens the operands of a product with w [outs, ins], or with its transpose. -1: memory is
 * short. */
int sparse_open(struct sparse *sparse, const double *w, size_t outs, size_t ins, bool transposed,
                struct maths_variant variant);
void sparse_close(struct sparse *sparse);
/* Computes y = W x + bias (NULL: none) for each row of x. */
void sparse_product(const struct sparse *sparse, const double *bias, const struct bounded_matrix *x,
                    struct bounded_matrix *y);

/* A float step adds up gradients over all rows of a batch: gamma is bounded_gamma of the number of
 * terms. `times`: how often the terms of a pattern are in the sum. */
struct row_sum_bound {
    double times, gamma;
};
/* Computes the gradient of a weight [outs, ins] whose product with x is y. room: workspace for 2
 * (outs + ins) numbers. */
void bounded_matrix_weight_gradient(const struct row_sum_bound *share,
                                    const struct bounded_matrix *dy, const struct bounded_matrix *x,
                                    double *room, struct reference_array *grad);
void bounded_matrix_bias_gradient(const struct row_sum_bound *share,
                                  const struct bounded_matrix *dy, struct reference_array *grad);
/* Adds one term of gradient i. */
void row_sum_bound_add(const struct row_sum_bound *share, struct bounded term, size_t i,
                       struct reference_array *grad);

#endif
