/* positions.c: a learned vector for each position is added to every row. A shard has whole rows, so
 * positions are the same on every device. */
#include "layer.h"

#include <stdlib.h>

struct positions {
    size_t context, width;
    struct dp_param *weight;
};

static int positions_check(const struct positions *l, struct dp_run *run,
                           const struct dp_tensor in[], int n_in, struct dp_error *err)
{
    char shape[DP_SHAPE_TEXT];
    const struct dp_tensor *x = &in[0];
    const int status = dp_check_inputs("positions", in, n_in, 1, 1, err);
    if (status)
        return status;
    if (x->dtype != DP_F32 || x->ndim != 3 || x->dim[2] != l->width)
        return dp_fail(err, DP_ESHAPE, "positions(%zu, %zu) got an input of shape %s", l->context,
                       l->width, dp_shape_text(x, shape));
    if (x->dim[1] > l->context)
        return dp_fail(err, DP_ESHAPE,
                       "positions(%zu, %zu) got an input of shape %s: %zu steps, "
                       "at most %zu",
                       l->context, l->width, dp_shape_text(x, shape), x->dim[1], l->context);
    return dp_same_slot("the input", x, "the weight", dp_run_value(run, l->weight), err);
}

static int positions_forward(struct dp_module *module, struct dp_run *run,
                             const struct dp_tensor in[], int n_in, struct dp_tensor out[],
                             int *n_out, struct dp_error *err)
{
    const struct positions *l = dp_module_self(module);
    struct dp_tensor y;
    int status = positions_check(l, run, in, n_in, err);
    if (status == 0)
        status = dp_run_tensor(run, in[0].slot, DP_F32, 3, in[0].dim, &y, err);
    if (status)
        return status;
    struct dp_queue *queue = &y.slot->compute;
    /* DP_KERNEL_COPY cannot be in a graph, so this kernel copies. */
    const struct dp_swap copy = {y.data, in[0].data, NULL, 1, 1, dp_tensor_count(&y)};
    const struct dp_add_bias add = {y.data, dp_run_value(run, l->weight)->data, y.dim[0],
                                    y.dim[1] * l->width};
    status = dp_launch(queue, DP_KERNEL_SWAP, &copy, sizeof copy, err);
    if (status == 0)
        status = dp_launch(queue, DP_KERNEL_ADD_BIAS, &add, sizeof add, err);
    if (status)
        return status;
    y.needs_grad = run->grad && (in[0].needs_grad || !l->weight->frozen);
    return dp_layer_output(module, run, &y, &in[0], sizeof in[0], out, n_out, err);
}

static int positions_backward(struct dp_module *module, struct dp_run *run,
                              const struct dp_tensor grad_out[], int n_out,
                              struct dp_tensor grad_in[], int n_in, struct dp_error *err)
{
    const struct positions *l = dp_module_self(module);
    struct dp_tensor x;
    (void)n_out, (void)n_in;
    int status = dp_run_restore(run, module, &x, sizeof x, err);
    if (status || !grad_out[0].slot)
        return status;
    if (!l->weight->frozen) {
        /* The first T vectors get a gradient; for the others it is 0. */
        struct dp_queue *queue = &grad_out[0].slot->compute;
        const size_t used = grad_out[0].dim[1] * l->width, all = l->context * l->width;
        struct dp_tensor grad;
        bool accumulate;
        dp_run_grad(run, l->weight, &grad, &accumulate);
        float *first = grad.data;
        if (!accumulate && used < all) {
            const struct dp_zero zero = {first + used, (all - used) * sizeof *first};
            status = dp_launch(queue, DP_KERNEL_ZERO, &zero, sizeof zero, err);
        }
        const struct dp_sum_rows sum = {first, grad_out[0].data, grad_out[0].dim[0], used,
                                        accumulate};
        if (status == 0)
            status = dp_launch(queue, DP_KERNEL_SUM_ROWS, &sum, sizeof sum, err);
    }
    if (status == 0 && x.needs_grad)
        grad_in[0] = grad_out[0];
    return status;
}

static const struct dp_module_ops positions_ops = {"positions", positions_forward,
                                                   positions_backward, free};

static int positions_add_params(struct dp_module *m, void *self, struct dp_error *err)
{
    struct positions *l = self;
    const size_t dim[] = {l->context, l->width};
    const int status = dp_module_add_param(m, "weight", DP_F32, 2, dim, &l->weight, err);
    if (status == 0)
        l->weight->init_bound = 1.0f;
    return status;
}

int dp_positions(struct dp_group *group, size_t context, size_t width, struct dp_module **module,
                 struct dp_error *err)
{
    const struct positions l = {.context = context, .width = width};
    if (context < 1 || width < 1)
        return dp_fail(err, DP_EINVAL, "positions(%zu, %zu): at least 1 of each", context, width);
    return dp_layer_open(group, &positions_ops, &l, sizeof l, positions_add_params, module, err);
}
