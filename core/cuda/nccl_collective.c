/* nccl_collective.c: standalone collectives by the functions that NCCL has for them. Not all
 * versions have one for alltoall, which is a group with a send and a receive for every pair. */
#include "nccl_team.h"

const char *dp_nccl_collective_call(enum dp_collective_kind kind)
{
    static const char *const calls[DP_COLLECTIVE_KINDS] = {
        [DP_COLLECTIVE_ALLREDUCE] = "ncclAllReduce",
        [DP_COLLECTIVE_BROADCAST] = "ncclBroadcast",
        [DP_COLLECTIVE_ALLGATHER] = "ncclAllGather",
        [DP_COLLECTIVE_REDUCESCATTER] = "ncclReduceScatter",
        [DP_COLLECTIVE_ALLTOALL] = "ncclSend and ncclRecv",
    };
    return (unsigned)kind < DP_COLLECTIVE_KINDS ? calls[kind] : NULL;
}

ncclDataType_t dp_nccl_type(enum dp_dtype dtype)
{
    static const ncclDataType_t types[] = {
        [DP_F32] = ncclFloat32, [DP_F64] = ncclFloat64, [DP_I32] = ncclInt32, [DP_I64] = ncclInt64};
    return types[dtype];
}

static ncclResult_t nccl_exchange(const struct dp_nccl_at *at, const struct dp_collective_call *s)
{
    const size_t bytes = s->n * dp_dtype_bytes(s->dtype);
    ncclResult_t result = ncclSuccess;
    for (int rank = 0; !dp_nccl_is_bad(result) && rank < at->c->n_members; ++rank) {
        const size_t begin = (size_t)rank * bytes;
        result = at->call->send((const char *)s->in[at->i] + begin, bytes, ncclUint8, rank,
                                at->comm, at->stream);
        if (!dp_nccl_is_bad(result))
            result = at->call->receive((char *)s->out[at->i] + begin, bytes, ncclUint8, rank,
                                       at->comm, at->stream);
    }
    return result;
}

ncclResult_t dp_nccl_issue_collective(const struct dp_nccl_at *at)
{
    const struct dp_nccl_call *call = at->call;
    const struct dp_collective_call *s = at->what->of;
    const size_t bytes = s->n * dp_dtype_bytes(s->dtype);
    const void *in = s->in[at->i];
    void *out = s->out[at->i];
    switch (s->kind) {
    case DP_COLLECTIVE_ALLREDUCE:
        return call->all_reduce(in, out, s->n, dp_nccl_type(s->dtype), ncclSum, at->comm,
                                at->stream);
    case DP_COLLECTIVE_BROADCAST:
        return call->broadcast(in, out, bytes, ncclUint8, s->root, at->comm, at->stream);
    case DP_COLLECTIVE_ALLGATHER:
        return call->all_gather(in, out, bytes, ncclUint8, at->comm, at->stream);
    case DP_COLLECTIVE_REDUCESCATTER:
        return call->reduce_scatter(in, out, s->n, dp_nccl_type(s->dtype), ncclSum, at->comm,
                                    at->stream);
    case DP_COLLECTIVE_ALLTOALL:
        return nccl_exchange(at, s);
    default:
        return ncclInvalidArgument;
    }
}
