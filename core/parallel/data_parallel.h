/* data_parallel.h: shared by the two halves of data_parallel. Internal to core/parallel. */
#ifndef DP_DATA_PARALLEL_H
#define DP_DATA_PARALLEL_H

#include "replicas.h"

struct dp_parallel_self {
    struct dp_replicas *replicas; /* NULL: no slots, the module is called directly */
    struct dp_slot *slot[DP_MAX_SLOTS];
    int n;
    struct dp_slot *output;
    int dim;
    /* The run, and its step, for which the runs of the replicas are set up. */
    bool in_step;
    uint64_t run, step;
    /* Gradients of output and input k of replica i, during a backward. */
    struct dp_tensor grad_out[DP_MAX_IO][DP_MAX_SLOTS], grad_in[DP_MAX_IO][DP_MAX_SLOTS];
};

/* The data that one forward leaves for its backward, in addition to the outputs of each replica. */
struct dp_parallel_call {
    bool direct; /* one slot or none: there were no replicas */
    int m, n_in, n_out;
    size_t tape[DP_MAX_SLOTS];      /* how much replica i had saved after this forward */
    struct dp_tensor in[DP_MAX_IO]; /* inputs of the caller */
    struct dp_tensor shard[DP_MAX_IO][DP_MAX_SLOTS]; /* input k of replica i */
    struct dp_tensor out[DP_MAX_IO][DP_MAX_SLOTS];   /* output k of replica i */
};

/* data_parallel_backward.c: the backward of the wrapper. */
int dp_parallel_backward(struct dp_module *module, struct dp_run *run,
                         const struct dp_tensor grad_out[], int n_out, struct dp_tensor grad_in[],
                         int n_in, struct dp_error *err);

#endif
