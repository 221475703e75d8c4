/* primitive.h: what the cases about scatter, broadcast, gather and apply have in common. */
#ifndef CASES_PRIMITIVE_H
#define CASES_PRIMITIVE_H

#include "check.h"

/* n of the devices there are, in an order that is not 0, 1, 2, ...: of four 2, 0, 3, 1. */
const int *primitive_order(struct check *c, int n);

/* The number of replicas for cases that sleep: as many as there are devices, at most 4. */
int primitive_some(const struct check *c);

/* Must succeed. The shards are the arrays returned, *m of them. */
struct impl_array *primitive_scatter(struct check *c, const struct impl_array *input,
                                     const int devices[], int n, int dim, int *m);
/* The status of the same with explicit sizes (NULL: none), into *shards. */
int primitive_try_scatter(struct check *c, const struct impl_array *input, const int devices[],
                          int n, int dim, const size_t sizes[], struct impl_array **shards, int *m);
struct impl_array *primitive_gather(struct check *c, const struct impl_array parts[], int n,
                                    int dim, int device);
int primitive_try_gather(struct check *c, const struct impl_array parts[], int n, int dim,
                         int device);

/* Elements first .. first + count of dimension dim of an array, in row-major order. */
const double *primitive_slice(struct check *c, const struct impl_array *whole, int dim,
                              size_t first, size_t count);
/* shards[i] are the next sizes[i] of dimension dim of whole, and lie on devices[i]. */
void primitive_check_shards(struct check *c, const struct impl_array *whole, int dim,
                            const struct impl_array shards[], int m, const size_t sizes[],
                            const int devices[]);

/* n parts, i with sizes[i] in dimension dim of `like` and on devices[i], filled with first,
 * first + 1, ... from part to part. */
struct impl_array *primitive_parts(struct check *c, const struct impl_array *like, int dim, int n,
                                   const size_t sizes[], const int devices[], double first);
/* What gather makes of them. */
void primitive_check_whole(struct check *c, const struct impl_array *whole,
                           const struct impl_array parts[], int n, int dim, int device);

/* An upstream gradient: shape and device of y. */
struct impl_array *primitive_upstream(struct check *c, const struct impl_array *y,
                                      const double values[]);
/* The sum of values[first..first + count). */
double primitive_sum(const double values[], size_t first, size_t count);

#endif
