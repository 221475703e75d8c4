/* blas.c: cuBLAS, with the matrix product as a plain loop, so that exact data give exact results,
 * and so that a rounding of the inputs shows.
 *
 * As on a GPU, products are not rounded before they are added. The order of the sum depends on the
 * shape, as in a library that has a kernel for each. So code that expects the same bits of inexact
 * data from another batch, another split or the CPU fails here. */
#include "fake.h"

#include <cublas_v2.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum fake_number { FAKE_F32, FAKE_BF16 };

struct fake_matrix {
    void *at;
    enum fake_number number;
    bool transposed; /* it is stored as its transpose */
    size_t lead;     /* elements from one column to the next */
};

/* c = alpha a b + beta c by columns, each sum in single precision and in the order of the index. */
struct fake_gemm {
    size_t m, n, k;
    float alpha, beta;
    bool tf32; /* a and b are rounded to ten bits of mantissa first */
    struct fake_matrix a, b, c;
};

static float from_bits(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static uint32_t to_bits(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* Rounds to nearest, ties to even, and drops the lowest bits. NaN and infinity do not change. */
static uint32_t gemm_rounded(uint32_t bits, int dropped)
{
    const uint32_t half = 1u << (dropped - 1), odd = (bits >> dropped) & 1u;
    if ((bits & 0x7f800000u) == 0x7f800000u)
        return bits;
    return (bits + half - 1u + odd) & ~((1u << dropped) - 1u);
}

static float element(const struct fake_matrix *matrix, size_t i)
{
    if (matrix->number == FAKE_F32)
        return ((const float *)matrix->at)[i];
    return from_bits((uint32_t)((const uint16_t *)matrix->at)[i] << 16);
}

static void gemm_store(const struct fake_matrix *matrix, size_t i, float value)
{
    if (matrix->number == FAKE_F32) {
        ((float *)matrix->at)[i] = value;
        return;
    }
    const uint32_t bits = to_bits(value), quiet = value != value ? 0x400000u : 0;
    ((uint16_t *)matrix->at)[i] = (uint16_t)((gemm_rounded(bits, 16) | quiet) >> 16);
}

/* Returns the matrix as rows times cols floats without gaps, by columns. */
static float *packed(const struct fake_matrix *matrix, size_t rows, size_t cols, bool tf32)
{
    float *out = fake_memory(rows * cols * sizeof *out);
    for (size_t col = 0; col < cols; ++col) {
        for (size_t row = 0; row < rows; ++row) {
            const size_t i =
                matrix->transposed ? row * matrix->lead + col : col * matrix->lead + row;
            const float value = element(matrix, i);
            out[col * rows + row] = tf32 ? from_bits(gemm_rounded(to_bits(value), 13)) : value;
        }
    }
    return out;
}

/* Returns the index of the i-th product that is added: forwards, backwards, or the second half
 * first. */
static size_t gemm_place(const struct fake_gemm *g, size_t i)
{
    switch ((g->m + g->n + g->k) % 3) {
    case 0:
        return i;
    case 1:
        return g->k - 1 - i;
    default:
        return (i + g->k / 2) % g->k;
    }
}

static void fake_gemm(const void *gemm)
{
    const struct fake_gemm *g = gemm;
    float *a = packed(&g->a, g->m, g->k, g->tf32), *b = packed(&g->b, g->k, g->n, g->tf32);
    float *sum = fake_memory(g->m * sizeof *sum);
    for (size_t col = 0; col < g->n; ++col) {
        for (size_t row = 0; row < g->m; ++row)
            sum[row] = 0.0f;
        for (size_t i = 0; i < g->k; ++i) {
            const size_t l = gemm_place(g, i);
            const double factor = (double)b[col * g->k + l];
            for (size_t row = 0; row < g->m; ++row)
                sum[row] = (float)((double)a[l * g->m + row] * factor + (double)sum[row]);
        }
        for (size_t row = 0; row < g->m; ++row) {
            const size_t i = col * g->c.lead + row;
            const float value = g->alpha * sum[row];
            gemm_store(&g->c, i, g->beta != 0.0f ? value + g->beta * element(&g->c, i) : value);
        }
    }
    free(a);
    free(b);
    free(sum);
}

/* ---- calls ----------------------------------------------------------------------------------- */

/* A handle belongs to the device that was current when it was made. */

struct cublasContext {
    struct cublasContext *next;
    bool live;
    int device;
    struct CUstream_st *stream;
    cublasMath_t math;
    void *workspace;
    size_t workspace_bytes;
};

/* cudaGetLastError does not report errors of cuBLAS. */
static cublasStatus_t blas_leave(const struct fake_call *call)
{
    const cudaError_t error = call->error;
    fake_unlock();
    switch (error) {
    case cudaSuccess:
        return CUBLAS_STATUS_SUCCESS;
    case cudaErrorMemoryAllocation:
        return CUBLAS_STATUS_ALLOC_FAILED;
    case cudaErrorInsufficientDriver:
    case cudaErrorNoDevice:
    case cudaErrorInitializationError:
        return CUBLAS_STATUS_NOT_INITIALIZED;
    case cudaErrorInvalidValue:
        return CUBLAS_STATUS_INVALID_VALUE;
    case cudaErrorNotSupported:
        return CUBLAS_STATUS_NOT_SUPPORTED;
    default:
        return CUBLAS_STATUS_EXECUTION_FAILED;
    }
}

static bool enter(struct fake_call *call, const struct cublasContext *handle)
{
    if (!fake_enter(call))
        return false;
    if (handle && handle->live)
        return true;
    fake_violation("%s: the handle %s", call->name, handle ? "was destroyed" : "is null");
    fake_result(call, cudaErrorInitializationError);
    return false;
}

cublasStatus_t cublasCreate(cublasHandle_t *handle)
{
    struct fake_call call = {.name = "cublasCreate", .rules = FAKE_UNSAFE | FAKE_ALLOCATES};
    if (fake_enter(&call)) {
        struct cublasContext *context = fake_memory(sizeof *context);
        context->live = true;
        context->device = fake_me.device;
        context->next = fake.handles;
        fake.handles = *handle = context;
    }
    return blas_leave(&call);
}

cublasStatus_t cublasDestroy(cublasHandle_t handle)
{
    struct fake_call call = {.name = "cublasDestroy", .rules = FAKE_UNSAFE | FAKE_ALWAYS};
    if (enter(&call, handle))
        handle->live = false;
    return blas_leave(&call);
}

cublasStatus_t cublasGetVersion(cublasHandle_t handle, int *version)
{
    struct fake_call call = {.name = "cublasGetVersion", .rules = FAKE_NO_DRIVER};
    (void)handle; /* may be null */
    if (fake_enter(&call))
        *version = CUBLAS_VERSION;
    return blas_leave(&call);
}

/* Like the real one, it takes back the workspace that was given. */
cublasStatus_t cublasSetStream(cublasHandle_t handle, cudaStream_t stream)
{
    struct fake_call call = {.name = "cublasSetStream"};
    if (enter(&call, handle)) {
        handle->stream = stream;
        handle->workspace = NULL;
        handle->workspace_bytes = 0;
    }
    return blas_leave(&call);
}

cublasStatus_t cublasSetWorkspace(cublasHandle_t handle, void *workspace, size_t bytes)
{
    struct fake_call call = {.name = "cublasSetWorkspace"};
    if (enter(&call, handle)) {
        if (bytes && fake_device_of(workspace) != handle->device) {
            fake_violation("%s: %p is not memory of device %d", call.name, workspace,
                           handle->device);
            fake_result(&call, cudaErrorInvalidValue);
        } else {
            handle->workspace = workspace;
            handle->workspace_bytes = bytes;
        }
    }
    return blas_leave(&call);
}

cublasStatus_t cublasSetMathMode(cublasHandle_t handle, cublasMath_t math)
{
    struct fake_call call = {.name = "cublasSetMathMode"};
    if (enter(&call, handle))
        handle->math = math;
    return blas_leave(&call);
}

/* Declares the stored columns, with their length in elements; false: the arguments do not fit. */
static bool declare(struct fake_work *work, struct fake_matrix *matrix, size_t rows, size_t cols,
                    unsigned use)
{
    const size_t size = matrix->number == FAKE_F32 ? 4 : 2;
    const size_t length = matrix->transposed ? cols : rows,
                 columns = matrix->transposed ? rows : cols;
    const struct fake_area area =
        fake_area(matrix->at, length * size, columns, matrix->lead * size);
    if (matrix->lead < length || matrix->lead == 0)
        return false;
    matrix->at = fake_uses_area(work, &area, use);
    return true;
}

static bool in_device_memory(const struct fake_call *call, const void *factor)
{
    if (fake_device_of(factor) == FAKE_HOST)
        return false;
    fake_violation("%s: a factor is in device memory, but host memory is the pointer mode",
                   call->name);
    return true;
}

struct operand {
    const void *at;
    cudaDataType number;
    cublasOperation_t operation;
    int lead;
};

static bool blas_known(const struct operand *operand)
{
    return (operand->number == CUDA_R_32F || operand->number == CUDA_R_16BF) &&
           (operand->operation == CUBLAS_OP_N || operand->operation == CUBLAS_OP_T) &&
           operand->lead >= 0;
}

static struct fake_matrix matrix_of(const struct operand *operand)
{
    return (struct fake_matrix){.at = (void *)(uintptr_t)operand->at,
                                .number = operand->number == CUDA_R_32F ? FAKE_F32 : FAKE_BF16,
                                .transposed = operand->operation == CUBLAS_OP_T,
                                .lead = (size_t)operand->lead};
}

static cudaError_t blas_multiply(const struct fake_call *call, const struct cublasContext *handle,
                                 const int size[3], const float *factor[2],
                                 const struct operand operand[3], bool tf32)
{
    for (int i = 0; i < 3; ++i) {
        if (size[i] < 0)
            return cudaErrorInvalidValue;
        if (!blas_known(&operand[i]))
            return cudaErrorNotSupported;
    }
    if (!factor[0] || !factor[1] || in_device_memory(call, factor[0]) ||
        in_device_memory(call, factor[1]))
        return cudaErrorInvalidValue;
    const bool floats = operand[0].number == CUDA_R_32F && operand[1].number == CUDA_R_32F;
    struct fake_gemm gemm = {.m = (size_t)size[0],
                             .n = (size_t)size[1],
                             .k = (size_t)size[2],
                             .alpha = *factor[0],
                             .beta = *factor[1],
                             .tf32 = floats && tf32,
                             .a = matrix_of(&operand[0]),
                             .b = matrix_of(&operand[1]),
                             .c = matrix_of(&operand[2])};
    struct CUstream_st *stream = handle->stream;
    if (handle->device != fake_me.device) {
        fake_violation("%s: the handle belongs to device %d, but device %d is current", call->name,
                       handle->device, fake_me.device);
        return cudaErrorInvalidDevice;
    }
    if (!fake_stream_is(stream, call->name))
        return cudaErrorInvalidResourceHandle;
    if (stream->device != handle->device) {
        fake_violation("%s: the handle belongs to device %d, its stream to device %d", call->name,
                       handle->device, stream->device);
        return cudaErrorInvalidResourceHandle;
    }
    if (gemm.m == 0 || gemm.n == 0)
        return cudaSuccess;
    struct fake_work *work = fake_work_new(call->name, stream);
    const unsigned use = gemm.beta != 0.0f ? FAKE_BOTH : FAKE_WRITE;
    if (!declare(work, &gemm.a, gemm.m, gemm.k, FAKE_READ) ||
        !declare(work, &gemm.b, gemm.k, gemm.n, FAKE_READ) ||
        !declare(work, &gemm.c, gemm.m, gemm.n, use)) {
        fake_work_drop(work);
        return cudaErrorInvalidValue;
    }
    fake_uses(work, handle->workspace, handle->workspace_bytes, FAKE_SCRATCH);
    work->operations = 2.0 * (double)gemm.m * (double)gemm.n * (double)gemm.k;
    fake_work_runs(work, fake_gemm, &gemm, sizeof gemm);
    return fake_issue(stream, work);
}

/* The math mode is in the low bits; the others are flags. */
static bool is_tf32(const struct cublasContext *handle)
{
    return ((int)handle->math & 15) == CUBLAS_TF32_TENSOR_OP_MATH;
}

cublasStatus_t cublasSgemm(cublasHandle_t handle, cublasOperation_t operation_a,
                           cublasOperation_t operation_b, int m, int n, int k, const float *alpha,
                           const float *a, int lda, const float *b, int ldb, const float *beta,
                           float *c, int ldc)
{
    struct fake_call call = {.name = "cublasSgemm", .rules = FAKE_LAUNCHES};
    if (enter(&call, handle)) {
        const int size[3] = {m, n, k};
        const float *factor[2] = {alpha, beta};
        const struct operand operand[3] = {{a, CUDA_R_32F, operation_a, lda},
                                           {b, CUDA_R_32F, operation_b, ldb},
                                           {c, CUDA_R_32F, CUBLAS_OP_N, ldc}};
        fake_result(&call, blas_multiply(&call, handle, size, factor, operand, is_tf32(handle)));
    }
    return blas_leave(&call);
}

/* The products run one after the other; the real library has them in one launch. */
cublasStatus_t cublasSgemmStridedBatched(cublasHandle_t handle, cublasOperation_t operation_a,
                                         cublasOperation_t operation_b, int m, int n, int k,
                                         const float *alpha, const float *a, int lda,
                                         long long int stride_a, const float *b, int ldb,
                                         long long int stride_b, const float *beta, float *c,
                                         int ldc, long long int stride_c, int count)
{
    struct fake_call call = {.name = "cublasSgemmStridedBatched", .rules = FAKE_LAUNCHES};
    if (enter(&call, handle)) {
        const int size[3] = {m, n, k};
        const float *factor[2] = {alpha, beta};
        if (count < 0)
            fake_result(&call, cudaErrorInvalidValue);
        for (long long int i = 0; i < count && !call.error; ++i) {
            const struct operand operand[3] = {{a + i * stride_a, CUDA_R_32F, operation_a, lda},
                                               {b + i * stride_b, CUDA_R_32F, operation_b, ldb},
                                               {c + i * stride_c, CUDA_R_32F, CUBLAS_OP_N, ldc}};
            fake_result(&call,
                        blas_multiply(&call, handle, size, factor, operand, is_tf32(handle)));
        }
    }
    return blas_leave(&call);
}

cublasStatus_t cublasGemmEx(cublasHandle_t handle, cublasOperation_t operation_a,
                            cublasOperation_t operation_b, int m, int n, int k, const void *alpha,
                            const void *a, cudaDataType type_a, int lda, const void *b,
                            cudaDataType type_b, int ldb, const void *beta, void *c,
                            cudaDataType type_c, int ldc, cublasComputeType_t compute,
                            cublasGemmAlgo_t algorithm)
{
    struct fake_call call = {.name = "cublasGemmEx", .rules = FAKE_LAUNCHES};
    (void)algorithm;
    if (enter(&call, handle)) {
        const int size[3] = {m, n, k};
        const float *factor[2] = {alpha, beta};
        const struct operand operand[3] = {{a, type_a, operation_a, lda},
                                           {b, type_b, operation_b, ldb},
                                           {c, type_c, CUBLAS_OP_N, ldc}};
        const bool fast = compute == CUBLAS_COMPUTE_32F_FAST_TF32;
        const bool plain = compute == CUBLAS_COMPUTE_32F && is_tf32(handle);
        if (!fast && compute != CUBLAS_COMPUTE_32F && compute != CUBLAS_COMPUTE_32F_PEDANTIC)
            fake_result(&call, cudaErrorNotSupported);
        else
            fake_result(&call, blas_multiply(&call, handle, size, factor, operand, fast || plain));
    }
    return blas_leave(&call);
}

static const char *const names[] = {
    [CUBLAS_STATUS_SUCCESS] = "CUBLAS_STATUS_SUCCESS",
    [CUBLAS_STATUS_NOT_INITIALIZED] = "CUBLAS_STATUS_NOT_INITIALIZED",
    [CUBLAS_STATUS_ALLOC_FAILED] = "CUBLAS_STATUS_ALLOC_FAILED",
    [CUBLAS_STATUS_INVALID_VALUE] = "CUBLAS_STATUS_INVALID_VALUE",
    [CUBLAS_STATUS_EXECUTION_FAILED] = "CUBLAS_STATUS_EXECUTION_FAILED",
    [CUBLAS_STATUS_NOT_SUPPORTED] = "CUBLAS_STATUS_NOT_SUPPORTED",
};

const char *cublasGetStatusName(cublasStatus_t status)
{
    const size_t i = (size_t)status;
    return i < sizeof names / sizeof *names && names[i] ? names[i] : "CUBLAS_STATUS_UNKNOWN";
}

const char *cublasGetStatusString(cublasStatus_t status)
{
    return cublasGetStatusName(status);
}

void fake_blas_close(void)
{
    long live = 0;
    while (fake.handles) {
        struct cublasContext *handle = fake.handles;
        fake.handles = handle->next;
        live += handle->live;
        free(handle);
    }
    if (live)
        fake_violation("leak: %ld cuBLAS handles", live);
}
