/* fake_nccl.h: declarations that the files of the fake NCCL share. Call them between fake_enter and
 * fake_leave, like all of the fake. */
#ifndef LOCKSTEP_FAKE_NCCL_H
#define LOCKSTEP_FAKE_NCCL_H

#include "fake.h"

#include <nccl.h>

enum { FAKE_RANKS = 64 };

struct fake_clique;
struct fake_job;

struct ncclComm {
    struct ncclComm *next;
    struct fake_clique *clique;
    int rank, device;
    bool live, joined, finalized;
    ncclResult_t state;
    struct fake_job *job; /* the job that it takes part in */
    uint64_t collectives;
};

/* The ranks that were made with one id. */
struct fake_clique {
    struct fake_clique *next;
    ncclUniqueId id;
    int n, joined, leaving;
    struct ncclComm *rank[FAKE_RANKS];
    struct fake_meeting *meetings;
};

enum fake_collective {
    FAKE_ALLREDUCE,
    FAKE_REDUCE,
    FAKE_BROADCAST,
    FAKE_ALLGATHER,
    FAKE_REDUCESCATTER,
    FAKE_SENDS
};

/* A call in a group. root is not negative for a broadcast and a reduce. count is in elements, of
 * one block if the collective has blocks. */
struct fake_entry {
    const char *name;
    enum fake_collective kind;
    struct ncclComm *comm;
    bool joins; /* makes the communicator, and uses none of the following fields */
    const void *send;
    void *receive;
    size_t count;
    ncclDataType_t type;
    ncclRedOp_t op;
    int root;
    struct CUstream_st *stream;
    /* FAKE_SENDS: the addresses by peer of all that a rank sends and receives in a group, count
     * bytes each. */
    const void *to[FAKE_RANKS];
    void *from[FAKE_RANKS];
};

/* ---- nccl_meet.c: a collective is done when all its ranks have come to it. */
ncclResult_t fake_meet(const struct fake_entry *entry, bool grouped);
void fake_meetings_kill(struct fake_clique *clique); /* they end without a result */
/* Runs the operations that the rank still has to do. Returns false if it cannot end. */
bool fake_meetings_end(const struct ncclComm *comm);
void fake_meetings_drop(struct fake_clique *clique);

/* ---- nccl_group.c: groups of calls, and when they are carried out. */
void fake_group_open(void);
ncclResult_t fake_group_close(const struct fake_call *call);
/* Carries the call out now, or adds it to the open group. */
ncclResult_t fake_group_add(const struct fake_entry *entry);
/* Called when the state of the communicator is asked for. */
void fake_job_poll(struct ncclComm *comm);
void fake_job_cancel(struct ncclComm *comm);

/* ---- nccl.c */
ncclResult_t fake_nccl_join(struct ncclComm *comm);
void fake_nccl_says(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
