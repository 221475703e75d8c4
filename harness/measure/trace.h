/* measure/trace.h: a few steps of a cell as events of Chrome's trace format, which Perfetto and
 * chrome://tracing show: the cell is a process there, each queue of a device a thread.
 *
 * Timed steps are never traced, and every traced step is checked like a timed one. */
#ifndef HARNESS_MEASURE_TRACE_H
#define HARNESS_MEASURE_TRACE_H

#include <stdio.h>

#include "measure/session.h"

/* Runs the steps on an open session and prints their events in one line: each is an object, with a
 * comma between two. Times are in microseconds, from the begin of the first step. verified: the
 * digests that the steps must have. On an error nothing was printed: DP_EFAULT if a step has other
 * results, DP_ENOMEM. */
int trace_steps(struct session *session, const struct cell_config *config,
                const struct session_verified verified[WORKLOAD_SETS], FILE *out,
                struct dp_error *err);

#endif
