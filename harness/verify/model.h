/* verify/model.h: the reference of a step, shared by verify/open.c, which makes it, and
 * verify/check.c, which compares with it. */
#ifndef HARNESS_VERIFY_MODEL_H
#define HARNESS_VERIFY_MODEL_H

#include <stdbool.h>

#include "verify/maths.h"
#include "verify/verify.h"

struct verify_layer {
    size_t in, out;
    struct workload_entry (*weight)[2];   /* [out] */
    double *bias;                         /* [out] */
    double *input;                        /* activations that enter, [patterns, in] */
    double *upstream;                     /* gradient of the sums that leave, [patterns, out] */
    double *input_error, *upstream_error; /* the probe: bounds of these; else NULL */
};

struct verify {
    struct workload workload;
    size_t rows, devices, layers;
    size_t kinds;         /* of rows: the patterns of the set */
    size_t patterns;      /* kinds; if rows depend on their shard, kinds of each device */
    bool straight;        /* no ReLU between the layers */
    double operand_limit; /* integers up to it are exact as operands of a matrix product */
    struct verify_layer layer[WORKLOAD_MAX_SIZES];
    double *output; /* [patterns, last size], also the input of no layer */
    double *weight; /* S_r, [patterns] */
    double loss;
    struct reference_arrays *arrays; /* of models that are no chain; NULL: the layers are above */
    bool ranks;                      /* a step of DistributedDataParallel */
    size_t mean_roundings; /* of a mean over ranks: 2 if their number is no power of two */
    size_t divisor;        /* of the gradients: 1, or the ranks of a mean */
    double bound;          /* above every sum of |terms| of the gradients */
    struct workload_set set;
    bool probe;      /* its numbers are rounded: all are compared within bounds */
    double operands; /* how far the math may move a product of two operands; f32: 0 */
    enum dp_math math;
    struct maths_variant variant; /* how operands are rounded now */
    double *output_error;         /* the probe of a chain: the bounds of output */
};

/* The device that has row n, by the split of the mode. */
size_t verify_shard(const struct verify *v, size_t n);
/* The number of the pattern that row n is. */
size_t verify_place(const struct verify *v, size_t n);
/* Computes row i of the weight gradient of a layer of a chain, with its bias gradient as element
 * `in`. */
void verify_gradient_row(const struct verify *v, const struct verify_layer *layer, size_t i,
                         double *want);
/* Allocates rows x columns zeros; NULL: memory is short. */
double *verify_numbers(size_t rows, size_t columns);
/* Returns VERIFY_STARVED, and says in why that memory is short. */
int verify_starved(struct text_error *why);

#endif
