/* launch/watch.c: a second clock to compare the first with: a timer of the kernel, which is read
 * by another call.
 *
 * The clock is read between two readings of the timer, so an interruption makes the bounds wider
 * but never wrong. */
#include "launch/watch.h"

#include <sys/timerfd.h>
#include <unistd.h>

enum { TIMER_SECONDS = 1000000000 };

/* A clock may be corrected by 500 ppm while it runs; a single reading is off by at most this. */
static const double READING_NS = 1e5;

static uint64_t timer_ns(int timer)
{
    const uint64_t second = 1000000000;
    struct itimerspec left;

    if (timerfd_gettime(timer, &left))
        return 0;
    return second * TIMER_SECONDS - (uint64_t)left.it_value.tv_sec * second -
           (uint64_t)left.it_value.tv_nsec;
}

uint64_t watch_ns(clockid_t clock)
{
    struct timespec now;

    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000000U + (uint64_t)now.tv_nsec;
}

uint64_t watch_clock_ns(void)
{
    return watch_ns(CLOCK_MONOTONIC_RAW);
}

double watch_now(void)
{
    return (double)watch_ns(CLOCK_MONOTONIC) / 1e9;
}

struct watch_reading watch_read(const struct watch *watch)
{
    struct watch_reading reading;

    reading.before_ns = timer_ns(watch->timer);
    reading.clock_ns = watch_clock_ns();
    reading.after_ns = timer_ns(watch->timer);
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
    watch->begin = watch_read(watch);
}

double watch_seconds(const struct watch *watch)
{
    const struct watch_reading now = watch_read(watch);

    return watch->timer >= 0 ? (double)(now.before_ns - watch->begin.after_ns) / 1e9
                             : (double)(now.clock_ns - watch->begin.clock_ns) / 1e9;
}

void watch_close(struct watch *watch)
{
    if (watch->timer >= 0)
        close(watch->timer);
    watch->timer = -1;
}

double watch_ratio(const struct watch_reading *begin, const struct watch_reading *end)
{
    const double clock = (double)end->clock_ns - (double)begin->clock_ns;
    const double least = (double)end->before_ns - (double)begin->after_ns - READING_NS;
    const double most = (double)end->after_ns - (double)begin->before_ns + READING_NS;

    return clock < least ? clock / least : clock > most ? clock / most : 1;
}
