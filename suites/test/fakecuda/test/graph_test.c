/* graph_test.c: captures, what they forbid, and replays. */
#include "tools.h"

#include <pthread.h>

#define N 32

struct place {
    cudaStream_t a, b;
    cudaEvent_t fork, join;
    float *x, *y;
};

static struct place graph_open_place(void)
{
    test_start(2);
    return (struct place){.a = tool_stream(0),
                          .b = tool_stream(0),
                          .fork = tool_event(0),
                          .join = tool_event(0),
                          .x = tool_floats(0, N),
                          .y = tool_floats(0, N)};
}

static void close_place(struct place *p, const char *sentence)
{
    WELL(cudaStreamSynchronize(p->a));
    WELL(cudaStreamSynchronize(p->b));
    test_end(sentence);
}

static void graph_begin(cudaStream_t stream)
{
    WELL(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
}

static cudaError_t graph_end(cudaStream_t stream)
{
    cudaGraph_t graph = NULL;
    const cudaError_t error = cudaStreamEndCapture(stream, &graph);
    if (graph)
        WELL(cudaGraphDestroy(graph));
    return error;
}

static cudaGraphExec_t graph_finish(cudaStream_t stream)
{
    cudaGraph_t graph = NULL;
    cudaGraphExec_t exec = NULL;
    WELL(cudaStreamEndCapture(stream, &graph));
    WELL(cudaGraphInstantiate(&exec, graph, 0));
    WELL(cudaGraphDestroy(graph));
    return exec;
}

/* pinned -> x -> y on a second stream -> pinned, again and again with other data. */
static void test_replay(void)
{
    struct place p = graph_open_place();
    float *in = tool_pinned(N), *out = tool_pinned(N);
    enum cudaStreamCaptureStatus status;
    graph_begin(p.a);
    WELL(cudaMemcpyAsync(p.x, in, N * sizeof *in, cudaMemcpyDefault, p.a));
    tool_after(p.b, p.a, p.fork);
    WELL(cudaMemcpyAsync(p.y, p.x, N * sizeof *in, cudaMemcpyDefault, p.b));
    tool_after(p.a, p.b, p.join);
    WELL(cudaStreamIsCapturing(p.b, &status));
    CHECK(status == cudaStreamCaptureStatusActive);
    WELL(cudaMemcpyAsync(out, p.y, N * sizeof *in, cudaMemcpyDefault, p.a));
    cudaGraphExec_t exec = graph_finish(p.a);
    WELL(cudaStreamIsCapturing(p.b, &status));
    CHECK(status == cudaStreamCaptureStatusNone);
    for (int round = 0; round < 5; ++round) {
        for (int i = 0; i < N; ++i)
            in[i] = (float)(i * 3 + round);
        /* Launches of one graph follow each other on whatever stream. */
        WELL(cudaGraphLaunch(exec, p.a));
        WELL(cudaGraphLaunch(exec, p.b));
        WELL(cudaStreamSynchronize(p.b));
        for (int i = 0; i < N; ++i)
            CHECK(out[i] == (float)(i * 3 + round));
    }
    WELL(cudaStreamSynchronize(p.a));
    WELL(cudaGraphExecDestroy(exec));
    close_place(&p, NULL);
}

/* Within a graph too, two streams must be ordered. */
static void test_race_inside(void)
{
    struct place p = graph_open_place();
    graph_begin(p.a);
    tool_after(p.b, p.a, p.fork);
    WELL(cudaMemsetAsync(p.x, 0, N, p.a));
    WELL(cudaMemsetAsync(p.x, 1, N, p.b));
    tool_after(p.a, p.b, p.join);
    cudaGraphExec_t exec = graph_finish(p.a);
    CHECK(fakecuda_verdict() == 0);
    WELL(cudaGraphLaunch(exec, p.a));
    WELL(cudaStreamSynchronize(p.a));
    WELL(cudaGraphExecDestroy(exec));
    close_place(&p, "race: cudaMemsetAsync");
}

/* A graph is ordered like any other operation of its stream, and no more. */
static void test_race_outside(void)
{
    struct place p = graph_open_place();
    graph_begin(p.a);
    WELL(cudaMemsetAsync(p.x, 0, N, p.a));
    cudaGraphExec_t exec = graph_finish(p.a);
    WELL(cudaMemsetAsync(p.x, 1, N, p.b));
    tool_after(p.a, p.b, p.fork);
    WELL(cudaGraphLaunch(exec, p.a));
    CHECK(fakecuda_verdict() == 0);
    WELL(cudaMemsetAsync(p.x, 1, N, p.b));
    CHECK(fakecuda_verdict() == 1);
    WELL(cudaStreamSynchronize(p.a));
    WELL(cudaGraphExecDestroy(exec));
    close_place(&p, "race: cudaMemsetAsync (device 0, stream 1) writes 32 bytes");
}

/* The memory is freed, and its address given to another. */
static void test_address_given_again(void)
{
    struct fakecuda_config config = test_config(1);
    config.memory_bytes = 1u << 20;
    fakecuda_start(&config);
    cudaStream_t stream = tool_stream(0);
    float *old = tool_floats(0, 1u << 14), *next = NULL;
    graph_begin(stream);
    WELL(cudaMemsetAsync(old, 0, N, stream));
    cudaGraphExec_t exec = graph_finish(stream);
    WELL(cudaFree(old));
    for (int i = 0; i < 1000 && next != old; ++i) {
        WELL(cudaFree(next));
        next = tool_floats(0, 1u << 14);
    }
    CHECK(next == old);
    CHECK(cudaGraphLaunch(exec, stream) == cudaErrorIllegalAddress);
    WELL(cudaGraphExecDestroy(exec));
    test_end("was freed after the graph had captured it");
}

static void test_wrong_ends(void)
{
    struct place p = graph_open_place();
    graph_begin(p.a);
    CHECK(cudaStreamBeginCapture(p.a, cudaStreamCaptureModeThreadLocal) == cudaErrorIllegalState);
    tool_after(p.b, p.a, p.fork);
    CHECK(graph_end(p.b) == cudaErrorStreamCaptureUnmatched);
    WELL(cudaMemsetAsync(p.x, 0, N, p.b));
    CHECK(graph_end(p.a) == cudaErrorStreamCaptureUnjoined);
    CHECK(graph_end(p.a) == cudaErrorIllegalState); /* it has ended */
    WELL(cudaMemsetAsync(p.x, 0, N, p.b));
    close_place(&p, "is being captured already");
}

static void test_isolation(void)
{
    struct place p = graph_open_place();
    WELL(cudaEventRecord(p.fork, p.b));
    graph_begin(p.a);
    CHECK(cudaStreamWaitEvent(p.a, p.fork, 0) == cudaErrorStreamCaptureIsolation);
    CHECK(graph_end(p.a) == cudaErrorStreamCaptureInvalidated);
    graph_begin(p.a);
    graph_begin(p.b);
    WELL(cudaEventRecord(p.fork, p.a));
    CHECK(cudaStreamWaitEvent(p.b, p.fork, 0) == cudaErrorStreamCaptureMerge);
    WELL(graph_end(p.a));
    CHECK(cudaStreamWaitEvent(p.b, p.fork, 0) == cudaErrorCapturedEvent);
    CHECK(graph_end(p.b) == cudaErrorStreamCaptureInvalidated);
    const int before = fakecuda_verdict();
    CHECK(cudaEventSynchronize(p.fork) == cudaErrorCapturedEvent);
    CHECK(fakecuda_verdict() == before + 1);
    WELL(cudaEventRecord(p.fork, p.a));
    WELL(cudaEventSynchronize(p.fork));
    close_place(&p, "waits for an event that was not captured");
}

static void test_forbidden(void)
{
    struct place p = graph_open_place();
    void *more = NULL;
    float host[N] = {0};
    graph_begin(p.a);
    CHECK(cudaMalloc(&more, N) == cudaErrorStreamCaptureUnsupported);
    CHECK(graph_end(p.a) == cudaErrorStreamCaptureInvalidated);
    graph_begin(p.a);
    CHECK(cudaStreamSynchronize(p.b) == cudaErrorStreamCaptureUnsupported);
    CHECK(graph_end(p.a) == cudaErrorStreamCaptureInvalidated);
    graph_begin(p.a);
    CHECK(cudaStreamQuery(p.b) == cudaErrorStreamCaptureUnsupported);
    CHECK(graph_end(p.a) == cudaErrorStreamCaptureInvalidated);
    graph_begin(p.a);
    CHECK(cudaMemcpyAsync(p.x, host, sizeof host, cudaMemcpyDefault, p.a) ==
          cudaErrorStreamCaptureUnsupported);
    CHECK(graph_end(p.a) == cudaErrorStreamCaptureInvalidated);
    WELL(cudaStreamBeginCapture(p.a, cudaStreamCaptureModeRelaxed));
    WELL(cudaMalloc(&more, N));
    WELL(cudaFree(more));
    WELL(graph_end(p.a));
    close_place(&p, "cudaMalloc: may wait for a device");
}

struct other {
    enum cudaStreamCaptureMode mode;
    cudaError_t error;
};

static void *allocate(void *data)
{
    struct other *other = data;
    void *memory = NULL;
    WELL(cudaThreadExchangeStreamCaptureMode(&other->mode));
    other->error = cudaMalloc(&memory, N);
    WELL(cudaFree(memory));
    return NULL;
}

static cudaError_t allocate_elsewhere(enum cudaStreamCaptureMode mode)
{
    struct other other = {mode, cudaSuccess};
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, allocate, &other) == 0);
    pthread_join(thread, NULL);
    CHECK(other.mode == cudaStreamCaptureModeGlobal); /* what a thread begins with */
    return other.error;
}

/* A capture of one thread leaves the others alone, unless it is global and they are too. */
static void test_threads(void)
{
    struct place p = graph_open_place();
    graph_begin(p.a);
    CHECK(allocate_elsewhere(cudaStreamCaptureModeGlobal) == cudaSuccess);
    WELL(graph_end(p.a));
    WELL(cudaStreamBeginCapture(p.a, cudaStreamCaptureModeGlobal));
    CHECK(allocate_elsewhere(cudaStreamCaptureModeThreadLocal) == cudaSuccess);
    CHECK(fakecuda_verdict() == 0);
    WELL(graph_end(p.a));
    close_place(&p, NULL);
}

static void *put_in(void *data)
{
    const struct place *p = data;
    WELL(cudaSetDevice(0));
    WELL(cudaMemsetAsync(p->x, 0, N, p->a));
    return NULL;
}

static void test_foreign_work(void)
{
    struct place p = graph_open_place();
    pthread_t thread;
    graph_begin(p.a);
    CHECK(pthread_create(&thread, NULL, put_in, &p) == 0);
    pthread_join(thread, NULL);
    WELL(graph_end(p.a));
    close_place(&p, "goes into a capture of another thread");
}

static void test_wrong_device(void)
{
    struct place p = graph_open_place();
    graph_begin(p.a);
    WELL(cudaMemsetAsync(p.x, 0, N, p.a));
    cudaGraphExec_t exec = graph_finish(p.a);
    cudaStream_t other = tool_stream(1);
    CHECK(cudaGraphLaunch(exec, other) == cudaErrorInvalidResourceHandle);
    WELL(cudaGraphExecDestroy(exec));
    CHECK(cudaGraphLaunch(exec, p.a) == cudaErrorInvalidValue);
    close_place(&p, "a graph of device 0 is launched in stream 2 of device 1");
}

static void test_leak(void)
{
    test_start(1);
    cudaStream_t stream = tool_stream(0);
    graph_begin(stream);
    graph_finish(stream);
    WELL(cudaStreamDestroy(stream));
    test_end_released("leak: 0 graphs, 1 executable graphs");
}

static const struct test tests[] = {
    {"graph/replay", test_replay},
    {"graph/race-inside", test_race_inside},
    {"graph/race-outside", test_race_outside},
    {"graph/address-given-again", test_address_given_again},
    {"graph/wrong-ends", test_wrong_ends},
    {"graph/isolation", test_isolation},
    {"graph/forbidden", test_forbidden},
    {"graph/threads", test_threads},
    {"graph/foreign-work", test_foreign_work},
    {"graph/wrong-device", test_wrong_device},
    {"graph/leak", test_leak},
};
const struct test_table graph_tests = {tests, sizeof tests / sizeof *tests};
