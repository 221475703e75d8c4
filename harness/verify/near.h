/* verify/near.h: numbers with a bound on how far any float computation of them may be away: one
 * rounding adds u times its size, a sum of n terms gamma_n times the sum of |terms| (in any order,
 * fused or not), and what the operands carry is added exactly. Quotients, square roots, exp,
 * sigmoid and tanh are taken to be within 4 units in the last place (8 u). Where no bound can be
 * given it is infinite, which equal_within never lets pass. Where the operands of a matrix product
 * are rounded first, as other maths than f32 do, `operands` of a sum says what each product may be
 * away. */
#ifndef HARNESS_VERIFY_NEAR_H
#define HARNESS_VERIFY_NEAR_H

#include <stddef.h>

/* One float rounding of a number of size 1, and of a sum of n terms. */
#define NEAR_U 0x1p-24
double near_gamma(double n);

struct near {
    double v, e;
};

struct near near_plus(struct near a, struct near b);
struct near near_times(struct near a, struct near b);
struct near near_over(struct near a, struct near b);
struct near near_one_minus(struct near a);
struct near near_root(struct near a);
struct near near_tanh(struct near a);
struct near near_sigmoid(struct near a);
/* share[j] = exp(a[j]) / sum over n of exp(a[k]), by way of a difference with any of a that is at
 * least as large as the others may be. */
void near_softmax(const struct near *a, size_t n, struct near *share);
/* The sum over n of w[k * stride] x[k], w exact. */
struct near near_dot(const double *w, size_t stride, const struct near *x, size_t n);

/* A sum of products of several kinds. What a matrix product may be added to, a bias or an earlier
 * sum, is one of its terms: who begins with it rounds it with every product. */
struct near_sum {
    double v, size, carried;
    size_t terms;    /* that are not exactly 0: adding 0 rounds nothing */
    double operands; /* 0: they are not rounded */
};

void near_sum_add(struct near_sum *sum, struct near a, struct near b);
void near_sum_add_dot(struct near_sum *sum, const double *w, size_t stride, const struct near *x,
                      size_t n);
void near_sum_add_one(struct near_sum *sum, struct near a);
/* What a sum of n terms may be away, by its size. Whoever rounds operands may cut off the last bits
 * of a sum, too. */
double near_rounding(double n, double operands);
struct near near_sum_done(const struct near_sum *sum);

#endif
