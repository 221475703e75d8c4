/* probe_maths.h: functions that the probes with arithmetic share: C functions queued on the slot of
 * their data. */
#ifndef CASES_PROBE_MATHS_H
#define CASES_PROBE_MATHS_H

#include "probes.h"

/* Arguments of every queued function; each uses what it needs. */
struct span {
    const float *a, *b;
    float *y;
    size_t rows, columns; /* of y */
    size_t in_rows;       /* of a */
    bool accumulate;
};

/* How many elements of each array a function uses. */
struct counts {
    size_t a, b, y;
};
int span_queue(struct dp_run *run, const struct dp_tensor *on, void (*function)(const void *),
               const struct span *span, struct counts counts, struct dp_error *err);

int probe_like(struct dp_run *run, const struct dp_tensor *like, struct dp_tensor *tensor,
               struct dp_error *err);
/* An output's gradient is wanted when the input's is, or when there is something to train. */
void probe_inherit(const struct dp_run *run, const struct dp_tensor *in, bool trained,
                   struct dp_tensor *out);
int probe_refuse(struct dp_error *err, int got, int want); /* so many tensors */

#endif
