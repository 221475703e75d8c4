/* gelu.c: the Gaussian error linear unit, in both forms. The slope is computed from the input, so
 * the input is saved. */
#include "layer.h"

#include <stdlib.h>

struct gelu {
    bool tanh_form;
};

static int gelu_forward(struct dp_module *module, struct dp_run *run, const struct dp_tensor in[],
                        int n_in, struct dp_tensor out[], int *n_out, struct dp_error *err)
{
    const struct gelu *l = dp_module_self(module);
    struct dp_tensor y;
    int status = dp_check_inputs("gelu", in, n_in, 1, 1, err);
    if (status == 0 && in[0].dtype != DP_F32)
        status = dp_fail(err, DP_ESHAPE, "gelu takes float tensors");
    if (status == 0)
        status = dp_run_tensor(run, in[0].slot, DP_F32, in[0].ndim, in[0].dim, &y, err);
    if (status)
        return status;
    const struct dp_gelu_args args = {
        .y = y.data, .x = in[0].data, .n = dp_tensor_count(&y), .tanh_form = l->tanh_form};
    status = dp_launch(&y.slot->compute, DP_KERNEL_GELU, &args, sizeof args, err);
    if (status)
        return status;
    y.needs_grad = run->grad && in[0].needs_grad;
    return dp_layer_output(module, run, &y, &in[0], sizeof in[0], out, n_out, err);
}

static int gelu_backward(struct dp_module *module, struct dp_run *run,
                         const struct dp_tensor grad_out[], int n_out, struct dp_tensor grad_in[],
                         int n_in, struct dp_error *err)
{
    const struct gelu *l = dp_module_self(module);
    struct dp_tensor x;
    (void)n_out, (void)n_in;
    int status = dp_run_restore(run, module, &x, sizeof x, err);
    if (status || !grad_out[0].slot || !x.needs_grad)
        return status;
    status = dp_run_tensor(run, x.slot, DP_F32, x.ndim, x.dim, &grad_in[0], err);
    if (status)
        return status;
    const struct dp_gelu_args args = {.y = grad_in[0].data,
                                      .x = x.data,
                                      .dy = grad_out[0].data,
                                      .n = dp_tensor_count(&x),
                                      .tanh_form = l->tanh_form};
    return dp_launch(&x.slot->compute, DP_KERNEL_GELU_GRAD, &args, sizeof args, err);
}

static const struct dp_module_ops gelu_ops = {"gelu", gelu_forward, gelu_backward, free};

int dp_gelu(struct dp_group *group, bool tanh_form, struct dp_module **module, struct dp_error *err)
{
    const struct gelu l = {tanh_form};
    return dp_layer_open(group, &gelu_ops, &l, sizeof l, NULL, module, err);
}
