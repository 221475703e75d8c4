/* residual.c: a skip connection: the input is added to the output of the child. One addition joins
 * both, in forward and backward. */
#include "layer.h"

/* dst = a + b of one shape: the mean of two with a factor of 1, which rounds only the sum. */
static int residual_add(struct dp_run *run, const struct dp_tensor *a, const struct dp_tensor *b,
                        struct dp_tensor *sum, struct dp_error *err)
{
    const int status = dp_run_tensor(run, a->slot, DP_F32, a->ndim, a->dim, sum, err);
    if (status)
        return status;
    const struct dp_mean_args args = {.n_src = 2,
                                      .scale = 1.0f,
                                      .n = dp_tensor_count(a),
                                      .dst = sum->data,
                                      .src = {a->data, b->data}};
    return dp_launch(&a->slot->compute, DP_KERNEL_MEAN, &args, sizeof args, err);
}

static int residual_check(const struct dp_tensor *x, const struct dp_tensor *y, int n,
                          struct dp_error *err)
{
    char in[DP_SHAPE_TEXT], out[DP_SHAPE_TEXT];
    bool same = n == 1 && x->dtype == DP_F32 && y->dtype == DP_F32 && x->ndim == y->ndim;
    for (int d = 0; same && d < x->ndim; ++d)
        same = x->dim[d] == y->dim[d];
    if (n != 1)
        return dp_fail(err, DP_EINVAL, "residual: its module gave %d outputs, must give 1", n);
    if (!same)
        return dp_fail(err, DP_ESHAPE,
                       "residual: its module made an output of shape %s from an input of shape %s: "
                       "floats of one shape can be added",
                       dp_shape_text(y, out), dp_shape_text(x, in));
    return dp_same_slot("the input", x, "the module's output", y, err);
}

static int residual_forward(struct dp_module *module, struct dp_run *run,
                            const struct dp_tensor in[], int n_in, struct dp_tensor out[],
                            int *n_out, struct dp_error *err)
{
    struct dp_tensor y[DP_MAX_IO], sum;
    int n = 0;
    int status = dp_check_inputs("residual", in, n_in, 1, 1, err);
    if (status == 0)
        status = dp_forward(module->children[0], run, in, 1, y, &n, err);
    if (status == 0)
        status = residual_check(&in[0], &y[0], n, err);
    if (status == 0)
        status = residual_add(run, &in[0], &y[0], &sum, err);
    if (status)
        return status;
    sum.needs_grad = run->grad && (in[0].needs_grad || y[0].needs_grad);
    return dp_layer_output(module, run, &sum, &in[0].needs_grad, sizeof in[0].needs_grad, out,
                           n_out, err);
}

/* If the child gives no gradient of its input, that gradient is 0. */
static int residual_backward(struct dp_module *module, struct dp_run *run,
                             const struct dp_tensor grad_out[], int n_out,
                             struct dp_tensor grad_in[], int n_in, struct dp_error *err)
{
    struct dp_tensor below[DP_MAX_IO] = {{0}};
    bool needs_grad;
    (void)n_out, (void)n_in;
    int status = dp_run_restore(run, module, &needs_grad, sizeof needs_grad, err);
    if (status == 0)
        status = dp_backward(module->children[0], run, grad_out, 1, below, 1, err);
    if (status || !grad_out[0].slot || !needs_grad)
        return status;
    if (below[0].slot)
        return residual_add(run, &grad_out[0], &below[0], &grad_in[0], err);
    grad_in[0] = grad_out[0];
    return 0;
}

static const struct dp_module_ops residual_ops = {"residual", residual_forward, residual_backward,
                                                  NULL};

int dp_residual(struct dp_group *group, struct dp_module *child, struct dp_module **module,
                struct dp_error *err)
{
    return dp_module_open(group, &residual_ops, NULL, &child, 1, module, err);
}
