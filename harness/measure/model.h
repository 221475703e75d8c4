/* measure/model.h: training steps of a workload, in the modes that have a model. */
#ifndef HARNESS_MEASURE_MODEL_H
#define HARNESS_MEASURE_MODEL_H

#include <stdio.h>

#include "dp.h"
#include "record/cell.h"

struct node_watch;

/* Into the cell, with its status. trace: as of cell_measure. gpus: are read around its steps.
 * start_ns: when the cell began, on the clock of sessions. */
void measure_model(const struct cell_config *config, FILE *trace, struct dp_group *group,
                   struct node_watch *gpus, uint64_t start_ns, struct record_cell *cell);

#endif
