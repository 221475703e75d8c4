/* verify/bounded.h: numbers with a bound on how far any float computation of them may be away. One
 * rounding adds u times the size of the number. A sum of n terms adds gamma_n times the sum of
 * |terms| (in any order, fused or not). The bounds of the operands are added exactly. Quotients,
 * square roots, exp, sigmoid and tanh are taken to be within 4 units in the last place (8 u). If no
 * bound can be given, it is infinite, and equal_within never accepts that. Maths other than f32
 * round the operands of a matrix product first; then `operands` of a sum says how far each product
 * may be away. */
#ifndef HARNESS_VERIFY_BOUNDED_H
#define HARNESS_VERIFY_BOUNDED_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>

/* The relative error of one float rounding, and of a sum of n terms. */
#define BOUNDED_U 0x1p-24
double bounded_gamma(double n);

struct bounded {
    double v, e;
};

/* The error of a product that is carried from its factors. */
static inline double bounded_carried(struct bounded a, struct bounded b)
{
    return fabs(a.v) * b.e + fabs(b.v) * a.e + a.e * b.e;
}

struct bounded bounded_plus(struct bounded a, struct bounded b);
struct bounded bounded_times(struct bounded a, struct bounded b);
struct bounded bounded_over(struct bounded a, struct bounded b);
struct bounded bounded_one_minus(struct bounded a);
struct bounded bounded_root(struct bounded a);
struct bounded bounded_tanh(struct bounded a);
struct bounded bounded_sigmoid(struct bounded a);
/* share[j] = exp(a[j]) / sum over n of exp(a[k]). The computation may subtract any number that is
 * at least as large as every a may be. */
void bounded_softmax(const struct bounded *a, size_t n, struct bounded *share);
/* The sum over n of w[k * stride] x[k], where w is exact. */
struct bounded bounded_dot(const double *w, size_t stride, const struct bounded *x, size_t n);

/* A sum of products of several kinds. A matrix product may be added to a bias or to an earlier sum.
 * That number is one of the terms: an implementation that begins with it rounds it with every
 * product. */
struct bounded_sum {
    double v, size, carried;
    size_t terms;    /* that are not exactly 0: adding 0 rounds nothing */
    double operands; /* 0: they are not rounded */
    bool whole;      /* all numbers are: nothing rounds, so only v and size are added up */
};

/* Adds a times b. It is inline because a reference calls it for every product. */
static inline void bounded_sum_add(struct bounded_sum *sum, struct bounded a, struct bounded b)
{
    const double product = fabs(a.v * b.v);

    if (sum->whole) {
        sum->v += a.v * b.v;
        sum->size += product;
        return;
    }
    const double moved = bounded_carried(a, b);

    if (product + moved == 0)
        return;
    sum->v += a.v * b.v;
    sum->size += product;
    sum->carried += moved + sum->operands * (product + moved);
    ++sum->terms;
}

void bounded_sum_add_dot(struct bounded_sum *sum, const double *w, size_t stride,
                         const struct bounded *x, size_t n);
static inline void bounded_sum_add_one(struct bounded_sum *sum, struct bounded a)
{
    bounded_sum_add(sum, a, (struct bounded){1, 0});
}

/* How far a sum of n terms may be away, as a part of its size. A math that rounds operands may also
 * cut off the last bits of a sum. */
double bounded_rounding(double n, double operands);
struct bounded bounded_sum_rounded(const struct bounded_sum *sum);
/* The error of a sum of whole numbers is by how much its |terms| exceed it. */
static inline struct bounded bounded_sum_done(const struct bounded_sum *sum)
{
    return sum->whole ? (struct bounded){sum->v, sum->size - fabs(sum->v)}
                      : bounded_sum_rounded(sum);
}

#endif
