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

/* All of the following with the lock held, but dp_nccl_watch, which takes it. */

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

/* nccl_spread.c. The calls of local rank i for a spread, of whose ranks it is one; their name; and
 * the bytes that such a rank gets from others. */
ncclResult_t dp_nccl_issue_spread(const struct dp_nccl *nccl, const struct dp_nccl_team *team,
                                  const struct dp_spread *s, int i, cudaStream_t stream);
const char *dp_nccl_spread_call(enum dp_spread_kind kind);
size_t dp_nccl_spread_bytes(const struct dp_spread *s, int ranks, int rank);

/* nccl_wait.c. What dp_cuda_slot calls watch. */
int dp_nccl_watch(struct dp_queue *queue, struct dp_error *err);
/* A wait that began then goes on: soon it no longer keeps a core busy. */
uint64_t dp_nccl_now(void);
void dp_nccl_nap(uint64_t begin);

#endif
