/* launch/program.h: a separate process that reports by pipe and dies with this one. */
#ifndef HARNESS_PROGRAM_H
#define HARNESS_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>

/* More output than this is too long. */
#define PROGRAM_OUTPUT_BYTES ((size_t)64 << 20)

/* The output of a process, and how it ended. */
struct launch_output {
    char *text; /* its standard output, then a 0; NULL: nothing. Caller frees */
    size_t length, capacity;
    bool timed_out, interrupted, too_long, no_memory;
    int status; /* of waitpid; not valid for an interrupted one */
};

/* Executes program with these arguments and waits for its end, at most timeout_seconds and until a
 * stop is requested; then it is killed with all that it started. quiet: its standard error is
 * dropped. The exit status is 127 if there was nothing to execute. Returns 0, or -1 and errno: no
 * process was started. */
int launch_program(const char *program, char *const argument[], bool quiet, double timeout_seconds,
                   struct launch_output *output);

/* The same for a program that ends the processes that it has started: when its time is over, or a
 * stop is requested, it gets SIGTERM first, and grace seconds. */
int launch_gently(const char *program, char *const argument[], double timeout_seconds, double grace,
                  struct launch_output *output);

#endif
