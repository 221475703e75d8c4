/* distributed.h: the inside of struct dp_ddp. Internal to core/parallel.
 *
 * Of the world's ranks only n are here: local rank r is rank first + r. Nothing here points to what
 * belongs to another process. Gradients of a rank are one block, laid out alike on all ranks. A
 * parameter that is trained has a number t of its own; buckets are lists of those. What a rank's
 * worker writes during backward is in its struct ddp_rank; what local ranks share is behind the
 * lock of ddp_reduction. */
#ifndef DP_DISTRIBUTED_H
#define DP_DISTRIBUTED_H

#include "../ddp.h"
#include "../optimizer.h"
#include "replicas.h"

/* A parameter that is trained. */
struct ddp_train {
    int place;       /* in the list of all parameters and buffers */
    size_t first, n; /* elements in a rank's block of gradients */
    int bucket;
};

/* Elements first..first+n of every rank's block. */
struct ddp_span {
    size_t first, n;
};

struct ddp_bucket {
    int first, n; /* its parameters: order[first..first+n) of struct dp_ddp, by place in memory */
    size_t bytes;
    struct ddp_span *span; /* what is reduced, room for n */
    int n_spans;
};

/* One rank's times for a bucket. */
struct ddp_times {
    uint64_t ready, launch;
    _Atomic uint64_t done; /* by the communicator */
};

struct ddp_rank {
    struct dp_watch watch; /* first: the run's hook leads here */
    struct dp_ddp *ddp;
    int number;
    bool active;
    int n_out;
    int *uses;     /* of each t in the forward under way: how many modules have run with it */
    int *open;     /* the same, counted back in backward */
    bool counting; /* this backward ends in a reduction */
    bool *ready;   /* of each t */
    bool *touched; /* by place: in this backward */
    bool *used;    /* of each t: since the last reduction */
    int *left;     /* parameters of a bucket that are not ready */
    struct ddp_times *times; /* of each bucket */
    uint64_t begin, end;     /* of its backward */
    struct dp_block *velocity;
    bool *moving;                /* velocity of t holds a value */
    struct dp_block *rate;       /* the learning rate on the device, */
    float lr;                    /* which is this one; NaN: none yet */
    struct dp_target *target;    /* of each t */
    struct dp_adamw_state adamw; /* of n 0 until the first step */
    struct dp_block *clip;       /* the room to clip in */
};

/* What a forward leaves for its backward. */
struct ddp_call {
    struct ddp_call *before;
    bool sync;
    int n_in;
    bool *everyone; /* by rank of the world: takes part */
    bool active[DP_MAX_SLOTS];
    struct {
        size_t tape; /* how far the rank had saved after this forward */
        int *uses;
        int n_out;
        struct dp_tensor in[DP_MAX_IO];    /* as the caller gave them */
        struct dp_tensor moved[DP_MAX_IO]; /* on the rank's slot */
    } rank[DP_MAX_SLOTS];
};

struct dp_ddp {
    struct dp_group *group;
    struct dp_module *module;
    struct dp_replicas *replicas;
    struct dp_ddp_config config;
    int world, first, n; /* ranks of all processes; the first that is here; how many are */
    struct ddp_rank *rank;
    bool *everyone; /* by rank of the world: takes part in the last forward */
    int n_train;
    struct ddp_train *train;
    int *train_of;             /* by place: t, or -1 */
    int *order;                /* t, bucket by bucket */
    struct ddp_bucket *bucket; /* room for n_train */
    int n_buckets;
    int *arrived; /* t in the order in which the lowest local rank's were ready */
    int n_arrived;
    bool leads;   /* that rank was the lowest of all */
    bool rebuilt; /* buckets are not formed anew */
    bool no_sync;
    bool send_buffers;              /* the last forward had gradients and was not in no_sync */
    bool joining;                   /* some rank has no batch any more */
    int last;                       /* while joining: the highest rank of the last forward */
    struct ddp_call *call;          /* forwards without a backward, last first */
    int *member, n_members;         /* ranks of the world that take part in a reduction */
    int team[DP_MAX_SLOTS], n_team; /* the local ranks among them */
    float scale;
    bool *used_elsewhere; /* of each t: as another process says */
    bool overlaps;        /* reductions run beside backward */
    struct ddp_reduction *reduction;
    /* Room, so that a step allocates nothing. */
    int64_t *votes;      /* for all ranks, and for all t */
    void **value;        /* [rank * parameters + piece] */
    size_t *value_bytes; /* [piece] */
    struct dp_tensor grad_in[DP_MAX_SLOTS][DP_MAX_IO];
};

float *ddp_grads(const struct dp_ddp *ddp, int rank); /* its block */
struct dp_slot *ddp_slot(const struct dp_ddp *ddp, int rank);
/* status, at the end of a call that all processes make: one that fails here fails there, too. */
int ddp_done(struct dp_ddp *ddp, int status);
/* Calls step(r) for every rank on its worker. */
int ddp_tasks(struct dp_ddp *ddp, enum dp_phase phase,
              int (*step)(int r, void *arg, struct dp_error *err), void *arg, struct dp_error *err);

/* distributed_forward.c: the tensors of a rank of the world to all others; buffers only, or
 * parameters too. */
int ddp_send_values(struct dp_ddp *ddp, int root, bool buffers_only, struct dp_error *err);

/* distributed_buckets.c */
int ddp_buckets_open(struct dp_ddp *ddp, struct dp_error *err);
void ddp_buckets_close(struct dp_ddp *ddp);
/* Before a backward that reduces: as its gradients arrived before, once. */
int ddp_buckets_form(struct dp_ddp *ddp, struct dp_error *err);
/* Some rank that takes part has got a gradient since the last reduction. */
bool ddp_anyone_used(const struct dp_ddp *ddp, int t);
/* The spans of bucket b: of what somebody used. */
void ddp_bucket_spans(struct dp_ddp *ddp, int b);

/* distributed_reduce.c: an allreduce for each bucket. */
int ddp_reduction_open(struct dp_ddp *ddp, struct dp_error *err);
void ddp_reduction_close(struct ddp_reduction *reduction); /* NULL allowed */
/* A reduction of the team's buckets begins, before any is ready, all_used: every rank has used all
 * that is trained, or fails; a bucket of a rank is complete, by the rank's worker or while it is
 * idle; all ranks are, or backward has failed. */
void ddp_reduce_begin(struct dp_ddp *ddp, bool all_used);
void ddp_reduce_ready(struct dp_ddp *ddp, int rank, int b);
int ddp_reduce_end(struct dp_ddp *ddp, bool failed, struct dp_error *err);

/* distributed_backward.c: the watch of a rank's run; and what follows a reduction. */
void ddp_watch_forward(struct dp_watch *watch, const struct dp_module *module);
void ddp_watch_backward(struct dp_watch *watch, const struct dp_module *module);

#endif
