/* measure/steps.h: how many steps a cell has, whatever a step is: warm-up by a rule that no time
 * changes, then those that are measured, and what else the machine did meanwhile. */
#ifndef HARNESS_MEASURE_STEPS_H
#define HARNESS_MEASURE_STEPS_H

#include "dp.h"
#include "plan/cell.h"

struct steps {
    const struct cell_limits *limits;
    struct dp_group *group;
    struct record_cell *cell; /* with room for CELL_WARMUP_MAX and limits->max_steps samples */
    size_t n;                 /* run so far, those of the warm-up included */
    /* Runs step n, times and checks it, and counts it in n once it is timed. 0, or -1: the cell has
     * the reason. */
    int (*run)(void *self, bool warmup);
    void *self;
    /* Behind the warm-up, before what is measured; NULL: nothing. 0, or -1 likewise. */
    int (*ready)(void *self);
    struct node_watch *gpus; /* are read around the measured steps; NULL: none */
    /* The clock by which they end; NULL: session_clock_ns. */
    uint64_t (*now)(const void *self);
};

/* All of them. 0, or -1: a step could not be run, or was wrong. */
int steps_run(struct steps *steps);
/* The arrays of the cell were made for the most steps that there can be: keeps those that were run,
 * of which the first began at time 0. */
void steps_trim(struct steps *steps);

/* When step n began, and how long it took. */
void steps_note(struct steps *steps, uint64_t start_ns, uint64_t step_ns, bool warmup);

#endif
