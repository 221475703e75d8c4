/* shim_clock.c: preloaded: the wall clock jumps while a file is there, for all processes alike, or
 * all clocks go too slow or too fast.
 *
 * TORTURE_CLOCK_FILE is that file, TORTURE_CLOCK_BY the jump in seconds; TORTURE_CLOCK_RATE is how
 * many seconds the clocks count in one. The system's clock stays as it is. */
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static void change_rate(struct timespec *time, double rate)
{
    const double ns = ((double)time->tv_sec * 1e9 + (double)time->tv_nsec) * rate;

    time->tv_sec = (time_t)(ns / 1e9);
    time->tv_nsec = (long)(ns - (double)time->tv_sec * 1e9);
}

int clock_gettime(clockid_t clock, struct timespec *time)
{
    const char *file = getenv("TORTURE_CLOCK_FILE"), *by = getenv("TORTURE_CLOCK_BY");
    const char *rate = getenv("TORTURE_CLOCK_RATE");

    if (syscall(SYS_clock_gettime, clock, time) != 0)
        return -1;
    if (rate)
        change_rate(time, strtod(rate, NULL));
    if ((clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE) && file && by &&
        access(file, F_OK) == 0)
        time->tv_sec += strtol(by, NULL, 10);
    return 0;
}

time_t time(time_t *seconds)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    if (seconds)
        *seconds = now.tv_sec;
    return now.tv_sec;
}

int gettimeofday(struct timeval *restrict time, void *restrict zone)
{
    struct timespec now;

    (void)zone;
    clock_gettime(CLOCK_REALTIME, &now);
    *time = (struct timeval){.tv_sec = now.tv_sec, .tv_usec = now.tv_nsec / 1000};
    return 0;
}
