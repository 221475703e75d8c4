/* verify/model.h: the reference of a step, shared by verify/open.c, which makes it, and
 * verify/check.c, which compares with it; verify/model.c has what both need. */
#ifndef HARNESS_VERIFY_MODEL_H
#define HARNESS_VERIFY_MODEL_H

#include <math.h>
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
/* Adds the term of a pattern of an exact model, once for each of its rows. */
static inline void reference_add(struct reference_array *grad, size_t i, double times, double term)
{
    grad->value[i] += times * term;
    grad->bound[i] += times * fabs(term);
}

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
/* Returns 0 if the sums of |terms| of whole numbers are so small that they are exact; else -1, and
 * says so in why. */
int verify_exact(double largest, struct text_error *why);

/* ---- the probe step of chains of linear layers, whose numbers are rounded: probe.c ------------
 */

/* Fills activations, gradients of them and outputs, with bounds; inputs and upstream must be filled
 * before. */
int verify_probe_chain(struct verify *v, struct text_error *why);
/* Computes the bounds of row i of a weight's gradient, which is want, and that of the bias's as
 * element `in`. */
void verify_probe_row(const struct verify *v, const struct verify_layer *layer, size_t i,
                      const double *want, double *bound);
/* Turns bounds of n gradients into those of the updated parameters. They have the roundings of the
 * product and the difference, and the errors of the gradients. */
void verify_probe_update(size_t n, const double *updated, double *bound);

#endif
