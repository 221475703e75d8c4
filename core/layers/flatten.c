/* flatten.c: changes the dimensions after the first. Tensors are contiguous, so both ways are
 * views. */
#include "layer.h"

#include <stdlib.h>

/* The dimensions of a row of the output; ndim 0: all dimensions of the input become one. */
struct view {
    int ndim;
    size_t dim[DP_MAX_DIMS];
};

static int view_forward(struct dp_module *module, struct dp_run *run, const struct dp_tensor in[],
                        int n_in, struct dp_tensor out[], int *n_out, struct dp_error *err)
{
    const struct view *v = dp_module_self(module);
    const char *kind = dp_module_kind(module);
    char shape[DP_SHAPE_TEXT];
    size_t had = 1, wanted = 1;
    int status = dp_check_inputs(kind, in, n_in, 1, 1, err);
    if (status)
        return status;
    for (int d = 1; d < in[0].ndim; ++d)
        had *= in[0].dim[d];
    for (int d = 0; d < v->ndim; ++d)
        wanted *= v->dim[d];
    if (in[0].ndim < 1 || (v->ndim > 0 && had != wanted))
        return dp_fail(err, DP_ESHAPE, "%s to rows of %zu elements got an input of shape %s", kind,
                       wanted, dp_shape_text(&in[0], shape));
    if (run->grad)
        status = dp_run_save(run, module, &in[0], sizeof in[0], err);
    if (status)
        return status;
    out[0] = in[0];
    out[0].ndim = v->ndim > 0 ? v->ndim + 1 : 2;
    out[0].dim[1] = had;
    for (int d = 0; d < v->ndim; ++d)
        out[0].dim[d + 1] = v->dim[d];
    out[0].needs_grad = run->grad && in[0].needs_grad;
    *n_out = 1;
    return 0;
}

static int view_backward(struct dp_module *module, struct dp_run *run,
                         const struct dp_tensor grad_out[], int n_out, struct dp_tensor grad_in[],
                         int n_in, struct dp_error *err)
{
    struct dp_tensor x;
    (void)n_out, (void)n_in;
    const int status = dp_run_restore(run, module, &x, sizeof x, err);
    if (status || !grad_out[0].slot || !x.needs_grad)
        return status;
    x.data = grad_out[0].data;
    x.needs_grad = false;
    grad_in[0] = x;
    return 0;
}

static const struct dp_module_ops flatten_ops = {"flatten", view_forward, view_backward, free};
static const struct dp_module_ops unflatten_ops = {"unflatten", view_forward, view_backward, free};

int dp_flatten(struct dp_group *group, struct dp_module **module, struct dp_error *err)
{
    return dp_layer_open(group, &flatten_ops, &(struct view){0}, sizeof(struct view), NULL, module,
                         err);
}

int dp_unflatten(struct dp_group *group, int ndim, const size_t dim[], struct dp_module **module,
                 struct dp_error *err)
{
    struct view v = {.ndim = ndim};
    size_t width = sizeof(float);
    if (ndim < 1 || ndim >= DP_MAX_DIMS)
        return dp_fail(err, DP_EINVAL, "unflatten to %d dimensions: 1 to %d", ndim,
                       DP_MAX_DIMS - 1);
    for (int d = 0; d < ndim; ++d) {
        v.dim[d] = dim[d];
        if (dim[d] < 1 || !dp_multiply(width, dim[d], &width))
            return dp_fail(err, DP_EINVAL,
                           "unflatten to dimension %d of %zu: at least 1, and all in one memory", d,
                           dim[d]);
    }
    return dp_layer_open(group, &unflatten_ops, &v, sizeof v, NULL, module, err);
}
