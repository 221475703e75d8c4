/* nccl_spread.c: collectives from one memory to another, by the calls that NCCL has for them. An
 * alltoall has none in all versions: a send and a receive for every pair, as one group. */
#include "nccl_team.h"

const char *dp_nccl_spread_call(enum dp_spread_kind kind)
{
    static const char *const calls[DP_SPREAD_KINDS] = {
        [DP_SPREAD_ALLREDUCE] = "ncclAllReduce",
        [DP_SPREAD_BROADCAST] = "ncclBroadcast",
        [DP_SPREAD_ALLGATHER] = "ncclAllGather",
        [DP_SPREAD_REDUCESCATTER] = "ncclReduceScatter",
        [DP_SPREAD_ALLTOALL] = "ncclSend and ncclRecv",
    };
    return calls[kind];
}

static ncclDataType_t type_of(enum dp_dtype dtype)
{
    static const ncclDataType_t types[] = {
        [DP_F32] = ncclFloat32, [DP_F64] = ncclFloat64, [DP_I32] = ncclInt32, [DP_I64] = ncclInt64};
    return types[dtype];
}

static ncclResult_t exchange(const struct dp_nccl *nccl, const struct dp_nccl_team *team,
                             const struct dp_spread *s, int i, cudaStream_t stream)
{
    const size_t bytes = s->n * dp_dtype_bytes(s->dtype);
    ncclResult_t result = ncclSuccess;
    for (int rank = 0; !dp_nccl_is_bad(result) && rank < team->n_members; ++rank) {
        const size_t at = (size_t)rank * bytes;
        result = nccl->call.send((const char *)s->in[i] + at, bytes, ncclUint8, rank, team->comm[i],
                                 stream);
        if (!dp_nccl_is_bad(result))
            result = nccl->call.receive((char *)s->out[i] + at, bytes, ncclUint8, rank,
                                        team->comm[i], stream);
    }
    return result;
}

ncclResult_t dp_nccl_issue_spread(const struct dp_nccl *nccl, const struct dp_nccl_team *team,
                                  const struct dp_spread *s, int i, cudaStream_t stream)
{
    const struct dp_nccl_call *call = &nccl->call;
    const size_t bytes = s->n * dp_dtype_bytes(s->dtype);
    const ncclComm_t comm = team->comm[i];
    switch (s->kind) {
    case DP_SPREAD_ALLREDUCE:
        return call->all_reduce(s->in[i], s->out[i], s->n, type_of(s->dtype), ncclSum, comm,
                                stream);
    case DP_SPREAD_BROADCAST:
        return call->broadcast(s->in[i], s->out[i], bytes, ncclUint8, s->root, comm, stream);
    case DP_SPREAD_ALLGATHER:
        return call->all_gather(s->in[i], s->out[i], bytes, ncclUint8, comm, stream);
    case DP_SPREAD_REDUCESCATTER:
        return call->reduce_scatter(s->in[i], s->out[i], s->n, type_of(s->dtype), ncclSum, comm,
                                    stream);
    default:
        return exchange(nccl, team, s, i, stream);
    }
}

size_t dp_nccl_spread_bytes(const struct dp_spread *s, int ranks, int rank)
{
    const size_t bytes = s->n * dp_dtype_bytes(s->dtype), others = (size_t)ranks - 1;
    if (s->kind == DP_SPREAD_ALLREDUCE)
        return 2 * others * bytes / (size_t)ranks;
    if (s->kind == DP_SPREAD_BROADCAST)
        return rank == s->root ? 0 : bytes;
    return others * bytes;
}
