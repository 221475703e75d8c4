/* measure/collective.h: the row collective: one collective of all devices by itself. */
#ifndef HARNESS_MEASURE_COLLECTIVE_H
#define HARNESS_MEASURE_COLLECTIVE_H

#include "dp.h"
#include "record/cell.h"

struct node_watch;

/* Into the cell, with its status. gpus: are read around its iterations. start_ns: when the cell
 * began, on the clock of sessions. */
void measure_collective(const struct cell_config *config, struct dp_group *group,
                        struct node_watch *gpus, uint64_t start_ns, struct record_cell *cell);

#endif
