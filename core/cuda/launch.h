/* launch.h: launches of the device kernels; C on one side, nvcc on the other.
 *
 * Each function returns at once with the cudaError_t of the launch as an int, 0 for none. The
 * kernel runs later, in the order of the stream, and does the same as the kernel of that name in
 * cpu/kernels_ref*.c. The current device of the thread must be that of the stream. The runtime
 * makes copies and zeros (launch.c), and cuBLAS makes matrix products (gemm.c).
 *
 * Sums have one of two orders. By default one thread makes all additions to an element, in the
 * order of the reference, so the bits are those of the reference. Other sums have "an own order":
 * many threads add, each its share in order, and then their sums in a tree. That order depends on
 * the shapes alone. So the bits are the same each time, and those of the reference for exact data.
 * For other data, n terms are off by at most n ulps of the sum of their sizes.
 *
 * Sums of squares have the order of a block's threads in the reference, too, so the bits are the
 * same.
 *
 * These have an own order: SUM_ROWS, with 32 threads for a column; the losses, in double, with 32
 * for a row of classes; ADD_ROWS, with a block for each row; batch norm, in double, with a block
 * for each channel; layer norm, with a block for each row, and for the gradients of its parameters,
 * in double, with 8 threads for a column; the causal softmax, in double, with 32 for a row. Matrix
 * products of heads are those of cuBLAS, too. LOOKUP_GRAD has a block for each row of the table,
 * which reads all n numbers, 256 at once: rows * n / 256 steps of a block. Capsules have a block
 * for each sample. tanh and exp are computed in double: within an ulp of those of the C library for
 * float, but not always with their bits. */
#ifndef DP_CUDA_LAUNCH_H
#define DP_CUDA_LAUNCH_H

#include "../kernels.h"

#ifdef __cplusplus
extern "C" {
#endif

struct CUstream_st; /* cudaStream_t is a pointer to it */

/* Checks that the build has kernels for the current GPU of the thread: cudaSuccess, or the error.
 */
int dp_cuda_kernels_there(void);

/* args is the struct of the kernel in kernels.h. */
typedef int dp_cuda_launcher(const void *args, struct CUstream_st *stream);

/* The functions of all kernels that are launched on a stream: dp_cuda_launch_name. */
#define DP_CUDA_STREAM(name) dp_cuda_launcher dp_cuda_launch_##name;
#define DP_CUDA_QUEUE(name)
#define DP_CUDA_NONE(name)
#define DP_CUDA_ROW(number, name, cpu, gpu, words, arguments) DP_CUDA_##gpu(name)
DP_KERNEL_LIST(DP_CUDA_ROW)
#undef DP_CUDA_ROW
#undef DP_CUDA_NONE
#undef DP_CUDA_QUEUE
#undef DP_CUDA_STREAM

/* In an own order, in double. parts is GPU memory for that many partial sums, in use until the
 * kernel has ended. */
#define DP_CUDA_LOSS_PARTS 1024
int dp_cuda_launch_loss(const struct dp_loss_args *args, double *parts, struct CUstream_st *stream);

#ifdef __cplusplus
}
#endif

#endif
