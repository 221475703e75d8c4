/* distributed_reduce.c: means over the ranks, bucket by bucket, by the group's communicator on the
 * calling thread. Each rank multiplies its own gradient first, then they are added in rank order.
 */
#include "distributed.h"

static int scale_span(const struct dp_ddp *d, int rank, const struct ddp_span *span,
                      struct dp_error *err)
{
    float *grads = ddp_grads(d, rank) + span->first;
    const struct dp_mean_args mean = {1, d->scale, span->n, grads, {grads}};
    return dp_launch(&ddp_slot(d, rank)->compute, DP_KERNEL_MEAN, &mean, sizeof mean, err);
}

static int scale_bucket(const struct dp_ddp *d, const struct ddp_bucket *bucket,
                        struct dp_error *err)
{
    int status = 0;
    for (int i = 0; i < d->n_team; ++i) {
        for (int k = 0; status == 0 && k < bucket->n_spans; ++k)
            status = scale_span(d, d->team[i], &bucket->span[k], err);
    }
    return status;
}

static int sum_bucket(const struct dp_ddp *d, const struct ddp_bucket *bucket,
                      const struct dp_team *team, struct dp_error *err)
{
    for (int k = 0; k < bucket->n_spans; ++k) {
        const struct ddp_span *span = &bucket->span[k];
        const void **src = d->pointers + (size_t)k * (size_t)d->n;
        for (int i = 0; i < team->n; ++i)
            src[i] = ddp_grads(d, d->team[i]) + span->first;
        d->sums[k] =
            (struct dp_sum){DP_F32, false, span->n, ddp_grads(d, d->team[0]) + span->first, src};
    }
    return dp_comm_reduce(team, team->slot[0], d->sums, bucket->n_spans, DP_PHASE_NONE, err);
}

static int send_bucket(const struct dp_ddp *d, const struct ddp_bucket *bucket,
                       const struct dp_team *team, struct dp_error *err)
{
    struct dp_moves moves[DP_MAX_SLOTS] = {{NULL, 0}};
    for (int i = 1; i < team->n; ++i) {
        struct dp_move *move = d->replicas->replica[d->team[i]].moves;
        for (int k = 0; k < bucket->n_spans; ++k) {
            const struct ddp_span *span = &bucket->span[k];
            const size_t bytes = span->n * sizeof(float);
            move[k] =
                (struct dp_move){team->slot[i],
                                 team->slot[0],
                                 {ddp_grads(d, d->team[i]) + span->first,
                                  ddp_grads(d, d->team[0]) + span->first, bytes, 1, bytes, bytes}};
        }
        moves[i] = (struct dp_moves){move, bucket->n_spans};
    }
    return dp_comm_move(team, moves, DP_PHASE_NONE, err);
}

/* What a rank sends and gets when it adds a share of all and hands it on. */
static void count_bytes(const struct dp_ddp *d, const struct ddp_bucket *bucket)
{
    size_t bytes = 0;
    for (int k = 0; k < bucket->n_spans; ++k)
        bytes += bucket->span[k].n * sizeof(float);
    for (int i = 0; d->group->trace && i < d->n_team; ++i)
        d->group->trace->replica[d->team[i]].bytes[DP_PHASE_REDUCE] += i == 0 ? 0 : 2 * bytes;
}

static int reduce_bucket(struct dp_ddp *d, int b, const struct dp_team *team, struct dp_error *err)
{
    const struct ddp_bucket *bucket = &d->bucket[b];
    ddp_bucket_spans(d, b);
    for (int i = 0; i < d->n_team; ++i)
        d->rank[d->team[i]].times[b].launch = ddp_now();
    int status = d->scale != 1.0f ? scale_bucket(d, bucket, err) : 0;
    if (status == 0 && d->n_team > 1)
        status = sum_bucket(d, bucket, team, err);
    if (status == 0 && d->n_team > 1)
        status = send_bucket(d, bucket, team, err);
    if (status == 0 && d->config.timed)
        status = dp_group_wait(d->group, err);
    for (int i = 0; i < d->n_team; ++i)
        atomic_store(&d->rank[d->team[i]].times[b].done, ddp_now());
    count_bytes(d, bucket);
    return status;
}

int ddp_reduce_all(struct dp_ddp *ddp, struct dp_error *err)
{
    struct dp_slot *slot[DP_MAX_SLOTS];
    int status = 0;
    for (int i = 0; i < ddp->n_team; ++i)
        slot[i] = ddp_slot(ddp, ddp->team[i]);
    const struct dp_team team = {ddp->group, slot, ddp->n_team};
    for (int b = 0; status == 0 && b < ddp->n_buckets; ++b)
        status = reduce_bucket(ddp, b, &team, err);
    if (status)
        dp_group_wait(ddp->group, NULL);
    return status;
}
