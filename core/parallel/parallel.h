/* parallel.h: shared by the primitives, the replicas and DataParallel. Internal to core/parallel.
 */
#ifndef DP_PARALLEL_H
#define DP_PARALLEL_H

#include "../module.h"

/* The same as dp_scatter and dp_gather, with the phase that their time counts to. dim of dp_gather
 * counts from 0. */
int dp_scatter_phase(struct dp_run *run, const struct dp_tensor *input,
                     struct dp_slot *const slots[], int n_slots, int dim, const size_t sizes[],
                     enum dp_phase phase, struct dp_tensor shards[], int *n_shards,
                     struct dp_error *err);
int dp_gather_phase(struct dp_run *run, const struct dp_tensor parts[], int n, int dim,
                    struct dp_slot *output, enum dp_phase phase, struct dp_tensor *out,
                    struct dp_error *err);

/* Calls step(i) for every replica on its worker. Errors are reported as by dp_apply. */
struct dp_tasks {
    struct dp_group *group;
    struct dp_slot *slot[DP_MAX_SLOTS];
    int n;
    enum dp_phase phase;
    int (*step)(int i, void *arg, struct dp_error *err);
    void *arg;
};
int dp_tasks_run(struct dp_tasks *tasks, struct dp_error *err);

/* Writes transfers from src[j] to dst[j] to moves (capacity n), grouped as in
 * dp_broadcast_coalesced. Returns how many there are. */
int dp_coalesce_moves(const struct dp_tensor src[], const struct dp_tensor dst[], int n,
                      size_t limit, struct dp_move moves[]);

/* One tensor to sum: its destination, and the copy of replica i at src[i]. */
struct dp_summand {
    struct dp_tensor dst;
    bool accumulate;
    const void **src; /* one for each replica; merged sums advance into it, but never change it */
};
/* Writes sums (capacity n), grouped as in dp_reduce_add_coalesced. Returns how many there are. */
int dp_coalesce_sums(const struct dp_summand item[], int n, int replicas, size_t limit,
                     struct dp_sum sums[]);

/* ---- struct dp_replicas ------------------------------------------------------------------ */

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

/* ---- the two halves of data_parallel ----------------------------------------------------- */

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
