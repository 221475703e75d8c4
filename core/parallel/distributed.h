/* distributed.h: internals of struct dp_ddp. Internal to core/parallel.
 *
 * Only n ranks of the world are in this process: local rank r is rank first + r. Nothing here
 * points to memory of another process. The gradients of a rank are one block, with the same layout
 * on all ranks. A parameter that is trained has a number t, and buckets are lists of those numbers.
 * The worker of a rank writes to its struct ddp_rank during backward. The lock of ddp_reduction
 * protects what local ranks share. */
#ifndef DP_DISTRIBUTED_H
#define DP_DISTRIBUTED_H

#include "../ddp.h"
#include "../optimizer.h"
#include "parallel.h"

/* A parameter that is trained. */
struct ddp_train {
    int place;       /* in the list of all parameters and buffers */
    size_t first, n; /* elements in the block of gradients of a rank */
    int bucket;
};

/* Elements first..first+n of the block of every rank. */
struct ddp_span {
    size_t first, n;
};

struct ddp_bucket {
    int first, n; /* its parameters: order[first..first+n) of struct dp_ddp, by place in memory */
    size_t bytes;
    struct ddp_span *span; /* the parts that are reduced; capacity n */
    int n_spans;
};

/* Times of one rank for a bucket. */
struct ddp_times {
    uint64_t ready, launch;
    _Atomic uint64_t done; /* set by the communicator */
};

struct ddp_rank {
    struct dp_watch watch; /* must be first: the hook of the run gets its address */
    struct dp_ddp *ddp;
    int number;
    bool active;
    int n_out;
    int *uses;               /* for each t: how many modules have run with it in this forward */
    int *open;               /* the same, counted down in backward */
    bool counting;           /* this backward ends with a reduction */
    bool *ready;             /* for each t */
    bool *touched;           /* by place: in this backward */
    bool *used;              /* for each t: since the last reduction */
    int *left;               /* parameters of a bucket that are not ready */
    struct ddp_times *times; /* for each bucket */
    uint64_t begin, end;     /* of its backward */
    struct dp_block *velocity;
    bool *moving;                /* velocity of t has a value */
    struct dp_block *rate;       /* the learning rate in memory of the device, */
    float lr;                    /* and its value; NaN: none yet */
    struct dp_target *target;    /* for each t */
    struct dp_adamw_state adamw; /* n is 0 until the first step */
    struct dp_block *clip;       /* memory for clipping */
};

/* The data that a forward leaves for its backward. */
struct ddp_call {
    struct ddp_call *before;
    bool sync;
    int n_in;
    bool *everyone; /* by rank of the world: takes part */
    bool active[DP_MAX_SLOTS];
    struct {
        size_t tape; /* how much the rank had saved after this forward */
        int *uses;
        int n_out;
        struct dp_tensor in[DP_MAX_IO];    /* inputs of the caller */
        struct dp_tensor moved[DP_MAX_IO]; /* copies on the slot of the rank */
    } rank[DP_MAX_SLOTS];
};

struct dp_ddp {
    struct dp_group *group;
    struct dp_module *module;
    struct dp_replicas *replicas;
    struct dp_ddp_config config;
    int world, first, n; /* world size; the first rank that is here; how many are */
    struct ddp_rank *rank;
    bool *everyone; /* by rank of the world: takes part in the last forward */
    int n_train;
    struct ddp_train *train;
    int *train_of;             /* by place: t, or -1 */
    int *order;                /* the numbers t, bucket by bucket */
    struct ddp_bucket *bucket; /* capacity n_train */
    int n_buckets;
    int *arrived; /* the numbers t in the order in which they were ready on the lowest local rank */
    int n_arrived;
    bool leads;   /* that rank is the lowest of the world that takes part */
    bool rebuilt; /* buckets keep their form */
    bool no_sync;
    bool send_buffers;              /* the last forward had gradients and was not in no_sync */
    bool joining;                   /* some rank has no more batches */
    int last;                       /* while joining: the highest rank of the last forward */
    struct ddp_call *call;          /* forwards without a backward; the last one first */
    int *member, n_members;         /* ranks of the world that take part in a reduction */
    int team[DP_MAX_SLOTS], n_team; /* the local ranks among them */
    float scale;
    bool *used_elsewhere; /* for each t: another process says so */
    bool overlaps;        /* reductions run during backward */
    struct ddp_reduction *reduction;
    /* Workspace, so that a step allocates nothing. */
    int64_t *votes;      /* for all ranks, and for all t */
    void **value;        /* [rank * parameters + piece] */
    size_t *value_bytes; /* [piece] */
    struct dp_tensor grad_in[DP_MAX_SLOTS][DP_MAX_IO];
};

float *ddp_grads(const struct dp_ddp *ddp, int rank); /* its block */
struct dp_slot *ddp_slot(const struct dp_ddp *ddp, int rank);
/* Ends a call that all processes make, and returns status: if it failed here, it fails in all of
 * them. */
int ddp_done(struct dp_ddp *ddp, int status);
/* Calls step(r) for every rank on its worker. */
int ddp_tasks(struct dp_ddp *ddp, enum dp_phase phase,
              int (*step)(int r, void *arg, struct dp_error *err), void *arg, struct dp_error *err);

/* distributed_forward.c: sends the tensors of one rank of the world to all others; only buffers, or
 * parameters, too. */
int ddp_send_values(struct dp_ddp *ddp, int root, bool buffers_only, struct dp_error *err);

/* distributed_buckets.c */
int ddp_buckets_open(struct dp_ddp *ddp, struct dp_error *err);
void ddp_buckets_close(struct dp_ddp *ddp);
/* Called before a backward that reduces: forms buckets in the order in which gradients arrived,
 * once. */
int ddp_buckets_form(struct dp_ddp *ddp, struct dp_error *err);
/* True if some rank that takes part has a gradient since the last reduction. */
bool ddp_anyone_used(const struct dp_ddp *ddp, int t);
/* Finds the parts of bucket b that some rank has used. */
void ddp_bucket_spans(struct dp_ddp *ddp, int b);

/* distributed_reduce.c: one allreduce for each bucket. */
int ddp_reduction_open(struct dp_ddp *ddp, struct dp_error *err);
void ddp_reduction_close(struct ddp_reduction *reduction); /* NULL is allowed */
/* begin: a reduction of the team's buckets begins, before any is ready. all_used: every rank uses
 * all trained parameters, or fails. launch: a bucket of a rank is complete; called by the worker of
 * the rank, or while it is idle. end: all ranks have ended, or backward has failed. */
void ddp_reduce_begin(struct dp_ddp *ddp, bool all_used);
void ddp_reduce_ready(struct dp_ddp *ddp, int rank, int b);
int ddp_reduce_end(struct dp_ddp *ddp, bool failed, struct dp_error *err);

/* distributed_backward.c: the observer of a rank's run, and the work after a reduction. */
void ddp_watch_forward(struct dp_watch *watch, const struct dp_module *module);
void ddp_watch_backward(struct dp_watch *watch, const struct dp_module *module);

#endif
