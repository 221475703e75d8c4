/* ranks.c: models of several ranks: rank r is on device r, and core's DistributedDataParallel runs
 * them. */
#include "reference.h"

#include <string.h>

int ranks_open(struct impl_model *model, int ranks, struct dp_error *err)
{
    struct dp_group *group = model->session->group;
    const struct dp_ddp_config config = {.find_unused = model->description->find_unused};
    struct dp_slot *slot[DP_MAX_SLOTS];
    int status;

    if (ranks < 1 || ranks > dp_group_size(group))
        return dp_fail(err, DP_ENODEV, "%d ranks: each needs a device, there are %d", ranks,
                       dp_group_size(group));
    for (int r = 0; r < ranks; ++r)
        slot[r] = dp_group_slot(group, r);
    status = dp_module_to(model->root, slot[0], err);
    return status != 0 ? status : dp_ddp_open(model->root, slot, ranks, &config, &model->ddp, err);
}

int ranks_set(struct impl_model *model, int rank, enum impl_what what, int i,
              const struct impl_array *array, struct dp_error *err)
{
    struct dp_ddp_param param;
    int status = dp_ddp_param(model->ddp, rank, i, &param, err);

    if (status != 0)
        return status;
    if (what == IMPL_GRAD && array->dtype == IMPL_NONE) {
        *param.has_grad = false;
        return 0;
    }
    if (what == IMPL_VALUE)
        return value_put(&param.value, array, err);
    status = check_fits(array, &param.value, err);
    if (status == 0)
        status = dp_tensor_write(&param.grad, array->data, err);
    if (status == 0)
        *param.has_grad = true;
    return status;
}

int ranks_get(struct impl_model *model, int rank, enum impl_what what, int i,
              struct impl_array *array, struct dp_error *err)
{
    const struct dp_tensor none = {0};
    struct dp_ddp_param param;
    const int status = dp_ddp_param(model->ddp, rank, i, &param, err);

    if (status != 0)
        return status;
    if (what == IMPL_VALUE)
        return value_get(&param.value, array, err);
    return tensor_get(*param.has_grad ? &param.grad : &none, array, err);
}

/* ---- forward --------------------------------------------------------------------------------- */

static bool takes_part(const struct impl_forward *op, int rank)
{
    return !op->active || op->active[rank];
}

static int put_inputs(struct impl_model *model, const struct impl_forward *op,
                      struct dp_tensor in[], struct dp_error *err)
{
    const int ranks = dp_ddp_ranks(model->ddp);
    int status = 0;

    if (op->n_in < 0 || op->n_in > IMPL_MAX_IO)
        return dp_fail(err, DP_EINVAL, "%d tensors: 0 to %d", op->n_in, IMPL_MAX_IO);
    for (int i = 0; status == 0 && i < ranks * op->n_in; ++i)
        if (takes_part(op, i / op->n_in))
            status = tensor_put(model->session->group, &op->in[i], &model->kept, &in[i], err);
    return status;
}

int ranks_forward(struct impl_model *model, struct impl_forward *op, struct dp_error *err)
{
    const int ranks = dp_ddp_ranks(model->ddp);
    struct dp_tensor *out = memset(model->out, 0, sizeof model->out);
    int status = put_inputs(model, op, memset(model->in, 0, sizeof model->in), err);

    if (status != 0)
        return status;
    dp_ddp_grad_mode(model->ddp, op->grad);
    dp_ddp_train_mode(model->ddp, op->train);
    dp_ddp_no_sync(model->ddp, op->no_sync);
    trace_begin(model->session, op->trace);
    model->world.trace = op->trace;
    status = dp_ddp_forward(model->ddp, model->in, op->n_in, op->active, out, &op->n_out, err);
    model->world.trace = NULL;
    trace_end(model->session, op->trace);
    if (status == 0 && op->grad && op->n_out > 0)
        ++model->pending;
    for (int r = 0; status == 0 && r < ranks; ++r)
        for (int k = 0; status == 0 && takes_part(op, r) && k < op->n_out; ++k)
            status = tensor_get(&out[r * DP_MAX_IO + k], &op->out[r * IMPL_MAX_IO + k], err);
    return status;
}

/* ---- backward -------------------------------------------------------------------------------- */

/* A gradient in plain memory is moved to its rank. */
static int put_gradients(struct impl_model *model, const struct impl_backward *op,
                         struct tensors *made, struct dp_tensor grad_out[], struct dp_error *err)
{
    const int ranks = dp_ddp_ranks(model->ddp);
    int status = 0;

    if (op->n_grad_out < 0 || op->n_grad_out > IMPL_MAX_IO)
        return dp_fail(err, DP_EINVAL, "%d tensors: 0 to %d", op->n_grad_out, IMPL_MAX_IO);
    for (int i = 0; status == 0 && i < ranks * op->n_grad_out; ++i) {
        struct impl_array array = op->grad_out[i];

        if (array.device == IMPL_HOST)
            array.device = i / op->n_grad_out;
        status = tensor_put(model->session->group, &array, made, &grad_out[i], err);
    }
    return status;
}

/* A bucket has no time if this backward did not reduce it. */
static int trace_buckets(const struct dp_ddp *ddp, struct impl_trace *trace, struct dp_error *err)
{
    const int n = dp_ddp_buckets(ddp);
    int status = 0;

    for (int b = 0; status == 0 && b < n && b < IMPL_MAX_BUCKETS; ++b) {
        struct dp_ddp_bucket bucket;

        status = dp_ddp_bucket(ddp, 0, b, &bucket, err);
        if (status == 0 && bucket.launch_ns != 0)
            trace->bucket[trace->buckets++] = (struct impl_bucket){bucket.bytes, bucket.launch_ns};
    }
    return status;
}

int ranks_backward(struct impl_model *model, struct impl_backward *op, struct tensors *made,
                   struct dp_error *err)
{
    const int ranks = dp_ddp_ranks(model->ddp);
    struct dp_tensor *grad_out = memset(model->out, 0, sizeof model->out);
    struct dp_tensor *grad_in = memset(model->in, 0, sizeof model->in);
    int status = put_gradients(model, op, made, grad_out, err);

    if (status == 0 && (op->n_in < 0 || op->n_in > ranks * IMPL_MAX_IO || op->n_in % ranks != 0))
        status = dp_fail(err, DP_EINVAL, "%d inputs of %d ranks", op->n_in, ranks);
    trace_begin(model->session, op->trace);
    model->world.trace = op->trace;
    if (status == 0)
        status =
            dp_ddp_backward(model->ddp, grad_out, op->n_grad_out, grad_in, op->n_in / ranks, err);
    model->world.trace = NULL;
    trace_end(model->session, op->trace);
    if (status == 0 && op->trace)
        status = trace_buckets(model->ddp, op->trace, err);
    model->failed = status != 0;
    if (status == 0)
        --model->pending;
    for (int k = 0; status == 0 && k < op->n_in; ++k)
        status = tensor_get(&grad_in[k], &op->grad_in[k], err);
    return status;
}
