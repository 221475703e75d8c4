/* idle.c: the table of operations. With BUG_IDLE, and BUG_IDLE_OTHER, they compute nothing: every
 * request is accepted at once, and answered with zeros, of the right shapes if they are known. Only
 * values that are set are kept. No case may pass with these two. */
#include "load.h"
#include "ranks.h"

#include <string.h>

static bool idle(const struct impl_session *s)
{
    const bool one = bug(s, BUG_IDLE), other = bug(s, BUG_IDLE_OTHER);

    return one || other;
}

/* Accepts every request. */
static int accept(struct impl_error *err)
{
    *err = (struct impl_error){.replica = -1, .device = IMPL_NOWHERE, .device_also = IMPL_NOWHERE};
    return IMPL_OK;
}

static void zero(struct impl_array *arrays, int n)
{
    for (int i = 0; arrays && i < n; ++i)
        if (arrays[i].dtype != IMPL_NONE && arrays[i].data)
            memset(arrays[i].data, 0, tensor_bytes(&arrays[i]));
}

static void none(struct impl_array *arrays, int n)
{
    for (int i = 0; arrays && i < n; ++i)
        arrays[i].dtype = IMPL_NONE;
}

/* Returns zeros of the same shape, on the same device. */
static void zeros_like(struct impl_array *out, const struct impl_array *like)
{
    const bool fits = like->dtype != IMPL_NONE && tensor_bytes(like) <= out->capacity;

    out->dtype = fits ? like->dtype : IMPL_NONE;
    out->ndim = like->ndim;
    out->device = like->device;
    memcpy(out->dim, like->dim, sizeof out->dim);
    zero(out, 1);
}

static void forget_trace(struct impl_trace *trace)
{
    if (trace)
        memset(trace, 0, sizeof *trace);
}

static int idle_split(struct impl_session *s, struct impl_split *op, struct impl_error *err)
{
    if (!idle(s))
        return op_split(s, op, err);
    memset(op->size, 0, sizeof op->size);
    op->n = op->devices > 0 && op->devices <= IMPL_MAX_DEVICES ? op->devices : 0;
    return accept(err);
}

static int idle_scatter(struct impl_session *s, struct impl_scatter *op, struct impl_error *err)
{
    const int status = op_scatter(s, op, err);

    if (!idle(s))
        return status;
    if (status != 0)
        op->n_shards = 0;
    zero(op->shards, op->n_shards);
    if (op->source_after)
        none(op->source_after, status != 0);
    zero(op->source_after, 1);
    return accept(err);
}

static int idle_gather(struct impl_session *s, struct impl_gather *op, struct impl_error *err)
{
    const int status = op_gather(s, op, err);

    if (!idle(s))
        return status;
    if (status != 0) {
        none(op->out, 1);
        none(op->out_after, 1);
    }
    zero(op->out, 1);
    zero(op->out_after, 1);
    return accept(err);
}

static int idle_broadcast(struct impl_session *s, struct impl_broadcast *op, struct impl_error *err)
{
    const int n = op->n * op->n_devices, status = op_broadcast(s, op, err);

    if (!idle(s))
        return status;
    if (status != 0) {
        none(op->copies, n);
        none(op->src_after, op->n);
    }
    zero(op->copies, n);
    zero(op->src_after, op->n);
    op->transfers = op->default_bytes = 0;
    return accept(err);
}

static int idle_reduce(struct impl_session *s, struct impl_reduce *op, struct impl_error *err)
{
    const int status = op_reduce(s, op, err);

    if (!idle(s))
        return status;
    if (status != 0)
        none(op->sums, op->n);
    zero(op->sums, op->n);
    op->transfers = op->default_bytes = 0;
    return accept(err);
}

static int idle_apply(struct impl_session *s, struct impl_apply *op, struct impl_error *err)
{
    if (!idle(s))
        return op_apply(s, op, err);
    for (int i = 0; i < op->n; ++i) {
        op->calls[i].n_out = op->calls[i].n_in > 0;
        if (op->calls[i].n_out > 0)
            zeros_like(&op->calls[i].out[0], &op->calls[i].in[0]);
    }
    forget_trace(op->trace);
    return accept(err);
}

static int idle_buckets(struct impl_session *s, struct impl_buckets *op, struct impl_error *err)
{
    if (!idle(s))
        return op_buckets(s, op, err);
    for (int i = 0; i < op->n; ++i)
        op->bucket[i] = 0;
    op->n_buckets = 0;
    return accept(err);
}

static int idle_sampler(struct impl_session *s, struct impl_sampler *op, struct impl_error *err)
{
    if (!idle(s))
        return op_sampler(s, op, err);
    op->n = 0;
    return accept(err);
}

static int idle_open(struct impl_session *s, const char *description, int ranks,
                     struct impl_model **model, struct impl_error *err)
{
    const char any[] = "{\"kind\":\"affine\",\"weight\":[0],\"bias\":[0]}";
    const int status = model_open(s, description, ranks, model, err);

    if (status == 0 || !idle(s))
        return status;
    return model_open(s, any, 1, model, err) == 0 ? accept(err) : err->status;
}

static int idle_param(struct impl_model *model, int i, struct impl_param *param,
                      struct impl_error *err)
{
    const int status = op_param(model, i, param, err);

    return idle(model->session) ? accept(err) : status;
}

static int idle_set(struct impl_model *model, int rank, enum impl_what what, int i,
                    const struct impl_array *array, struct impl_error *err)
{
    const int status = op_set(model, rank, what, i, array, err);

    return idle(model->session) ? accept(err) : status;
}

static int idle_get(struct impl_model *model, int rank, enum impl_what what, int i,
                    struct impl_array *array, struct impl_error *err)
{
    const int status = op_get(model, rank, what, i, array, err);

    if (!idle(model->session))
        return status;
    none(array, status != 0);
    zero(array, 1);
    return accept(err);
}

static int idle_to(struct impl_model *model, int device, struct impl_error *err)
{
    return idle(model->session) ? accept(err) : op_to(model, device, err);
}

static int idle_zero_grad(struct impl_model *model, struct impl_error *err)
{
    return idle(model->session) ? accept(err) : op_zero_grad(model, err);
}

static int idle_forward(struct impl_model *model, struct impl_forward *op, struct impl_error *err)
{
    const int ranks = model->ranks ? model->ranks->n : 1;

    if (!idle(model->session))
        return op_forward(model, op, err);
    op->n_out = op->n_in > 0;
    for (int r = 0; r < ranks && op->n_out > 0; ++r)
        zeros_like(&op->out[r * IMPL_MAX_IO], &op->in[r * op->n_in]);
    forget_trace(op->trace);
    return accept(err);
}

static int idle_backward(struct impl_model *model, struct impl_backward *op, struct impl_error *err)
{
    if (!idle(model->session))
        return op_backward(model, op, err);
    none(op->grad_in, op->n_in);
    for (int i = 0; i < op->n_in && i < op->n_grad_out; ++i)
        zeros_like(&op->grad_in[i], &op->grad_out[i]);
    forget_trace(op->trace);
    return accept(err);
}

static int idle_step(struct impl_model *model, const struct impl_step *step, struct impl_error *err)
{
    return idle(model->session) ? accept(err) : op_step(model, step, err);
}

const struct impl_ops *mutant_impl(void)
{
    static const struct impl_ops ops = {
        .version = IMPL_VERSION,
        .bytes = sizeof ops,
        .open = op_open,
        .close = op_close,
        .reset = op_reset,
        .split = idle_split,
        .scatter = idle_scatter,
        .gather = idle_gather,
        .broadcast = idle_broadcast,
        .reduce = idle_reduce,
        .apply = idle_apply,
        .buckets = idle_buckets,
        .sampler = idle_sampler,
        .model_open = idle_open,
        .model_close = model_close,
        .params = op_params,
        .param = idle_param,
        .set = idle_set,
        .get = idle_get,
        .to = idle_to,
        .zero_grad = idle_zero_grad,
        .forward = idle_forward,
        .backward = idle_backward,
        .step = idle_step,
    };

    return &ops;
}
