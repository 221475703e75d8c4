/* sweep/launch.c: starts the worker of a cell, listens to it, and judges how it ended.
 *
 * The worker gets a process group of its own, so Ctrl-C reaches only the parent; it is killed
 * with its parent, on a signal, and when its time is over. */
#include "sweep/launch.h"
#include "files/child.h"
#include "files/stop.h"
#include "measure/watch.h"
#include "record/cell_options.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { ARGUMENTS = 2 * CELL_OPTIONS + 3, NAME_BYTES = 32, SIGNAL_CHECK_MS = 50 };

/* What came out of a worker. */
struct outcome {
    char *text;
    size_t length, capacity;
    bool timed_out, interrupted, too_long, no_memory;
    int status; /* of waitpid */
};

/* The command line of a worker: its values live in the same object. */
struct command_line {
    char *argument[ARGUMENTS];
    char program[sizeof "lockstep"], command[sizeof "cell"];
    char name[CELL_OPTIONS][NAME_BYTES], value[CELL_OPTIONS][CELL_VALUE_BYTES];
};

static void write_command(const struct cell_config *config, struct command_line *line)
{
    int n = 0;

    line->argument[n++] = line->program;
    line->argument[n++] = line->command;
    for (size_t i = 0; i < CELL_OPTIONS; ++i) {
        if (!cell_option_write(i, config, line->value[i]))
            continue;
        snprintf(line->name[i], sizeof line->name[i], "--%s", cell_option_name(i));
        line->argument[n++] = line->name[i];
        if (cell_option_value(i))
            line->argument[n++] = line->value[i];
    }
    line->argument[n] = NULL;
}

static void become_worker(struct command_line *line, int output)
{
    if (dup2(output, STDOUT_FILENO) < 0)
        _exit(EXIT_FAILURE);
    execv("/proc/self/exe", line->argument);
    _exit(127);
}

/* The worker's pid and the end of its pipe; -1 with errno. */
static pid_t start(const struct cell_config *config, int *input)
{
    struct command_line line = {.program = "lockstep", .command = "cell"};
    int ends[2];

    write_command(config, &line);
    /* One thread is what it is held to in any case; the pool that OpenBLAS would start before that
     * spins for some hundredths of a second on the cores that are to be measured. */
    setenv("OPENBLAS_NUM_THREADS", "1", 1);
    if (child_pipe(ends))
        return -1;

    const pid_t pid = child_fork(CHILD_OWN_GROUP);

    if (pid == 0)
        become_worker(&line, ends[1]);
    close(ends[1]);
    if (pid < 0) {
        close(ends[0]);
        return -1;
    }
    *input = ends[0];
    return pid;
}

/* Takes what is in the pipe. False at its end, or when it is too much. */
static bool take(int input, struct outcome *outcome)
{
    if (outcome->length + 1 >= outcome->capacity) {
        const size_t capacity = outcome->capacity == 0 ? 65536 : 2 * outcome->capacity;
        char *text = capacity <= RECORD_LINE_BYTES ? realloc(outcome->text, capacity) : NULL;

        if (!text) {
            outcome->too_long = true;
            outcome->no_memory = capacity <= RECORD_LINE_BYTES;
            return false;
        }
        outcome->text = text;
        outcome->capacity = capacity;
    }
    const ssize_t n =
        read(input, outcome->text + outcome->length, outcome->capacity - outcome->length - 1);

    if (n > 0)
        outcome->length += (size_t)n;
    outcome->text[outcome->length] = '\0';
    return n > 0 || (n < 0 && errno == EINTR);
}

/* It stays a zombie, so that its process group stays its own until it is reaped. */
static bool has_ended(pid_t pid)
{
    siginfo_t info = {.si_pid = 0};

    return waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == pid;
}

/* Waits for a worker that has closed its pipe until end (seconds of the watch) or a signal, then
 * kills it, and what it started in any case. Its last moments are not a matter of the deadline: it
 * was in time with what it sent. */
static void reap(pid_t pid, const struct watch *watch, double end, struct outcome *outcome)
{
    const struct timespec pause = {.tv_nsec = 200000};
    bool ended;

    while (!(ended = has_ended(pid)) && watch_seconds(watch) < end && !outcome->interrupted) {
        nanosleep(&pause, NULL);
        outcome->interrupted = stop_requested();
    }
    outcome->timed_out = outcome->timed_out || (end > 0 && !ended);
    kill(-pid, SIGKILL);
    kill(pid, SIGKILL);
    child_wait(pid, &outcome->status);
}

/* The time is a timer's: a clock that stands still ends nothing. */
static void listen_to(pid_t pid, int input, double timeout_seconds, struct outcome *outcome)
{
    bool open = true;
    struct watch watch;

    watch_start(&watch);
    while (open) {
        struct pollfd pipe_end = {.fd = input, .events = POLLIN};

        outcome->interrupted = stop_requested();
        if (outcome->interrupted)
            break;
        /* First what is there: this process may have been stopped for longer than the timeout, and
         * what was sent meanwhile was in time. */
        const double left = timeout_seconds - watch_seconds(&watch);
        const bool ended = has_ended(pid);

        if (poll(&pipe_end, 1, left > 0 ? SIGNAL_CHECK_MS : 0) > 0)
            open = take(input, outcome);
        else if (ended)
            open = false; /* a process that it left behind holds the pipe */
        else
            outcome->timed_out = left <= 0;
        if (outcome->timed_out)
            break;
    }
    const double grace = watch_seconds(&watch) + 1;

    reap(pid, &watch, open || outcome->too_long ? 0 : fmax(timeout_seconds, grace), outcome);
    watch_close(&watch);
}

static void set_status(struct record_cell *cell, enum record_status status, const char *reason)
{
    cell->status = status;
    cell->validated = false;
    snprintf(cell->reason, sizeof cell->reason, "%s", reason);
}

/* Uses the worker's record if it is one, and of the cell that was asked for. */
static void accept_record(struct outcome *outcome, struct record_cell *cell)
{
    struct record_cell sent;
    struct text_error err = {""};
    char *newline = outcome->length > 0 ? memchr(outcome->text, '\n', outcome->length) : NULL;
    char reason[256];

    if (!newline || newline != outcome->text + outcome->length - 1) {
        snprintf(reason, sizeof reason, "the worker sent %zu bytes that are not one line",
                 outcome->length);
        set_status(cell, RECORD_BROKEN, reason);
        return;
    }
    *newline = '\0';
    if (record_cell_parse(outcome->text, &sent, &err)) {
        snprintf(reason, sizeof reason, "the worker's record cannot be used: %.200s", err.text);
        set_status(cell, RECORD_BROKEN, reason);
        return;
    }
    if (strcmp(sent.cell_id, cell->cell_id) != 0 || strcmp(sent.run_id, cell->run_id) != 0) {
        record_cell_free(&sent);
        set_status(cell, RECORD_BROKEN, "the worker sent the record of another cell");
        return;
    }
    *cell = sent;
}

static void judge(struct outcome *outcome, double timeout_seconds, struct record_cell *cell)
{
    char reason[256];

    if (outcome->timed_out) {
        snprintf(reason, sizeof reason, "killed after %g s (--timeout)", timeout_seconds);
        set_status(cell, RECORD_TIMEOUT, reason);
    } else if (outcome->no_memory) {
        set_status(cell, RECORD_BROKEN, "no memory for what the worker sent");
    } else if (outcome->too_long) {
        set_status(cell, RECORD_BROKEN, "the worker sent more than a record can be");
    } else if (WIFSIGNALED(outcome->status)) {
        const int number = WTERMSIG(outcome->status);

        snprintf(reason, sizeof reason, "the worker died of signal %d (%s)", number,
                 strsignal(number));
        set_status(cell, RECORD_CRASHED, reason);
    } else if (WEXITSTATUS(outcome->status) != 0) {
        snprintf(reason, sizeof reason, "the worker ended with status %d",
                 WEXITSTATUS(outcome->status));
        set_status(cell, RECORD_CRASHED, reason);
    } else {
        accept_record(outcome, cell);
    }
}

int launch_cell(const struct cell_config *config, double timeout_seconds, struct record_cell *cell)
{
    struct outcome outcome = {0};
    int input = -1;
    char reason[256];

    cell_identify(config, cell);

    const pid_t pid = start(config, &input);

    if (pid < 0) {
        snprintf(reason, sizeof reason, "no worker could be started: %s", strerror(errno));
        set_status(cell, RECORD_BROKEN, reason);
        return 0;
    }
    listen_to(pid, input, timeout_seconds, &outcome);
    close(input);
    if (!outcome.interrupted)
        judge(&outcome, timeout_seconds, cell);
    free(outcome.text);
    return outcome.interrupted ? 1 : 0;
}
