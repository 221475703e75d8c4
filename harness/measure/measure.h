/* measure/measure.h: measures and verifies one cell. */
#ifndef HARNESS_MEASURE_H
#define HARNESS_MEASURE_H

#include <stdio.h>

#include "dp.h"
#include "plan/cell.h"
#include "record/record.h"

struct dp_mpi;
struct node_watch;

/* Fills cell in any case, and frees nothing of it. trace: gets the line of measure/trace.h after
 * the measurement of a cell that went well; NULL: nothing is traced. mpi: the processes that
 * measure the cell together, each on its own devices, with the same number of them; NULL: this
 * process measures it alone. */
void cell_measure(const struct cell_config *config, FILE *trace, struct dp_mpi *mpi,
                  struct record_cell *cell);

/* Measures training steps of a workload, and stores times and status in the cell. trace: as for
 * cell_measure. gpus: are read around the steps. start_ns: when the cell began, on the clock of
 * sessions. */
void measure_model(const struct cell_config *config, FILE *trace, struct dp_group *group,
                   struct node_watch *gpus, uint64_t start_ns, struct record_cell *cell);

/* The same for a standalone collective on all devices. gpus: are read around the iterations.
 * start_ns: when the cell began, on the clock of sessions. */
void measure_collective(const struct cell_config *config, struct dp_group *group,
                        struct node_watch *gpus, uint64_t start_ns, struct record_cell *cell);

/* Runs one of several processes that a launcher has started. It measures its part of the cell, and
 * sends messages about it on standard output (launch/launcher_messages.h): that it has begun, that
 * it has ended; the first process also sends the record. If a signal ends it, or the time-out of
 * the cell, or because its launcher is gone, it sends that and ends. Returns an exit status. */
int process_run(const struct cell_config *config);

#endif
