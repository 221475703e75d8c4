/* inside.h: the mailbox, which the two sides of a wall share. */
#ifndef WALL_INSIDE_H
#define WALL_INSIDE_H

#include "around.h"
#include "remote.h"
#include "wall.h"

#include <stddef.h>

/* WALL_FD and above: the other side's ends of the pipes. */
enum { WALL_ROOM = 64 << 20, WALL_FD = 201 };

/* Memory of both processes. The implementation can write into it at any time, so we read each value
 * once, and judge our copy. Pointers are addresses of the other process, or point into the mailbox
 * or the arena. */
struct wall_box {
    uint64_t number; /* number of the request; its answer repeats it */
    uint32_t op;     /* enum impl_op */
    struct impl_session *session;
    struct impl_model *model; /* also out */
    void *arguments;          /* in room; NULL: there are none */
    struct arena_range fresh[ARENA_FRESH];
    size_t n_fresh;
    int status; /* out, like all members below */
    struct impl_error error;
    char changed[AROUND_WORDS];
    char reason[WALL_REASON]; /* LOAD */
    char options[1024];
    struct impl_ops table; /* LOAD: shows which operations there are */
    max_align_t room[];
};

/* ---- ours (ask.c) ---------------------------------------------------------------------------- */

/* Waits up to a second for the process to end; info->si_pid 0: it has not. */
void wall_wait(const struct wall *wall, siginfo_t *info);
/* Waits for the answer to the last request, which is about `doing`. Returns 0, or -1 and
 * wall->dead. */
int wall_answer(struct wall *wall, const char *doing);
/* Returns a copy in the mailbox; for NULL it is NULL. The copy is valid until the next call. */
void *wall_put(struct wall *wall, const void *from, size_t bytes);
/* Makes the call that was put together. Returns its status, and fills *err. */
int wall_call(struct wall *wall, enum impl_op op, struct impl_error *err);

/* ---- carry.c: sessions ----------------------------------------------------------------------- */

int wall_open(const struct impl_config *config, struct impl_about *about,
              struct impl_session **session, struct impl_error *err);
void wall_close(struct impl_session *session);

/* ---- its (serve.c) --------------------------------------------------------------------------- */

struct wall_serve {
    const struct wall_plan *plan;
    struct wall_box *box;
    struct arena arena;
    int ask, answer;
};

_Noreturn void wall_serve(struct wall_serve *serve);

#endif
