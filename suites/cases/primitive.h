/* primitive.h: functions that the cases about scatter, broadcast, gather and apply share. */
#ifndef CASES_PRIMITIVE_H
#define CASES_PRIMITIVE_H

#include "check.h"

/* Returns n of the devices, in an order that is not 0, 1, 2, ...: of four 2, 0, 3, 1. */
const int *primitive_order(struct check *c, int n);

/* Returns the number of replicas for cases that sleep: as many as there are devices, at most 4. */
int primitive_some(const struct check *c);

/* Makes a scatter that must succeed. Returns the shards, *m of them. */
struct impl_array *primitive_scatter(struct check *c, const struct impl_array *input,
                                     const int devices[], int n, int dim, int *m);
/* Returns the status of the same with explicit sizes (NULL: none); the shards are in *shards. */
int primitive_try_scatter(struct check *c, const struct impl_array *input, const int devices[],
                          int n, int dim, const size_t sizes[], struct impl_array **shards, int *m);
struct impl_array *primitive_gather(struct check *c, const struct impl_array parts[], int n,
                                    int dim, int device);
int primitive_try_gather(struct check *c, const struct impl_array parts[], int n, int dim,
                         int device);

/* Returns the elements first .. first + count of dimension dim of an array, in row-major order. */
const double *primitive_slice(struct check *c, const struct impl_array *whole, int dim,
                              size_t first, size_t count);
/* Checks that shards[i] are the next sizes[i] of dimension dim of whole, and are on devices[i]. */
void primitive_check_shards(struct check *c, const struct impl_array *whole, int dim,
                            const struct impl_array shards[], int m, const size_t sizes[],
                            const int devices[]);

/* Makes n parts: part i has sizes[i] in dimension dim of `like`, and is on devices[i]. They are
 * filled with first, first + 1, ... from part to part. */
struct impl_array *primitive_parts(struct check *c, const struct impl_array *like, int dim, int n,
                                   const size_t sizes[], const int devices[], double first);
/* Checks the result of a gather of these parts. */
void primitive_check_whole(struct check *c, const struct impl_array *whole,
                           const struct impl_array parts[], int n, int dim, int device);

/* Returns an upstream gradient with shape and device of y. */
struct impl_array *primitive_upstream(struct check *c, const struct impl_array *y,
                                      const double values[]);
/* Returns the sum of values[first..first + count). */
double primitive_sum(const double values[], size_t first, size_t count);

/* ---- calls of parallel_apply ----------------------------------------------------------------- */

/* Returns n calls, which still need a module (description). Call i works on x[i] on devices[i]: one
 * column of `rows` different numbers, which differ from those of the other calls. */
struct impl_call *apply_calls(struct check *c, const int devices[], int n, size_t rows);
/* Returns {"layers":[LAYERS]}. */
const char *apply_module(struct check *c, const char *layers);
/* Makes all n calls in grad and train mode. */
int apply_try(struct check *c, struct impl_call *calls, int n);

#endif
