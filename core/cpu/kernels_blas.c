/* kernels_blas.c: the fast CPU kernels. Matrix products by CBLAS, sums in vectorisable blocks;
 * everything else is the portable kernel. */
#include "kernels_ref.h"

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

#define BLOCK 1024

/* The additions of the portable kernel in the same order, a block at a time. */
static void blas_reduce_f32(const struct dp_reduce_args *g, size_t first, size_t n)
{
    float sum[BLOCK];
    memcpy(sum, (const float *)g->src[0] + first, n * sizeof *sum);
    for (int s = 1; s < g->n_src; ++s) {
        const float *src = (const float *)g->src[s] + first;
        for (size_t i = 0; i < n; ++i)
            sum[i] += src[i];
    }
    float *dst = (float *)g->dst + first;
    if (g->accumulate) {
        for (size_t i = 0; i < n; ++i)
            dst[i] += sum[i];
    } else {
        memcpy(dst, sum, n * sizeof *sum);
    }
}

static void blas_reduce(const void *args)
{
    const struct dp_reduce_args *g = args;
    if (g->dtype != DP_F32) {
        dp_ref_reduce(args);
        return;
    }
    for (size_t first = 0; first < g->n; first += BLOCK)
        blas_reduce_f32(g, first, g->n - first < BLOCK ? g->n - first : BLOCK);
}

dp_kernel_fn *const dp_kernels_blas[DP_KERNELS] = {
    [DP_KERNEL_GEMM] = blas_gemm,
    [DP_KERNEL_ADD_BIAS] = dp_ref_add_bias,
    [DP_KERNEL_SUM_ROWS] = dp_ref_sum_rows,
    [DP_KERNEL_RELU] = dp_ref_relu,
    [DP_KERNEL_RELU_GRAD] = dp_ref_relu_grad,
    [DP_KERNEL_TANH] = dp_ref_tanh,
    [DP_KERNEL_TANH_GRAD] = dp_ref_tanh_grad,
    [DP_KERNEL_LOSS] = dp_ref_loss,
    [DP_KERNEL_LOSS_GRAD] = dp_ref_loss_grad,
    [DP_KERNEL_SGD] = dp_ref_sgd,
    [DP_KERNEL_ZERO] = dp_ref_zero,
    [DP_KERNEL_FILL] = dp_ref_fill,
    [DP_KERNEL_COPY] = dp_ref_copy,
    [DP_KERNEL_REDUCE] = blas_reduce,
};
