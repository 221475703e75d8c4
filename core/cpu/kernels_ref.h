/* kernels_ref.h: the portable kernels by name, for tables that override some of them. */
#ifndef DP_KERNELS_REF_H
#define DP_KERNELS_REF_H

#include "../backend.h"

dp_kernel_fn dp_ref_gemm, dp_ref_add_bias, dp_ref_sum_rows, dp_ref_relu, dp_ref_relu_grad,
    dp_ref_tanh, dp_ref_tanh_grad, dp_ref_loss, dp_ref_loss_grad, dp_ref_sgd, dp_ref_zero,
    dp_ref_fill, dp_ref_copy, dp_ref_reduce, dp_ref_mean;

#endif
