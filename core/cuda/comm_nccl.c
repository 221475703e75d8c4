/* comm_nccl.c: collectives of ranks by NCCL.
 *
 * One thread issues a collective for all local ranks, in the order of the ranks, as one NCCL group.
 * The comm queue of each rank waits for the numbers of that rank and multiplies them; then NCCL
 * adds, in an order of its choice. NCCL's calls do not block. Their work is in the streams only
 * when NCCL reports that they are done; then the event after it is recorded. */
#include "nccl_team.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static ncclResult_t issue_broadcast(const struct dp_nccl_at *at)
{
    void *piece = at->c->part[at->i].piece[at->k];
    return at->call->broadcast(piece, piece, at->c->bytes[at->k], ncclUint8, at->what->root,
                               at->comm, at->stream);
}

static int nccl_broadcast(struct dp_group *group, const struct dp_collective *c, int root,
                          enum dp_phase phase, struct dp_error *err)
{
    const struct dp_nccl_operation what = {"ncclBroadcast", issue_broadcast, root, NULL};
    size_t bytes[DP_MAX_SLOTS];
    for (int i = 0; i < c->n_parts; ++i)
        bytes[i] = c->part[i].rank == c->member[root] ? 0 : dp_nccl_bytes_of(c);
    return c->n_members == 1 ? 0 : dp_nccl_in_order(group, c, &what, phase, bytes, err);
}

static int nccl_collective(struct dp_group *group, const struct dp_collective_call *s,
                           struct dp_error *err)
{
    const struct dp_nccl_operation what = {dp_nccl_collective_call(s->kind),
                                           dp_nccl_issue_collective, 0, s};
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
    if (!what.call)
        return dp_fail(err, DP_ENOTSUP, "NCCL has no collective %d", (int)s->kind);
    for (int w = 0; w < group->world; ++w)
        member[w] = w;
    for (int i = 0; i < group->size; ++i) {
        part[i] = (struct dp_part){
            .slot = group->slot[i], .rank = group->first + i, .replica = i, .piece = &s->out[i]};
        bytes[i] = dp_collective_bytes(s, group->world, group->first + i);
    }
    return dp_nccl_in_order(group, &c, &what,
                            dp_collective_sums(s->kind) ? DP_PHASE_REDUCE : DP_PHASE_REPLICATE,
                            bytes, err);
}

static ncclResult_t issue_allreduce(const struct dp_nccl_at *at)
{
    void *piece = at->c->part[at->i].piece[at->k];
    return at->call->all_reduce(piece, piece, at->c->bytes[at->k] / sizeof(float), ncclFloat32,
                                ncclSum, at->comm, at->stream);
}

static int sum(struct dp_nccl *nccl, struct dp_collective *c, struct dp_error *err)
{
    static const struct dp_nccl_operation what = {"ncclAllReduce", issue_allreduce, -1, NULL};
    int status = 0;
    for (int i = 0; status == 0 && i < c->n_parts; ++i) {
        status = dp_event_wait(&c->part[i].slot->comm, &c->part[i].ready, err);
        if (status == 0) {
            for (int k = 0; status == 0 && c->scale != 1.0f && k < c->n_pieces; ++k) {
                float *piece = c->part[i].piece[k];
                const struct dp_mean_args mean = {
                    1, c->scale, c->bytes[k] / sizeof *piece, piece, {piece}};
                if (mean.n > 0)
                    status =
                        dp_launch(&c->part[i].slot->comm, DP_KERNEL_MEAN, &mean, sizeof mean, err);
            }
        }
    }
    if (status == 0 && c->n_members > 1)
        status = dp_nccl_together(nccl, c, &what, err);
    for (int i = 0; i < c->n_parts; ++i) {
        struct dp_part *part = &c->part[i];
        part->slot->ops->record(&part->slot->comm, &part->done);
    }
    /* Counts what a rank sends and receives in a ring, or when each rank adds a share and sends it
     * to all. */
    const size_t members = (size_t)c->n_members,
                 bytes = 2 * (members - 1) * dp_nccl_bytes_of(c) / members;
    for (int i = 0; nccl->group->trace && i < c->n_parts; ++i)
        nccl->group->trace->replica[c->part[i].replica].bytes[DP_PHASE_REDUCE] += bytes;
    return status;
}

/* The last worker to arrive calls it. There is one call at a time, but other threads may wait for
 * queues meanwhile. */
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
        atomic_store(part->done_ns, dp_now_ns());
    }
    return status;
}

/* The ranks of this process have issued all of a group or nothing of it, so it ends. Other
 * processes may never issue theirs. */
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

/* Ranks on one GPU that wait for each other may each hold resources that the other needs. Later
 * versions of NCCL refuse that themselves. */
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

static int nccl_load(struct dp_nccl *nccl, struct dp_error *err)
{
    struct dp_error why = {0};
    int status = dp_nccl_load(&nccl->call, &nccl->version, &why);
    if (status == 0)
        status = dp_nccl_check_version(nccl->version, &why);
    return status ? dp_fail(err, status, "communicator nccl: %s", why.text) : 0;
}

enum {
    CAN = DP_COMM_PARALLEL | DP_COMM_RANKS | DP_COMM_OVERLAP | DP_COMM_WORLD | DP_COMM_FREE_ORDER
};
#define OPERATIONS(moves, sums)                                                                    \
    .needs = DP_KIND_PEERS, .close = nccl_close, .move = (moves), .reduce = (sums),                \
    .broadcast = nccl_broadcast, .allreduce = nccl_allreduce, .collective_call = nccl_collective,  \
    .abort = nccl_abort, .allreduce_max = nccl_agree
/* The composites: collectives by NCCL, moves by peer, or by peer through the host. */
static const struct dp_comm_ops with_peer = {
    .name = "nccl+peer", .can = CAN, OPERATIONS(dp_nccl_peer_move, dp_nccl_peer_reduce)};
static const struct dp_comm_ops with_peer_staged = {
    .name = "nccl+peer-staged", .can = CAN, OPERATIONS(dp_nccl_peer_move, dp_nccl_peer_reduce)};

/* Peers are connected first, because that may replace the table of the communicator. */
static int nccl_open(struct dp_group *group, struct dp_error *err)
{
    const struct dp_comm_ops *asked = group->comm;
    int status = dp_comm_peer.open(group, err);
    const bool all = group->comm == asked;
    struct dp_nccl *nccl = calloc(1, sizeof *nccl);
    if (status == 0 && !nccl)
        status = dp_fail(err, DP_ENOMEM, "no memory for a communicator");
    if (status == 0)
        status = nccl_load(nccl, err);
    if (status == 0)
        status = check_duplicates(group, nccl->version, err);
    if (status) {
        free(nccl);
        return status;
    }
    nccl->deadline_ns = (uint64_t)group->deadline_s * 1000000000u;
    pthread_mutex_init(&nccl->lock, NULL);
    nccl->group = group;
    group->nccl = nccl;
    const size_t used = strlen(group->software);
    char text[32];
    dp_nccl_version_text(nccl->version, text, sizeof text);
    snprintf(group->software + used, sizeof group->software - used, ", NCCL %s", text);
    for (int i = 0; i < group->size; ++i) {
        struct dp_cuda_slot *s = group->slot[i]->native;
        s->watch = dp_nccl_watch;
    }
    group->comm = asked == &dp_comm_nccl_nccl ? asked : all ? &with_peer : &with_peer_staged;
    return 0;
}

const struct dp_comm_ops dp_comm_nccl = {.name = "nccl",
                                         .can = CAN,
                                         .open = nccl_open,
                                         OPERATIONS(dp_nccl_peer_move, dp_nccl_peer_reduce)};
const struct dp_comm_ops dp_comm_nccl_nccl = {.name = "nccl+nccl",
                                              .can = CAN | DP_COMM_FREE_SUMS,
                                              .open = nccl_open,
                                              OPERATIONS(dp_nccl_move, dp_nccl_reduce)};

int dp_nccl_library(char *text, size_t bytes)
{
    struct dp_nccl_call call;
    struct dp_error err = {0};
    int version = 0;
    int status = dp_nccl_load(&call, &version, &err);
    if (status == 0)
        status = dp_nccl_check_version(version, &err);
    if (status)
        snprintf(text, bytes, "%s", err.text);
    else
        dp_nccl_version_text(version, text, bytes);
    return status;
}
