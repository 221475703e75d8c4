/* verify/norm.h: one channel of batch norm over a shard, in numbers with bounds.
 *
 * What is added up is added value by value, `times` over for rows that are alike. All that
 * dp_batch_norm makes of a channel is made in double and rounded once to float, and so are the mean
 * and 1 / deviation that backward reads; a sum in double of n terms is at most n 2^-53 times the
 * sum of |terms| away. So bounds do not widen with the rows.
 *
 * The upstream of a row is s times its pattern's. Its gradient is then s own + all: batch norm's
 * backward takes from every row a share that does not depend on its own scale. Every bound is the
 * sum of such parts, too: what a float step rounds of s own + all is no more than what it would
 * round of s |own| and |all|. */
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

/* Forward: first all values for the mean, then all for the variance. */
void norm_add_mean(struct norm *norm, double times, struct bounded x);
void norm_end_mean(struct norm *norm);
void norm_add_variance(struct norm *norm, double times, struct bounded x);
void norm_end_variance(struct norm *norm, double eps);
struct bounded norm_forward(const struct norm *norm, struct bounded x);

/* Backward: first all upstream for the two sums, of rows whose scales add up to scales; then each
 * value's gradient. */
void norm_add_upstream(struct norm *norm, double scales, double rows, struct bounded x,
                       const struct norm_gradient *g);
void norm_end_upstream(struct norm *norm);
struct norm_gradient norm_backward(const struct norm *norm, struct bounded x,
                                   const struct norm_gradient *g);

#endif
