/* to.c: moves a tensor to a slot, and its gradient back. */
#include "layer.h"

struct moved {
    struct dp_slot *from;
    bool needs_grad;
};

static int to_carry(struct dp_run *run, const struct dp_tensor *x, struct dp_slot *slot,
                    struct dp_tensor *y, struct dp_error *err)
{
    *y = *x;
    if (!slot || x->slot == slot)
        return 0;
    const int status = dp_run_tensor(run, slot, x->dtype, x->ndim, x->dim, y, err);
    return status ? status : dp_tensor_copy(y, x, err);
}

static int to_forward(struct dp_module *module, struct dp_run *run, const struct dp_tensor in[],
                      int n_in, struct dp_tensor out[], int *n_out, struct dp_error *err)
{
    struct dp_tensor y;
    int status = dp_check_inputs("to", in, n_in, 1, 1, err);
    if (status == 0)
        status = to_carry(run, &in[0], dp_module_self(module), &y, err);
    const struct moved moved = {status ? NULL : in[0].slot, status == 0 && in[0].needs_grad};
    if (status)
        return status;
    y.needs_grad = run->grad && moved.needs_grad;
    return dp_layer_output(module, run, &y, &moved, sizeof moved, out, n_out, err);
}

static int to_backward(struct dp_module *module, struct dp_run *run,
                       const struct dp_tensor grad_out[], int n_out, struct dp_tensor grad_in[],
                       int n_in, struct dp_error *err)
{
    struct moved moved;
    (void)n_out, (void)n_in;
    const int status = dp_run_restore(run, module, &moved, sizeof moved, err);
    if (status || !grad_out[0].slot || !moved.needs_grad)
        return status;
    return to_carry(run, &grad_out[0], moved.from, &grad_in[0], err);
}

static const struct dp_module_ops to_ops = {"to", to_forward, to_backward, NULL};

int dp_to(struct dp_group *group, struct dp_slot *slot, struct dp_module **module,
          struct dp_error *err)
{
    if (slot && dp_slot_group(slot) != group)
        return dp_fail(err, DP_EINVAL, "to %s, which is of another group", dp_slot_name(slot));
    return dp_module_open(group, &to_ops, slot, NULL, 0, module, err);
}
