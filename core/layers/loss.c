/* loss.c: losses as modules with one 0-dim output. */
#include "layer.h"

#include <stdlib.h>

struct loss {
    enum dp_loss_kind kind;
    double scale;
    bool mean;
};

struct saved {
    struct dp_tensor y, target;
    double scale;
};

/* For XENT, all dimensions but the last are rows. */
static size_t loss_rows_of(const struct dp_tensor *y)
{
    return dp_tensor_count(y) / y->dim[y->ndim - 1];
}

static bool are_classes(const struct dp_tensor *y, const struct dp_tensor *target)
{
    bool same = target->dtype == DP_I32 && target->ndim + 1 == y->ndim;
    for (int d = 0; same && d < target->ndim; ++d)
        same = target->dim[d] == y->dim[d];
    return same;
}

static int check_target(const struct loss *l, const struct dp_tensor *y,
                        const struct dp_tensor *target, struct dp_error *err)
{
    char a[DP_SHAPE_TEXT], b[DP_SHAPE_TEXT];
    const bool classes = l->kind == DP_LOSS_XENT && are_classes(y, target);
    const bool same = l->kind != DP_LOSS_XENT && dp_same_shape(y, target);
    if (!classes && !same)
        return dp_fail(err, DP_ESHAPE, "loss of an output of shape %s with a target of shape %s",
                       dp_shape_text(y, a), dp_shape_text(target, b));
    return dp_same_slot("the output", y, "the target", target, err);
}

static int loss_prepare(const struct loss *l, const struct dp_tensor in[], int n_in,
                        struct saved *saved, struct dp_error *err)
{
    const int least = l->kind == DP_LOSS_SUM ? 1 : 2;
    int status = dp_check_inputs("loss", in, n_in, least, 2, err);
    if (status)
        return status;
    const bool rows = l->kind == DP_LOSS_XENT;
    if (in[0].dtype != DP_F32 || (rows && (in[0].ndim < 2 || in[0].dim[in[0].ndim - 1] == 0)))
        return dp_fail(err, DP_ESHAPE, "loss of an output that is not a float tensor of rows");
    if (n_in == 2)
        status = check_target(l, &in[0], &in[1], err);
    if (status)
        return status;
    const size_t n = rows ? loss_rows_of(&in[0]) : dp_tensor_count(&in[0]);
    if (l->mean && n == 0)
        return dp_fail(err, DP_EINVAL, "the mean loss of no rows");
    saved->y = in[0];
    saved->target = n_in == 2 ? in[1] : (struct dp_tensor){0};
    saved->scale = l->mean ? l->scale / (double)n : l->scale;
    return 0;
}

/* XENT needs rows and columns; the others need only their product. */
static struct dp_loss_args loss_arguments(const struct loss *l, const struct saved *s)
{
    const bool rows = l->kind == DP_LOSS_XENT;
    return (struct dp_loss_args){
        .kind = l->kind,
        .scale = s->scale,
        .rows = rows ? loss_rows_of(&s->y) : 1,
        .cols = rows ? s->y.dim[s->y.ndim - 1] : dp_tensor_count(&s->y),
        .y = s->y.data,
        .target = s->target.data,
    };
}

static int loss_forward(struct dp_module *module, struct dp_run *run, const struct dp_tensor in[],
                        int n_in, struct dp_tensor out[], int *n_out, struct dp_error *err)
{
    const struct loss *l = dp_module_self(module);
    struct saved saved;
    struct dp_tensor value;
    int status = loss_prepare(l, in, n_in, &saved, err);
    if (status == 0)
        status = dp_run_tensor(run, in[0].slot, DP_F32, 0, NULL, &value, err);
    if (status)
        return status;
    value.needs_grad = run->grad && in[0].needs_grad;
    struct dp_loss_args args = loss_arguments(l, &saved);
    args.out = value.data;
    status = dp_launch(&value.slot->compute, DP_KERNEL_LOSS, &args, sizeof args, err);
    return status ? status
                  : dp_layer_output(module, run, &value, &saved, sizeof saved, out, n_out, err);
}

static int loss_backward(struct dp_module *module, struct dp_run *run,
                         const struct dp_tensor grad_out[], int n_out, struct dp_tensor grad_in[],
                         int n_in, struct dp_error *err)
{
    const struct loss *l = dp_module_self(module);
    struct saved saved;
    (void)n_out, (void)n_in;
    int status = dp_run_restore(run, module, &saved, sizeof saved, err);
    if (status || !grad_out[0].slot || !saved.y.needs_grad)
        return status;
    status = dp_run_tensor(run, saved.y.slot, DP_F32, saved.y.ndim, saved.y.dim, &grad_in[0], err);
    if (status)
        return status;
    struct dp_loss_args args = loss_arguments(l, &saved);
    args.upstream = grad_out[0].data;
    args.out = grad_in[0].data;
    return dp_launch(&saved.y.slot->compute, DP_KERNEL_LOSS_GRAD, &args, sizeof args, err);
}

static const struct dp_module_ops loss_ops = {"loss", loss_forward, loss_backward, free};

int dp_loss(struct dp_group *group, enum dp_loss_kind kind, float scale, bool mean,
            struct dp_module **module, struct dp_error *err)
{
    if (kind < DP_LOSS_SUM || kind > DP_LOSS_XENT)
        return dp_fail(err, DP_EINVAL, "unknown loss %d", (int)kind);
    const struct loss l = {.kind = kind, .scale = (double)scale, .mean = mean};
    return dp_layer_open(group, &loss_ops, &l, sizeof l, NULL, module, err);
}
