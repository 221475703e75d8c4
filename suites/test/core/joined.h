/* joined.h: groups of one program that form a world together. A separate thread drives each.
 *
 * It has a bootstrap and communicators like those of a library for several processes, over memory
 * that the threads share. No rank uses memory of another rank by its address. */
#ifndef CASES_JOINED_H
#define CASES_JOINED_H

#include "backend.h"

#define JOINED_MOST 2

struct joined; /* what the threads share */

/* One thread's end of the world; its member world goes into dp_group_config. */
struct joined_end {
    struct joined *joined;
    int process;
    struct dp_world world;
    struct dp_collective *first, *last; /* issued, and not yet carried out */
};

/* How a communicator carries out an all-reduce: when it is issued, or all of them when it is
 * polled, so that they can be issued while backward goes on. */
enum joined_way { JOINED_AT_ONCE, JOINED_POLLED, JOINED_WAYS };

/* Returns NULL if there is no memory. */
struct joined *joined_open(int processes, enum joined_way way, struct joined_end end[]);
void joined_close(struct joined *joined);

/* A world whose group has a local communicator that moves and reduces, and has no collectives. */
extern const struct dp_world joined_without_ranks;

#endif
