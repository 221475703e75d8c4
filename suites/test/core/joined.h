/* joined.h: groups of one program that are a world together, each driven by a thread of its own.
 *
 * A bootstrap and communicators as a library for several processes would bring them, over memory
 * that the threads share. Nothing of it uses another rank's memory by its address. */
#ifndef CASES_JOINED_H
#define CASES_JOINED_H

#include "backend.h"

#define JOINED_MOST 2

struct joined; /* what the threads share */

/* One thread's end of it; world goes into dp_group_config. */
struct joined_end {
    struct joined *joined;
    int process;
    struct dp_world world;
    struct dp_collective *first, *last; /* issued, and not yet carried out */
};

/* How a communicator carries out an allreduce: when it is issued, or all when it is polled, so that
 * they can be issued while backward goes on. */
enum joined_way { JOINED_AT_ONCE, JOINED_POLLED, JOINED_WAYS };

/* NULL: no memory. */
struct joined *joined_open(int processes, enum joined_way way, struct joined_end end[]);
void joined_close(struct joined *joined);

/* A group of its own, whose communicator moves and reduces, and has no collectives. */
extern const struct dp_world joined_without_ranks;

#endif
