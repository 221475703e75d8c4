/* plan.c: the flows of a call: sources and destinations. This file has the flows that copy. */
#include "inside.h"

#include <string.h>

static void plan_exchange(struct dp_mpi *mpi, const struct mpi_call *call)
{
    struct mpi_active *a = &mpi->active;
    const size_t bytes = call->bytes;
    a->head.bytes = bytes;
    mpi_choose_size(a, bytes, bytes);
    a->own = mpi_strip_of(a, NULL, call->mine, bytes);
    for (int p = 0; p < mpi->size; ++p) {
        struct mpi_strip *in = &a->in[p * DP_MAX_SLOTS];
        *in = mpi_strip_of(a, NULL, (char *)call->all + (size_t)p * bytes, bytes);
        if (p == mpi->rank)
            continue;
        mpi_send_flow(a, p, 0, bytes, &a->own, 1);
        mpi_receive_flow(a, p, 0, bytes, in, 1);
    }
    a->to[a->n_to++] = a->in[mpi->rank * DP_MAX_SLOTS];
}

/* From the process of the root to all others. */
static void plan_root(struct dp_mpi *mpi, const struct mpi_call *call, size_t bytes)
{
    struct mpi_active *a = &mpi->active;
    const int *first = call->team->first;
    int owner = 0;
    while (call->root >= first[owner + 1])
        ++owner;
    a->head.bytes = bytes;
    a->head.root = (uint32_t)call->root;
    mpi_choose_size(a, bytes, bytes);
    if (owner != mpi->rank) {
        a->own.n = 0;
        mpi_receive_flow(a, owner, 0, bytes, a->to, a->n_to);
        return;
    }
    for (int p = 0; p < mpi->size; ++p) {
        if (p != mpi->rank)
            mpi_send_flow(a, p, 0, bytes, &a->own, 1);
    }
}

static void plan_broadcast(struct dp_mpi *mpi, const struct mpi_call *call)
{
    struct mpi_active *a = &mpi->active;
    const struct dp_collective *c = call->c;
    const struct dp_collective_call *s = call->collective_call;
    const struct dp_group *group = call->team->group;
    size_t bytes = s ? s->n * dp_dtype_bytes(s->dtype) : 0;
    for (int k = 0; c && k < c->n_pieces; ++k)
        bytes += c->bytes[k];
    for (int i = 0; i < group->size; ++i) {
        a->to[i] =
            c ? mpi_strip_of_part(a, c, i) : mpi_strip_of(a, group->slot[i], s->out[i], bytes);
        if (group->first + i == call->root)
            a->own = c ? a->to[i] : mpi_strip_of(a, group->slot[i], s->in[i], bytes);
    }
    a->n_to = group->size;
    a->head.pieces = c ? (uint32_t)c->n_pieces : 1;
    plan_root(mpi, call, bytes);
}

static void plan_allgather(struct dp_mpi *mpi, const struct mpi_call *call)
{
    struct mpi_active *a = &mpi->active;
    const struct dp_collective_call *s = call->collective_call;
    const struct dp_group *group = call->team->group;
    const size_t bytes = s->n * dp_dtype_bytes(s->dtype);
    const size_t most = bytes * (size_t)mpi_most_locals(mpi, call->team);
    a->head.bytes = bytes;
    mpi_choose_size(a, most, most);
    a->own = (struct mpi_strip){&a->piece[a->pieces], group->size};
    for (int i = 0; i < group->size; ++i)
        (void)mpi_strip_of(a, group->slot[i], s->in[i], bytes);
    for (int p = 0; p < mpi->size; ++p) {
        struct mpi_strip *in = &a->in[p * DP_MAX_SLOTS];
        const size_t at = (size_t)call->team->first[p] * bytes;
        const size_t there = (size_t)mpi_locals(call->team, p) * bytes;
        for (int i = 0; i < group->size; ++i)
            in[i] = mpi_strip_of(a, group->slot[i], (char *)s->out[i] + at, there);
        if (p == mpi->rank)
            continue;
        mpi_send_flow(a, p, 0, bytes * (size_t)group->size, &a->own, 1);
        mpi_receive_flow(a, p, 0, there, in, group->size);
    }
    a->n_to = group->size;
    memcpy(a->to, &a->in[mpi->rank * DP_MAX_SLOTS], (size_t)a->n_to * sizeof *a->to);
}

/* The blocks that each rank here has for the ranks of process p, rank by rank; and the reverse. */
static struct mpi_strip blocks_for(struct mpi_active *a, const struct mpi_call *call, int p,
                                   size_t bytes)
{
    const struct dp_group *group = call->team->group;
    const struct mpi_strip strip = {&a->piece[a->pieces], group->size};
    const size_t at = (size_t)call->team->first[p] * bytes;
    for (int i = 0; i < group->size; ++i)
        (void)mpi_strip_of(a, group->slot[i], (const char *)call->collective_call->in[i] + at,
                           (size_t)mpi_locals(call->team, p) * bytes);
    return strip;
}

static struct mpi_strip blocks_from(struct mpi_active *a, const struct mpi_call *call, int p,
                                    size_t bytes)
{
    const struct dp_group *group = call->team->group;
    const int there = mpi_locals(call->team, p);
    const struct mpi_strip strip = {&a->piece[a->pieces], there * group->size};
    for (int i = 0; i < there; ++i) {
        const size_t at = (size_t)(call->team->first[p] + i) * bytes;
        for (int k = 0; k < group->size; ++k)
            (void)mpi_strip_of(a, group->slot[k], (char *)call->collective_call->out[k] + at,
                               bytes);
    }
    return strip;
}

static void plan_alltoall(struct dp_mpi *mpi, const struct mpi_call *call)
{
    struct mpi_active *a = &mpi->active;
    const struct dp_collective_call *s = call->collective_call;
    const size_t bytes = s->n * dp_dtype_bytes(s->dtype), here = (size_t)call->team->group->size;
    const size_t locals_most = (size_t)mpi_most_locals(mpi, call->team);
    a->head.bytes = bytes;
    mpi_choose_size(a, bytes * locals_most * locals_most, bytes * locals_most * locals_most);
    for (int p = 0; p < mpi->size; ++p) {
        struct mpi_strip *strip = &a->in[p * DP_MAX_SLOTS];
        const size_t all = bytes * here * (size_t)mpi_locals(call->team, p);
        strip[0] = blocks_from(a, call, p, bytes);
        strip[1] = blocks_for(a, call, p, bytes); /* DP_MAX_SLOTS is more than one */
        if (p == mpi->rank)
            continue;
        mpi_send_flow(a, p, 0, all, &strip[1], 1);
        mpi_receive_flow(a, p, 0, all, &strip[0], 1);
    }
    a->own = a->in[mpi->rank * DP_MAX_SLOTS + 1];
    a->to[a->n_to++] = a->in[mpi->rank * DP_MAX_SLOTS];
}

/* ---- all --------------------------------------------------------------------------------- */

int dp_mpi_plan(struct dp_mpi *mpi, struct mpi_call *call, struct dp_error *err)
{
    struct mpi_active *a = &mpi->active;
    int status = mpi_open_pieces(mpi, call, err);
    *a = (struct mpi_active){.call = call,
                             .block_most = mpi->block_most,
                             .head = {.kind = (uint32_t)call->kind, .pieces = 1},
                             .link = a->link,
                             .piece = a->piece,
                             .piece_capacity = a->piece_capacity,
                             .in = a->in,
                             .moved_ns = dp_now_ns()};
    if (status)
        return status;
    if (call->collective_call) {
        a->dtype = call->collective_call->dtype;
        a->sums = dp_collective_sums(call->collective_call->kind);
        a->head.dtype = (uint32_t)a->dtype;
    }
    switch (call->kind) {
    case CALL_BROADCAST:
        plan_broadcast(mpi, call);
        break;
    case CALL_ALLREDUCE:
        if (call->collective_call)
            mpi_plan_sum(mpi, call);
        else
            status = mpi_plan_allreduce(mpi, call, err);
        break;
    case CALL_ALLGATHER:
        plan_allgather(mpi, call);
        break;
    case CALL_REDUCESCATTER:
        mpi_plan_reducescatter(mpi, call);
        break;
    case CALL_ALLTOALL:
        plan_alltoall(mpi, call);
        break;
    case CALL_EXCHANGE:
    case CALL_BARRIER:
    case CALL_AGREE:
    case CALL_CLOSE:
        plan_exchange(mpi, call);
        break;
    default:
        status = dp_fail(err, DP_EINVAL, "no call of processes has the number %d", (int)call->kind);
    }
    return status ? status : mpi_open_buffers(mpi, err);
}
