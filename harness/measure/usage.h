/* measure/usage.h: what the machine did while the steps of a launch were measured: how much of its
 * processing units' time went to others, and what this process was interrupted by.
 *
 * Two readings, before the first measured step and after the last: nothing is read in a step. What
 * cannot be read, or cannot be true, is NaN, which is unknown; it is never 0. */
#ifndef HARNESS_USAGE_H
#define HARNESS_USAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "dp.h"
#include "record/record.h"

enum { USAGE_UNITS = 8192 };

/* Processing units, by the number that the system gives them. */
struct usage_units {
    bool has[USAGE_UNITS];
    int n; /* 0: not known which */
};

/* Adds those of a list such as "0-3,8". 0, or -1 when it is no such list. */
int usage_add_units(const char *list, struct usage_units *units);
/* Root is "", or a folder with another machine's /proc and /sys. */

/* Adds those that this thread may run on. */
void usage_add_allowed(const char *root, struct usage_units *units);
/* Those that the workers of a group are bound to, else those that this thread may run on. */
void usage_find_units(const char *root, struct dp_group *group, struct usage_units *units);

/* Since the machine, or this process, was started. */
struct usage_reading {
    uint64_t clock_ns;
    double busy_s, steal_s, all_s; /* of the units together, by /proc/stat */
    double own_s;                  /* CPU time of this process */
    double switches[2], faults[2]; /* voluntary and not; minor and major */
};

struct usage_reading usage_read(const char *root, const struct usage_units *units);
/* The mean frequency of the units now, NaN where the system does not tell that of each. */
double usage_hz(const char *root, const struct usage_units *units);
/* What passed from the first to the second, in the fields of the cell; its cpu_hz is left. */
void usage_note(const struct usage_reading *begin, const struct usage_reading *end,
                const struct usage_units *units, struct record_cell *cell);

#endif
