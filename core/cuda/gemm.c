/* gemm.c: matrix products by cuBLAS, in true fp32 unless the math of the group is another. */
#include "cuda.h"

#include <limits.h>
#include <stdio.h>

/* The size that cuBLAS recommends for a GPU of compute capability 9. With it no step allocates. */
#define WORKSPACE_BYTES ((size_t)32 << 20)

static int blas_fail(const struct dp_slot *slot, const char *call, cublasStatus_t status,
                     struct dp_error *err)
{
    const struct dp_cuda_slot *s = slot->native;
    return dp_fail(err, status == CUBLAS_STATUS_ALLOC_FAILED ? DP_ENOMEM : DP_EFAULT, "%s: %s: %s",
                   slot->info.name, call, s->call.status_text(status));
}

/* The stream is set first, because that resets the workspace. */
static int blas_setup(const struct dp_slot *slot, struct dp_cuda_slot *s, struct dp_error *err)
{
    cublasStatus_t status = s->call.set_stream(s->blas, s->compute.stream);
    if (status)
        return blas_fail(slot, "cublasSetStream", status, err);
    status = s->call.set_workspace(s->blas, s->workspace, WORKSPACE_BYTES);
    if (status)
        return blas_fail(slot, "cublasSetWorkspace", status, err);
    status = s->call.set_math_mode(s->blas, slot->group->math == DP_MATH_TF32
                                                ? CUBLAS_TF32_TENSOR_OP_MATH
                                                : CUBLAS_DEFAULT_MATH); /* true fp32 */
    return status ? blas_fail(slot, "cublasSetMathMode", status, err) : 0;
}

/* cuBLAS allocates memory, and on a full GPU it may report that it is not initialised. With less
 * than this left, a lack of memory is meant. */
#define HANDLE_BYTES ((size_t)64 << 20)

/* The handle is made with the first product of a slot, because many slots never have one. */
static int blas_open(const struct dp_slot *slot, struct dp_cuda_slot *s, struct dp_error *err)
{
    if (s->blas_ready)
        return 0;
    if (!s->workspace) {
        const cudaError_t error = cudaMalloc(&s->workspace, WORKSPACE_BYTES);
        if (error)
            return dp_cuda_fail(slot, "cudaMalloc of the cuBLAS workspace", error, err);
    }
    if (!s->blas) {
        const int loaded = dp_cuda_blas_load(&s->call, err);
        if (loaded)
            return loaded;
        const cublasStatus_t status = s->call.create(&s->blas);
        if (status) {
            size_t left = 0, total = 0;
            char text[64];
            if (status != CUBLAS_STATUS_NOT_INITIALIZED || cudaMemGetInfo(&left, &total) ||
                left >= HANDLE_BYTES) {
                cudaGetLastError();
                return blas_fail(slot, "cublasCreate", status, err);
            }
            snprintf(text, sizeof text, "cublasCreate with %zu bytes of memory left", left);
            return blas_fail(slot, text, CUBLAS_STATUS_ALLOC_FAILED, err);
        }
    }
    const int status = blas_setup(slot, s, err);
    s->blas_ready = status == 0;
    return status;
}

/* c[m,n] = op(a)[m,k] op(b)[k,n] (+ c), with a and b of that type. */
struct product {
    bool transpose_a, transpose_b, accumulate;
    size_t m, n, k;
    const void *a, *b;
    float *c;
    cudaDataType_t type;
};

static int gemm_check(const struct dp_queue *queue, const struct product *g, struct dp_error *err)
{
    const char *name = queue->slot->info.name;
    if (queue != &queue->slot->compute)
        return dp_fail(err, DP_EINVAL, "%s: matrix products belong to the compute queue", name);
    if (g->m > INT_MAX || g->n > INT_MAX || g->k > INT_MAX)
        return dp_fail(err, DP_EINVAL, "%s: a matrix product of %zu x %zu x %zu: at most %d", name,
                       g->m, g->n, g->k, INT_MAX);
    return 0;
}

/* cuBLAS is column-major, so our row-major c is its transpose: c' = op(b)' op(a)'. */
static int gemm_multiply(const struct dp_queue *queue, const struct product *g,
                         struct dp_error *err)
{
    struct dp_cuda_slot *s = queue->slot->native;
    const float one = 1.0f, beta = g->accumulate ? 1.0f : 0.0f;
    const int m = (int)g->m, n = (int)g->n, k = (int)g->k;
    const int lead_b = g->transpose_b ? k : n, lead_a = g->transpose_a ? m : k;
    const cublasOperation_t op_b = g->transpose_b ? CUBLAS_OP_T : CUBLAS_OP_N,
                            op_a = g->transpose_a ? CUBLAS_OP_T : CUBLAS_OP_N;
    const int opened = blas_open(queue->slot, s, err);
    if (opened)
        return opened;
    const bool plain = g->type == CUDA_R_32F;
    const cublasStatus_t status =
        plain ? s->call.sgemm(s->blas, op_b, op_a, n, m, k, &one, g->b, lead_b, g->a, lead_a, &beta,
                              g->c, n)
              : s->call.gemm_ex(s->blas, op_b, op_a, n, m, k, &one, g->b, g->type, lead_b, g->a,
                                g->type, lead_a, &beta, g->c, CUDA_R_32F, n, CUBLAS_COMPUTE_32F,
                                CUBLAS_GEMM_DEFAULT);
    return status ? blas_fail(queue->slot, plain ? "cublasSgemm" : "cublasGemmEx", status, err) : 0;
}

static int gemm_product(struct dp_queue *queue, const struct product *g, struct dp_error *err)
{
    const int status = gemm_check(queue, g, err);
    if (status || g->m == 0 || g->n == 0 || (g->k == 0 && g->accumulate))
        return status;
    if (g->k > 0)
        return gemm_multiply(queue, g, err);
    const struct dp_zero zero = {g->c, g->m * g->n * sizeof *g->c};
    return dp_cuda_issue(queue, DP_KERNEL_ZERO, &zero, err);
}

int dp_cuda_gemm(struct dp_queue *queue, const void *args, struct dp_error *err)
{
    const struct dp_gemm *g = args;
    const struct product p = {g->transpose_a, g->transpose_b, g->accumulate, g->m, g->n,
                              g->k,           g->a,           g->b,          g->c, CUDA_R_32F};
    return gemm_product(queue, &p, err);
}

int dp_cuda_gemm_bf16(struct dp_queue *queue, const void *args, struct dp_error *err)
{
    const struct dp_gemm_bf16 *g = args;
    const struct product p = {g->transpose_a, g->transpose_b, g->accumulate, g->m, g->n,
                              g->k,           g->a,           g->b,          g->c, CUDA_R_16BF};
    return gemm_product(queue, &p, err);
}

/* The heads of one row are one batch. */
static int multiply_row(const struct dp_queue *queue, const struct dp_gemm_heads *g, size_t row,
                        struct dp_error *err)
{
    const struct dp_cuda_slot *s = queue->slot->native;
    const float one = 1.0f, zero = 0.0f;
    const cublasOperation_t op_b = g->transpose_b ? CUBLAS_OP_T : CUBLAS_OP_N,
                            op_a = g->transpose_a ? CUBLAS_OP_T : CUBLAS_OP_N;
    const cublasStatus_t status = s->call.sgemm_batch(
        s->blas, op_b, op_a, (int)g->n, (int)g->m, (int)g->k, &one, g->b + row * g->at_b.row,
        (int)g->at_b.lead, (long long)g->at_b.head, g->a + row * g->at_a.row, (int)g->at_a.lead,
        (long long)g->at_a.head, &zero, g->c + row * g->at_c.row, (int)g->at_c.lead,
        (long long)g->at_c.head, (int)g->heads);
    return status ? blas_fail(queue->slot, "cublasSgemmStridedBatched", status, err) : 0;
}

int dp_cuda_gemm_heads(struct dp_queue *queue, const void *args, struct dp_error *err)
{
    const struct dp_gemm_heads *g = args;
    const struct product p = {.m = g->m, .n = g->n, .k = g->k};
    int status = gemm_check(queue, &p, err);
    if (status == 0 && (g->at_a.lead > INT_MAX || g->at_b.lead > INT_MAX ||
                        g->at_c.lead > INT_MAX || g->heads > INT_MAX))
        status = dp_fail(err, DP_EINVAL,
                         "%s: %zu matrices with rows %zu, %zu and %zu apart: at "
                         "most %d",
                         queue->slot->info.name, g->heads, g->at_a.lead, g->at_b.lead, g->at_c.lead,
                         INT_MAX);
    if (status || g->rows == 0 || g->heads == 0)
        return status;
    status = blas_open(queue->slot, queue->slot->native, err);
    for (size_t row = 0; status == 0 && row < g->rows; ++row)
        status = multiply_row(queue, g, row, err);
    return status;
}
