/* comm_nccl.c: collectives of ranks by NCCL; what DataParallel moves and adds goes by peer.
 *
 * One thread issues a collective for all local ranks, in the order of the ranks, as one group. The
 * comm queue of each waits for its own rank's numbers, multiplies them, and NCCL adds: the order of
 * that sum is NCCL's. NCCL's calls do not block. What they issue is in the streams when NCCL says
 * that it has done so: only then the event behind it is recorded. */
#include "nccl_team.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ---- order ------------------------------------------------------------------------------- */

/* The comm queue goes on behind what has made the numbers. */
static int begin_part(const struct dp_part *part, const struct dp_event *ready,
                      struct dp_error *err)
{
    return dp_event_wait(&part->slot->comm, ready, err);
}

static int scale_part(const struct dp_collective *c, const struct dp_part *part,
                      struct dp_error *err)
{
    int status = 0;
    for (int k = 0; status == 0 && c->scale != 1.0f && k < c->n_pieces; ++k) {
        float *piece = part->piece[k];
        const struct dp_mean_args mean = {1, c->scale, c->bytes[k] / sizeof *piece, piece, {piece}};
        if (mean.n > 0)
            status = dp_launch(&part->slot->comm, DP_KERNEL_MEAN, &mean, sizeof mean, err);
    }
    return status;
}

static size_t bytes_of(const struct dp_collective *c)
{
    size_t bytes = 0;
    for (int k = 0; k < c->n_pieces; ++k)
        bytes += c->bytes[k];
    return bytes;
}

/* ---- one group of calls ------------------------------------------------------------------ */

/* What is done to every piece, or of a spread to its memory. */
struct operation {
    const char *call;
    int root;                       /* of a broadcast; negative: an allreduce */
    const struct dp_spread *spread; /* NULL: none */
};

static ncclResult_t issue_piece(const struct dp_nccl *nccl, const struct dp_nccl_team *team,
                                const struct dp_collective *c, const struct operation *what, int i,
                                int k)
{
    void *piece = c->part[i].piece[k];
    const struct dp_cuda_queue *q = c->part[i].slot->comm.native;
    if (c->bytes[k] == 0)
        return ncclSuccess;
    if (what->spread)
        return dp_nccl_issue_spread(nccl, team, what->spread, i, q->stream);
    if (what->root < 0)
        return nccl->call.all_reduce(piece, piece, c->bytes[k] / sizeof(float), ncclFloat32,
                                     ncclSum, team->comm[i], q->stream);
    return nccl->call.broadcast(piece, piece, c->bytes[k], ncclUint8, what->root, team->comm[i],
                                q->stream);
}

/* The oldest that may not be done is kept. */
static void note(struct dp_nccl *nccl, const struct dp_collective *c, const struct operation *what)
{
    ++nccl->calls;
    for (int i = 0; i < c->n_parts; ++i) {
        const struct dp_slot *slot = c->part[i].slot;
        const struct dp_cuda_queue *comm = slot->comm.native;
        struct dp_nccl_last *last = &nccl->last[slot->info.index];
        if (!last->call || cudaStreamQuery(comm->stream) == cudaSuccess)
            *last = (struct dp_nccl_last){what->call, c->part[i].rank, nccl->calls, bytes_of(c)};
    }
    cudaGetLastError(); /* that one is not done is none */
}

/* The group is closed on every path. */
static int issue(struct dp_nccl *nccl, const struct dp_nccl_team *team,
                 const struct dp_collective *c, const struct operation *what, struct dp_error *err)
{
    ncclResult_t result = nccl->call.group_start();
    int at = 0;
    note(nccl, c, what);
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

/* Half of a group would never end: what cannot be issued gives up all. */
static int together(struct dp_nccl *nccl, const struct dp_collective *c,
                    const struct operation *what, struct dp_error *err)
{
    struct dp_nccl_team *team = NULL;
    int status = dp_nccl_team_of(nccl, c, &team, err);
    if (status == 0)
        status = issue(nccl, team, c, what, err);
    if (status)
        dp_nccl_abort_all(nccl);
    return status;
}

/* ---- the collectives --------------------------------------------------------------------- */

/* Behind all compute work, and before what comes later. bytes: of each part, of what crosses
 * devices. */
static int in_order(struct dp_group *group, const struct dp_collective *c,
                    const struct operation *what, enum dp_phase phase, const size_t bytes[],
                    struct dp_error *err)
{
    struct dp_span span[DP_MAX_SLOTS];
    struct dp_nccl *nccl = group->nccl;
    int status = 0;
    for (int i = 0; status == 0 && i < c->n_parts; ++i) {
        struct dp_slot *slot = c->part[i].slot;
        slot->ops->record(&slot->compute, &slot->ready);
        status = begin_part(&c->part[i], &slot->ready, err);
    }
    for (int i = 0; status == 0 && i < c->n_parts; ++i)
        span[i] = dp_span_begin(&c->part[i].slot->comm, c->part[i].replica, phase);
    if (status)
        return status;
    pthread_mutex_lock(&nccl->lock);
    status = together(nccl, c, what, err);
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

static int nccl_broadcast(struct dp_group *group, const struct dp_collective *c, int root,
                          enum dp_phase phase, struct dp_error *err)
{
    const struct operation what = {.call = "ncclBroadcast", .root = root};
    size_t bytes[DP_MAX_SLOTS];
    for (int i = 0; i < c->n_parts; ++i)
        bytes[i] = c->part[i].rank == c->member[root] ? 0 : bytes_of(c);
    return c->n_members == 1 ? 0 : in_order(group, c, &what, phase, bytes, err);
}

static int nccl_spread(struct dp_group *group, const struct dp_spread *s, struct dp_error *err)
{
    const struct operation what = {.call = dp_nccl_spread_call(s->kind), .spread = s};
    const size_t one = s->n * dp_dtype_bytes(s->dtype);
    int member[DP_MAX_SLOTS];
    size_t bytes[DP_MAX_SLOTS];
    struct dp_part part[DP_MAX_SLOTS];
    const struct dp_collective c = {.member = member,
                                    .n_members = group->world,
                                    .part = part,
                                    .n_parts = group->size,
                                    .bytes = &one,
                                    .n_pieces = 1};
    for (int w = 0; w < group->world; ++w)
        member[w] = w;
    for (int i = 0; i < group->size; ++i) {
        part[i] = (struct dp_part){
            .slot = group->slot[i], .rank = group->first + i, .replica = i, .piece = &s->out[i]};
        bytes[i] = dp_nccl_spread_bytes(s, group->world, group->first + i);
    }
    return in_order(group, &c, &what,
                    dp_spread_sums(s->kind) ? DP_PHASE_REDUCE : DP_PHASE_REPLICATE, bytes, err);
}

/* What a rank sends and gets in a ring, or when it adds a share of all and hands it on. */
static void count_bytes(const struct dp_group *group, const struct dp_collective *c)
{
    const size_t members = (size_t)c->n_members, bytes = 2 * (members - 1) * bytes_of(c) / members;
    for (int i = 0; group->trace && i < c->n_parts; ++i)
        group->trace->replica[c->part[i].replica].bytes[DP_PHASE_REDUCE] += bytes;
}

static int sum(struct dp_nccl *nccl, struct dp_collective *c, struct dp_error *err)
{
    static const struct operation what = {.call = "ncclAllReduce", .root = -1};
    int status = 0;
    for (int i = 0; status == 0 && i < c->n_parts; ++i) {
        status = begin_part(&c->part[i], &c->part[i].ready, err);
        if (status == 0)
            status = scale_part(c, &c->part[i], err);
    }
    if (status == 0 && c->n_members > 1)
        status = together(nccl, c, &what, err);
    for (int i = 0; i < c->n_parts; ++i) {
        struct dp_part *part = &c->part[i];
        part->slot->ops->record(&part->slot->comm, &part->done);
    }
    count_bytes(nccl->group, c);
    return status;
}

/* By whoever comes last of the workers: one at a time, but others may wait for queues meanwhile. */
static int nccl_allreduce(struct dp_group *group, struct dp_collective *c, struct dp_error *err)
{
    struct dp_nccl *nccl = group->nccl;
    pthread_mutex_lock(&nccl->lock);
    int status = sum(nccl, c, err);
    pthread_mutex_unlock(&nccl->lock);
    for (int i = 0; i < c->n_parts; ++i) {
        struct dp_part *part = &c->part[i];
        if (status == 0 && c->timed)
            status = part->slot->ops->finish(&part->done, err);
        atomic_store(part->done_ns, dp_nccl_now());
    }
    return status;
}

/* Ranks of this process have issued all of a group or nothing of it, and it ends. Other processes
 * may never issue theirs. */
static void nccl_abort(struct dp_group *group)
{
    struct dp_nccl *nccl = group->nccl;
    if (!nccl || group->world == group->size)
        return;
    pthread_mutex_lock(&nccl->lock);
    dp_nccl_abort_all(nccl);
    pthread_mutex_unlock(&nccl->lock);
}

static int nccl_agree(struct dp_group *group, int64_t values[], int n, struct dp_error *err)
{
    const struct dp_world *world = group->others;
    const int processes = world->bootstrap->size(world->self);
    const size_t bytes = (size_t)n * sizeof *values;
    int64_t *all = malloc(bytes * (size_t)processes + 1);
    if (!all)
        return dp_fail(err, DP_ENOMEM, "no memory for %d processes", processes);
    const int status = world->bootstrap->exchange(world->self, values, bytes, all, err);
    for (int i = 0; status == 0 && i < processes * n; ++i)
        values[i % n] = all[i] > values[i % n] ? all[i] : values[i % n];
    free(all);
    return status;
}

/* ---- moves and sums, by peer ------------------------------------------------------------- */

/* A copy from or to the host's memory waits inside of CUDA, without a deadline. */
static int watch_host(const struct dp_move *move, struct dp_error *err)
{
    struct dp_slot *slot = dp_is_host(move->dst_slot) ? move->src_slot : move->dst_slot;
    if (dp_is_host(slot) || (!dp_is_host(move->dst_slot) && !dp_is_host(move->src_slot)))
        return 0;
    const int status = dp_nccl_watch(&slot->compute, err);
    return status ? status : dp_nccl_watch(&slot->comm, err);
}

static int nccl_move(const struct dp_team *team, const struct dp_moves moves[], enum dp_phase phase,
                     struct dp_error *err)
{
    int status = 0;
    for (int i = 0; i < team->n; ++i) {
        for (int k = 0; status == 0 && k < moves[i].n; ++k)
            status = watch_host(&moves[i].move[k], err);
    }
    return status ? status : dp_comm_peer.move(team, moves, phase, err);
}

static int nccl_reduce(const struct dp_team *team, struct dp_slot *dst_slot,
                       const struct dp_sum sums[], int n, enum dp_phase phase, struct dp_error *err)
{
    return dp_comm_peer.reduce(team, dst_slot, sums, n, phase, err);
}

/* ---- opening ----------------------------------------------------------------------------- */

static void nccl_close(struct dp_group *group)
{
    struct dp_nccl *nccl = group->nccl;
    if (!nccl)
        return;
    dp_group_wait(group, NULL);
    pthread_mutex_lock(&nccl->lock);
    dp_nccl_close_all(nccl);
    pthread_mutex_unlock(&nccl->lock);
    for (int i = 0; i < group->size; ++i) {
        struct dp_cuda_slot *s = group->slot[i]->native;
        s->watch = NULL;
    }
    pthread_mutex_destroy(&nccl->lock);
    free(nccl);
    group->nccl = NULL;
}

/* Ranks of one GPU that wait for each other may each hold what the other needs. A later NCCL
 * decides that itself. */
static int check_duplicates(const struct dp_group *group, int version, struct dp_error *err)
{
    char text[32];
    dp_nccl_version_text(version, text, sizeof text);
    for (int i = 0; i < group->size && version < NCCL_VERSION(2, 30, 0); ++i) {
        for (int k = 0; k < i; ++k) {
            const struct dp_slot_info *a = &group->slot[k]->info, *b = &group->slot[i]->info;
            if (strcmp(a->bus, b->bus) == 0)
                return dp_fail(
                    err, DP_EINVAL,
                    "communicator nccl: %s and %s are on one GPU, which NCCL %s refuses: "
                    "use --communicator peer",
                    a->name, b->name, text);
        }
    }
    return 0;
}

static int load(struct dp_nccl *nccl, struct dp_error *err)
{
    struct dp_error why = {0};
    int status = dp_nccl_load(&nccl->call, &nccl->version, &why);
    if (status == 0)
        status = dp_nccl_check_version(nccl->version, &why);
    return status ? dp_fail(err, status, "communicator nccl: %s", why.text) : 0;
}

static void tell_version(struct dp_group *group, int version)
{
    const size_t used = strlen(group->software);
    char text[32];
    dp_nccl_version_text(version, text, sizeof text);
    snprintf(group->software + used, sizeof group->software - used, ", NCCL %s", text);
}

static void watch_slots(struct dp_group *group, struct dp_nccl *nccl)
{
    nccl->group = group;
    group->nccl = nccl;
    tell_version(group, nccl->version);
    for (int i = 0; i < group->size; ++i) {
        struct dp_cuda_slot *s = group->slot[i]->native;
        s->watch = dp_nccl_watch;
    }
}

enum {
    CAN = DP_COMM_PARALLEL | DP_COMM_RANKS | DP_COMM_OVERLAP | DP_COMM_WORLD | DP_COMM_FREE_ORDER
};
/* Who collects, and who moves: by peer, or by peer through the host. */
#define COMPOSITE(moves)                                                                           \
    {                                                                                              \
        .name = "nccl+" moves, .can = CAN, .needs = DP_KIND_PEERS, .close = nccl_close,            \
        .move = nccl_move, .reduce = nccl_reduce, .broadcast = nccl_broadcast,                     \
        .allreduce = nccl_allreduce, .spread = nccl_spread, .abort = nccl_abort,                   \
        .agree = nccl_agree                                                                        \
    }
static const struct dp_comm_ops with_peer = COMPOSITE("peer");
static const struct dp_comm_ops with_peer_staged = COMPOSITE("peer-staged");

/* Peers are connected first, which may take another row of that communicator. */
static int nccl_open(struct dp_group *group, struct dp_error *err)
{
    int status = dp_comm_peer.open(group, err);
    const bool all = group->comm == &dp_comm_nccl;
    struct dp_nccl *nccl = calloc(1, sizeof *nccl);
    if (status == 0 && !nccl)
        status = dp_fail(err, DP_ENOMEM, "no memory for a communicator");
    if (status == 0)
        status = load(nccl, err);
    if (status == 0)
        status = check_duplicates(group, nccl->version, err);
    if (status) {
        free(nccl);
        return status;
    }
    nccl->deadline_ns = (uint64_t)group->deadline_s * 1000000000u;
    pthread_mutex_init(&nccl->lock, NULL);
    watch_slots(group, nccl);
    group->comm = all ? &with_peer : &with_peer_staged;
    return 0;
}

const struct dp_comm_ops dp_comm_nccl = {.name = "nccl",
                                         .can = CAN,
                                         .needs = DP_KIND_PEERS,
                                         .open = nccl_open,
                                         .close = nccl_close,
                                         .move = nccl_move,
                                         .reduce = nccl_reduce,
                                         .broadcast = nccl_broadcast,
                                         .allreduce = nccl_allreduce,
                                         .spread = nccl_spread,
                                         .abort = nccl_abort,
                                         .agree = nccl_agree};
