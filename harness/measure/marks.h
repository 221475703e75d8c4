/* measure/marks.h: what a step leaves, told apart where it lies: outputs, loss, gradients and
 * parameters of all ranks here, of which each device folds the bits (dp_tensor_fold).
 *
 * Two steps that leave the same bits leave the same marks, and nothing of a model has to go to the
 * host for it. */
#ifndef HARNESS_MEASURE_MARKS_H
#define HARNESS_MEASURE_MARKS_H

#include "measure/session.h"

enum { MARKS_PLACES = DP_MAX_SLOTS + 1 }; /* the host, then the slots by index */

struct marks {
    struct session *session;
    struct dp_tensor at[MARKS_PLACES]; /* slot NULL: no step leaves anything there */
    uint32_t *read;                    /* of one place; 0s before a fold */
};

/* Of each place; 0: nothing is left there. */
struct marks_digest {
    uint64_t at[MARKS_PLACES];
};

/* Plain data; the caller closes it in any case, before the session. */
int marks_open(struct marks *marks, struct session *session, struct dp_error *err);
void marks_close(struct marks *marks);
/* All 0 again. */
int marks_clear(struct marks *marks, struct dp_error *err);
/* Folds what the last step left to what is there, queued behind it. */
int marks_fold(struct marks *marks, struct dp_error *err);
/* Of all that was folded since they were 0. */
int marks_digest(struct marks *marks, struct marks_digest *digest, struct dp_error *err);
/* Of the last step alone. DP_EFAULT: it leaves no marks, as if nothing had been folded. */
int marks_of_step(struct marks *marks, struct marks_digest *digest, struct dp_error *err);
/* The slot of the first place where two differ; NULL: none. */
const struct dp_slot *marks_differ(const struct marks *marks, const struct marks_digest *a,
                                   const struct marks_digest *b);

#endif
