/* remote.h: an implementation whose code runs in another process. In its table each operation
 * becomes a call, with arguments as in calls.h. The wall and exec carry such calls. */
#ifndef IMPLS_REMOTE_H
#define IMPLS_REMOTE_H

#include "calls.h"

/* The first member of every session whose calls are carried. */
struct impl_session {
    /* Carries a call, and fills its results; model NULL: the call is on the session. For a
     * model_open, model is the new model, which may be given to another session; its arguments have
     * NULL afterwards if there is none. */
    int (*carry)(struct impl_session *session, struct impl_model *model, enum impl_op op,
                 void *arguments, struct impl_error *err);
    struct impl_model *models; /* the open models */
};

struct impl_model {
    struct impl_session *session;
    struct impl_model *theirs; /* its address in the other process, or */
    long long number;          /* its number there */
    int ranks;
    struct impl_model *next;
};

/* All operations except open and close, which are NULL. */
extern const struct impl_ops remote_ops;
void remote_forget_models(struct impl_session *session);

#endif
