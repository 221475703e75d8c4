/* layer.c: opens layers with their data, module and parameters, or none of them; and finds the
 * destination of a backward. */
#include "layer.h"

#include <stdlib.h>
#include <string.h>

int dp_layer_open(struct dp_group *group, const struct dp_module_ops *ops, const void *self,
                  size_t bytes,
                  int (*add_params)(struct dp_module *module, void *self, struct dp_error *err),
                  struct dp_module **module, struct dp_error *err)
{
    struct dp_module *m = NULL;
    void *own = malloc(bytes);
    if (!own)
        return dp_fail(err, DP_ENOMEM, "no memory for %s", ops->kind);
    memcpy(own, self, bytes);
    int status = dp_module_open(group, ops, own, NULL, 0, &m, err);
    if (status) {
        free(own);
        return status;
    }
    status = add_params ? add_params(m, own, err) : 0;
    if (status) {
        dp_module_close(m);
        return status;
    }
    *module = m;
    return 0;
}

int dp_layer_output(struct dp_module *module, struct dp_run *run, const struct dp_tensor *y,
                    const void *saved, size_t bytes, struct dp_tensor out[], int *n_out,
                    struct dp_error *err)
{
    const int status = run->grad ? dp_run_save(run, module, saved, bytes, err) : 0;
    if (status)
        return status;
    out[0] = *y; /* last, because the saved data may be in the same place */
    *n_out = 1;
    return 0;
}

int dp_layer_input_grad(struct dp_run *run, const struct dp_tensor *x, struct dp_tensor *grad,
                        struct dp_error *err)
{
    return x->needs_grad ? dp_run_tensor(run, x->slot, DP_F32, x->ndim, x->dim, grad, err) : 0;
}

float *dp_layer_param_grad(struct dp_run *run, struct dp_param *param, bool *accumulate)
{
    struct dp_tensor grad;
    if (!param || param->frozen)
        return NULL;
    dp_run_grad(run, param, &grad, accumulate);
    return grad.data;
}
