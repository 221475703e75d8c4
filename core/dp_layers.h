/* dp_layers.h: layers beyond the linear one; a part of dp.h, which includes it.
 *
 * Shapes have the batch first. Every layer works where its input is; a parameter or buffer
 * elsewhere is DP_EDEVICE, an input of another shape or element type DP_ESHAPE, a size of 0
 * DP_EINVAL. Names of parameters are PyTorch's. */
#ifndef DP_LAYERS_H
#define DP_LAYERS_H

#ifndef DP_H
#error "dp_layers.h is a part of dp.h: include that"
#endif

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

/* The other way: in [N, ...], out [N, dim[0], ..., dim[ndim-1]]. A view. Source:
 * torch.nn.Unflatten. */
int dp_unflatten(struct dp_group *group, int ndim, const size_t dim[], struct dp_module **module,
                 struct dp_error *err);

/* The input on slot (NULL: where it is): a new tensor, which leaves the old one where it was, or
 * the input itself when it is there; the gradient goes back to where the input was. Any type and
 * shape. Not inside a replica (DP_EINVAL) unless nothing has to move. Source: torch.Tensor.to. */
int dp_to(struct dp_group *group, struct dp_slot *slot, struct dp_module **module,
          struct dp_error *err);

/* Rows of a table by number: in [N, ...] of DP_I32, out [N, ..., width]; weight [rows, width]. A
 * number outside 0..rows-1 gives NaN, and no gradient. Source: torch.nn.Embedding (which fails). */
int dp_embedding(struct dp_group *group, size_t rows, size_t width, struct dp_module **module,
                 struct dp_error *err);

/* h_t = tanh(W_ih x_t + b_ih + W_hh h_(t-1) + b_hh), h before the first step 0: in [N, T,
 * features], out [N, T, hidden], or with last only the last step's [N, hidden]; weight_ih_l0
 * [hidden, features], weight_hh_l0 [hidden, hidden], bias_ih_l0 and bias_hh_l0 [hidden]. Source:
 * torch.nn.RNN, one layer, batch_first. */
int dp_rnn(struct dp_group *group, size_t features, size_t hidden, bool last,
           struct dp_module **module, struct dp_error *err);

/* i, f, o = sigmoid and g = tanh of W_ih x_t + b_ih + W_hh h_(t-1) + b_hh; c_t = f c_(t-1) + i g;
 * h_t = o tanh(c_t); shapes as dp_rnn's, but the parameters have 4 hidden rows, in the order i, f,
 * g, o. Source: torch.nn.LSTM, one layer, batch_first. */
int dp_lstm(struct dp_group *group, size_t features, size_t hidden, bool last,
            struct dp_module **module, struct dp_error *err);

/* y = (x - mean) / sqrt(var + eps) * weight + bias per channel: in and out [N, channels, ...]. In
 * training mean and (biased) variance are those of the rows at hand, a replica's shard, and the
 * buffers move: running_mean and running_var by momentum to them (variance unbiased),
 * num_batches_tracked (DP_I64) by 1. In eval they are the buffers. All sums over a channel are
 * taken in double, and each result is rounded once. Under data_parallel the buffers
 * follow replica 0 alone. dp_module_init leaves weight 1 and bias 0.
 * Errors at forward: DP_EINVAL fewer than 2 values per channel in training.
 * Sources: torch.nn.BatchNorm1d, BatchNorm2d.    [BUF-01 .. BUF-05, BUF-08, BUF-09] */
int dp_batch_norm(struct dp_group *group, size_t channels, double eps, double momentum,
                  struct dp_module **module, struct dp_error *err);

/* y = x + child(x), the skip of a residual block: in any shape, out the same, both floats on one
 * device. Errors at forward: DP_ESHAPE the child makes another shape, DP_EINVAL not one output.
 * Source: He, Zhang, Ren and Sun, Deep Residual Learning; PyTorch's `x + f(x)`. */
int dp_residual(struct dp_group *group, struct dp_module *child, struct dp_module **module,
                struct dp_error *err);

/* In training y = 0 with probability p, else x / (1 - p), any shape; in eval y is x itself. The
 * draws are a function of seed, the device's place in the list, and the number of draws before in
 * the run (of its caller, for a replica): a device has a stream of its own, and no two share a
 * state. Source: torch.nn.Dropout.    [BUF-11] */
int dp_dropout(struct dp_group *group, double p, uint64_t seed, struct dp_module **module,
               struct dp_error *err);

/* y = x (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))) / 2 in the tanh form, else x (1 + erf(x /
 * sqrt(2))) / 2; any shape. Source: torch.nn.GELU, approximate='tanh' and 'none'. */
int dp_gelu(struct dp_group *group, bool tanh_form, struct dp_module **module,
            struct dp_error *err);

/* y = (x - mean) / sqrt(var + eps) * weight + bias over the last dimension: in and out [N, ...,
 * width]; weight and bias [width]. The variance is the biased one. Sums are taken in double, and
 * each result is rounded once. dp_module_init leaves weight 1 and bias 0. Source:
 * torch.nn.LayerNorm of one dimension. */
int dp_layer_norm(struct dp_group *group, size_t width, double eps, struct dp_module **module,
                  struct dp_error *err);

/* y[n,t,:] = x[n,t,:] + weight[t,:]: in and out [N, T, width], T at most context; weight [context,
 * width]. The position t is that in the row, on every device and whatever rows it has. Vectors of
 * positions from T on get a gradient of 0. Errors at forward: DP_ESHAPE T above context. Source:
 * x + torch.nn.Embedding(context, width)(arange(T)), as GPT-2 has it. */
int dp_positions(struct dp_group *group, size_t context, size_t width, struct dp_module **module,
                 struct dp_error *err);

/* Causal attention: in [N, T, 3 width], of each step its q, k and v one behind the other, each of
 * heads * size numbers; out [N, T, width]. For each row and head p = softmax over s of q_t . k_s /
 * sqrt(size), s = 0..t, and y_t = sum over s of p_ts v_s. In training each p is dropped as by
 * dp_dropout(p, seed), with numbers [N, heads, T, T] in this order. The memory of a forward in grad
 * mode: N heads T T numbers, twice with dropout. Errors at forward: DP_ESHAPE the last dimension is
 * no multiple of 3 heads. Source: torch.nn.functional.scaled_dot_product_attention with is_causal.
 */
int dp_attention(struct dp_group *group, size_t heads, double p, uint64_t seed,
                 struct dp_module **module, struct dp_error *err);

/* Capsules with routing by agreement: in [N, in, d_in], out [N, out, d_out]; weight [in, out,
 * d_out, d_in]. votes[i,j] = weight[i,j] x[i]; logits b = 0; rounds times: c = softmax of b over j,
 * v[j] = squash(sum over i of c[i,j] votes[i,j]), b[i,j] += votes[i,j] . v[j]. squash(s) = s |s|^2
 * / (1 + |s|^2) / sqrt(|s|^2 + 1e-8). The gradient takes c as constants. Source: Sabour, Frosst and
 * Hinton, Dynamic Routing Between Capsules; PyTorch has no such layer. */
struct dp_capsule_config {
    size_t in, out, d_in, d_out;
    int rounds; /* 1..16 */
};
int dp_capsule(struct dp_group *group, const struct dp_capsule_config *config,
               struct dp_module **module, struct dp_error *err);

#endif
