/* measure/step_result.h: checks the results of the steps of a cell.
 *
 * The first step of each set is verified value by value. Every later one must have the digest of
 * that step, so a stale replica or a sum in another order shows; or the same digests on the devices
 * (measure/marks.h), for which nothing of a model has to go to the host. If the communicator may
 * add in another order in every step, and the workload rounds, each step is verified by value. */
#ifndef HARNESS_MEASURE_STEP_RESULT_H
#define HARNESS_MEASURE_STEP_RESULT_H

#include "measure/marks.h"

struct step_result {
    struct session *session;
    struct record_cell *cell;
    struct verify *verify[WORKLOAD_SETS]; /* the references, which the caller opens and closes */
    bool by_value;                        /* each step is verified by value */
    bool marked;        /* steps are compared by digests that the devices compute */
    struct marks marks; /* opened if marked; closed by the caller */
    bool verified[WORKLOAD_SETS];
    struct session_verified step[WORKLOAD_SETS]; /* digests of the verified step */
    struct step_result_marks {
        struct marks_digest bits;
        uint64_t rows; /* of each replica */
    } mark[WORKLOAD_SETS];
};

/* Checks the results of the last step, which is one of set k. Returns 0, or -1: the cell has the
 * reason, or err. */
int step_result_check(struct step_result *left, int k, size_t step, struct dp_error *err);
/* Notes in the cell that the step has wrong values, and the reason. Returns -1. */
int step_result_bad(const struct step_result *left, size_t step, const char *reason);
/* Judges a cell in which nothing failed: it must also show that something was done. measured: the
 * timed steps of each set. */
void step_result_judge(struct step_result *left, const size_t measured[WORKLOAD_SETS]);
/* Sets the status of a cell in which nothing failed; it fails if its record is not that of such a
 * cell. */
void cell_pass(struct record_cell *cell);

#endif
