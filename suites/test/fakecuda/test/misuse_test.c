/* misuse_test.c: each wrong use of the runtime is a violation with its sentence, and what is
 * ordered is none. */
#include "../../../../core/cuda/launch.h"
#include "tools.h"

#include <cublas_v2.h>
#include <pthread.h>

enum { N = 40, BYTES = N * sizeof(float) };

/* Two devices, without peer access. Memory of the devices is written, and nothing is pending. */
static struct {
    cudaStream_t a, b, other; /* other: of device 1, as far is */
    cudaEvent_t event;
    float *x, *y, *far, *pinned;
    cublasHandle_t handle;
} p;

static void misuse_open(void)
{
    const float values[N] = {1.0f};
    test_start(2);
    p.other = tool_stream(1);
    p.far = tool_floats(1, N);
    tool_put(p.far, values, N, p.other);
    p.a = tool_stream(0);
    p.b = tool_stream(0);
    p.event = tool_event(0);
    p.x = tool_floats(0, N);
    p.y = tool_floats(0, N);
    p.pinned = tool_pinned(N);
    tool_put(p.x, values, N, p.a);
    tool_put(p.y, values, N, p.a);
    CHECK(cublasCreate(&p.handle) == CUBLAS_STATUS_SUCCESS);
    CHECK(cublasSetStream(p.handle, p.a) == CUBLAS_STATUS_SUCCESS);
}

static void relu_of(const float *from, cudaStream_t stream)
{
    (void)dp_cuda_launch_relu(&(struct dp_activation){p.y, from, N}, stream);
}

static void product_of(const float *from)
{
    const float one = 1.0f, zero = 0.0f;
    (void)cublasSgemm(p.handle, CUBLAS_OP_N, CUBLAS_OP_N, 1, 1, 1, &one, from, 1, p.x, 1, &zero,
                      p.y, 1);
}

static void read_now(const float *from)
{
    const volatile float *now = from;
    (void)*now;
}

static void written(cudaStream_t stream)
{
    (void)cudaMemsetAsync(p.x, 0, BYTES, stream);
}

static void copied(cudaStream_t stream)
{
    WELL(cudaMemcpyPeerAsync(p.far, 1, p.x, 0, BYTES, stream));
}

static void pulled(void)
{
    WELL(cudaMemcpyAsync(p.pinned, p.x, BYTES, cudaMemcpyDefault, p.a));
}

static void begin_capture(void)
{
    WELL(cudaStreamBeginCapture(p.a, cudaStreamCaptureModeThreadLocal));
    written(p.a);
}

static void *end_capture(void *data)
{
    cudaGraph_t graph = NULL;
    (void)cudaStreamEndCapture(p.a, &graph);
    return data;
}

static void end_by_another_thread(void)
{
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, end_capture, NULL) == 0);
    pthread_join(thread, NULL);
    (void)end_capture(NULL);
}

/* Use number i, and the sentence that it gives: "" for one that is right, NULL: there are no more.
 */
static const char *misuse_of_devices(int i)
{
    const float host[N] = {1.0f};
    switch (i) {
    case 0:
        relu_of(p.x, p.other);
        return "dp_cuda_launch_relu: launched in stream";
    case 1:
        WELL(cudaSetDevice(1));
        product_of(p.x);
        return "the handle belongs to device 0, but device 1 is current";
    case 2:
        (void)cublasSetStream(p.handle, p.other);
        product_of(p.x);
        return "the handle belongs to device 0, its stream to device 1";
    case 3:
        (void)cudaEventRecord(p.event, p.other);
        return "an event of device 0 is recorded in stream";
    case 4:
        (void)cudaMemcpyPeerAsync(p.x, 1, p.far, 0, BYTES, p.a);
        return "the call says";
    case 5:
        relu_of(host, p.a);
        return "host memory that CUDA";
    case 6:
        product_of(host);
        return "host memory that CUDA";
    case 7:
        (void)cudaMemcpyAsync(p.x, p.pinned, BYTES, cudaMemcpyDeviceToHost, p.a);
        return "the kind says";
    case 8:
        relu_of(p.far, p.a);
        return "no peer access";
    case 9:
        (void)cudaMemsetAsync(p.x, 0, BYTES, NULL);
        return "the default stream is used";
    case 10:
        begin_capture();
        end_by_another_thread();
        return "by another thread";
    case 11:
        begin_capture();
        tool_after(p.b, p.a, p.event);
        written(p.b);
        (void)end_capture(NULL);
        return "nothing waits for what a second stream does";
    default:
        return NULL;
    }
}

static const char *misuse_of_memory(int i)
{
    switch (i) {
    case 0:
        (void)cudaMemsetAsync(p.x, 0, BYTES + 4, p.a);
        return "run over the end";
    case 1:
        p.pinned[N] = 1.0f;
        (void)cudaFreeHost(p.pinned);
        return "were overrun";
    case 2:
        WELL(cudaFree(p.x));
        written(p.a);
        return "memory that was freed";
    case 3:
        WELL(cudaFree(p.x));
        (void)cudaFree(p.x);
        return "freed before";
    case 4:
        written(p.a);
        WELL(cudaStreamSynchronize(p.b));
        (void)cudaFree(p.x);
        return "is still used";
    case 5:
        pulled();
        (void)cudaFreeHost(p.pinned);
        return "is still used";
    case 6:
        pulled();
        read_now(p.pinned);
        return "the program reads";
    case 7:
        pulled();
        WELL(cudaStreamSynchronize(p.b));
        read_now(p.pinned);
        return "the program reads";
    case 8:
        WELL(cudaMemcpyAsync(p.x, p.pinned, BYTES, cudaMemcpyDefault, p.a));
        p.pinned[0] = 1.0f;
        return "the program writes";
    case 9:
        pulled();
        WELL(cudaEventRecord(p.event, p.a));
        WELL(cudaEventSynchronize(p.event));
        read_now(p.pinned);
        return "";
    default:
        return NULL;
    }
}

static const char *misuse_of_order(int i)
{
    switch (i) {
    case 0:
        written(p.a);
        tool_after(p.other, p.a, p.event);
        copied(p.other);
        return "";
    case 1:
        written(p.a);
        copied(p.other);
        return "race: cudaMemcpyPeerAsync";
    case 2:
        WELL(cudaEventRecord(p.event, p.a));
        written(p.a);
        WELL(cudaStreamWaitEvent(p.other, p.event, 0));
        copied(p.other);
        return "race: cudaMemcpyPeerAsync";
    case 3:
        written(p.a);
        tool_after(p.other, p.b, p.event);
        copied(p.other);
        return "race: cudaMemcpyPeerAsync";
    case 4:
        written(p.a);
        WELL(cudaStreamWaitEvent(p.other, p.event, 0));
        WELL(cudaEventRecord(p.event, p.a));
        copied(p.other);
        return "race: cudaMemcpyPeerAsync";
    case 5:
        copied(p.b);
        tool_after(p.a, p.b, p.event);
        written(p.a);
        return "";
    case 6:
        copied(p.b);
        written(p.a);
        return "race: cudaMemsetAsync";
    case 7:
        written(p.b);
        product_of(p.x);
        return "race: cublasSgemm";
    default:
        return NULL;
    }
}

static void every(const char *(*use)(int i))
{
    for (int i = 0;; ++i) {
        misuse_open();
        const char *sentence = use(i);
        (void)cudaDeviceSynchronize();
        test_end(sentence && *sentence ? sentence : NULL);
        if (!sentence)
            return;
    }
}

static void test_devices(void)
{
    every(misuse_of_devices);
}

static void test_memory(void)
{
    every(misuse_of_memory);
}

static void test_order(void)
{
    every(misuse_of_order);
}

static void host_reads_device(void)
{
    misuse_open();
    read_now(p.x);
}

static void test_host_reads_device(void)
{
    CHECK(tool_status(host_reads_device) == FAKECUDA_EXIT);
}

/* Each kind of thing that is left is named. */
static void test_leaks(void)
{
    static const char *const leaks[] = {"operations were never waited for", "leak: 1 streams",
                                        "leak: 1 events", "leak: 1 allocations, 160 bytes"};
    for (int i = 0; i < 4; ++i) {
        test_start(1);
        const cudaStream_t stream = tool_stream(0);
        const cudaEvent_t event = tool_event(0);
        float *memory = tool_floats(0, N);
        WELL(cudaMemsetAsync(memory, 0, BYTES, stream));
        if (i != 0)
            WELL(cudaStreamSynchronize(stream));
        if (i != 1)
            WELL(cudaStreamDestroy(stream));
        if (i != 2)
            WELL(cudaEventDestroy(event));
        if (i > 0 && i != 3)
            WELL(cudaFree(memory));
        test_end_released(leaks[i]);
    }
}

static const struct test tests[] = {
    {"misuse/devices", test_devices}, {"misuse/memory", test_memory},
    {"misuse/order", test_order},     {"misuse/host-reads-device", test_host_reads_device},
    {"misuse/leaks", test_leaks},
};
const struct test_table misuse_tests = {tests, sizeof tests / sizeof *tests};
