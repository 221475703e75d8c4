/* verify/model.h: the reference of a step, which chain.c and arrays.c make, and check.c compares
 * with a step; verify/model.c has what all need. */
#ifndef HARNESS_VERIFY_MODEL_H
#define HARNESS_VERIFY_MODEL_H

#include <stdbool.h>

#include "dp.h"
#include "verify/verify.h"

/* A variant of the model; f32 is the model itself. */
struct maths_variant {
    enum dp_math math;
    bool scatters;
};

/* Returns x as an operand. It is unchanged if the math keeps all of its bits. bf16 moves it by at
 * most half of the last of 8 bits; tf32, which a GPU may cut off, by at most the last of 11
 * bits. */
double maths_operand(struct maths_variant variant, double x);

struct verify_layer {
    size_t in, out;
    struct workload_entry (*weight)[2];   /* [out] */
    double *bias;                         /* [out] */
    double *input;                        /* activations that enter, [patterns, in] */
    double *upstream;                     /* gradient of the sums that leave, [patterns, out] */
    double *input_error, *upstream_error; /* the probe: bounds of these; else NULL */
};

#define REFERENCE_PARAMS WORKLOAD_PARAMS
enum { REFERENCE_PARTS = 3 }; /* at most */

/* Values, each with a bound on how far a float computation of it may be away. In exact models the
 * bound is the sum of |terms| instead, which must be below 2^24. */
struct reference_array {
    size_t n;
    double *value, *bound;
    size_t parts; /* parts of equal size; a width is computed for each part */
};

struct reference_arrays {
    bool exact;
    struct reference_array param[REFERENCE_PARAMS], grad[REFERENCE_PARAMS]; /* param: no bounds */
    struct reference_array output;                                          /* [patterns, width] */
    double *input, *upstream; /* of exact models: [patterns, size[0]], [patterns, width] */
    double norm, norm_bound;  /* of the gradients before they are clipped */
    double loss, loss_bound;  /* of exact models; else it follows from the outputs */
    double operand;           /* of exact models: the largest operand, except parameters */
};

/* Result i of these: the gradients, then the outputs. */
enum { REFERENCE_RESULTS = REFERENCE_PARAMS + 1 };
struct reference_array *reference_result(struct reference_arrays *arrays, int i);
void reference_clear(struct reference_array *array); /* sets values and bounds to 0 */

struct verify {
    struct workload workload;
    size_t rows, devices;
    size_t layers;        /* of a chain of linear layers; 0: it is none */
    size_t kinds;         /* of rows: the patterns of the set */
    size_t patterns;      /* kinds; if rows depend on their shard, kinds of each device */
    bool straight;        /* no ReLU between the layers */
    double operand_limit; /* integers up to it are exact as operands of a matrix product */
    double sum_limit;     /* ... below it as sums of terms */
    struct verify_layer layer[WORKLOAD_MAX_SIZES];
    double *weight;                  /* S_r, [patterns] */
    struct reference_arrays *arrays; /* of a chain only outputs and loss; the layers are above */
    bool ranks;                      /* a step of DistributedDataParallel */
    size_t mean_roundings; /* of a mean over ranks: 2 if their number is no power of two */
    size_t divisor;        /* of the gradients: 1, or the ranks of a mean */
    double bound;          /* above every sum of |terms| of the gradients */
    struct workload_set set;
    bool probe;      /* its numbers are rounded: all are compared within bounds */
    double operands; /* how far the math may move a product of two operands; f32: 0 */
    enum dp_math math;
    struct maths_variant variant; /* how operands are rounded now */
};

/* Allocates a reference of that workload. verify_close frees it. */
struct verify *verify_new(const struct workload *workload);
/* The device that has row n, by the split of the mode. */
size_t verify_shard(const struct verify *v, size_t n);
/* Adds to "outputs, row 8: .." which device computed that row, and returns 1. No other number of a
 * step is of one device: gradients are sums over all. */
int verify_name_device(const struct verify *v, const char *const name[], size_t n,
                       struct text_error *why);
/* The number of the pattern that row n is. */
size_t verify_place(const struct verify *v, size_t n);
/* Allocates rows x columns zeros; NULL: memory is short. */
double *verify_numbers(size_t rows, size_t columns);
/* Returns VERIFY_STARVED, and says in why that memory is short. */
int verify_starved(struct text_error *why);
/* Returns 0 if the sums of |terms| of whole numbers are so small that they are exact; else -1, and
 * says so in why. */
int verify_exact(double largest, struct text_error *why);

#endif
