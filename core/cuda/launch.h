/* launch.h: starts of the device kernels. C on one side, nvcc on the other.
 *
 * Each returns at once with the cudaError_t of the launch as an int, 0 for none; the kernel runs
 * later, in the order of the stream, and works as the kernel of that name in cpu/kernels_ref*.c.
 * The current device of the thread must be the stream's. Copies, zeros and matrix products are not
 * here: the runtime and cuBLAS have them.
 *
 * Sums are in one of two orders. Where nothing else is said: one thread adds what is added to one
 * element, in the reference's order, so that the bits are the reference's. "In an order of its
 * own": many threads add, each its share in order, then their sums in a tree. That order is a
 * function of the shapes alone: the same bits each time, the reference's on exact data, and on
 * other data, for n terms, off by at most n ulps of the sum of their sizes. */
#ifndef DP_CUDA_LAUNCH_H
#define DP_CUDA_LAUNCH_H

#include "../kernels.h"

#ifdef __cplusplus
extern "C" {
#endif

struct CUstream_st; /* cudaStream_t is a pointer to it */

/* Whether the build has kernels for the thread's current GPU: cudaSuccess or what is wrong. */
int dp_cuda_kernels_there(void);

/* args: the struct of the kernel in kernels.h. */
typedef int dp_cuda_launcher(const void *args, struct CUstream_st *stream);

/* kernels.cu. tanh and exp, here and below, are made in double: within an ulp of the C library's
 * for float, not always its bits. SUM_ROWS, in an order of its own, has 32 threads for a column;
 * the losses, with sums in double, 32 for a row of classes. */
dp_cuda_launcher dp_cuda_launch_add_bias, dp_cuda_launch_sum_rows, dp_cuda_launch_relu,
    dp_cuda_launch_relu_grad, dp_cuda_launch_tanh, dp_cuda_launch_tanh_grad,
    dp_cuda_launch_loss_grad, dp_cuda_launch_sgd, dp_cuda_launch_fill, dp_cuda_launch_reduce,
    dp_cuda_launch_mean, dp_cuda_launch_round_bf16;
/* In an order of its own, in double. parts: memory of the GPU for as many sums of parts, used until
 * the kernel is done. */
#define DP_CUDA_LOSS_PARTS 1024
int dp_cuda_launch_loss(const struct dp_loss_args *args, double *parts, struct CUstream_st *stream);

/* kernels_image.cu. ADD_ROWS is in an order of its own: a block for each row. */
dp_cuda_launcher dp_cuda_launch_im2col, dp_cuda_launch_col2im, dp_cuda_launch_swap,
    dp_cuda_launch_add_rows, dp_cuda_launch_max_pool, dp_cuda_launch_max_pool_grad;

/* kernels_table.cu. LOOKUP_GRAD: a block per row of the table reads all n numbers, 256 at once:
 * rows * n / 256 steps of a block. */
dp_cuda_launcher dp_cuda_launch_lookup, dp_cuda_launch_lookup_grad, dp_cuda_launch_store,
    dp_cuda_launch_dropout;

/* kernels_recurrent.cu */
dp_cuda_launcher dp_cuda_launch_lstm, dp_cuda_launch_lstm_grad;

/* kernels_norm.cu. A block per channel; its sums, in double, are in an order of its own. */
dp_cuda_launcher dp_cuda_launch_batch_norm, dp_cuda_launch_batch_norm_eval,
    dp_cuda_launch_batch_norm_grad;

/* kernels_capsule.cu. A block per sample. */
dp_cuda_launcher dp_cuda_launch_capsule, dp_cuda_launch_capsule_grad;

#ifdef __cplusplus
}
#endif

#endif
