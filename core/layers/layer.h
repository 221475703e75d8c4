/* layer.h: shared by layers: opening one that has private data, the end of a forward, and where
 * a backward writes. Internal to core/layers. */
#ifndef DP_LAYER_H
#define DP_LAYER_H

#include "dp.h"

/* A module with a copy of self, which ops->close must free. add_params adds the parameters and
 * writes them into that copy; NULL: there are none. Errors DP_ENOMEM, add_params'. */
int dp_layer_open(struct dp_group *group, const struct dp_module_ops *ops, const void *self,
                  size_t bytes,
                  int (*add_params)(struct dp_module *module, void *self, struct dp_error *err),
                  struct dp_module **module, struct dp_error *err);

/* Ends a forward that went well and has one output, y: keeps for backward, if there will be one,
 * what was saved. Errors dp_run_save's. */
int dp_layer_output(struct dp_module *module, struct dp_run *run, const struct dp_tensor *y,
                    const void *saved, size_t bytes, struct dp_tensor out[], int *n_out,
                    struct dp_error *err);

/* Of a backward: the gradient of its input x, of x's shape; its data is NULL where none is wanted.
 */
int dp_layer_input_grad(struct dp_run *run, const struct dp_tensor *x, struct dp_tensor *grad,
                        struct dp_error *err);
/* As dp_run_grad; NULL of a parameter that is frozen, or is none. */
float *dp_layer_param_grad(struct dp_run *run, struct dp_param *param, bool *accumulate);

#endif
