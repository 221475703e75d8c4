/* measure/probe_step.h: the step of a cell that is checked before the first one of its warm-up; and
 * a step by itself that is checked as those of a cell are. */
#ifndef HARNESS_MEASURE_PROBE_H
#define HARNESS_MEASURE_PROBE_H

#include "measure/session.h"
#include "plan/cell.h"

/* One step on numbers with all the bits of a float, compared within derived bounds. 0; or -1 and
 * why in the cell. */
int measure_probe(const struct cell_config *config, struct session *session,
                  struct record_cell *cell);

/* The reference of exact set k, of numbers as wide as it proves exact. As verify_open; the caller
 * closes it in any case. */
int measure_reference(const struct cell_config *config, int k, struct workload_set *set,
                      struct verify **verify, struct text_error *why);
/* Opens that set on the session, and makes one step of it, of which so many values are compared
 * with the reference: none where there is no reference, and why. Errors DP_EFAULT a value is
 * another one.
 */
int measure_exact(const struct cell_config *config, int k, struct session *session, size_t *values,
                  struct text_error *why, struct dp_error *err);

/* Status and reason of a cell that ends here; returns -1. */
int cell_fail(struct record_cell *cell, enum record_status status, const char *reason);
/* Too little memory is a result, not a fault. */
enum record_status cell_status(const struct dp_error *err, enum record_status otherwise);

#endif
