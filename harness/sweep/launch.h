/* sweep/launch.h: a launch, which is a separate process. */
#ifndef HARNESS_LAUNCH_H
#define HARNESS_LAUNCH_H

#include "plan/plan.h"

/* The command line of a worker, "lockstep cell ..."; the strings that it points to are in the same
 * object. */
enum { LAUNCH_ARGUMENTS = 2 * CELL_OPTIONS + 3, LAUNCH_NAME_BYTES = 32 };
struct launch_command {
    char *argument[LAUNCH_ARGUMENTS];
    char program[sizeof "lockstep"], command[sizeof "cell"];
    char name[CELL_OPTIONS][LAUNCH_NAME_BYTES], value[CELL_OPTIONS][CELL_VALUE_BYTES];
};
void launch_command(const struct cell_config *config, struct launch_command *line);

/* Makes one launch by `PROGRAM cell` (NULL: by this program), and fills its record in any case:
 * with the record that the worker sent, or with how it ended. Returns 0; or 1 if a stop was
 * requested first (the worker was killed, there is no record). Frees nothing. *trace: gets the line
 * that the worker sent before its record (measure/trace.c), NULL if there is none; the caller frees
 * it. trace NULL: no trace is asked for. */
int launch_cell(const char *program, const struct cell_config *config, double timeout_seconds,
                struct record_cell *cell, char **trace);

#endif
