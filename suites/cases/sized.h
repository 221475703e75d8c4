/* sized.h: large arrays whose elements show their index, and any number of small integers. They are
 * made and compared as float32, because a case of many sizes has no time to convert to double. */
#ifndef CASES_SIZED_H
#define CASES_SIZED_H

#include "check.h"

/* Returns one of -8..8 except 0, as a function of seed and i: every product and sum of a case is
 * exact. */
float sized_number(uint64_t seed, size_t i);
/* Returns n of them. */
float *sized_numbers(struct check *c, size_t n, uint64_t seed);
/* Makes an input [dim..] of these values. */
struct impl_array *sized_array(struct check *c, int ndim, const size_t dim[], const float values[]);
/* A forward in grad and train mode and its backward: y is the output, dx the gradient of the input
 * (NULL: not asked for). */
struct sized_pass {
    const struct impl_array *x, *g;
    struct impl_array *y, *dx;
};
void sized_run(struct check *c, struct impl_model *model, struct sized_pass *pass);
/* Large arrays are guarded while they are in use, not during every call of the case: the arrays
 * that were made since the mark are checked for the last time. */
struct guard;
struct guard *sized_mark(const struct check *c);
void sized_release(struct check *c, struct guard *mark);

/* These copy parameter i of a rank from and to float32. The values are guarded during the call
 * only. */
void sized_put(struct check *c, struct impl_model *model, int rank, enum impl_what what, int i,
               const float values[]);
void sized_is(struct check *c, struct impl_model *model, int rank, enum impl_what what, int i,
              size_t n, const float want[]);
/* Checks float32, n elements, and these bits (0 and -0 are equal). */
void sized_same(struct check *c, const char *what, const struct impl_array *got, size_t n,
                const float want[]);

/* Computes gradients[o * in + i] += sum over the rows of g[row][o] * x[row][i]; bias is the same
 * sum of g alone, NULL: none. */
void sized_products(float gradients[], float bias[], const float x[], const float g[], size_t rows,
                    size_t in, size_t out);
/* Computes y[row][o] = bias[o] + sum of weight[o][i] * x[row][i]; bias NULL: none. */
void sized_linear(float y[], const float weight[], const float bias[], const float x[], size_t rows,
                  size_t in, size_t out);
/* Computes dx[row][i] = sum of weight[o][i] * g[row][o]. */
void sized_back(float dx[], const float weight[], const float g[], size_t rows, size_t in,
                size_t out);

#endif
