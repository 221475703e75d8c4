/* idle.h: the operations, as in the table. With BUG_IDLE, and BUG_IDLE_OTHER, they compute nothing:
 * every request is accepted at once, and answered with zeros. */
#ifndef MUTANTS_IDLE_H
#define MUTANTS_IDLE_H

#include "later.h"

int idle_split(struct impl_session *s, struct impl_split *op, struct impl_error *err);
int idle_scatter(struct impl_session *s, struct impl_scatter *op, struct impl_error *err);
int idle_gather(struct impl_session *s, struct impl_gather *op, struct impl_error *err);
int idle_broadcast(struct impl_session *s, struct impl_broadcast *op, struct impl_error *err);
int idle_reduce(struct impl_session *s, struct impl_reduce *op, struct impl_error *err);
int idle_apply(struct impl_session *s, struct impl_apply *op, struct impl_error *err);
int idle_buckets(struct impl_session *s, struct impl_buckets *op, struct impl_error *err);
int idle_sampler(struct impl_session *s, struct impl_sampler *op, struct impl_error *err);
int idle_open(struct impl_session *s, const char *description, int ranks, struct impl_model **model,
              struct impl_error *err);
int idle_param(struct impl_model *model, int i, struct impl_param *param, struct impl_error *err);
int idle_set(struct impl_model *model, int rank, enum impl_what what, int i,
             const struct impl_array *array, struct impl_error *err);
int idle_get(struct impl_model *model, int rank, enum impl_what what, int i,
             struct impl_array *array, struct impl_error *err);
int idle_to(struct impl_model *model, int device, struct impl_error *err);
int idle_zero_grad(struct impl_model *model, struct impl_error *err);
int idle_forward(struct impl_model *model, struct impl_forward *op, struct impl_error *err);
int idle_backward(struct impl_model *model, struct impl_backward *op, struct impl_error *err);
int idle_step(struct impl_model *model, const struct impl_step *step, struct impl_error *err);

#endif
