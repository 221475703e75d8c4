/* ring_open.c: what the ring allocates and how it gives it back, with the bugs of both. */
#include "../../../../core/cuda/launch.h"
#include "ring_parts.h"

#include <pthread.h>
#include <string.h>

#define WORKSPACE 4096

struct ring_device *ring_before(struct ring *r, const struct ring_device *d)
{
    return &r->device[(d->index + RING_DEVICES - 1) % RING_DEVICES];
}

struct ring_device *ring_after(struct ring *r, const struct ring_device *d)
{
    return &r->device[(d->index + 1) % RING_DEVICES];
}

static void open_memory(struct ring *r, struct ring_device *d)
{
    float **all[] = {&d->w,   &d->x,     &d->y,     &d->stage, &d->fetched,
                     &d->sum, &d->total, &d->spare, &d->rate};
    for (size_t i = 0; i < sizeof all / sizeof *all; ++i)
        CALL(r, cudaMalloc((void **)all[i], RING_BYTES));
    CALL(r, cudaMalloc(&d->workspace, WORKSPACE));
    CALL(r, cudaMallocHost((void **)&d->pin_in, 2 * RING_BYTES));
    CALL(r, cudaHostAlloc((void **)&d->pin_out, RING_BYTES, cudaHostAllocDefault));
}

static void open_queues(struct ring *r, struct ring_device *d)
{
    cudaEvent_t *all[] = {&d->ready,   &d->staged,    &d->moved,
                          &d->updated, &d->loaded[0], &d->loaded[1]};
    CALL(r, cudaStreamCreateWithFlags(&d->compute, cudaStreamNonBlocking));
    CALL(r, cudaStreamCreateWithFlags(&d->comm, cudaStreamNonBlocking));
    for (size_t i = 0; i < sizeof all / sizeof *all; ++i)
        CALL(r, cudaEventCreateWithFlags(all[i], cudaEventDisableTiming));
}

static void open_blas(struct ring *r, struct ring_device *d)
{
    CALL(r, cublasCreate(&d->blas));
    if (r->bug != RING_BLAS_STREAM_NOT_SET)
        CALL(r, cublasSetStream(d->blas, r->bug == RING_BLAS_OTHER_STREAM ? d->comm : d->compute));
    CALL(r, cublasSetWorkspace(d->blas, d->workspace, WORKSPACE));
    CALL(r, cublasSetMathMode(d->blas, CUBLAS_PEDANTIC_MATH));
}

/* A second handle, on the other stream, with the workspace of the first. */
static void share_workspace(struct ring *r, struct ring_device *d)
{
    const float one = 1.0f, zero = 0.0f;
    CALL(r, cudaMemsetAsync(d->stage, 0, RING_BYTES, d->comm));
    CALL(r, cudaMemsetAsync(d->x, 0, RING_BYTES, d->compute));
    CALL(r, cublasCreate(&d->other_blas));
    CALL(r, cublasSetStream(d->other_blas, d->comm));
    CALL(r, cublasSetWorkspace(d->other_blas, d->workspace, WORKSPACE));
    cublasHandle_t handle[] = {d->other_blas, d->blas};
    const float *in[] = {d->stage, d->x};
    float *out[] = {d->spare, d->y};
    for (int i = 0; i < 2; ++i)
        CALL(r, cublasSgemm(handle[i], CUBLAS_OP_N, CUBLAS_OP_N, RING_SIDE, RING_SIDE, RING_SIDE,
                            &one, in[i], RING_SIDE, in[i], RING_SIDE, &zero, out[i], RING_SIDE));
}

struct ending {
    cudaStream_t stream;
    cudaGraph_t *graph;
    cudaError_t error;
};

static void *end_capture(void *data)
{
    struct ending *ending = data;
    ending->error = cudaStreamEndCapture(ending->stream, ending->graph);
    return NULL;
}

static cudaError_t end_elsewhere(struct ending ending)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, end_capture, &ending))
        return cudaErrorUnknown;
    pthread_join(thread, NULL);
    return ending.error;
}

/* y = relu(y) */
static void open_graph(struct ring *r, struct ring_device *d)
{
    const struct dp_activation relu = {d->y, d->y, RING_COUNT};
    cudaGraph_t graph = NULL;
    CALL(r, cudaStreamBeginCapture(d->compute, cudaStreamCaptureModeThreadLocal));
    if (r->failed)
        return;
    CALL(r, dp_cuda_launch_relu(&relu, d->compute));
    if (r->bug == RING_CAPTURE_WAITS)
        CALL(r, cudaStreamSynchronize(d->comm));
    if (r->bug == RING_CAPTURE_NOT_JOINED) {
        CALL(r, cudaEventRecord(d->staged, d->compute));
        CALL(r, cudaStreamWaitEvent(d->comm, d->staged, 0));
        CALL(r, cudaMemsetAsync(d->stage, 0, RING_BYTES, d->comm));
    }
    if (r->bug == RING_CAPTURE_OTHER_THREAD)
        CLOSE(r, end_elsewhere((struct ending){d->compute, &graph, cudaSuccess}));
    if (!graph)
        CLOSE(r, cudaStreamEndCapture(d->compute, &graph));
    CALL(r, cudaGraphInstantiate(&d->relu, graph, 0));
    if (graph)
        CLOSE(r, cudaGraphDestroy(graph));
    if (r->bug == RING_GRAPH_STALE) {
        CALL(r, cudaFree(d->y));
        CALL(r, cudaMalloc((void **)&d->y, RING_BYTES));
    }
}

void ring_open(struct ring *r)
{
    for (int i = 0; i < RING_DEVICES; ++i)
        r->device[i].index = i;
    for (int i = 0; i < RING_DEVICES && !r->failed; ++i) {
        struct ring_device *d = &r->device[i];
        CALL(r, cudaSetDevice(d->index));
        open_memory(r, d);
        open_queues(r, d);
        open_blas(r, d);
        if (r->bug == RING_WORKSPACE_SHARED)
            share_workspace(r, d);
        open_graph(r, d);
        if (r->bug != RING_NO_PEER_ACCESS)
            CALL(r, cudaDeviceEnablePeerAccess(ring_before(r, d)->index, 0));
        if (r->failed || r->bug == RING_NEVER_INITIALISED)
            continue;
        memcpy(d->pin_out, r->weights, RING_BYTES);
        CALL(r, cudaMemcpyAsync(d->w, d->pin_out, RING_BYTES, cudaMemcpyHostToDevice, d->compute));
    }
}

static void close_memory(struct ring *r, struct ring_device *d)
{
    float *all[] = {d->w, d->x, d->y, d->stage, d->fetched, d->sum, d->total, d->spare, d->rate};
    const size_t kept = r->bug == RING_LEAKS_MEMORY;
    for (size_t i = kept; i < sizeof all / sizeof *all; ++i)
        if (all[i])
            CLOSE(r, cudaFree(all[i]));
    if (d->workspace)
        CLOSE(r, cudaFree(d->workspace));
    if (d->pin_in)
        CLOSE(r, cudaFreeHost(d->pin_in));
    if (d->pin_out)
        CLOSE(r, cudaFreeHost(d->pin_out));
}

/* All devices are waited for before anything is given back: peers read each other. */
void ring_close(struct ring *r)
{
    for (int i = 0; i < RING_DEVICES && r->bug != RING_NEVER_WAITS; ++i) {
        const struct ring_device *d = &r->device[i];
        if (d->compute)
            CLOSE(r, cudaStreamSynchronize(d->compute));
        if (d->comm)
            CLOSE(r, cudaStreamSynchronize(d->comm));
    }
    for (int i = 0; i < RING_DEVICES; ++i) {
        struct ring_device *d = &r->device[i];
        cudaEvent_t all[] = {d->ready, d->staged, d->moved, d->loaded[0], d->loaded[1], d->updated};
        const size_t events = sizeof all / sizeof *all - (r->bug == RING_LEAKS_EVENT);
        for (size_t j = 0; j < events; ++j)
            if (all[j])
                CLOSE(r, cudaEventDestroy(all[j]));
        if (d->blas)
            CLOSE(r, cublasDestroy(d->blas));
        if (d->other_blas)
            CLOSE(r, cublasDestroy(d->other_blas));
        if (d->relu)
            CLOSE(r, cudaGraphExecDestroy(d->relu));
        if (d->compute)
            CLOSE(r, cudaStreamDestroy(d->compute));
        if (d->comm)
            CLOSE(r, cudaStreamDestroy(d->comm));
        close_memory(r, &r->device[i]);
    }
}
