/* verify_near.h: numbers with a bound on how far any float computation of them may be away: one
 * rounding adds u times its size, a sum of n terms gamma_n times the sum of |terms| (in any order,
 * fused or not), and what the operands carry is added exactly. sigmoid and tanh are taken to be
 * within 4 units in the last place (8 u). */
#ifndef HARNESS_VERIFY_NEAR_H
#define HARNESS_VERIFY_NEAR_H

#include <stddef.h>

struct near {
    double v, e;
};

struct near near_plus(struct near a, struct near b);
struct near near_times(struct near a, struct near b);
struct near near_one_minus(struct near a);
struct near near_tanh(struct near a);
struct near near_sigmoid(struct near a);
/* The sum over n of w[k * stride] x[k], w exact. */
struct near near_dot(const double *w, size_t stride, const struct near *x, size_t n);

#endif
