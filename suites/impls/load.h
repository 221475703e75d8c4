/* load.h: from --impl to a table of operations. */
#ifndef IMPLS_LOAD_H
#define IMPLS_LOAD_H

#include "impl.h"

struct impl_source {
    const struct impl_ops *ops;
    struct impl_ops table; /* `ops`, where it is put together here: do not copy this struct */
    char options[1024];    /* for impl_config.options */
    void *library;         /* dlopen's, NULL */
    bool process;          /* out of process: one session serves many cases */
    /* Out of process: how long one operation may take before it is BROKEN; open and model_open
     * have more. A case that makes several calls needs at least so much time. */
    unsigned limit_ms, open_limit_ms, model_limit_ms;
    /* Resident memory of the implementation's own process; NULL: it is ours. */
    int (*resident)(struct impl_session *session, size_t *bytes);
    /* Why its process can answer no more, NULL: it can. NULL: it has none. */
    const char *(*dead)(struct impl_session *session);
    /* Whether it crashed or hangs. NULL: it has none. */
    bool (*fell)(struct impl_session *session);
};

enum impl_spec_kind {
    IMPL_SPEC_UNKNOWN,
    IMPL_SPEC_REFERENCE,
    IMPL_SPEC_MUTANT,
    IMPL_SPEC_LIBRARY, /* code of others in a shared object: it belongs behind a wall (wall/wall.h)
                        */
    IMPL_SPEC_COMMAND
};

struct impl_spec {
    enum impl_spec_kind kind;
    const char *name; /* in the text: of a mutant, the path, the command */
    double seconds;   /* of a command: the limit of one operation */
};

/* Loads nothing. */
struct impl_spec impl_spec_read(const char *text);
/* spec: "reference" (options: "BACKEND/COMMUNICATOR", each may be ""), "mutant:NAME", a path with a
 * '/' to a shared object, "exec:COMMAND", or "exec@SECONDS:COMMAND" with another limit for an
 * operation. Loading runs code of the implementation: call it in a process that may die. 0, or -1
 * with one line in reason. */
int impl_load(const char *spec, const char *options, struct impl_source *source, char reason[600]);
/* The library stays in memory: threads of its runtime may still be in it. */
void impl_unload(struct impl_source *source);

const struct impl_ops *reference_impl(void); /* options: backend and communicator */
const struct impl_ops *mutant_impl(void);    /* options: the bug's name, "none" */

#endif
