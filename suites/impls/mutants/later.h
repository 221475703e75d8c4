/* later.h: what bugs keep for later (later.c), and hold on to in a session, a model or a rank. */
#ifndef MUTANTS_LATER_H
#define MUTANTS_LATER_H

#include "inside.h"

void session_opened(const struct impl_session *s);
unsigned sessions_opened(void); /* in this process, ever */
int session_devices(const struct impl_session *s);
/* BUG_REFUSES_ALL: true, with the error. */
bool refuses(const struct impl_session *s, struct impl_error *err);

/* What lay at this address before, if it had as many bytes; else the tensor is remembered. */
void memo_use(struct memo *memo, const void *at, struct impl_array *tensor);
void memo_forget(struct memo *memo);

/* The first parameter of a model that closes, and of one that opens. */
void spare_keep(struct spare *spare, const struct impl_model *model);
void spare_use(const struct spare *spare, struct impl_model *model);

void crumb_leave(struct impl_session *s);
void crumbs_free(struct impl_session *s);

/* The step that a parameter makes when this one is asked for. */
struct impl_step step_of(const struct impl_session *s, struct param *param,
                         const struct impl_step *asked);
bool step_left_out(struct impl_model *model, const struct impl_step *step);

/* An error of a model on its way out; returns its status. */
int error_told(struct impl_model *model, struct impl_error *err);

#endif
