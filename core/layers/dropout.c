/* dropout.c: in training some elements become zero, and the others larger. */
#include "layer.h"

#include <stdlib.h>

struct saved {
    const uint64_t *key; /* on the slot */
    bool training, needs_grad;
};

static int apply(const struct dp_draws *l, struct dp_run *run, const uint64_t *key,
                 const struct dp_tensor *x, struct dp_tensor *y, struct dp_error *err)
{
    const int status = dp_run_tensor(run, x->slot, DP_F32, x->ndim, x->dim, y, err);
    return status ? status : dp_draws_drop(l, key, x, y, err);
}

static int dropout_forward(struct dp_module *module, struct dp_run *run,
                           const struct dp_tensor in[], int n_in, struct dp_tensor out[],
                           int *n_out, struct dp_error *err)
{
    const struct dp_draws *l = dp_module_self(module);
    struct dp_tensor y = in[0];
    int status = dp_check_inputs("dropout", in, n_in, 1, 1, err);
    if (status == 0 && in[0].dtype != DP_F32)
        status = dp_fail(err, DP_ESHAPE, "dropout takes float tensors");
    if (status)
        return status;
    struct saved s = {.training = run->train, .needs_grad = in[0].needs_grad};
    if (s.training) {
        status = dp_draws_key(l, run, in[0].slot, &s.key, err);
        if (status == 0)
            status = apply(l, run, s.key, &in[0], &y, err);
    }
    if (status)
        return status;
    y.needs_grad = run->grad && in[0].needs_grad;
    return dp_layer_output(module, run, &y, &s, sizeof s, out, n_out, err);
}

static int dropout_backward(struct dp_module *module, struct dp_run *run,
                            const struct dp_tensor grad_out[], int n_out,
                            struct dp_tensor grad_in[], int n_in, struct dp_error *err)
{
    const struct dp_draws *l = dp_module_self(module);
    struct saved s;
    (void)n_out, (void)n_in;
    const int status = dp_run_restore(run, module, &s, sizeof s, err);
    if (status || !grad_out[0].slot || !s.needs_grad)
        return status;
    if (s.training)
        return apply(l, run, s.key, &grad_out[0], &grad_in[0], err);
    grad_in[0] = grad_out[0];
    return 0;
}

static const struct dp_module_ops dropout_ops = {"dropout", dropout_forward, dropout_backward,
                                                 free};

int dp_dropout(struct dp_group *group, double p, uint64_t seed, struct dp_module **module,
               struct dp_error *err)
{
    const struct dp_draws l = {p, seed};
    if (!(p >= 0.0 && p <= 1.0))
        return dp_fail(err, DP_EINVAL, "dropout of %g: 0 to 1", p);
    return dp_layer_open(group, &dropout_ops, &l, sizeof l, NULL, module, err);
}
