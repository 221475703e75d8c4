/* kernels.h: the operations that every device can run, as numbers and argument structs.
 *
 * It is a part of the seam. Every kernel has a portable reference in cpu/kernels_ref*.c, which
 * defines it. A backend replaces kernels that it can run faster; GPUs compute some sums in another
 * fixed order (cuda/launch.h). All arrays are contiguous and on the slot of the queue, unless a
 * comment says otherwise. Arguments are copied at launch. */
#ifndef DP_KERNELS_H
#define DP_KERNELS_H

#include "dp.h"

/* The list of kernels, one row each. Their numbers, and their tables for each kind of device,
 * follow from it.
 *
 *  X(number, name, cpu, gpu, words, arguments)
 *
 * name: its definition is dp_ref_name, in cpu/kernels_ref*.c. cpu: the kernel of backend cpu. REF
 * is
 * the definition, FAST is dp_fast_name, BLAS is dp_blas_name. gpu: STREAM is dp_cuda_launch_name,
 * which takes a stream (cuda/launch.h); QUEUE is dp_cuda_name, which takes a queue (cuda/cuda.h);
 * NONE: GPUs refuse it. words: its name in messages. arguments: their struct, and where it has
 * bytes
 * that belong to no field: WHOLE nowhere, TAIL after its last field, GAP between the two that
 * follow. */
/* clang-format off */
#define DP_KERNEL_LIST(X) \
    X(GEMM,            gemm,            BLAS, QUEUE,  "matrix product",             GAP(dp_gemm, accumulate, m)) \
    X(ADD_BIAS,        add_bias,        FAST, STREAM, "bias",                       WHOLE(dp_add_bias)) \
    X(SUM_ROWS,        sum_rows,        FAST, STREAM, "sum of rows",                TAIL(dp_sum_rows, accumulate)) \
    X(RELU,            relu,            REF,  STREAM, "relu",                       WHOLE(dp_activation)) \
    X(RELU_GRAD,       relu_grad,       FAST, STREAM, "relu's gradient",            WHOLE(dp_activation_grad)) \
    X(TANH,            tanh,            REF,  STREAM, "tanh",                       WHOLE(dp_activation)) \
    X(TANH_GRAD,       tanh_grad,       REF,  STREAM, "tanh's gradient",            WHOLE(dp_activation_grad)) \
    X(GELU,            gelu,            FAST, STREAM, "gelu",                       TAIL(dp_gelu_args, tanh_form)) \
    X(GELU_GRAD,       gelu_grad,       FAST, STREAM, "gelu's gradient",            TAIL(dp_gelu_args, tanh_form)) \
    X(LOSS,            loss,            FAST, QUEUE,  "loss",                       GAP(dp_loss_args, kind, scale)) \
    X(LOSS_GRAD,       loss_grad,       FAST, STREAM, "loss's gradient",            GAP(dp_loss_args, kind, scale)) \
    X(SGD,             sgd,             FAST, STREAM, "update",                     GAP(dp_sgd_args, first, n)) \
    X(ADAMW,           adamw,           FAST, STREAM, "update by AdamW",            GAP(dp_adamw_args, first, n)) \
    X(SQUARES,         squares,         FAST, STREAM, "sums of squares",            WHOLE(dp_squares_args)) \
    X(CLIP,            clip,            REF,  STREAM, "clipping's factor",          WHOLE(dp_clip_args)) \
    X(SCALE,           scale,           REF,  STREAM, "products with a factor",     WHOLE(dp_scale_args)) \
    X(ZERO,            zero,            REF,  STREAM, "zero",                       WHOLE(dp_zero)) \
    X(FILL,            fill,            REF,  STREAM, "fill",                       GAP(dp_fill, value, n)) \
    X(STORE,           store,           REF,  STREAM, "store",                      WHOLE(dp_store)) \
    X(FOLD,            fold,            REF,  STREAM, "marks of bits",              WHOLE(dp_fold)) \
    X(COPY,            copy,            REF,  STREAM, "copy",                       WHOLE(dp_copy)) \
    X(REDUCE,          reduce,          FAST, STREAM, "sum of tensors",             GAP(dp_reduce_args, accumulate, n)) \
    X(MEAN,            mean,            FAST, STREAM, "scaled sum of tensors",      WHOLE(dp_mean_args)) \
    X(ROUND_BF16,      round_bf16,      REF,  STREAM, "rounding to bfloat16",       WHOLE(dp_round_bf16)) \
    X(GEMM_BF16,       gemm_bf16,       BLAS, QUEUE,  "matrix product of bfloat16", GAP(dp_gemm_bf16, accumulate, m)) \
    X(IM2COL,          im2col,          FAST, STREAM, "im2col",                     WHOLE(dp_columns)) \
    X(COL2IM,          col2im,          FAST, STREAM, "col2im",                     WHOLE(dp_columns)) \
    X(SWAP,            swap,            FAST, STREAM, "exchange of dimensions",     WHOLE(dp_swap)) \
    X(ADD_ROWS,        add_rows,        FAST, STREAM, "sums in rows",               TAIL(dp_add_rows, accumulate)) \
    X(MAX_POOL,        max_pool,        FAST, STREAM, "max-pool",                   WHOLE(dp_max_pool)) \
    X(MAX_POOL_GRAD,   max_pool_grad,   FAST, STREAM, "max-pool's gradient",        WHOLE(dp_max_pool)) \
    X(LOOKUP,          lookup,          REF,  STREAM, "embedding",                  TAIL(dp_lookup, accumulate)) \
    X(LOOKUP_GRAD,     lookup_grad,     REF,  STREAM, "embedding's gradient",       TAIL(dp_lookup, accumulate)) \
    X(LSTM,            lstm,            FAST, STREAM, "lstm step",                  TAIL(dp_lstm_args, last)) \
    X(LSTM_GRAD,       lstm_grad,       FAST, STREAM, "lstm step's gradient",       TAIL(dp_lstm_args, last)) \
    X(BATCH_NORM,      batch_norm,      FAST, STREAM, "batch norm",                 TAIL(dp_batch_norm_args, training)) \
    X(BATCH_NORM_EVAL, batch_norm_eval, REF,  STREAM, "batch norm in eval",         TAIL(dp_batch_norm_args, training)) \
    X(BATCH_NORM_GRAD, batch_norm_grad, FAST, STREAM, "batch norm's gradient",      TAIL(dp_batch_norm_args, training)) \
    X(LAYER_NORM,      layer_norm,      FAST, STREAM, "layer norm",                 TAIL(dp_layer_norm_args, accumulate_bias)) \
    X(LAYER_NORM_GRAD, layer_norm_grad, FAST, STREAM, "layer norm's gradient",      TAIL(dp_layer_norm_args, accumulate_bias)) \
    X(GEMM_HEADS,      gemm_heads,      BLAS, QUEUE,  "matrix products of heads",   GAP(dp_gemm_heads, transpose_b, triangle)) \
    X(CAUSAL,          causal,          FAST, STREAM, "causal softmax",             WHOLE(dp_causal_args)) \
    X(CAUSAL_GRAD,     causal_grad,     FAST, STREAM, "causal softmax's gradient",  WHOLE(dp_causal_args)) \
    X(DROPOUT,         dropout,         REF,  STREAM, "dropout",                    TAIL(dp_dropout_args, scale)) \
    X(CAPSULE,         capsule,         REF,  STREAM, "capsules",                   TAIL(dp_capsule_args, rounds)) \
    X(CAPSULE_GRAD,    capsule_grad,    REF,  STREAM, "capsules' gradient",         TAIL(dp_capsule_args, rounds)) \
    X(PEER_COPY,       peer_copy,       REF,  STREAM, "copy between GPUs",          WHOLE(dp_peer_copy)) \
    X(DELAY,           delay,           REF,  STREAM, "delay",                      WHOLE(dp_delay_args))
/* clang-format on */

#define DP_KERNEL_NUMBER(number, name, cpu, gpu, words, arguments) DP_KERNEL_##number,
enum dp_kernel { DP_KERNEL_LIST(DP_KERNEL_NUMBER) DP_KERNELS };
#undef DP_KERNEL_NUMBER

/* c[m,n] = op(a)[m,k] op(b)[k,n] (+ c); op transposes if its flag is set. k = 0 gives 0. */
struct dp_gemm {
    bool transpose_a, transpose_b, accumulate;
    size_t m, n, k;
    const float *a, *b;
    float *c;
};

/* dst[i] = the bfloat16 nearest to src[i], with ties to even. It is the upper half of a float. NaN
 * becomes a quiet NaN. */
struct dp_round_bf16 {
    uint16_t *dst;
    const float *src;
    size_t n;
};

/* The same as dp_gemm, with bfloat16 operands. Every product is exact in single precision, and so
 * are sums kept. */
struct dp_gemm_bf16 {
    bool transpose_a, transpose_b, accumulate;
    size_t m, n, k;
    const uint16_t *a, *b;
    float *c;
};

/* y[r,c] += bias[c] */
struct dp_add_bias {
    float *y;
    const float *bias;
    size_t rows, cols;
};

/* out[c] = sum over r of x[r,c] (+ out[c]), with r ascending */
struct dp_sum_rows {
    float *out;
    const float *x;
    size_t rows, cols;
    bool accumulate;
};

/* y = f(x) */
struct dp_activation {
    float *y;
    const float *x;
    size_t n;
};

/* dx = dy * f'(x), computed from y = f(x) */
struct dp_activation_grad {
    float *dx;
    const float *dy, *y;
    size_t n;
};

/* Computed in double; each result is rounded once.
 *   GELU       y = x (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))) / 2 in the tanh form, else
 *              x (1 + erf(x / sqrt(2))) / 2
 *   GELU_GRAD  y = dy times the slope of that at x */
struct dp_gelu_args {
    float *y;
    const float *x, *dy; /* dy: GELU_GRAD */
    size_t n;
    bool tanh_form;
};

/* The losses of dp_loss, over rows * cols elements of y. scale already includes the division of a
 * mean. Sums are kept in double; all but XENT are in lanes, as in dp_add_rows. */
struct dp_loss_args {
    enum dp_loss_kind kind;
    double scale;
    size_t rows, cols;
    const float *y;
    const void *target;    /* float, for XENT int32_t; NULL for a plain sum */
    const float *upstream; /* LOSS_GRAD: one float; NULL: 1 */
    float *out;            /* LOSS: one float; LOSS_GRAD: rows * cols */
};

/* dp_sgd_step for one tensor; velocity is NULL without momentum. The kernel reads the learning rate
 * when it runs, so a launch with another rate is the same launch. */
struct dp_sgd_args {
    float *value, *velocity;
    const float *grad, *lr; /* lr: one float */
    float momentum, decay;
    bool first; /* velocity has no values yet */
    size_t n;
};

/* dp_adamw_step for one tensor. rates are three floats that the kernel reads when it runs: keep = 1
 * - lr*decay, size = lr / (1 - beta1^t), root = sqrt(1 - beta2^t). For each element g of grad
 *   m = beta1 * m + rest1 * g,  s = beta2 * s + (rest2 * g) * g,
 *   value = value * keep - (size * m) / (sqrt(s) / root + eps) */
struct dp_adamw_args {
    float *value, *m, *s;
    const float *grad, *rates;
    float beta1, rest1, beta2, rest2, eps; /* rest: 1 - beta */
    bool first;                            /* m and s have no values yet, and count as zeros */
    size_t n;
};

/* sums[k] = the sum of the squares of chunk k of x, in double. Lane l adds elements l, l +
 * DP_SQUARES_LANES, ... of the chunk in order. Then the lanes are added in a tree: lane l + half to
 * lane l, for half = DP_SQUARES_LANES / 2, ..., 2, 1. The bits are the same on every device. */
#define DP_SQUARES_CHUNK 65536
#define DP_SQUARES_LANES 256
struct dp_squares_args {
    double *sums;
    const float *x;
    size_t n;
};

/* norm = sqrt(sum of n sums, in lanes as above); factor = min(1, most / (norm + 1e-6)). */
struct dp_clip_args {
    const double *sums;
    size_t n;
    double most, *norm;
    float *factor;
};

/* x = x * factor. The kernel reads the factor when it runs; 1 keeps all bits. */
struct dp_scale_args {
    float *x;
    const float *factor; /* one float */
    size_t n;
};

struct dp_zero {
    void *dst;
    size_t bytes;
};

struct dp_fill {
    float *dst;
    float value;
    size_t n;
};

/* *dst = value */
struct dp_store {
    uint64_t *dst, value;
};

/* Folds x into marks: marks[j] takes the bits of x[j], x[j + DP_FOLD_MARKS], ... in order, each by
 *   mark = (mark ^ bits) * 0x9e3779b1; mark = mark ^ (mark >> 15)
 * This is invertible: a mark that differs stays different as long as later elements are equal. */
struct dp_fold {
    uint32_t *marks; /* [DP_FOLD_MARKS] */
    const uint32_t *x;
    size_t n;
};

/* height rows of width bytes; each side may be on another slot. */
struct dp_copy {
    void *dst;
    const void *src;
    size_t width, height, dst_pitch, src_pitch;
};

/* The same between two devices, which have these numbers. */
struct dp_peer_copy {
    struct dp_copy copy;
    int to, from;
};

/* dst = (accumulate ? dst : 0) + ((src[0] + src[1]) + ...); any of them may be on another slot. */
struct dp_reduce_args {
    enum dp_dtype dtype;
    int n_src;
    bool accumulate;
    size_t n;
    void *dst;
    const void *src[DP_MAX_SLOTS];
};

/* dst = (scale * src[0] + scale * src[1]) + ..., with each product rounded. dst may be one of src.
 * Any of them may be on another slot. */
struct dp_mean_args {
    int n_src;
    float scale;
    size_t n;
    float *dst;
    const float *src[DP_MAX_SLOTS];
};

/* A window that moves over images. Arrays are [height, width]. */
struct dp_geometry {
    size_t images, channels, height, width;          /* of the input */
    size_t kernel[2], stride[2], padding[2], out[2]; /* out: number of windows that fit */
};

/* A matrix col with a row for each place (c, kh, kw) of a window and a column for each window
 * (image, oh, ow), and images x [images, channels, height, width].
 *   IM2COL  col[c,kh,kw ; n,oh,ow] = x[n, c, oh*stride - padding + kh, ow.. + kw], 0 outside
 *   COL2IM  x = for each element the sum of its places in col, kh, then kw ascending */
struct dp_columns {
    struct dp_geometry at;
    float *col, *x; /* one is read, the other is written */
};

/* A convolution that a library may make instead of several kernels: x [images, channels, height,
 * width], weight [c_out, channels, kernel], bias [c_out], y [images, c_out, out].
 *   y not NULL   y = x * weight (+ bias, if not NULL)
 *   y NULL       the gradients that are not NULL, from dy: dx, dweight (+ itself), dbias (+ itself)
 */
struct dp_convolution {
    struct dp_geometry at;
    size_t c_out;
    const float *x, *weight, *bias, *dy;
    float *y, *dx, *dweight, *dbias;
    bool accumulate_weight, accumulate_bias;
};

/* y[j,i,:] = x[i,j,:] (+ bias[i]): swaps the outer two of three dimensions. */
struct dp_swap {
    float *y;
    const float *x, *bias; /* bias may be NULL */
    size_t i, j, block;
};

/* out[r] (+)= sum of row r of x. Lane l = 0..7 adds elements l, l+8, ... in order. Then the lanes
 * are added as ((0+4)+(2+6)) + ((1+5)+(3+7)). */
struct dp_add_rows {
    float *out;
    const float *x;
    size_t rows, cols;
    bool accumulate;
};

/* The maximum of each window; of equal values, the first; NaN is above all. index is its place in
 * its plane of height * width. There are at.images * at.channels planes. Padding is never the
 * maximum.
 *   MAX_POOL       y and index from x
 *   MAX_POOL_GRAD  dx = 0, then dx[index] += dy in the order of dy */
struct dp_max_pool {
    struct dp_geometry at;
    float *y; /* MAX_POOL_GRAD: dy */
    int32_t *index;
    float *x; /* MAX_POOL_GRAD: dx */
};

/* Rows of a table [rows, cols], chosen by number.
 *   LOOKUP       y[n,:] = table[index[n],:], NaN where index[n] is outside 0..rows-1
 *   LOOKUP_GRAD  table (+)= 0, then table[index[n],:] += y[n,:] for n ascending; outside: nothing
 */
struct dp_lookup {
    float *table, *y;
    const int32_t *index;
    size_t n, rows, cols;
    bool accumulate; /* LOOKUP_GRAD */
};

/* One step of an LSTM for rows of hidden units. gates is [rows, 4 hidden] in the order i, f, g, o.
 *   LSTM       gates holds W x + W h, and gets the activations of that + bias_x + bias_h:
 *              sigmoid of i, f, o, tanh of g; c = f*c_before + i*g; h = o*tanh(c)
 *   LSTM_GRAD  gates holds the activations, and gets the gradients of the sums before them. dh is
 *              the gradient of h. dc, the gradient of c from later steps, becomes that of c_before
 */
struct dp_lstm_args {
    float *gates;
    const float *bias_x, *bias_h; /* LSTM */
    const float *c_before;        /* NULL: zeros */
    float *c, *h;                 /* LSTM_GRAD reads c, and does not use h */
    const float *dh;              /* LSTM_GRAD */
    float *dc;
    size_t rows, hidden;
    bool last; /* LSTM_GRAD: dc has no values yet, and counts as zeros */
};

/* Normalisation per channel of x [rows, channels, inner], with n = rows * inner values each. Sums
 * are kept in double, over rows, then inner, ascending. Lane l = 0..7 adds l, l+8, ..., and the
 * lanes are added as in dp_add_rows. Every result is rounded once from double.
 *   BATCH_NORM       mean, and the biased variance as the mean of (x - mean)^2; y = (x - mean) *
 *                    invstd * weight + bias, invstd = 1 / sqrt(var + eps). running = (1 - momentum)
 *                    running + momentum * (mean, var n/(n-1)); count += 1
 *   BATCH_NORM_EVAL  the same with the running values, which do not change
 *   BATCH_NORM_GRAD  dweight = sum dy xhat, dbias = sum dy (both (+)=), and dx = weight invstd (dy
 *                    - mean(dy) - xhat mean(dy xhat)), in eval weight invstd dy */
struct dp_batch_norm_args {
    const float *x, *weight, *bias;
    float *y; /* GRAD: dx; NULL: not wanted */
    float *running_mean, *running_var;
    int64_t *count;
    float *mean, *invstd; /* [channels]: saved by both forwards, read by GRAD */
    const float *dy;
    float *dweight, *dbias; /* NULL: not wanted */
    double eps, momentum;
    size_t rows, channels, inner;
    bool accumulate_weight, accumulate_bias, training;
};

/* Normalisation of each row of x [rows, width]. Sums are kept in double: those of a row in lanes,
 * as in dp_batch_norm_args, and those over the rows ascending. Every result is rounded once from
 * double.
 *   LAYER_NORM       mean, and the biased variance as the mean of (x - mean)^2; y = (x - mean) *
 *                    invstd * weight + bias, invstd = 1 / sqrt(var + eps)
 *   LAYER_NORM_GRAD  with d = dy weight: y = invstd (d - mean(d) - xhat mean(d xhat)), and over the
 *                    rows dweight = sum dy xhat, dbias = sum dy (both (+)=) */
struct dp_layer_norm_args {
    const float *x, *weight, *bias;
    float *y;             /* GRAD: dx; NULL: not wanted */
    float *mean, *invstd; /* [rows]: saved by the forward, read by GRAD */
    const float *dy;
    float *dweight, *dbias; /* NULL: not wanted */
    double eps;
    size_t rows, width;
    bool accumulate_weight, accumulate_bias;
};

/* The layout of a batch of matrices, in numbers: the matrix of row r and head h begins at r * row +
 * h * head, and consecutive rows of it are lead apart. */
struct dp_heads {
    size_t row, head, lead;
};

/* Which part of a product of square matrices is a triangle.
 *   A  elements above the diagonal of a, as it is stored, are zeros: their terms may be left out
 *   C  elements above the diagonal of c are not used, and need not be computed */
enum dp_triangle { DP_TRIANGLE_NONE, DP_TRIANGLE_A, DP_TRIANGLE_C };

/* For each row and head: c[m,n] = op(a)[m,k] op(b)[k,n]; no size is 0. */
struct dp_gemm_heads {
    bool transpose_a, transpose_b;
    enum dp_triangle triangle;
    size_t m, n, k, rows, heads;
    const float *a, *b;
    float *c;
    struct dp_heads at_a, at_b, at_c;
};

/* Matrices p [n, time, time], in which row t uses columns 0..t only. Computed in double; each
 * result is rounded once.
 *   CAUSAL       p becomes the softmax of scale * p, shifted by the largest; 0 in other columns
 *   CAUSAL_GRAD  p is that result. d, its gradient, becomes the gradient of the input of the
 *                softmax: scale p (d - sum of p d), and 0 in other columns, whose d is not used */
struct dp_causal_args {
    float *p, *d; /* d: for CAUSAL_GRAD */
    size_t n, time;
    double scale;
};

/* y[i] = x[i] * scale if a random number in 0..2^32-1, a function of key and i, is below limit,
 * else 0. It is the upper half of SplitMix64's mix of key + (i + 1) * 0x9e3779b97f4a7c15. The
 * kernel reads the key when it runs, so a launch with another key is the same launch. */
struct dp_dropout_args {
    float *y;
    const float *x;
    size_t n;
    const uint64_t *key; /* one number */
    uint64_t limit;
    float scale;
};

/* Capsules with routing by agreement. votes[n,i,j,:] = weight[i,j] u[n,i]. The logits b start at 0.
 * Each of the rounds computes c = softmax of b over j, s[j] = sum over i ascending of c[i,j]
 * votes[i,j], v = s |s|^2 / (1 + |s|^2) / sqrt(|s|^2 + 1e-8), and in all but the last round b[i,j]
 * += votes[i,j] . v[j].
 *   CAPSULE       v; votes, the logits of the last c, and s are kept for the gradient
 *   CAPSULE_GRAD  with c taken as constants: votes becomes its gradient c ds, and s becomes ds */
struct dp_capsule_args {
    float *votes;    /* [n, in, out, width] */
    float *logits;   /* [n, in, out] */
    float *s, *v;    /* [n, out, width] */
    const float *dv; /* CAPSULE_GRAD, which does not use v */
    size_t n, in, out, width;
    int rounds;
};

/* Waits for that time. */
struct dp_delay_args {
    uint64_t ns;
};

typedef void dp_kernel_fn(const void *args);

/* Zeroes the bytes that belong to no field, so that equal arguments have equal bytes. */
void dp_kernel_clear_padding(enum dp_kernel kernel, void *args);

#endif
