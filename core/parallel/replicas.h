/* replicas.h: internals of struct dp_replicas. Internal to core/parallel. */
#ifndef DP_REPLICAS_H
#define DP_REPLICAS_H

#include "parallel.h"

struct replica {
    struct dp_run *run;
    struct dp_state state;
    struct dp_block *values, *grads; /* values NULL: the base has them */
    struct dp_move *moves;           /* capacity: one for each parameter */
};

struct dp_replicas {
    struct dp_group *group;
    struct dp_module *module;
    struct dp_param_list params;
    size_t visits; /* of the module when it was wrapped */
    int *index;    /* from parameter id to place in params */
    size_t first_id, n_ids;
    struct dp_slot *slot[DP_MAX_SLOTS];
    struct replica replica[DP_MAX_SLOTS];
    int n;
    /* Workspace for dp_reduce, so that a step allocates nothing. */
    struct dp_summand *item;
    struct dp_sum *sums;
    const void **pointers;
};

/* DP_EDEVICE unless every parameter and buffer is on slot[0]. */
int dp_replicas_check(const struct dp_replicas *replicas, struct dp_error *err);
/* Sets the gradients of replicas 0..m-1 to none. */
void dp_replicas_zero_grad(struct dp_replicas *replicas, int m);

#endif
