/* blas_test.c: the matrix product is compared with sums that are written out, and wrong uses of a
 * handle are found. */
#include "tools.h"

#include <cublas_v2.h>
#include <string.h>

#define FINE(call) CHECK((call) == CUBLAS_STATUS_SUCCESS)

enum { M = 3, K_ = 4, COLS = 5, LEAD = 7, ROOM = LEAD * LEAD };

struct place {
    cudaStream_t stream;
    cublasHandle_t handle;
    float *a, *b, *c;
};

static struct place blas_open_place(void)
{
    test_start(2);
    struct place p = {.stream = tool_stream(0)};
    p.a = tool_floats(0, ROOM);
    p.b = tool_floats(0, ROOM);
    p.c = tool_floats(0, ROOM);
    FINE(cublasCreate(&p.handle));
    FINE(cublasSetStream(p.handle, p.stream));
    return p;
}

static void close_place(struct place *p, const char *sentence)
{
    WELL(cudaStreamSynchronize(p->stream));
    FINE(cublasDestroy(p->handle));
    test_end(sentence);
}

static float entry(const float *matrix, bool transposed, int row, int col)
{
    return transposed ? matrix[row * LEAD + col] : matrix[col * LEAD + row];
}

static void check_product(struct place *p, bool ta, bool tb, float alpha, float beta)
{
    float a[ROOM], b[ROOM], c[ROOM], out[ROOM];
    for (int i = 0; i < ROOM; ++i) {
        a[i] = (float)(i * 5 % 7 - 3);
        b[i] = (float)(i * 3 % 11 - 5);
        c[i] = (float)(i % 13 - 6);
    }
    tool_put(p->a, a, ROOM, p->stream);
    tool_put(p->b, b, ROOM, p->stream);
    tool_put(p->c, c, ROOM, p->stream);
    FINE(cublasSgemm(p->handle, ta ? CUBLAS_OP_T : CUBLAS_OP_N, tb ? CUBLAS_OP_T : CUBLAS_OP_N, M,
                     COLS, K_, &alpha, p->a, LEAD, p->b, LEAD, &beta, p->c, LEAD));
    tool_get(out, p->c, ROOM, p->stream);
    for (int i = 0; i < ROOM; ++i) {
        const int row = i % LEAD, col = i / LEAD;
        float sum = 0.0f;
        for (int k = 0; k < K_; ++k)
            sum += entry(a, ta, row < M ? row : 0, k) * entry(b, tb, k, col < COLS ? col : 0);
        CHECK(out[i] == (row < M && col < COLS ? alpha * sum + beta * c[i] : c[i]));
    }
}

static void test_products(void)
{
    struct place p = blas_open_place();
    for (int i = 0; i < 4; ++i) {
        check_product(&p, i & 1, i & 2, 1.0f, 0.0f);
        check_product(&p, i & 1, i & 2, 2.0f, 0.5f);
    }
    close_place(&p, NULL);
}

/* c = a b + beta c, of one element each. */
static void one_by_one(struct place *p, const float *b, float beta, float *c)
{
    const float one = 1.0f;
    FINE(cublasSgemm(p->handle, CUBLAS_OP_N, CUBLAS_OP_N, 1, 1, 1, &one, p->a, 1, b, 1, &beta, c,
                     1));
}

/* Without beta, c is not read and may hold anything. With beta, it must have been written. */
static void test_empty(void)
{
    const float one = 1.0f, zero = 0.0f;
    float value = 2.0f, out[4];
    struct place p = blas_open_place();
    tool_put(p.a, &value, 1, p.stream);
    one_by_one(&p, p.a, 0.0f, p.c);
    FINE(cublasSgemm(p.handle, CUBLAS_OP_N, CUBLAS_OP_N, 2, 1, 0, &one, p.a, 2, p.a, 2, &zero,
                     p.c + 1, 2));
    tool_get(out, p.c, 3, p.stream);
    CHECK(out[0] == 4.0f && out[1] == 0.0f && out[2] == 0.0f);
    CHECK(fakecuda_verdict() == 0);
    one_by_one(&p, p.a, 1.0f, p.c + 3);
    close_place(&p, "byte 0 was never written");
}

static float product_of(struct place *p, float a, float b)
{
    float out = 0.0f;
    tool_put(p->a, &a, 1, p->stream);
    tool_put(p->b, &b, 1, p->stream);
    one_by_one(p, p->b, 0.0f, p->c);
    tool_get(&out, p->c, 1, p->stream);
    return out;
}

/* The mantissa has ten bits: 1 + 2^-10 stays, 1 + 2^-11 is a tie and goes to 1, 1 + 3 * 2^-11 to
 * 2^-9. */
static void test_tf32(void)
{
    struct place p = blas_open_place();
    CHECK(product_of(&p, 1.0f + 0x1p-11f, 1.0f) == 1.0f + 0x1p-11f);
    FINE(cublasSetMathMode(p.handle, CUBLAS_TF32_TENSOR_OP_MATH));
    CHECK(product_of(&p, 1.0f + 0x1p-10f, 1.0f) == 1.0f + 0x1p-10f);
    CHECK(product_of(&p, 1.0f + 0x1p-11f, 1.0f) == 1.0f);
    CHECK(product_of(&p, 1.0f + 0x3p-11f, 2.0f) == 2.0f + 0x1p-8f);
    FINE(cublasSetMathMode(p.handle, CUBLAS_DEFAULT_MATH));
    CHECK(product_of(&p, 1.0f + 0x1p-11f, 1.0f) == 1.0f + 0x1p-11f);
    close_place(&p, NULL);
}

static uint16_t bf16(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return (uint16_t)(bits >> 16);
}

/* The inputs have 8 bits and the sum has 24: 2^-7 * 2^-7 added to 1 is not lost. */
static void test_bf16(void)
{
    const float one = 1.0f, zero = 0.0f;
    const uint16_t in[2] = {bf16(1.0f), bf16(0x1p-7f)};
    float sum = 0.0f;
    uint16_t out[2] = {0, 0};
    struct place p = blas_open_place();
    WELL(cudaMemcpyAsync(p.a, in, sizeof in, cudaMemcpyDefault, p.stream));
    FINE(cublasGemmEx(p.handle, CUBLAS_OP_T, CUBLAS_OP_N, 1, 1, 2, &one, p.a, CUDA_R_16BF, 2, p.a,
                      CUDA_R_16BF, 2, &zero, p.c, CUDA_R_32F, 1, CUBLAS_COMPUTE_32F,
                      CUBLAS_GEMM_DEFAULT));
    tool_get(&sum, p.c, 1, p.stream);
    CHECK(sum == 1.0f + 0x1p-14f);
    FINE(cublasGemmEx(p.handle, CUBLAS_OP_N, CUBLAS_OP_N, 2, 1, 1, &one, p.a, CUDA_R_16BF, 2, p.a,
                      CUDA_R_16BF, 1, &zero, p.c, CUDA_R_16BF, 2, CUBLAS_COMPUTE_32F,
                      CUBLAS_GEMM_DEFAULT));
    WELL(cudaMemcpyAsync(out, p.c, sizeof out, cudaMemcpyDefault, p.stream));
    CHECK(out[0] == in[0] && out[1] == in[1]);
    CHECK(cublasGemmEx(p.handle, CUBLAS_OP_N, CUBLAS_OP_N, 2, 1, 1, &one, p.a, CUDA_R_16F, 2, p.a,
                       CUDA_R_16BF, 1, &zero, p.c, CUDA_R_16BF, 2, CUBLAS_COMPUTE_32F,
                       CUBLAS_GEMM_DEFAULT) == CUBLAS_STATUS_NOT_SUPPORTED);
    close_place(&p, NULL);
}

static void test_bad_arguments(void)
{
    const float one = 1.0f, zero = 0.0f;
    int version = 0;
    struct place p = blas_open_place();
    FINE(cublasGetVersion(NULL, &version));
    CHECK(version == CUBLAS_VERSION);
    CHECK(cublasSgemm(p.handle, CUBLAS_OP_N, CUBLAS_OP_N, 4, 1, 1, &one, p.a, 3, p.b, 1, &zero, p.c,
                      4) == CUBLAS_STATUS_INVALID_VALUE);
    CHECK(fakecuda_verdict() == 0);
    CHECK(cublasSgemm(p.handle, CUBLAS_OP_N, CUBLAS_OP_N, 1, 1, 1, p.a, p.a, 3, p.b, 1, &zero, p.c,
                      4) == CUBLAS_STATUS_INVALID_VALUE);
    CHECK(cublasSetWorkspace(p.handle, &version, sizeof version) == CUBLAS_STATUS_INVALID_VALUE);
    close_place(&p, "a factor is in device memory");
}

static void test_destroyed(void)
{
    struct place p = blas_open_place();
    cublasHandle_t other = NULL;
    FINE(cublasCreate(&other));
    FINE(cublasDestroy(other));
    CHECK(cublasSetStream(other, p.stream) == CUBLAS_STATUS_NOT_INITIALIZED);
    close_place(&p, "cublasSetStream: the handle was destroyed");
}

/* The workspace is used until the stream is set anew. */
static void test_workspace(void)
{
    const float value = 1.0f;
    struct place p = blas_open_place();
    tool_put(p.a, &value, 1, p.stream);
    FINE(cublasSetWorkspace(p.handle, p.b, sizeof *p.b));
    FINE(cublasSetStream(p.handle, p.stream));
    cudaStream_t other = tool_stream(0);
    WELL(cudaMemsetAsync(p.b, 0, sizeof *p.b, other));
    one_by_one(&p, p.a, 0.0f, p.c);
    CHECK(fakecuda_verdict() == 0);
    FINE(cublasSetWorkspace(p.handle, p.b, sizeof *p.b));
    one_by_one(&p, p.a, 0.0f, p.c);
    CHECK(fakecuda_verdict() == 1);
    WELL(cudaStreamSynchronize(other));
    close_place(&p, "race: cublasSgemm");
}

static void test_leak(void)
{
    cublasHandle_t handle = NULL;
    test_start(1);
    FINE(cublasCreate(&handle));
    test_end_released("leak: 1 cuBLAS handles");
}

static const struct test tests[] = {
    {"blas/products", test_products},
    {"blas/empty", test_empty},
    {"blas/tf32", test_tf32},
    {"blas/bf16", test_bf16},
    {"blas/arguments", test_bad_arguments},
    {"blas/destroyed", test_destroyed},
    {"blas/workspace", test_workspace},
    {"blas/leak", test_leak},
};
const struct test_table blas_tests = {tests, sizeof tests / sizeof *tests};
