/* launch.h: starts of the device kernels. C on one side, nvcc on the other.
 *
 * Each returns at once with the cudaError_t of the launch as an int, 0 for none; the kernel runs
 * later, in the order of the stream, and works as the kernel of that name in cpu/kernels_ref.c.
 * The current device of the thread must be the stream's. Copies, zeros and matrix products are not
 * here: the runtime and cuBLAS have them. */
#ifndef DP_CUDA_LAUNCH_H
#define DP_CUDA_LAUNCH_H

#include "../kernels.h"

#ifdef __cplusplus
extern "C" {
#endif

struct CUstream_st; /* cudaStream_t is a pointer to it */

/* Whether the build has kernels for the thread's current GPU: cudaSuccess or what is wrong. */
int dp_cuda_kernels_there(void);
int dp_cuda_launch_add_bias(const struct dp_add_bias *args, struct CUstream_st *stream);
/* A thread per column adds its rows in order, so the bits are the reference's. */
int dp_cuda_launch_sum_rows(const struct dp_sum_rows *args, struct CUstream_st *stream);
int dp_cuda_launch_relu(const struct dp_activation *args, struct CUstream_st *stream);
int dp_cuda_launch_relu_grad(const struct dp_activation_grad *args, struct CUstream_st *stream);
/* tanh in double: within an ulp of the C library's tanhf, not always its bits. */
int dp_cuda_launch_tanh(const struct dp_activation *args, struct CUstream_st *stream);
int dp_cuda_launch_tanh_grad(const struct dp_activation_grad *args, struct CUstream_st *stream);
/* Sums in double, in a fixed order that is not the reference's: the same bits on exact data. parts:
 * memory of the GPU for as many sums of parts, used until the kernel is done. */
#define DP_CUDA_LOSS_PARTS 1024
int dp_cuda_launch_loss(const struct dp_loss_args *args, double *parts, struct CUstream_st *stream);
int dp_cuda_launch_loss_grad(const struct dp_loss_args *args, struct CUstream_st *stream);
int dp_cuda_launch_sgd(const struct dp_sgd_args *args, struct CUstream_st *stream);
int dp_cuda_launch_fill(const struct dp_fill *args, struct CUstream_st *stream);
int dp_cuda_launch_reduce(const struct dp_reduce_args *args, struct CUstream_st *stream);
int dp_cuda_launch_mean(const struct dp_mean_args *args, struct CUstream_st *stream);
int dp_cuda_launch_round_bf16(const struct dp_round_bf16 *args, struct CUstream_st *stream);

#ifdef __cplusplus
}
#endif

#endif
