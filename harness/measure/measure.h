/* measure/measure.h: a cell, measured and verified. */
#ifndef HARNESS_MEASURE_H
#define HARNESS_MEASURE_H

#include <stdio.h>

#include "dp.h"
#include "plan/cell.h"
#include "record/record.h"

struct dp_mpi;
struct node_watch;

/* Fills cell in any case. Frees nothing of it. trace: gets the line of measure/trace.h behind the
 * measurement of a cell that went well; NULL: nothing is traced. mpi: of the
 * processes that measure it together, each its own devices, all the same; NULL: this one alone. */
void cell_measure(const struct cell_config *config, FILE *trace, struct dp_mpi *mpi,
                  struct record_cell *cell);

/* Training steps of a workload. Into the cell, with its status. trace: as of cell_measure. gpus:
 * are read around its steps. start_ns: when the cell began, on the clock of sessions. */
void measure_model(const struct cell_config *config, FILE *trace, struct dp_group *group,
                   struct node_watch *gpus, uint64_t start_ns, struct record_cell *cell);

/* The same of one collective of all devices by itself. gpus: are read around its iterations.
 * start_ns: when the cell began, on the clock of sessions. */
void measure_collective(const struct cell_config *config, struct dp_group *group,
                        struct node_watch *gpus, uint64_t start_ns, struct record_cell *cell);

/* One of several processes that a launcher has started: measures its part of the cell, and says on
 * standard output what became of it (files/launcher_messages.h): that it has begun, that it has
 * ended, and the first one the record, too. Told to end by a signal, or by the cell's time-out, or
 * when its launcher is gone, it says so and ends. An exit status. */
int process_run(const struct cell_config *config);

#endif
