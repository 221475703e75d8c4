/* files/stop.h: signals: what they do from the start, and the request to stop. */
#ifndef HARNESS_STOP_H
#define HARNESS_STOP_H

#include <stdbool.h>

/* Called at the start of main, because the parent may have ignored or blocked any of them, and
 * children inherit that. SIGHUP, SIGINT, SIGQUIT and SIGTERM stay ignored if they are. */
void stop_set_signals(void);

/* From now on SIGHUP, SIGINT, SIGQUIT and SIGTERM, unless they were ignored, request a stop and do
 * nothing else. */
void stop_watch_signals(void);
bool stop_requested(void);

#endif
