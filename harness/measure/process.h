/* measure/process.h: the worker of a cell as one of several processes that a launcher has started.
 */
#ifndef HARNESS_MEASURE_PROCESS_H
#define HARNESS_MEASURE_PROCESS_H

#include "record/cell.h"

/* Measures its part of the cell, and says on standard output what became of it (files/said.h): that
 * it has begun, that it has ended, and the first one the record, too. Told to end by a signal, or
 * by the cell's time-out, or when its launcher is gone, it says so and ends. An exit status. */
int process_run(const struct cell_config *config);

#endif
