/* remote.h: an implementation whose code runs in another process: one table of operations, each of
 * which becomes a call with arguments as calls.h has them. The wall and exec carry such calls. */
#ifndef IMPLS_REMOTE_H
#define IMPLS_REMOTE_H

#include "calls.h"

/* The first member of what a session is to those who carry its calls. */
struct impl_session {
    /* Carries a call, and fills what is out; model NULL: it is on the session. A model_open has the
     * new model there, and gives back NULL in its arguments unless there is one. */
    int (*carry)(struct impl_session *session, struct impl_model *model, enum impl_op op,
                 void *arguments, struct impl_error *err);
    struct impl_model *models; /* open ones */
};

struct impl_model {
    struct impl_session *session;
    struct impl_model *theirs; /* an address in the other process, or */
    long long number;          /* what it is called there */
    int ranks;
    struct impl_model *next;
};

/* All but open and close, which are NULL. */
extern const struct impl_ops remote_ops;
void remote_forget_models(struct impl_session *session);

#endif
