/* measure/watch.c: a clock beside the clock: a timer of the kernel, which is read by another call.
 *
 * The clock is read between two readings of the timer, so being interrupted makes the bounds wider
 * and never wrong. */
#include "measure/watch.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "measure/session.h"

enum { TIMER_SECONDS = 1000000000 };

static const double SLACK = 1.1;

static uint64_t timer_ns(int timer)
{
    const uint64_t second = 1000000000;
    struct itimerspec left;

    if (timerfd_gettime(timer, &left))
        return 0;
    return second * TIMER_SECONDS - (uint64_t)left.it_value.tv_sec * second -
           (uint64_t)left.it_value.tv_nsec;
}

static struct watch_reading look(int timer)
{
    struct watch_reading reading;

    reading.before_ns = timer_ns(timer);
    reading.clock_ns = session_clock_ns();
    reading.after_ns = timer_ns(timer);
    return reading;
}

void watch_start(struct watch *watch)
{
    const struct itimerspec far = {.it_value = {.tv_sec = TIMER_SECONDS}};

    *watch = (struct watch){.timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC)};
    if (watch->timer >= 0 && timerfd_settime(watch->timer, 0, &far, NULL)) {
        close(watch->timer);
        watch->timer = -1;
    }
    watch->begin = look(watch->timer);
}

double watch_seconds(const struct watch *watch)
{
    const struct watch_reading now = look(watch->timer);

    return watch->timer >= 0 ? (double)(now.before_ns - watch->begin.after_ns) / 1e9
                             : (double)(now.clock_ns - watch->begin.clock_ns) / 1e9;
}

void watch_close(struct watch *watch)
{
    if (watch->timer >= 0)
        close(watch->timer);
    watch->timer = -1;
}

int watch_compare(const struct watch_reading *begin, const struct watch_reading *end, char *why,
                  size_t bytes)
{
    const double clock = (double)end->clock_ns - (double)begin->clock_ns;
    const double least = (double)end->before_ns - (double)begin->after_ns;
    const double most = (double)end->after_ns - (double)begin->before_ns;

    if (clock >= least / SLACK && clock <= most * SLACK)
        return 0;
    snprintf(why, bytes,
             "the clock cannot be believed: %g s passed by CLOCK_MONOTONIC_RAW, %g s by a timer",
             clock / 1e9, (clock < least ? least : most) / 1e9);
    return -1;
}

int watch_stop(struct watch *watch, char *why, size_t bytes)
{
    if (watch->timer < 0) {
        snprintf(why, bytes, "no timer to compare the clock with: %s", strerror(errno));
        return -1;
    }
    const struct watch_reading end = look(watch->timer);

    close(watch->timer);
    return watch_compare(&watch->begin, &end, why, bytes);
}
