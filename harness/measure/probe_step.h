/* measure/probe_step.h: the step of a cell that is checked before the first one of its warm-up. */
#ifndef HARNESS_MEASURE_PROBE_H
#define HARNESS_MEASURE_PROBE_H

#include "measure/session.h"
#include "record/cell.h"

/* One step on numbers with all the bits of a float, compared within derived bounds. 0; or -1 and
 * why in the cell. */
int measure_probe(const struct cell_config *config, struct session *session,
                  struct record_cell *cell);

/* Status and reason of a cell that ends here; returns -1. */
int cell_fail(struct record_cell *cell, enum record_status status, const char *reason);
/* Too little memory is a result, not a fault. */
enum record_status cell_status(const struct dp_error *err, enum record_status otherwise);

#endif
