/* coalesce.h: lists of tensors of mixed types, for the files of area COAL. */
#ifndef CASES_COALESCE_H
#define CASES_COALESCE_H

#include "check.h"

struct kind {
    enum impl_dtype dtype;
    int ndim;
    size_t dim[2];
};

/* Makes n tensors on a device, with different contents drawn from seed: bits that no other type can
 * carry, yet exact in sums of eight lists. */
struct impl_array *coalesce_make(struct check *c, const struct kind kinds[], int n, uint64_t seed,
                                 int device);
/* Makes `count` outputs, each with the capacity for the largest of the kinds. */
struct impl_array *coalesce_room(struct check *c, const struct kind kinds[], int n, int count);
/* Returns n tensors, the sums of k lists that were made with seed, seed + 1, ... */
struct impl_array *coalesce_sums(struct check *c, const struct kind kinds[], int n, int k,
                                 uint64_t seed);
/* Adds k lists of n tensors, one on each device, on the first of them, and checks the sums. */
struct impl_reduce coalesce_reduce(struct check *c, const struct kind kinds[], int n, int k,
                                   const int ids[], size_t buffer);
/* Adds 1 to every element. */
void coalesce_add_one(struct impl_array *array);

#endif
