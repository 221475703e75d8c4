/* forward.c: forward and backward of a model.
 *
 * Several forwards may come before their backwards, which then come in reverse order. So a run is
 * reset, and the data of the forwards are freed, only when no forward waits for its backward. */
#include "reference.h"

#include <stdlib.h>
#include <string.h>

void model_drop(struct impl_model *model)
{
    dp_run_reset(model->run);
    if (model->ddp)
        dp_ddp_reset(model->ddp);
    world_close_calls(&model->world);
    tensors_free(&model->kept);
    model->pending = 0;
    model->failed = false;
}

/* ---- arguments ------------------------------------------------------------------------------- */

static int keep_argument(const struct impl_array *from, struct argument *to, struct dp_error *err)
{
    *to = (struct argument){NULL, 0};
    if (from->dtype != IMPL_F32 || from->ndim != 1)
        return 0;
    to->value = malloc((from->dim[0] + 1) * sizeof *to->value);
    if (!to->value)
        return dp_fail(err, DP_ENOMEM, "no memory for an argument");
    to->n = from->dim[0];
    if (to->n > 0)
        memcpy(to->value, from->data, to->n * sizeof *to->value);
    return 0;
}

/* Keeps one copy in host memory, the same for all replicas. core passes arguments that are no
 * tensors in a module's own data, which the replicas share. So they are whole and one because all
 * replicas share core's tree; and they need no devices because core counts the replicas. */
static int keep_arguments(struct world *world, const struct impl_forward *op, struct dp_error *err)
{
    int status = 0;

    for (int i = 0; i < world->n_arguments; ++i)
        free(world->argument[i].value);
    free(world->argument);
    world->n_arguments = 0;
    world->argument = NULL;
    if (op->n_args <= 0)
        return 0;
    world->argument = calloc((size_t)op->n_args, sizeof *world->argument);
    if (!world->argument)
        return dp_fail(err, DP_ENOMEM, "no memory for arguments");
    world->n_arguments = op->n_args;
    for (int i = 0; status == 0 && i < op->n_args; ++i)
        status = keep_argument(&op->args[i], &world->argument[i], err);
    return status;
}

/* ---- forward --------------------------------------------------------------------------------- */

static int put_all(struct impl_model *model, const struct impl_array arrays[], int n,
                   struct tensors *list, struct dp_tensor tensors[], struct dp_error *err)
{
    int status = 0;

    if (n < 0 || n > IMPL_MAX_IO)
        return dp_fail(err, DP_EINVAL, "%d tensors: 0 to %d", n, IMPL_MAX_IO);
    for (int i = 0; status == 0 && i < n; ++i)
        status = tensor_put(model->session->group, &arrays[i], list, &tensors[i], err);
    return status;
}

static int forward_forward(struct impl_model *model, struct impl_forward *op, struct dp_error *err)
{
    struct dp_tensor in[IMPL_MAX_IO], out[DP_MAX_IO];
    int n_out = 0, status;

    if (model->pending == 0 || model->failed)
        model_drop(model);
    if (model->ddp)
        return ranks_forward(model, op, err);
    status = put_all(model, op->in, op->n_in, &model->kept, in, err);
    if (status == 0)
        status = keep_arguments(&model->world, op, err);
    if (status != 0)
        return status;
    struct outputs *room =
        list_room(model->outputs, model->pending, &model->capacity, sizeof *room, err);
    if (!room)
        return DP_ENOMEM;
    model->outputs = room;
    dp_run_grad_mode(model->run, op->grad);
    dp_run_train_mode(model->run, op->train);
    trace_begin(model->session, op->trace);
    model->world.trace = op->trace;
    status = dp_forward(model->root, model->run, in, op->n_in, out, &n_out, err);
    model->world.trace = NULL;
    trace_end(model->session, op->trace);
    if (status != 0)
        return status;
    if (op->grad) {
        struct outputs *outputs = &model->outputs[model->pending++];

        outputs->n = n_out;
        for (int k = 0; k < n_out; ++k)
            outputs->device[k] = device_of(out[k].slot);
    }
    op->n_out = n_out;
    for (int k = 0; status == 0 && k < n_out; ++k)
        status = tensor_get(&out[k], &op->out[k], err);
    return status;
}

static int ended(struct impl_model *model, int status, struct dp_error *error,
                 struct impl_error *err)
{
    struct dp_group *group = model->session->group;
    const int waited = dp_group_wait(group, error);

    return error_of(group, status != 0 ? status : waited, error, err);
}

int reference_forward(struct impl_model *model, struct impl_forward *op, struct impl_error *err)
{
    struct dp_error error = {0};

    return ended(model, forward_forward(model, op, &error), &error, err);
}

/* ---- backward -------------------------------------------------------------------------------- */

static int forward_backward(struct impl_model *model, struct impl_backward *op,
                            struct tensors *made, struct dp_error *err)
{
    struct dp_tensor grad_out[IMPL_MAX_IO], grad_in[IMPL_MAX_IO];
    int status;

    if (model->ddp)
        return ranks_backward(model, op, made, err);
    /* A gradient that lies on the host is moved to the device of its output, because the caller of
     * an implementation has it in plain memory. A gradient on a device stays there, right or
     * wrong. */
    const struct outputs *outputs = model->pending > 0 ? &model->outputs[model->pending - 1] : NULL;
    struct impl_array arrays[IMPL_MAX_IO];

    for (int k = 0; k < op->n_grad_out && k < IMPL_MAX_IO; ++k) {
        arrays[k] = op->grad_out[k];
        if (arrays[k].device == IMPL_HOST && outputs && k < outputs->n)
            arrays[k].device = outputs->device[k];
    }
    status = put_all(model, arrays, op->n_grad_out, made, grad_out, err);
    if (status == 0 && (op->n_in < 0 || op->n_in > IMPL_MAX_IO))
        status = dp_fail(err, DP_EINVAL, "%d inputs: 0 to %d", op->n_in, IMPL_MAX_IO);
    if (status != 0)
        return status;
    trace_begin(model->session, op->trace);
    model->world.trace = op->trace;
    status = dp_backward(model->root, model->run, grad_out, op->n_grad_out, grad_in, op->n_in, err);
    model->world.trace = NULL;
    trace_end(model->session, op->trace);
    model->failed = status != 0;
    if (status != 0)
        return status;
    if (model->pending > 0)
        --model->pending;
    for (int k = 0; status == 0 && k < op->n_in; ++k)
        status = tensor_get(&grad_in[k], &op->grad_in[k], err);
    return status;
}

int reference_backward(struct impl_model *model, struct impl_backward *op, struct impl_error *err)
{
    struct dp_error error = {0};
    struct tensors made = {0};
    const int status = ended(model, forward_backward(model, op, &made, &error), &error, err);

    tensors_free(&made);
    return status;
}
