/* stop.h: the request to stop, by a signal. */
#ifndef HARNESS_STOP_H
#define HARNESS_STOP_H

#include <stdbool.h>

/* From now on SIGHUP, SIGINT, SIGQUIT and SIGTERM, unless they were ignored, request a stop and do
 * nothing else. */
void stop_watch_signals(void);
bool stop_requested(void);

#endif
