/* verify/norm.h: one channel of batch norm over a shard, in numbers with bounds.
 *
 * Values are added one by one; rows that are alike are added at once, with `times` as their number.
 * dp_batch_norm computes all sums of a channel in double and rounds them once to float, and so it
 * does with the mean and 1 / deviation that backward reads. A sum in double of n terms is away by
 * at most n 2^-53 times the sum of |terms|, so bounds do not widen with the rows.
 *
 * The upstream of a row is s times that of its pattern. Its gradient is then s own + all, because
 * backward of batch norm subtracts a share from every row that does not depend on the scale of that
 * row. Every bound is also a sum of two such parts: a float step rounds s own + all by no more than
 * it would round s |own| and |all|. */
#ifndef HARNESS_VERIFY_NORM_H
#define HARNESS_VERIFY_NORM_H

#include "verify/bounded.h"

struct norm {
    double weight, bias, n; /* n: values of the channel */
    struct bounded mean, invstd;
    struct bounded sum, product; /* of the upstream, and of it times what is normalised */
    double sum_size, product_size;
};

struct norm_gradient {
    struct bounded own, all;
};

/* Forward: add all values for the mean first, then all for the variance. */
void norm_add_mean(struct norm *norm, double times, struct bounded x);
void norm_end_mean(struct norm *norm);
void norm_add_variance(struct norm *norm, double times, struct bounded x);
void norm_end_variance(struct norm *norm, double eps);
struct bounded norm_forward(const struct norm *norm, struct bounded x);

/* Backward: add all upstream for the two sums first, of rows whose scales add up to scales; then
 * compute the gradient of each value. */
void norm_add_upstream(struct norm *norm, double scales, double rows, struct bounded x,
                       const struct norm_gradient *g);
void norm_end_upstream(struct norm *norm);
struct norm_gradient norm_backward(const struct norm *norm, struct bounded x,
                                   const struct norm_gradient *g);

#endif
