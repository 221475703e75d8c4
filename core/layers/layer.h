/* layer.h: opening a layer that has data of its own. Internal to core/layers. */
#ifndef DP_LAYER_H
#define DP_LAYER_H

#include "dp.h"

/* A module with a copy of self, which ops->close must free. add_params adds the parameters and
 * writes them into that copy; NULL: there are none. Errors DP_ENOMEM, add_params'. */
int dp_layer_open(struct dp_group *group, const struct dp_module_ops *ops, const void *self,
                  size_t bytes,
                  int (*add_params)(struct dp_module *module, void *self, struct dp_error *err),
                  struct dp_module **module, struct dp_error *err);

#endif
