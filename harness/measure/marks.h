/* measure/marks.h: digests of the results of a step, computed where these are: outputs, loss,
 * gradients and parameters of all local ranks, whose bits each device folds (dp_tensor_fold).
 *
 * Two steps with the same bits have the same digests, and nothing of a model has to go to the host
 * to compare them. */
#ifndef HARNESS_MEASURE_MARKS_H
#define HARNESS_MEASURE_MARKS_H

#include "measure/session.h"

enum { MARKS_PLACES = DP_MAX_SLOTS + 1 }; /* the host, then the slots by index */

struct marks {
    struct session *session;
    struct dp_tensor at[MARKS_PLACES]; /* slot NULL: no step has results there */
    uint32_t *read;                    /* the digest of one place; zeros before a fold */
};

/* A digest for each place; 0: no results are there. */
struct marks_digest {
    uint64_t at[MARKS_PLACES];
};

/* It is plain data; the caller closes it in any case, before the session. */
int marks_open(struct marks *marks, struct session *session, struct dp_error *err);
void marks_close(struct marks *marks);
/* Sets the digests of all places to 0. */
int marks_clear(struct marks *marks, struct dp_error *err);
/* Folds the results of the last step into the digests; this is queued after the step. */
int marks_fold(struct marks *marks, struct dp_error *err);
/* Reads the digests of all results that were folded since they were set to 0. */
int marks_digest(struct marks *marks, struct marks_digest *digest, struct dp_error *err);
/* Reads the digests of the last step only. DP_EFAULT: a place is unchanged, as if nothing had been
 * folded. */
int marks_of_step(struct marks *marks, struct marks_digest *digest, struct dp_error *err);
/* The slot of the first place where a and b differ; NULL: none. */
const struct dp_slot *marks_differ(const struct marks *marks, const struct marks_digest *a,
                                   const struct marks_digest *b);

#endif
