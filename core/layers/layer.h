/* layer.h: helpers of layers: to open one that has private data, to end a forward, and to find the
 * destination of a backward; windows of images; the random numbers of dropout. Internal to
 * core/layers. */
#ifndef DP_LAYER_H
#define DP_LAYER_H

#include "../module.h"

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

/* ---- window.c: shapes of windows --------------------------------------------------------- */

/* Checks the window of a layer, and replaces a stride of 0 by that of step. */
int dp_window_check(const char *kind, const struct dp_window *window, const size_t step[2],
                    struct dp_window *checked, struct dp_error *err);

/* Fills in the geometry of x under the window. DP_ESHAPE if x is not [N, C, H, W] of floats with
 * channels (0: any), or if no window fits. */
int dp_window_geometry(const char *kind, const struct dp_window *window, const struct dp_tensor *x,
                       size_t channels, struct dp_geometry *at, struct dp_error *err);

/* ---- draws.c ----------------------------------------------------------------------------- */

/* The random numbers of dropout are a function of the layer's seed, the device, and the number of
 * draws so far in the run, so no state is shared. */
struct dp_draws {
    double p; /* probability that an element becomes 0 */
    uint64_t seed;
};

/* Gives the key of the next draws on slot, in its memory, until the next reset of the run. */
int dp_draws_key(const struct dp_draws *draws, struct dp_run *run, struct dp_slot *slot,
                 const uint64_t **key, struct dp_error *err);
/* y = x with each element set to 0 or divided by 1 - p, as key says. y may be x. */
int dp_draws_drop(const struct dp_draws *draws, const uint64_t *key, const struct dp_tensor *x,
                  const struct dp_tensor *y, struct dp_error *err);

#endif
