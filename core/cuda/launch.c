/* launch.c: one operation of the seam onto a stream: own kernels, copies, zeros. */
#include "launch.h"

#include "cuda.h"

/* Unified addressing tells the direction from the pointers. */
static int launch_copy(const void *args, struct CUstream_st *stream)
{
    const struct dp_copy *g = args;
    if (g->width == 0 || g->height == 0)
        return cudaSuccess;
    if (g->height == 1 || (g->width == g->dst_pitch && g->width == g->src_pitch))
        return (int)cudaMemcpyAsync(g->dst, g->src, g->width * g->height, cudaMemcpyDefault,
                                    stream);
    return (int)cudaMemcpy2DAsync(g->dst, g->dst_pitch, g->src, g->src_pitch, g->width, g->height,
                                  cudaMemcpyDefault, stream);
}

static int launch_zero(const void *args, struct CUstream_st *stream)
{
    const struct dp_zero *g = args;
    return g->bytes == 0 ? cudaSuccess : (int)cudaMemsetAsync(g->dst, 0, g->bytes, stream);
}

/* Of the kernels that need nothing but their arguments. */
static dp_cuda_launcher *const launchers[DP_KERNELS] = {
    [DP_KERNEL_ADD_BIAS] = dp_cuda_launch_add_bias,
    [DP_KERNEL_SUM_ROWS] = dp_cuda_launch_sum_rows,
    [DP_KERNEL_RELU] = dp_cuda_launch_relu,
    [DP_KERNEL_RELU_GRAD] = dp_cuda_launch_relu_grad,
    [DP_KERNEL_TANH] = dp_cuda_launch_tanh,
    [DP_KERNEL_TANH_GRAD] = dp_cuda_launch_tanh_grad,
    [DP_KERNEL_LOSS_GRAD] = dp_cuda_launch_loss_grad,
    [DP_KERNEL_SGD] = dp_cuda_launch_sgd,
    [DP_KERNEL_ZERO] = launch_zero,
    [DP_KERNEL_FILL] = dp_cuda_launch_fill,
    [DP_KERNEL_STORE] = dp_cuda_launch_store,
    [DP_KERNEL_COPY] = launch_copy,
    [DP_KERNEL_REDUCE] = dp_cuda_launch_reduce,
    [DP_KERNEL_MEAN] = dp_cuda_launch_mean,
    [DP_KERNEL_ROUND_BF16] = dp_cuda_launch_round_bf16,
    [DP_KERNEL_IM2COL] = dp_cuda_launch_im2col,
    [DP_KERNEL_COL2IM] = dp_cuda_launch_col2im,
    [DP_KERNEL_SWAP] = dp_cuda_launch_swap,
    [DP_KERNEL_ADD_ROWS] = dp_cuda_launch_add_rows,
    [DP_KERNEL_MAX_POOL] = dp_cuda_launch_max_pool,
    [DP_KERNEL_MAX_POOL_GRAD] = dp_cuda_launch_max_pool_grad,
    [DP_KERNEL_LOOKUP] = dp_cuda_launch_lookup,
    [DP_KERNEL_LOOKUP_GRAD] = dp_cuda_launch_lookup_grad,
    [DP_KERNEL_LSTM] = dp_cuda_launch_lstm,
    [DP_KERNEL_LSTM_GRAD] = dp_cuda_launch_lstm_grad,
    [DP_KERNEL_BATCH_NORM] = dp_cuda_launch_batch_norm,
    [DP_KERNEL_BATCH_NORM_EVAL] = dp_cuda_launch_batch_norm_eval,
    [DP_KERNEL_BATCH_NORM_GRAD] = dp_cuda_launch_batch_norm_grad,
    [DP_KERNEL_DROPOUT] = dp_cuda_launch_dropout,
    [DP_KERNEL_CAPSULE] = dp_cuda_launch_capsule,
    [DP_KERNEL_CAPSULE_GRAD] = dp_cuda_launch_capsule_grad,
};

static const char *const names[DP_KERNELS] = {
    [DP_KERNEL_GEMM] = "matrix product",
    [DP_KERNEL_ADD_BIAS] = "bias",
    [DP_KERNEL_SUM_ROWS] = "sum of rows",
    [DP_KERNEL_RELU] = "relu",
    [DP_KERNEL_RELU_GRAD] = "relu's gradient",
    [DP_KERNEL_TANH] = "tanh",
    [DP_KERNEL_TANH_GRAD] = "tanh's gradient",
    [DP_KERNEL_LOSS] = "loss",
    [DP_KERNEL_LOSS_GRAD] = "loss's gradient",
    [DP_KERNEL_SGD] = "update",
    [DP_KERNEL_ZERO] = "zero",
    [DP_KERNEL_FILL] = "fill",
    [DP_KERNEL_STORE] = "store",
    [DP_KERNEL_COPY] = "copy",
    [DP_KERNEL_REDUCE] = "sum of replicas",
    [DP_KERNEL_MEAN] = "mean of ranks",
    [DP_KERNEL_ROUND_BF16] = "rounding to bfloat16",
    [DP_KERNEL_IM2COL] = "im2col",
    [DP_KERNEL_COL2IM] = "col2im",
    [DP_KERNEL_SWAP] = "exchange of dimensions",
    [DP_KERNEL_ADD_ROWS] = "sums in rows",
    [DP_KERNEL_MAX_POOL] = "max-pool",
    [DP_KERNEL_MAX_POOL_GRAD] = "max-pool's gradient",
    [DP_KERNEL_LOOKUP] = "embedding",
    [DP_KERNEL_LOOKUP_GRAD] = "embedding's gradient",
    [DP_KERNEL_LSTM] = "lstm step",
    [DP_KERNEL_LSTM_GRAD] = "lstm step's gradient",
    [DP_KERNEL_BATCH_NORM] = "batch norm",
    [DP_KERNEL_BATCH_NORM_EVAL] = "batch norm in eval",
    [DP_KERNEL_BATCH_NORM_GRAD] = "batch norm's gradient",
    [DP_KERNEL_DROPOUT] = "dropout",
    [DP_KERNEL_CAPSULE] = "capsules",
    [DP_KERNEL_CAPSULE_GRAD] = "capsules' gradient",
};

int dp_cuda_issue(struct dp_queue *queue, enum dp_kernel kernel, const void *args,
                  struct dp_error *err)
{
    const struct dp_cuda_queue *q = queue->native;
    const struct dp_cuda_slot *s = queue->slot->native;
    if (kernel == DP_KERNEL_GEMM)
        return dp_cuda_gemm(queue, args, err);
    if (kernel == DP_KERNEL_GEMM_BF16)
        return dp_cuda_gemm_bf16(queue, args, err);
    if ((unsigned)kernel >= DP_KERNELS || (kernel != DP_KERNEL_LOSS && !launchers[kernel]))
        return dp_fail(err, DP_ENOTSUP, "%s: kernel %d does not run on GPUs in this version",
                       queue->slot->info.name, (int)kernel);
    const int error = kernel == DP_KERNEL_LOSS ? dp_cuda_launch_loss(args, s->parts, q->stream)
                                               : launchers[kernel](args, q->stream);
    return error ? dp_cuda_fail(queue->slot, names[kernel], (cudaError_t)error, err) : 0;
}
