/* window.c: the windows of layers of images. */
#include "layer.h"

int dp_window_check(const char *kind, const struct dp_window *window, const size_t step[2],
                    struct dp_window *checked, struct dp_error *err)
{
    *checked = *window;
    for (int a = 0; a < 2; ++a) {
        if (window->kernel[a] < 1)
            return dp_fail(err, DP_EINVAL, "%s with a kernel of (%zu, %zu): at least 1", kind,
                           window->kernel[0], window->kernel[1]);
        if (checked->stride[a] == 0)
            checked->stride[a] = step[a];
        if (window->padding[a] > SIZE_MAX / 4)
            return dp_fail(err, DP_EINVAL, "%s with a padding of %zu", kind, window->padding[a]);
    }
    return 0;
}

int dp_window_geometry(const char *kind, const struct dp_window *window, const struct dp_tensor *x,
                       size_t channels, struct dp_geometry *at, struct dp_error *err)
{
    char shape[DP_SHAPE_TEXT];
    if (x->dtype != DP_F32 || x->ndim != 4 || (channels > 0 && x->dim[1] != channels))
        return dp_fail(err, DP_ESHAPE, "%s of %zu channels got an input of shape %s", kind,
                       channels, dp_shape_text(x, shape));
    *at = (struct dp_geometry){
        .images = x->dim[0], .channels = x->dim[1], .height = x->dim[2], .width = x->dim[3]};
    for (int a = 0; a < 2; ++a) {
        const size_t size = x->dim[2 + a] + 2 * window->padding[a];
        if (x->dim[2 + a] < 1 || size < window->kernel[a])
            return dp_fail(err, DP_ESHAPE, "%s: no window of (%zu, %zu) fits an input of shape %s",
                           kind, window->kernel[0], window->kernel[1], dp_shape_text(x, shape));
        at->kernel[a] = window->kernel[a];
        at->stride[a] = window->stride[a];
        at->padding[a] = window->padding[a];
        at->out[a] = (size - window->kernel[a]) / window->stride[a] + 1;
    }
    return 0;
}
