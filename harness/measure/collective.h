/* measure/collective.h: the row collective: one collective of all devices by itself. */
#ifndef HARNESS_MEASURE_COLLECTIVE_H
#define HARNESS_MEASURE_COLLECTIVE_H

#include "dp.h"
#include "record/cell.h"

/* Into the cell, with its status. start_ns: when the cell began, on the clock of sessions. */
void measure_collective(const struct cell_config *config, struct dp_group *group, uint64_t start_ns,
                        struct record_cell *cell);

#endif
