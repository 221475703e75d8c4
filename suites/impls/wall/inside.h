/* inside.h: what the two sides of a wall share: the mailbox. */
#ifndef WALL_INSIDE_H
#define WALL_INSIDE_H

#include "around.h"
#include "remote.h"
#include "wall.h"

#include <stddef.h>
#include <sys/types.h>

enum { WALL_ROOM = 64 << 20, WALL_FD = 201 }; /* WALL_FD and above: its ends of the pipes */

/* Memory of both. The implementation can write into it at any time: we read what we need of it
 * once, and judge our copy. Pointers are its own, or into the mailbox or the arena. */
struct wall_box {
    uint64_t number; /* of the request; its answer repeats it */
    uint32_t op;     /* enum impl_op */
    struct impl_session *session;
    struct impl_model *model; /* also out */
    void *arguments;          /* in room; NULL: there are none */
    struct arena_range fresh[ARENA_FRESH];
    size_t n_fresh;
    int status; /* out, as all below */
    struct impl_error error;
    char changed[AROUND_WORDS];
    char reason[WALL_REASON]; /* LOAD */
    char options[1024];
    struct impl_ops table; /* LOAD: which operations there are */
    max_align_t room[];
};

struct wall {
    pid_t pid;
    int ask, answer, fault; /* our ends of the pipes; -1 */
    struct wall_box *box;
    struct arena arena;
    struct impl_ops ops;
    uint64_t number;
    size_t used; /* of the mailbox's room, by the call that is being made */
    bool full;   /* it was not enough */
    bool fell;
    const void *touched;
    char dead[WALL_REASON], changed[AROUND_WORDS], options[1024];
};

/* ---- ours (ask.c) ---------------------------------------------------------------------------- */

/* Up to a second, for the process to end; info->si_pid 0: it has not. */
void wall_wait(const struct wall *wall, siginfo_t *info);
/* To the request that was sent last, which is about `doing`. 0, or -1 and wall->dead. */
int wall_answer(struct wall *wall, const char *doing);
/* A copy in the mailbox; from NULL: NULL. What was there is gone with the next call. */
void *wall_put(struct wall *wall, const void *from, size_t bytes);
/* Makes the call that was put together. Its status, and *err. */
int wall_call(struct wall *wall, enum impl_op op, struct impl_error *err);
/* Notes that the call has changed what it must not. */
void wall_note(struct wall *wall, const char *what);

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
