/* launch.c: one operation of the seam onto a stream: own kernels, copies, zeros, cuBLAS. */
#include "launch.h"

#include <limits.h>

#include "cuda.h"

/* cuBLAS is column-major, where our row-major c is its transpose: c' = op(b)' op(a)'. */
static int launch_gemm(struct dp_queue *queue, const struct dp_gemm *g, struct dp_error *err)
{
    const struct dp_cuda_slot *s = queue->slot->native;
    const float one = 1.0f, beta = g->accumulate ? 1.0f : 0.0f;
    if (g->m == 0 || g->n == 0)
        return 0;
    if (g->k == 0 && g->accumulate)
        return 0;
    if (g->k == 0) {
        const cudaError_t error =
            cudaMemsetAsync(g->c, 0, g->m * g->n * sizeof *g->c, s->compute.stream);
        return error ? dp_cuda_fail(queue->slot, "cudaMemsetAsync", error, err) : 0;
    }
    if (queue != &queue->slot->compute)
        return dp_fail(err, DP_EINVAL, "%s: matrix products belong to the compute queue",
                       queue->slot->info.name);
    if (g->m > INT_MAX || g->n > INT_MAX || g->k > INT_MAX)
        return dp_fail(err, DP_EINVAL, "%s: a matrix product of %zu x %zu x %zu: at most %d",
                       queue->slot->info.name, g->m, g->n, g->k, INT_MAX);
    const int m = (int)g->m, n = (int)g->n, k = (int)g->k;
    const cublasStatus_t status =
        cublasSgemm(s->blas, g->transpose_b ? CUBLAS_OP_T : CUBLAS_OP_N,
                    g->transpose_a ? CUBLAS_OP_T : CUBLAS_OP_N, n, m, k, &one, g->b,
                    g->transpose_b ? k : n, g->a, g->transpose_a ? m : k, &beta, g->c, n);
    if (status == CUBLAS_STATUS_SUCCESS)
        return 0;
    return dp_fail(err, status == CUBLAS_STATUS_ALLOC_FAILED ? DP_ENOMEM : DP_EFAULT,
                   "%s: cublasSgemm: %s", queue->slot->info.name, cublasGetStatusString(status));
}

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
static cudaError_t launch(enum dp_kernel kernel, const void *args, cudaStream_t stream)
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
        return (cudaError_t)dp_cuda_launch_loss(args, stream);
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
};

int dp_cuda_launch(struct dp_queue *queue, enum dp_kernel kernel, const void *args, size_t bytes,
                   struct dp_error *err)
{
    const struct dp_cuda_slot *s = queue->slot->native;
    const struct dp_cuda_queue *q = queue->native;
    (void)bytes;
    cudaError_t error = cudaSetDevice(s->device);
    if (error)
        return dp_cuda_fail(queue->slot, "cudaSetDevice", error, err);
    if (kernel == DP_KERNEL_GEMM)
        return launch_gemm(queue, args, err);
    error = launch(kernel, args, q->stream);
    return error ? dp_cuda_fail(queue->slot, names[kernel], error, err) : 0;
}
