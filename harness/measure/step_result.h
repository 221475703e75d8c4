/* measure/step_result.h: whether what the steps of a cell leave is right.
 *
 * The first step of each set is verified value by value. Every later one must have the digest of
 * that step, so a stale replica or a sum in another order shows; or its marks (measure/marks.h),
 * for which nothing of a model has to go to the host. Where the communicator may add in another
 * order in every step, and the workload rounds, each step is verified by value. */
#ifndef HARNESS_MEASURE_STEP_RESULT_H
#define HARNESS_MEASURE_STEP_RESULT_H

#include "measure/marks.h"

struct step_result {
    struct session *session;
    struct record_cell *cell;
    struct verify *verify[WORKLOAD_SETS]; /* the references, which the caller opens and closes */
    bool by_value;                        /* each step */
    bool marked;                          /* steps are compared by marks, where they lie */
    struct marks marks;                   /* opened, if they are; closed by the caller */
    bool verified[WORKLOAD_SETS];
    struct session_verified step[WORKLOAD_SETS]; /* by the verified step */
    struct step_result_marks {
        struct marks_digest bits;
        uint64_t rows; /* of each replica */
    } mark[WORKLOAD_SETS];
};

/* What the last step, which is of set k, left. 0, or -1: the cell has the reason, or err. */
int step_result_check(struct step_result *left, int k, size_t step, struct dp_error *err);
/* The step has wrong values: into the cell, with the reason. -1. */
int step_result_bad(const struct step_result *left, size_t step, const char *reason);

#endif
