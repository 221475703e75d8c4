/* measure/probe_step.h: the step of a cell that is checked before the first one of its warm-up; and
 * a standalone step that is checked like those of a cell. */
#ifndef HARNESS_MEASURE_PROBE_H
#define HARNESS_MEASURE_PROBE_H

#include "measure/session.h"
#include "plan/cell.h"

/* Runs one step on numbers that use all the bits of a float, and compares it within derived bounds.
 * Returns 0; or -1, and the reason is in the cell. */
int measure_probe(const struct cell_config *config, struct session *session,
                  struct record_cell *cell);

/* Opens the reference of exact set k, with numbers as wide as it proves exact. It returns what
 * verify_open does; the caller closes it in any case. */
int measure_reference(const struct cell_config *config, int k, struct workload_set *set,
                      struct verify **verify, struct text_error *why);
/* Opens that set on the session, and runs one step of it. *values: how many values were compared
 * with the reference; 0 if there is no reference, and why has the reason. DP_EFAULT: a value is
 * wrong. */
int measure_exact(const struct cell_config *config, int k, struct session *session, size_t *values,
                  struct text_error *why, struct dp_error *err);

/* Sets status and reason of a cell that ends here; returns -1. */
int cell_fail(struct record_cell *cell, enum record_status status, const char *reason);
/* Too little memory is a result, not a failure. */
enum record_status cell_status(const struct dp_error *err, enum record_status otherwise);

#endif
