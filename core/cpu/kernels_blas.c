/* kernels_blas.c: the table of the fast CPU kernels. Matrix products by CBLAS; the others are those
 * of kernels_fast*.c, and the portable ones where nothing was gained. */
#include "kernels_fast.h"

#include <cblas.h>
#include <limits.h>
#include <string.h>

static void blas_gemm(const void *args)
{
    const struct dp_gemm *g = args;
    if (g->m == 0 || g->n == 0)
        return;
    if (g->k == 0) {
        if (!g->accumulate)
            memset(g->c, 0, g->m * g->n * sizeof *g->c);
        return;
    }
    if (g->m > INT_MAX || g->n > INT_MAX || g->k > INT_MAX) {
        dp_ref_gemm(args);
        return;
    }
    const int m = (int)g->m, n = (int)g->n, k = (int)g->k;
    cblas_sgemm(CblasRowMajor, g->transpose_a ? CblasTrans : CblasNoTrans,
                g->transpose_b ? CblasTrans : CblasNoTrans, m, n, k, 1.0f, g->a,
                g->transpose_a ? m : k, g->b, g->transpose_b ? k : n, g->accumulate ? 1.0f : 0.0f,
                g->c, n);
}

dp_kernel_fn *const dp_kernels_blas[DP_KERNELS] = {
    [DP_KERNEL_GEMM] = blas_gemm,
    [DP_KERNEL_ADD_BIAS] = dp_fast_add_bias,
    [DP_KERNEL_SUM_ROWS] = dp_fast_sum_rows,
    [DP_KERNEL_RELU] = dp_ref_relu,
    [DP_KERNEL_RELU_GRAD] = dp_fast_relu_grad,
    [DP_KERNEL_TANH] = dp_ref_tanh,
    [DP_KERNEL_TANH_GRAD] = dp_ref_tanh_grad,
    [DP_KERNEL_LOSS] = dp_fast_loss,
    [DP_KERNEL_LOSS_GRAD] = dp_ref_loss_grad,
    [DP_KERNEL_SGD] = dp_fast_sgd,
    [DP_KERNEL_ZERO] = dp_ref_zero,
    [DP_KERNEL_FILL] = dp_ref_fill,
    [DP_KERNEL_COPY] = dp_ref_copy,
    [DP_KERNEL_REDUCE] = dp_fast_reduce,
    [DP_KERNEL_MEAN] = dp_fast_mean,
    [DP_KERNEL_ROUND_BF16] = dp_ref_round_bf16,
    [DP_KERNEL_GEMM_BF16] = dp_blas_gemm_bf16,
    [DP_KERNEL_IM2COL] = dp_fast_im2col,
    [DP_KERNEL_COL2IM] = dp_fast_col2im,
    [DP_KERNEL_SWAP] = dp_fast_swap,
    [DP_KERNEL_ADD_ROWS] = dp_fast_add_rows,
    [DP_KERNEL_MAX_POOL] = dp_fast_max_pool,
    [DP_KERNEL_MAX_POOL_GRAD] = dp_fast_max_pool_grad,
    [DP_KERNEL_LOOKUP] = dp_ref_lookup,
    [DP_KERNEL_LOOKUP_GRAD] = dp_ref_lookup_grad,
    [DP_KERNEL_LSTM] = dp_fast_lstm,
    [DP_KERNEL_LSTM_GRAD] = dp_fast_lstm_grad,
    [DP_KERNEL_BATCH_NORM] = dp_ref_batch_norm,
    [DP_KERNEL_BATCH_NORM_EVAL] = dp_ref_batch_norm_eval,
    [DP_KERNEL_BATCH_NORM_GRAD] = dp_ref_batch_norm_grad,
    [DP_KERNEL_STORE] = dp_ref_store,
    [DP_KERNEL_DROPOUT] = dp_ref_dropout,
    [DP_KERNEL_CAPSULE] = dp_ref_capsule,
    [DP_KERNEL_CAPSULE_GRAD] = dp_ref_capsule_grad,
};
