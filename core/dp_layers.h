/* dp_layers.h: layers beyond the linear one; a part of dp.h, which includes it.
 *
 * The first dimension of a shape is the batch. Every layer works on the slot of its input. It is
 * DP_EDEVICE if a parameter or buffer is elsewhere, DP_ESHAPE if an input has another shape or
 * type, and DP_EINVAL if a size is 0. Parameters have the names that PyTorch gives them. */
#ifndef DP_LAYERS_H
#define DP_LAYERS_H

#ifndef DP_H
#error "dp_layers.h is a part of dp.h: include that"
#endif

/* A window that moves over [height, width]. Zeros mean stride 1 (of a pool: the kernel) and padding
 * 0. */
struct dp_window {
    size_t kernel[2], stride[2], padding[2];
};

/* y[n,o,:,:] = bias[o] + sum over c, kh, kw of weight[o,c,kh,kw] * x[n, c, windows], with zeros
 * outside. Shapes: in [N, C_in, H, W], out [N, C_out, OH, OW], where OH = (H + 2 padding - kernel)
 * / stride + 1 rounded down; weight [C_out, C_in, KH, KW], bias [C_out]. Errors of forward:
 * DP_ESHAPE if no window fits. Source: torch.nn.Conv2d, without groups and dilation. */
int dp_conv2d(struct dp_group *group, size_t c_in, size_t c_out, const struct dp_window *window,
              bool bias, struct dp_module **module, struct dp_error *err);

/* The maximum of each window and plane; of equal values, the first. Padding is never the maximum,
 * and is at most half the kernel. Shapes: in [N, C, H, W], out [N, C, OH, OW]. Source:
 * torch.nn.MaxPool2d. */
int dp_max_pool2d(struct dp_group *group, const struct dp_window *window, struct dp_module **module,
                  struct dp_error *err);

/* Joins all dimensions but the first, as a view: in [N, ...], out [N, D]. Source: torch.nn.Flatten.
 */
int dp_flatten(struct dp_group *group, struct dp_module **module, struct dp_error *err);

/* The inverse, as a view: in [N, ...], out [N, dim[0], ..., dim[ndim-1]]. Source:
 * torch.nn.Unflatten. */
int dp_unflatten(struct dp_group *group, int ndim, const size_t dim[], struct dp_module **module,
                 struct dp_error *err);

/* Moves its input to slot (NULL: it stays where it is). The output is a new tensor, or the input
 * itself if it is already there. The gradient goes back to the slot of the input. Any type and
 * shape is allowed. Inside a replica it is DP_EINVAL, unless nothing has to move. Source:
 * torch.Tensor.to. */
int dp_to(struct dp_group *group, struct dp_slot *slot, struct dp_module **module,
          struct dp_error *err);

/* Looks up rows of a table: in [N, ...] of DP_I32, out [N, ..., width]; weight [rows, width]. A
 * number outside 0..rows-1 gives NaN, and no gradient. Source: torch.nn.Embedding (which fails
 * instead). */
int dp_embedding(struct dp_group *group, size_t rows, size_t width, struct dp_module **module,
                 struct dp_error *err);

/* h_t = tanh(W_ih x_t + b_ih + W_hh h_(t-1) + b_hh), with h = 0 before the first step. Shapes: in
 * [N, T, features], out [N, T, hidden], or with last [N, hidden] of the last step; weight_ih_l0
 * [hidden, features], weight_hh_l0 [hidden, hidden], bias_ih_l0 and bias_hh_l0 [hidden]. Source:
 * torch.nn.RNN with one layer and batch_first. */
int dp_rnn(struct dp_group *group, size_t features, size_t hidden, bool last,
           struct dp_module **module, struct dp_error *err);

/* i, f, o = sigmoid and g = tanh of W_ih x_t + b_ih + W_hh h_(t-1) + b_hh; c_t = f c_(t-1) + i g;
 * h_t = o tanh(c_t). Shapes are those of dp_rnn, but parameters have 4 hidden rows, in the order i,
 * f, g, o. Source: torch.nn.LSTM with one layer and batch_first. */
int dp_lstm(struct dp_group *group, size_t features, size_t hidden, bool last,
            struct dp_module **module, struct dp_error *err);

/* y = (x - mean) / sqrt(var + eps) * weight + bias per channel; in and out are [N, channels, ...].
 * In training, mean and (biased) variance are those of the input, which is the shard of a replica,
 * and the buffers follow them: running_mean and running_var by momentum (with the unbiased
 * variance), num_batches_tracked (DP_I64) by 1. In eval mode, mean and variance are the buffers.
 * All sums over a channel are in double, and each result is rounded once. Under data_parallel the
 * buffers follow replica 0 alone. dp_module_init leaves weight 1 and bias 0. Errors of forward:
 * DP_EINVAL if a channel has fewer than 2 values in training. Sources: torch.nn.BatchNorm1d,
 * BatchNorm2d. [BUF-01 .. BUF-05, BUF-08, BUF-09] */
int dp_batch_norm(struct dp_group *group, size_t channels, double eps, double momentum,
                  struct dp_module **module, struct dp_error *err);

/* y = x + child(x), the skip connection of a residual block. Any shape is allowed, and the output
 * has the same one; both are floats on one device. Errors of forward: DP_ESHAPE if the child makes
 * another shape, DP_EINVAL if it has not one output. Source: He, Zhang, Ren and Sun, Deep Residual
 * Learning; PyTorch's `x + f(x)`. */
int dp_residual(struct dp_group *group, struct dp_module *child, struct dp_module **module,
                struct dp_error *err);

/* In training, y = 0 with probability p, else x / (1 - p), for any shape. In eval mode, y is x
 * itself. The random numbers are a function of seed, the place of the device in the list, and the
 * number of dropouts before in the run (for a replica: in the run of its caller). So every device
 * has a separate stream, and no state is shared. Source: torch.nn.Dropout. [BUF-11] */
int dp_dropout(struct dp_group *group, double p, uint64_t seed, struct dp_module **module,
               struct dp_error *err);

/* y = x (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))) / 2 in the tanh form, else x (1 + erf(x /
 * sqrt(2))) / 2, for any shape. Source: torch.nn.GELU with approximate='tanh' and 'none'. */
int dp_gelu(struct dp_group *group, bool tanh_form, struct dp_module **module,
            struct dp_error *err);

/* y = (x - mean) / sqrt(var + eps) * weight + bias over the last dimension. Shapes: in and out [N,
 * ..., width]; weight and bias [width]. The variance is the biased one. Sums are in double, and
 * each result is rounded once. dp_module_init leaves weight 1 and bias 0. Source:
 * torch.nn.LayerNorm of one dimension. */
int dp_layer_norm(struct dp_group *group, size_t width, double eps, struct dp_module **module,
                  struct dp_error *err);

/* y[n,t,:] = x[n,t,:] + weight[t,:]. Shapes: in and out [N, T, width] with T <= context; weight
 * [context, width]. t is the position in the row; it depends neither on the device nor on the
 * shard. Positions from T on get a gradient of 0. Errors of forward: DP_ESHAPE if T > context.
 * Source: x + torch.nn.Embedding(context, width)(arange(T)), as in GPT-2. */
int dp_positions(struct dp_group *group, size_t context, size_t width, struct dp_module **module,
                 struct dp_error *err);

/* Causal attention. in is [N, T, 3 width]: for each step first q, then k, then v, each of heads *
 * size numbers. out is [N, T, width]. For each row and head p = softmax over s of q_t . k_s /
 * sqrt(size), s = 0..t, and y_t = sum over s of p_ts v_s. In training each p is dropped as by
 * dp_dropout(p, seed), with the numbers [N, heads, T, T] in this order. A forward in grad mode
 * keeps N heads T T numbers, and twice as many with dropout. Errors of forward: DP_ESHAPE if the
 * last dimension is not a multiple of 3 heads. Source:
 * torch.nn.functional.scaled_dot_product_attention with is_causal. */
int dp_attention(struct dp_group *group, size_t heads, double p, uint64_t seed,
                 struct dp_module **module, struct dp_error *err);

/* Capsules with routing by agreement. Shapes: in [N, in, d_in], out [N, out, d_out]; weight [in,
 * out, d_out, d_in]. votes[i,j] = weight[i,j] x[i]. The logits b start at 0. Each of the rounds
 * computes c = softmax of b over j, v[j] = squash(sum over i of c[i,j] votes[i,j]), and b[i,j] +=
 * votes[i,j] . v[j]. squash(s) = s |s|^2 / (1 + |s|^2) / sqrt(|s|^2 + 1e-8). The gradient takes c
 * as constants. Source: Sabour, Frosst and Hinton, Dynamic Routing Between Capsules; PyTorch has no
 * such layer. */
struct dp_capsule_config {
    size_t in, out, d_in, d_out;
    int rounds; /* 1..16 */
};
int dp_capsule(struct dp_group *group, const struct dp_capsule_config *config,
               struct dp_module **module, struct dp_error *err);

#endif
