/* ring_open.c: what the ring allocates and how it gives it back, with the bugs of both. */
#include "../../../../core/cuda/launch.h"
#include "ring_parts.h"

#include <pthread.h>
#include <string.h>

#define WORKSPACE 4096

bool ring_cuda(struct ring *r, cudaError_t error)
{
    if (error)
        r->failed = true;
    return !error;
}

bool ring_blas(struct ring *r, cublasStatus_t status)
{
    if (status)
        r->failed = true;
    return !status;
}

struct ring_device *ring_before(struct ring *r, const struct ring_device *d)
{
    return &r->device[(d->index + RING_DEVICES - 1) % RING_DEVICES];
}

struct ring_device *ring_after(struct ring *r, const struct ring_device *d)
{
    return &r->device[(d->index + 1) % RING_DEVICES];
}

static bool open_memory(struct ring *r, struct ring_device *d)
{
    float **all[] = {&d->w,   &d->x,     &d->y,     &d->stage, &d->fetched,
                     &d->sum, &d->total, &d->spare, &d->rate};
    bool well = true;
    for (size_t i = 0; i < sizeof all / sizeof *all && well; ++i)
        well = ring_cuda(r, cudaMalloc((void **)all[i], RING_BYTES));
    return well && ring_cuda(r, cudaMalloc(&d->workspace, WORKSPACE)) &&
           ring_cuda(r, cudaMallocHost((void **)&d->pin_in, 2 * RING_BYTES)) &&
           ring_cuda(r, cudaHostAlloc((void **)&d->pin_out, RING_BYTES, cudaHostAllocDefault));
}

static bool open_queues(struct ring *r, struct ring_device *d)
{
    cudaEvent_t *all[] = {&d->ready,   &d->staged,    &d->moved,
                          &d->updated, &d->loaded[0], &d->loaded[1]};
    bool well = ring_cuda(r, cudaStreamCreateWithFlags(&d->compute, cudaStreamNonBlocking)) &&
                ring_cuda(r, cudaStreamCreateWithFlags(&d->comm, cudaStreamNonBlocking));
    for (size_t i = 0; i < sizeof all / sizeof *all && well; ++i)
        well = ring_cuda(r, cudaEventCreateWithFlags(all[i], cudaEventDisableTiming));
    return well;
}

static bool open_blas(struct ring *r, struct ring_device *d)
{
    cudaStream_t stream = r->bug == RING_BLAS_OTHER_STREAM ? d->comm : d->compute;
    bool well = ring_blas(r, cublasCreate(&d->blas));
    if (well && r->bug != RING_BLAS_STREAM_NOT_SET)
        well = ring_blas(r, cublasSetStream(d->blas, stream));
    return well && ring_blas(r, cublasSetWorkspace(d->blas, d->workspace, WORKSPACE)) &&
           ring_blas(r, cublasSetMathMode(d->blas, CUBLAS_PEDANTIC_MATH));
}

/* A second handle, on the other stream, with the workspace of the first. */
static bool share_workspace(struct ring *r, struct ring_device *d)
{
    const float one = 1.0f, zero = 0.0f;
    if (r->bug != RING_WORKSPACE_SHARED)
        return true;
    bool well = ring_cuda(r, cudaMemsetAsync(d->stage, 0, RING_BYTES, d->comm)) &&
                ring_cuda(r, cudaMemsetAsync(d->x, 0, RING_BYTES, d->compute)) &&
                ring_blas(r, cublasCreate(&d->other_blas)) &&
                ring_blas(r, cublasSetStream(d->other_blas, d->comm)) &&
                ring_blas(r, cublasSetWorkspace(d->other_blas, d->workspace, WORKSPACE));
    cublasHandle_t handle[] = {d->other_blas, d->blas};
    const float *in[] = {d->stage, d->x};
    float *out[] = {d->spare, d->y};
    for (int i = 0; i < 2 && well; ++i)
        well = ring_blas(r, cublasSgemm(handle[i], CUBLAS_OP_N, CUBLAS_OP_N, RING_SIDE, RING_SIDE,
                                        RING_SIDE, &one, in[i], RING_SIDE, in[i], RING_SIDE, &zero,
                                        out[i], RING_SIDE));
    return well;
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

static bool capture_bugs(struct ring *r, struct ring_device *d)
{
    if (r->bug == RING_CAPTURE_WAITS)
        return ring_cuda(r, cudaStreamSynchronize(d->comm));
    if (r->bug == RING_CAPTURE_NOT_JOINED)
        return ring_cuda(r, cudaEventRecord(d->staged, d->compute)) &&
               ring_cuda(r, cudaStreamWaitEvent(d->comm, d->staged, 0)) &&
               ring_cuda(r, cudaMemsetAsync(d->stage, 0, RING_BYTES, d->comm));
    return true;
}

/* y = relu(y) */
static bool open_graph(struct ring *r, struct ring_device *d)
{
    const struct dp_activation relu = {d->y, d->y, RING_COUNT};
    cudaGraph_t graph = NULL;
    if (!ring_cuda(r, cudaStreamBeginCapture(d->compute, cudaStreamCaptureModeThreadLocal)))
        return false;
    bool well =
        ring_cuda(r, (cudaError_t)dp_cuda_launch_relu(&relu, d->compute)) && capture_bugs(r, d);
    if (r->bug == RING_CAPTURE_OTHER_THREAD)
        well =
            ring_cuda(r, end_elsewhere((struct ending){d->compute, &graph, cudaSuccess})) && well;
    if (!graph)
        well = ring_cuda(r, cudaStreamEndCapture(d->compute, &graph)) && well;
    well = well && ring_cuda(r, cudaGraphInstantiate(&d->relu, graph, 0));
    if (graph)
        well = ring_cuda(r, cudaGraphDestroy(graph)) && well;
    if (well && r->bug == RING_GRAPH_STALE)
        well = ring_cuda(r, cudaFree(d->y)) && ring_cuda(r, cudaMalloc((void **)&d->y, RING_BYTES));
    return well;
}

static bool open_device(struct ring *r, struct ring_device *d)
{
    const int reached = ring_before(r, d)->index;
    if (!ring_cuda(r, cudaSetDevice(d->index)) || !open_memory(r, d) || !open_queues(r, d) ||
        !open_blas(r, d) || !share_workspace(r, d) || !open_graph(r, d))
        return false;
    if (r->bug != RING_NO_PEER_ACCESS && !ring_cuda(r, cudaDeviceEnablePeerAccess(reached, 0)))
        return false;
    if (r->bug == RING_NEVER_INITIALISED)
        return true;
    memcpy(d->pin_out, r->weights, RING_BYTES);
    return ring_cuda(
        r, cudaMemcpyAsync(d->w, d->pin_out, RING_BYTES, cudaMemcpyHostToDevice, d->compute));
}

bool ring_open(struct ring *r)
{
    bool well = true;
    for (int i = 0; i < RING_DEVICES; ++i)
        r->device[i].index = i;
    for (int i = 0; i < RING_DEVICES && well; ++i)
        well = open_device(r, &r->device[i]);
    return well;
}

static void close_memory(struct ring *r, struct ring_device *d)
{
    float *all[] = {d->w, d->x, d->y, d->stage, d->fetched, d->sum, d->total, d->spare, d->rate};
    const size_t kept = r->bug == RING_LEAKS_MEMORY;
    for (size_t i = kept; i < sizeof all / sizeof *all; ++i)
        if (all[i])
            ring_cuda(r, cudaFree(all[i]));
    if (d->workspace)
        ring_cuda(r, cudaFree(d->workspace));
    if (d->pin_in)
        ring_cuda(r, cudaFreeHost(d->pin_in));
    if (d->pin_out)
        ring_cuda(r, cudaFreeHost(d->pin_out));
}

/* All devices are waited for before anything is given back: peers read each other. */
void ring_close(struct ring *r)
{
    for (int i = 0; i < RING_DEVICES && r->bug != RING_NEVER_WAITS; ++i) {
        const struct ring_device *d = &r->device[i];
        if (d->compute)
            ring_cuda(r, cudaStreamSynchronize(d->compute));
        if (d->comm)
            ring_cuda(r, cudaStreamSynchronize(d->comm));
    }
    for (int i = 0; i < RING_DEVICES; ++i) {
        struct ring_device *d = &r->device[i];
        cudaEvent_t all[] = {d->ready, d->staged, d->moved, d->loaded[0], d->loaded[1], d->updated};
        const size_t events = sizeof all / sizeof *all - (r->bug == RING_LEAKS_EVENT);
        for (size_t j = 0; j < events; ++j)
            if (all[j])
                ring_cuda(r, cudaEventDestroy(all[j]));
        if (d->blas)
            ring_blas(r, cublasDestroy(d->blas));
        if (d->other_blas)
            ring_blas(r, cublasDestroy(d->other_blas));
        if (d->relu)
            ring_cuda(r, cudaGraphExecDestroy(d->relu));
        if (d->compute)
            ring_cuda(r, cudaStreamDestroy(d->compute));
        if (d->comm)
            ring_cuda(r, cudaStreamDestroy(d->comm));
        close_memory(r, &r->device[i]);
    }
}
