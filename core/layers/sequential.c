/* sequential.c: runs children in order; the outputs of one are the inputs of the next. */
#include "../module.h"

static int sequential_forward(struct dp_module *module, struct dp_run *run,
                              const struct dp_tensor in[], int n_in, struct dp_tensor out[],
                              int *n_out, struct dp_error *err)
{
    struct dp_tensor between[2][DP_MAX_IO];
    const struct dp_tensor *from = in;
    for (int i = 0; i < module->n_children; ++i) {
        struct dp_tensor *to = i + 1 == module->n_children ? out : between[i & 1];
        int n = 0;
        int status = dp_forward(module->children[i], run, from, n_in, to, &n, err);
        if (status == 0 && run->grad)
            status = dp_run_save(run, module, &n_in, sizeof n_in, err);
        if (status)
            return status;
        from = to;
        n_in = n;
    }
    *n_out = n_in;
    return 0;
}

static int sequential_backward(struct dp_module *module, struct dp_run *run,
                               const struct dp_tensor grad_out[], int n_out,
                               struct dp_tensor grad_in[], int n_in, struct dp_error *err)
{
    struct dp_tensor between[2][DP_MAX_IO];
    const struct dp_tensor *from = grad_out;
    (void)n_in;
    for (int i = module->n_children - 1; i >= 0; --i) {
        struct dp_tensor *to = i == 0 ? grad_in : between[i & 1];
        int n = 0;
        int status = dp_run_restore(run, module, &n, sizeof n, err);
        if (status == 0)
            status = dp_backward(module->children[i], run, from, n_out, to, n, err);
        if (status)
            return status;
        from = to;
        n_out = n;
    }
    return 0;
}

static const struct dp_module_ops sequential_ops = {"sequential", sequential_forward,
                                                    sequential_backward, NULL};

int dp_sequential(struct dp_group *group, struct dp_module *const children[], int n,
                  struct dp_module **module, struct dp_error *err)
{
    if (n < 1)
        return dp_fail(err, DP_EINVAL, "sequential of %d modules: at least 1", n);
    return dp_module_open(group, &sequential_ops, NULL, children, n, module, err);
}
