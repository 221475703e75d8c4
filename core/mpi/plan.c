/* plan.c: the flows of a call: what goes to whom, from where to where.
 *
 * An allreduce is cut into as many shares as processes take part, and a process owns one. All send
 * their ranks' numbers of a share to its owner, unsummed, who adds them and sends the sum to all. A
 * small one is everybody's: all send everything to everybody. */
#include "inside.h"

#include <stdlib.h>
#include <string.h>

static int locals(const struct dp_mpi_team *team, int process)
{
    return team->first[process + 1] - team->first[process];
}

static int most_locals(const struct dp_mpi *mpi, const struct dp_mpi_team *team)
{
    int most = 0;
    for (int p = 0; p < mpi->size; ++p)
        most = locals(team, p) > most ? locals(team, p) : most;
    return most;
}

/* ---- pieces ------------------------------------------------------------------------------ */

static int open_pieces(struct dp_mpi *mpi, const struct mpi_call *call, struct dp_error *err)
{
    struct mpi_active *a = &mpi->active;
    size_t need = (size_t)mpi->size + 2;
    if (call->c)
        need = (size_t)(call->c->n_parts + 1) * ((size_t)call->c->n_pieces + 1);
    else if (call->spread)
        need = (size_t)(mpi->size + call->team->first[mpi->size] + 4) *
               (size_t)(call->team->group->size + 1);
    if (need <= a->piece_room)
        return 0;
    struct mpi_piece *piece = realloc(a->piece, need * sizeof *piece);
    if (!piece)
        return dp_fail(err, DP_ENOMEM, "no memory for %zu pieces of a call", need);
    a->piece = piece;
    a->piece_room = need;
    return 0;
}

static struct mpi_strip strip_of(struct mpi_active *a, struct dp_slot *slot, const void *data,
                                 size_t bytes)
{
    struct mpi_strip strip = {&a->piece[a->pieces++], 1};
    strip.piece->slot = slot;
    memcpy(&strip.piece->data, &data, sizeof data);
    strip.piece->bytes = bytes;
    return strip;
}

static struct mpi_strip strip_of_part(struct mpi_active *a, const struct dp_collective *c, int i)
{
    struct mpi_strip strip = {&a->piece[a->pieces], c->n_pieces};
    for (int k = 0; k < c->n_pieces; ++k)
        (void)strip_of(a, c->part[i].slot, c->part[i].piece[k], c->bytes[k]);
    return strip;
}

/* ---- flows ------------------------------------------------------------------------------- */

static struct mpi_link *link_to(struct mpi_active *a, int peer)
{
    for (int k = 0; k < a->n_links; ++k) {
        if (a->link[k].peer == peer)
            return &a->link[k];
    }
    struct mpi_link *link = &a->link[a->n_links++];
    *link = (struct mpi_link){.peer = peer};
    return link;
}

static void send_flow(struct mpi_active *a, int peer, size_t begin, size_t bytes,
                      const struct mpi_strip *strip, int n)
{
    struct mpi_link *link = link_to(a, peer);
    link->sends = true;
    link->out = (struct mpi_flow){.on = true,
                                  .sends = true,
                                  .peer = peer,
                                  .tag = WIRE_TAG_NUMBERS,
                                  .begin = begin,
                                  .bytes = bytes,
                                  .strip = strip,
                                  .n_strips = n,
                                  .limit = SIZE_MAX};
}

static struct mpi_flow *receive_flow(struct mpi_active *a, int peer, size_t begin, size_t bytes,
                                     const struct mpi_strip *strip, int n)
{
    struct mpi_link *link = link_to(a, peer);
    link->receives = true;
    link->in = (struct mpi_flow){.on = true,
                                 .kept = strip == NULL,
                                 .peer = peer,
                                 .tag = WIRE_TAG_NUMBERS,
                                 .begin = begin,
                                 .bytes = bytes,
                                 .strip = strip,
                                 .n_strips = n,
                                 .limit = SIZE_MAX};
    return &link->in;
}

/* Blocks of a size that keeps a few on their way, alike in all processes. */
static size_t block_for(size_t most)
{
    const size_t eighth = (most / 8 + 4096) / 4096 * 4096;
    if (eighth < WIRE_BLOCK_LEAST)
        return WIRE_BLOCK_LEAST;
    return eighth < WIRE_BLOCK_MOST ? eighth : WIRE_BLOCK_MOST;
}

/* most: bytes of the largest flow of any process; message: what its head would have to carry. */
static void choose_size(struct mpi_active *a, size_t most, size_t message)
{
    a->small = message <= WIRE_SMALL_BYTES;
    a->block = a->small ? WIRE_SMALL_BYTES : block_for(most);
    a->head.small = a->small;
}

/* ---- copies ------------------------------------------------------------------------------ */

static void plan_exchange(struct dp_mpi *mpi, const struct mpi_call *call)
{
    struct mpi_active *a = &mpi->active;
    const size_t bytes = call->bytes;
    a->head.bytes = bytes;
    choose_size(a, bytes, bytes);
    a->own = strip_of(a, NULL, call->mine, bytes);
    for (int p = 0; p < mpi->size; ++p) {
        struct mpi_strip *in = &a->in[p * DP_MAX_SLOTS];
        *in = strip_of(a, NULL, (char *)call->all + (size_t)p * bytes, bytes);
        if (p == mpi->rank)
            continue;
        send_flow(a, p, 0, bytes, &a->own, 1);
        receive_flow(a, p, 0, bytes, in, 1);
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
    choose_size(a, bytes, bytes);
    if (owner != mpi->rank) {
        a->own.n = 0;
        receive_flow(a, owner, 0, bytes, a->to, a->n_to);
        return;
    }
    for (int p = 0; p < mpi->size; ++p) {
        if (p != mpi->rank)
            send_flow(a, p, 0, bytes, &a->own, 1);
    }
}

static void plan_broadcast(struct dp_mpi *mpi, const struct mpi_call *call)
{
    struct mpi_active *a = &mpi->active;
    const struct dp_collective *c = call->c;
    const struct dp_spread *s = call->spread;
    const struct dp_group *group = call->team->group;
    size_t bytes = s ? s->n * dp_dtype_bytes(s->dtype) : 0;
    for (int k = 0; c && k < c->n_pieces; ++k)
        bytes += c->bytes[k];
    for (int i = 0; i < group->size; ++i) {
        a->to[i] = c ? strip_of_part(a, c, i) : strip_of(a, group->slot[i], s->out[i], bytes);
        if (group->first + i == call->root)
            a->own = c ? a->to[i] : strip_of(a, group->slot[i], s->in[i], bytes);
    }
    a->n_to = group->size;
    a->head.pieces = c ? (uint32_t)c->n_pieces : 1;
    plan_root(mpi, call, bytes);
}

static void plan_allgather(struct dp_mpi *mpi, const struct mpi_call *call)
{
    struct mpi_active *a = &mpi->active;
    const struct dp_spread *s = call->spread;
    const struct dp_group *group = call->team->group;
    const size_t bytes = s->n * dp_dtype_bytes(s->dtype);
    const size_t most = bytes * (size_t)most_locals(mpi, call->team);
    a->head.bytes = bytes;
    choose_size(a, most, most);
    a->own = (struct mpi_strip){&a->piece[a->pieces], group->size};
    for (int i = 0; i < group->size; ++i)
        (void)strip_of(a, group->slot[i], s->in[i], bytes);
    for (int p = 0; p < mpi->size; ++p) {
        struct mpi_strip *in = &a->in[p * DP_MAX_SLOTS];
        const size_t at = (size_t)call->team->first[p] * bytes;
        const size_t there = (size_t)locals(call->team, p) * bytes;
        for (int i = 0; i < group->size; ++i)
            in[i] = strip_of(a, group->slot[i], (char *)s->out[i] + at, there);
        if (p == mpi->rank)
            continue;
        send_flow(a, p, 0, bytes * (size_t)group->size, &a->own, 1);
        receive_flow(a, p, 0, there, in, group->size);
    }
    a->n_to = group->size;
    memcpy(a->to, &a->in[mpi->rank * DP_MAX_SLOTS], (size_t)a->n_to * sizeof *a->to);
}

/* What each rank here has for the ranks of process p, rank by rank; and the way back. */
static struct mpi_strip blocks_for(struct mpi_active *a, const struct mpi_call *call, int p,
                                   size_t bytes)
{
    const struct dp_group *group = call->team->group;
    const struct mpi_strip strip = {&a->piece[a->pieces], group->size};
    const size_t at = (size_t)call->team->first[p] * bytes;
    for (int i = 0; i < group->size; ++i)
        (void)strip_of(a, group->slot[i], (const char *)call->spread->in[i] + at,
                       (size_t)locals(call->team, p) * bytes);
    return strip;
}

static struct mpi_strip blocks_from(struct mpi_active *a, const struct mpi_call *call, int p,
                                    size_t bytes)
{
    const struct dp_group *group = call->team->group;
    const int there = locals(call->team, p);
    const struct mpi_strip strip = {&a->piece[a->pieces], there * group->size};
    for (int i = 0; i < there; ++i) {
        const size_t at = (size_t)(call->team->first[p] + i) * bytes;
        for (int k = 0; k < group->size; ++k)
            (void)strip_of(a, group->slot[k], (char *)call->spread->out[k] + at, bytes);
    }
    return strip;
}

static void plan_alltoall(struct dp_mpi *mpi, const struct mpi_call *call)
{
    struct mpi_active *a = &mpi->active;
    const struct dp_spread *s = call->spread;
    const size_t bytes = s->n * dp_dtype_bytes(s->dtype), here = (size_t)call->team->group->size;
    const size_t locals_most = (size_t)most_locals(mpi, call->team);
    a->head.bytes = bytes;
    choose_size(a, bytes * locals_most * locals_most, bytes * locals_most * locals_most);
    for (int p = 0; p < mpi->size; ++p) {
        struct mpi_strip *strip = &a->in[p * DP_MAX_SLOTS];
        const size_t all = bytes * here * (size_t)locals(call->team, p);
        strip[0] = blocks_from(a, call, p, bytes);
        strip[1] = blocks_for(a, call, p, bytes); /* DP_MAX_SLOTS is more than one */
        if (p == mpi->rank)
            continue;
        send_flow(a, p, 0, all, &strip[1], 1);
        receive_flow(a, p, 0, all, &strip[0], 1);
    }
    a->own = a->in[mpi->rank * DP_MAX_SLOTS + 1];
    a->to[a->n_to++] = a->in[mpi->rank * DP_MAX_SLOTS];
}

/* ---- sums -------------------------------------------------------------------------------- */

struct share {
    size_t begin, bytes;
};

/* Whole lines of memory. */
static struct share share_of(size_t total, size_t unit, int i, int n)
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

/* How many ranks of a process take part. */
static int members_of(const struct mpi_call *call, int process)
{
    int n = 0;
    for (int r = call->team->first[process]; r < call->team->first[process + 1]; ++r)
        n += is_member(call, r);
    return n;
}

/* In rank order, whoever has them. */
static void plan_sources(struct dp_mpi *mpi, const struct mpi_call *call)
{
    struct mpi_active *a = &mpi->active;
    for (int p = 0; p < mpi->size; ++p) {
        const int n = members_of(call, p);
        for (int turn = 0; turn < n; ++turn) {
            const bool here = p == mpi->rank;
            a->source[a->n_sources++] = (struct mpi_source){
                here ? &a->from[turn] : NULL, here ? 0 : (int)(link_to(a, p) - a->link), turn};
        }
    }
}

static void sum_flows(struct mpi_active *a, int peer, const struct share *there)
{
    struct mpi_link *link = link_to(a, peer);
    const struct mpi_flow sums = {.on = true, .peer = peer, .tag = WIRE_TAG_SUMS};
    link->sums_out = link->sums_in = sums;
    link->sums_out.sends = true;
    link->sums_out.begin = a->begin;
    link->sums_out.bytes = a->bytes;
    link->sums_out.strip = a->to;
    link->sums_out.n_strips = 1;
    link->sums_in.begin = there->begin;
    link->sums_in.bytes = there->bytes;
    link->sums_in.strip = a->to;
    link->sums_in.n_strips = a->n_to;
    link->sums_in.limit = SIZE_MAX;
    link->sums_in.behind = &link->out;
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
    choose_size(a, share_of(total, unit, 0, n).bytes, total * (size_t)most);
    const struct share all = {0, total};
    for (int p = 0; p < mpi->rank; ++p)
        i += members_of(call, p) > 0;
    const struct share mine = a->small ? all : share_of(total, unit, i, n);
    a->begin = mine.begin;
    a->bytes = mine.bytes;
    i = 0;
    for (int p = 0; p < mpi->size; ++p) {
        const int there = members_of(call, p);
        if (there == 0)
            continue;
        const struct share share = a->small ? all : share_of(total, unit, i, n);
        ++i;
        if (p == mpi->rank)
            continue;
        send_flow(a, p, share.begin, share.bytes, a->from, a->n_from);
        receive_flow(a, p, mine.begin, mine.bytes, NULL, there);
        if (!a->small)
            sum_flows(a, p, &share);
    }
}

static uint64_t hash_members(const struct dp_collective *c)
{
    uint64_t hash = 14695981039346656037u;
    for (int m = 0; m < c->n_members; ++m)
        hash = (hash ^ (uint64_t)c->member[m]) * 1099511628211u;
    return hash;
}

static int plan_allreduce(struct dp_mpi *mpi, const struct mpi_call *call, struct dp_error *err)
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
        a->to[i] = a->from[i] = strip_of_part(a, c, i);
    a->n_to = a->n_from = c->n_parts;
    a->head.bytes = total;
    a->head.pieces = (uint32_t)c->n_pieces;
    a->head.members = hash_members(c);
    memcpy(&a->head.scale, &c->scale, sizeof c->scale);
    plan_shares(mpi, call, total);
    plan_sources(mpi, call);
    /* The host reads what the slots have written. */
    for (int i = 0; status == 0 && i < c->n_parts; ++i)
        status = c->part[i].slot->ops->finish(&c->part[i].ready, err);
    return status;
}

static void plan_sum(struct dp_mpi *mpi, const struct mpi_call *call)
{
    struct mpi_active *a = &mpi->active;
    const struct dp_spread *s = call->spread;
    const struct dp_group *group = call->team->group;
    const size_t total = s->n * dp_dtype_bytes(s->dtype);
    a->head.bytes = total;
    for (int i = 0; i < group->size; ++i) {
        a->from[i] = strip_of(a, group->slot[i], s->in[i], total);
        a->to[i] = strip_of(a, group->slot[i], s->out[i], total);
    }
    a->n_to = a->n_from = group->size;
    plan_shares(mpi, call, total);
    plan_sources(mpi, call);
}

/* Everybody owns the blocks of its ranks. */
static void plan_reducescatter(struct dp_mpi *mpi, const struct mpi_call *call)
{
    struct mpi_active *a = &mpi->active;
    const struct dp_spread *s = call->spread;
    const struct dp_mpi_team *team = call->team;
    const struct dp_group *group = team->group;
    const size_t bytes = s->n * dp_dtype_bytes(s->dtype), most = (size_t)most_locals(mpi, team);
    a->head.bytes = bytes;
    choose_size(a, bytes * most, bytes * most * most);
    for (int i = 0; i < group->size; ++i)
        a->from[i] = strip_of(a, group->slot[i], s->in[i], bytes * (size_t)group->world);
    a->n_from = group->size;
    a->to[a->n_to++] = (struct mpi_strip){&a->piece[a->pieces], group->size};
    for (int i = 0; i < group->size; ++i)
        (void)strip_of(a, group->slot[i], s->out[i], bytes);
    a->begin = a->shift = (size_t)group->first * bytes;
    a->bytes = (size_t)group->size * bytes;
    for (int p = 0; p < mpi->size; ++p) {
        if (p == mpi->rank)
            continue;
        send_flow(a, p, (size_t)team->first[p] * bytes, (size_t)locals(team, p) * bytes, a->from,
                  a->n_from);
        receive_flow(a, p, a->begin, a->bytes, NULL, locals(team, p));
    }
    plan_sources(mpi, call);
}

/* ---- rooms ------------------------------------------------------------------------------- */

static int open_room(struct mpi_room *room, size_t messages, size_t bytes, struct dp_error *err)
{
    if (room->requests < messages) {
        uint64_t *request = realloc(room->request, messages * sizeof *request);
        if (!request)
            return dp_fail(err, DP_ENOMEM, "no memory for %zu messages", messages);
        room->request = request;
        room->requests = messages;
    }
    if (room->size < bytes) {
        free(room->bytes);
        room->size = 0;
        if (posix_memalign((void **)&room->bytes, 4096, bytes) != 0) {
            room->bytes = NULL;
            return dp_fail(err, DP_ENOMEM, "no memory for messages of %zu bytes", bytes);
        }
        room->size = bytes;
    }
    return 0;
}

/* What is sent from several pieces is packed first. */
static bool is_packed(const struct mpi_flow *flow)
{
    for (int i = 0; i < flow->n_strips; ++i) {
        if (flow->strip[i].n > 1)
            return true;
    }
    return false;
}

static int open_flow(const struct mpi_active *a, struct mpi_flow *flow, struct mpi_room *room,
                     struct dp_error *err)
{
    if (!flow->on || a->small)
        return 0;
    const size_t blocks = (flow->bytes + a->block - 1) / a->block;
    const size_t turns = flow->sends || flow->kept ? (size_t)flow->n_strips : 1;
    flow->block = a->block;
    flow->count = blocks * turns;
    flow->room = room;
    flow->ring = (blocks < WIRE_WINDOW ? blocks : WIRE_WINDOW) * turns;
    const bool empty = flow->sends && !is_packed(flow);
    return open_room(room, flow->ring, empty ? 0 : flow->ring * a->block, err);
}

static int open_rooms(struct dp_mpi *mpi, struct dp_error *err)
{
    struct mpi_active *a = &mpi->active;
    int status = 0;
    for (int k = 0; status == 0 && k < a->n_links; ++k) {
        struct mpi_link *link = &a->link[k];
        struct mpi_room *room = mpi->room[link->peer];
        status = open_flow(a, &link->out, &room[ROOM_OUT], err);
        if (status == 0)
            status = open_flow(a, &link->in, &room[ROOM_IN], err);
        if (status == 0)
            status = open_flow(a, &link->sums_out, &room[ROOM_SUMS_OUT], err);
        if (status == 0)
            status = open_flow(a, &link->sums_in, &room[ROOM_SUMS_IN], err);
    }
    return status;
}

int dp_mpi_plan(struct dp_mpi *mpi, struct mpi_call *call, struct dp_error *err)
{
    struct mpi_active *a = &mpi->active;
    int status = open_pieces(mpi, call, err);
    *a = (struct mpi_active){.call = call,
                             .head = {.kind = (uint32_t)call->kind, .pieces = 1},
                             .link = a->link,
                             .piece = a->piece,
                             .piece_room = a->piece_room,
                             .in = a->in,
                             .moved_ns = dp_mpi_now()};
    if (status)
        return status;
    if (call->spread) {
        a->dtype = call->spread->dtype;
        a->sums = dp_spread_sums(call->spread->kind);
        a->head.dtype = (uint32_t)a->dtype;
    }
    switch (call->kind) {
    case CALL_BROADCAST:
        plan_broadcast(mpi, call);
        break;
    case CALL_ALLREDUCE:
        if (call->spread)
            plan_sum(mpi, call);
        else
            status = plan_allreduce(mpi, call, err);
        break;
    case CALL_ALLGATHER:
        plan_allgather(mpi, call);
        break;
    case CALL_REDUCESCATTER:
        plan_reducescatter(mpi, call);
        break;
    case CALL_ALLTOALL:
        plan_alltoall(mpi, call);
        break;
    default:
        plan_exchange(mpi, call);
    }
    return status ? status : open_rooms(mpi, err);
}
