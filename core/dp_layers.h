/* dp_layers.h: layers beyond the linear one; a part of dp.h, which includes it.
 *
 * Shapes have the batch first. Every layer works where its input is; a parameter or buffer
 * elsewhere is DP_EDEVICE, an input of another shape or element type DP_ESHAPE, a size of 0
 * DP_EINVAL. Names of parameters are PyTorch's. */
#ifndef DP_LAYERS_H
#define DP_LAYERS_H

#include "dp.h"

/* How a window moves over [height, width]. Zeros: stride 1 (of a pool: the kernel), padding 0. */
struct dp_window {
    size_t kernel[2], stride[2], padding[2];
};

/* y[n,o,:,:] = bias[o] + sum over c, kh, kw of weight[o,c,kh,kw] * x[n, c, windows], zeros outside:
 * in [N, C_in, H, W], out [N, C_out, OH, OW], OH = (H + 2 padding - kernel) / stride + 1 rounded
 * down; weight [C_out, C_in, KH, KW], bias [C_out]. Errors at forward: DP_ESHAPE no window fits.
 * Source: torch.nn.Conv2d, without groups and dilation. */
int dp_conv2d(struct dp_group *group, size_t c_in, size_t c_out, const struct dp_window *window,
              bool bias, struct dp_module **module, struct dp_error *err);

/* The largest of each window and plane, the first of equals; padding is never taken and at most
 * half the kernel: in [N, C, H, W], out [N, C, OH, OW]. Source: torch.nn.MaxPool2d. */
int dp_max_pool2d(struct dp_group *group, const struct dp_window *window, struct dp_module **module,
                  struct dp_error *err);

/* All dimensions but the first as one: in [N, ...], out [N, D]. A view. Source: torch.nn.Flatten.
 */
int dp_flatten(struct dp_group *group, struct dp_module **module, struct dp_error *err);

/* Rows of a table by number: in [N, ...] of DP_I32, out [N, ..., width]; weight [rows, width]. A
 * number outside 0..rows-1 gives NaN, and no gradient. Source: torch.nn.Embedding (which fails). */
int dp_embedding(struct dp_group *group, size_t rows, size_t width, struct dp_module **module,
                 struct dp_error *err);

#endif
