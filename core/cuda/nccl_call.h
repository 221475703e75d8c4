/* nccl_call.h: the functions of NCCL, which is loaded when it is needed. */
#ifndef DP_NCCL_CALL_H
#define DP_NCCL_CALL_H

#include "cuda.h"

#include <nccl.h>

/* The functions that are used, by the name after "nccl". */
#define DP_NCCL_LIST(call)                                                                         \
    call(version, GetVersion) call(unique_id, GetUniqueId) call(error_text, GetErrorString)        \
        call(last_error, GetLastError) call(init_rank, CommInitRankConfig)                         \
            call(async_error, CommGetAsyncError) call(finalize, CommFinalize)                      \
                call(destroy, CommDestroy) call(abort, CommAbort) call(group_start, GroupStart)    \
                    call(group_end, GroupEnd) call(broadcast, Broadcast)                           \
                        call(all_reduce, AllReduce) call(reduce, Reduce)                           \
                            call(all_gather, AllGather) call(reduce_scatter, ReduceScatter)        \
                                call(send, Send) call(receive, Recv)

/* Their types come from the header of NCCL; none is repeated here. */
#define DP_NCCL_MEMBER(member, name) __typeof__(nccl##name) *member;
struct dp_nccl_call {
    DP_NCCL_LIST(DP_NCCL_MEMBER)
};
#undef DP_NCCL_MEMBER

/* The first version with communicators that do not block. */
#define DP_NCCL_OLDEST NCCL_VERSION(2, 14, 0)

/* nccl_load.c. DP_ENOTSUP if it does not exist, or is too old; the line lists what was tried. */
int dp_nccl_load(struct dp_nccl_call *call, int *version, struct dp_error *err);

/* nccl_version.c: checks a version, and writes it: "2.28.9". */
int dp_nccl_check_version(int version, struct dp_error *err);
void dp_nccl_version_text(int version, char *text, size_t bytes);

#endif
