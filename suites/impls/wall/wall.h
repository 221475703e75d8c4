/* wall.h: an implementation in a process of its own, behind a wall.
 *
 * The cases, their expected values and the way of their verdicts are in our process, where no code
 * of the implementation ever runs. Its process is asked to make a call, and what it gives back is
 * looked at here. Arrays lie in memory of both (arena.h) at the same address, so nothing is copied;
 * what describes them is. */
#ifndef WALL_WALL_H
#define WALL_WALL_H

#include "arena.h"
#include "impl.h"

enum { WALL_REASON = 600 };

struct wall;

struct wall_plan {
    const char *spec, *options; /* as impl_load gets them */
    /* In the process of the implementation, before it is loaded: closes and forgets what is not
     * its business. NULL: nothing. */
    void (*forget)(void *context);
    void *context;
    bool sanitized; /* sanitizers look for leaks at exit(), and tell of crashes themselves */
};

/* What open gets: a table has no place for whom it belongs to. */
struct wall_config {
    struct impl_config impl;
    struct wall *wall;
};

/* Starts the process and loads the implementation. 0; or -1 with the reason, and whether the
 * implementation is to blame for it. */
int wall_start(const struct wall_plan *plan, struct wall **wall, char reason[WALL_REASON],
               bool *blame);
/* NULL where the implementation has no such operation. Valid until wall_end. */
const struct impl_ops *wall_ops(const struct wall *wall);
struct arena *wall_arena(struct wall *wall);
const char *wall_options(const struct wall *wall); /* what the implementation has for options */
/* Ends the process. 0, or -1 with a reason: it did not end as it should. */
int wall_end(struct wall *wall, char reason[WALL_REASON]);

/* Why no call can be made any more; NULL: one can. */
const char *wall_dead(const struct wall *wall);
/* Whether that is the implementation's fault: it crashed or ended within a call. */
bool wall_fell(const struct wall *wall);
/* The address that it must not have touched when it crashed; NULL: it is not known. */
const void *wall_touched(const struct wall *wall);
/* What the last call left changed (around.h); "": nothing. */
const char *wall_changed(const struct wall *wall);
/* Memory of its process, without what it shares with ours. 0, or -1. */
int wall_resident(const struct wall *wall, size_t *bytes);

#endif
