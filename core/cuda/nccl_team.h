/* nccl_team.h: shared by the files of the communicator nccl. */
#ifndef DP_NCCL_TEAM_H
#define DP_NCCL_TEAM_H

#include "nccl_call.h"

#include <pthread.h>

/* Ranks that reduce together. Each has an NCCL communicator that does not block. */
struct dp_nccl_team {
    struct dp_nccl_team *next; /* the team that was used before this one */
    int n_members, n;          /* number of ranks of the world, and of local ones among them */
    int member[DP_MAX_SLOTS];
    int rank[DP_MAX_SLOTS]; /* ranks of the local ones, in the world */
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
    pthread_mutex_t lock; /* held around all calls of NCCL; protects the fields that follow */
    struct dp_nccl_team *team;
    uint64_t calls;
    struct dp_nccl_last last[DP_MAX_SLOTS]; /* by slot */
};

/* The lock must be held in all of the following, unless a comment says that they take it. */

/* nccl_team.c. Finds the team of a collective's members, or creates it. */
int dp_nccl_team_of(struct dp_nccl *nccl, const struct dp_collective *c, struct dp_nccl_team **team,
                    struct dp_error *err);
/* Continues a wait that began then; after a short time it leaves its core to others. */
void dp_nccl_nap(uint64_t begin);
/* Waits until NCCL has done what the call began; only then its work is in the streams. */
int dp_nccl_settle(const struct dp_nccl *nccl, const struct dp_nccl_team *team, const char *call,
                   struct dp_error *err);
/* Work in progress ends without a result, and no team is left. */
void dp_nccl_abort_all(struct dp_nccl *nccl);
/* The slots must be idle. */
void dp_nccl_close_all(struct dp_nccl *nccl);
/* True unless it is success or in progress. */
bool dp_nccl_is_bad(ncclResult_t result);
int dp_nccl_fail(const struct dp_nccl *nccl, const struct dp_slot *slot, int rank, const char *call,
                 ncclResult_t result, struct dp_error *err);

/* nccl_group.c. The operation on each piece of a collective. */
struct dp_nccl_at;
struct dp_nccl_operation {
    const char *call;
    ncclResult_t (*issue)(const struct dp_nccl_at *at);
    int root;       /* its place among the members; ignored by operations without a root */
    const void *of; /* for issue */
};
/* The place of an operation: piece k of local rank i. */
struct dp_nccl_at {
    const struct dp_nccl_call *call;
    ncclComm_t comm;
    cudaStream_t stream;
    const struct dp_collective *c;
    const struct dp_nccl_operation *what;
    int i, k;
};
/* The bytes of all pieces. */
size_t dp_nccl_bytes_of(const struct dp_collective *c);
/* One group of calls, in the comm queues. After an error no team is left. */
int dp_nccl_together(struct dp_nccl *nccl, const struct dp_collective *c,
                     const struct dp_nccl_operation *what, struct dp_error *err);
/* The same, ordered after all compute work, and before later work. It takes the lock. bytes: of
 * each part, the bytes that cross devices. */
int dp_nccl_in_order(struct dp_group *group, const struct dp_collective *c,
                     const struct dp_nccl_operation *what, enum dp_phase phase,
                     const size_t bytes[], struct dp_error *err);

/* nccl_parallel.c. Moves and sums of DataParallel: by peer, or by NCCL if it has a call for them.
 * Both take the lock. */
int dp_nccl_peer_move(const struct dp_team *team, const struct dp_moves moves[],
                      enum dp_phase phase, struct dp_error *err);
int dp_nccl_peer_reduce(const struct dp_team *team, struct dp_slot *dst_slot,
                        const struct dp_sum sums[], int n, enum dp_phase phase,
                        struct dp_error *err);
int dp_nccl_move(const struct dp_team *team, const struct dp_moves moves[], enum dp_phase phase,
                 struct dp_error *err);
int dp_nccl_reduce(const struct dp_team *team, struct dp_slot *dst_slot, const struct dp_sum sums[],
                   int n, enum dp_phase phase, struct dp_error *err);

/* nccl_collective.c. The calls of a standalone collective, which is the argument of its operation,
 * and its name; NULL: NCCL has no such collective. */
ncclResult_t dp_nccl_issue_collective(const struct dp_nccl_at *at);
ncclDataType_t dp_nccl_type(enum dp_dtype dtype); /* for types that can be added */
const char *dp_nccl_collective_call(enum dp_collective_kind kind);

/* nccl_wait.c. The watch of a dp_cuda_slot; it takes the lock. */
int dp_nccl_watch(struct dp_queue *queue, struct dp_error *err);

#endif
