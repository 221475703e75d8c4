/* measure/watch.h: whether the clock that all times are read from goes as fast as the system's
 * timers. */
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
/* Since the start, by the timer; by the clock where there is none. */
double watch_seconds(const struct watch *watch);

/* 0 when the clock and the timer agree about what passed since the start: record_clock_holds. Else
 * -1 and both. *ratio: of clock to timer, NaN without a timer. Ends the watch. */
int watch_stop(struct watch *watch, double *ratio, char *why, size_t bytes);
void watch_close(struct watch *watch); /* without a comparison */

/* How many times as long it took by the clock as by the timer, which counts up; 1 within what
 * readings are off. */
double watch_ratio(const struct watch_reading *begin, const struct watch_reading *end);

#endif
