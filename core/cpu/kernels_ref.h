/* kernels_ref.h: the portable kernels by name, for tables that override some of them. */
#ifndef DP_KERNELS_REF_H
#define DP_KERNELS_REF_H

#include "../backend.h"

dp_kernel_fn dp_ref_gemm, dp_ref_add_bias, dp_ref_sum_rows, dp_ref_relu, dp_ref_relu_grad,
    dp_ref_tanh, dp_ref_tanh_grad, dp_ref_loss, dp_ref_loss_grad, dp_ref_sgd, dp_ref_zero,
    dp_ref_fill, dp_ref_copy, dp_ref_reduce, dp_ref_mean;
dp_kernel_fn dp_ref_round_bf16, dp_ref_gemm_bf16; /* kernels_ref_bf16.c */
dp_kernel_fn dp_ref_im2col, dp_ref_col2im, dp_ref_swap, dp_ref_add_rows, dp_ref_max_pool,
    dp_ref_max_pool_grad; /* kernels_ref_image.c */
dp_kernel_fn dp_ref_lookup, dp_ref_lookup_grad, dp_ref_store,
    dp_ref_dropout;                         /* kernels_ref_table.c */
dp_kernel_fn dp_ref_lstm, dp_ref_lstm_grad; /* kernels_ref_recurrent.c */
dp_kernel_fn dp_ref_batch_norm, dp_ref_batch_norm_eval,
    dp_ref_batch_norm_grad;                       /* kernels_ref_norm.c */
dp_kernel_fn dp_ref_capsule, dp_ref_capsule_grad; /* kernels_ref_capsule.c */

#endif
