/* launch/guard.c: the thread that waits for the end of the process, and the lock of its
 * messages. */
#include "launch/launcher.h"

#include <signal.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "command/command.h"
#include "dp_mpi.h"
#include "launch/watch.h"

enum { LOOK_NS = 200000000, LATE_SECONDS = 5 };

int guard_say(struct guard *guard, enum message_kind word, const char *text)
{
    pthread_mutex_lock(&guard->lock);
    const int status = message_send(&guard->speaker, word, text);
    pthread_mutex_unlock(&guard->lock);
    return status;
}

static _Noreturn void end_now(struct guard *guard, const char *why)
{
    struct timespec until;

    clock_gettime(CLOCK_REALTIME, &until);
    ++until.tv_sec;
    if (pthread_mutex_timedlock(&guard->lock, &until) == 0)
        (void)message_send(&guard->speaker, MSG_ABORT, why);
    _exit(EXIT_FAILED);
}

/* If the launcher is gone, no other process would end this one, so the thread watches for that,
 * too. */
static void *stand_guard(void *arg)
{
    struct guard *guard = arg;
    const struct timespec look = {.tv_nsec = LOOK_NS};
    struct watch watch;
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    watch_start(&watch);
    for (;;) {
        if (sigtimedwait(&set, NULL, &look) == SIGTERM)
            end_now(guard, "by SIGTERM");
        if (getppid() != guard->parent)
            end_now(guard, "its launcher is gone");
        if (guard->seconds > 0 && watch_seconds(&watch) > guard->seconds + LATE_SECONDS)
            end_now(guard, "its time is over");
    }
}

struct dp_mpi *guard_open(struct guard *guard, double seconds, const struct dp_mpi_config *how)
{
    struct dp_error err = {.text = "a process cannot start a thread"};
    struct dp_mpi *mpi = NULL;
    char text[MSG_TEXT_BYTES];
    sigset_t set;

    *guard = (struct guard){.speaker = {.fd = STDOUT_FILENO, .process = MSG_UNKNOWN_PROCESS},
                            .parent = getppid(),
                            .seconds = seconds};
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    if (pthread_mutex_init(&guard->lock, NULL) != 0 ||
        pthread_sigmask(SIG_BLOCK, &set, NULL) != 0 ||
        pthread_create(&guard->thread, NULL, stand_guard, guard) != 0) {
        (void)message_send(&guard->speaker, MSG_ENDED, err.text);
        _exit(EXIT_FAILED);
    }
    if (dp_mpi_open(how, &mpi, &err)) {
        (void)guard_say(guard, MSG_ENDED, err.text);
        _exit(EXIT_FAILED);
    }
    const int rank = dp_mpi_rank(mpi);

    guard->speaker.process = rank;
    snprintf(text, sizeof text, "%s %ld %s", dp_mpi_host(mpi, rank), dp_mpi_pid(mpi, rank),
             dp_mpi_library(mpi));
    if (guard_say(guard, MSG_BEGUN, text)) {
        dp_mpi_abort(mpi);
        guard_leave(mpi, EXIT_FAILED);
    }
    return mpi;
}

void guard_leave(struct dp_mpi *mpi, int status)
{
    struct dp_error err = {0};

    if (dp_mpi_close(mpi, &err) != 0)
        status = EXIT_FAILED;
    fflush(NULL);
    _exit(status);
}
