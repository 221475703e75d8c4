/* verify/verify.h: the correct result of one training step, computed without core.
 *
 * It comes from a separate float64 model over the integers of the workload: split, forward, loss,
 * backward, update. Every sum of |terms| is below 2^24 (verify_open proves it), so float results
 * must be these numbers bit for bit, in any order, on any backend, for any number of devices. The
 * numbers of a probe are rounded: each has a bound on how far any float step may be away. */
#ifndef HARNESS_VERIFY_H
#define HARNESS_VERIFY_H

#include <stddef.h>

#include "text/text.h"
#include "workload.h"

#define VERIFY_LEARNING_RATE 0x1p-4
/* Whole numbers below it are exact in float. */
#define VERIFY_FLOAT_LIMIT 0x1p24

/* The results of a step, in host memory. Lists have weight, bias of layer 0, 1, ... */
struct verify_step {
    const size_t *shard; /* rows that each replica saw, n_shards of them */
    size_t n_shards;
    const float *outputs; /* [rows, last size] */
    float loss;
    double norm; /* of the gradients before they are clipped; unused if they are not */
    const float *const *gradient;
    const float *const *updated;      /* parameters after the update */
    const char *device[DP_MAX_SLOTS]; /* names in the order of shards; NULL: not known */
};

struct verify;

enum { VERIFY_STARVED = -2 }; /* memory is short: the step was not judged */

/* Opens the reference of one set for a batch of rows on devices. A math that rounds the operands of
 * matrix products does not change integers that have no more significant bits than it keeps.
 * Activations, weights and gradients are proved to be such integers, so the bits must be the same
 * with every math. Returns 0; VERIFY_STARVED; or -1: an exactness bound does not hold, and why has
 * the numbers. */
int verify_open(const struct workload *workload, const struct workload_set *set, size_t rows,
                size_t devices, enum dp_math math, struct verify **verify, struct text_error *why);
/* From now on the step is one of DistributedDataParallel: every device is a rank, rows are dealt
 * evenly (the first ranks have one more), the loss of each rank is rounded separately, and
 * gradients are the sums divided by the number of ranks. Returns 0; VERIFY_STARVED; or -1: the
 * result is not exact. */
bool verify_has_ranks(const struct workload *workload); /* all of it can be on one device */
int verify_ranks(struct verify *verify, struct text_error *why);
void verify_close(struct verify *verify); /* NULL allowed */

/* Compares every value. Returns 0 and the number of values compared; 1 and the first difference in
 * why; or VERIFY_STARVED. */
int verify_check(const struct verify *verify, const struct verify_step *step, size_t *values,
                 struct text_error *why);
/* The same; for a reference with bounds it also finds the largest |difference| / bound. This ratio
 * is at most 1 in a correct step, and infinite if a result is no number. */
struct verify_found {
    size_t values;
    double ratio;
};
int verify_measure(const struct verify *verify, const struct verify_step *step,
                   struct verify_found *found, struct text_error *why);
/* Gives the results of an exact reference: its outputs [rows, last size], its loss, and its
 * gradients in the order of verify_step. The reference does not know signs of zeros: all are +0.
 * Returns 0, or -1 and the reason. */
int verify_answer(const struct verify *verify, float outputs[], double *loss,
                  float *const gradient[], struct text_error *why);
/* The widest bound of an output of a reference with bounds, as a part of the output. */
double verify_width(const struct verify *verify);

#endif
