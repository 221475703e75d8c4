/* measure/steps.h: how many steps a cell has, whatever a step is: a warm-up by a rule that does not
 * depend on the times of the steps, then the measured steps; and what else the machine did during
 * them. */
#ifndef HARNESS_MEASURE_STEPS_H
#define HARNESS_MEASURE_STEPS_H

#include "dp.h"
#include "plan/cell.h"

struct steps {
    const struct cell_limits *limits;
    struct dp_group *group;
    struct record_cell *cell; /* with capacity for CELL_WARMUP_MAX and limits->max_steps samples */
    size_t n;                 /* steps run so far, those of the warm-up included */
    /* Runs step n, times and checks it, and counts it in n once it is timed. Returns 0, or -1: the
     * cell has the reason. */
    int (*run)(void *self, bool warmup);
    void *self;
    /* Called after the warm-up, before the measured steps; NULL: there is nothing to do. Returns 0,
     * or -1: the cell has the reason. */
    int (*ready)(void *self);
    struct node_watch *gpus; /* are read around the measured steps; NULL: none */
    /* The clock that decides when the steps end; NULL: session_clock_ns. */
    uint64_t (*now)(const void *self);
};

/* Runs all steps. Returns 0, or -1: a step could not be run, or was wrong. */
int steps_run(struct steps *steps);
/* The arrays of the cell have capacity for the most steps that there can be. Keeps only the steps
 * that were run, and makes the first of them begin at time 0. */
void steps_trim(struct steps *steps);

/* Notes when step n began, and how long it took. */
void steps_note(struct steps *steps, uint64_t start_ns, uint64_t step_ns, bool warmup);

#endif
