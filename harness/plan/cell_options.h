/* plan/cell_options.h: the command line of a worker process: a cell_config as options, and back.
 *
 * What one program writes the same program reads, so a value that cannot be used is no user's. */
#ifndef HARNESS_CELL_OPTIONS_H
#define HARNESS_CELL_OPTIONS_H

#include "plan/plan.h"

enum {
    CELL_FIELDS = 22, /* what every cell has; the axes follow */
    CELL_OPTIONS = CELL_FIELDS + PLAN_OPTIONS,
    CELL_VALUE_BYTES = sizeof((struct workload *)0)->name
};

/* Name of option i, "" of a row that is none, and what stands for its value in a help text; NULL:
 * it is a flag. */
const char *cell_option_name(size_t i);
const char *cell_option_value(size_t i);

/* Whether option i belongs in the command line of config, and its value; a flag's is "". */
bool cell_option_write(size_t i, const struct cell_config *config, char value[CELL_VALUE_BYTES]);
/* 0, or -1 when the value cannot be used. */
int cell_option_read(size_t i, const char *value, struct cell_config *config);

#endif
