/* order_test.c: when operations run, and which accesses count as ordered. */
#include "../fake.h"
#include "tools.h"

#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

#define N 64

static bool in_area(const struct fake_area *area, size_t at)
{
    const size_t first = (size_t)area->lo;
    for (size_t row = 0; row < area->height; ++row) {
        const size_t lo = first + row * area->pitch;
        if (at >= lo && at < lo + area->width)
            return true;
    }
    return false;
}

/* All small areas are compared with each other, as sets of bytes. */
static void test_areas(void)
{
    struct fake_area all[400];
    size_t n = 0;
    for (size_t lo = 1; lo < 9; lo += 3) {
        for (size_t width = 0; width < 6; ++width) {
            for (size_t height = 1; height < 5; ++height)
                for (size_t pitch = width ? width : 1; pitch < 9 && n < 400; pitch += 2)
                    all[n++] = fake_area((const char *)lo, width, height, pitch);
        }
    }
    for (size_t a = 0; a < n; ++a)
        for (size_t b = 0; b < n; ++b) {
            bool meets = false, holds = true;
            for (size_t at = 0; at < 64; ++at) {
                meets = meets || (in_area(&all[a], at) && in_area(&all[b], at));
                holds = holds && (in_area(&all[a], at) || !in_area(&all[b], at));
            }
            CHECK(fake_area_meets(&all[a], &all[b]) == meets);
            CHECK(!fake_area_holds(&all[a], &all[b]) ||
                  holds); /* it may overlook, but not invent */
        }
    CHECK(n > 100 && n < 400);
}

/* Two streams write columns 0, 1 and then 1, 2 of the same rows. */
static void test_columns(void)
{
    test_start(1);
    cudaStream_t a = tool_stream(0), b = tool_stream(0);
    float *to = tool_floats(0, N), *from = tool_floats(0, N);
    WELL(cudaMemsetAsync(from, 0, N * sizeof *from, a));
    WELL(cudaStreamSynchronize(a));
    WELL(cudaMemcpy2DAsync(to, 16, from, 8, 4, 8, cudaMemcpyDefault, a));
    WELL(cudaMemcpy2DAsync(to + 1, 16, from, 8, 8, 8, cudaMemcpyDefault, b));
    CHECK(fakecuda_verdict() == 0);
    WELL(cudaMemcpy2DAsync(to + 2, 16, from, 8, 8, 8, cudaMemcpyDefault, a));
    CHECK(fakecuda_verdict() == 1);
    WELL(cudaDeviceSynchronize());
    test_end("race: cudaMemcpy2DAsync (device 0, stream 0) writes 64 bytes at ");
}

/* Nothing runs before it is waited for; then the operations that it needs run, and no others. */
static void test_lazy(void)
{
    struct fakecuda_config config = test_config(1);
    config.races = false; /* pinned memory is looked at on purpose */
    fakecuda_start(&config);
    cudaStream_t a = tool_stream(0), b = tool_stream(0);
    cudaEvent_t event = tool_event(0);
    float *memory = tool_floats(0, 2), *pinned = tool_pinned(2);
    pinned[0] = pinned[1] = 5.0f;
    WELL(cudaMemsetAsync(memory, 0, 8, a));
    WELL(cudaMemcpyAsync(pinned, memory, 4, cudaMemcpyDefault, a));
    tool_after(b, a, event);
    WELL(cudaMemcpyAsync(pinned + 1, memory + 1, 4, cudaMemcpyDefault, a));
    CHECK(pinned[0] == 5.0f && pinned[1] == 5.0f);
    WELL(cudaStreamSynchronize(b));
    CHECK(pinned[0] == 0.0f && pinned[1] == 5.0f);
    WELL(cudaStreamSynchronize(a));
    CHECK(pinned[1] == 0.0f);
    test_end(NULL);
}

static void test_events(void)
{
    float ms = -1.0f;
    int asked = 0;
    test_start(1);
    cudaStream_t stream = tool_stream(0);
    cudaEvent_t begin = tool_event(0), end = tool_event(0);
    float *memory = tool_floats(0, N);
    WELL(cudaEventQuery(begin)); /* nothing to wait for */
    CHECK(cudaEventElapsedTime(&ms, begin, end) == cudaErrorInvalidResourceHandle);
    WELL(cudaEventRecord(begin, stream));
    WELL(cudaMemsetAsync(memory, 0, N * sizeof *memory, stream));
    WELL(cudaEventRecord(end, stream));
    CHECK(cudaEventElapsedTime(&ms, begin, end) == cudaErrorNotReady);
    while (cudaEventQuery(end) == cudaErrorNotReady && asked < 1000)
        ++asked;
    CHECK(asked > 0 && asked < 1000);
    WELL(cudaEventElapsedTime(&ms, begin, end));
    CHECK(ms >= 0.0f && ms < 10000.0f);
    WELL(cudaFree(memory)); /* the query has told the host */
    WELL(cudaStreamQuery(stream));
    CHECK(cudaGetLastError() == cudaErrorInvalidResourceHandle);
    test_end(NULL);
}

/* Two devices have no common clock. */
static void test_times_of_two(void)
{
    float ms = -1.0f;
    test_start(2);
    cudaStream_t streams[2] = {tool_stream(0), tool_stream(1)};
    cudaEvent_t events[2] = {tool_event(0), tool_event(1)};
    for (int device = 0; device < 2; ++device) {
        WELL(cudaSetDevice(device));
        WELL(cudaEventRecord(events[device], streams[device]));
        WELL(cudaStreamSynchronize(streams[device]));
    }
    CHECK(cudaEventElapsedTime(&ms, events[0], events[1]) == cudaErrorInvalidResourceHandle);
    test_end("from an event of device 0 to one of device 1");
}

static void order_note(void *data)
{
    atomic_fetch_add((atomic_int *)data, 1);
}

/* A function of the host runs after the operations before it, and then the host counts as having
 * waited for them. */
static void test_host_function(void)
{
    atomic_int called = 0;
    const struct timespec nap = {0, 1000000};
    test_start(1);
    cudaStream_t stream = tool_stream(0);
    float *pinned = tool_pinned(N), *memory = tool_floats(0, N);
    WELL(cudaMemsetAsync(memory, 0, N * sizeof *memory, stream));
    WELL(cudaMemcpyAsync(pinned, memory, N * sizeof *memory, cudaMemcpyDefault, stream));
    WELL(cudaLaunchHostFunc(stream, order_note, &called));
    for (int i = 0; i < 5000 && atomic_load(&called) == 0; ++i)
        nanosleep(&nap, NULL); /* this is no wait in the sense of CUDA */
    CHECK(atomic_load(&called) == 1 && pinned[N - 1] == 0.0f);
    WELL(cudaLaunchHostFunc(stream, order_note, &called));
    WELL(cudaStreamSynchronize(stream));
    CHECK(atomic_load(&called) == 2);
    test_end(NULL);
}

static void call_cuda(void *data)
{
    int *device = data;
    *device = (int)cudaGetDevice(device);
}

static void test_host_function_calls_cuda(void)
{
    int result = 0;
    test_start(1);
    cudaStream_t stream = tool_stream(0);
    WELL(cudaLaunchHostFunc(stream, call_cuda, &result));
    WELL(cudaStreamSynchronize(stream));
    CHECK(result == cudaErrorNotPermitted);
    test_end("called by a function of cudaLaunchHostFunc");
}

static void wait_for_one(void *data)
{
    const struct timespec nap = {0, 1000000};
    while (atomic_load((atomic_int *)data) == 0)
        nanosleep(&nap, NULL);
}

/* The function waits for something that the caller does only after it has waited for the function.
 */
static void test_deadlock(void)
{
    atomic_int released = 0;
    struct fakecuda_config config = test_config(1);
    config.patience_ms = 50;
    fakecuda_start(&config);
    cudaStream_t a = tool_stream(0), b = tool_stream(0);
    cudaEvent_t event = tool_event(0);
    WELL(cudaLaunchHostFunc(a, wait_for_one, &released));
    tool_after(b, a, event);
    CHECK(cudaStreamSynchronize(b) == cudaErrorLaunchTimeout);
    atomic_store(&released, 1);
    WELL(cudaStreamSynchronize(b));
    test_end("deadlock: cudaStreamSynchronize waits for stream 1, which waits for "
             "cudaLaunchHostFunc");
}

struct worker {
    int device;
    float first, last;
};

static void *work(void *data)
{
    struct worker *worker = data;
    float host[N];
    cudaStream_t stream = tool_stream(worker->device);
    float *memory = tool_floats(worker->device, N), *pinned = tool_pinned(N);
    for (int round = 0; round < 50; ++round) {
        for (int i = 0; i < N; ++i)
            pinned[i] = (float)(i + worker->device);
        WELL(cudaMemcpyAsync(memory, pinned, sizeof host, cudaMemcpyDefault, stream));
        WELL(cudaMemcpyAsync(host, memory, sizeof host, cudaMemcpyDefault, stream));
    }
    worker->first = host[0];
    worker->last = host[N - 1];
    return NULL;
}

static void test_threads(void)
{
    pthread_t thread[4];
    struct worker worker[4];
    test_start(4);
    for (int i = 0; i < 4; ++i) {
        worker[i] = (struct worker){.device = i};
        CHECK(pthread_create(&thread[i], NULL, work, &worker[i]) == 0);
    }
    for (int i = 0; i < 4; ++i) {
        pthread_join(thread[i], NULL);
        CHECK(worker[i].first == (float)i && worker[i].last == (float)(i + N - 1));
    }
    int device = -1;
    WELL(cudaGetDevice(&device));
    CHECK(device == 0); /* each thread has its own */
    test_end(NULL);
}

/* Streams come and go; the state of one does not spoil the next. */
static void test_many_streams(void)
{
    test_start(1);
    float *memory = tool_floats(0, N);
    for (int i = 0; i < FAKE_STALE + 2 * FAKE_STREAMS; ++i) {
        cudaStream_t stream = tool_stream(0);
        cudaEvent_t event = tool_event(0);
        WELL(cudaMemsetAsync(memory, 0, N, stream));
        WELL(cudaEventRecord(event, stream));
        WELL(cudaEventSynchronize(event));
        WELL(cudaEventDestroy(event));
        WELL(cudaStreamSynchronize(stream));
        WELL(cudaStreamDestroy(stream));
    }
    test_end(NULL);
}

/* A stream that was destroyed before its work was waited for still exists. */
static void test_stream_destroyed(void)
{
    test_start(1);
    float *memory = tool_floats(0, N);
    cudaStream_t first = tool_stream(0);
    WELL(cudaMemsetAsync(memory, 0, N, first));
    WELL(cudaStreamDestroy(first));
    cudaStream_t second = tool_stream(0);
    WELL(cudaMemsetAsync(memory, 0, N, second));
    WELL(cudaDeviceSynchronize());
    test_end("race: cudaMemsetAsync (device 0, stream 1)");
}

static const struct test tests[] = {
    {"order/areas", test_areas},
    {"order/columns", test_columns},
    {"order/lazy", test_lazy},
    {"order/events", test_events},
    {"order/times-of-two", test_times_of_two},
    {"order/host-function", test_host_function},
    {"order/host-function-calls-cuda", test_host_function_calls_cuda},
    {"order/deadlock", test_deadlock},
    {"order/threads", test_threads},
    {"order/many-streams", test_many_streams},
    {"order/stream-destroyed", test_stream_destroyed},
};
const struct test_table order_tests = {tests, sizeof tests / sizeof *tests};
