/* collective_call.c: standalone collectives of one process, made of move and reduce of the
 * communicator. Every block is added on the rank that needs it, or copied to it. */
#include "backend.h"

#include <stdlib.h>

/* The moves to each rank: at most one piece from every other rank. */
struct plan {
    struct dp_team team;
    const struct dp_collective_call *collective_call;
    struct dp_move *move; /* [ranks][ranks] */
    struct dp_moves moves[DP_MAX_SLOTS];
};

struct range {
    size_t first, bytes;
};

/* An allreduce has a share for every rank; the last shares may be smaller or empty. */
static struct range blocks_share(const struct plan *plan, int rank)
{
    const size_t unit = dp_dtype_bytes(plan->collective_call->dtype), n = plan->collective_call->n;
    const size_t ranks = (size_t)plan->team.n, each = (n + ranks - 1) / ranks;
    const size_t first = (size_t)rank * each < n ? (size_t)rank * each : n;
    return (struct range){first * unit, (n - first < each ? n - first : each) * unit};
}

static size_t block_bytes(const struct dp_collective_call *s)
{
    return s->n * dp_dtype_bytes(s->dtype);
}

/* ---- sums -------------------------------------------------------------------------------- */

/* Adds block or share number r of all ranks, on rank r. */
static int add_for(const struct plan *plan, int r, struct dp_error *err)
{
    const struct dp_collective_call *s = plan->collective_call;
    const bool whole = s->kind == DP_COLLECTIVE_ALLREDUCE;
    const size_t bytes = block_bytes(s);
    const struct range range =
        whole ? blocks_share(plan, r) : (struct range){(size_t)r * bytes, bytes};
    const void *src[DP_MAX_SLOTS];
    for (int i = 0; i < plan->team.n; ++i)
        src[i] = (const char *)s->in[i] + range.first;
    const struct dp_sum sum = {s->dtype, false, range.bytes / dp_dtype_bytes(s->dtype),
                               (char *)s->out[r] + (whole ? range.first : 0), src};
    return sum.n == 0
               ? 0
               : dp_comm_reduce(&plan->team, plan->team.slot[r], &sum, 1, DP_PHASE_REDUCE, err);
}

/* ---- copies ------------------------------------------------------------------------------ */

/* The copy that rank `to` needs from rank `from`, with source and destination. */
static int piece_of(const struct plan *plan, int to, int from, struct dp_copy *piece,
                    struct dp_error *err)
{
    const struct dp_collective_call *s = plan->collective_call;
    const size_t bytes = block_bytes(s), at = (size_t)from * bytes;
    struct dp_copy copy = {s->out[to], s->in[from], bytes, 1, bytes, bytes};
    const struct range range = blocks_share(plan, from);
    switch (s->kind) {
    case DP_COLLECTIVE_ALLREDUCE: /* it was added there */
        copy.dst = (char *)s->out[to] + range.first;
        copy.src = (const char *)s->out[from] + range.first;
        copy.width = range.bytes;
        break;
    case DP_COLLECTIVE_BROADCAST:
        copy.width = from == s->root ? bytes : 0;
        break;
    case DP_COLLECTIVE_ALLGATHER:
        copy.dst = (char *)s->out[to] + at;
        break;
    case DP_COLLECTIVE_ALLTOALL:
        copy.dst = (char *)s->out[to] + at;
        copy.src = (const char *)s->in[from] + (size_t)to * bytes;
        break;
    default:
        return dp_fail(err, DP_ENOTSUP, "collective %d cannot be made of copies", (int)s->kind);
    }
    copy.src_pitch = copy.dst_pitch = copy.width;
    *piece = copy;
    return 0;
}

/* Each rank begins with another source, so that not all read from one rank at the same time. */
static int move_all(struct plan *plan, enum dp_phase phase, struct dp_error *err)
{
    const int ranks = plan->team.n;
    for (int to = 0; to < ranks; ++to) {
        struct dp_move *move = plan->move + (size_t)to * (size_t)ranks;
        int n = 0;
        for (int i = 0; i < ranks; ++i) {
            const int from = (to + i) % ranks;
            struct dp_copy copy;
            const int status = piece_of(plan, to, from, &copy, err);
            if (status)
                return status;
            if (copy.width > 0 && copy.dst != copy.src)
                move[n++] = (struct dp_move){plan->team.slot[to], plan->team.slot[from], copy};
        }
        plan->moves[to] = (struct dp_moves){move, n};
    }
    return dp_comm_move(&plan->team, plan->moves, phase, err);
}

int dp_moved_collective(struct dp_group *group, const struct dp_collective_call *s,
                        struct dp_error *err)
{
    struct plan plan = {.team = {group, group->slot, group->size}, .collective_call = s};
    const size_t most = (size_t)group->size * (size_t)group->size;
    int status = 0;
    plan.move = malloc(most * sizeof *plan.move);
    if (!plan.move)
        return dp_fail(err, DP_ENOMEM, "no memory for the pieces of %d ranks", group->size);
    for (int r = 0; dp_collective_sums(s->kind) && status == 0 && r < plan.team.n; ++r)
        status = add_for(&plan, r, err);
    if (status == 0 && s->kind != DP_COLLECTIVE_REDUCESCATTER)
        status = move_all(&plan, dp_collective_sums(s->kind) ? DP_PHASE_REDUCE : DP_PHASE_REPLICATE,
                          err);
    free(plan.move);
    return status;
}
