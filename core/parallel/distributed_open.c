/* distributed_open.c: opens and closes ranks. */
#include "distributed.h"

#include <stdlib.h>

static int check_slots(struct dp_group *group, struct dp_slot *const slots[], int n,
                       struct dp_error *err)
{
    if (n < 1 || n > DP_MAX_SLOTS)
        return dp_fail(err, DP_EINVAL, "%d ranks: 1 to %d", n, DP_MAX_SLOTS);
    for (int i = 0; i < n; ++i) {
        if (!slots[i] || slots[i]->group != group || dp_is_host(slots[i]))
            return dp_fail(err, DP_EINVAL, "rank %d is not on a device of this group", i);
        for (int j = 0; j < i; ++j) {
            if (slots[j] == slots[i])
                return dp_fail(err, DP_EINVAL, "ranks %d and %d are both on %s", j, i,
                               slots[i]->info.name);
        }
    }
    return 0;
}

static void *zeroed(int n, size_t bytes)
{
    return calloc((size_t)n + 1, bytes);
}

static int list_trained(struct dp_ddp *d, struct dp_error *err)
{
    const struct dp_param_list *params = &d->replicas->params;
    d->train = zeroed(params->n, sizeof *d->train);
    d->train_of = zeroed(params->n, sizeof *d->train_of);
    if (!d->train || !d->train_of)
        return dp_fail(err, DP_ENOMEM, "no memory for ranks");
    for (int j = 0; j < params->n; ++j) {
        const struct dp_param *p = params->item[j];
        const struct dp_tensor *grad = &d->replicas->replica[0].state.grad[j];
        d->train_of[j] = -1;
        if (p->frozen || p->buffer)
            continue;
        if (p->value.dtype != DP_F32)
            return dp_fail(err, DP_EINVAL, "parameter %d '%s' is not of 32-bit floats", j, p->name);
        d->train_of[j] = d->n_train;
        d->train[d->n_train++] = (struct ddp_train){
            j, (size_t)((const float *)grad->data - ddp_grads(d, 0)), dp_tensor_count(grad), 0};
    }
    if (d->n_train == 0)
        return dp_fail(err, DP_EINVAL, "the module has no parameter to train: nothing to reduce");
    return 0;
}

static int open_rank(struct dp_ddp *d, int r, struct dp_error *err)
{
    struct ddp_rank *rank = &d->rank[r];
    struct replica *replica = &d->replicas->replica[r];
    rank->watch = (struct dp_watch){ddp_watch_forward, ddp_watch_backward};
    rank->ddp = d;
    rank->number = r;
    rank->active = true;
    rank->open = zeroed(d->n_train, sizeof *rank->open);
    rank->ready = zeroed(d->n_train, sizeof *rank->ready);
    rank->touched = zeroed(d->replicas->params.n, sizeof *rank->touched);
    rank->used = zeroed(d->n_train, sizeof *rank->used);
    rank->left = zeroed(d->n_train, sizeof *rank->left);
    rank->times = zeroed(d->n_train, sizeof *rank->times);
    rank->moving = zeroed(d->n_train, sizeof *rank->moving);
    rank->target = zeroed(d->n_train, sizeof *rank->target);
    if (!rank->open || !rank->ready || !rank->touched || !rank->used || !rank->left ||
        !rank->times || !rank->moving || !rank->target)
        return dp_fail(err, DP_ENOMEM, "no memory for rank %d", r);
    for (int t = 0; t < d->n_train; ++t) {
        const int place = d->train[t].place;
        rank->target[t] =
            (struct dp_target){&replica->state.value[place], &replica->state.grad[place], false};
    }
    replica->state.touched = rank->touched;
    replica->run->watch = &rank->watch;
    return 0;
}

/* With one process any slots can be ranks; with several, all of them are, in their order. */
static int number_ranks(struct dp_ddp *d, struct dp_slot *const slots[], int n,
                        struct dp_error *err)
{
    const struct dp_group *group = d->group;
    const bool alone = group->world == group->size;
    d->world = alone ? n : group->world;
    d->first = alone ? 0 : group->first;
    if (!alone && n != group->size)
        return dp_fail(err, DP_EINVAL, "%d ranks: with other processes all %d slots are ranks", n,
                       group->size);
    for (int r = 0; !alone && r < n; ++r) {
        if (slots[r] != group->slot[r])
            return dp_fail(err, DP_EINVAL, "rank %d is on %s: with other processes it is on %s",
                           d->first + r, slots[r]->info.name, group->slot[r]->info.name);
    }
    return 0;
}

static int distributed_open_open_ranks(struct dp_ddp *d, int n, struct dp_error *err)
{
    const int most = d->world > d->n_train ? d->world : d->n_train;
    int status = 0;
    d->rank = calloc((size_t)n, sizeof *d->rank);
    d->everyone = zeroed(d->world, sizeof *d->everyone);
    d->member = zeroed(d->world, sizeof *d->member);
    d->used_elsewhere = zeroed(d->n_train, sizeof *d->used_elsewhere);
    d->votes = zeroed(most, sizeof *d->votes);
    d->value = zeroed(n * d->replicas->params.n, sizeof *d->value);
    d->value_bytes = zeroed(d->replicas->params.n, sizeof *d->value_bytes);
    if (!d->rank || !d->everyone || !d->member || !d->used_elsewhere || !d->votes || !d->value ||
        !d->value_bytes)
        return dp_fail(err, DP_ENOMEM, "no memory for %d ranks", n);
    d->n = n;
    for (int w = 0; w < d->world; ++w)
        d->everyone[w] = true;
    for (int r = 0; status == 0 && r < n; ++r)
        status = open_rank(d, r, err);
    return status;
}

/* All processes must have the same parameters: it compares a digest of places, types and shapes. */
static int check_world(struct dp_ddp *d, struct dp_error *err)
{
    uint64_t hash = 14695981039346656037u;
    for (int j = 0; j < d->replicas->params.n; ++j) {
        const struct dp_tensor *value = &d->replicas->params.item[j]->value;
        const uint64_t word[] = {(uint64_t)d->train_of[j], (uint64_t)value->dtype,
                                 (uint64_t)value->ndim, dp_tensor_count(value)};
        for (size_t k = 0; k < sizeof word / sizeof *word; ++k)
            hash = (hash ^ word[k]) * 1099511628211u;
    }
    const int64_t mine = (int64_t)(hash >> 1);
    int64_t both[] = {mine, -mine};
    const int status = dp_comm_allreduce_max(d->group, both, 2, err);
    if (status)
        return status;
    return both[0] == mine && both[1] == -mine
               ? 0
               : dp_fail(err, DP_EINVAL, "another process has a module of other parameters");
}

static int distributed_open_open_all(struct dp_ddp *d, struct dp_slot *const slots[], int n,
                                     struct dp_error *err)
{
    int status = check_slots(d->group, slots, n, err);
    if (status == 0)
        status = number_ranks(d, slots, n, err);
    if (status == 0)
        status = dp_replicas_open(d->module, slots, n, &d->replicas, err);
    if (status == 0)
        status = dp_replicate(d->replicas, n, err);
    if (status == 0)
        status = list_trained(d, err);
    if (status == 0)
        status = distributed_open_open_ranks(d, n, err);
    if (status == 0)
        status = ddp_buckets_open(d, err);
    if (status == 0)
        status = ddp_reduction_open(d, err);
    if (status || d->world == n)
        return status;
    status = check_world(d, err);
    return status ? status : ddp_send_values(d, 0, false, err);
}

int dp_ddp_open(struct dp_module *module, struct dp_slot *const slots[], int n,
                const struct dp_ddp_config *config, struct dp_ddp **ddp, struct dp_error *err)
{
    struct dp_ddp *d = calloc(1, sizeof *d);
    if (!d)
        return dp_fail(err, DP_ENOMEM, "no memory for DistributedDataParallel");
    d->group = dp_module_group(module);
    d->module = module;
    d->config = *config;
    d->send_buffers = true;
    const int status = ddp_done(d, distributed_open_open_all(d, slots, n, err));
    if (status) {
        dp_ddp_close(d);
        return status;
    }
    *ddp = d;
    return 0;
}

void dp_ddp_close(struct dp_ddp *ddp)
{
    if (!ddp)
        return;
    dp_group_wait(ddp->group, NULL);
    for (int r = 0; r < ddp->n; ++r) {
        struct ddp_rank *rank = &ddp->rank[r];
        free(rank->open);
        free(rank->ready);
        free(rank->touched);
        free(rank->used);
        free(rank->left);
        free(rank->times);
        free(rank->moving);
        dp_block_release(rank->velocity);
        dp_block_release(rank->rate);
        free(rank->target);
        dp_adamw_state_close(&rank->adamw);
        dp_block_release(rank->clip);
    }
    ddp_buckets_close(ddp);
    ddp_reduction_close(ddp->reduction);
    free(ddp->everyone);
    free(ddp->member);
    free(ddp->used_elsewhere);
    free(ddp->votes);
    free(ddp->value);
    free(ddp->value_bytes);
    free(ddp->rank);
    free(ddp->train);
    free(ddp->train_of);
    dp_replicas_close(ddp->replicas);
    free(ddp);
}
