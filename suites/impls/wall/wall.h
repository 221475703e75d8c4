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
#include "around.h"
#include "impl.h"

#include <sys/types.h>

enum { WALL_REASON = 600 };

struct wall_box; /* inside.h */

struct wall {
    struct impl_ops ops; /* an entry is NULL if the implementation has no such operation */
    char options[1024];  /* the options of the implementation */
    struct arena arena;
    char changed[AROUND_WORDS]; /* which state the last call left changed (around.h); "": none */
    bool fell;           /* the implementation is to blame: it crashed or ended during a call */
    const void *touched; /* the address whose access made it crash; NULL: it is not known */
    /* The rest is for the files of the wall. */
    char dead[WALL_REASON]; /* why no further call can be made; "": one can */
    pid_t pid;
    int ask, answer, fault; /* our ends of the pipes; -1: none */
    struct wall_box *box;
    uint64_t number;
    size_t used; /* capacity of the mailbox that the current call uses */
    bool full;   /* the capacity was not enough */
};

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
/* Ends the process. Returns 0, or -1 with a reason: it did not end as it should. */
int wall_end(struct wall *wall, char reason[WALL_REASON]);

/* Returns why no further call can be made; NULL: one can. */
const char *wall_dead(const struct wall *wall);
/* Reads the memory of its process, without the part that it shares with ours. Returns 0, or -1. */
int wall_resident(const struct wall *wall, size_t *bytes);

#endif
