/* verify/arrays.h: the reference of a step as whole arrays, for models that are not chains of
 * linear layers. Shares no code with core. */
#ifndef HARNESS_VERIFY_ARRAYS_H
#define HARNESS_VERIFY_ARRAYS_H

#include "verify/model.h"

#define REFERENCE_PARAMS WORKLOAD_PARAMS
enum { REFERENCE_PARTS = 3 }; /* at most */

/* Values and how far a float computation of them may be away; or, of exact models, the sums of
 * |terms|, which must be below 2^24. */
struct reference_array {
    size_t n;
    double *value, *bound;
    size_t parts; /* so many, of one size, are looked at one by one where a width is meant */
};

struct reference_arrays {
    bool exact;
    struct reference_array param[REFERENCE_PARAMS], grad[REFERENCE_PARAMS]; /* param: no bounds */
    struct reference_array output;                                          /* [patterns, width] */
    double *input, *upstream; /* of exact models: [patterns, size[0]], [patterns, width] */
    double norm, norm_bound;  /* of gradients that are clipped then, before it */
    double loss, loss_bound;  /* of exact models; others' follows from the outputs of the step */
    double operand; /* of exact models: no operand of a matrix product is larger, but parameters */
};

/* NAME.c: the reference of a workload that is no chain of linear layers: fills outputs, loss
 * and gradients from the parameters; probe: of the probe's set. 0, or -1 and why. */
typedef int verify_fill_fn(struct verify *v, const struct workload_set *set,
                           struct text_error *why);
struct verify_reference {
    const char *workload;
    verify_fill_fn *fill, *probe;
};
verify_fill_fn verify_cnn_probe; /* cnn_probe.c */

int reference_arrays_open(struct verify *v, const struct workload *workload,
                          const struct workload_set *set, struct text_error *why);
/* Of one whose rows depend on their shard, once the split is another. */
int reference_arrays_again(struct verify *v, const struct workload_set *set,
                           struct text_error *why);
/* Of an exact model, a step on other whole numbers than a set's: parameters, inputs and factors of
 * the outputs. 0, or -1 where memory is short. */
struct reference_numbers {
    size_t rows;
    const float *value, *input, *upstream;
};
int reference_arrays_given(const struct workload *workload, const struct reference_numbers *numbers,
                           struct verify **verify, struct text_error *why);
int reference_arrays_check(const struct verify *v, const struct verify_step *step,
                           struct verify_found *found, struct text_error *why);
/* The loss and its bound, of outputs of that width that are a step's own. */
void verify_loss_of(const struct verify *v, const float *outputs, size_t width,
                    struct reference_array *loss);
/* end.c: of a workload whose gradients are clipped, what clipping makes of them. 0, or -1 and why
 * it would not show. */
int reference_clip(struct verify *v, struct text_error *why);
double reference_factor(const struct verify *v); /* by which it multiplied them; 1: it did not */
/* Parameter p after the update, and its bounds. */
void reference_update(const struct verify *v, int p, double *want, double *bound);
/* The part of row n in the sums over rows. */
double reference_row(const struct verify *v, const struct workload_set *set, size_t n);
/* The mean of -log softmax of each place's class, as verify_loss_of. */
void reference_mean_loss(const struct verify *v, const float *outputs,
                         struct reference_array *loss);
enum { TWINS_ARRAYS = REFERENCE_PARAMS + 1 }; /* gradients, then outputs */
/* variants.c: the model itself, while its arrays are a twin's. most: of the twins, how far each
 * part of an array is away. */
struct variants {
    double *value[TWINS_ARRAYS], *bound[TWINS_ARRAYS];
    double factor, norm, norm_bound; /* factor: by which gradients were multiplied for clipping */
    double most[TWINS_ARRAYS][REFERENCE_PARTS], norm_most;
};
/* Takes the numbers out of the arrays. VERIFY_STARVED: memory is short. */
int variants_begin(struct variants *variants, struct reference_arrays *arrays, double factor,
                   struct text_error *why);
/* The arrays are a twin's, with the factor of its clipping, and zeros then. The norm of gradients
 * is away by no more than the length of all that they are. */
void variants_take(struct variants *variants, struct reference_arrays *arrays, double factor);
/* Puts all back, with wider bounds. */
void variants_end(struct variants *variants, struct reference_arrays *arrays);
void reference_arrays_close(struct reference_arrays *arrays);

#endif
