/* data_parallel.h: what the two halves of data_parallel share. Internal to core/parallel. */
#ifndef DP_DATA_PARALLEL_H
#define DP_DATA_PARALLEL_H

#include "replicas.h"

struct dp_parallel_self {
    struct dp_replicas *replicas; /* NULL: no slots, a plain call */
    struct dp_slot *slot[DP_MAX_SLOTS];
    int n;
    struct dp_slot *output;
    int dim;
    /* The run and the step of it that the replicas' runs are in. */
    bool in_step;
    uint64_t run, step;
    /* Gradients of output and input k of replica i, during a backward. */
    struct dp_tensor grad_out[DP_MAX_IO][DP_MAX_SLOTS], grad_in[DP_MAX_IO][DP_MAX_SLOTS];
};

/* What one forward leaves for its backward, besides the outputs of each replica. */
struct dp_parallel_call {
    bool direct; /* one slot or none: no replicas took part */
    int m, n_in, n_out;
    size_t tape[DP_MAX_SLOTS];      /* how far replica i had saved after this forward */
    struct dp_tensor in[DP_MAX_IO]; /* as the caller gave them */
    struct dp_tensor shard[DP_MAX_IO][DP_MAX_SLOTS]; /* input k of replica i */
    struct dp_tensor out[DP_MAX_IO][DP_MAX_SLOTS];   /* output k of replica i */
};

/* data_parallel_backward.c: the wrapper's backward. */
int dp_parallel_backward(struct dp_module *module, struct dp_run *run,
                         const struct dp_tensor grad_out[], int n_out, struct dp_tensor grad_in[],
                         int n_in, struct dp_error *err);

#endif
