/* sides.h: what the files of the operations on our side of the wall share. */
#ifndef WALL_SIDES_H
#define WALL_SIDES_H

#include "inside.h"

struct impl_session {
    struct wall *wall;
    struct impl_session *theirs; /* an address over there */
};

struct impl_model {
    struct wall *wall;
    struct impl_model *theirs;
    int ranks;
};

/* ---- operations.c ---------------------------------------------------------------------------- */

struct impl_array *wall_put_arrays(struct wall *wall, const struct impl_array *arrays, size_t n);
/* Results; theirs NULL: nothing. */
void wall_take_arrays(struct impl_array *arrays, const struct impl_array *theirs, size_t n);
/* Inputs: notes that their descriptions were changed. */
void wall_same_arrays(struct wall *wall, const struct impl_array *arrays,
                      const struct impl_array *theirs, size_t n);

/* ---- models.c -------------------------------------------------------------------------------- */

int wall_model_open(struct impl_session *, const char *description, int ranks, struct impl_model **,
                    struct impl_error *);
void wall_model_close(struct impl_model *);
int wall_params(struct impl_model *, int *n, struct impl_error *);
int wall_param(struct impl_model *, int i, struct impl_param *, struct impl_error *);
int wall_set(struct impl_model *, int rank, enum impl_what, int i, const struct impl_array *,
             struct impl_error *);
int wall_get(struct impl_model *, int rank, enum impl_what, int i, struct impl_array *,
             struct impl_error *);
int wall_to(struct impl_model *, int device, struct impl_error *);
int wall_zero_grad(struct impl_model *, struct impl_error *);
int wall_forward(struct impl_model *, struct impl_forward *, struct impl_error *);
int wall_backward(struct impl_model *, struct impl_backward *, struct impl_error *);
int wall_step(struct impl_model *, const struct impl_step *, struct impl_error *);

#endif
