/* flatten.c: all dimensions but the first as one. Tensors are contiguous, so both ways are views.
 */
#include "../module.h"

static int flatten_forward(struct dp_module *module, struct dp_run *run,
                           const struct dp_tensor in[], int n_in, struct dp_tensor out[],
                           int *n_out, struct dp_error *err)
{
    int status = dp_check_inputs("flatten", in, n_in, 1, 1, err);
    if (status == 0 && in[0].ndim < 1)
        status = dp_fail(err, DP_ESHAPE, "flatten of a tensor without dimensions");
    if (status == 0 && run->grad)
        status = dp_run_save(run, module, &in[0], sizeof in[0], err);
    if (status)
        return status;
    out[0] = in[0];
    out[0].ndim = 2;
    out[0].dim[1] = 1;
    for (int d = 1; d < in[0].ndim; ++d)
        out[0].dim[1] *= in[0].dim[d];
    out[0].needs_grad = run->grad && in[0].needs_grad;
    *n_out = 1;
    return 0;
}

static int flatten_backward(struct dp_module *module, struct dp_run *run,
                            const struct dp_tensor grad_out[], int n_out,
                            struct dp_tensor grad_in[], int n_in, struct dp_error *err)
{
    struct dp_tensor x;
    (void)n_out, (void)n_in;
    grad_in[0] = (struct dp_tensor){0};
    const int status = dp_run_restore(run, module, &x, sizeof x, err);
    if (status || !grad_out[0].slot || !x.needs_grad)
        return status;
    x.data = grad_out[0].data;
    x.needs_grad = false;
    grad_in[0] = x;
    return 0;
}

static const struct dp_module_ops flatten_ops = {"flatten", flatten_forward, flatten_backward,
                                                 NULL};

int dp_flatten(struct dp_group *group, struct dp_module **module, struct dp_error *err)
{
    return dp_module_open(group, &flatten_ops, NULL, NULL, 0, module, err);
}
