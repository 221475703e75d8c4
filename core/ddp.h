/* ddp.h: DistributedDataParallel. Every slot is a rank: it has a replica that stays, its own
 * batches, gradients and optimizer state. Conventions are those of dp.h.
 *
 * The slots of a group of several processes (dp_group_config.world) are ranks of one world. A call
 * takes and gives what belongs to the R ranks of its process, its local ranks: local rank r is rank
 * dp_group_first + r. All processes make the same calls in the same order. One that fails in one
 * process fails in the others, too, and no further call of that group succeeds.
 *
 * After a backward all ranks hold the mean of their gradients, the same bits on each; equal
 * parameters stay equal, and are never sent again. Gradients are reduced bucket by bucket, each as
 * soon as it and those before it are complete on all ranks, while backward goes on if the
 * communicator can do that. Source: torch.nn.parallel.DistributedDataParallel.
 *
 * Letters    R local ranks, r one of them, P parameters and buffers of the module as in
 * dp_module_params. */
#ifndef DP_DDP_H
#define DP_DDP_H

#include "dp.h"

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

struct dp_ddp;

struct dp_ddp_config {
    /* Least bytes of the first bucket and of the others; 0: 1 MiB and 25 MiB. */
    size_t first_bucket_bytes, bucket_bytes;
    /* Parameters may get no gradient in a backward. [DDP-21 DDP-22] */
    bool find_unused;
    bool keep_buffers; /* buffers are not broadcast before a forward */
    /* In a join: the mean is over the ranks that still have a batch, not over all. [DDP-19] */
    bool divide_by_active;
    /* Wait for each bucket, so that dp_ddp_bucket knows when it was done. A device that runs its
     * work at once knows that anyway. */
    bool timed;
};

/* Ranks on n different slots; where there are other processes on all of the group's, in order.
 * Local rank 0 has the module's own parameters; all parameters and buffers of rank 0 of the world
 * are copied to all others once, here. [DDP-07] Errors DP_EINVAL other processes have other
 * parameters; no slots, a slot twice or of another group, no parameter to train [DDP-29], one of
 * another type than DP_F32; DP_EDEVICE the module is not on slots[0]; DP_ENOTSUP the group's
 * communicator has no collectives for ranks. Ownership: *ddp by dp_ddp_close, before the module's
 * last reference and the group. */
int dp_ddp_open(struct dp_module *module, struct dp_slot *const slots[], int n,
                const struct dp_ddp_config *config, struct dp_ddp **ddp, struct dp_error *err);
void dp_ddp_close(struct dp_ddp *ddp);      /* NULL allowed */
int dp_ddp_ranks(const struct dp_ddp *ddp); /* R */

/* Starts a step: as dp_run_reset, on all ranks. */
void dp_ddp_reset(struct dp_ddp *ddp);
void dp_ddp_grad_mode(struct dp_ddp *ddp, bool on);  /* default on */
void dp_ddp_train_mode(struct dp_ddp *ddp, bool on); /* default on */
/* While on: the backwards of the forwards that are made now leave each rank its own gradients,
 * undivided; the next other backward reduces all that has piled up. Default off. [DDP-16] */
void dp_ddp_no_sync(struct dp_ddp *ddp, bool on);

/* Every rank runs the module on its batch: rank r's inputs are in[r * n_in + k], on any slot, its
 * outputs out[r * DP_MAX_IO + k], on its own; room for R * DP_MAX_IO. Nothing is scattered,
 * gathered or averaged. [DDP-27 DDP-28] Rank 0's buffers are copied to the others first, unless the
 * forward before was without gradients or in no_sync. [DDP-08]
 *   active   NULL (in all processes), or R flags: a rank that is false has no batch any more, and
 * stays so: it takes no part, its inputs are ignored, dp_ddp_step leaves it alone; to the others it
 * counts as zeros. Meanwhile buffers are those of the highest active rank. The first forward with
 * NULL, or with no rank active (which runs nothing), ends the join: all get the parameters and
 * buffers of the last rank to join, of several the highest. [DDP-19 DDP-20] Errors DP_EINVAL a rank
 * comes back; DP_EDEVICE the module was moved; the module's. */
int dp_ddp_forward(struct dp_ddp *ddp, const struct dp_tensor in[], int n_in, const bool active[],
                   struct dp_tensor out[], int *n_out, struct dp_error *err);

/* Some rank of the world has no batch any more, and some rank has one: after a forward. A process
 * none of whose ranks is active gets no outputs then, and still makes all calls. */
bool dp_ddp_joining(const struct dp_ddp *ddp);

/* Backward of the last forward that had none: grad_out[r * n_grad_out + k] on the outputs' slots,
 * n_grad_out 0: ones; grad_in[r * n_in + k] on the inputs' slots, NULL: not wanted. Each rank adds
 * to its own gradients, multiplies by (float)(1 / W) for W ranks of the world, and the
 * ranks' are added in rank order: exact on exact data when W is a power of two. [DDP-01 DDP-05]
 * When it returns, later work of the compute queues comes after the reduction. [DDP-15] A parameter
 * without a gradient in this backward: with find_unused a rank adds what it had before, or zeros;
 * if no rank has one, nothing changes. Without: DP_EINVAL, which lists index and name (PyTorch's
 * next forward says so). [DDP-21 DDP-22 DDP-23] Errors DP_EINVAL no forward; a rank's failure as in
 * dp_apply. Gradients are undefined then; go on with dp_ddp_reset and dp_ddp_zero_grad. */
int dp_ddp_backward(struct dp_ddp *ddp, const struct dp_tensor grad_out[], int n_grad_out,
                    struct dp_tensor grad_in[], int n_in, struct dp_error *err);

/* Reduces the gradients that are there, once more, a rank without one counting as zeros:
 * communication alone, for measurements. */
int dp_ddp_reduce(struct dp_ddp *ddp, struct dp_error *err);

void dp_ddp_zero_grad(struct dp_ddp *ddp); /* all ranks' gradients to none */
/* SGD as dp_sgd_step, by each active rank on its own tensors with its own state. */
int dp_ddp_step(struct dp_ddp *ddp, float lr, float momentum, float decay, struct dp_error *err);
/* AdamW as dp_adamw_step, in the same way. */
int dp_ddp_adamw_step(struct dp_ddp *ddp, const struct dp_adamw_config *config,
                      struct dp_error *err);
/* As dp_adamw_restart, on all ranks here. */
int dp_ddp_adamw_restart(struct dp_ddp *ddp, struct dp_error *err);
/* As dp_clip_grads, by each active rank on its own gradients. After a backward that has reduced
 * they are the mean, so that all ranks have the same norm, and stay equal. norm: of the lowest
 * active local rank; 0: there is none. */
int dp_ddp_clip_grads(struct dp_ddp *ddp, double max_norm, double *norm, struct dp_error *err);
/* As dp_clip_norm: that norm. */
int dp_ddp_clip_norm(const struct dp_ddp *ddp, double *norm, struct dp_error *err);

/* Parameter or buffer i of rank r: views that stay valid; *has_grad may be written.
 * Errors DP_EINVAL. */
struct dp_ddp_param {
    struct dp_tensor value, grad;
    bool *has_grad;
};
int dp_ddp_param(struct dp_ddp *ddp, int r, int i, struct dp_ddp_param *param,
                 struct dp_error *err);
/* For debugging: all local ranks' parameters, and gradients that are there, have the bits of local
 * rank 0's. Buffers need not: each rank's follow its own rows until the next forward. DP_EFAULT
 * names rank, parameter and element. */
int dp_ddp_compare(struct dp_ddp *ddp, struct dp_error *err);

/* The buckets of the last backward that reduced, in the order of their launch: one until the first
 * is over, then as gradients arrived on the lowest rank; with find_unused from the first on, in
 * reverse order of registration. During a
 * backward, a rank's modules may ask for its own. [DDP-10 DDP-11 DDP-12] A bucket is launched by a
 * rank when it and all before it are complete there, not when it is. [DDP-14] */
struct dp_ddp_bucket {
    size_t bytes;
    int n_params;
    /* CLOCK_MONOTONIC_RAW, 0: not in that backward. done: its mean is there on this rank. */
    uint64_t ready_ns, launch_ns, done_ns;
};
int dp_ddp_buckets(const struct dp_ddp *ddp);
int dp_ddp_bucket(const struct dp_ddp *ddp, int r, int b, struct dp_ddp_bucket *bucket,
                  struct dp_error *err);
/* Parameters i of bucket b, by number; returns how many, fills at most capacity. */
int dp_ddp_bucket_params(const struct dp_ddp *ddp, int b, int list[], int capacity);
/* When rank r's own part of that backward began and ended. */
void dp_ddp_times(const struct dp_ddp *ddp, int r, uint64_t *begin_ns, uint64_t *end_ns);
/* Its reductions run beside backward; false: behind it, on the calling thread. */
bool dp_ddp_overlaps(const struct dp_ddp *ddp);

/* ---- collectives by themselves ------------------------------------------------------------- */

/* One operation on memory of all ranks, in place: tensor[r], with r below dp_group_size, is local
 * rank r's, on slot r; all of one type and number of elements. It starts after the work that is in
 * the compute queues, and later work there comes after it; dp_group_wait waits for it. In a process
 * with several ranks one thread calls for all of them.
 *   dp_allreduce  every rank gets the sum, added in rank order; with a communicator that has
 *                 DP_COMM_FREE_ORDER in an order of its own, the same bits on all ranks
 *   dp_broadcast  every rank gets what rank root of the world has
 * Errors DP_EINVAL no slots, inside a replica, another type than DP_F32 to be summed, no such root;
 * DP_EDEVICE another slot; DP_ESHAPE types or sizes differ, no elements; DP_ENOTSUP the group's
 * communicator has no collectives for ranks. After another error the contents are undefined. */
int dp_allreduce(struct dp_group *group, const struct dp_tensor tensor[], struct dp_error *err);
int dp_broadcast(struct dp_group *group, const struct dp_tensor tensor[], int root,
                 struct dp_error *err);

/* Of R ranks. Memory in blocks has R of them, of one size. */
enum dp_spread_kind {
    DP_SPREAD_ALLREDUCE,     /* out: the sum of all ranks' in */
    DP_SPREAD_BROADCAST,     /* out: the in of rank root */
    DP_SPREAD_ALLGATHER,     /* block s of out: the in of rank s */
    DP_SPREAD_REDUCESCATTER, /* out of rank r: the sum of block r of all ranks' in */
    DP_SPREAD_ALLTOALL,      /* block s of rank r's out: block r of rank s's in */
    DP_SPREAD_KINDS
};
/* The same from one memory to another: in and out have a tensor of every local rank, and what is
 * brought stays. In place: in[r] and out[r] of an allreduce and a broadcast are the same; in[r] of
 * an allgather is block r of out[r]; out[r] of a reducescatter is block r of in[r]. Otherwise they
 * do not overlap. Sums are of DP_F32, DP_F64, DP_I32 and DP_I64, in rank order unless the
 * communicator has DP_COMM_FREE_ORDER; root is a broadcast's.
 * Errors as above; DP_EINVAL an alltoall in place; DP_ESHAPE the elements are not those of blocks;
 * DP_ENOTSUP several processes, and a communicator without that. */
int dp_spread(struct dp_group *group, enum dp_spread_kind kind, int root,
              const struct dp_tensor in[], const struct dp_tensor out[], struct dp_error *err);

/* ---- pure functions ---------------------------------------------------------------------- */

/* The bucket of each of n tensors (their bytes, their element types), as DistributedDataParallel
 * groups gradients: in the order given, a tensor joins the open bucket of its type, which closes
 * when its bytes reach the limit; tensors are never cut. Each type starts at limits[0] and goes to
 * the next one with every bucket it closes, the last limit is used on. What is still open at the
 * end is a bucket, too. Buckets are numbered by their lowest tensor; limit_of[b], with room for n,
 * is the limit that bucket b was closed by or left under. A pure function.
 * Errors DP_EINVAL n < 0, no limits, unknown element type.
 * Source: c10d compute_bucket_assignment_by_size.  [DDP-10] */
int dp_buckets(const size_t bytes[], const enum dp_dtype dtype[], int n, const size_t limits[],
               int n_limits, int bucket[], size_t limit_of[], int *n_buckets, struct dp_error *err);

/* The items of one rank without shuffling: rank, rank + ranks, ... of the items repeated from
 * the start until they are a multiple of ranks, or with drop_last cut to one. *n is set to their
 * number; at most capacity of index are filled. A pure function.
 * Errors DP_EINVAL ranks < 1 or rank outside 0..ranks-1.
 * Source: torch.utils.data.DistributedSampler.  [DDP-28] */
int dp_sampler(size_t items, int ranks, int rank, bool drop_last, size_t index[], size_t capacity,
               size_t *n, struct dp_error *err);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
