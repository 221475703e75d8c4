/* plan/cell_options.h: converts a cell_config to the command line of a worker process, and back.
 *
 * The same program writes and reads it, so a value that cannot be used is not the fault of a user.
 */
#ifndef HARNESS_CELL_OPTIONS_H
#define HARNESS_CELL_OPTIONS_H

#include "plan/plan.h"

enum {
    CELL_FIELDS = 22, /* options that every cell has; the axes follow them */
    CELL_OPTIONS = CELL_FIELDS + PLAN_OPTIONS,
    CELL_VALUE_BYTES = sizeof((struct workload *)0)->name
};

/* The name of option i, or "" if the row is no option. The value is the placeholder in a help text;
 * NULL: the option is a flag. */
const char *cell_option_name(size_t i);
const char *cell_option_value(size_t i);

/* Whether the command line of config has option i. It also writes the value; "" for a flag. */
bool cell_option_write(size_t i, const struct cell_config *config, char value[CELL_VALUE_BYTES]);
/* Returns 0, or -1 if the value cannot be used. */
int cell_option_read(size_t i, const char *value, struct cell_config *config);

#endif
