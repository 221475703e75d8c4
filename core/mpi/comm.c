/* comm.c: the communicator mpi. Inside a process it moves and adds replicas as threads does;
 * collectives of ranks are calls of all processes.
 *
 * An allreduce is given to the carrier when its bucket is ready, and proceeds during backward; poll
 * waits for it. An operation that is ordered as a move waits for the slots first, and has ended
 * when it returns. */
#include "inside.h"

#include <stdlib.h>
#include <string.h>

enum { POOL = 32 }; /* initial number of allreduces that may be issued before a wait */

static int mpi_move(const struct dp_team *team, const struct dp_moves moves[], enum dp_phase phase,
                    struct dp_error *err)
{
    return dp_comm_threads.move(team, moves, phase, err);
}

static int mpi_reduce(const struct dp_team *team, struct dp_slot *dst_slot,
                      const struct dp_sum sums[], int n, enum dp_phase phase, struct dp_error *err)
{
    return dp_comm_threads.reduce(team, dst_slot, sums, n, phase, err);
}

/* Counts the bytes between ranks as if each added a share, and sent it to the others. */
static void comm_count(const struct dp_group *group, int replica, enum dp_phase phase, size_t bytes)
{
    if (group->trace && phase != DP_PHASE_NONE)
        group->trace->replica[replica].bytes[phase] += bytes;
}

/* ---- ordered as a move ----------------------------------------------------------------------- */

/* The slots must finish first, because the host reads and writes their memory. */
static int call_now(struct dp_group *group, struct mpi_call *call, struct dp_error *err)
{
    call->team = group->mpi;
    const int status = dp_group_wait(group, err);
    return status ? status : dp_mpi_call(group->mpi->mpi, call, err);
}

static void comm_show(struct dp_group *group, const struct mpi_call *call, int replica,
                      enum dp_phase phase, size_t bytes)
{
    if (!group->trace)
        return;
    if (phase != DP_PHASE_NONE || group->trace->timeline)
        dp_trace_add(group->trace, replica, DP_LANE_TRANSFER,
                     &(struct dp_interval){phase, call->begin_ns, call->end_ns});
    comm_count(group, replica, phase, bytes);
}

static int mpi_broadcast(struct dp_group *group, const struct dp_collective *c, int root,
                         enum dp_phase phase, struct dp_error *err)
{
    struct mpi_call call = {.kind = CALL_BROADCAST, .c = c, .root = c->member[root]};
    size_t bytes = 0;
    const int status = call_now(group, &call, err);
    for (int k = 0; k < c->n_pieces; ++k)
        bytes += c->bytes[k];
    for (int i = 0; status == 0 && i < c->n_parts; ++i)
        comm_show(group, &call, c->part[i].replica, phase,
                  c->part[i].rank == call.root ? 0 : bytes);
    return status;
}

static int mpi_collective(struct dp_group *group, const struct dp_collective_call *s,
                          struct dp_error *err)
{
    static const enum mpi_kind kinds[DP_COLLECTIVE_KINDS] = {
        [DP_COLLECTIVE_ALLREDUCE] = CALL_ALLREDUCE,
        [DP_COLLECTIVE_BROADCAST] = CALL_BROADCAST,
        [DP_COLLECTIVE_ALLGATHER] = CALL_ALLGATHER,
        [DP_COLLECTIVE_REDUCESCATTER] = CALL_REDUCESCATTER,
        [DP_COLLECTIVE_ALLTOALL] = CALL_ALLTOALL};
    struct mpi_call call = {.collective_call = s, .root = s->root};
    if ((unsigned)s->kind < DP_COLLECTIVE_KINDS)
        call.kind = kinds[s->kind];
    if (call.kind == CALL_EXCHANGE)
        return dp_fail(err, DP_ENOTSUP, "MPI has no collective %d", (int)s->kind);
    const enum dp_phase phase = dp_collective_sums(s->kind) ? DP_PHASE_REDUCE : DP_PHASE_REPLICATE;
    const int status = call_now(group, &call, err);
    for (int i = 0; status == 0 && i < group->size; ++i)
        comm_show(group, &call, i, phase, dp_collective_bytes(s, group->world, group->first + i));
    return status;
}

static int mpi_allreduce_max(struct dp_group *group, int64_t values[], int n, struct dp_error *err)
{
    struct dp_mpi *mpi = group->mpi->mpi;
    const size_t bytes = (size_t)n * sizeof *values;
    int64_t *all = malloc(bytes * (size_t)mpi->size + 1);
    if (!all)
        return dp_fail(err, DP_ENOMEM, "no memory to agree on %d numbers", n);
    struct mpi_call call = {.kind = CALL_AGREE, .mine = values, .all = all, .bytes = bytes};
    const int status = dp_mpi_call(mpi, &call, err);
    for (int i = 0; status == 0 && i < mpi->size * n; ++i)
        values[i % n] = all[i] > values[i % n] ? all[i] : values[i % n];
    free(all);
    return status;
}

/* ---- during backward ------------------------------------------------------------------------- */

/* The carrier has the addresses of calls in progress. If the pool is too small, further calls are
 * allocated separately, and the pool grows when none is in progress. */
static struct mpi_call *next_call(struct dp_mpi_team *team)
{
    struct mpi_call *call = NULL;
    if (team->issued < team->pool_size) {
        call = &team->pool[team->issued];
    } else {
        call = malloc(sizeof *call);
        if (!call)
            return NULL;
    }
    *call = (struct mpi_call){.kind = CALL_ALLREDUCE, .team = team};
    if (team->issued >= team->pool_size) {
        call->later = team->spare;
        team->spare = call;
    }
    ++team->issued;
    return call;
}

static int mpi_allreduce(struct dp_group *group, struct dp_collective *c, struct dp_error *err)
{
    struct dp_mpi_team *team = group->mpi;
    struct mpi_call *call = next_call(team);
    if (!call)
        return dp_fail(err, DP_ENOMEM, "no memory for an allreduce");
    call->c = c;
    team->last = call;
    return dp_mpi_begin(team->mpi, call, err);
}

/* The carrier has emptied the comm queues. */
static void settle_call(struct dp_group *group, const struct mpi_call *call)
{
    const struct dp_collective *c = call->c;
    size_t bytes = 0;
    for (int k = 0; k < c->n_pieces; ++k)
        bytes += c->bytes[k];
    for (int i = 0; i < c->n_parts; ++i) {
        struct dp_part *part = &c->part[i];
        part->slot->ops->record(&part->slot->comm, &part->done);
        comm_count(group, part->replica, DP_PHASE_REDUCE,
                   2 * bytes * (size_t)(c->n_members - 1) / (size_t)c->n_members);
        comm_show(group, call, part->replica, DP_PHASE_NONE, 0);
    }
}

static void forget_calls(struct dp_mpi_team *team)
{
    if (team->issued > team->pool_size) {
        struct mpi_call *pool = malloc((size_t)team->issued * sizeof *pool);
        if (pool) {
            free(team->pool);
            team->pool = pool;
            team->pool_size = team->issued;
        }
    }
    while (team->spare) {
        struct mpi_call *call = team->spare;
        team->spare = call->later;
        free(call);
    }
    team->issued = 0;
    team->last = NULL;
}

/* Calls end in order, so it waits for the last one. */
static int mpi_poll(struct dp_group *group, struct dp_error *err)
{
    struct dp_mpi_team *team = group->mpi;
    const int in_pool = team->issued < team->pool_size ? team->issued : team->pool_size;
    if (!team->last)
        return 0;
    const int status = dp_mpi_end(team->mpi, team->last, err);
    if (status)
        return status; /* the caller aborts then */
    for (int k = 0; k < in_pool; ++k)
        settle_call(group, &team->pool[k]);
    for (const struct mpi_call *call = team->spare; call; call = call->later)
        settle_call(group, call);
    forget_calls(team);
    return 0;
}

/* A group without a team has issued nothing, so it has nothing to give up. */
static void mpi_give_up(struct dp_group *group)
{
    struct dp_mpi_team *team = group->mpi;
    if (!team)
        return;
    dp_mpi_abort(team->mpi);
    forget_calls(team);
}

/* ---- opening ----------------------------------------------------------------------------- */

/* Finds which process has which ranks. */
static int share_ranks(struct dp_mpi_team *team, struct dp_error *err)
{
    struct dp_mpi *mpi = team->mpi;
    const int64_t mine = team->group->size;
    int64_t *sizes = calloc((size_t)mpi->size, sizeof *sizes);
    if (!sizes)
        return dp_fail(err, DP_ENOMEM, "no memory for %d processes", mpi->size);
    struct mpi_call call = {
        .kind = CALL_EXCHANGE, .mine = &mine, .all = sizes, .bytes = sizeof mine};
    int status = dp_mpi_call(mpi, &call, err);
    for (int p = 0; p < mpi->size; ++p)
        team->first[p + 1] = team->first[p] + (int)sizes[p];
    for (int p = 0; status == 0 && p < mpi->size; ++p) {
        if (sizes[p] < 1)
            status = dp_fail(err, DP_EINVAL, "process %d of %d has no device: each needs one", p,
                             mpi->size);
    }
    free(sizes);
    if (status)
        return status;
    pthread_mutex_lock(&mpi->lock);
    memcpy(mpi->first, team->first, (size_t)(mpi->size + 1) * sizeof *mpi->first);
    pthread_mutex_unlock(&mpi->lock);
    return 0;
}

static void mpi_close(struct dp_group *group)
{
    struct dp_mpi_team *team = group->mpi;
    if (!team)
        return;
    forget_calls(team);
    free(team->pool);
    free(team->first);
    free(team);
    group->mpi = NULL;
}

static int mpi_open(struct dp_group *group, struct dp_error *err)
{
    if (!group->others || group->others->bootstrap != &dp_bootstrap_mpi)
        return dp_fail(
            err, DP_EINVAL,
            "communicator mpi connects processes that were started together: dp_mpi_open");
    struct dp_mpi_team *team = calloc(1, sizeof *team);
    if (!team)
        return dp_fail(err, DP_ENOMEM, "no memory for a communicator");
    group->mpi = team;
    team->mpi = group->others->self;
    team->group = group;
    team->first = calloc((size_t)team->mpi->size + 1, sizeof *team->first);
    team->pool = malloc(POOL * sizeof *team->pool);
    team->pool_size = POOL;
    int status = team->first && team->pool
                     ? share_ranks(team, err)
                     : dp_fail(err, DP_ENOMEM, "no memory for a communicator");
    if (status)
        mpi_close(group);
    return status;
}

const struct dp_comm_ops dp_comm_mpi = {.name = "mpi",
                                        .can = DP_COMM_PARALLEL | DP_COMM_RANKS | DP_COMM_OVERLAP |
                                               DP_COMM_WORLD | DP_COMM_TOGETHER,
                                        .needs = DP_KIND_CORES,
                                        .open = mpi_open,
                                        .close = mpi_close,
                                        .move = mpi_move,
                                        .reduce = mpi_reduce,
                                        .broadcast = mpi_broadcast,
                                        .allreduce = mpi_allreduce,
                                        .poll = mpi_poll,
                                        .collective_call = mpi_collective,
                                        .abort = mpi_give_up,
                                        .allreduce_max = mpi_allreduce_max};
