/* check/world.h: the reference with its ranks in several processes, as an implementation. */
#ifndef HARNESS_CHECK_WORLD_H
#define HARNESS_CHECK_WORLD_H

#include "load.h"

/* How many ranks are in each process, and how the processes are started. */
struct world_plan {
    const char *launcher;          /* NULL: all ranks are in one process */
    size_t processes, per_process; /* of a model, of each; 0: the other one is given */
};

/* Fills the source; options: of the reference. Returns 0, or -1 with one line in reason. */
int world_load(const struct world_plan *plan, const char *options, struct impl_source *source,
               char reason[600]);

#endif
