/* measure/watch.h: checks whether the clock that all times are read from goes as fast as the timers
 * of the system. */
#ifndef HARNESS_WATCH_H
#define HARNESS_WATCH_H

#include <stddef.h>
#include <stdint.h>

/* A reading of the clock, between two readings of a timer. */
struct watch_reading {
    uint64_t before_ns, clock_ns, after_ns;
};

struct watch {
    int timer; /* -1: there is none */
    struct watch_reading begin;
};

void watch_start(struct watch *watch);
/* The seconds since the start by the timer; by the clock if there is no timer. */
double watch_seconds(const struct watch *watch);

/* Ends the watch. Returns 0 if the clock and the timer agree on the time since the start
 * (record_clock_holds); else -1, and why has both times. *ratio: clock over timer, NaN without a
 * timer. */
int watch_stop(struct watch *watch, double *ratio, char *why, size_t bytes);
void watch_close(struct watch *watch); /* without a comparison */

/* The time by the clock over the time by the timer, which counts up. It is 1 if they differ by no
 * more than readings are off. */
double watch_ratio(const struct watch_reading *begin, const struct watch_reading *end);

#endif
