/* sweep/launch.h: a separate process that reports by pipe and dies with this one; and a cell in
 * such a process. */
#ifndef HARNESS_LAUNCH_H
#define HARNESS_LAUNCH_H

#include "plan/cell.h"
#include "plan/cell_options.h"

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

/* The command line of a worker, "lockstep cell ..."; the strings that it points to are in the same
 * object. */
enum { LAUNCH_ARGUMENTS = 2 * CELL_OPTIONS + 3, LAUNCH_NAME_BYTES = 32 };
struct launch_command {
    char *argument[LAUNCH_ARGUMENTS];
    char program[sizeof "lockstep"], command[sizeof "cell"];
    char name[CELL_OPTIONS][LAUNCH_NAME_BYTES], value[CELL_OPTIONS][CELL_VALUE_BYTES];
};
void launch_command(const struct cell_config *config, struct launch_command *line);

/* Runs one cell by `PROGRAM cell` (NULL: by this program), and fills its record in any case: with
 * the record that the worker sent, or with how it ended. Returns 0; or 1 if a stop was requested
 * first (the worker was killed, there is no record). Frees nothing. *trace: gets the line that the
 * worker sent before its record (measure/trace.h), NULL if there is none; the caller frees it.
 * trace NULL: no trace is asked for. */
int launch_cell(const char *program, const struct cell_config *config, double timeout_seconds,
                struct record_cell *cell, char **trace);

#endif
