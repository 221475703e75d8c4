/* distributed_buckets.c: which gradients of a DistributedDataParallel are reduced together, and in
 * which order. Source: c10d Reducer, DistributedDataParallel._ddp_init_helper. */
#include "distributed.h"

#include <stdlib.h>

static const size_t first_bytes = 1048576, other_bytes = 26214400;

/* Cuts the parameters list[0..n) into buckets; reversed: the last bucket comes first. */
static int assign(struct dp_ddp *d, const int list[], const size_t limits[], int n_limits,
                  bool reversed, struct dp_error *err)
{
    const size_t n = (size_t)d->n_train;
    size_t *bytes = calloc(2 * n, sizeof *bytes);
    enum dp_dtype *dtype = calloc(n, sizeof *dtype);
    int *bucket = calloc(n, sizeof *bucket);
    int status = 0;
    if (!bytes || !dtype || !bucket)
        status = dp_fail(err, DP_ENOMEM, "no memory for buckets");
    for (int k = 0; status == 0 && k < d->n_train; ++k) {
        bytes[k] = d->train[list[k]].n * sizeof(float);
        dtype[k] = DP_F32;
    }
    if (status == 0)
        status = dp_buckets(bytes, dtype, d->n_train, limits, n_limits, bucket, bytes + n,
                            &d->n_buckets, err);
    for (int k = 0; status == 0 && k < d->n_train; ++k)
        d->train[list[k]].bucket = reversed ? d->n_buckets - 1 - bucket[k] : bucket[k];
    free(bytes);
    free(dtype);
    free(bucket);
    return status;
}

/* Numbers t of trained parameters ascend with their place in memory. */
static void sort_buckets(struct dp_ddp *d)
{
    struct ddp_span *span = d->bucket[0].span;
    int used = 0;
    for (int b = 0; b < d->n_buckets; ++b) {
        struct ddp_bucket *bucket = &d->bucket[b];
        *bucket = (struct ddp_bucket){.first = used, .span = span + used};
        for (int t = 0; t < d->n_train; ++t) {
            if (d->train[t].bucket != b)
                continue;
            d->order[used++] = t;
            bucket->bytes += d->train[t].n * sizeof(float);
        }
        bucket->n = used - bucket->first;
    }
}

int ddp_buckets_open(struct dp_ddp *ddp, struct dp_error *err)
{
    const size_t n = (size_t)ddp->n_train;
    const size_t limits[] = {ddp->config.first_bucket_bytes ? ddp->config.first_bucket_bytes
                                                            : first_bytes,
                             ddp->config.bucket_bytes ? ddp->config.bucket_bytes : other_bytes};
    const size_t all = SIZE_MAX;
    ddp->order = calloc(n, sizeof *ddp->order);
    ddp->arrived = calloc(n, sizeof *ddp->arrived);
    ddp->bucket = calloc(n, sizeof *ddp->bucket);
    struct ddp_span *span = calloc(n, sizeof *span);
    if (ddp->bucket)
        ddp->bucket[0].span = span;
    else
        free(span);
    if (!ddp->order || !ddp->arrived || !ddp->bucket || !span)
        return dp_fail(err, DP_ENOMEM, "no memory for buckets");
    for (int t = 0; t < ddp->n_train; ++t)
        ddp->arrived[t] = t;
    ddp->rebuilt = ddp->config.find_unused;
    const int status = ddp->config.find_unused ? assign(ddp, ddp->arrived, limits, 2, true, err)
                                               : assign(ddp, ddp->arrived, &all, 1, false, err);
    if (status == 0)
        sort_buckets(ddp);
    return status;
}

void ddp_buckets_close(struct dp_ddp *ddp)
{
    if (ddp->bucket)
        free(ddp->bucket[0].span);
    free(ddp->order);
    free(ddp->arrived);
    free(ddp->bucket);
}

/* Every process takes the order of the lowest rank of all, if that is known. */
static int agree_order(struct dp_ddp *d, struct dp_error *err)
{
    const bool known = d->leads && d->n_arrived == d->n_train;
    for (int k = 0; k < d->n_train; ++k)
        d->votes[k] = known ? d->arrived[k] : -1;
    const int status = dp_comm_allreduce_max(d->group, d->votes, d->n_train, err);
    if (status || d->votes[0] < 0)
        return status;
    for (int k = 0; k < d->n_train; ++k)
        d->arrived[k] = (int)d->votes[k];
    d->n_arrived = d->n_train;
    return 0;
}

int ddp_buckets_form(struct dp_ddp *ddp, struct dp_error *err)
{
    const size_t limits[] = {ddp->config.first_bucket_bytes ? ddp->config.first_bucket_bytes
                                                            : first_bytes,
                             ddp->config.bucket_bytes ? ddp->config.bucket_bytes : other_bytes};
    if (ddp->rebuilt)
        return 0;
    int status = agree_order(ddp, err);
    if (status || ddp->n_arrived < ddp->n_train)
        return status;
    status = assign(ddp, ddp->arrived, limits, 2, false, err);
    if (status)
        return status;
    sort_buckets(ddp);
    ddp->rebuilt = true;
    return 0;
}

bool ddp_anyone_used(const struct dp_ddp *ddp, int t)
{
    for (int i = 0; i < ddp->n_team; ++i) {
        if (ddp->rank[ddp->team[i]].used[t])
            return true;
    }
    return ddp->used_elsewhere[t];
}

void ddp_bucket_spans(struct dp_ddp *ddp, int b)
{
    struct ddp_bucket *bucket = &ddp->bucket[b];
    bucket->n_spans = 0;
    for (int k = bucket->first; k < bucket->first + bucket->n; ++k) {
        const struct ddp_train *train = &ddp->train[ddp->order[k]];
        struct ddp_span *last = bucket->n_spans > 0 ? &bucket->span[bucket->n_spans - 1] : NULL;
        if (train->n == 0 || !ddp_anyone_used(ddp, ddp->order[k]))
            continue;
        if (last && last->first + last->n == train->first)
            last->n += train->n;
        else
            bucket->span[bucket->n_spans++] = (struct ddp_span){train->first, train->n};
    }
}
