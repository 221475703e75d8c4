/* launch/program.h: a separate process that reports by pipe and dies with this one. */
#ifndef HARNESS_PROGRAM_H
#define HARNESS_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>

/* More output than this is too long. */
#define PROGRAM_OUTPUT_BYTES ((size_t)64 << 20)

/* The stream that is read from a program. The other one is that of this process, or is dropped. */
enum launch_heard { LAUNCH_OUTPUT, LAUNCH_OUTPUT_ALONE, LAUNCH_ERROR_ALONE };

/* A program, its arguments up to a NULL, and how it is run. */
struct launch_how {
    const char *program;
    char *const *argument;
    const char *directory; /* where it runs; NULL: here */
    enum launch_heard heard;
    double seconds; /* its time; then it is killed with all that it started */
    double grace;   /* for a program that ends what it has started: it gets SIGTERM first, and so
                       many seconds; 0: it is killed at once */
};

/* The output of a process, and how it ended. */
struct launch_output {
    char *text; /* what was read, then a 0; NULL: nothing. Caller frees */
    size_t length, capacity;
    bool timed_out, interrupted, too_long;
    int status; /* of waitpid; not valid for an interrupted one */
};

/* Executes the program and waits for its end, until its time is over or a stop is requested. The
 * exit status is 127 if there is no such program, and 126 if it cannot be executed. Returns 0, or
 * -1 and errno: no process was started. */
int launch_program(const struct launch_how *how, struct launch_output *output);

#endif
