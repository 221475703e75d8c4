/* distributed.h: the inside of struct dp_ddp. Internal to core/parallel.
 *
 * Gradients of a rank are one block, laid out alike on all ranks. A parameter that is trained has a
 * number t of its own; buckets are lists of those. What a rank's worker writes during backward is
 * in its struct ddp_rank; what it shares with the second workers is behind the lock of ddp_comm. */
#ifndef DP_DISTRIBUTED_H
#define DP_DISTRIBUTED_H

#include "../ddp.h"
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
    _Atomic uint64_t done; /* by the second worker */
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
    bool *moving;          /* velocity of t holds a value */
    struct dp_block *rate; /* the learning rate on the device, */
    float lr;              /* which is this one; NaN: none yet */
};

/* What a forward leaves for its backward. */
struct ddp_call {
    struct ddp_call *before;
    bool sync;
    int n_in;
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
    int n;
    struct ddp_rank *rank;
    int n_train;
    struct ddp_train *train;
    int *train_of;             /* by place: t, or -1 */
    int *order;                /* t, bucket by bucket */
    struct ddp_bucket *bucket; /* room for n_train */
    int n_buckets;
    int *arrived; /* t in the order in which the lowest rank's were ready */
    int n_arrived;
    bool rebuilt; /* buckets are not formed anew */
    bool no_sync;
    bool send_buffers;              /* the last forward had gradients and was not in no_sync */
    bool joining;                   /* some rank has no batch any more */
    int last;                       /* while joining: the highest rank of the last forward */
    struct ddp_call *call;          /* forwards without a backward, last first */
    int team[DP_MAX_SLOTS], n_team; /* ranks that take part in a reduction */
    float scale;
    /* Room, so that a step allocates nothing. */
    struct dp_sum *sums;
    const void **pointers;
    struct ddp_comm *comm; /* NULL: reductions come after backward */
};

float *ddp_grads(const struct dp_ddp *ddp, int rank); /* its block */
struct dp_slot *ddp_slot(const struct dp_ddp *ddp, int rank);
uint64_t ddp_now(void);
/* Calls step(r) for every rank on its worker. */
int ddp_tasks(struct dp_ddp *ddp, enum dp_phase phase,
              int (*step)(int r, void *arg, struct dp_error *err), void *arg, struct dp_error *err);

/* distributed_buckets.c */
int ddp_buckets_open(struct dp_ddp *ddp, struct dp_error *err);
void ddp_buckets_close(struct dp_ddp *ddp);
/* Before a backward that reduces: as its gradients arrived before, once. */
int ddp_buckets_form(struct dp_ddp *ddp, struct dp_error *err);
/* Some rank of the team has got a gradient since the last reduction. */
bool ddp_anyone_used(const struct dp_ddp *ddp, int t);
/* The spans of bucket b: of what somebody used. */
void ddp_bucket_spans(struct dp_ddp *ddp, int b);

/* distributed_reduce.c: every bucket on the calling thread, by the group's communicator. */
int ddp_reduce_all(struct dp_ddp *ddp, struct dp_error *err);

/* distributed_comm.c: second workers, where the slots can use each other's memory. */
int ddp_comm_open(struct dp_ddp *ddp, struct dp_error *err);
void ddp_comm_close(struct ddp_comm *comm); /* NULL allowed */
/* A reduction of the team's buckets begins, before any is ready; a bucket of a rank is complete, by
 * the rank's worker or while it is idle; all has been issued, or given up when backward failed. */
void ddp_comm_begin(struct ddp_comm *comm);
void ddp_comm_ready(struct ddp_comm *comm, int rank, int b);
int ddp_comm_end(struct ddp_comm *comm, bool failed, struct dp_error *err);

/* distributed_backward.c: the watch of a rank's run; and what follows a reduction. */
void ddp_watch_forward(struct dp_watch *watch, const struct dp_module *module);
void ddp_watch_backward(struct dp_watch *watch, const struct dp_module *module);

#endif
