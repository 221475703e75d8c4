/* nccl_wait.c: waits for a stream that may contain a collective, which never ends if another rank
 * is lost. It polls the stream and NCCL until a deadline. Then all communicators are given up,
 * which ends the work in progress. */
#include "nccl_team.h"

/* An error of any rank concerns all, because the others wait for it. */
static int check_ranks(const struct dp_nccl *nccl, struct dp_error *err)
{
    for (const struct dp_nccl_team *team = nccl->team; team; team = team->next) {
        for (int i = 0; i < team->n; ++i) {
            const struct dp_nccl_last *last = &nccl->last[team->slot[i]->info.index];
            ncclResult_t state = ncclSuccess;
            const ncclResult_t asked = nccl->call.async_error(team->comm[i], &state);
            if (dp_nccl_is_bad(asked) || dp_nccl_is_bad(state))
                return dp_nccl_fail(nccl, team->slot[i], team->rank[i],
                                    last->call ? last->call : "NCCL",
                                    dp_nccl_is_bad(asked) ? asked : state, err);
        }
    }
    return 0;
}

/* The first slot whose last collective is not done; if there is none, the slot of the wait. */
static const struct dp_slot *late_slot(const struct dp_nccl *nccl, const struct dp_slot *slot)
{
    for (int i = 0; i < nccl->group->size; ++i) {
        const struct dp_slot *other = nccl->group->slot[i];
        const struct dp_cuda_queue *comm = other->comm.native;
        if (nccl->last[i].call && cudaStreamQuery(comm->stream) == cudaErrorNotReady)
            return other;
    }
    return slot;
}

static int too_long(const struct dp_nccl *nccl, const struct dp_slot *slot, struct dp_error *err)
{
    const struct dp_slot *late = late_slot(nccl, slot);
    const struct dp_nccl_last *last = &nccl->last[late->info.index];
    cudaGetLastError();
    return dp_fail(
        err, DP_EFAULT,
        "rank %d (%s): %s number %llu, of %zu bytes, or one after it, was not done after %llu s",
        last->rank, late->info.name, last->call ? last->call : "a collective",
        (unsigned long long)last->number, last->bytes,
        (unsigned long long)(nccl->deadline_ns / 1000000000u));
}

/* Polls once. *done: the queue is empty, or is not waited for any more. */
static int nccl_look(struct dp_nccl *nccl, const struct dp_queue *queue, uint64_t begin, bool *done,
                     struct dp_error *err)
{
    const struct dp_slot *slot = queue->slot;
    const struct dp_cuda_queue *q = queue->native;
    struct dp_nccl_last *last = &nccl->last[slot->info.index];
    *done = !last->call;
    if (*done)
        return 0;
    const cudaError_t error = cudaStreamQuery(q->stream);
    if (error && error != cudaErrorNotReady)
        return dp_cuda_fail(slot, "cudaStreamQuery", error, err);
    *done = !error;
    if (!error && queue == &slot->comm)
        last->call = NULL;
    int status = check_ranks(nccl, err);
    if (status == 0 && !*done && dp_now_ns() - begin > nccl->deadline_ns)
        status = too_long(nccl, slot, err);
    return status;
}

int dp_nccl_watch(struct dp_queue *queue, struct dp_error *err)
{
    struct dp_nccl *nccl = queue->slot->group->nccl;
    const uint64_t begin = dp_now_ns();
    bool done = false;
    int status = 0;
    while (status == 0 && !done) {
        pthread_mutex_lock(&nccl->lock);
        status = nccl_look(nccl, queue, begin, &done, err);
        if (status) {
            /* Other processes also wait for this one. */
            struct dp_group *group = nccl->group;
            dp_nccl_abort_all(nccl);
            if (group->world > group->size) {
                group->broken = true;
                group->others->bootstrap->abort(group->others->self);
            }
        }
        pthread_mutex_unlock(&nccl->lock);
        if (status == 0 && !done)
            dp_nccl_nap(begin);
    }
    return status;
}
