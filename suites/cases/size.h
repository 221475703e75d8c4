/* size.h: area SIZE: the sizes, the data, and the tables that are not in size.c. */
#ifndef CASES_SIZE_H
#define CASES_SIZE_H

#include "check.h"

/* ---- size_data.c ----------------------------------------------------------------------------- */

/* Sizes at and next to limits, and some that the seed draws from 33 to 4096. */
enum { SIZE_EDGES = 39 };
extern const size_t size_edges[SIZE_EDGES];
size_t size_drawn(const struct check *c, size_t i);

/* The model is h = weight x + bias of three columns, y = 3 h + 1. The struct has a batch of n rows,
 * and all its results, which are below 2^24 for 4097 rows. */
#define SIZE_LAYERS                                                                                \
    "{\"kind\":\"linear\",\"in\":3,\"out\":2,\"weight\":[1,-2,3,4,-5,2],\"bias\":[7,-3]},"         \
    "{\"kind\":\"affine\",\"weight\":[3],\"bias\":[1]}"
enum { SIZE_IN = 3, SIZE_OUT = 2, SIZE_PARAMS = 4 };
extern const size_t size_params[SIZE_PARAMS];
struct size_batch {
    size_t n;
    struct impl_array *x, *g;
    float *y, *dx, *grad[SIZE_PARAMS];
};
void size_batch_make(struct check *c, struct size_batch *b, size_t n);

/* Large parameters and small data: linear layers 1 -> m, m -> 1, 1 -> m3, of which five parameters
 * are large, and n rows. The sums are exact, and no two large gradients have the same numbers. */
enum { CHAIN_PARAMS = 6, CHAIN_ROWS = 8 };
struct size_chain {
    size_t m, m3, n;
    size_t size[CHAIN_PARAMS];
    float *value[CHAIN_PARAMS], *grad[CHAIN_PARAMS];
    float *x, *g, *y; /* [n, 1], [n, m3], [n, m3] */
};
void size_chain_make(struct check *c, struct size_chain *chain, size_t m, size_t m3, size_t n);
const char *size_chain_layers(struct check *c, const struct size_chain *chain);

#endif
