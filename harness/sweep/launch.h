/* sweep/launch.h: a cell in a process of its own that reports by pipe and dies with this one. */
#ifndef HARNESS_LAUNCH_H
#define HARNESS_LAUNCH_H

#include "record/cell.h"

/* Runs one cell and fills its record in any case: what the worker sent, or how it ended.
 * 0; 1 when a stop was requested first (the worker was killed, there is no record). Frees nothing.
 */
int launch_cell(const struct cell_config *config, double timeout_seconds, struct record_cell *cell);

#endif
