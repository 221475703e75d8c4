/* verify/transformer.h: the layers of a transformer in numbers with bounds, forward and back. */
#ifndef HARNESS_VERIFY_TRANSFORMER_H
#define HARNESS_VERIFY_TRANSFORMER_H

#include "verify/bounded_matrix.h"

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

/* Causal attention from qkv [time, 3 width] to y [time, width] (verify/attention.c). As many heads
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
