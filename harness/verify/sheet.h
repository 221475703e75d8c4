/* verify/sheet.h: matrices of numbers with bounds (verify/near.h), products of them with weights of
 * which most are 0, and the gradients of such weights.
 *
 * A sum of products of two rows of n numbers is away by what its factors carry. Where there are
 * many such sums, that is bounded by lengths (Cauchy and Schwarz): sum of |a| |b| <= |a| |b|. */
#ifndef HARNESS_VERIFY_SHEET_H
#define HARNESS_VERIFY_SHEET_H

#include "verify/arrays.h"
#include "verify/near.h"

struct sheet {
    size_t rows, width;
    double *v, *e; /* [rows, width] */
};

int sheet_open(struct sheet *sheet, size_t rows, size_t width); /* zeros; -1: memory is short */
void sheet_close(struct sheet *sheet);
struct near sheet_at(const struct sheet *sheet, size_t i);
void sheet_put(const struct sheet *sheet, size_t i, struct near value);
void sheet_add(struct sheet *to, const struct sheet *from);
void sheet_copy(struct sheet *to, const struct sheet *from); /* of the same size */
/* Of a twin, whose bounds nobody asks for: what it makes of operands of matrix products. */
void sheet_operands(struct sheet *sheet, struct maths_twin twin);

/* The numbers of a matrix that are not 0, row by row. */
struct sparse {
    size_t outs;
    size_t *from;   /* [outs + 1]: where a row begins */
    size_t *column; /* in these two */
    double *value;
};

/* Of w [outs, ins], or of its transpose, as operands. -1: memory is short. */
int sparse_open(struct sparse *sparse, const double *w, size_t outs, size_t ins, bool transposed,
                struct maths_twin twin);
void sparse_close(struct sparse *sparse);
/* y = W x + bias (NULL: none) for each row of x. */
void sparse_product(const struct sparse *sparse, const double *bias, const struct sheet *x,
                    struct sheet *y);

/* A float step adds up gradients over all rows of a batch: gamma is near_gamma of so many. A
 * pattern's terms are there `times`. */
struct share {
    double times, gamma;
};
/* The gradient of a weight [outs, ins] whose product with x is y, and that of its bias. room: for 2
 * (outs + ins) numbers. */
void sheet_weight_gradient(const struct share *share, const struct sheet *dy, const struct sheet *x,
                           double *room, struct reference_array *grad);
void sheet_bias_gradient(const struct share *share, const struct sheet *dy,
                         struct reference_array *grad);
/* One term of gradient i. */
void share_add(const struct share *share, struct near term, size_t i, struct reference_array *grad);

#endif
