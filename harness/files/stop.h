/* files/stop.h: signals: what they do from the start, and the request to stop. */
#ifndef HARNESS_STOP_H
#define HARNESS_STOP_H

#include <stdbool.h>

/* At the start of main: the parent may have ignored or blocked any of them, and children
 * inherit it. SIGHUP, SIGINT, SIGQUIT and SIGTERM stay ignored where they are. */
void stop_set_signals(void);

/* From now on SIGHUP, SIGINT, SIGQUIT and SIGTERM, unless they were ignored, request a stop and do
 * nothing else. */
void stop_watch_signals(void);
bool stop_requested(void);

#endif
