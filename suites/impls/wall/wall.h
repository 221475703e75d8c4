/* wall.h: an implementation in a separate process. The border between that process and ours is
 * called the wall.
 *
 * The cases, their expected values and their verdicts are in our process, where no code of the
 * implementation ever runs. Its process is asked to make a call, and its results are checked here.
 * Arrays lie in memory of both processes (arena.h) at the same address, so they are not copied;
 * their descriptions are. */
#ifndef WALL_WALL_H
#define WALL_WALL_H

#include "arena.h"
#include "impl.h"

enum { WALL_REASON = 600 };

struct wall;

struct wall_plan {
    const char *spec, *options; /* as for impl_load */
    /* Called in the process of the implementation, before it is loaded: closes and forgets what the
     * implementation must not have. NULL: nothing. */
    void (*forget)(void *context);
    void *context;
    bool sanitized; /* the sanitizers look for leaks at exit(), and report crashes themselves */
};

/* The configuration for open; it has the wall, because a table of operations cannot. */
struct wall_config {
    struct impl_config impl;
    struct wall *wall;
};

/* Starts the process and loads the implementation. Returns 0; or -1 with the reason, and whether
 * the implementation is to blame for it. */
int wall_start(const struct wall_plan *plan, struct wall **wall, char reason[WALL_REASON],
               bool *blame);
/* An entry is NULL if the implementation has no such operation. Valid until wall_end. */
const struct impl_ops *wall_ops(const struct wall *wall);
struct arena *wall_arena(struct wall *wall);
const char *wall_options(const struct wall *wall); /* the options of the implementation */
/* Ends the process. Returns 0, or -1 with a reason: it did not end as it should. */
int wall_end(struct wall *wall, char reason[WALL_REASON]);

/* Returns why no further call can be made; NULL: one can. */
const char *wall_dead(const struct wall *wall);
/* Whether the implementation is to blame: it crashed or ended during a call. */
bool wall_fell(const struct wall *wall);
/* Returns the address whose access made it crash; NULL: it is not known. */
const void *wall_touched(const struct wall *wall);
/* Returns which state the last call left changed (around.h); "": none. */
const char *wall_changed(const struct wall *wall);
/* Reads the memory of its process, without the part that it shares with ours. Returns 0, or -1. */
int wall_resident(const struct wall *wall, size_t *bytes);

#endif
