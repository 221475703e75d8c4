/* kernels_fast.h: the kernels of kernels_fast*.c by name, for tables of kernels. */
#ifndef DP_KERNELS_FAST_H
#define DP_KERNELS_FAST_H

#include "kernels_ref.h"

/* A function that is compiled twice, for any x86-64 and for one with AVX2, and chosen when the
 * program starts. Nothing is fused or reordered, so both give the same bits. Of static functions
 * only: the choice between others is a symbol that programs would see. */
#ifdef DP_WIDE_KERNELS
#define DP_WIDE __attribute__((target_clones("avx2", "default")))
#else
#define DP_WIDE
#endif

dp_kernel_fn dp_fast_add_bias, dp_fast_sum_rows, dp_fast_relu_grad, dp_fast_loss, dp_fast_sgd,
    dp_fast_reduce, dp_fast_mean, dp_blas_gemm_bf16;
dp_kernel_fn dp_fast_im2col, dp_fast_col2im, dp_fast_max_pool, dp_fast_max_pool_grad,
    dp_fast_add_rows, dp_fast_swap;           /* kernels_fast_image.c */
dp_kernel_fn dp_fast_lstm, dp_fast_lstm_grad; /* kernels_fast_recurrent.c */

#endif
