/* soak/selftest_run.c: a run of this program in a process of its own, within a time limit. */
#define _DEFAULT_SOURCE

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "files/child.h"
#include "files/stop.h"
#include "soak/selftest.h"

enum { POLL_MS = 50, OUTPUT = 1 << 20 };

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

enum end { ENDED, STOPPED, TOO_LATE };

/* Until its end, the limit, or a request to stop. */
static enum end take_output(int from, double seconds, char text[OUTPUT], size_t *used)
{
    const double end = now() + seconds;
    struct pollfd input = {.fd = from, .events = POLLIN};

    *used = 0;
    while (now() < end && *used < OUTPUT) {
        if (stop_requested())
            return STOPPED;
        if (poll(&input, 1, POLL_MS) <= 0)
            continue;

        const ssize_t got = read(from, text + *used, OUTPUT - *used);

        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return ENDED;
        *used += (size_t)got;
    }
    return TOO_LATE;
}

static int failed(const char *what, struct text_error *why)
{
    return text_fail(why, "%s: %s", what, strerror(errno));
}

int selftest_run(const char *const arguments[], double seconds, int device,
                 struct selftest_seen *seen, struct text_error *why)
{
    int ends[2], status = 0;
    enum end end;
    size_t used = 0;
    char *text = malloc(OUTPUT);

    *seen = (struct selftest_seen){.status = -1};
    if (!text || child_pipe(ends)) {
        free(text);
        return failed("a pipe for a run of soak", why);
    }

    const pid_t pid = child_fork(CHILD_OWN_GROUP);

    if (pid == 0) {
        /* What it complains of is for nobody: that a fault was not found shows in the status. */
        char *copy[SELFTEST_ARGUMENTS + 1] = {NULL};
        const int nowhere = open("/dev/null", O_WRONLY);

        for (int i = 0; i < SELFTEST_ARGUMENTS && arguments[i]; ++i)
            copy[i] = (char *)(uintptr_t)arguments[i];
        if (nowhere >= 0 && dup2(ends[1], STDOUT_FILENO) >= 0 && dup2(nowhere, STDERR_FILENO) >= 0)
            execv("/proc/self/exe", copy);
        _exit(127);
    }
    close(ends[1]);
    if (pid < 0) {
        close(ends[0]);
        free(text);
        return failed("a process for a run of soak", why);
    }
    end = take_output(ends[0], seconds, text, &used);
    close(ends[0]);
    if (end != ENDED)
        kill(-pid, SIGKILL);
    if (child_wait(pid, &status) == 0 && WIFEXITED(status))
        seen->status = WEXITSTATUS(status);
    selftest_read(text, used, device, seen);
    free(text);
    return end == STOPPED;
}
