/* measure/trace.h: a few steps of a cell as events of Chrome's trace format, which Perfetto and
 * chrome://tracing show: the cell is a process there, each queue of a device a thread.
 *
 * No step that is timed is traced, and every one that is traced is checked like those. */
#ifndef HARNESS_MEASURE_TRACE_H
#define HARNESS_MEASURE_TRACE_H

#include <stdio.h>

#include "measure/session.h"

/* Runs them on an open session and prints their events, each an object and a comma between two, in
 * one line: times in microseconds, from the begin of the first step. verified: what the steps must
 * leave. On an error nothing was printed: DP_EFAULT where a step left something else, DP_ENOMEM. */
int trace_steps(struct session *session, const struct cell_config *config,
                const struct session_verified verified[WORKLOAD_SETS], FILE *out,
                struct dp_error *err);

#endif
