/* launch/program.c: starts a program, reads its output, and waits for its end.
 *
 * It gets a new process group, so Ctrl-C reaches only the parent. It is killed with its parent, on
 * a signal, and when its time is over. */
#include "launch/program.h"
#include "files/stop.h"
#include "launch/child.h"
#include "launch/watch.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { SIGNAL_CHECK_MS = 50 };

/* Starts the program. Returns its pid, and the end of its pipe; -1 with errno. */
static pid_t start_program(const char *program, char *const argument[], bool quiet, int *input)
{
    int ends[2];

    /* The worker begins with one BLAS thread in any case. The pool that OpenBLAS would start before
     * that spins for some hundredths of a second on the cores that are to be measured. */
    setenv("OPENBLAS_NUM_THREADS", "1", 1);
    if (child_pipe(ends))
        return -1;

    const pid_t pid = child_fork(CHILD_OWN_GROUP);

    if (pid == 0) {
        const int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
        const int nowhere = quiet ? open("/dev/null", O_WRONLY | O_CLOEXEC) : -1;

        if (dup2(ends[1], STDOUT_FILENO) < 0 || (nothing >= 0 && dup2(nothing, STDIN_FILENO) < 0) ||
            (nowhere >= 0 && dup2(nowhere, STDERR_FILENO) < 0))
            _exit(EXIT_FAILURE);
        execvp(program, argument);
        _exit(127);
    }
    close(ends[1]);
    if (pid < 0) {
        close(ends[0]);
        return -1;
    }
    *input = ends[0];
    return pid;
}

/* Reads from the pipe. False at its end, or if the output is too long. */
static bool take_output(int input, struct launch_output *output)
{
    if (output->length + 1 >= output->capacity) {
        const size_t capacity = output->capacity == 0 ? 65536 : 2 * output->capacity;
        char *text = capacity <= PROGRAM_OUTPUT_BYTES ? realloc(output->text, capacity) : NULL;

        if (!text) {
            output->too_long = true;
            output->no_memory = capacity <= PROGRAM_OUTPUT_BYTES;
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
static void listen_to_program(pid_t pid, int input, double timeout_seconds, double grace,
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
            open = take_output(input, output);
        else if (ended)
            open = false; /* a process that the worker started still holds the pipe */
        else if (left <= 0) {
            output->timed_out = output->timed_out || !output->interrupted;
            if (!lets_end(pid, grace, &watch, &until))
                break;
        }
    }
    /* A process that has closed its pipe may go on until the end. The deadline does not count for
     * its last moments: its output was in time. What it started is killed in any case. */
    const struct timespec pause = {.tv_nsec = 200000};
    const double soon = watch_seconds(&watch) + 1;
    const double end = open || output->too_long ? 0 : fmax(timeout_seconds, soon);
    bool ended;

    while (!(ended = has_ended(pid)) && watch_seconds(&watch) < end && !output->interrupted) {
        nanosleep(&pause, NULL);
        output->interrupted = stop_requested();
    }
    output->timed_out = output->timed_out || (end > 0 && !ended);
    kill(-pid, SIGKILL);
    kill(pid, SIGKILL);
    child_wait(pid, &output->status);
    watch_close(&watch);
}

static int run_program(const char *program, char *const argument[], bool quiet,
                       double timeout_seconds, double grace, struct launch_output *output)
{
    int input = -1;

    *output = (struct launch_output){.text = NULL};

    const pid_t pid = start_program(program, argument, quiet, &input);

    if (pid < 0)
        return -1;
    listen_to_program(pid, input, timeout_seconds, grace, output);
    close(input);
    return 0;
}

int launch_program(const char *program, char *const argument[], bool quiet, double timeout_seconds,
                   struct launch_output *output)
{
    return run_program(program, argument, quiet, timeout_seconds, 0, output);
}

int launch_gently(const char *program, char *const argument[], double timeout_seconds, double grace,
                  struct launch_output *output)
{
    return run_program(program, argument, false, timeout_seconds, grace, output);
}
