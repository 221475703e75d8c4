/* activation.c: relu and tanh, element by element, for any shape. Both derivatives follow from the
 * output, so the output is saved. */
#include "layer.h"

#include <stdlib.h>

struct activation {
    enum dp_kernel kernel, gradient;
};

static int activation_forward(struct dp_module *module, struct dp_run *run,
                              const struct dp_tensor in[], int n_in, struct dp_tensor out[],
                              int *n_out, struct dp_error *err)
{
    const struct activation *l = dp_module_self(module);
    struct dp_tensor y;
    int status = dp_check_inputs(dp_module_kind(module), in, n_in, 1, 1, err);
    if (status)
        return status;
    if (in[0].dtype != DP_F32)
        return dp_fail(err, DP_ESHAPE, "%s takes float tensors", dp_module_kind(module));
    status = dp_run_tensor(run, in[0].slot, DP_F32, in[0].ndim, in[0].dim, &y, err);
    if (status)
        return status;
    const struct dp_activation args = {y.data, in[0].data, dp_tensor_count(&y)};
    y.needs_grad = run->grad && in[0].needs_grad;
    status = dp_launch(&y.slot->compute, l->kernel, &args, sizeof args, err);
    return status ? status : dp_layer_output(module, run, &y, &y, sizeof y, out, n_out, err);
}

static int activation_backward(struct dp_module *module, struct dp_run *run,
                               const struct dp_tensor grad_out[], int n_out,
                               struct dp_tensor grad_in[], int n_in, struct dp_error *err)
{
    const struct activation *l = dp_module_self(module);
    struct dp_tensor y;
    (void)n_out, (void)n_in;
    int status = dp_run_restore(run, module, &y, sizeof y, err);
    if (status || !grad_out[0].slot || !y.needs_grad)
        return status;
    status = dp_run_tensor(run, y.slot, DP_F32, y.ndim, y.dim, &grad_in[0], err);
    if (status)
        return status;
    const struct dp_activation_grad args = {grad_in[0].data, grad_out[0].data, y.data,
                                            dp_tensor_count(&y)};
    return dp_launch(&y.slot->compute, l->gradient, &args, sizeof args, err);
}

static const struct dp_module_ops relu_ops = {"relu", activation_forward, activation_backward,
                                              free};
static const struct dp_module_ops tanh_ops = {"tanh", activation_forward, activation_backward,
                                              free};

int dp_relu(struct dp_group *group, struct dp_module **module, struct dp_error *err)
{
    const struct activation l = {DP_KERNEL_RELU, DP_KERNEL_RELU_GRAD};
    return dp_layer_open(group, &relu_ops, &l, sizeof l, NULL, module, err);
}

int dp_tanh(struct dp_group *group, struct dp_module **module, struct dp_error *err)
{
    const struct activation l = {DP_KERNEL_TANH, DP_KERNEL_TANH_GRAD};
    return dp_layer_open(group, &tanh_ops, &l, sizeof l, NULL, module, err);
}
