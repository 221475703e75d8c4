/* distributed_step.c: reads and writes of a program to ranks, and their optimizers. */
#include "distributed.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int check_rank(const struct dp_ddp *d, int r, struct dp_error *err)
{
    return r >= 0 && r < d->n ? 0 : dp_fail(err, DP_EINVAL, "rank %d: 0 to %d", r, d->n - 1);
}

int dp_ddp_param(struct dp_ddp *ddp, int r, int i, struct dp_ddp_param *param, struct dp_error *err)
{
    const int n = ddp->replicas->params.n, status = check_rank(ddp, r, err);
    if (status)
        return status;
    if (i < 0 || i >= n)
        return dp_fail(err, DP_EINVAL, "parameter %d: 0 to %d", i, n - 1);
    const struct dp_state *state = &ddp->replicas->replica[r].state;
    *param = (struct dp_ddp_param){state->value[i], state->grad[i], &state->has_grad[i]};
    param->value.version = &ddp->replicas->params.item[i]->version;
    return 0;
}

/* ---- the step ---------------------------------------------------------------------------- */

struct step {
    struct dp_ddp *ddp;
    float lr, momentum, decay;
};

/* The rate is written separately, because it is no part of what each step launches. */
static int write_rate(struct ddp_rank *rank, struct dp_slot *slot, float lr, struct dp_error *err)
{
    if (rank->lr == lr)
        return 0;
    const struct dp_fill fill = {rank->rate->memory, lr, 1};
    const int status = dp_launch(&slot->compute, DP_KERNEL_FILL, &fill, sizeof fill, err);
    if (status == 0)
        rank->lr = lr;
    return status;
}

static int step_rank(int r, void *arg, struct dp_error *err)
{
    const struct step *s = arg;
    const struct dp_ddp *d = s->ddp;
    struct ddp_rank *rank = &d->rank[r];
    const struct dp_state *state = &d->replicas->replica[r].state;
    int status = rank->active ? write_rate(rank, ddp_slot(d, r), s->lr, err) : 0;
    for (int t = 0; rank->active && status == 0 && t < d->n_train; ++t) {
        const struct ddp_train *train = &d->train[t];
        const bool moves = s->momentum > 0.0f;
        if (!state->has_grad[train->place])
            continue;
        const struct dp_sgd_args args = {
            .value = state->value[train->place].data,
            .velocity = moves ? (float *)rank->velocity->memory + train->first : NULL,
            .grad = state->grad[train->place].data,
            .lr = rank->rate->memory,
            .momentum = s->momentum,
            .decay = s->decay,
            .first = !rank->moving[t],
            .n = train->n};
        status = dp_launch(&ddp_slot(d, r)->compute, DP_KERNEL_SGD, &args, sizeof args, err);
        rank->moving[t] = rank->moving[t] || (moves && status == 0);
    }
    return status;
}

int dp_ddp_step(struct dp_ddp *ddp, float lr, float momentum, float decay, struct dp_error *err)
{
    struct step step = {ddp, lr, momentum, decay};
    int status = 0;
    for (int r = 0; status == 0 && r < ddp->n; ++r) {
        struct ddp_rank *rank = &ddp->rank[r];
        if (rank->rate)
            continue;
        rank->lr = NAN;
        status = dp_block_open(ddp_slot(ddp, r), sizeof(float), &rank->rate, err);
    }
    if (status == 0 && momentum > 0.0f) {
        /* Velocities have the layout of the gradients, and are allocated once. */
        const struct ddp_train *last = &ddp->train[ddp->n_train - 1];
        const size_t bytes = (last->first + last->n) * sizeof(float);
        for (int r = 0; status == 0 && r < ddp->n; ++r) {
            if (!ddp->rank[r].velocity)
                status = dp_block_open(ddp_slot(ddp, r), bytes, &ddp->rank[r].velocity, err);
        }
    }
    dp_params_change(&ddp->replicas->params);
    return status ? status : ddp_tasks(ddp, DP_PHASE_UPDATE, step_rank, &step, err);
}

/* ---- comparison -------------------------------------------------------------------------- */

/* This much of two tensors is compared at a time; a part of them stays in the cache of a core. */
enum { PART_BYTES = 256 * 1024 };

static struct dp_tensor step_part_of(const struct dp_tensor *tensor, size_t first, size_t n)
{
    struct dp_tensor part = *tensor;
    part.ndim = 1;
    part.dim[0] = n;
    part.data = (char *)tensor->data + first * dp_dtype_bytes(tensor->dtype);
    return part;
}

/* differs: the first of n numbers that is not the same; n if all are. */
static int compare_part(const struct dp_tensor *zero, const struct dp_tensor *own,
                        unsigned char *memory, size_t *differs, struct dp_error *err)
{
    const size_t n = dp_tensor_count(zero), unit = dp_dtype_bytes(zero->dtype);
    const unsigned char *other = memory + PART_BYTES;
    int status = dp_tensor_read(memory, zero, err);
    if (status == 0)
        status = dp_tensor_read(memory + PART_BYTES, own, err);
    *differs = n;
    if (status || memcmp(memory, other, n * unit) == 0)
        return status;
    for (*differs = 0; memcmp(memory + *differs * unit, other + *differs * unit, unit) == 0;)
        ++*differs;
    return 0;
}

/* memory has space for a part of both. */
static int step_compare(const struct dp_ddp *d, int r, int j, const char *what,
                        const struct dp_tensor *zero, const struct dp_tensor *own,
                        unsigned char *memory, struct dp_error *err)
{
    const size_t count = dp_tensor_count(zero), most = PART_BYTES / dp_dtype_bytes(zero->dtype);
    for (size_t first = 0; first < count; first += most) {
        const size_t n = count - first < most ? count - first : most;
        const struct dp_tensor a = step_part_of(zero, first, n), b = step_part_of(own, first, n);
        size_t differs = n;
        const int status = compare_part(&a, &b, memory, &differs, err);
        if (status)
            return status;
        if (differs < n)
            return dp_fail(err, DP_EFAULT,
                           "rank %d: element %zu of the %s of parameter %d '%s' is not rank 0's", r,
                           first + differs, what, j, d->replicas->params.item[j]->name);
    }
    return 0;
}

static int compare_param(const struct dp_ddp *d, int r, int j, unsigned char *memory,
                         struct dp_error *err)
{
    const struct dp_state *zero = &d->replicas->replica[0].state;
    const struct dp_state *own = &d->replicas->replica[r].state;
    const int status = step_compare(d, r, j, "value", &zero->value[j], &own->value[j], memory, err);
    if (status)
        return status;
    if (zero->has_grad[j] != own->has_grad[j])
        return dp_fail(err, DP_EFAULT,
                       "rank %d has %s gradient of parameter %d '%s', rank 0 has %s", r,
                       own->has_grad[j] ? "a" : "no", j, d->replicas->params.item[j]->name,
                       zero->has_grad[j] ? "one" : "none");
    return zero->has_grad[j]
               ? step_compare(d, r, j, "gradient", &zero->grad[j], &own->grad[j], memory, err)
               : 0;
}

int dp_ddp_compare(struct dp_ddp *ddp, struct dp_error *err)
{
    int status = 0;
    unsigned char *memory = ddp->n > 1 ? malloc(2 * PART_BYTES) : NULL;
    if (ddp->n > 1 && !memory)
        return dp_fail(err, DP_ENOMEM, "no memory to compare %d bytes", PART_BYTES);
    for (int r = 1; r < ddp->n; ++r) {
        for (int j = 0; status == 0 && j < ddp->replicas->params.n; ++j)
            if (!ddp->replicas->params.item[j]->buffer)
                status = compare_param(ddp, r, j, memory, err);
    }
    free(memory);
    return status;
}

/* ---- buckets ----------------------------------------------------------------------------- */

int dp_ddp_buckets(const struct dp_ddp *ddp)
{
    return ddp->n_buckets;
}

static int check_bucket(const struct dp_ddp *d, int b, struct dp_error *err)
{
    return b >= 0 && b < d->n_buckets
               ? 0
               : dp_fail(err, DP_EINVAL, "bucket %d: 0 to %d", b, d->n_buckets - 1);
}

int dp_ddp_bucket(const struct dp_ddp *ddp, int r, int b, struct dp_ddp_bucket *bucket,
                  struct dp_error *err)
{
    int status = check_rank(ddp, r, err);
    if (status == 0)
        status = check_bucket(ddp, b, err);
    if (status)
        return status;
    struct ddp_times *times = &ddp->rank[r].times[b];
    *bucket = (struct dp_ddp_bucket){ddp->bucket[b].bytes, ddp->bucket[b].n, times->ready,
                                     times->launch, atomic_load(&times->done)};
    return 0;
}

int dp_ddp_bucket_params(const struct dp_ddp *ddp, int b, int list[], int capacity)
{
    if (check_bucket(ddp, b, NULL))
        return 0;
    const struct ddp_bucket *bucket = &ddp->bucket[b];
    for (int k = 0; k < bucket->n && k < capacity; ++k)
        list[k] = ddp->train[ddp->order[bucket->first + k]].place;
    return bucket->n;
}

void dp_ddp_times(const struct dp_ddp *ddp, int r, uint64_t *begin_ns, uint64_t *end_ns)
{
    const bool known = check_rank(ddp, r, NULL) == 0;
    *begin_ns = known ? ddp->rank[r].begin : 0;
    *end_ns = known ? ddp->rank[r].end : 0;
}

bool dp_ddp_joining(const struct dp_ddp *ddp)
{
    return ddp->joining;
}

bool dp_ddp_overlaps(const struct dp_ddp *ddp)
{
    return ddp->overlaps;
}
