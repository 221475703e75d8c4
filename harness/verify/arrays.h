/* verify/arrays.h: the reference of a step: as whole arrays, or as a chain of linear layers. It
 * shares no code with core. */
#ifndef HARNESS_VERIFY_ARRAYS_H
#define HARNESS_VERIFY_ARRAYS_H

#include "verify/model.h"

/* NAME.c: the reference of a workload that is no chain of linear layers. fill fills outputs, loss
 * and gradients from the parameters, also for the set of the probe; it returns 0, or -1 and the
 * reason. Without it, verify_sums_fill calls pattern for each pattern, with memory of so many bytes
 * for its model. */
struct verify_sums;
struct verify_reference {
    const char *workload;
    int (*fill)(struct verify *v, struct text_error *why);
    void (*pattern)(void *model, struct verify_sums *sums, size_t pattern);
    size_t bytes;
    const void *context; /* of the pattern */
};
/* verify/sums.c */
int verify_sums_fill(struct verify *v, const struct verify_reference *reference,
                     struct text_error *why);

/* Allocates n values and bounds. Returns 0, or -1 if memory is short. */
int reference_array_open(struct reference_array *array, size_t n);
int reference_arrays_open(struct verify *v, struct text_error *why);
/* Fills the reference again after the split has changed; for models whose rows depend on their
 * shard. */
int reference_arrays_again(struct verify *v, struct text_error *why);
/* A step of an exact model on other whole numbers than those of a set: parameters, inputs, and
 * factors of the outputs, whose sums the caller has proved exact. In a chain of linear layers, a
 * row of a weight has at most two numbers that are not 0. Returns 0, or -1 if memory is short. */
struct reference_numbers {
    size_t rows;
    const float *value, *input, *upstream;
};
int reference_given(const struct workload *workload, const struct reference_numbers *numbers,
                    struct verify **verify, struct text_error *why);
int reference_arrays_given(struct verify *v, const struct reference_numbers *numbers,
                           struct text_error *why);
/* chain.c: the same for chains of linear layers. */
int reference_chain_open(struct verify *v, struct text_error *why);
int reference_chain_given(struct verify *v, const struct reference_numbers *numbers,
                          struct text_error *why);
/* Computes row i of the weight gradient of a layer, with its bias gradient as element `in`, and in
 * a probe how far each number may be away. */
void reference_chain_row(const struct verify *v, const struct verify_layer *layer, size_t i,
                         double *want, double *bound);
/* Computes the loss and its bound from the outputs of a step; a row of outputs has width
 * numbers. */
void verify_loss_of(const struct verify *v, const float *outputs, size_t width,
                    struct reference_array *loss);
/* end.c: applies clipping to the gradients of a workload that clips them. It returns 0, or -1 and
 * the reason why a missing clip would not show. */
int reference_clip(struct verify *v, struct text_error *why);
double reference_factor(const struct verify *v); /* the factor of clipping; 1: it changed nothing */
/* Computes parameter p after the update, and its bounds. */
void reference_update(const struct verify *v, int p, double *want, double *bound);
/* The weight that row n has in the sums over rows. */
double reference_row(const struct verify *v, size_t n);
/* Computes the mean of -log softmax of the class of each place; the arguments are those of
 * verify_loss_of. */
void reference_mean_loss(const struct verify *v, const float *outputs,
                         struct reference_array *loss);
/* variants.c: the arrays of the model itself, kept while the reference computes a variant
 * (verify/maths.c) in their place. most: how far a variant was away at most, for each part of an
 * array. */
struct variants {
    double *value[REFERENCE_RESULTS], *bound[REFERENCE_RESULTS];
    double factor, norm, norm_bound; /* factor: by which gradients were multiplied for clipping */
    double most[REFERENCE_RESULTS][REFERENCE_PARTS], norm_most;
};
/* Moves the numbers out of the arrays. VERIFY_STARVED: memory is short. */
int variants_begin(struct variants *variants, struct reference_arrays *arrays, double factor,
                   struct text_error *why);
/* Reads the arrays, which now have the numbers of a variant, and sets them to zeros. factor: its
 * factor of clipping. The norm of the gradients changes by no more than the length of the vector of
 * all their changes. */
void variants_take(struct variants *variants, struct reference_arrays *arrays, double factor);
/* Puts the numbers of the model back, with wider bounds. */
void variants_end(struct variants *variants, struct reference_arrays *arrays);

#endif
