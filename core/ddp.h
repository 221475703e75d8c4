/* ddp.h: DistributedDataParallel. Every slot is a rank. It keeps a replica, and has separate
 * batches, gradients and optimizer state. Conventions are those of dp.h.
 *
 * The slots of a group of several processes (dp_group_config.world) are ranks of one world. A call
 * takes and returns the data of the R ranks of its process, the local ranks: local rank r is rank
 * dp_group_first + r. All processes make the same calls in the same order. If a call fails in one
 * process, it fails in the others, too, and no later call of that group succeeds.
 *
 * After a backward all ranks hold the mean of their gradients, with the same bits. Parameters that
 * were equal stay equal, so they are never sent again. Gradients are reduced bucket by bucket. A
 * bucket starts as soon as it, and all buckets before it, are complete on all ranks; if the
 * communicator can do that, it runs during backward. Source:
 * torch.nn.parallel.DistributedDataParallel.
 *
 * Letters    R local ranks, r one of them; P parameters and buffers of the module, as listed by
 *            dp_module_params. */
#ifndef DP_DDP_H
#define DP_DDP_H

#include "dp.h"

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

struct dp_ddp;

struct dp_ddp_config {
    /* Least bytes of the first bucket, and of the others. 0: 1 MiB and 25 MiB. */
    size_t first_bucket_bytes, bucket_bytes;
    /* Some parameters may get no gradient in a backward. [DDP-21 DDP-22] */
    bool find_unused;
    bool keep_buffers; /* does not broadcast buffers before a forward */
    /* In a join, the mean is over the ranks that still have a batch instead of over all. [DDP-19]
     */
    bool divide_by_active;
    /* Waits for each bucket, so that dp_ddp_bucket knows when it was done. Devices that run their
     * work at once know that without waiting. */
    bool timed;
};

/* Opens ranks on n different slots. With several processes these are all slots of the group, in
 * order. Local rank 0 uses the parameters of the module. All parameters and buffers of rank 0 of
 * the world are copied to all other ranks, once. [DDP-07] Errors: DP_EINVAL if other processes have
 * other parameters, if there is no slot, a slot twice or of another group, if there is no parameter
 * to train [DDP-29], or one whose type is not DP_F32; DP_EDEVICE if the module is not on slots[0];
 * DP_ENOTSUP if the communicator has no collectives for ranks. Ownership: close *ddp with
 * dp_ddp_close, before the last reference of the module and before the group. */
int dp_ddp_open(struct dp_module *module, struct dp_slot *const slots[], int n,
                const struct dp_ddp_config *config, struct dp_ddp **ddp, struct dp_error *err);
void dp_ddp_close(struct dp_ddp *ddp);      /* NULL is allowed */
int dp_ddp_ranks(const struct dp_ddp *ddp); /* returns R */

/* Starts a step on all ranks, as dp_run_reset does. */
void dp_ddp_reset(struct dp_ddp *ddp);
void dp_ddp_grad_mode(struct dp_ddp *ddp, bool on);  /* default on */
void dp_ddp_train_mode(struct dp_ddp *ddp, bool on); /* default on */
/* While this is on, the backwards of forwards made now only accumulate gradients on each rank,
 * without dividing them. The next other backward reduces all of them. The default is off. [DDP-16]
 */
void dp_ddp_no_sync(struct dp_ddp *ddp, bool on);

/* Runs the module on every rank with its batch. The inputs of rank r are in[r * n_in + k], on any
 * slot; its outputs are out[r * DP_MAX_IO + k], on its slot, so out has R * DP_MAX_IO entries.
 * Nothing is scattered, gathered or averaged. [DDP-27 DDP-28] The buffers of rank 0 are copied to
 * the others first, unless the forward before was without gradients or in no_sync. [DDP-08]
 *   active   NULL (in all processes), or R flags. A rank whose flag is false has no more batches,
 *            and never has one again: it takes no part, its inputs are ignored, and dp_ddp_step
 *            leaves it alone. To the other ranks it counts as zeros. Meanwhile buffers are those of
 *            the highest active rank. The first forward with NULL, or with no active rank (which
 *            runs nothing), ends the join: all ranks get the parameters and buffers of the rank
 *            that joined last, or of the highest of them. [DDP-19 DDP-20]
 * Errors: DP_EINVAL if a rank comes back; DP_EDEVICE if the module was moved; those of the module.
 */
int dp_ddp_forward(struct dp_ddp *ddp, const struct dp_tensor in[], int n_in, const bool active[],
                   struct dp_tensor out[], int *n_out, struct dp_error *err);

/* After a forward: some rank of the world has no more batches, and some other rank has one. A
 * process without an active rank gets no outputs then, but still makes all calls. */
bool dp_ddp_joining(const struct dp_ddp *ddp);

/* Runs the backward of the last forward that had none. grad_out[r * n_grad_out + k] is on the slot
 * of the output; n_grad_out 0 means ones. grad_in[r * n_in + k] is on the slot of the input; NULL
 * if it is not wanted. Each rank adds to its gradients and multiplies them by (float)(1 / W) for
 * the W ranks of the world; then the ranks are added in rank order. That is exact for exact data if
 * W is a power of two. [DDP-01 DDP-05] Later work of the compute queues runs after the reduction.
 * [DDP-15] A parameter may get no gradient in this backward. With find_unused its rank contributes
 * what it had before, or zeros; if no rank has one, nothing changes. Without find_unused it is
 * DP_EINVAL, and the text has index and name (PyTorch reports it in the next forward). [DDP-21
 * DDP-22 DDP-23] Errors: DP_EINVAL if there is no forward; the failure of a rank, as in dp_apply.
 * Gradients are undefined then; go on with dp_ddp_reset and dp_ddp_zero_grad. */
int dp_ddp_backward(struct dp_ddp *ddp, const struct dp_tensor grad_out[], int n_grad_out,
                    struct dp_tensor grad_in[], int n_in, struct dp_error *err);

/* Reduces the current gradients once more; a rank without one counts as zeros. This is
 * communication alone, for measurements. */
int dp_ddp_reduce(struct dp_ddp *ddp, struct dp_error *err);

void dp_ddp_zero_grad(struct dp_ddp *ddp); /* sets the gradients of all ranks to none */
/* A step of SGD, as in dp_sgd_step, by each active rank on its tensors and state. */
int dp_ddp_step(struct dp_ddp *ddp, float lr, float momentum, float decay, struct dp_error *err);
/* A step of AdamW, as in dp_adamw_step, in the same way. */
int dp_ddp_adamw_step(struct dp_ddp *ddp, const struct dp_adamw_config *config,
                      struct dp_error *err);
/* Restarts AdamW as dp_adamw_restart does, on all local ranks. */
int dp_ddp_adamw_restart(struct dp_ddp *ddp, struct dp_error *err);
/* Clips as dp_clip_grads does, by each active rank on its gradients. After a backward that reduced,
 * gradients are the mean, so all ranks have the same norm and stay equal. *norm is that of the
 * lowest active local rank; 0 if there is none. */
int dp_ddp_clip_grads(struct dp_ddp *ddp, double max_norm, double *norm, struct dp_error *err);
/* Reads that norm again, as dp_clip_norm does. */
int dp_ddp_clip_norm(const struct dp_ddp *ddp, double *norm, struct dp_error *err);

/* Gives parameter or buffer i of rank r. The views stay valid; *has_grad may be written. Errors:
 * DP_EINVAL. */
struct dp_ddp_param {
    struct dp_tensor value, grad;
    bool *has_grad;
};
int dp_ddp_param(struct dp_ddp *ddp, int r, int i, struct dp_ddp_param *param,
                 struct dp_error *err);
/* For debugging: checks that on all local ranks parameters and gradients have the bits of those of
 * local rank 0. Buffers may differ, because they follow the rows of each rank until the next
 * forward. Errors: DP_EFAULT, with rank, parameter and element. */
int dp_ddp_compare(struct dp_ddp *ddp, struct dp_error *err);

/* The buckets of the last backward that reduced, in the order in which they start. Until the first
 * backward is over there is one. Later ones follow the order in which gradients arrived on the
 * lowest rank; with find_unused they are in reverse order of registration, from the first backward
 * on. During a backward the modules of a rank may ask for its buckets. [DDP-10 DDP-11 DDP-12] A
 * rank launches a bucket when it and all before it are complete on that rank, not earlier. [DDP-14]
 */
struct dp_ddp_bucket {
    size_t bytes;
    int n_params;
    /* Times of CLOCK_MONOTONIC_RAW; 0: not in that backward. done: this rank has the mean. */
    uint64_t ready_ns, launch_ns, done_ns;
};
int dp_ddp_buckets(const struct dp_ddp *ddp);
int dp_ddp_bucket(const struct dp_ddp *ddp, int r, int b, struct dp_ddp_bucket *bucket,
                  struct dp_error *err);
/* Lists the numbers i of the parameters of bucket b. Returns how many there are, and fills at most
 * capacity entries. */
int dp_ddp_bucket_params(const struct dp_ddp *ddp, int b, int list[], int capacity);
/* The times when the backward of rank r itself began and ended. */
void dp_ddp_times(const struct dp_ddp *ddp, int r, uint64_t *begin_ns, uint64_t *end_ns);
/* True: its reductions run during backward. False: after it, on the calling thread. */
bool dp_ddp_overlaps(const struct dp_ddp *ddp);

/* ---- standalone collectives ---------------------------------------------------------------- */

/* A collective on memory of all ranks, in place. tensor[r], with r below dp_group_size, is that of
 * local rank r, on slot r; all have one type and number of elements. It starts after the work that
 * is in the compute queues, and later work there starts after it; dp_group_wait waits for it. In a
 * process with several ranks one thread makes the call for all of them.
 *   dp_allreduce  every rank gets the sum, added in rank order; a communicator with
 *                 DP_COMM_FREE_ORDER may use another order, with the same bits on all ranks
 *   dp_broadcast  every rank gets the data of rank root of the world
 * Errors: DP_EINVAL if there are no slots, inside a replica, if data that are summed are not
 * DP_F32,
 * or if there is no such root; DP_EDEVICE if a tensor is on another slot; DP_ESHAPE if types or
 * sizes differ, or if there are no elements; DP_ENOTSUP if the communicator has no collectives for
 * ranks. After any other error the contents are undefined. */
int dp_allreduce(struct dp_group *group, const struct dp_tensor tensor[], struct dp_error *err);
int dp_broadcast(struct dp_group *group, const struct dp_tensor tensor[], int root,
                 struct dp_error *err);

/* The collectives of R ranks. A tensor in blocks has R blocks of equal size. */
enum dp_collective_kind {
    DP_COLLECTIVE_ALLREDUCE,     /* out = the sum of in of all ranks */
    DP_COLLECTIVE_BROADCAST,     /* out = in of rank root */
    DP_COLLECTIVE_ALLGATHER,     /* block s of out = in of rank s */
    DP_COLLECTIVE_REDUCESCATTER, /* out of rank r = the sum of block r of in of all ranks */
    DP_COLLECTIVE_ALLTOALL,      /* block s of out of rank r = block r of in of rank s */
    DP_COLLECTIVE_KINDS
};
/* A collective from in to out, each with a tensor for every local rank; in does not change. An
 * allreduce and a broadcast are in place if in[r] and out[r] are the same, an allgather if in[r] is
 * block r of out[r], and a reducescatter if out[r] is block r of in[r]. Otherwise in and out do not
 * overlap. Sums are of DP_F32, DP_F64, DP_I32 and DP_I64, in rank order unless the communicator has
 * DP_COMM_FREE_ORDER. root is for broadcast only. Errors: those above; DP_EINVAL for an alltoall in
 * place, and for a kind that is none of these; DP_ESHAPE if the elements do not make R blocks;
 * DP_ENOTSUP if there are several processes and the communicator cannot do it. */
int dp_collective_run(struct dp_group *group, enum dp_collective_kind kind, int root,
                      const struct dp_tensor in[], const struct dp_tensor out[],
                      struct dp_error *err);

/* ---- pure functions ---------------------------------------------------------------------- */

/* Assigns each of n tensors, given by bytes and type, to a bucket, as DistributedDataParallel
 * groups gradients. In the given order, a tensor joins the open bucket of its type; the bucket
 * closes when its bytes reach the limit. Tensors are never cut. Each type starts with limits[0] and
 * takes the next limit with every bucket that it closes; the last limit is used for all others.
 * Buckets still open at the end are buckets, too. Buckets are numbered by their lowest tensor.
 * limit_of[b], an array of n, is the limit that applied to bucket b. This is a pure function.
 * Errors: DP_EINVAL if n < 0, if there are no limits, or if a type is unknown. Source: c10d
 * compute_bucket_assignment_by_size. [DDP-10] */
int dp_buckets(const size_t bytes[], const enum dp_dtype dtype[], int n, const size_t limits[],
               int n_limits, int bucket[], size_t limit_of[], int *n_buckets, struct dp_error *err);

/* Lists the items of one rank without shuffling: rank, rank + ranks, ... The items are repeated
 * from the start until their number is a multiple of ranks; with drop_last they are cut to one. *n
 * is set to the number of this rank's items, and at most capacity entries of index are filled. This
 * is a pure function. Errors: DP_EINVAL if ranks < 1, or if rank is not in 0..ranks-1. Source:
 * torch.utils.data.DistributedSampler. [DDP-28] */
int dp_sampler(size_t items, int ranks, int rank, bool drop_last, size_t index[], size_t capacity,
               size_t *n, struct dp_error *err);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
