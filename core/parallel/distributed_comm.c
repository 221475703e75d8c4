/* distributed_comm.c: means over the ranks while backward goes on, by a second worker per rank.
 *
 * Buckets go in order. A rank launches a bucket when it and those before it are complete there;
 * when all ranks have, the second workers add one slice each, of all ranks' gradients in rank
 * order, then fetch the slices of the others. All of it is in the comm queues, behind events of the
 * compute queues; on a device that runs its work at once the counters below are the order. */
#include "distributed.h"

#include <pthread.h>
#include <stdlib.h>

struct ddp_comm {
    struct dp_ddp *ddp;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    pthread_t thread[DP_MAX_SLOTS];
    int started;
    /* Behind the lock. */
    bool stop;
    uint64_t pass;              /* reductions begun */
    int place[DP_MAX_SLOTS];    /* of a rank in the team, -1: none */
    int launched[DP_MAX_SLOTS]; /* buckets, by rank */
    int next;                   /* buckets that all have launched */
    int claimed, limit;         /* buckets that second workers have begun, and may begin at most */
    int fetched;                /* claimed ones that are done, added up over the ranks */
    int *summed;                /* by bucket: second workers that have added their slice */
    /* Written by its owner before it counts, read after. */
    struct dp_event *ready;                 /* [rank * n_train + bucket] */
    struct dp_event added[DP_MAX_SLOTS][2]; /* of the last two buckets */
    struct dp_event done[DP_MAX_SLOTS];
    struct dp_error error[DP_MAX_SLOTS];
};

struct second_worker {
    struct ddp_comm *comm;
    int rank, place; /* in the team */
};

/* ---- the work of one rank for one bucket ------------------------------------------------- */

/* What slice i of as many as the team has covers of a span that begins at element `before` of the
 * bucket. Whole lines of memory. */
static struct ddp_span cut(const struct dp_ddp *d, size_t total, int i, size_t before,
                           const struct ddp_span *span)
{
    const size_t each = (total / (size_t)d->n_team + 16) / 16 * 16;
    const size_t first = (size_t)i * each, last = first + each, end = before + span->n;
    const size_t from = before > first ? before : first, to = end < last ? end : last;
    return (struct ddp_span){span->first + (from - before), from < to ? to - from : 0};
}

static size_t total_of(const struct ddp_bucket *bucket)
{
    size_t total = 0;
    for (int k = 0; k < bucket->n_spans; ++k)
        total += bucket->span[k].n;
    return total;
}

static int add_piece(const struct dp_ddp *d, int rank, const struct ddp_span *piece,
                     struct dp_error *err)
{
    struct dp_mean_args mean = {
        d->n_team, d->scale, piece->n, ddp_grads(d, rank) + piece->first, {NULL}};
    for (int i = 0; i < d->n_team; ++i)
        mean.src[i] = ddp_grads(d, d->team[i]) + piece->first;
    return dp_launch(&ddp_slot(d, rank)->comm, DP_KERNEL_MEAN, &mean, sizeof mean, err);
}

static int fetch_piece(const struct dp_ddp *d, int rank, int from, const struct ddp_span *piece,
                       struct dp_error *err)
{
    const size_t bytes = piece->n * sizeof(float);
    const struct dp_copy copy = {ddp_grads(d, rank) + piece->first,
                                 ddp_grads(d, from) + piece->first,
                                 bytes,
                                 1,
                                 bytes,
                                 bytes};
    return dp_launch(&ddp_slot(d, rank)->comm, DP_KERNEL_COPY, &copy, sizeof copy, err);
}

/* Slice i is added on this rank, or fetched from the rank that has added it. */
static int do_slice(const struct second_worker *w, const struct ddp_bucket *bucket, int i,
                    struct dp_error *err)
{
    const struct dp_ddp *d = w->comm->ddp;
    const size_t total = total_of(bucket);
    size_t before = 0, bytes = 0;
    int status = 0;
    for (int k = 0; status == 0 && k < bucket->n_spans; ++k) {
        const struct ddp_span piece = cut(d, total, i, before, &bucket->span[k]);
        before += bucket->span[k].n;
        if (piece.n == 0)
            continue;
        status = i == w->place ? add_piece(d, w->rank, &piece, err)
                               : fetch_piece(d, w->rank, d->team[i], &piece, err);
        bytes += piece.n * sizeof(float) * (i == w->place ? (size_t)(d->n_team - 1) : 1);
    }
    if (d->group->trace)
        d->group->trace->replica[w->rank].bytes[DP_PHASE_REDUCE] += bytes;
    return status;
}

static int add_slice(const struct second_worker *w, int b, struct dp_error *err)
{
    struct ddp_comm *comm = w->comm;
    const struct dp_ddp *d = comm->ddp;
    struct dp_slot *slot = ddp_slot(d, w->rank);
    int status = 0;
    for (int i = 0; status == 0 && i < d->n_team; ++i)
        status = dp_event_wait(&slot->comm, &comm->ready[d->team[i] * d->n_train + b], err);
    if (status == 0)
        status = do_slice(w, &d->bucket[b], w->place, err);
    slot->ops->record(&slot->comm, &comm->added[w->rank][b % 2]);
    return status;
}

static int fetch_slices(const struct second_worker *w, int b, struct dp_error *err)
{
    struct ddp_comm *comm = w->comm;
    const struct dp_ddp *d = comm->ddp;
    struct dp_slot *slot = ddp_slot(d, w->rank);
    int status = 0;
    for (int i = 0; status == 0 && i < d->n_team; ++i) {
        if (i == w->place)
            continue;
        status = dp_event_wait(&slot->comm, &comm->added[d->team[i]][b % 2], err);
        if (status == 0)
            status = do_slice(w, &d->bucket[b], i, err);
    }
    slot->ops->record(&slot->comm, &comm->done[w->rank]);
    if (status == 0 && d->config.timed)
        status = slot->ops->finish(&comm->done[w->rank], err);
    atomic_store(&d->rank[w->rank].times[b].done, ddp_now());
    return status;
}

/* ---- the second worker ------------------------------------------------------------------- */

/* With the lock held: this rank's part of a bucket that all have launched. An error does not hold
 * up the others. */
static void reduce_bucket(const struct second_worker *w, int b)
{
    struct ddp_comm *comm = w->comm;
    struct dp_error *err = &comm->error[w->rank];
    if (comm->claimed <= b) {
        comm->claimed = b + 1;
        pthread_cond_broadcast(&comm->changed); /* all must take part now */
    }
    pthread_mutex_unlock(&comm->lock);
    const int added = add_slice(w, b, err);
    pthread_mutex_lock(&comm->lock);
    if (++comm->summed[b] == comm->ddp->n_team)
        pthread_cond_broadcast(&comm->changed);
    while (comm->summed[b] < comm->ddp->n_team)
        pthread_cond_wait(&comm->changed, &comm->lock);
    pthread_mutex_unlock(&comm->lock);
    if (added == 0)
        fetch_slices(w, b, err);
    pthread_mutex_lock(&comm->lock);
    if (++comm->fetched == comm->claimed * comm->ddp->n_team)
        pthread_cond_broadcast(&comm->changed);
}

static void *work(void *arg)
{
    struct ddp_rank *rank = arg;
    struct dp_ddp *d = rank->ddp;
    struct ddp_comm *comm = d->comm;
    struct second_worker w = {comm, rank->number, -1};
    uint64_t pass = 0;
    int b = 0;
    if (d->group->bound_caller)
        dp_topology_bind(d->group->topology, ddp_slot(d, w.rank)->info.index, d->group->size, NULL);
    pthread_mutex_lock(&comm->lock);
    while (!comm->stop) {
        if (comm->pass != pass) {
            pass = comm->pass;
            w.place = comm->place[w.rank];
            b = 0;
        }
        if (w.place >= 0 && b < comm->next && b < comm->limit)
            reduce_bucket(&w, b++);
        else
            pthread_cond_wait(&comm->changed, &comm->lock);
    }
    pthread_mutex_unlock(&comm->lock);
    return NULL;
}

/* ---- the calling thread and the first workers -------------------------------------------- */

void ddp_comm_begin(struct ddp_comm *comm)
{
    pthread_mutex_lock(&comm->lock);
    comm->next = comm->claimed = comm->fetched = 0;
    comm->limit = comm->ddp->n_buckets;
    for (int r = 0; r < comm->ddp->n; ++r) {
        comm->launched[r] = 0;
        comm->place[r] = -1;
        comm->error[r].status = 0;
    }
    for (int i = 0; i < comm->ddp->n_team; ++i)
        comm->place[comm->ddp->team[i]] = i;
    for (int b = 0; b < comm->ddp->n_buckets; ++b)
        comm->summed[b] = 0;
    ++comm->pass;
    pthread_mutex_unlock(&comm->lock);
}

static bool all_launched(const struct ddp_comm *comm, int b)
{
    for (int i = 0; i < comm->ddp->n_team; ++i) {
        if (comm->launched[comm->ddp->team[i]] <= b)
            return false;
    }
    return true;
}

/* The last bucket wakes nobody: backward is about to end, and then the first workers are free. */
void ddp_comm_ready(struct ddp_comm *comm, int rank, int b)
{
    const struct dp_ddp *d = comm->ddp;
    struct dp_slot *slot = ddp_slot(d, rank);
    slot->ops->record(&slot->compute, &comm->ready[rank * d->n_train + b]);
    pthread_mutex_lock(&comm->lock);
    for (int *next = &comm->launched[rank]; *next < d->n_buckets; ++*next) {
        if (d->rank[rank].left[*next] > 0)
            break;
        d->rank[rank].times[*next].launch = ddp_now();
    }
    const int before = comm->next;
    while (comm->next < d->n_buckets && all_launched(comm, comm->next))
        ddp_bucket_spans(comm->ddp, comm->next++);
    if (comm->next > before && comm->next < d->n_buckets)
        pthread_cond_broadcast(&comm->changed);
    pthread_mutex_unlock(&comm->lock);
}

/* What the second workers have not begun, the first workers do. */
struct rest {
    struct ddp_comm *comm;
    int bucket;
    bool fetch;
};

static void reduce_share(int i, void *arg)
{
    const struct rest *rest = arg;
    struct ddp_comm *comm = rest->comm;
    const struct second_worker w = {comm, comm->ddp->team[i], i};
    if (rest->fetch)
        fetch_slices(&w, rest->bucket, &comm->error[w.rank]);
    else
        add_slice(&w, rest->bucket, &comm->error[w.rank]);
}

/* Small ones by the calling thread: to hand them on costs more. */
#define CALLER_BYTES 16384

static void reduce_rest(struct ddp_comm *comm, int first)
{
    const struct dp_ddp *d = comm->ddp;
    struct dp_slot *slot[DP_MAX_SLOTS];
    for (int i = 0; i < d->n_team; ++i)
        slot[i] = ddp_slot(d, d->team[i]);
    const struct dp_team team = {d->group, slot, d->n_team};
    for (int b = first; b < d->n_buckets; ++b) {
        for (int phase = 0; phase < 2; ++phase) {
            struct rest rest = {comm, b, phase == 1};
            for (int i = 0; d->bucket[b].bytes <= CALLER_BYTES && i < d->n_team; ++i)
                reduce_share(i, &rest);
            if (d->bucket[b].bytes > CALLER_BYTES)
                dp_team_run(&team, reduce_share, &rest);
        }
    }
}

/* Later work of the team's compute queues comes after all that was issued here. */
static int order_queues(const struct ddp_comm *comm, struct dp_error *err)
{
    const struct dp_ddp *d = comm->ddp;
    int status = 0;
    for (int i = 0; i < d->n_team; ++i) {
        for (int k = 0; status == 0 && k < d->n_team; ++k)
            status = dp_event_wait(&ddp_slot(d, d->team[i])->compute, &comm->done[d->team[k]], err);
    }
    return status;
}

int ddp_comm_end(struct ddp_comm *comm, bool failed, struct dp_error *err)
{
    const struct dp_ddp *d = comm->ddp;
    int status = 0;
    pthread_mutex_lock(&comm->lock);
    const int begun = comm->limit = comm->claimed;
    while (comm->fetched < begun * d->n_team)
        pthread_cond_wait(&comm->changed, &comm->lock);
    pthread_mutex_unlock(&comm->lock);
    if (!failed)
        reduce_rest(comm, begun);
    for (int r = 0; status == 0 && r < d->n; ++r) {
        if (comm->error[r].status)
            status = dp_fail(err, comm->error[r].status, "reduction on rank %d: %s", r,
                             comm->error[r].text);
    }
    if (status == 0 && !failed)
        status = order_queues(comm, err);
    if (status || failed)
        dp_group_wait(d->group, NULL);
    return status;
}

/* ---- opening ----------------------------------------------------------------------------- */

static int start_workers(struct dp_ddp *d, struct ddp_comm *comm, struct dp_error *err)
{
    for (int r = 0; r < d->n; ++r) {
        comm->done[r].queue = &ddp_slot(d, r)->comm;
        if (pthread_create(&comm->thread[r], NULL, work, &d->rank[r]) != 0)
            return dp_fail(err, DP_ENOMEM, "%s: its second worker cannot be started",
                           ddp_slot(d, r)->info.name);
        comm->started = r + 1;
    }
    return 0;
}

int ddp_comm_open(struct dp_ddp *ddp, struct dp_error *err)
{
    const struct dp_comm_ops *ops = ddp->group->backend->comm;
    if (ddp->n == 1 || !ops->shared || !ops->shared(ddp->group))
        return 0;
    struct ddp_comm *comm = ddp->comm = calloc(1, sizeof *comm);
    if (!comm)
        return dp_fail(err, DP_ENOMEM, "no memory for second workers");
    comm->ddp = ddp;
    pthread_mutex_init(&comm->lock, NULL);
    pthread_cond_init(&comm->changed, NULL);
    comm->summed = calloc((size_t)ddp->n_train, sizeof *comm->summed);
    comm->ready = calloc((size_t)ddp->n_train * (size_t)ddp->n, sizeof *comm->ready);
    if (!comm->summed || !comm->ready)
        return dp_fail(err, DP_ENOMEM, "no memory for second workers");
    return start_workers(ddp, comm, err);
}

void ddp_comm_close(struct ddp_comm *comm)
{
    if (!comm)
        return;
    pthread_mutex_lock(&comm->lock);
    comm->stop = true;
    pthread_cond_broadcast(&comm->changed);
    pthread_mutex_unlock(&comm->lock);
    for (int r = 0; r < comm->started; ++r)
        pthread_join(comm->thread[r], NULL);
    pthread_cond_destroy(&comm->changed);
    pthread_mutex_destroy(&comm->lock);
    free(comm->summed);
    free(comm->ready);
    free(comm);
}
