/* nccl_team.h: what the files of the communicator nccl share. */
#ifndef DP_NCCL_TEAM_H
#define DP_NCCL_TEAM_H

#include "nccl_call.h"

#include <pthread.h>

/* Ranks that reduce together. Each has a communicator of NCCL, which does not block. */
struct dp_nccl_team {
    struct dp_nccl_team *next; /* used before this one */
    int n_members, n;          /* ranks of the world; the local ones among them */
    int member[DP_MAX_SLOTS];
    int rank[DP_MAX_SLOTS]; /* of the local ones, in the world */
    struct dp_slot *slot[DP_MAX_SLOTS];
    ncclComm_t comm[DP_MAX_SLOTS];
};

/* The oldest collective of a slot that may not be done. */
struct dp_nccl_last {
    const char *call; /* NULL: all are done */
    int rank;
    uint64_t number; /* from 1 */
    size_t bytes;
};

struct dp_nccl {
    struct dp_group *group;
    struct dp_nccl_call call;
    int version;
    uint64_t deadline_ns;
    pthread_mutex_t lock; /* held around all calls of NCCL, and for what follows */
    struct dp_nccl_team *team;
    uint64_t calls;
    struct dp_nccl_last last[DP_MAX_SLOTS]; /* by slot */
};

/* All of the following with the lock held, but what says that it takes it. */

/* nccl_team.c. The team of a collective's members, made if there is none yet. */
int dp_nccl_team_of(struct dp_nccl *nccl, const struct dp_collective *c, struct dp_nccl_team **team,
                    struct dp_error *err);
/* Until NCCL has done what the call began: what it issues is in the streams only then. */
int dp_nccl_settle(const struct dp_nccl *nccl, const struct dp_nccl_team *team, const char *call,
                   struct dp_error *err);
/* What is under way ends without a result; no team is left. */
void dp_nccl_abort_all(struct dp_nccl *nccl);
/* Of idle slots. */
void dp_nccl_close_all(struct dp_nccl *nccl);
/* Neither success nor still at it. */
bool dp_nccl_is_bad(ncclResult_t result);
int dp_nccl_fail(const struct dp_nccl *nccl, const struct dp_slot *slot, int rank, const char *call,
                 ncclResult_t result, struct dp_error *err);

/* nccl_group.c. What is done to each piece of a collective. */
struct dp_nccl_at;
struct dp_nccl_operation {
    const char *call;
    ncclResult_t (*issue)(const struct dp_nccl_at *at);
    int root;       /* its place among the members; an operation without one does not look */
    const void *of; /* issue's own */
};
/* Where: piece k of local rank i. */
struct dp_nccl_at {
    const struct dp_nccl_call *call;
    ncclComm_t comm;
    cudaStream_t stream;
    const struct dp_collective *c;
    const struct dp_nccl_operation *what;
    int i, k;
};
/* Of all pieces. */
size_t dp_nccl_bytes_of(const struct dp_collective *c);
/* One group of calls, in the comm queues. After an error no team is left. */
int dp_nccl_together(struct dp_nccl *nccl, const struct dp_collective *c,
                     const struct dp_nccl_operation *what, struct dp_error *err);
/* The same behind all compute work, and before what comes later. Takes the lock. bytes: of each
 * part, of what crosses devices. */
int dp_nccl_in_order(struct dp_group *group, const struct dp_collective *c,
                     const struct dp_nccl_operation *what, enum dp_phase phase,
                     const size_t bytes[], struct dp_error *err);

/* nccl_parallel.c. Moves and sums of DataParallel, beside those collectives: by peer, or by NCCL
 * where it has a call for them. Both take the lock. */
int dp_nccl_peer_move(const struct dp_team *team, const struct dp_moves moves[],
                      enum dp_phase phase, struct dp_error *err);
int dp_nccl_peer_reduce(const struct dp_team *team, struct dp_slot *dst_slot,
                        const struct dp_sum sums[], int n, enum dp_phase phase,
                        struct dp_error *err);
int dp_nccl_move(const struct dp_team *team, const struct dp_moves moves[], enum dp_phase phase,
                 struct dp_error *err);
int dp_nccl_reduce(const struct dp_team *team, struct dp_slot *dst_slot, const struct dp_sum sums[],
                   int n, enum dp_phase phase, struct dp_error *err);

/* nccl_spread.c. The calls for a spread, which is what its operation is of; their name; and the
 * bytes that a rank of it gets from others. */
ncclResult_t dp_nccl_issue_spread(const struct dp_nccl_at *at);
ncclDataType_t dp_nccl_type(enum dp_dtype dtype); /* of those that can be added */
const char *dp_nccl_spread_call(enum dp_spread_kind kind);
size_t dp_nccl_spread_bytes(const struct dp_spread *s, int ranks, int rank);

/* nccl_wait.c. What dp_cuda_slot calls watch; takes the lock. */
int dp_nccl_watch(struct dp_queue *queue, struct dp_error *err);
/* A wait that began then goes on: soon it no longer keeps a core busy. */
void dp_nccl_nap(uint64_t begin);

#endif
