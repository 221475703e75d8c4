/* operations.c: the primitives through the wall: arguments into the mailbox, results out of it.
 *
 * What comes out of it was written by the other process, so it is copied first and believed by
 * nobody: who asked checks it. */
#include "sides.h"

#include <stdlib.h>
#include <string.h>

/* ---- arrays ---------------------------------------------------------------------------------- */

struct impl_array *wall_put_arrays(struct wall *wall, const struct impl_array *arrays, size_t n)
{
    return wall_put(wall, arrays, n * sizeof *arrays);
}

void wall_take_arrays(struct impl_array *arrays, const struct impl_array *theirs, size_t n)
{
    if (arrays && theirs)
        memcpy(arrays, theirs, n * sizeof *arrays);
}

void wall_same_arrays(struct wall *wall, const struct impl_array *arrays,
                      const struct impl_array *theirs, size_t n)
{
    for (size_t i = 0; arrays && theirs && i < n; ++i) {
        const struct impl_array *a = &arrays[i], *b = &theirs[i];

        if (a->data != b->data || a->dtype != b->dtype || a->ndim != b->ndim ||
            a->device != b->device || a->needs_grad != b->needs_grad ||
            memcmp(a->dim, b->dim, sizeof a->dim) != 0)
            wall_note(wall, "the caller's description of an input array");
    }
}

static size_t at_least_none(int n)
{
    return n > 0 ? (size_t)n : 0;
}

/* ---- sessions -------------------------------------------------------------------------------- */

static int call(struct impl_session *s, enum wall_op op, const void *arguments,
                struct impl_error *err)
{
    s->wall->box->session = s->theirs;
    s->wall->box->arguments = (void *)arguments;
    return wall_call(s->wall, op, err);
}

static int wall_open(const struct impl_config *config, struct impl_about *about,
                     struct impl_session **session, struct impl_error *err)
{
    struct wall *wall = ((const struct wall_config *)config)->wall;
    struct wall_open open = {.config = *config}, *theirs;
    int status;

    *session = calloc(1, sizeof **session);
    if (!*session)
        return IMPL_EBROKEN;
    (*session)->wall = wall;
    open.config.devices = wall_put(wall, config->devices, strlen(config->devices) + 1);
    open.config.options = wall_put(wall, config->options, strlen(config->options) + 1);
    theirs = wall_put(wall, &open, sizeof open);
    status = call(*session, WALL_OPEN, theirs, err);
    if (status == IMPL_OK) {
        *about = theirs->about;
        (*session)->theirs = wall->box->session;
    }
    if (status == IMPL_OK && (*session)->theirs)
        return IMPL_OK;
    free(*session);
    *session = NULL;
    return status;
}

static void wall_close(struct impl_session *s)
{
    struct impl_error ignored = {.status = IMPL_OK};

    call(s, WALL_CLOSE, NULL, &ignored);
    free(s);
}

static int wall_reset(struct impl_session *s, struct impl_error *err)
{
    return call(s, WALL_RESET, NULL, err);
}

/* ---- primitives ------------------------------------------------------------------------------ */

static int wall_split(struct impl_session *s, struct impl_split *op, struct impl_error *err)
{
    struct impl_split *theirs = wall_put(s->wall, op, sizeof *op);
    const int status = call(s, WALL_SPLIT, theirs, err);

    if (!theirs)
        return status;
    memcpy(op->size, theirs->size, sizeof op->size);
    op->n = theirs->n;
    return status;
}

static int wall_scatter(struct impl_session *s, struct impl_scatter *op, struct impl_error *err)
{
    struct wall *wall = s->wall;
    const size_t n = at_least_none(op->n);
    struct impl_scatter put = *op, *theirs;
    int status;

    put.input = wall_put_arrays(wall, op->input, 1);
    put.devices = wall_put(wall, op->devices, n * sizeof *op->devices);
    put.size = wall_put(wall, op->size, n * sizeof *op->size);
    put.shards = wall_put_arrays(wall, op->shards, n);
    put.source_after = wall_put_arrays(wall, op->source_after, 1);
    theirs = wall_put(wall, &put, sizeof put);
    status = call(s, WALL_SCATTER, theirs, err);
    if (!theirs)
        return status;
    op->n_shards = theirs->n_shards;
    wall_same_arrays(wall, op->input, put.input, 1);
    wall_take_arrays(op->shards, put.shards, n);
    wall_take_arrays(op->source_after, put.source_after, 1);
    return status;
}

static int wall_gather(struct impl_session *s, struct impl_gather *op, struct impl_error *err)
{
    struct wall *wall = s->wall;
    const size_t n = at_least_none(op->n);
    struct impl_gather put = *op, *theirs;
    int status;

    put.parts = wall_put_arrays(wall, op->parts, n);
    put.out = wall_put_arrays(wall, op->out, 1);
    put.out_after = wall_put_arrays(wall, op->out_after, 1);
    theirs = wall_put(wall, &put, sizeof put);
    status = call(s, WALL_GATHER, theirs, err);
    wall_same_arrays(wall, op->parts, put.parts, n);
    wall_take_arrays(op->out, put.out, 1);
    wall_take_arrays(op->out_after, put.out_after, 1);
    return status;
}

static int wall_broadcast(struct impl_session *s, struct impl_broadcast *op, struct impl_error *err)
{
    struct wall *wall = s->wall;
    const size_t n = at_least_none(op->n), devices = at_least_none(op->n_devices);
    struct impl_broadcast put = *op, *theirs;
    int status;

    put.src = wall_put_arrays(wall, op->src, n);
    put.devices = wall_put(wall, op->devices, devices * sizeof *op->devices);
    put.copies = wall_put_arrays(wall, op->copies, n * devices);
    put.src_after = wall_put_arrays(wall, op->src_after, n);
    theirs = wall_put(wall, &put, sizeof put);
    status = call(s, WALL_BROADCAST, theirs, err);
    if (!theirs)
        return status;
    op->transfers = theirs->transfers;
    op->default_bytes = theirs->default_bytes;
    wall_same_arrays(wall, op->src, put.src, n);
    wall_take_arrays(op->copies, put.copies, n * devices);
    wall_take_arrays(op->src_after, put.src_after, n);
    return status;
}

static int wall_reduce(struct impl_session *s, struct impl_reduce *op, struct impl_error *err)
{
    struct wall *wall = s->wall;
    const size_t n = at_least_none(op->n), lists = at_least_none(op->k);
    struct impl_reduce put = *op, *theirs;
    int status;

    put.src = wall_put_arrays(wall, op->src, n * lists);
    put.sums = wall_put_arrays(wall, op->sums, n);
    theirs = wall_put(wall, &put, sizeof put);
    status = call(s, WALL_REDUCE, theirs, err);
    if (!theirs)
        return status;
    op->transfers = theirs->transfers;
    op->default_bytes = theirs->default_bytes;
    wall_same_arrays(wall, op->src, put.src, n * lists);
    wall_take_arrays(op->sums, put.sums, n);
    return status;
}

static void put_call(struct wall *wall, const struct impl_call *op, struct impl_call *put)
{
    *put = *op;
    put->description = wall_put(wall, op->description, strlen(op->description) + 1);
    put->in = wall_put_arrays(wall, op->in, at_least_none(op->n_in));
    put->out = wall_put_arrays(wall, op->out, IMPL_MAX_IO);
}

/* put: what we put there, since what is there now may have been changed. */
static void take_call(struct wall *wall, struct impl_call *op, const struct impl_call *put,
                      const struct impl_call *theirs)
{
    op->n_out = theirs->n_out;
    wall_same_arrays(wall, op->in, put->in, at_least_none(op->n_in));
    wall_take_arrays(op->out, put->out, IMPL_MAX_IO);
}

static int wall_apply(struct impl_session *s, struct impl_apply *op, struct impl_error *err)
{
    struct wall *wall = s->wall;
    const size_t n = at_least_none(op->n);
    struct impl_call *calls = calloc(n + 1, sizeof *calls);
    struct impl_apply put = *op, *theirs;
    int status;

    if (!calls)
        return IMPL_EBROKEN;
    for (size_t i = 0; i < n; ++i)
        put_call(wall, &op->calls[i], &calls[i]);
    put.calls = wall_put(wall, calls, n * sizeof *calls);
    put.trace = wall_put(wall, op->trace, sizeof *op->trace);
    theirs = wall_put(wall, &put, sizeof put);
    status = call(s, WALL_APPLY, theirs, err);
    for (size_t i = 0; i < n && theirs; ++i)
        take_call(wall, &op->calls[i], &calls[i], &put.calls[i]);
    if (op->trace && put.trace)
        memcpy(op->trace, put.trace, sizeof *op->trace);
    free(calls);
    return status;
}

static int wall_buckets(struct impl_session *s, struct impl_buckets *op, struct impl_error *err)
{
    struct wall *wall = s->wall;
    const size_t n = at_least_none(op->n), limits = at_least_none(op->n_limits);
    struct impl_buckets put = *op, *theirs;
    int status;

    put.bytes = wall_put(wall, op->bytes, n * sizeof *op->bytes);
    put.dtype = wall_put(wall, op->dtype, n * sizeof *op->dtype);
    put.limits = wall_put(wall, op->limits, limits * sizeof *op->limits);
    put.bucket = wall_put(wall, op->bucket, n * sizeof *op->bucket);
    put.limit_of = wall_put(wall, op->limit_of, n * sizeof *op->limit_of);
    theirs = wall_put(wall, &put, sizeof put);
    status = call(s, WALL_BUCKETS, theirs, err);
    if (!theirs)
        return status;
    op->n_buckets = theirs->n_buckets;
    memcpy(op->bucket, put.bucket, n * sizeof *op->bucket);
    memcpy(op->limit_of, put.limit_of, n * sizeof *op->limit_of);
    return status;
}

static int wall_sampler(struct impl_session *s, struct impl_sampler *op, struct impl_error *err)
{
    struct wall *wall = s->wall;
    struct impl_sampler put = *op, *theirs;
    int status;

    put.index = wall_put(wall, op->index, op->capacity * sizeof *op->index);
    theirs = wall_put(wall, &put, sizeof put);
    status = call(s, WALL_SAMPLER, theirs, err);
    if (!theirs)
        return status;
    op->n = theirs->n;
    memcpy(op->index, put.index, op->capacity * sizeof *op->index);
    return status;
}

const struct impl_ops wall_table = {
    .version = IMPL_VERSION,
    .bytes = sizeof wall_table,
    .open = wall_open,
    .close = wall_close,
    .reset = wall_reset,
    .split = wall_split,
    .scatter = wall_scatter,
    .gather = wall_gather,
    .broadcast = wall_broadcast,
    .reduce = wall_reduce,
    .apply = wall_apply,
    .buckets = wall_buckets,
    .sampler = wall_sampler,
    .model_open = wall_model_open,
    .model_close = wall_model_close,
    .params = wall_params,
    .param = wall_param,
    .set = wall_set,
    .get = wall_get,
    .to = wall_to,
    .zero_grad = wall_zero_grad,
    .forward = wall_forward,
    .backward = wall_backward,
    .step = wall_step,
};
