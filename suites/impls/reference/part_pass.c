/* part_pass.c: forward and backward of a model whose ranks are in several processes. The inputs
 * of the ranks of this process are taken from those of all, and the results are put into their
 * places. */
#include "part_inside.h"

#include <stdio.h>
#include <string.h>

bool part_is_elsewhere(const struct impl_model *model)
{
    return !model->session->group;
}

void part_shift_device(const struct impl_model *model, int *device)
{
    if (model->ddp && *device >= 0)
        *device += dp_group_first(model->session->group);
}

/* Processes share no memory, so an array on the device of another process cannot be read. */
static int take_arrays(const struct impl_model *model, const struct impl_array from[], int n_each,
                       struct impl_array to[], struct impl_error *err)
{
    const struct dp_group *group = model->session->group;
    const int first = dp_group_first(group), size = dp_group_size(group);
    /* Other values are refused later. */
    const int n = n_each < 0 || n_each > IMPL_MAX_IO ? 0 : size * n_each;

    for (int i = 0; i < n; ++i) {
        to[i] = from[first * n_each + i];
        if (to[i].dtype == IMPL_NONE || to[i].device < 0)
            continue;
        to[i].device -= first;
        if (to[i].device < 0 || to[i].device >= size)
            return impl_fail(err, IMPL_EDEVICE,
                             "a tensor of rank %d is on device %d, which is of "
                             "another process",
                             first + i / n_each, from[first * n_each + i].device);
    }
    return IMPL_OK;
}

static void shift_arrays(const struct impl_model *model, struct impl_array arrays[], int n)
{
    for (int i = 0; i < n; ++i)
        if (arrays[i].dtype != IMPL_NONE)
            part_shift_device(model, &arrays[i].device);
}

/* Threads of different processes may have the same number, so the numbers are changed. */
static void shift_trace(const struct impl_model *model, struct impl_trace *trace)
{
    const uint64_t first = (uint64_t)dp_group_first(model->session->group);

    for (int i = 0; trace && i < trace->replicas; ++i) {
        part_shift_device(model, &trace->replica[i].device);
        trace->replica[i].thread += first << 48;
    }
    if (trace)
        trace->caller += first << 48;
}

static int shift_error(const struct impl_model *model, int status, struct impl_error *err)
{
    const int first = dp_group_first(model->session->group);
    char text[sizeof err->text];

    if (status == IMPL_OK)
        return status;
    part_shift_device(model, &err->device);
    part_shift_device(model, &err->device_also);
    if (err->replica < 0)
        return status;
    /* The text has the numbers of this process. */
    memcpy(text, err->text, sizeof text);
    snprintf(err->text, sizeof err->text, "ranks from %d on: %.220s", first, text);
    err->replica += first;
    return status;
}

int part_forward(struct impl_model *model, struct impl_forward *op, struct impl_error *err)
{
    if (part_is_elsewhere(model))
        return IMPL_OK;
    if (!model->ddp)
        return reference_forward(model, op, err);

    const struct dp_group *group = model->session->group;
    const int first = dp_group_first(group);
    struct impl_forward here = *op;
    int status = take_arrays(model, op->in, op->n_in, model->arrays, err);

    if (status != IMPL_OK)
        return part_done(model, status);
    here.in = model->arrays;
    here.out = op->out + (size_t)first * IMPL_MAX_IO;
    here.active = op->active ? op->active + first : NULL;
    status = reference_forward(model, &here, err);
    op->n_out = here.n_out;
    shift_arrays(model, here.out, dp_group_size(group) * IMPL_MAX_IO);
    shift_trace(model, op->trace);
    return part_done(model, shift_error(model, status, err));
}

int part_backward(struct impl_model *model, struct impl_backward *op, struct impl_error *err)
{
    if (part_is_elsewhere(model))
        return IMPL_OK;
    if (!model->ddp)
        return reference_backward(model, op, err);

    const struct dp_group *group = model->session->group;
    const int first = dp_group_first(group), world = dp_group_world(group);
    const int each = op->n_in / world;
    struct impl_backward here = *op;
    int status = take_arrays(model, op->grad_out, op->n_grad_out, model->arrays, err);

    if (status != IMPL_OK)
        return part_done(model, status);
    if (op->n_in < 0 || op->n_in != each * world || each > IMPL_MAX_IO)
        return impl_fail(err, IMPL_EINVAL, "%d inputs of %d ranks", op->n_in, world);
    here.grad_out = model->arrays;
    here.grad_in = op->grad_in + (size_t)first * (size_t)each;
    here.n_in = each * dp_group_size(group);
    status = reference_backward(model, &here, err);
    shift_arrays(model, here.grad_in, here.n_in);
    shift_trace(model, op->trace);
    return part_done(model, shift_error(model, status, err));
}
