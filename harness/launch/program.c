/* launch/program.c: starts a program, reads its output, and waits for its end.
 *
 * It gets a new process group, so Ctrl-C reaches only the parent. It is killed with its parent, on
 * a signal, and when its time is over. */
#include "files/files.h"
#include "launch/child.h"
#include "launch/watch.h"
#include "text/alloc.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

enum { SIGNAL_CHECK_MS = 50 };

/* Reads from the pipe. False at its end, or if the output is too long. */
static bool take_output(int input, struct launch_output *output)
{
    if (output->length + 1 >= output->capacity) {
        const size_t capacity = output->capacity == 0 ? 65536 : 2 * output->capacity;

        output->too_long = capacity > PROGRAM_OUTPUT_BYTES;
        if (output->too_long)
            return false;
        output->text = cli_resize(output->text, capacity, 1);
        output->capacity = capacity;
    }
    const ssize_t n =
        read(input, output->text + output->length, output->capacity - output->length - 1);

    if (n > 0)
        output->length += (size_t)n;
    output->text[output->length] = '\0';
    return n > 0 || (n < 0 && errno == EINTR);
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
static void listen_to_program(pid_t pid, int input, const struct launch_how *how,
                              struct launch_output *output)
{
    const struct timespec pause = {.tv_nsec = 200000};
    bool open = true, ended;
    double until = 0; /* when its grace ends; 0: it was not told to end */
    struct watch watch;
    siginfo_t info;

    watch_start(&watch);
    while (open) {
        struct pollfd pipe_end = {.fd = input, .events = POLLIN};

        output->interrupted = stop_requested();
        if (output->interrupted && until == 0 && !lets_end(pid, how->grace, &watch, &until))
            break;
        /* It reads the available output first: this process may have been stopped for longer than
         * the timeout, and output that came during that was in time. */
        const double left = (until > 0 ? until : how->seconds) - watch_seconds(&watch);

        ended = child_has_ended(pid, &info);
        if (poll(&pipe_end, 1, left > 0 ? SIGNAL_CHECK_MS : 0) > 0)
            open = take_output(input, output);
        else if (ended)
            open = false; /* a process that the worker started still holds the pipe */
        else if (left <= 0) {
            output->timed_out = output->timed_out || !output->interrupted;
            if (!lets_end(pid, how->grace, &watch, &until))
                break;
        }
    }
    /* A process that has closed its pipe may go on until the end. The deadline does not count for
     * its last moments: its output was in time. What it started is killed in any case. */
    const double soon = watch_seconds(&watch) + 1;
    const double end = open || output->too_long ? 0 : fmax(how->seconds, soon);

    while (!(ended = child_has_ended(pid, &info)) && watch_seconds(&watch) < end &&
           !output->interrupted) {
        nanosleep(&pause, NULL);
        output->interrupted = stop_requested();
    }
    output->timed_out = output->timed_out || (end > 0 && !ended);
    kill(-pid, SIGKILL);
    kill(pid, SIGKILL);
    child_wait(pid, &output->status);
    watch_close(&watch);
}

int launch_program(const struct launch_how *how, struct launch_output *output)
{
    int nothing = open("/dev/null", O_RDWR | O_CLOEXEC), ends[2] = {-1, -1};
    pid_t pid = -1;

    *output = (struct launch_output){.text = NULL};
    if (nothing >= 0 && child_pipe(ends) == 0) {
        const int streams[][3] = {[LAUNCH_OUTPUT] = {nothing, ends[1], STDERR_FILENO},
                                  [LAUNCH_OUTPUT_ALONE] = {nothing, ends[1], nothing},
                                  [LAUNCH_ERROR_ALONE] = {nothing, nothing, ends[1]}};

        pid = child_execute(how->program, how->argument, streams[how->heard], how->directory);
    }
    const int problem = errno;

    child_close(&nothing);
    child_close(&ends[1]);
    if (pid > 0)
        listen_to_program(pid, ends[0], how, output);
    child_close(&ends[0]);
    errno = problem;
    return pid > 0 ? 0 : -1;
}
