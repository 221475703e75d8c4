/* soak/selftest_run.c: a run of soak in a separate process, within a time limit, and the findings
 * that it prints as JSON. */
#define _DEFAULT_SOURCE

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
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
#include "soak/soak.h"

/* ---- reading --------------------------------------------------------------------------------- */

static const enum selftest_detector detector_of[SOAK_WHATS] = {
    [SOAK_OUTPUTS] = SELFTEST_RESULT,   [SOAK_LOSS] = SELFTEST_RESULT,
    [SOAK_GRADIENT] = SELFTEST_RESULT,  [SOAK_REDUCED] = SELFTEST_MEAN,
    [SOAK_PARAMETER] = SELFTEST_RESULT, [SOAK_DEAD] = SELFTEST_DEAD,
    [SOAK_HUNG] = SELFTEST_LIMIT};

static void note(struct selftest_seen *seen, enum selftest_detector detector, uint64_t iteration,
                 bool there)
{
    if (seen->at[detector] == 0 || iteration < seen->at[detector])
        seen->at[detector] = iteration;
    ++seen->findings;
    seen->elsewhere += !there;
}

static void read_finding(const json_t *finding, int device, struct selftest_seen *seen)
{
    const char *what = json_string_value(json_object_get(finding, "what"));
    const char *differ = json_string_value(json_object_get(finding, "xor"));
    const json_int_t iteration = json_integer_value(json_object_get(finding, "iteration"));
    const json_t *named = json_object_get(finding, "device_index");

    for (int i = 0; what && i < SOAK_WHATS; ++i) {
        if (strcmp(what, soak_what_words[i]) != 0)
            continue;
        if (seen->findings == 0 && differ)
            seen->wrong_bits = strtoull(differ, NULL, 16);
        note(seen, detector_of[i], (uint64_t)iteration,
             json_is_integer(named) && json_integer_value(named) == device);
        return;
    }
    seen->understood = false;
}

/* A slow device has no iteration: it is since the first. */
static void read_speed(const json_t *row, int index, int device, struct selftest_seen *seen)
{
    const char *speed = json_string_value(json_object_get(row, "speed"));
    const json_int_t since = json_integer_value(json_object_get(row, "since"));

    if (!speed)
        seen->understood = false;
    else if (strcmp(speed, soak_speed_words[SOAK_SLOW]) == 0)
        note(seen, SELFTEST_SPEED, 1, index == device);
    else if (strcmp(speed, soak_speed_words[SOAK_DROPPED_CLOCK]) == 0)
        note(seen, SELFTEST_DROP, (uint64_t)since, index == device);
    else if (strcmp(speed, soak_speed_words[SOAK_UNJUDGED]) == 0)
        seen->unjudged = true;
}

void selftest_read(const char *text, size_t bytes, int device, struct selftest_seen *seen)
{
    json_t *root = json_loadb(text, bytes, 0, NULL);
    const json_t *findings = json_object_get(root, "findings");
    const json_t *devices = json_object_get(root, "devices");

    seen->understood = json_is_array(findings) && json_is_array(devices);
    seen->beside = (uint64_t)json_integer_value(json_object_get(root, "buckets_beside"));
    for (size_t i = 0; i < json_array_size(findings); ++i)
        read_finding(json_array_get(findings, i), device, seen);
    for (size_t i = 0; i < json_array_size(devices); ++i)
        read_speed(json_array_get(devices, i), (int)i, device, seen);
    json_decref(root);
}

/* ---- running --------------------------------------------------------------------------------- */

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
        /* Its complaints are dropped: the status shows that a fault was not found. */
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
