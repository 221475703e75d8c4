/* load.h: loads the table of operations of an implementation, given by --impl. */
#ifndef IMPLS_LOAD_H
#define IMPLS_LOAD_H

#include "impl.h"

struct impl_source {
    const struct impl_ops *ops;
    struct impl_ops table; /* of `ops`, if it is made here: do not copy this struct */
    char options[1024];    /* for impl_config.options */
    void *library;         /* of dlopen; NULL: none */
    bool process;          /* in another process: one session serves many cases */
    /* In another process: the time that one operation may take before it is BROKEN; open and
     * model_open have more. */
    unsigned limit_ms;
    /* Reads the resident memory of the implementation's own process; NULL: it is in ours. */
    int (*resident)(struct impl_session *session, size_t *bytes);
    /* Returns why its process can no longer answer; NULL: it can. NULL: it has no process. */
    const char *(*dead)(struct impl_session *session);
    /* Whether its process crashed or hangs. NULL: it has none. */
    bool (*fell)(struct impl_session *session);
};

enum impl_spec_kind {
    IMPL_SPEC_UNKNOWN,
    IMPL_SPEC_REFERENCE,
    IMPL_SPEC_MUTANT,
    IMPL_SPEC_LIBRARY, /* foreign code, which belongs in a separate process (wall/wall.h) */
    IMPL_SPEC_COMMAND
};

struct impl_spec {
    enum impl_spec_kind kind;
    const char
        *name;      /* a part of the text: the bug of a mutant, the path, the command; NULL: none */
    double seconds; /* of a command: the limit of one operation */
    bool torch;     /* the command is that of a layer (torch.h), which `name` is */
};

/* Reads a specification, and loads nothing. */
struct impl_spec impl_spec_read(const char *text);
/* spec: "reference" (options: "BACKEND/COMMUNICATOR", each may be ""), "mutant:NAME", a path with a
 * '/' to a shared object, "exec:COMMAND", "torch", "torch:MODULE:NAME" (torch.h), or with another
 * limit for an operation "exec@SECONDS:COMMAND", "torch@SECONDS:MODULE:NAME". Loading runs code of
 * the implementation, so call it in a process that may die. A library stays in memory, because
 * threads of its runtime may still be in it. Returns 0, or -1 with one line in reason. */
int impl_load(const char *spec, const char *options, struct impl_source *source, char reason[600]);

const struct impl_ops *reference_impl(void); /* options: backend and communicator */
const struct impl_ops *mutant_impl(void);    /* options: the bug's name, "none" */

#endif
