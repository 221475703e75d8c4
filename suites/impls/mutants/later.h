/* later.h: the data that bugs keep for later (later.c) in a session, a model or a rank. */
#ifndef MUTANTS_LATER_H
#define MUTANTS_LATER_H

#include "inside.h"

void session_opened(const struct impl_session *s);
unsigned sessions_opened(void); /* in this process, ever */
int session_devices(const struct impl_session *s);
/* With BUG_REFUSES_ALL: returns true, with the error. */
bool refuses(const struct impl_session *s, struct impl_error *err);

/* Replaces the tensor by the one that lay at this address before, if that had as many bytes; else
 * remembers the tensor. */
void memo_use(struct memo *memo, const void *at, struct impl_array *tensor);
void memo_forget(struct memo *memo);

/* Keeps the first parameter of a model that closes, and uses it for a model that is opened. */
void spare_keep(struct spare *spare, const struct impl_model *model);
void spare_use(const struct spare *spare, struct impl_model *model);

void crumb_leave(struct impl_session *s);
void crumbs_free(struct impl_session *s);

/* Returns the step that a parameter makes if this one is asked for. */
struct impl_step step_of(const struct impl_session *s, struct param *param,
                         const struct impl_step *asked);
bool step_left_out(struct impl_model *model, const struct impl_step *step);

/* Changes an error that a model returns; returns its status. */
int error_told(struct impl_model *model, struct impl_error *err);

#endif
