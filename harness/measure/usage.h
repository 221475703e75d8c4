/* measure/usage.h: what the machine did while the steps of a launch were measured: how much time of
 * its processing units went to other programs, and how often this process was interrupted.
 *
 * There are two readings, before the first measured step and after the last: nothing is read during
 * a step. A value that cannot be read, or cannot be true, is NaN, which means unknown; it is never
 * 0. */
#ifndef HARNESS_USAGE_H
#define HARNESS_USAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "dp.h"
#include "record/record.h"

enum { USAGE_UNITS = 8192 };

/* A set of processing units, by their numbers in the system. */
struct usage_units {
    bool has[USAGE_UNITS];
    int n; /* 0: not known which */
};

/* Adds the units of a list such as "0-3,8". Returns 0, or -1 if it is no such list. */
int usage_add_units(const char *list, struct usage_units *units);
/* In the functions that follow, root is "", or a folder with /proc and /sys of another machine. */

/* Adds the units that this thread may run on. */
void usage_add_allowed(const char *root, struct usage_units *units);
/* Finds the units that the workers of a group are bound to; if they are not bound, those that this
 * thread may run on. */
void usage_find_units(const char *root, struct dp_group *group, struct usage_units *units);

/* One reading. The counts are those since the machine, or this process, was started. */
struct usage_reading {
    uint64_t clock_ns;
    double busy_s, steal_s, all_s; /* of the units together, by /proc/stat */
    double own_s;                  /* CPU time of this process */
    double switches[2], faults[2]; /* voluntary and not; minor and major */
};

struct usage_reading usage_read(const char *root, const struct usage_units *units);
/* The mean frequency of the units now; NaN if the system does not give that of each. */
double usage_hz(const char *root, const struct usage_units *units);
/* Stores the differences of the two readings in the fields of the cell. It does not set cpu_hz. */
void usage_note(const struct usage_reading *begin, const struct usage_reading *end,
                const struct usage_units *units, struct record_cell *cell);

#endif
