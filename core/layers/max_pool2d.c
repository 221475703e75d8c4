/* max_pool2d.c: the maximum of each window. Its place is saved for the gradient. */
#include "layer.h"

#include <stdlib.h>

struct saved {
    struct dp_geometry at;
    struct dp_tensor index;
    bool needs_grad;
};

static struct dp_max_pool pool_arguments(const struct saved *s, void *y, void *x)
{
    return (struct dp_max_pool){s->at, y, s->index.data, x};
}

static int pool_forward(struct dp_module *module, struct dp_run *run, const struct dp_tensor in[],
                        int n_in, struct dp_tensor out[], int *n_out, struct dp_error *err)
{
    const struct dp_tensor *x = &in[0];
    struct saved s = {.needs_grad = x->needs_grad};
    struct dp_tensor y;
    int status = dp_check_inputs("max_pool2d", in, n_in, 1, 1, err);
    if (status == 0)
        status = dp_window_geometry("max_pool2d", dp_module_self(module), x, 0, &s.at, err);
    if (status == 0 && s.at.height * s.at.width > INT32_MAX)
        status =
            dp_fail(err, DP_ESHAPE, "max_pool2d of planes of %zu x %zu", s.at.height, s.at.width);
    if (status)
        return status;
    const size_t dim[] = {x->dim[0], x->dim[1], s.at.out[0], s.at.out[1]};
    status = dp_run_tensor(run, x->slot, DP_F32, 4, dim, &y, err);
    if (status == 0)
        status = dp_run_tensor(run, x->slot, DP_I32, 4, dim, &s.index, err);
    if (status)
        return status;
    const struct dp_max_pool args = pool_arguments(&s, y.data, x->data);
    status = dp_launch(&x->slot->compute, DP_KERNEL_MAX_POOL, &args, sizeof args, err);
    if (status)
        return status;
    y.needs_grad = run->grad && x->needs_grad;
    return dp_layer_output(module, run, &y, &s, sizeof s, out, n_out, err);
}

static int pool_backward(struct dp_module *module, struct dp_run *run,
                         const struct dp_tensor grad_out[], int n_out, struct dp_tensor grad_in[],
                         int n_in, struct dp_error *err)
{
    struct saved s;
    (void)n_out, (void)n_in;
    int status = dp_run_restore(run, module, &s, sizeof s, err);
    if (status || !grad_out[0].slot || !s.needs_grad)
        return status;
    const size_t dim[] = {s.at.images, s.at.channels, s.at.height, s.at.width};
    status = dp_run_tensor(run, s.index.slot, DP_F32, 4, dim, &grad_in[0], err);
    if (status)
        return status;
    const struct dp_max_pool args = pool_arguments(&s, grad_out[0].data, grad_in[0].data);
    return dp_launch(&s.index.slot->compute, DP_KERNEL_MAX_POOL_GRAD, &args, sizeof args, err);
}

static const struct dp_module_ops pool_ops = {"max_pool2d", pool_forward, pool_backward, free};

int dp_max_pool2d(struct dp_group *group, const struct dp_window *window, struct dp_module **module,
                  struct dp_error *err)
{
    struct dp_window checked;
    int status = dp_window_check("max_pool2d", window, window->kernel, &checked, err);
    for (int a = 0; status == 0 && a < 2; ++a) {
        if (window->padding[a] > window->kernel[a] / 2)
            status = dp_fail(err, DP_EINVAL,
                             "max_pool2d with a padding of %zu: at most half of the kernel's %zu",
                             window->padding[a], window->kernel[a]);
    }
    if (status)
        return status;
    return dp_layer_open(group, &pool_ops, &checked, sizeof checked, NULL, module, err);
}
