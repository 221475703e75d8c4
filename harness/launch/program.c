/* launch/program.c: starts a program, reads its output, and waits for its end.
 *
 * It gets a new process group, so Ctrl-C reaches only the parent. It is killed with its parent, on
 * a signal, and when its time is over. */
#include "files/files.h"
#include "launch/child.h"
#include "text/alloc.h"
#include "text/text.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

enum { SIGNAL_CHECK_MS = 50, TICK_MS = 20 };

/* Reads from the pipe of its output. False at the end, or if the output is too long. */
static bool take_output(struct program *p)
{
    if (p->length + 1 >= p->capacity) {
        const size_t capacity = p->capacity == 0 ? 65536 : 2 * p->capacity;

        p->too_long = capacity > PROGRAM_OUTPUT_BYTES;
        if (p->too_long)
            return false;
        p->text = cli_resize(p->text, capacity, 1);
        p->capacity = capacity;
    }
    const ssize_t n = read(p->output, p->text + p->length, p->capacity - p->length - 1);

    if (n > 0)
        p->length += (size_t)n;
    p->text[p->length] = '\0';
    return n > 0 || (n < 0 && errno == EINTR);
}

bool program_listen(struct program *program, int ms)
{
    struct pollfd ends[2] = {{.fd = program->output, .events = POLLIN},
                             {.fd = program->error, .events = POLLIN}};
    char piece[4096];

    if (poll(ends, 2, ms) <= 0)
        return false;
    if (ends[1].revents != 0) { /* copies it to ours, and keeps the begin */
        const ssize_t n = read(program->error, piece, sizeof piece - 1);

        if (n <= 0 && !(n < 0 && errno == EINTR))
            child_close(&program->error);
        piece[n > 0 ? n : 0] = '\0';
        text_add(program->words, sizeof program->words, "%s", piece);
        text_lines(stderr, TEXT_PLAIN, piece, "\n");
    }
    if (ends[0].revents != 0 && !take_output(program))
        child_close(&program->output);
    return true;
}

int program_start(const struct launch_how *how, struct program *program)
{
    const int pipes = how->heard == LAUNCH_ASKED ? 3 : 1;
    int ends[3][2] = {{-1, -1}, {-1, -1}, {-1, -1}}, made = 0;
    int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);

    *program = (struct program){.pid = -1};
    while (made < pipes && child_pipe(ends[made]) == 0)
        ++made;
    if (nothing >= 0 && made == pipes) {
        const int streams[][3] = {[LAUNCH_OUTPUT] = {nothing, ends[0][1], STDERR_FILENO},
                                  [LAUNCH_OUTPUT_ALONE] = {nothing, ends[0][1], nothing},
                                  [LAUNCH_ERROR_ALONE] = {nothing, nothing, ends[0][1]},
                                  [LAUNCH_ASKED] = {ends[1][0], ends[0][1], ends[2][1]}};

        program->pid =
            child_execute(how->program, how->argument, streams[how->heard], how->directory);
    }
    const int problem = errno;

    child_close(&nothing);
    child_close(&ends[0][1]);
    child_close(&ends[1][0]);
    child_close(&ends[2][1]);
    program->output = ends[0][0];
    program->input = ends[1][1];
    program->error = ends[2][0];
    watch_start(&program->watch);
    if (program->pid > 0)
        return 0;
    program_end(program, 0, 0);
    errno = problem;
    return -1;
}

/* Waits for its end, and takes what it prints. The time is that of a timer: a clock that stands
 * still would never end it. */
static bool wait_for_end(struct program *p, double seconds)
{
    const double until = watch_seconds(&p->watch) + seconds;
    siginfo_t info;
    bool ended;

    while (!(ended = child_has_ended(p->pid, &info)) && watch_seconds(&p->watch) < until)
        program_listen(p, p->output >= 0 ? TICK_MS : 1);
    return ended;
}

void program_end(struct program *program, double patience, double grace)
{
    child_close(&program->input);
    if (program->pid > 0) {
        if (!wait_for_end(program, patience) && grace > 0) {
            kill(program->pid, SIGTERM);
            wait_for_end(program, grace);
        }
        kill(-program->pid, SIGKILL);
        kill(program->pid, SIGKILL);
        child_wait(program->pid, &program->status);
    }
    program->pid = 0;
    while (program_listen(program, 0))
        ;
    child_close(&program->output);
    child_close(&program->error);
    watch_close(&program->watch);
}

int launch_program(const struct launch_how *how, struct program *program)
{
    double until = how->seconds;
    siginfo_t info;
    bool goes_on = true;

    if (program_start(how, program))
        return -1;
    while (goes_on && !program->too_long && !(program->interrupted = stop_requested())) {
        /* It reads the available output first: this process may have been stopped for longer than
         * the timeout, and output that came during that was in time. */
        const double left = until - watch_seconds(&program->watch);
        const bool open = program->output >= 0, ended = child_has_ended(program->pid, &info);

        const int ms = left <= 0 || (ended && !open) ? 0 : open ? SIGNAL_CHECK_MS : 1;

        if (program_listen(program, ms)) {
            /* A process that has closed its pipe may go on until the end. The deadline does not
             * count for its last moments: its output was in time. */
            if (program->output < 0)
                until = fmax(until, watch_seconds(&program->watch) + 1);
            continue;
        }
        /* If it has ended, a process that it started may still hold the pipe. */
        program->timed_out = !ended && left <= 0;
        goes_on = !ended && left > 0;
    }
    program_end(program, 0, how->grace);
    return 0;
}
