/* verify/verify.h: what one training step must give, computed without core.
 *
 * A float64 model of its own over the workload's integers: split, forward, loss, backward,
 * update. Because every sum of |terms| is below 2^24 (proved by verify_open), float results must
 * be these numbers bit for bit, in any order, on any backend, for any number of devices. The
 * numbers of a probe are rounded: each has a bound of its own on how far any float step may be
 * away. */
#ifndef HARNESS_VERIFY_H
#define HARNESS_VERIFY_H

#include <stddef.h>

#include "text/text.h"
#include "workload.h"

#define VERIFY_LEARNING_RATE 0x1p-4

/* What a step left behind, in host memory. Lists are weight, bias of layer 0, 1, ... */
struct verify_step {
    const size_t *shard; /* rows that each replica saw, n_shards of them */
    size_t n_shards;
    const float *outputs; /* [rows, last size] */
    float loss;
    double norm; /* of the gradients, where they are clipped then; else unused */
    const float *const *gradient;
    const float *const *updated; /* parameters after the update */
};

struct verify;

enum { VERIFY_STARVED = -2 }; /* memory is short: nothing is known of the step */

/* The reference of one set for a batch of rows on devices. A math that rounds the operands of
 * matrix products leaves integers alone that have no more significant bits than it keeps:
 * activations, weights and gradients are proved to be such, so the bits must be the same with every
 * math. 0; VERIFY_STARVED; -1: an exactness bound does not hold: why has the numbers. */
int verify_open(const struct workload *workload, const struct workload_set *set, size_t rows,
                size_t devices, enum dp_math math, struct verify **verify, struct text_error *why);
/* From now on the step is one of DistributedDataParallel: every device is a rank, rows are dealt
 * evenly (the first ranks have one more) and each rank's loss is rounded by itself, gradients are
 * the sums divided by the number of ranks. 0; VERIFY_STARVED; -1: that is not exact. */
bool verify_has_ranks(const struct workload *workload); /* all of it can be on one device */
int verify_ranks(struct verify *verify, const struct workload_set *set, struct text_error *why);
void verify_close(struct verify *verify); /* NULL allowed */

/* Compares every value. 0 and the number of values compared; 1 and the first difference in why;
 * VERIFY_STARVED. */
int verify_check(const struct verify *verify, const struct verify_step *step, size_t *values,
                 struct text_error *why);
/* The same, and, of a reference with bounds, the largest |difference| / bound: at most 1 of a right
 * step, infinite where there is no number. */
struct verify_found {
    size_t values;
    double ratio;
};
int verify_measure(const struct verify *verify, const struct verify_step *step,
                   struct verify_found *found, struct text_error *why);
/* Of a reference that is exact: its outputs [rows, last size], its loss, and its gradients in the
 * order of verify_step. The sign of a zero is nothing that it knows: all are +0. 0, or -1 and why.
 */
int verify_answer(const struct verify *verify, float outputs[], double *loss,
                  float *const gradient[], struct text_error *why);
/* Of a reference with bounds: the widest bound of an output, as a part of the output. */
double verify_width(const struct verify *verify);

#endif
