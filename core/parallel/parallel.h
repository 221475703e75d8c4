/* parallel.h: shared by the primitives. Internal to core/parallel. */
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

#endif
