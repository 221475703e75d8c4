/* nccl_group.c: a collective as one group of NCCL calls, and its order with other work of the
 * queues. */
#include "nccl_team.h"

size_t dp_nccl_bytes_of(const struct dp_collective *c)
{
    size_t bytes = 0;
    for (int k = 0; k < c->n_pieces; ++k)
        bytes += c->bytes[k];
    return bytes;
}

static ncclResult_t issue_piece(const struct dp_nccl *nccl, const struct dp_nccl_team *team,
                                const struct dp_collective *c, const struct dp_nccl_operation *what,
                                int i, int k)
{
    const struct dp_cuda_queue *q = c->part[i].slot->comm.native;
    const struct dp_nccl_at at = {&nccl->call, team->comm[i], q->stream, c, what, i, k};
    return c->bytes[k] > 0 ? what->issue(&at) : ncclSuccess;
}

/* The group is closed on every path. */
static int nccl_issue(struct dp_nccl *nccl, const struct dp_nccl_team *team,
                      const struct dp_collective *c, const struct dp_nccl_operation *what,
                      struct dp_error *err)
{
    ncclResult_t result = nccl->call.group_start();
    int at = 0;
    /* The oldest collective that may not be done is kept. */
    ++nccl->calls;
    for (int i = 0; i < c->n_parts; ++i) {
        const struct dp_slot *slot = c->part[i].slot;
        const struct dp_cuda_queue *comm = slot->comm.native;
        struct dp_nccl_last *last = &nccl->last[slot->info.index];
        if (!last->call || cudaStreamQuery(comm->stream) == cudaSuccess)
            *last = (struct dp_nccl_last){what->call, c->part[i].rank, nccl->calls,
                                          dp_nccl_bytes_of(c)};
    }
    cudaGetLastError(); /* clears the error: "not done yet" is no failure */
    if (dp_nccl_is_bad(result))
        return dp_nccl_fail(nccl, team->slot[0], team->rank[0], "ncclGroupStart", result, err);
    for (int k = 0; !dp_nccl_is_bad(result) && k < c->n_pieces; ++k) {
        for (int i = 0; !dp_nccl_is_bad(result) && i < team->n; ++i) {
            at = i;
            result = issue_piece(nccl, team, c, what, i, k);
        }
    }
    const ncclResult_t ended = nccl->call.group_end();
    if (dp_nccl_is_bad(result) || dp_nccl_is_bad(ended))
        return dp_nccl_fail(nccl, team->slot[at], team->rank[at], what->call,
                            dp_nccl_is_bad(result) ? result : ended, err);
    return dp_nccl_settle(nccl, team, what->call, err);
}

/* Half of a group would never end. If one call cannot be issued, all are given up. */
int dp_nccl_together(struct dp_nccl *nccl, const struct dp_collective *c,
                     const struct dp_nccl_operation *what, struct dp_error *err)
{
    struct dp_nccl_team *team = NULL;
    int status = dp_nccl_team_of(nccl, c, &team, err);
    if (status == 0)
        status = nccl_issue(nccl, team, c, what, err);
    if (status)
        dp_nccl_abort_all(nccl);
    return status;
}

int dp_nccl_in_order(struct dp_group *group, const struct dp_collective *c,
                     const struct dp_nccl_operation *what, enum dp_phase phase,
                     const size_t bytes[], struct dp_error *err)
{
    struct dp_span span[DP_MAX_SLOTS];
    struct dp_nccl *nccl = group->nccl;
    int status = 0;
    for (int i = 0; status == 0 && i < c->n_parts; ++i) {
        struct dp_slot *slot = c->part[i].slot;
        slot->ops->record(&slot->compute, &slot->ready);
        status = dp_event_wait(&slot->comm, &slot->ready, err);
    }
    for (int i = 0; status == 0 && i < c->n_parts; ++i)
        span[i] = dp_span_begin(&c->part[i].slot->comm, c->part[i].replica, phase);
    if (status)
        return status;
    pthread_mutex_lock(&nccl->lock);
    status = dp_nccl_together(nccl, c, what, err);
    pthread_mutex_unlock(&nccl->lock);
    for (int i = 0; i < c->n_parts; ++i) {
        struct dp_slot *slot = c->part[i].slot;
        dp_span_end(&span[i], bytes[i]);
        slot->ops->record(&slot->comm, &slot->done);
        if (status == 0)
            status = dp_event_wait(&slot->compute, &slot->done, err);
    }
    return status;
}
