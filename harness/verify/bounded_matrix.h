/* verify/bounded_matrix.h: matrices of numbers with bounds (verify/bounded.h), products of them
 * with weights of which most are 0, the gradients of such weights, and layers of a transformer.
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

/* ---- layers of a transformer, forward and back: transformer.c, attention.c ------------------- */

/* Layer norm of each row. Sums over a row are in double, as dp_layer_norm has them. */
struct layer_norm {
    struct bounded_matrix hat; /* normalised */
    double *root; /* the root of variance + eps, and how far it may be away: [2, rows] */
};
int layer_norm_open(struct layer_norm *norm, size_t rows, size_t width);
void layer_norm_close(struct layer_norm *norm);
void layer_norm_forward(struct layer_norm *norm, const double *weight, const double *bias,
                        const struct bounded_matrix *x, struct bounded_matrix *y);
void layer_norm_backward(const struct layer_norm *norm, const double *weight,
                         const struct bounded_matrix *dy, struct bounded_matrix *dx);
void layer_norm_gradients(const struct row_sum_bound *share, const struct layer_norm *norm,
                          const struct bounded_matrix *dy, struct reference_array *weight,
                          struct reference_array *bias);

/* The tanh form of GELU. */
void gelu_forward(const struct bounded_matrix *x, struct bounded_matrix *y);
void gelu_backward(const struct bounded_matrix *x, struct bounded_matrix *dy); /* dy becomes dx */

/* An upper bound on how far a share of a softmax over n numbers may be away, as a part of the
 * share, if its exp and the sum of all exp together are wrong by a factor of at most exp(away).
 * wide: the largest distance of two of the numbers. n: 0 if the sum is in double. */
double softmax_away(double away, double wide, double n);

/* Causal attention from qkv [time, 3 width] to y [time, width]. As many heads
 * run at a time as there are lanes; each lane has separate memory. */
struct attention {
    size_t heads, time, size; /* size of a head */
    size_t lanes;
    double *p, *g;          /* of one head: probabilities, gradients before softmax [time, time] */
    double *away, *per_p;   /* of each row: how far its p and g are away, as a part of p */
    struct bounded *factor; /* of the rows that are added up: [time] */
    struct maths_variant variant; /* of operands of products; q, k, v and dy come as such */
    double *lengths;              /* of q, k, v, dy of each row, and of their bounds: [8, time] */
};
int attention_open(struct attention *attention, size_t heads, size_t time, size_t width,
                   struct maths_variant variant);
void attention_close(struct attention *attention);
void attention_forward(struct attention *attention, const struct bounded_matrix *qkv,
                       struct bounded_matrix *y);
void attention_backward(struct attention *attention, const struct bounded_matrix *qkv,
                        const struct bounded_matrix *dy, struct bounded_matrix *dqkv);

#endif
