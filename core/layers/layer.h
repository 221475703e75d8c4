/* layer.h: helpers of layers: to open one that has private data, to end a forward, and to find the
 * destination of a backward. Internal to core/layers. */
#ifndef DP_LAYER_H
#define DP_LAYER_H

#include "dp.h"

/* Opens a module with a copy of self, which ops->close must free. add_params adds the parameters,
 * and writes them to that copy; NULL: there are none. Errors: DP_ENOMEM, and those of add_params.
 */
int dp_layer_open(struct dp_group *group, const struct dp_module_ops *ops, const void *self,
                  size_t bytes,
                  int (*add_params)(struct dp_module *module, void *self, struct dp_error *err),
                  struct dp_module **module, struct dp_error *err);

/* Ends a successful forward with one output, y. If there will be a backward, it keeps the saved
 * data. Errors: those of dp_run_save. */
int dp_layer_output(struct dp_module *module, struct dp_run *run, const struct dp_tensor *y,
                    const void *saved, size_t bytes, struct dp_tensor out[], int *n_out,
                    struct dp_error *err);

/* Gives a backward the gradient of its input x, with the shape of x; its data is NULL if the
 * gradient is not wanted. */
int dp_layer_input_grad(struct dp_run *run, const struct dp_tensor *x, struct dp_tensor *grad,
                        struct dp_error *err);
/* The same as dp_run_grad; returns NULL for a frozen parameter, and if param is NULL. */
float *dp_layer_param_grad(struct dp_run *run, struct dp_param *param, bool *accumulate);

#endif
