/* launch.h: starts of the device kernels. C on one side, nvcc on the other.
 *
 * Each returns at once with the cudaError_t of the launch as an int, 0 for none; the kernel runs
 * later, in the order of the stream, and works as the kernel of that name in cpu/kernels_ref*.c.
 * The current device of the thread must be the stream's. Copies and zeros are the runtime's
 * (launch.c), matrix products cuBLAS's (gemm.c).
 *
 * Sums are in one of two orders. Where nothing else is said: one thread adds what is added to one
 * element, in the reference's order, so that the bits are the reference's. "In an order of its
 * own": many threads add, each its share in order, then their sums in a tree. That order is a
 * function of the shapes alone: the same bits each time, the reference's on exact data, and on
 * other data, for n terms, off by at most n ulps of the sum of their sizes.
 *
 * Sums of squares have the order of a block's threads in the reference, too: the same bits.
 *
 * In an order of their own are: SUM_ROWS, with 32 threads for a column; the losses, with sums in
 * double, 32 for a row of classes; ADD_ROWS, a block for each row; batch norm, a block for each
 * channel, with sums in double; layer norm, a block for each row, and for the gradients of its
 * parameters 8 threads for a column, in double; the causal softmax, 32 for a row, in double. Matrix
 * products of heads are cuBLAS's, too. LOOKUP_GRAD: a block per row of the table reads all n
 * numbers, 256 at once: rows * n / 256 steps of a block. Capsules: a block for each sample. tanh
 * and exp are made in double: within an ulp of the C library's for float, not always its bits. */
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

/* Of every kernel that is launched on a stream: dp_cuda_launch_name. */
#define DP_CUDA_STREAM(name) dp_cuda_launcher dp_cuda_launch_##name;
#define DP_CUDA_QUEUE(name)
#define DP_CUDA_NONE(name)
#define DP_CUDA_ROW(number, name, cpu, gpu, words, arguments) DP_CUDA_##gpu(name)
DP_KERNEL_LIST(DP_CUDA_ROW)
#undef DP_CUDA_ROW
#undef DP_CUDA_NONE
#undef DP_CUDA_QUEUE
#undef DP_CUDA_STREAM

/* In an order of its own, in double. parts: memory of the GPU for as many sums of parts, used until
 * the kernel is done. */
#define DP_CUDA_LOSS_PARTS 1024
int dp_cuda_launch_loss(const struct dp_loss_args *args, double *parts, struct CUstream_st *stream);

#ifdef __cplusplus
}
#endif

#endif
