/* sweep/launched.h: a cell that several processes measure together, which a launcher starts. */
#ifndef HARNESS_SWEEP_LAUNCHED_H
#define HARNESS_SWEEP_LAUNCHED_H

#include "record/cell.h"

/* As launch_cell, through the launcher: the record is what the first process sent, if all processes
 * have begun, have ended well, and the launcher, too. Else it names who has not. */
int launched_cell(const char *launcher, const struct cell_config *config, double timeout_seconds,
                  struct record_cell *cell);

#endif
