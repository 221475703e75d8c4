/* echo.c: an implementation that returns its input, so that a test sees whether a request and its
 * answer come through a pipe unchanged. It computes nothing. */
#include "impl.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct impl_session {
    uint64_t seed;
};

struct impl_model {
    char description[96];
    int ranks, device;
    bool cleared;
    struct impl_step step;
    struct impl_array array; /* the last one that was set, in `data` */
    unsigned char data[4096];
};

static size_t array_bytes(const struct impl_array *array)
{
    size_t bytes = array->dtype == IMPL_F64 || array->dtype == IMPL_I64 ? 8 : 4;

    for (int i = 0; i < array->ndim; ++i)
        bytes *= array->dim[i];
    return array->dtype == IMPL_NONE ? 0 : bytes;
}

static int echo_copy(const struct impl_array *from, int device, struct impl_array *to,
                     struct impl_error *err)
{
    const size_t bytes = array_bytes(from);

    if (bytes > to->capacity) {
        err->status = IMPL_EROOM;
        snprintf(err->text, sizeof err->text, "%zu bytes, there is room for %zu", bytes,
                 to->capacity);
        return IMPL_EROOM;
    }
    to->dtype = from->dtype;
    to->ndim = from->ndim;
    memcpy(to->dim, from->dim, sizeof to->dim);
    to->device = from->dtype == IMPL_NONE ? IMPL_NOWHERE : device;
    if (bytes > 0)
        memcpy(to->data, from->data, bytes);
    return IMPL_OK;
}

static int echo_open(const struct impl_config *config, struct impl_about *about,
                     struct impl_session **session, struct impl_error *err)
{
    static const enum impl_choice choices[IMPL_DIALECTS] = {
        IMPL_CLONE,      IMPL_ABSENT, IMPL_TRUNCATE, IMPL_HONOUR, IMPL_FIRST,
        IMPL_EMPTY,      IMPL_ACCEPT, IMPL_REFUSE,   IMPL_REFUSE, IMPL_COPY,
        IMPL_UNDECLARED, IMPL_ALL,    IMPL_BASE,     IMPL_ACCEPT};

    (void)err;
    memset(about, 0, sizeof *about);
    snprintf(about->name, sizeof about->name, "echo of %s", config->options);
    snprintf(about->version, sizeof about->version, "%s", config->devices);
    about->devices = config->host_only ? 0 : 3;
    for (int i = 0; i < about->devices; ++i)
        snprintf(about->device_name[i], sizeof about->device_name[i], "device \"%d\"", i);
    about->capabilities = 0x1FFFF & ~(uint64_t)IMPL_CAP_MEMORY;
    memcpy(about->dialect, choices, sizeof choices);
    *session = calloc(1, sizeof **session);
    (*session)->seed = config->seed;
    return IMPL_OK;
}

static void echo_close(struct impl_session *session)
{
    free(session);
}

static int echo_reset(struct impl_session *session, struct impl_error *err)
{
    (void)session;
    (void)err;
    return IMPL_OK;
}

static int echo_split(struct impl_session *session, struct impl_split *op, struct impl_error *err)
{
    (void)err;
    op->n = op->devices;
    op->size[0] = op->rows;
    for (int i = 1; i < op->n; ++i)
        op->size[i] = (size_t)session->seed;
    return IMPL_OK;
}

static int echo_scatter(struct impl_session *session, struct impl_scatter *op,
                        struct impl_error *err)
{
    int status = IMPL_OK;

    (void)session;
    if (op->dim == 99) {
        const struct impl_error refused = {IMPL_ESHAPE, 1, 0, IMPL_HOST, "no \"99\"\tdimensions"};
        *err = refused;
        return IMPL_ESHAPE;
    }
    op->n_shards = op->n;
    for (int i = 0; i < op->n && status == IMPL_OK; ++i) {
        status = echo_copy(op->input, op->devices[i], &op->shards[i], err);
        if (op->size && status == IMPL_OK)
            op->shards[i].device = (int)op->size[i];
    }
    if (op->source_after && status == IMPL_OK)
        status = echo_copy(op->input, op->dim, op->source_after, err);
    return status;
}

static int echo_gather(struct impl_session *session, struct impl_gather *op, struct impl_error *err)
{
    int status = echo_copy(&op->parts[0], op->device, op->out, err);

    (void)session;
    if (status == IMPL_OK && op->out_after)
        status = echo_copy(&op->parts[op->n - 1], op->dim, op->out_after, err);
    return status;
}

static int echo_broadcast(struct impl_session *session, struct impl_broadcast *op,
                          struct impl_error *err)
{
    int status = IMPL_OK;

    (void)session;
    for (int i = 0; i < op->n * op->n_devices && status == IMPL_OK; ++i)
        status = echo_copy(&op->src[i % op->n], op->devices[i / op->n], &op->copies[i], err);
    for (int j = 0; j < op->n && status == IMPL_OK && op->src_after; ++j)
        status = echo_copy(&op->src[j], op->poke, &op->src_after[j], err);
    op->transfers = op->buffer_bytes;
    op->default_bytes = SIZE_MAX;
    return status;
}

static int echo_reduce(struct impl_session *session, struct impl_reduce *op, struct impl_error *err)
{
    int status = IMPL_OK;

    (void)session;
    for (int j = 0; j < op->n && status == IMPL_OK; ++j)
        status = echo_copy(&op->src[(op->k - 1) * op->n + j], op->device, &op->sums[j], err);
    op->transfers = op->buffer_bytes;
    op->default_bytes = (size_t)op->poke + 1;
    return status;
}

static void fill_trace(struct impl_trace *trace, int replicas, bool grad, bool train, size_t rows)
{
    if (!trace)
        return;
    memset(trace, 0, sizeof *trace);
    trace->replicas = replicas;
    for (int i = 0; i < replicas; ++i) {
        struct impl_replica *replica = &trace->replica[i];

        replica->device = i - 1;
        replica->calls = SIZE_MAX - (size_t)i;
        replica->rows = rows;
        replica->thread = UINT64_MAX - (uint64_t)i;
        replica->grad = grad;
        replica->train = train;
        replica->bytes_to = UINT64_MAX;
        replica->bytes_from = 1;
    }
    trace->caller = 1;
    trace->live_bytes = UINT64_MAX - 5;
}

static int echo_apply(struct impl_session *session, struct impl_apply *op, struct impl_error *err)
{
    int status = IMPL_OK;

    (void)session;
    for (int i = 0; i < op->n; ++i) {
        struct impl_call *call = &op->calls[i];

        call->n_out = call->n_in;
        for (int j = 0; j < call->n_in && status == IMPL_OK; ++j)
            status = echo_copy(&call->in[j], call->device, &call->out[j], err);
    }
    fill_trace(op->trace, op->n, op->grad, op->train, strlen(op->calls[0].description));
    return status;
}

static int echo_buckets(struct impl_session *session, struct impl_buckets *op,
                        struct impl_error *err)
{
    (void)session;
    (void)err;
    op->n_buckets = op->n_limits;
    for (int i = 0; i < op->n; ++i)
        op->bucket[i] = op->dtype[i] == IMPL_F64;
    for (int i = 0; i < op->n_buckets; ++i)
        op->limit_of[i] = op->limits[i] + op->bytes[0];
    return IMPL_OK;
}

static int echo_sampler(struct impl_session *session, struct impl_sampler *op,
                        struct impl_error *err)
{
    const size_t echo[] = {op->items, (size_t)op->ranks, (size_t)op->rank, op->drop_last};

    (void)session;
    (void)err;
    op->n = sizeof echo / sizeof echo[0];
    memcpy(op->index, echo, sizeof echo);
    return IMPL_OK;
}

static int echo_model_open(struct impl_session *session, const char *description, int ranks,
                           struct impl_model **model, struct impl_error *err)
{
    (void)session;
    (void)err;
    *model = calloc(1, sizeof **model);
    snprintf((*model)->description, sizeof(*model)->description, "%s", description);
    (*model)->ranks = ranks;
    return IMPL_OK;
}

static void echo_model_close(struct impl_model *model)
{
    free(model);
}

static int echo_params(struct impl_model *model, int *n, struct impl_error *err)
{
    (void)err;
    *n = 10 * model->ranks;
    return IMPL_OK;
}

static int echo_param(struct impl_model *model, int i, struct impl_param *param,
                      struct impl_error *err)
{
    (void)err;
    snprintf(param->name, sizeof param->name, "%s", model->description);
    param->dtype = IMPL_I64;
    param->ndim = 2;
    param->dim[0] = (size_t)i;
    param->dim[1] = SIZE_MAX;
    param->device = model->device;
    param->buffer = model->cleared;
    param->frozen = !model->cleared;
    return IMPL_OK;
}

static int echo_set(struct impl_model *model, int rank, enum impl_what what, int i,
                    const struct impl_array *array, struct impl_error *err)
{
    model->array.data = model->data;
    model->array.capacity = sizeof model->data;
    return echo_copy(array, rank + 4 * (what == IMPL_GRAD) + 8 * i, &model->array, err);
}

static int echo_get(struct impl_model *model, int rank, enum impl_what what, int i,
                    struct impl_array *array, struct impl_error *err)
{
    const struct impl_array step = {
        .data = &model->step, .dtype = IMPL_F32, .ndim = 1, .dim = {7}, .device = 0};

    if (what == IMPL_GRAD && i == 1)
        return echo_copy(&step, rank + model->step.adamw, array, err);
    return echo_copy(&model->array, model->array.device, array, err);
}

static int echo_to(struct impl_model *model, int device, struct impl_error *err)
{
    (void)err;
    model->device = device;
    return IMPL_OK;
}

static int echo_zero_grad(struct impl_model *model, struct impl_error *err)
{
    (void)err;
    model->cleared = true;
    return IMPL_OK;
}

static int echo_forward(struct impl_model *model, struct impl_forward *op, struct impl_error *err)
{
    int status = IMPL_OK;

    op->n_out = op->n_in;
    for (int r = 0; r < model->ranks; ++r)
        for (int j = 0; j < op->n_in && status == IMPL_OK; ++j) {
            const struct impl_array *in = &op->in[r * op->n_in + j];
            const bool active = !op->active || op->active[r];

            status = echo_copy(in, active ? r + 10 * in->needs_grad : 40,
                               &op->out[r * IMPL_MAX_IO + j], err);
        }
    fill_trace(op->trace, 2 + op->no_sync, op->grad, op->train,
               op->n_args > 0 ? op->args[op->n_args - 1].dim[0] : 0);
    return status;
}

static int echo_backward(struct impl_model *model, struct impl_backward *op, struct impl_error *err)
{
    const struct impl_array none = {.dtype = IMPL_NONE};
    int status = IMPL_OK;

    for (int i = 0; i < op->n_in && status == IMPL_OK; ++i)
        status = echo_copy(i < op->n_grad_out * model->ranks ? &op->grad_out[i] : &none, i,
                           &op->grad_in[i], err);
    fill_trace(op->trace, 1, true, false, 3);
    return status;
}

static int echo_step(struct impl_model *model, const struct impl_step *step, struct impl_error *err)
{
    (void)err;
    model->step = *step;
    return IMPL_OK;
}

const struct impl_ops *lockstep_impl(uint32_t version)
{
    static const struct impl_ops ops = {
        IMPL_VERSION, sizeof ops,      echo_open,        echo_close,   echo_reset,    echo_split,
        echo_scatter, echo_gather,     echo_broadcast,   echo_reduce,  echo_apply,    echo_buckets,
        echo_sampler, echo_model_open, echo_model_close, echo_params,  echo_param,    echo_set,
        echo_get,     echo_to,         echo_zero_grad,   echo_forward, echo_backward, echo_step};

    return version == IMPL_VERSION ? &ops : NULL;
}
