/* replicas.h: the inside of struct dp_replicas. Internal to core/parallel. */
#ifndef DP_REPLICAS_H
#define DP_REPLICAS_H

#include "parallel.h"

struct replica {
    struct dp_run *run;
    struct dp_state state;
    struct dp_block *values, *grads; /* values NULL: those of the base */
    struct dp_move *moves;           /* room for one per parameter */
};

struct dp_replicas {
    struct dp_group *group;
    struct dp_module *module;
    struct dp_param_list params;
    size_t visits; /* of the module when it was wrapped */
    int *index;    /* parameter id to place in params */
    size_t first_id, n_ids;
    struct dp_slot *slot[DP_MAX_SLOTS];
    struct replica replica[DP_MAX_SLOTS];
    int n;
    /* Room for dp_reduce, so that a step allocates nothing. */
    struct dp_summand *item;
    struct dp_sum *sums;
    const void **pointers;
};

/* DP_EDEVICE unless every parameter and buffer is on slot[0]. */
int dp_replicas_check(const struct dp_replicas *replicas, struct dp_error *err);
/* The gradients of replicas 0..m-1 to none. */
void dp_replicas_zero_grad(struct dp_replicas *replicas, int m);

#endif
