/* plan_sum.c: the flows of sums.
 *
 * An allreduce is cut into shares, one for each process that takes part, which owns it. All
 * processes send the numbers of their ranks for a share to its owner, unsummed. The owner adds
 * them, and sends the sum to all. A small allreduce has no owner: every process sends everything to
 * all others. */
#include "inside.h"

#include <string.h>

struct share {
    size_t begin, bytes;
};

/* Shares are whole cache lines. */
static struct share plan_sum_share_of(size_t total, size_t unit, int i, int n)
{
    const size_t elements = total / unit;
    const size_t each = (elements / (size_t)n + 16) / 16 * 16 * unit;
    const size_t begin = (size_t)i * each < total ? (size_t)i * each : total;
    return (struct share){begin, total - begin < each ? total - begin : each};
}

static bool is_member(const struct mpi_call *call, int rank)
{
    const struct dp_collective *c = call->c;
    for (int m = 0; c && m < c->n_members; ++m) {
        if (c->member[m] == rank)
            return true;
    }
    return !c;
}

/* The number of ranks of a process that take part. */
static int members_of(const struct mpi_call *call, int process)
{
    int n = 0;
    for (int r = call->team->first[process]; r < call->team->first[process + 1]; ++r)
        n += is_member(call, r);
    return n;
}

/* The sources are in rank order, for any distribution over processes. */
static void plan_sources(struct dp_mpi *mpi, const struct mpi_call *call)
{
    struct mpi_active *a = &mpi->active;
    for (int p = 0; p < mpi->size; ++p) {
        const int n = members_of(call, p);
        for (int turn = 0; turn < n; ++turn) {
            const bool here = p == mpi->rank;
            a->source[a->n_sources++] = (struct mpi_source){
                here ? &a->from[turn] : NULL, here ? 0 : (int)(mpi_link_to(a, p) - a->link), turn};
        }
    }
}

/* total bytes, of which process number i of the n that take part owns a share. */
static void plan_shares(struct dp_mpi *mpi, const struct mpi_call *call, size_t total)
{
    struct mpi_active *a = &mpi->active;
    const size_t unit = dp_dtype_bytes(a->dtype);
    int n = 0, most = 0, i = 0;
    for (int p = 0; p < mpi->size; ++p) {
        const int members = members_of(call, p);
        n += members > 0;
        most = members > most ? members : most;
    }
    mpi_choose_size(a, plan_sum_share_of(total, unit, 0, n).bytes, total * (size_t)most);
    const struct share all = {0, total};
    for (int p = 0; p < mpi->rank; ++p)
        i += members_of(call, p) > 0;
    const struct share mine = a->small ? all : plan_sum_share_of(total, unit, i, n);
    a->begin = mine.begin;
    a->bytes = mine.bytes;
    i = 0;
    for (int p = 0; p < mpi->size; ++p) {
        const int there = members_of(call, p);
        if (there == 0)
            continue;
        const struct share share = a->small ? all : plan_sum_share_of(total, unit, i, n);
        ++i;
        if (p == mpi->rank)
            continue;
        mpi_send_flow(a, p, share.begin, share.bytes, a->from, a->n_from);
        mpi_receive_flow(a, p, mine.begin, mine.bytes, NULL, there);
        if (!a->small) {
            struct mpi_link *link = mpi_link_to(a, p);
            const struct mpi_flow sums = {.on = true, .peer = p, .tag = WIRE_TAG_SUMS};
            link->sums_out = link->sums_in = sums;
            link->sums_out.sends = true;
            link->sums_out.begin = a->begin;
            link->sums_out.bytes = a->bytes;
            link->sums_out.strip = a->to;
            link->sums_out.n_strips = 1;
            link->sums_in.begin = share.begin;
            link->sums_in.bytes = share.bytes;
            link->sums_in.strip = a->to;
            link->sums_in.n_strips = a->n_to;
            link->sums_in.limit = SIZE_MAX;
            link->sums_in.behind = &link->out;
        }
    }
}

int mpi_plan_allreduce(struct dp_mpi *mpi, const struct mpi_call *call, struct dp_error *err)
{
    struct mpi_active *a = &mpi->active;
    const struct dp_collective *c = call->c;
    size_t total = 0;
    int status = 0;
    for (int k = 0; k < c->n_pieces; ++k)
        total += c->bytes[k];
    a->sums = true;
    a->dtype = DP_F32;
    for (int i = 0; i < c->n_parts; ++i)
        a->to[i] = a->from[i] = mpi_strip_of_part(a, c, i);
    a->n_to = a->n_from = c->n_parts;
    a->head.bytes = total;
    a->head.pieces = (uint32_t)c->n_pieces;
    a->head.members = 14695981039346656037u;
    for (int m = 0; m < c->n_members; ++m)
        a->head.members = (a->head.members ^ (uint64_t)c->member[m]) * 1099511628211u;
    memcpy(&a->head.scale, &c->scale, sizeof c->scale);
    plan_shares(mpi, call, total);
    plan_sources(mpi, call);
    /* The host reads what the slots have written. */
    for (int i = 0; status == 0 && i < c->n_parts; ++i)
        status = c->part[i].slot->ops->finish(&c->part[i].ready, err);
    return status;
}

void mpi_plan_sum(struct dp_mpi *mpi, const struct mpi_call *call)
{
    struct mpi_active *a = &mpi->active;
    const struct dp_collective_call *s = call->collective_call;
    const struct dp_group *group = call->team->group;
    const size_t total = s->n * dp_dtype_bytes(s->dtype);
    a->head.bytes = total;
    for (int i = 0; i < group->size; ++i) {
        a->from[i] = mpi_strip_of(a, group->slot[i], s->in[i], total);
        a->to[i] = mpi_strip_of(a, group->slot[i], s->out[i], total);
    }
    a->n_to = a->n_from = group->size;
    plan_shares(mpi, call, total);
    plan_sources(mpi, call);
}

/* Every process owns the blocks of its ranks. */
void mpi_plan_reducescatter(struct dp_mpi *mpi, const struct mpi_call *call)
{
    struct mpi_active *a = &mpi->active;
    const struct dp_collective_call *s = call->collective_call;
    const struct dp_mpi_team *team = call->team;
    const struct dp_group *group = team->group;
    const size_t bytes = s->n * dp_dtype_bytes(s->dtype), most = (size_t)mpi_most_locals(mpi, team);
    a->head.bytes = bytes;
    mpi_choose_size(a, bytes * most, bytes * most * most);
    for (int i = 0; i < group->size; ++i)
        a->from[i] = mpi_strip_of(a, group->slot[i], s->in[i], bytes * (size_t)group->world);
    a->n_from = group->size;
    a->to[a->n_to++] = (struct mpi_strip){&a->piece[a->pieces], group->size};
    for (int i = 0; i < group->size; ++i)
        (void)mpi_strip_of(a, group->slot[i], s->out[i], bytes);
    a->begin = a->shift = (size_t)group->first * bytes;
    a->bytes = (size_t)group->size * bytes;
    for (int p = 0; p < mpi->size; ++p) {
        if (p == mpi->rank)
            continue;
        mpi_send_flow(a, p, (size_t)team->first[p] * bytes, (size_t)mpi_locals(team, p) * bytes,
                      a->from, a->n_from);
        mpi_receive_flow(a, p, a->begin, a->bytes, NULL, mpi_locals(team, p));
    }
    plan_sources(mpi, call);
}
