/* twin_test.c: the launches of core/cuda/launch.h, with the calls of ../emulated, on memory of a
 * device: they compute the results of the portable kernel, or are near them where a GPU has other
 * bits, and declare all memory that they read and write. */
#include "../emulated/cases.h"
#include "tools.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FLOATS ((size_t)REGIONS * REGION)

/* Pointers into the memory of the host become the same places on the device. */
static void to_device(union arguments *args, const float *host, float *device)
{
    uintptr_t word[sizeof *args / sizeof(uintptr_t)];
    memcpy(word, args, sizeof word);
    for (size_t i = 0; i < sizeof word / sizeof *word; ++i) {
        const uintptr_t offset = word[i] - (uintptr_t)host;
        if (offset < FLOATS * sizeof *host)
            word[i] = (uintptr_t)device + offset;
    }
    memcpy(args, word, sizeof word);
}

static bool twin_same(const struct kernel_case *k, const float *got, const float *want)
{
    for (size_t i = 0; i < FLOATS; ++i) {
        const bool alike = memcmp(&got[i], &want[i], sizeof got[i]) == 0;
        if (k->near > 0 && isnan(got[i]) && isnan(want[i]))
            continue;
        if (!alike && !(k->near > 0 && fabs((double)got[i] - (double)want[i]) <= k->near))
            return false;
    }
    return true;
}

static void one(const struct kernel_case *k, int variant, float (*host)[REGION], float *back)
{
    union arguments args, on;
    memset(&args, 0, sizeof args);
    test_start(1);
    const cudaStream_t stream = tool_stream(0);
    float *device = tool_floats(0, FLOATS);
    double *parts = (double *)(void *)tool_floats(0, 2 * DP_CUDA_LOSS_PARTS);
    for (size_t i = 0; i < FLOATS; ++i)
        host[i / REGION][i % REGION] = (float)(i * 7 % 9) - 4.0f;
    k->make(host, variant, &args);
    tool_put(device, host[0], FLOATS, stream);
    on = args;
    to_device(&on, host[0], device);
    if (k->kernel == DP_KERNEL_LOSS)
        CHECK(dp_cuda_launch_loss(&on.loss, parts, stream) == 0);
    else
        CHECK(k->launch(&on, stream) == 0);
    memset(&on, 0xff, sizeof on);
    dp_kernels_ref[k->kernel](&args);
    tool_get(back, device, FLOATS, stream);
    CHECK(twin_same(k, back, host[0]));
    test_end(NULL);
}

static void all(const struct kernel_case cases[], int n)
{
    float(*host)[REGION] = malloc(FLOATS * sizeof(float)), *back = malloc(FLOATS * sizeof(float));
    CHECK(host && back);
    for (int i = 0; host && back && i < n; ++i)
        for (int variant = 0; variant < cases[i].variants; ++variant)
            one(&cases[i], variant, host, back);
    free(host);
    free(back);
}

static void test_values(void)
{
    all(plain_cases, plain_cases_n);
    all(kernel_cases, kernel_cases_n);
    all(transformer_cases, transformer_cases_n);
}

/* One word was never written: a launch that reads it differs from one that only overwrites it. */
static void test_never_written(void)
{
    enum { ROWS = 3, COLS = 4, N = ROWS * COLS };
    const float values[N] = {1.0f};
    test_start(1);
    const cudaStream_t stream = tool_stream(0);
    float *x = tool_floats(0, N), *fresh = tool_floats(0, N);
    tool_put(x, values, N, stream);
    const struct dp_sum_rows write = {fresh, x, ROWS, COLS, false};
    CHECK(dp_cuda_launch_sum_rows(&write, stream) == 0);
    WELL(cudaStreamSynchronize(stream));
    CHECK(fakecuda_verdict() == 0);
    const struct dp_activation read = {x, fresh, COLS + 1};
    CHECK(dp_cuda_launch_relu(&read, stream) == 0);
    WELL(cudaStreamSynchronize(stream));
    test_end("dp_cuda_launch_relu (device 0, stream 0) reads 20 bytes");
}

/* The memory that a launch declares as output has been written, and the word after it has not. */
static void test_written(void)
{
    test_start(1);
    const cudaStream_t stream = tool_stream(0);
    float *x = tool_floats(0, 12), *y = tool_floats(0, 13), *z = tool_floats(0, 13),
          zeros[12] = {0}, *key = tool_floats(0, 2);
    tool_put(x, zeros, 12, stream);
    const struct dp_swap swap = {y, x, NULL, 3, 2, 2};
    const struct dp_store store = {(uint64_t *)(void *)key, 1};
    struct dp_dropout_args dropout = {z, y, 12, store.dst, 2, 1.0f};
    /* Like a launcher, it finds an error that another call has left, once. */
    CHECK(cudaSetDevice(FAKECUDA_DEVICES) == cudaErrorInvalidDevice);
    CHECK(dp_cuda_launch_store(&store, stream) == cudaErrorInvalidDevice);
    CHECK(dp_cuda_launch_store(&store, stream) == 0);
    CHECK(dp_cuda_launch_swap(&swap, stream) == 0);
    CHECK(dp_cuda_launch_dropout(&dropout, stream) == 0);
    WELL(cudaStreamSynchronize(stream));
    CHECK(fakecuda_verdict() == 0);
    dropout.n = 13;
    CHECK(dp_cuda_launch_dropout(&dropout, stream) == 0);
    WELL(cudaStreamSynchronize(stream));
    test_end("dp_cuda_launch_dropout (device 0, stream 0) reads 52 bytes");
}

static const struct test tests[] = {
    {"twin/values", test_values},
    {"twin/never-written", test_never_written},
    {"twin/written", test_written},
};
const struct test_table twin_tests = {tests, sizeof tests / sizeof *tests};
