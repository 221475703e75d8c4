/* window.h: shapes of windows, shared by the layers of images. */
#ifndef DP_WINDOW_H
#define DP_WINDOW_H

#include "../module.h"

/* Checks the window of a layer, and replaces a stride of 0 by that of step. */
int dp_window_check(const char *kind, const struct dp_window *window, const size_t step[2],
                    struct dp_window *checked, struct dp_error *err);

/* Fills in the geometry of x under the window. DP_ESHAPE if x is not [N, C, H, W] of floats with
 * channels (0: any), or if no window fits. */
int dp_window_geometry(const char *kind, const struct dp_window *window, const struct dp_tensor *x,
                       size_t channels, struct dp_geometry *at, struct dp_error *err);

#endif
