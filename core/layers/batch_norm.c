/* batch_norm.c: batch normalisation per channel. The running values are buffers. Replica 0 shares
 * those of the base, so only its rows change them. */
#include "../module.h"
#include "layer.h"

#include <stdlib.h>

struct norm {
    size_t channels;
    double eps, momentum;
    struct dp_param *weight, *bias, *mean, *var, *count;
};

struct saved {
    struct dp_tensor x;
    void *mean, *invstd;
    bool training;
};

static int check(const struct norm *l, struct dp_run *run, const struct dp_tensor in[], int n_in,
                 struct dp_error *err)
{
    char shape[DP_SHAPE_TEXT];
    const struct dp_tensor *x = &in[0];
    const int status = dp_check_inputs("batch_norm", in, n_in, 1, 1, err);
    if (status)
        return status;
    if (x->dtype != DP_F32 || x->ndim < 2 || x->dim[1] != l->channels)
        return dp_fail(err, DP_ESHAPE, "batch_norm(%zu) got an input of shape %s", l->channels,
                       dp_shape_text(x, shape));
    const size_t values = dp_tensor_count(x) / l->channels;
    if (run->train && values < 2)
        return dp_fail(err, DP_EINVAL,
                       "batch_norm(%zu) in training got %zu value%s per channel, an input of shape "
                       "%s: at least 2",
                       l->channels, values, values == 1 ? "" : "s", dp_shape_text(x, shape));
    return dp_same_slot("the input", x, "the weight", dp_run_value(run, l->weight), err);
}

static struct dp_batch_norm_args arguments(const struct norm *l, struct dp_run *run,
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
                                       .channels = l->channels,
                                       .inner = inner,
                                       .training = s->training};
}

static int norm_forward(struct dp_module *module, struct dp_run *run, const struct dp_tensor in[],
                        int n_in, struct dp_tensor out[], int *n_out, struct dp_error *err)
{
    const struct norm *l = dp_module_self(module);
    const size_t bytes = l->channels * sizeof(float);
    struct saved s = {.training = run->train};
    struct dp_tensor y;
    int status = check(l, run, in, n_in, err);
    if (status)
        return status;
    s.x = in[0];
    status = dp_run_tensor(run, in[0].slot, DP_F32, in[0].ndim, in[0].dim, &y, err);
    if (status == 0)
        status = dp_run_memory(run, in[0].slot, bytes, &s.mean, err);
    if (status == 0)
        status = dp_run_memory(run, in[0].slot, bytes, &s.invstd, err);
    if (status)
        return status;
    struct dp_batch_norm_args args = arguments(l, run, &s);
    args.y = y.data;
    status =
        dp_launch(&y.slot->compute, s.training ? DP_KERNEL_BATCH_NORM : DP_KERNEL_BATCH_NORM_EVAL,
                  &args, sizeof args, err);
    if (status)
        return status;
    y.needs_grad = run->grad && (in[0].needs_grad || !l->weight->frozen || !l->bias->frozen);
    return dp_layer_output(module, run, &y, &s, sizeof s, out, n_out, err);
}

static int norm_backward(struct dp_module *module, struct dp_run *run,
                         const struct dp_tensor grad_out[], int n_out, struct dp_tensor grad_in[],
                         int n_in, struct dp_error *err)
{
    const struct norm *l = dp_module_self(module);
    struct saved s;
    (void)n_out, (void)n_in;
    grad_in[0] = (struct dp_tensor){0};
    int status = dp_run_restore(run, module, &s, sizeof s, err);
    if (status || !grad_out[0].slot)
        return status;
    struct dp_batch_norm_args args = arguments(l, run, &s);
    status = dp_layer_input_grad(run, &s.x, &grad_in[0], err);
    if (status)
        return status;
    args.y = grad_in[0].data;
    args.dy = grad_out[0].data;
    args.dweight = dp_layer_param_grad(run, l->weight, &args.accumulate_weight);
    args.dbias = dp_layer_param_grad(run, l->bias, &args.accumulate_bias);
    return dp_launch(&s.x.slot->compute, DP_KERNEL_BATCH_NORM_GRAD, &args, sizeof args, err);
}

static const struct dp_module_ops norm_ops = {"batch_norm", norm_forward, norm_backward, free};

/* The parameters are on the host when they are created. */
static void fill(const struct dp_param *param, float value)
{
    float *values = param->value.data;
    for (size_t i = 0; i < dp_tensor_count(&param->value); ++i)
        values[i] = value;
}

static int add_params(struct dp_module *m, void *self, struct dp_error *err)
{
    struct norm *l = self;
    const size_t *c = &l->channels;
    int status = dp_module_add_param(m, "weight", DP_F32, 1, c, &l->weight, err);
    if (status == 0)
        status = dp_module_add_param(m, "bias", DP_F32, 1, c, &l->bias, err);
    if (status == 0)
        status = dp_module_add_param(m, "running_mean", DP_F32, 1, c, &l->mean, err);
    if (status == 0)
        status = dp_module_add_param(m, "running_var", DP_F32, 1, c, &l->var, err);
    if (status == 0)
        status = dp_module_add_param(m, "num_batches_tracked", DP_I64, 0, NULL, &l->count, err);
    if (status)
        return status;
    l->mean->buffer = l->var->buffer = l->count->buffer = true;
    l->weight->init_bound = l->bias->init_bound = -1.0f;
    fill(l->weight, 1.0f);
    fill(l->var, 1.0f);
    return 0;
}

int dp_batch_norm(struct dp_group *group, size_t channels, double eps, double momentum,
                  struct dp_module **module, struct dp_error *err)
{
    const struct norm l = {.channels = channels, .eps = eps, .momentum = momentum};
    if (channels < 1 || !(eps >= 0.0) || !(momentum >= 0.0 && momentum <= 1.0))
        return dp_fail(err, DP_EINVAL,
                       "batch_norm(%zu, eps %g, momentum %g): at least 1 channel, eps at least 0, "
                       "momentum 0 to 1",
                       channels, eps, momentum);
    return dp_layer_open(group, &norm_ops, &l, sizeof l, add_params, module, err);
}
