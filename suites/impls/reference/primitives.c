/* primitives.c: split, scatter, gather, and DDP's pure functions. */
#include "reference.h"

/* ---- split ----------------------------------------------------------------------------------- */

static int split(struct impl_split *op, struct dp_error *err)
{
    const int n = dp_split_count(op->rows, op->devices);
    struct dp_shard shard;
    int status = 0;

    if (n > IMPL_MAX_DEVICES)
        return dp_fail(err, OWN_STATUS(IMPL_EROOM), "%d shards, room for %d", n, IMPL_MAX_DEVICES);
    if (n == 0)
        status = dp_split(op->rows, op->devices, 0, &shard, err);
    for (int s = 0; status == 0 && s < n; ++s) {
        status = dp_split(op->rows, op->devices, s, &shard, err);
        op->size[s] = shard.rows;
    }
    op->n = n;
    return status;
}

int reference_split(struct impl_session *session, struct impl_split *op, struct impl_error *err)
{
    struct dp_error error = {0};

    return error_of(session->group, split(op, &error), &error, err);
}

/* ---- scatter --------------------------------------------------------------------------------- */

static int scatter(struct work *w, struct impl_scatter *op)
{
    struct dp_slot *slots[IMPL_MAX_DEVICES];
    struct dp_tensor input, shards[IMPL_MAX_DEVICES];
    int n = 0, status;

    if (op->n > IMPL_MAX_DEVICES)
        return dp_fail(&w->error, DP_EINVAL, "%d devices", op->n);
    status = work_put(w, op->input, &input);
    if (status == 0)
        status = work_slots(w, op->devices, op->n, slots);
    if (status == 0)
        status = dp_scatter(w->session->run, &input, slots, op->n, op->dim, op->size, shards, &n,
                            &w->error);
    for (int i = 0; status == 0 && i < n; ++i)
        status = tensor_get(&shards[i], &op->shards[i], &w->error);
    op->n_shards = n;
    for (int i = 0; status == 0 && op->source_after && i < n; ++i)
        status = slot_tensor_add_one(&shards[i], &w->error);
    if (status == 0 && op->source_after)
        status = tensor_get(&input, op->source_after, &w->error);
    return status;
}

int reference_scatter(struct impl_session *session, struct impl_scatter *op, struct impl_error *err)
{
    struct work w;

    work_begin(&w, session);
    return work_end(&w, scatter(&w, op), err);
}

/* ---- gather ---------------------------------------------------------------------------------- */

static int dp_gather_all(struct work *w, struct impl_gather *op)
{
    struct dp_tensor out, parts[IMPL_MAX_DEVICES];
    struct dp_slot *slot = slot_of(w->session->group, op->device, &w->error);
    int status = !slot ? w->error.status : 0;

    if (op->n > IMPL_MAX_DEVICES)
        return dp_fail(&w->error, DP_EINVAL, "%d parts", op->n);
    if (status == 0)
        status = work_put_all(w, op->parts, op->n, parts);
    if (status == 0)
        status = dp_gather(w->session->run, parts, op->n, op->dim, slot, &out, &w->error);
    if (status == 0)
        status = tensor_get(&out, op->out, &w->error);
    for (int i = 0; status == 0 && op->out_after && i < op->n; ++i)
        status = slot_tensor_add_one(&parts[i], &w->error);
    if (status == 0 && op->out_after)
        status = tensor_get(&out, op->out_after, &w->error);
    return status;
}

int reference_gather(struct impl_session *session, struct impl_gather *op, struct impl_error *err)
{
    struct work w;

    work_begin(&w, session);
    return work_end(&w, dp_gather_all(&w, op), err);
}

/* ---- buckets, sampler ------------------------------------------------------------------------ */

static int buckets(struct work *w, struct impl_buckets *op)
{
    const size_t n = op->n > 0 ? (size_t)op->n : 0;
    enum dp_dtype *dtype = work_memory(w, n, sizeof *dtype);

    if (!dtype)
        return w->error.status;
    for (size_t i = 0; i < n; ++i) {
        if (op->dtype[i] <= IMPL_NONE || op->dtype[i] > IMPL_I64)
            return dp_fail(&w->error, DP_EINVAL, "unknown type of elements %d", (int)op->dtype[i]);
        dtype[i] = dtype_of(op->dtype[i]);
    }
    return dp_buckets(op->bytes, dtype, op->n, op->limits, op->n_limits, op->bucket, op->limit_of,
                      &op->n_buckets, &w->error);
}

int reference_buckets(struct impl_session *session, struct impl_buckets *op, struct impl_error *err)
{
    struct work w;

    work_begin(&w, session);
    return work_end(&w, buckets(&w, op), err);
}

static int sampler(struct impl_sampler *op, struct dp_error *err)
{
    const int status = dp_sampler(op->items, op->ranks, op->rank, op->drop_last, op->index,
                                  op->capacity, &op->n, err);

    if (status == 0 && op->n > op->capacity)
        return dp_fail(err, OWN_STATUS(IMPL_EROOM), "%zu indices, room for %zu", op->n,
                       op->capacity);
    return status;
}

int reference_sampler(struct impl_session *session, struct impl_sampler *op, struct impl_error *err)
{
    struct dp_error error = {0};

    return error_of(session->group, sampler(op, &error), &error, err);
}
