/* kernels.h: the operations a device must be able to run, as numbers and argument structs.
 *
 * Part of the seam. Every kernel has a portable reference in cpu/kernels_ref.c, which is its
 * definition; a backend overrides what it can do faster. All arrays are contiguous and on the
 * slot of the queue unless a line says otherwise. Arguments are copied at launch. */
#ifndef DP_KERNELS_H
#define DP_KERNELS_H

#include "dp.h"

enum dp_kernel {
    DP_KERNEL_GEMM,
    DP_KERNEL_ADD_BIAS,
    DP_KERNEL_SUM_ROWS,
    DP_KERNEL_RELU,
    DP_KERNEL_RELU_GRAD,
    DP_KERNEL_TANH,
    DP_KERNEL_TANH_GRAD,
    DP_KERNEL_LOSS,
    DP_KERNEL_LOSS_GRAD,
    DP_KERNEL_SGD,
    DP_KERNEL_ZERO,
    DP_KERNEL_FILL,
    DP_KERNEL_COPY,
    DP_KERNEL_REDUCE,
    DP_KERNEL_MEAN,
    DP_KERNELS
};

/* c[m,n] = op(a)[m,k] op(b)[k,n] (+ c); op transposes when its flag is set. k = 0 gives 0. */
struct dp_gemm {
    bool transpose_a, transpose_b, accumulate;
    size_t m, n, k;
    const float *a, *b;
    float *c;
};

/* y[r,c] += bias[c] */
struct dp_add_bias {
    float *y;
    const float *bias;
    size_t rows, cols;
};

/* out[c] = sum over r of x[r,c] (+ out[c]), rows in order */
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

/* dx = dy * f'(x), written in terms of y = f(x) */
struct dp_activation_grad {
    float *dx;
    const float *dy, *y;
    size_t n;
};

/* Losses of dp_loss; scale already holds the division of a mean. rows * cols elements of y. */
struct dp_loss_args {
    enum dp_loss_kind kind;
    double scale;
    size_t rows, cols;
    const float *y;
    const void *target;    /* float, int32_t for XENT; NULL for a plain sum */
    const float *upstream; /* LOSS_GRAD: one float, NULL for 1 */
    float *out;            /* LOSS: one float; LOSS_GRAD: rows * cols */
};

/* dp_sgd_step for one tensor; velocity NULL without momentum. The rate is read when the kernel
 * runs: launches of another rate are the same launches. */
struct dp_sgd_args {
    float *value, *velocity;
    const float *grad, *lr; /* lr: one float */
    float momentum, decay;
    bool first; /* velocity holds nothing yet */
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

/* height rows of width bytes; either side may be on another slot. */
struct dp_copy {
    void *dst;
    const void *src;
    size_t width, height, dst_pitch, src_pitch;
};

/* dst = (accumulate ? dst : 0) + ((src[0] + src[1]) + ...); any of them on another slot. */
struct dp_reduce_args {
    enum dp_dtype dtype;
    bool accumulate;
    int n_src;
    size_t n;
    void *dst;
    const void *src[DP_MAX_SLOTS];
};

/* dst = (scale * src[0] + scale * src[1]) + ..., each product rounded; dst may be one of src. Any
 * of them on another slot. */
struct dp_mean_args {
    int n_src;
    float scale;
    size_t n;
    float *dst;
    const float *src[DP_MAX_SLOTS];
};

typedef void dp_kernel_fn(const void *args);

/* Zeroes the bytes between the fields, so that equal arguments are equal byte by byte. Not for
 * copies and sums of replicas. */
void dp_kernel_clear_padding(enum dp_kernel kernel, void *args);

#endif
