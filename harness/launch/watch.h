/* launch/watch.h: checks whether the clock that all times are read from goes as fast as the timers
 * of the system. */
#ifndef HARNESS_WATCH_H
#define HARNESS_WATCH_H

#include <stdint.h>
#include <time.h>

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

/* Reads the clock and the timer; without a timer, its times are 0. */
struct watch_reading watch_read(const struct watch *watch);
void watch_close(struct watch *watch);
/* The clock that all times are read from, which nothing corrects. */
uint64_t watch_clock_ns(void);
/* Any clock; and the seconds of the monotonic one. */
uint64_t watch_ns(clockid_t clock);
double watch_now(void);

/* The time by the clock over the time by the timer, which counts up. It is 1 if they differ by no
 * more than readings are off. */
double watch_ratio(const struct watch_reading *begin, const struct watch_reading *end);

#endif
