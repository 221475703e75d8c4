/* dropout.c: in training some elements are zero and the others larger. Which ones is a function of
 * the layer's seed, the device and how many draws its run has made: nothing is shared. */
#include "../module.h"
#include "layer.h"

#include <stdlib.h>

struct dropout {
    double p;
    uint64_t seed;
};

struct saved {
    const uint64_t *key; /* on the slot */
    bool training, needs_grad;
};

static uint64_t mix(uint64_t z)
{
    z += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static uint64_t next_key(const struct dropout *l, struct dp_run *run, const struct dp_slot *slot)
{
    const int rank = dp_is_host(slot) ? -1 : slot->group->first + slot->info.index;
    const uint64_t device = (uint64_t)rank + 1u; /* the host is 0 */
    return mix(mix(mix(l->seed) ^ device) ^ run->draws++);
}

/* In the slot's memory and ahead of the step's launches, which are the same each time then. */
static int store_key(const struct dropout *l, struct dp_run *run, struct dp_slot *slot,
                     const uint64_t **key, struct dp_error *err)
{
    struct dp_tensor place;
    const int status = dp_run_tensor(run, slot, DP_I64, 0, NULL, &place, err);
    if (status)
        return status;
    const struct dp_store args = {place.data, next_key(l, run, slot)};
    *key = place.data;
    return dp_launch_ahead(&slot->compute, DP_KERNEL_STORE, &args, sizeof args, err);
}

static int apply(const struct dropout *l, struct dp_run *run, const uint64_t *key,
                 const struct dp_tensor *x, struct dp_tensor *y, struct dp_error *err)
{
    const int status = dp_run_tensor(run, x->slot, DP_F32, x->ndim, x->dim, y, err);
    if (status)
        return status;
    const struct dp_dropout_args args = {.y = y->data,
                                         .x = x->data,
                                         .n = dp_tensor_count(x),
                                         .key = key,
                                         .limit = (uint64_t)((1.0 - l->p) * 4294967296.0),
                                         .scale = l->p < 1.0 ? (float)(1.0 / (1.0 - l->p)) : 0.0f};
    return dp_launch(&x->slot->compute, DP_KERNEL_DROPOUT, &args, sizeof args, err);
}

static int dropout_forward(struct dp_module *module, struct dp_run *run,
                           const struct dp_tensor in[], int n_in, struct dp_tensor out[],
                           int *n_out, struct dp_error *err)
{
    const struct dropout *l = dp_module_self(module);
    struct dp_tensor y = in[0];
    int status = dp_check_inputs("dropout", in, n_in, 1, 1, err);
    if (status == 0 && in[0].dtype != DP_F32)
        status = dp_fail(err, DP_ESHAPE, "dropout takes float tensors");
    if (status)
        return status;
    struct saved s = {.training = run->train, .needs_grad = in[0].needs_grad};
    if (s.training) {
        status = store_key(l, run, in[0].slot, &s.key, err);
        if (status == 0)
            status = apply(l, run, s.key, &in[0], &y, err);
    }
    if (status == 0 && run->grad)
        status = dp_run_save(run, module, &s, sizeof s, err);
    if (status)
        return status;
    y.needs_grad = run->grad && in[0].needs_grad;
    out[0] = y;
    *n_out = 1;
    return 0;
}

static int dropout_backward(struct dp_module *module, struct dp_run *run,
                            const struct dp_tensor grad_out[], int n_out,
                            struct dp_tensor grad_in[], int n_in, struct dp_error *err)
{
    const struct dropout *l = dp_module_self(module);
    struct saved s;
    (void)n_out, (void)n_in;
    grad_in[0] = (struct dp_tensor){0};
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
    const struct dropout l = {p, seed};
    if (!(p >= 0.0 && p <= 1.0))
        return dp_fail(err, DP_EINVAL, "dropout of %g: 0 to 1", p);
    return dp_layer_open(group, &dropout_ops, &l, sizeof l, NULL, module, err);
}
