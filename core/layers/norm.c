/* norm.c: batch normalisation per channel, and layer normalisation over the last dimension.
 *
 * The running values of a batch norm are buffers. Replica 0 shares those of the base, so only its
 * rows change them. For a layer norm each index of the other dimensions is a separate row, so rows
 * and shards share nothing. */
#include "layer.h"

#include <stdlib.h>

struct norm {
    size_t size; /* channels, or the width of a row */
    double eps;
    struct dp_param *weight, *bias;
    /* These are of a batch norm. */
    double momentum;
    struct dp_param *mean, *var, *count;
};

struct saved {
    struct dp_tensor x;
    void *mean, *invstd;
    bool training;
};

/* Makes the output, and the memory for n means and inverse deviations. */
static int norm_memory(struct dp_run *run, struct saved *s, size_t n, struct dp_tensor *y,
                       struct dp_error *err)
{
    int status = dp_run_tensor(run, s->x.slot, DP_F32, s->x.ndim, s->x.dim, y, err);
    if (status == 0)
        status = dp_run_memory(run, s->x.slot, n * sizeof(float), &s->mean, err);
    return status ? status : dp_run_memory(run, s->x.slot, n * sizeof(float), &s->invstd, err);
}

static bool norm_needs_grad(const struct norm *l, const struct dp_run *run,
                            const struct dp_tensor *x)
{
    return run->grad && (x->needs_grad || !l->weight->frozen || !l->bias->frozen);
}

/* Adds weight and bias. Parameters are on the host when they are created. */
static int norm_affine(struct dp_module *m, struct norm *l, struct dp_error *err)
{
    int status = dp_module_add_param(m, "weight", DP_F32, 1, &l->size, &l->weight, err);
    if (status == 0)
        status = dp_module_add_param(m, "bias", DP_F32, 1, &l->size, &l->bias, err);
    if (status)
        return status;
    l->weight->init_bound = l->bias->init_bound = -1.0f;
    for (size_t i = 0; i < l->size; ++i)
        ((float *)l->weight->value.data)[i] = 1.0f;
    return 0;
}

/* ---- batch norm -------------------------------------------------------------------------- */

static int batch_check(const struct norm *l, struct dp_run *run, const struct dp_tensor in[],
                       int n_in, struct dp_error *err)
{
    char shape[DP_SHAPE_TEXT];
    const struct dp_tensor *x = &in[0];
    const int status = dp_check_inputs("batch_norm", in, n_in, 1, 1, err);
    if (status)
        return status;
    if (x->dtype != DP_F32 || x->ndim < 2 || x->dim[1] != l->size)
        return dp_fail(err, DP_ESHAPE, "batch_norm(%zu) got an input of shape %s", l->size,
                       dp_shape_text(x, shape));
    const size_t values = dp_tensor_count(x) / l->size;
    if (run->train && values < 2)
        return dp_fail(err, DP_EINVAL,
                       "batch_norm(%zu) in training got %zu value%s per channel, an input of shape "
                       "%s: at least 2",
                       l->size, values, values == 1 ? "" : "s", dp_shape_text(x, shape));
    return dp_same_slot("the input", x, "the weight", dp_run_value(run, l->weight), err);
}

static struct dp_batch_norm_args batch_args(const struct norm *l, struct dp_run *run,
                                            const struct saved *s)
{
    size_t inner = 1;
    for (int d = 2; d < s->x.ndim; ++d)
        inner *= s->x.dim[d];
    return (struct dp_batch_norm_args){.x = s->x.data,
                                       .weight = dp_run_value(run, l->weight)->data,
                                       .bias = dp_run_value(run, l->bias)->data,
                                       .running_mean = dp_run_value(run, l->mean)->data,
                                       .running_var = dp_run_value(run, l->var)->data,
                                       .count = dp_run_value(run, l->count)->data,
                                       .mean = s->mean,
                                       .invstd = s->invstd,
                                       .eps = l->eps,
                                       .momentum = l->momentum,
                                       .rows = s->x.dim[0],
                                       .channels = l->size,
                                       .inner = inner,
                                       .training = s->training};
}

static int batch_forward(struct dp_module *module, struct dp_run *run, const struct dp_tensor in[],
                         int n_in, struct dp_tensor out[], int *n_out, struct dp_error *err)
{
    const struct norm *l = dp_module_self(module);
    struct saved s = {.training = run->train};
    struct dp_tensor y;
    int status = batch_check(l, run, in, n_in, err);
    if (status)
        return status;
    s.x = in[0];
    status = norm_memory(run, &s, l->size, &y, err);
    if (status)
        return status;
    struct dp_batch_norm_args args = batch_args(l, run, &s);
    args.y = y.data;
    status =
        dp_launch(&y.slot->compute, s.training ? DP_KERNEL_BATCH_NORM : DP_KERNEL_BATCH_NORM_EVAL,
                  &args, sizeof args, err);
    if (status)
        return status;
    y.needs_grad = norm_needs_grad(l, run, &s.x);
    return dp_layer_output(module, run, &y, &s, sizeof s, out, n_out, err);
}

static int batch_backward(struct dp_module *module, struct dp_run *run,
                          const struct dp_tensor grad_out[], int n_out, struct dp_tensor grad_in[],
                          int n_in, struct dp_error *err)
{
    const struct norm *l = dp_module_self(module);
    struct saved s;
    (void)n_out, (void)n_in;
    int status = dp_run_restore(run, module, &s, sizeof s, err);
    if (status || !grad_out[0].slot)
        return status;
    struct dp_batch_norm_args args = batch_args(l, run, &s);
    status = dp_layer_input_grad(run, &s.x, &grad_in[0], err);
    if (status)
        return status;
    args.y = grad_in[0].data;
    args.dy = grad_out[0].data;
    args.dweight = dp_layer_param_grad(run, l->weight, &args.accumulate_weight);
    args.dbias = dp_layer_param_grad(run, l->bias, &args.accumulate_bias);
    return dp_launch(&s.x.slot->compute, DP_KERNEL_BATCH_NORM_GRAD, &args, sizeof args, err);
}

static const struct dp_module_ops batch_ops = {"batch_norm", batch_forward, batch_backward, free};

static int batch_params(struct dp_module *m, void *self, struct dp_error *err)
{
    struct norm *l = self;
    int status = norm_affine(m, l, err);
    if (status == 0)
        status = dp_module_add_param(m, "running_mean", DP_F32, 1, &l->size, &l->mean, err);
    if (status == 0)
        status = dp_module_add_param(m, "running_var", DP_F32, 1, &l->size, &l->var, err);
    if (status == 0)
        status = dp_module_add_param(m, "num_batches_tracked", DP_I64, 0, NULL, &l->count, err);
    if (status)
        return status;
    l->mean->buffer = l->var->buffer = l->count->buffer = true;
    for (size_t i = 0; i < l->size; ++i)
        ((float *)l->var->value.data)[i] = 1.0f;
    return 0;
}

int dp_batch_norm(struct dp_group *group, size_t channels, double eps, double momentum,
                  struct dp_module **module, struct dp_error *err)
{
    const struct norm l = {.size = channels, .eps = eps, .momentum = momentum};
    if (channels < 1 || !(eps >= 0.0) || !(momentum >= 0.0 && momentum <= 1.0))
        return dp_fail(err, DP_EINVAL,
                       "batch_norm(%zu, eps %g, momentum %g): at least 1 channel, eps at least 0, "
                       "momentum 0 to 1",
                       channels, eps, momentum);
    return dp_layer_open(group, &batch_ops, &l, sizeof l, batch_params, module, err);
}

/* ---- layer norm -------------------------------------------------------------------------- */

static struct dp_layer_norm_args row_args(const struct norm *l, struct dp_run *run,
                                          const struct saved *s)
{
    return (struct dp_layer_norm_args){.x = s->x.data,
                                       .weight = dp_run_value(run, l->weight)->data,
                                       .bias = dp_run_value(run, l->bias)->data,
                                       .mean = s->mean,
                                       .invstd = s->invstd,
                                       .eps = l->eps,
                                       .rows = dp_tensor_count(&s->x) / l->size,
                                       .width = l->size};
}

static int row_forward(struct dp_module *module, struct dp_run *run, const struct dp_tensor in[],
                       int n_in, struct dp_tensor out[], int *n_out, struct dp_error *err)
{
    const struct norm *l = dp_module_self(module);
    char shape[DP_SHAPE_TEXT];
    struct saved s = {.mean = NULL};
    struct dp_tensor y;
    int status = dp_check_inputs("layer_norm", in, n_in, 1, 1, err);
    if (status)
        return status;
    s.x = in[0];
    if (s.x.dtype != DP_F32 || s.x.ndim < 2 || s.x.dim[s.x.ndim - 1] != l->size)
        return dp_fail(err, DP_ESHAPE, "layer_norm(%zu) got an input of shape %s", l->size,
                       dp_shape_text(&s.x, shape));
    status = dp_same_slot("the input", &s.x, "the weight", dp_run_value(run, l->weight), err);
    if (status == 0)
        status = norm_memory(run, &s, dp_tensor_count(&s.x) / l->size, &y, err);
    if (status)
        return status;
    struct dp_layer_norm_args args = row_args(l, run, &s);
    args.y = y.data;
    status = dp_launch(&y.slot->compute, DP_KERNEL_LAYER_NORM, &args, sizeof args, err);
    if (status)
        return status;
    y.needs_grad = norm_needs_grad(l, run, &s.x);
    return dp_layer_output(module, run, &y, &s, sizeof s, out, n_out, err);
}

static int row_backward(struct dp_module *module, struct dp_run *run,
                        const struct dp_tensor grad_out[], int n_out, struct dp_tensor grad_in[],
                        int n_in, struct dp_error *err)
{
    const struct norm *l = dp_module_self(module);
    struct saved s;
    (void)n_out, (void)n_in;
    int status = dp_run_restore(run, module, &s, sizeof s, err);
    if (status || !grad_out[0].slot)
        return status;
    struct dp_layer_norm_args args = row_args(l, run, &s);
    status = dp_layer_input_grad(run, &s.x, &grad_in[0], err);
    if (status)
        return status;
    args.y = grad_in[0].data;
    args.dy = grad_out[0].data;
    args.dweight = dp_layer_param_grad(run, l->weight, &args.accumulate_weight);
    args.dbias = dp_layer_param_grad(run, l->bias, &args.accumulate_bias);
    return dp_launch(&s.x.slot->compute, DP_KERNEL_LAYER_NORM_GRAD, &args, sizeof args, err);
}

static const struct dp_module_ops row_ops = {"layer_norm", row_forward, row_backward, free};

static int row_params(struct dp_module *m, void *self, struct dp_error *err)
{
    return norm_affine(m, self, err);
}

int dp_layer_norm(struct dp_group *group, size_t width, double eps, struct dp_module **module,
                  struct dp_error *err)
{
    const struct norm l = {.size = width, .eps = eps};
    if (width < 1 || !(eps >= 0.0))
        return dp_fail(err, DP_EINVAL,
                       "layer_norm(%zu, eps %g): a width of at least 1, eps at least 0", width,
                       eps);
    return dp_layer_open(group, &row_ops, &l, sizeof l, row_params, module, err);
}
