/* launch.c: one operation of the seam onto a stream: own kernels, copies, zeros. */
#include "launch.h"

#include "cuda.h"

/* Unified addressing tells the direction from the pointers. */
static cudaError_t launch_copy(const struct dp_copy *g, cudaStream_t stream)
{
    if (g->width == 0 || g->height == 0)
        return cudaSuccess;
    if (g->height == 1 || (g->width == g->dst_pitch && g->width == g->src_pitch))
        return cudaMemcpyAsync(g->dst, g->src, g->width * g->height, cudaMemcpyDefault, stream);
    return cudaMemcpy2DAsync(g->dst, g->dst_pitch, g->src, g->src_pitch, g->width, g->height,
                             cudaMemcpyDefault, stream);
}

static cudaError_t launch_zero(const struct dp_zero *g, cudaStream_t stream)
{
    return g->bytes == 0 ? cudaSuccess : cudaMemsetAsync(g->dst, 0, g->bytes, stream);
}

/* Of the kernels with a launcher of their own, and of copies and zeros. */
static cudaError_t launch(enum dp_kernel kernel, const void *args, double *parts,
                          cudaStream_t stream)
{
    switch (kernel) {
    case DP_KERNEL_ADD_BIAS:
        return (cudaError_t)dp_cuda_launch_add_bias(args, stream);
    case DP_KERNEL_SUM_ROWS:
        return (cudaError_t)dp_cuda_launch_sum_rows(args, stream);
    case DP_KERNEL_RELU:
        return (cudaError_t)dp_cuda_launch_relu(args, stream);
    case DP_KERNEL_RELU_GRAD:
        return (cudaError_t)dp_cuda_launch_relu_grad(args, stream);
    case DP_KERNEL_TANH:
        return (cudaError_t)dp_cuda_launch_tanh(args, stream);
    case DP_KERNEL_TANH_GRAD:
        return (cudaError_t)dp_cuda_launch_tanh_grad(args, stream);
    case DP_KERNEL_LOSS:
        return (cudaError_t)dp_cuda_launch_loss(args, parts, stream);
    case DP_KERNEL_LOSS_GRAD:
        return (cudaError_t)dp_cuda_launch_loss_grad(args, stream);
    case DP_KERNEL_SGD:
        return (cudaError_t)dp_cuda_launch_sgd(args, stream);
    case DP_KERNEL_ZERO:
        return launch_zero(args, stream);
    case DP_KERNEL_FILL:
        return (cudaError_t)dp_cuda_launch_fill(args, stream);
    case DP_KERNEL_COPY:
        return launch_copy(args, stream);
    case DP_KERNEL_REDUCE:
        return (cudaError_t)dp_cuda_launch_reduce(args, stream);
    case DP_KERNEL_MEAN:
        return (cudaError_t)dp_cuda_launch_mean(args, stream);
    case DP_KERNEL_ROUND_BF16:
        return (cudaError_t)dp_cuda_launch_round_bf16(args, stream);
    default:
        return cudaErrorInvalidValue;
    }
}

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

/* Nothing is computed elsewhere instead. */
static bool has_kernel(enum dp_kernel kernel)
{
    return kernel <= DP_KERNEL_GEMM_BF16;
}

int dp_cuda_issue(struct dp_queue *queue, enum dp_kernel kernel, const void *args,
                  struct dp_error *err)
{
    const struct dp_cuda_queue *q = queue->native;
    if (!has_kernel(kernel))
        return dp_fail(err, DP_ENOTSUP, "%s: this version has no kernel for %s on GPUs",
                       queue->slot->info.name, names[kernel]);
    if (kernel == DP_KERNEL_GEMM)
        return dp_cuda_gemm(queue, args, err);
    if (kernel == DP_KERNEL_GEMM_BF16)
        return dp_cuda_gemm_bf16(queue, args, err);
    const struct dp_cuda_slot *s = queue->slot->native;
    const cudaError_t error = launch(kernel, args, s->parts, q->stream);
    return error ? dp_cuda_fail(queue->slot, names[kernel], error, err) : 0;
}
