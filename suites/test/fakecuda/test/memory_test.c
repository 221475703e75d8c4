/* memory_test.c: allocations, the data that are kept about them, and copies. */
#include "../fake.h"
#include "tools.h"

#include <string.h>

#define N 100

static void test_addresses(void)
{
    struct cudaPointerAttributes attributes;
    float plain = 0.0f;
    test_start(2);
    float *one = tool_floats(1, N), *pinned = tool_pinned(N);
    WELL(cudaPointerGetAttributes(&attributes, one + N - 1));
    CHECK(attributes.type == cudaMemoryTypeDevice && attributes.device == 1);
    WELL(cudaPointerGetAttributes(&attributes, pinned));
    CHECK(attributes.type == cudaMemoryTypeHost && attributes.hostPointer == pinned);
    WELL(cudaPointerGetAttributes(&attributes, &plain));
    CHECK(attributes.type == cudaMemoryTypeUnregistered);
    test_end(NULL);
}

static void test_out_of_memory(void)
{
    size_t left = 0, total = 0, again = 0;
    void *most = NULL, *more = NULL;
    test_start(1);
    WELL(cudaMemGetInfo(&left, &total));
    CHECK(left == total && total > 0);
    WELL(cudaMalloc(&most, total - 1000));
    CHECK(cudaMalloc(&more, 1001) == cudaErrorMemoryAllocation && !more);
    CHECK(cudaGetLastError() == cudaErrorMemoryAllocation && cudaGetLastError() == cudaSuccess);
    WELL(cudaMalloc(&more, 1000));
    WELL(cudaMemGetInfo(&left, &total));
    CHECK(left == 0);
    WELL(cudaFree(most));
    WELL(cudaFree(more));
    WELL(cudaMemGetInfo(&again, &total));
    CHECK(again == total);
    test_end(NULL);
}

/* Nothing of the old contents is left: the memory is NaN, and counts as never written. */
static bool is_new(float *memory, size_t n)
{
    const struct fake_area area = fake_area(memory, n * sizeof *memory, 1, n * sizeof *memory);
    const unsigned char *body = fake_body(fake_find(memory), memory);
    bool same = fake_shadow_none(&area);
    for (size_t i = 0; same && i < n * sizeof *memory; ++i)
        same = body[i] == 0xff;
    return same;
}

/* Addresses are used again late, but they are. */
static void test_addresses_come_back(void)
{
    struct fakecuda_config config = test_config(1);
    float *first = NULL, value = 3.0f, back = 0.0f;
    bool again = false;
    config.memory_bytes = 1u << 20;
    fakecuda_start(&config);
    cudaStream_t stream = tool_stream(0);
    float *kept = tool_floats(0, N);
    for (int i = 0; i < 2000; ++i) {
        /* Blocks of one chunk and of several are written at places that change. */
        const size_t n = i % 3 == 0 ? 500 : (1u << 14) + 77, at = (size_t)i * 997 % n;
        float *next = tool_floats(0, n);
        again = again || (first == next && i > 10);
        first = first ? first : next;
        CHECK(is_new(next, n));
        tool_put(next + at, &value, 1, stream);
        tool_get(&back, next + at, 1, stream);
        CHECK(back == 3.0f && next != kept);
        WELL(cudaFree(next));
    }
    CHECK(again);
    test_end(NULL);
}

static void overrun(const void *args)
{
    float *const *memory = args;
    (*memory)[N] = 1.0f;
}

/* A kernel writes memory that it does not declare. */
static void test_fence(void)
{
    test_start(1);
    cudaStream_t stream = tool_stream(0);
    float *memory = tool_floats(0, N);
    struct fake_launch launch = fake_launch_begin("overrun", stream);
    float *body = fake_uses(launch.work, memory, N * sizeof *memory, FAKE_WRITE);
    CHECK(fake_launch_end(&launch, overrun, &body, sizeof body) == 0);
    WELL(cudaStreamSynchronize(stream));
    WELL(cudaFree(memory));
    test_end("overrun: byte 400 was written");
}

static void test_never_written(void)
{
    float host[N];
    test_start(1);
    cudaStream_t stream = tool_stream(0);
    float *memory = tool_floats(0, N), *other = tool_floats(0, N);
    WELL(cudaMemsetAsync(memory, 0, 4, stream));
    WELL(cudaMemcpyAsync(other, memory, sizeof host, cudaMemcpyDeviceToDevice, stream));
    tool_get(host, other, N, stream); /* padding may come along */
    CHECK(host[0] == 0.0f && host[1] != host[1]);
    CHECK(fakecuda_verdict() == 0);
    tool_get(host, other + 1, N - 1, stream);
    test_end("none of which was ever written");
}

/* Ordinary host memory is not used after the call. */
static void test_ordinary_memory(void)
{
    float host[N], back[N];
    test_start(1);
    cudaStream_t stream = tool_stream(0);
    float *memory = tool_floats(0, N);
    for (int i = 0; i < N; ++i)
        host[i] = (float)i;
    WELL(cudaMemcpyAsync(memory, host, sizeof host, cudaMemcpyHostToDevice, stream));
    memset(host, 0, sizeof host);
    WELL(cudaMemcpyAsync(back, memory, sizeof back, cudaMemcpyDefault, stream));
    for (int i = 0; i < N; ++i)
        CHECK(back[i] == (float)i);
    test_end(NULL);
}

/* Columns 1 and 2 of four are copied from the host to one device, on to another, and back. */
static void test_rows(void)
{
    float host[5][4], back[5][2];
    test_start(2);
    cudaStream_t stream = tool_stream(0);
    float *wide = tool_floats(0, 20), *narrow = tool_floats(1, 10);
    const size_t size = sizeof(float);
    for (int i = 0; i < 20; ++i)
        host[i / 4][i % 4] = (float)i;
    WELL(cudaMemcpyAsync(wide, host, sizeof host, cudaMemcpyDefault, stream));
    const struct cudaMemcpy3DPeerParms peer = {
        .srcPtr = {wide, 4 * size, 4 * size, 5},
        .srcPos = {size, 0, 0},
        .srcDevice = 0,
        .dstPtr = {narrow, 2 * size, 2 * size, 5},
        .dstDevice = 1,
        .extent = {2 * size, 5, 1},
    };
    WELL(cudaMemcpy3DPeerAsync(&peer, stream));
    WELL(cudaMemcpy2DAsync(back, 2 * size, narrow, 2 * size, 2 * size, 5, cudaMemcpyDeviceToHost,
                           stream));
    for (int row = 0; row < 5; ++row)
        CHECK(back[row][0] == host[row][1] && back[row][1] == host[row][2]);
    CHECK(cudaMemcpy2DAsync(narrow, 4, wide, 16, 8, 5, cudaMemcpyDefault, stream) ==
          cudaErrorInvalidPitchValue);
    test_end(NULL);
}

/* Half of a page is in use, the other half belongs to the program. */
static void test_half_a_page(void)
{
    test_start(1);
    cudaStream_t stream = tool_stream(0);
    float *memory = tool_floats(0, N), *pinned = tool_pinned((size_t)2 * N);
    WELL(cudaMemsetAsync(memory, 0, N * sizeof *memory, stream));
    WELL(cudaMemcpyAsync(pinned, memory, N * sizeof *memory, cudaMemcpyDefault, stream));
    for (int i = N; i < 2 * N; ++i)
        pinned[i] = (float)i;
    WELL(cudaStreamSynchronize(stream));
    CHECK(pinned[0] == 0.0f && pinned[N] == (float)N);
    pinned[0] = 1.0f;
    WELL(cudaMemcpyAsync(memory, pinned, N * sizeof *memory, cudaMemcpyDefault, stream));
    CHECK(pinned[0] == 1.0f); /* reading what a device reads */
    CHECK(fakecuda_verdict() == 0);
    pinned[1] = 2.0f;
    CHECK(fakecuda_verdict() == 1);
    WELL(cudaStreamSynchronize(stream));
    test_end("the program writes pinned host memory");
}

static void test_overlap(void)
{
    test_start(1);
    cudaStream_t stream = tool_stream(0);
    float *memory = tool_floats(0, N);
    WELL(cudaMemsetAsync(memory, 0, N * sizeof *memory, stream));
    WELL(cudaMemcpyAsync(memory + 8, memory, 32, cudaMemcpyDefault, stream));
    CHECK(fakecuda_verdict() == 0);
    CHECK(cudaMemcpyAsync(memory + 7, memory, 32, cudaMemcpyDefault, stream) ==
          cudaErrorInvalidValue);
    WELL(cudaStreamSynchronize(stream));
    test_end("the source and the destination overlap");
}

static void touch_freed(void)
{
    test_start(1);
    volatile float *pinned = tool_pinned(N);
    WELL(cudaFreeHost((void *)(uintptr_t)pinned));
    pinned[0] = 1.0f;
}

/* A fault that the program makes itself is left to the handler that was there before. */
static void touch_nothing(void)
{
    test_start(1);
    WELL(cudaSetDevice(0));
    volatile float *volatile nothing = NULL;
    *nothing = 1.0f;
}

static void test_faults(void)
{
    CHECK(tool_status(touch_freed) == FAKECUDA_EXIT);
    const int other = tool_status(touch_nothing);
    CHECK(other != 0 && other != FAKECUDA_EXIT);
}

static void test_reset(void)
{
    test_start(2);
    cudaStream_t stream = tool_stream(1);
    float *memory = tool_floats(1, N);
    WELL(cudaMemsetAsync(memory, 0, N, stream));
    WELL(cudaDeviceReset());
    CHECK(cudaStreamSynchronize(stream) == cudaErrorInvalidResourceHandle);
    test_end("was destroyed");
}

static const struct test tests[] = {
    {"memory/addresses", test_addresses},
    {"memory/out-of-memory", test_out_of_memory},
    {"memory/addresses-come-back", test_addresses_come_back},
    {"memory/fence", test_fence},
    {"memory/never-written", test_never_written},
    {"memory/ordinary", test_ordinary_memory},
    {"memory/rows", test_rows},
    {"memory/half-a-page", test_half_a_page},
    {"memory/overlap", test_overlap},
    {"memory/faults", test_faults},
    {"memory/reset", test_reset},
};
const struct test_table memory_tests = {tests, sizeof tests / sizeof *tests};
