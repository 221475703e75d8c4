/* layer_norm.c: layer normalisation over the last dimension. Each index of the other dimensions is
 * a separate row, so rows and shards share nothing. */
#include "../module.h"
#include "layer.h"

#include <stdlib.h>

struct norm {
    size_t width;
    double eps;
    struct dp_param *weight, *bias;
};

struct saved {
    struct dp_tensor x;
    void *mean, *invstd;
};

static int check(const struct norm *l, struct dp_run *run, const struct dp_tensor in[], int n_in,
                 struct dp_error *err)
{
    char shape[DP_SHAPE_TEXT];
    const struct dp_tensor *x = &in[0];
    const int status = dp_check_inputs("layer_norm", in, n_in, 1, 1, err);
    if (status)
        return status;
    if (x->dtype != DP_F32 || x->ndim < 2 || x->dim[x->ndim - 1] != l->width)
        return dp_fail(err, DP_ESHAPE, "layer_norm(%zu) got an input of shape %s", l->width,
                       dp_shape_text(x, shape));
    return dp_same_slot("the input", x, "the weight", dp_run_value(run, l->weight), err);
}

static struct dp_layer_norm_args arguments(const struct norm *l, struct dp_run *run,
                                           const struct saved *s)
{
    return (struct dp_layer_norm_args){.x = s->x.data,
                                       .weight = dp_run_value(run, l->weight)->data,
                                       .bias = dp_run_value(run, l->bias)->data,
                                       .mean = s->mean,
                                       .invstd = s->invstd,
                                       .eps = l->eps,
                                       .rows = dp_tensor_count(&s->x) / l->width,
                                       .width = l->width};
}

static int norm_forward(struct dp_module *module, struct dp_run *run, const struct dp_tensor in[],
                        int n_in, struct dp_tensor out[], int *n_out, struct dp_error *err)
{
    const struct norm *l = dp_module_self(module);
    struct saved s = {.mean = NULL};
    struct dp_tensor y;
    int status = check(l, run, in, n_in, err);
    if (status)
        return status;
    s.x = in[0];
    const size_t bytes = dp_tensor_count(&s.x) / l->width * sizeof(float);
    status = dp_run_tensor(run, s.x.slot, DP_F32, s.x.ndim, s.x.dim, &y, err);
    if (status == 0)
        status = dp_run_memory(run, s.x.slot, bytes, &s.mean, err);
    if (status == 0)
        status = dp_run_memory(run, s.x.slot, bytes, &s.invstd, err);
    if (status)
        return status;
    struct dp_layer_norm_args args = arguments(l, run, &s);
    args.y = y.data;
    status = dp_launch(&y.slot->compute, DP_KERNEL_LAYER_NORM, &args, sizeof args, err);
    if (status)
        return status;
    y.needs_grad = run->grad && (s.x.needs_grad || !l->weight->frozen || !l->bias->frozen);
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
    struct dp_layer_norm_args args = arguments(l, run, &s);
    status = dp_layer_input_grad(run, &s.x, &grad_in[0], err);
    if (status)
        return status;
    args.y = grad_in[0].data;
    args.dy = grad_out[0].data;
    args.dweight = dp_layer_param_grad(run, l->weight, &args.accumulate_weight);
    args.dbias = dp_layer_param_grad(run, l->bias, &args.accumulate_bias);
    return dp_launch(&s.x.slot->compute, DP_KERNEL_LAYER_NORM_GRAD, &args, sizeof args, err);
}

static const struct dp_module_ops norm_ops = {"layer_norm", norm_forward, norm_backward, free};

static int add_params(struct dp_module *m, void *self, struct dp_error *err)
{
    struct norm *l = self;
    int status = dp_module_add_param(m, "weight", DP_F32, 1, &l->width, &l->weight, err);
    if (status == 0)
        status = dp_module_add_param(m, "bias", DP_F32, 1, &l->width, &l->bias, err);
    if (status)
        return status;
    l->weight->init_bound = l->bias->init_bound = -1.0f;
    float *ones = l->weight->value.data; /* on the host, where it is created */
    for (size_t c = 0; c < l->width; ++c)
        ones[c] = 1.0f;
    return 0;
}

int dp_layer_norm(struct dp_group *group, size_t width, double eps, struct dp_module **module,
                  struct dp_error *err)
{
    const struct norm l = {.width = width, .eps = eps};
    if (width < 1 || !(eps >= 0.0))
        return dp_fail(err, DP_EINVAL,
                       "layer_norm(%zu, eps %g): a width of at least 1, eps at "
                       "least 0",
                       width, eps);
    return dp_layer_open(group, &norm_ops, &l, sizeof l, add_params, module, err);
}
