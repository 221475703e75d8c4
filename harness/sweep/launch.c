/* sweep/launch.c: starts the worker of a cell, reads its output, and judges how it ended.
 *
 * The caller decides which program is the worker; a sweep uses its own program.
 *
 * The worker gets a new process group, so Ctrl-C reaches only the parent. It is killed with its
 * parent, on a signal, and when its time is over. */
#include "sweep/launch.h"
#include "files/child.h"
#include "files/stop.h"
#include "measure/watch.h"
#include "plan/cell_options.h"
#include "record/identify.h"

#include <errno.h>
#include <fcntl.h>
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

enum { SIGNAL_CHECK_MS = 50 };

void launch_command(const struct cell_config *config, struct launch_command *line)
{
    int n = 0;

    *line = (struct launch_command){.program = "lockstep", .command = "cell"};
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

static void become(const char *program, char *const argument[], bool quiet, int output)
{
    const int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
    const int nowhere = quiet ? open("/dev/null", O_WRONLY | O_CLOEXEC) : -1;

    if (dup2(output, STDOUT_FILENO) < 0 || (nothing >= 0 && dup2(nothing, STDIN_FILENO) < 0) ||
        (nowhere >= 0 && dup2(nowhere, STDERR_FILENO) < 0))
        _exit(EXIT_FAILURE);
    execvp(program, argument);
    _exit(127);
}

/* Starts the program. Returns its pid, and the end of its pipe; -1 with errno. */
static pid_t start(const char *program, char *const argument[], bool quiet, int *input)
{
    int ends[2];

    /* The worker begins with one BLAS thread in any case. The pool that OpenBLAS would start before
     * that spins for some hundredths of a second on the cores that are to be measured. */
    setenv("OPENBLAS_NUM_THREADS", "1", 1);
    if (child_pipe(ends))
        return -1;

    const pid_t pid = child_fork(CHILD_OWN_GROUP);

    if (pid == 0)
        become(program, argument, quiet, ends[1]);
    close(ends[1]);
    if (pid < 0) {
        close(ends[0]);
        return -1;
    }
    *input = ends[0];
    return pid;
}

/* Reads from the pipe. False at its end, or if the output is too long. */
static bool take(int input, struct launch_output *output)
{
    if (output->length + 1 >= output->capacity) {
        const size_t capacity = output->capacity == 0 ? 65536 : 2 * output->capacity;
        char *text = capacity <= RECORD_LINE_BYTES ? realloc(output->text, capacity) : NULL;

        if (!text) {
            output->too_long = true;
            output->no_memory = capacity <= RECORD_LINE_BYTES;
            return false;
        }
        output->text = text;
        output->capacity = capacity;
    }
    const ssize_t n =
        read(input, output->text + output->length, output->capacity - output->length - 1);

    if (n > 0)
        output->length += (size_t)n;
    output->text[output->length] = '\0';
    return n > 0 || (n < 0 && errno == EINTR);
}

/* Whether the process has ended. It stays a zombie, so that the number of its process group is not
 * used again until it is reaped. */
static bool has_ended(pid_t pid)
{
    siginfo_t info = {.si_pid = 0};

    return waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == pid;
}

/* Waits for a worker that has closed its pipe, until end (seconds of the watch) or a signal; then
 * kills it, and in any case the processes that it started. The deadline does not count for its last
 * moments: its output was in time. */
static void reap(pid_t pid, const struct watch *watch, double end, struct launch_output *output)
{
    const struct timespec pause = {.tv_nsec = 200000};
    bool ended;

    while (!(ended = has_ended(pid)) && watch_seconds(watch) < end && !output->interrupted) {
        nanosleep(&pause, NULL);
        output->interrupted = stop_requested();
    }
    output->timed_out = output->timed_out || (end > 0 && !ended);
    kill(-pid, SIGKILL);
    kill(pid, SIGKILL);
    child_wait(pid, &output->status);
}

/* Tells a process to end, once, and sets *until to the end of its grace. Returns whether to go on
 * reading from it. */
static bool lets_end(pid_t pid, double grace, const struct watch *watch, double *until)
{
    if (grace <= 0 || *until > 0)
        return false;
    kill(pid, SIGTERM);
    *until = watch_seconds(watch) + grace;
    return true;
}

/* Reads the output until the process ends or its time is over. The time is that of a timer: a clock
 * that stands still would never end it. */
static void listen_to(pid_t pid, int input, double timeout_seconds, double grace,
                      struct launch_output *output)
{
    bool open = true;
    double until = 0; /* when its grace ends; 0: it was not told to end */
    struct watch watch;

    watch_start(&watch);
    while (open) {
        struct pollfd pipe_end = {.fd = input, .events = POLLIN};

        output->interrupted = stop_requested();
        if (output->interrupted && until == 0 && !lets_end(pid, grace, &watch, &until))
            break;
        /* It reads the available output first: this process may have been stopped for longer than
         * the timeout, and output that came during that was in time. */
        const double left = (until > 0 ? until : timeout_seconds) - watch_seconds(&watch);
        const bool ended = has_ended(pid);

        if (poll(&pipe_end, 1, left > 0 ? SIGNAL_CHECK_MS : 0) > 0)
            open = take(input, output);
        else if (ended)
            open = false; /* a process that the worker started still holds the pipe */
        else if (left <= 0) {
            output->timed_out = output->timed_out || !output->interrupted;
            if (!lets_end(pid, grace, &watch, &until))
                break;
        }
    }
    const double soon = watch_seconds(&watch) + 1;

    reap(pid, &watch, open || output->too_long ? 0 : fmax(timeout_seconds, soon), output);
    watch_close(&watch);
}

static void set_status(struct record_cell *cell, enum record_status status, const char *reason)
{
    cell->status = status;
    cell->validated = false;
    snprintf(cell->reason, sizeof cell->reason, "%s", reason);
}

/* The line of the record, if there is no other line except that of a trace before it, which is cut
 * off. NULL: there are other lines. */
static char *record_line(struct launch_output *output, char **trace)
{
    char *line = output->text;
    char *end = output->length > 0 ? memchr(line, '\n', output->length) : NULL;
    const char *last = output->length > 0 ? line + output->length - 1 : NULL;

    if (trace && end && end < last) {
        *end = '\0';
        *trace = strdup(line);
        line = end + 1;
        end = memchr(line, '\n', (size_t)(last - end));
    }
    if (!end || end != last)
        return NULL;
    *end = '\0';
    return line;
}

/* Uses the record of the worker if it is valid and of the cell that was asked for. */
static void accept_record(struct launch_output *output, struct record_cell *cell, char **trace)
{
    struct record_cell sent;
    struct text_error err = {""};
    const char *line = record_line(output, trace);
    char reason[256];

    if (!line) {
        snprintf(reason, sizeof reason, "the worker sent %zu bytes that are not one line",
                 output->length);
        set_status(cell, RECORD_BROKEN, reason);
        return;
    }
    if (record_cell_parse(line, &sent, &err)) {
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

static void judge(struct launch_output *output, double timeout_seconds, struct record_cell *cell,
                  char **trace)
{
    char reason[256];

    if (output->timed_out) {
        snprintf(reason, sizeof reason, "killed after %g s (--timeout)", timeout_seconds);
        set_status(cell, RECORD_TIMEOUT, reason);
    } else if (output->no_memory) {
        set_status(cell, RECORD_BROKEN, "no memory for what the worker sent");
    } else if (output->too_long) {
        set_status(cell, RECORD_BROKEN, "the worker sent more than a record can be");
    } else if (WIFSIGNALED(output->status)) {
        const int number = WTERMSIG(output->status);

        snprintf(reason, sizeof reason, "the worker died of signal %d (%s)", number,
                 strsignal(number));
        set_status(cell, RECORD_CRASHED, reason);
    } else if (WEXITSTATUS(output->status) != 0) {
        snprintf(reason, sizeof reason, "the worker ended with status %d",
                 WEXITSTATUS(output->status));
        set_status(cell, RECORD_CRASHED, reason);
    } else {
        accept_record(output, cell, trace);
    }
}

static int run(const char *program, char *const argument[], bool quiet, double timeout_seconds,
               double grace, struct launch_output *output)
{
    int input = -1;

    *output = (struct launch_output){.text = NULL};

    const pid_t pid = start(program, argument, quiet, &input);

    if (pid < 0)
        return -1;
    listen_to(pid, input, timeout_seconds, grace, output);
    close(input);
    return 0;
}

int launch_program(const char *program, char *const argument[], bool quiet, double timeout_seconds,
                   struct launch_output *output)
{
    return run(program, argument, quiet, timeout_seconds, 0, output);
}

int launch_gently(const char *program, char *const argument[], double timeout_seconds, double grace,
                  struct launch_output *output)
{
    return run(program, argument, false, timeout_seconds, grace, output);
}

int launch_cell(const char *program, const struct cell_config *config, double timeout_seconds,
                struct record_cell *cell, char **trace)
{
    struct launch_command line;
    struct launch_output output;
    char reason[256];

    if (trace)
        *trace = NULL;
    cell_identify(config, cell);
    launch_command(config, &line);
    if (launch_program(program ? program : "/proc/self/exe", line.argument, false, timeout_seconds,
                       &output) != 0) {
        snprintf(reason, sizeof reason, "no worker could be started: %s", strerror(errno));
        set_status(cell, RECORD_BROKEN, reason);
        return 0;
    }
    if (!output.interrupted)
        judge(&output, timeout_seconds, cell, trace);
    free(output.text);
    return output.interrupted ? 1 : 0;
}
