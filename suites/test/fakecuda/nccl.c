/* nccl.c: the calls of NCCL, for ranks of this process. */
#include "fake_nccl.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

ncclResult_t ncclGroupStart(void); /* the header declares these two without a prototype */
ncclResult_t ncclGroupEnd(void);

static _Thread_local char last[200];

void fake_nccl_says(const char *format, ...)
{
    va_list values;
    va_start(values, format);
    vsnprintf(last, sizeof last, format, values);
    va_end(values);
}

static ncclResult_t nccl_leave(struct fake_call *call, ncclResult_t result)
{
    if (call->error)
        fake_nccl_says("a call of CUDA failed");
    const cudaError_t error = call->error;
    fake_leave(call);
    return error ? ncclUnhandledCudaError : result;
}

const char *ncclGetErrorString(ncclResult_t result)
{
    static const char *const texts[] = {[ncclSuccess] = "no error",
                                        [ncclUnhandledCudaError] = "unhandled cuda error",
                                        [ncclSystemError] = "unhandled system error",
                                        [ncclInternalError] = "internal error",
                                        [ncclInvalidArgument] = "invalid argument",
                                        [ncclInvalidUsage] = "invalid usage",
                                        [ncclRemoteError] =
                                            "remote process exited or there was a network error",
                                        [ncclInProgress] = "NCCL operation in progress"};
    return (unsigned)result < ncclNumResults ? texts[result] : "unknown result code";
}

const char *ncclGetLastError(ncclComm_t comm)
{
    (void)comm;
    return last;
}

ncclResult_t ncclGetVersion(int *version)
{
    struct fake_call call = {.name = "ncclGetVersion", .rules = FAKE_NO_DRIVER};
    if (fake_enter(&call))
        *version = fake.config.nccl_version;
    return nccl_leave(&call, ncclSuccess);
}

ncclResult_t ncclGetUniqueId(ncclUniqueId *id)
{
    struct fake_call call = {.name = "ncclGetUniqueId"};
    if (fake_enter(&call)) {
        memset(id, 0, sizeof *id);
        snprintf(id->internal, sizeof id->internal, "fake %ld", ++fake.nccl_ids);
    }
    return nccl_leave(&call, ncclSuccess);
}

/* ---- communicators ------------------------------------------------------------------------ */

static void close_comm(struct ncclComm *comm)
{
    fake_job_cancel(comm);
    comm->live = false;
}

/* Frees everything at the end of the process. */
static void nccl_close_all(void)
{
    long live = 0;
    if (fake.nccl_groups != 0)
        fake_violation("ncclGroupStart without ncclGroupEnd");
    while (fake.comms) {
        struct ncclComm *comm = fake.comms;
        fake.comms = comm->next;
        live += comm->live;
        fake_job_cancel(comm);
        free(comm);
    }
    while (fake.cliques) {
        struct fake_clique *clique = fake.cliques;
        fake.cliques = clique->next;
        fake_meetings_drop(clique);
        free(clique);
    }
    if (live)
        fake_violation("leak: %ld communicators of NCCL", live);
}

static struct fake_clique *clique_of(const ncclUniqueId *id, int n)
{
    struct fake_clique *clique = fake.cliques;
    while (clique && memcmp(&clique->id, id, sizeof *id) != 0)
        clique = clique->next;
    if (clique)
        return clique;
    clique = fake_memory(sizeof *clique);
    *clique = (struct fake_clique){.next = fake.cliques, .id = *id, .n = n};
    return fake.cliques = clique;
}

static bool shares_device(const struct ncclComm *comm)
{
    const char *allowed = getenv("NCCL_MULTI_RANK_GPU_ENABLE");
    const bool may =
        fake.config.nccl_version >= NCCL_VERSION(2, 30, 0) && allowed && strcmp(allowed, "1") == 0;
    for (int r = 0; r < comm->clique->n && !may; ++r) {
        const struct ncclComm *other = comm->clique->rank[r];
        if (!other || other == comm || other->device != comm->device)
            continue;
        fake_nccl_says("Duplicate GPU detected : rank %d and rank %d both on CUDA device %d", r,
                       comm->rank, comm->device);
        return true;
    }
    return false;
}

/* The last rank that joins makes all of them ready. */
ncclResult_t fake_nccl_join(struct ncclComm *comm)
{
    struct fake_clique *clique = comm->clique;
    if (shares_device(comm))
        return ncclInvalidUsage;
    if (++clique->joined < clique->n)
        return ncclSuccess;
    for (int r = 0; r < clique->n; ++r) {
        struct ncclComm *other = clique->rank[r];
        other->joined = true;
        if (!other->job && other->state == ncclInProgress)
            other->state = ncclSuccess;
    }
    return ncclSuccess;
}

static ncclResult_t nccl_make(ncclComm_t *out, int n, const ncclUniqueId *id, int rank)
{
    struct fake_clique *clique = clique_of(id, n);
    if (n < 1 || n > FAKE_RANKS || n != clique->n || rank < 0 || rank >= n || clique->rank[rank]) {
        fake_violation("ncclCommInitRankConfig: rank %d of %d, twice or of %d", rank, n, clique->n);
        return ncclInvalidArgument;
    }
    struct ncclComm *comm = fake_memory(sizeof *comm);
    *comm = (struct ncclComm){.next = fake.comms,
                              .clique = clique,
                              .rank = rank,
                              .device = fake_me.device,
                              .live = true,
                              .state = ncclInProgress};
    clique->rank[rank] = *out = fake.comms = comm;
    fake.close_more = nccl_close_all;
    return fake_group_add(
        &(struct fake_entry){.name = "ncclCommInitRankConfig", .comm = comm, .joins = true});
}

ncclResult_t ncclCommInitRankConfig(ncclComm_t *out, int n, ncclUniqueId id, int rank,
                                    ncclConfig_t *config)
{
    struct fake_call call = {.name = "ncclCommInitRankConfig", .rules = FAKE_UNSAFE};
    ncclResult_t result = ncclSuccess;
    *out = NULL;
    if (fake_enter(&call)) {
        if (!config || config->magic != 0xcafebeef || config->blocking != 0) {
            fake_violation("%s: only of communicators that do not block", call.name);
            result = ncclInvalidArgument;
        } else {
            result = nccl_make(out, n, &id, rank);
        }
    }
    return nccl_leave(&call, result);
}

static bool is_live(const struct ncclComm *comm, const char *call)
{
    if (!comm || !comm->live)
        fake_violation("%s: a communicator that %s", call, comm ? "is gone" : "is null");
    return comm && comm->live;
}

ncclResult_t ncclCommGetAsyncError(ncclComm_t comm, ncclResult_t *state)
{
    struct fake_call call = {.name = "ncclCommGetAsyncError"};
    ncclResult_t result = ncclSuccess;
    if (fake_enter(&call)) {
        if (is_live(comm, call.name)) {
            const bool failed =
                fake.config.nccl_error > 0 && fake.nccl_collectives >= fake.config.nccl_error;
            fake_job_poll(comm);
            *state = failed && comm->state == ncclSuccess ? ncclRemoteError : comm->state;
        } else {
            result = ncclInvalidArgument;
        }
    }
    return nccl_leave(&call, result);
}

ncclResult_t ncclCommFinalize(ncclComm_t comm)
{
    struct fake_call call = {.name = "ncclCommFinalize", .rules = FAKE_UNSAFE};
    ncclResult_t result = ncclSuccess;
    if (fake_enter(&call)) {
        if (!is_live(comm, call.name) || comm->finalized || comm->state != ncclSuccess) {
            fake_violation("%s: twice, or while something is under way", call.name);
            result = ncclInvalidArgument;
        } else {
            /* It is finalized when all ranks have asked for it, and no collective is left. */
            struct fake_clique *clique = comm->clique;
            comm->finalized = true;
            comm->state = ncclInProgress;
            ++clique->leaving;
            for (int r = 0; r < clique->n && clique->leaving == clique->n; ++r)
                if (fake_meetings_end(clique->rank[r]))
                    clique->rank[r]->state = ncclSuccess;
            result = comm->state;
        }
    }
    return nccl_leave(&call, result);
}

ncclResult_t ncclCommDestroy(ncclComm_t comm)
{
    struct fake_call call = {.name = "ncclCommDestroy", .rules = FAKE_UNSAFE | FAKE_ALWAYS};
    if (fake_enter(&call) && is_live(comm, call.name)) {
        if (!comm->finalized || comm->state != ncclSuccess)
            fake_violation("%s: rank %d before it is finalized: it waits for the others", call.name,
                           comm->rank);
        close_comm(comm);
    }
    return nccl_leave(&call, ncclSuccess);
}

ncclResult_t ncclCommAbort(ncclComm_t comm)
{
    struct fake_call call = {.name = "ncclCommAbort", .rules = FAKE_ALWAYS};
    if (fake_enter(&call) && is_live(comm, call.name)) {
        fake_meetings_kill(comm->clique);
        close_comm(comm);
    }
    return nccl_leave(&call, ncclSuccess);
}

/* ---- groups and collectives --------------------------------------------------------------- */

ncclResult_t ncclGroupStart(void)
{
    struct fake_call call = {.name = "ncclGroupStart"};
    if (fake_enter(&call)) {
        fake.close_more = nccl_close_all;
        fake_group_open();
    }
    return nccl_leave(&call, ncclSuccess);
}

ncclResult_t ncclGroupEnd(void)
{
    struct fake_call call = {.name = "ncclGroupEnd", .rules = FAKE_ALWAYS};
    ncclResult_t result = ncclSuccess;
    if (fake_enter(&call))
        result = fake_group_close(&call);
    return nccl_leave(&call, result);
}

static ncclResult_t nccl_collect(const struct fake_entry *entry, bool known)
{
    struct fake_call call = {.name = entry->name, .rules = FAKE_LAUNCHES};
    ncclResult_t result = ncclInvalidArgument;
    if (fake_enter(&call) && is_live(entry->comm, call.name)) {
        if (!known)
            fake_violation("%s: type %d with operator %d is not known here", call.name,
                           (int)entry->type, (int)entry->op);
        else if (entry->comm->state != ncclSuccess && !entry->comm->job)
            fake_violation("%s: rank %d is not ready", call.name, entry->comm->rank);
        else
            result = fake_group_add(entry);
    }
    return nccl_leave(&call, result);
}

static bool adds(ncclDataType_t type, ncclRedOp_t op)
{
    return op == ncclSum &&
           (type == ncclFloat32 || type == ncclFloat64 || type == ncclInt32 || type == ncclInt64);
}

/* Without what it sends and receives. */
static struct fake_entry entry_of(const char *name, enum fake_collective kind, size_t count,
                                  ncclDataType_t type, ncclComm_t comm, cudaStream_t stream)
{
    return (struct fake_entry){.name = name,
                               .kind = kind,
                               .comm = comm,
                               .count = count,
                               .type = type,
                               .root = -1,
                               .stream = stream};
}

/* A call that has one area to send and one to receive. */
static ncclResult_t collect_areas(struct fake_entry entry, const void *send, void *receive,
                                  ncclRedOp_t op, int root, bool known)
{
    entry.send = send;
    entry.receive = receive;
    entry.op = op;
    entry.root = root;
    return nccl_collect(&entry, known);
}

ncclResult_t ncclAllReduce(const void *send, void *receive, size_t count, ncclDataType_t type,
                           ncclRedOp_t op, ncclComm_t comm, cudaStream_t stream)
{
    return collect_areas(entry_of("ncclAllReduce", FAKE_ALLREDUCE, count, type, comm, stream), send,
                         receive, op, -1, adds(type, op));
}

ncclResult_t ncclReduce(const void *send, void *receive, size_t count, ncclDataType_t type,
                        ncclRedOp_t op, int root, ncclComm_t comm, cudaStream_t stream)
{
    return collect_areas(entry_of("ncclReduce", FAKE_REDUCE, count, type, comm, stream), send,
                         receive, op, root, adds(type, op));
}

ncclResult_t ncclBroadcast(const void *send, void *receive, size_t count, ncclDataType_t type,
                           int root, ncclComm_t comm, cudaStream_t stream)
{
    return collect_areas(entry_of("ncclBroadcast", FAKE_BROADCAST, count, type, comm, stream), send,
                         receive, ncclSum, root,
                         type == ncclUint8 || type == ncclInt8 || type == ncclFloat32);
}

ncclResult_t ncclAllGather(const void *send, void *receive, size_t count, ncclDataType_t type,
                           ncclComm_t comm, cudaStream_t stream)
{
    return collect_areas(entry_of("ncclAllGather", FAKE_ALLGATHER, count, type, comm, stream), send,
                         receive, ncclSum, -1, type == ncclUint8 || type == ncclInt8);
}

ncclResult_t ncclReduceScatter(const void *send, void *receive, size_t count, ncclDataType_t type,
                               ncclRedOp_t op, ncclComm_t comm, cudaStream_t stream)
{
    return collect_areas(
        entry_of("ncclReduceScatter", FAKE_REDUCESCATTER, count, type, comm, stream), send, receive,
        op, -1, adds(type, op));
}

/* The sends of a rank in a group are one entry, see fake_group_add. */
ncclResult_t ncclSend(const void *send, size_t count, ncclDataType_t type, int peer,
                      ncclComm_t comm, cudaStream_t stream)
{
    struct fake_entry entry = entry_of("ncclSend", FAKE_SENDS, count, type, comm, stream);
    const bool known = type == ncclUint8 && peer >= 0 && peer < FAKE_RANKS;
    if (known)
        entry.to[peer] = send;
    return nccl_collect(&entry, known);
}

ncclResult_t ncclRecv(void *receive, size_t count, ncclDataType_t type, int peer, ncclComm_t comm,
                      cudaStream_t stream)
{
    struct fake_entry entry = entry_of("ncclRecv", FAKE_SENDS, count, type, comm, stream);
    const bool known = type == ncclUint8 && peer >= 0 && peer < FAKE_RANKS;
    if (known)
        entry.from[peer] = receive;
    return nccl_collect(&entry, known);
}
