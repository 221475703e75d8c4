/* distributed_reduce.c: means over the ranks, by one allreduce for each bucket.
 *
 * Buckets are reduced in order. A rank launches a bucket when that bucket, and all before it, are
 * complete on the rank. When all local ranks have launched it, the last of them issues the
 * allreduce for all. A communicator that cannot run during backward gets all of them after it, in
 * the same order. */
#include "distributed.h"

#include <pthread.h>
#include <stdlib.h>

struct ddp_reduction {
    pthread_mutex_t lock;
    bool asks; /* other processes say which parameters they have used, when backward has ended */
    bool overlaps; /* this reduction is issued during backward */
    /* The lock protects the fields that follow. */
    int launched[DP_MAX_SLOTS]; /* number of buckets, by local rank */
    int next;                   /* number of buckets that all have launched */
    struct dp_error error;      /* of a bucket that could not be issued */
    /* Workspace, so that a step allocates nothing. By bucket, and by trained parameter. */
    struct dp_collective *collective;
    struct dp_part *part;   /* [bucket * n + place in the team] */
    struct dp_event *ready; /* [rank * n_train + bucket] */
    void **piece;           /* [rank * n_train + first parameter of the bucket + piece] */
    size_t *bytes;          /* [first parameter of the bucket + piece] */
};

/* ---- one bucket -------------------------------------------------------------------------- */

static struct dp_part reduce_part_of(const struct dp_ddp *d, int r, int b)
{
    struct ddp_reduction *red = d->reduction;
    const struct ddp_bucket *bucket = &d->bucket[b];
    void **piece = red->piece + r * d->n_train + bucket->first;
    for (int k = 0; k < bucket->n_spans; ++k)
        piece[k] = ddp_grads(d, r) + bucket->span[k].first;
    return (struct dp_part){.slot = ddp_slot(d, r),
                            .rank = d->first + r,
                            .replica = r,
                            .piece = piece,
                            .ready = red->ready[r * d->n_train + b],
                            .done_ns = &d->rank[r].times[b].done};
}

static int reduce_issue(struct dp_ddp *d, int b, struct dp_error *err)
{
    struct ddp_reduction *red = d->reduction;
    const struct ddp_bucket *bucket = &d->bucket[b];
    struct dp_collective *c = &red->collective[b];
    ddp_bucket_spans(d, b);
    *c = (struct dp_collective){.member = d->member,
                                .n_members = d->n_members,
                                .part = red->part + b * d->n,
                                .n_parts = d->n_team,
                                .bytes = red->bytes + bucket->first,
                                .n_pieces = bucket->n_spans,
                                .scale = d->scale,
                                .timed = d->config.timed,
                                .last = b == d->n_buckets - 1};
    for (int k = 0; k < bucket->n_spans; ++k)
        red->bytes[bucket->first + k] = bucket->span[k].n * sizeof(float);
    for (int i = 0; i < d->n_team; ++i)
        c->part[i] = reduce_part_of(d, d->team[i], b);
    return dp_comm_allreduce(d->group, c, err);
}

/* ---- a reduction ------------------------------------------------------------------------- */

void ddp_reduce_begin(struct dp_ddp *d, bool all_used)
{
    struct ddp_reduction *red = d->reduction;
    red->asks = !all_used && d->world > d->n;
    red->overlaps = d->overlaps && !red->asks;
    red->next = 0;
    red->error.status = 0;
    for (int r = 0; r < d->n; ++r)
        red->launched[r] = 0;
    for (int t = 0; t < d->n_train; ++t)
        d->used_elsewhere[t] = false;
}

static bool all_launched(const struct dp_ddp *d, int b)
{
    for (int i = 0; i < d->n_team; ++i) {
        if (d->reduction->launched[d->team[i]] <= b)
            return false;
    }
    return true;
}

void ddp_reduce_ready(struct dp_ddp *d, int r, int b)
{
    struct ddp_reduction *red = d->reduction;
    struct dp_slot *slot = ddp_slot(d, r);
    slot->ops->record(&slot->compute, &red->ready[r * d->n_train + b]);
    if (!red->overlaps)
        return;
    pthread_mutex_lock(&red->lock);
    for (int *next = &red->launched[r]; *next < d->n_buckets; ++*next) {
        if (d->rank[r].left[*next] > 0)
            break;
        d->rank[r].times[*next].launch = dp_now_ns();
    }
    for (; red->next < d->n_buckets && all_launched(d, red->next); ++red->next) {
        if (red->error.status == 0)
            reduce_issue(d, red->next, &red->error);
    }
    pthread_mutex_unlock(&red->lock);
}

/* Later work of the team's compute queues runs after the reduction. */
static int order_queues(const struct dp_ddp *d, struct dp_error *err)
{
    const struct dp_collective *last = &d->reduction->collective[d->n_buckets - 1];
    int status = 0;
    for (int i = 0; status == 0 && i < last->n_parts; ++i)
        status = dp_event_wait(&last->part[i].slot->compute, &last->part[i].done, err);
    return status;
}

static int reduce_finish(struct dp_ddp *d, struct dp_error *err)
{
    struct ddp_reduction *red = d->reduction;
    int status = red->error.status ? dp_fail(err, red->error.status, "%s", red->error.text) : 0;
    if (status == 0 && red->asks) {
        /* Finds the parameters that ranks of other processes have used. Every process contributes,
         * even one whose ranks do not take part. */
        for (int t = 0; t < d->n_train; ++t)
            d->votes[t] = ddp_anyone_used(d, t);
        status = dp_comm_allreduce_max(d->group, d->votes, d->n_train, err);
        for (int t = 0; status == 0 && t < d->n_train; ++t)
            d->used_elsewhere[t] = d->votes[t] != 0;
    }
    if (status == 0 && !red->overlaps && d->n_team > 0) {
        for (int b = 0; status == 0 && b < d->n_buckets; ++b) {
            for (int i = 0; i < d->n_team; ++i)
                d->rank[d->team[i]].times[b].launch = dp_now_ns();
            status = reduce_issue(d, b, err);
        }
    }
    if (status == 0 && d->n_team > 0)
        status = dp_comm_poll(d->group, err);
    return status || d->n_team == 0 ? status : order_queues(d, err);
}

int ddp_reduce_end(struct dp_ddp *d, bool failed, struct dp_error *err)
{
    const int status = failed ? 0 : reduce_finish(d, err);
    if (status || failed)
        dp_comm_abort(d->group);
    return status;
}

/* ---- opening ----------------------------------------------------------------------------- */

/* In a step a bucket has two events in a queue; other work has a few more. */
static int open_events(struct dp_ddp *d, struct dp_error *err)
{
    int status = dp_group_wait(d->group, err);
    for (int r = 0; status == 0 && r < d->n; ++r) {
        struct dp_slot *slot = ddp_slot(d, r);
        if (slot->ops->events)
            status = slot->ops->events(slot, 2 * d->n_train + 8, err);
    }
    return status;
}

int ddp_reduction_open(struct dp_ddp *d, struct dp_error *err)
{
    const size_t n = (size_t)d->n_train, all = n * (size_t)d->n;
    d->overlaps = d->world > 1 && (d->group->comm->can & DP_COMM_OVERLAP) != 0;
    struct ddp_reduction *red = d->reduction = calloc(1, sizeof *red);
    if (!red)
        return dp_fail(err, DP_ENOMEM, "no memory for reductions");
    pthread_mutex_init(&red->lock, NULL);
    red->collective = calloc(n, sizeof *red->collective);
    red->part = calloc(all, sizeof *red->part);
    red->ready = calloc(all, sizeof *red->ready);
    red->piece = calloc(all, sizeof *red->piece);
    red->bytes = calloc(n, sizeof *red->bytes);
    if (!red->collective || !red->part || !red->ready || !red->piece || !red->bytes)
        return dp_fail(err, DP_ENOMEM, "no memory for reductions");
    if (d->world == 1)
        return 0;
    const int status = dp_comm_start(d->group, err);
    return status ? status : open_events(d, err);
}

void ddp_reduction_close(struct ddp_reduction *reduction)
{
    if (!reduction)
        return;
    pthread_mutex_destroy(&reduction->lock);
    free(reduction->collective);
    free(reduction->part);
    free(reduction->ready);
    free(reduction->piece);
    free(reduction->bytes);
    free(reduction);
}
