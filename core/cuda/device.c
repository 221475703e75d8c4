/* device.c: a slot on a GPU: its memory, its two streams, its events, its cuBLAS handle.
 *
 * Several slots on one GPU share only the GPU. The current device of a thread is set before every
 * call that depends on it, because the caller may use another device. Copies, events and waits
 * depend only on their stream. But a thread without a current device would open the first GPU by
 * them, so a new thread selects the GPU of its slot. */
#include "cuda.h"
#include "graph.h"
#include "launch.h"

#include <stdlib.h>
#include <string.h>

/* An old position may get a place whose event was never recorded: such an event has passed. */
static int add_events(const struct dp_slot *slot, struct dp_cuda_queue *queue, uint64_t n,
                      struct dp_error *err)
{
    if (n <= queue->events)
        return 0;
    cudaEvent_t *more = realloc(queue->event, n * sizeof *more);
    if (!more)
        return dp_fail(err, DP_ENOMEM, "%s: no memory for %llu events", slot->info.name,
                       (unsigned long long)n);
    queue->event = more;
    while (queue->events < n) {
        const cudaError_t error =
            cudaEventCreateWithFlags(&more[queue->events], cudaEventDisableTiming);
        if (error)
            return dp_cuda_fail(slot, "cudaEventCreateWithFlags", error, err);
        ++queue->events;
    }
    return 0;
}

/* first: its kernels run before those of other queues that wait for the same GPU. */
static int queue_open(const struct dp_slot *slot, struct dp_cuda_queue *queue, bool first,
                      struct dp_error *err)
{
    int least = 0, greatest = 0;
    cudaError_t error = cudaDeviceGetStreamPriorityRange(&least, &greatest);
    if (error)
        return dp_cuda_fail(slot, "cudaDeviceGetStreamPriorityRange", error, err);
    error = cudaStreamCreateWithPriority(&queue->stream, cudaStreamNonBlocking,
                                         first ? greatest : least);
    if (error)
        return dp_cuda_fail(slot, "cudaStreamCreateWithPriority", error, err);
    return add_events(slot, queue, DP_CUDA_EVENTS, err);
}

static void queue_close(struct dp_cuda_queue *queue)
{
    if (queue->stream)
        cudaStreamSynchronize(queue->stream);
    for (uint64_t i = 0; i < queue->events; ++i)
        cudaEventDestroy(queue->event[i]);
    free(queue->event);
    if (queue->stream)
        cudaStreamDestroy(queue->stream);
}

/* Identifies the GPU. A GPU that the kernels were not built for cannot run them. */
static int identify(struct dp_slot *slot, int device, struct dp_error *err)
{
    struct cudaDeviceProp properties;
    struct dp_slot_info *info = &slot->info;
    cudaError_t error = cudaGetDeviceProperties(&properties, device);
    if (error)
        return dp_cuda_fail(slot, "cudaGetDeviceProperties", error, err);
    memcpy(info->model, properties.name, sizeof info->model);
    info->model[sizeof info->model - 1] = '\0';
    info->memory_bytes = properties.totalGlobalMem;
    error = cudaDeviceGetPCIBusId(info->bus, sizeof info->bus, device);
    if (error)
        return dp_cuda_fail(slot, "cudaDeviceGetPCIBusId", error, err);
    error = (cudaError_t)dp_cuda_kernels_there();
    if (error != cudaErrorNoKernelImageForDevice && error != cudaErrorInvalidDeviceFunction)
        return error ? dp_cuda_fail(slot, "cudaFuncGetAttributes", error, err) : 0;
    cudaGetLastError();
    return dp_fail(err, DP_ENOTSUP,
                   "%s: %s has compute capability %d.%d, and this build has kernels only "
                   "for " DP_CUDA_ARCHITECTURES " (%s)",
                   info->name, info->model, properties.major, properties.minor,
                   cudaGetErrorName(error));
}

static int cuda_open(struct dp_slot *slot, struct dp_error *err)
{
    struct dp_cuda_slot *s = calloc(1, sizeof *s);
    if (!s)
        return dp_fail(err, DP_ENOMEM, "%s: no memory for its state", slot->info.name);
    s->device = slot->device;
    slot->native = s;
    slot->compute.native = &s->compute;
    slot->comm.native = &s->comm;
    int status = dp_cuda_enter(slot, err);
    if (status == 0)
        status = identify(slot, s->device, err);
    if (status == 0)
        status = queue_open(slot, &s->compute, false, err);
    if (status == 0)
        status = queue_open(slot, &s->comm, true, err);
    if (status)
        return status;
    void *parts = NULL;
    status = slot->ops->alloc(slot, DP_CUDA_LOSS_PARTS * sizeof *s->parts, &parts, err);
    s->parts = parts;
    if (status == 0 && slot->group->graphs)
        status = dp_cuda_graphs_open(slot, err);
    return status;
}

static void cuda_close(struct dp_slot *slot)
{
    struct dp_cuda_slot *s = slot->native;
    if (!s)
        return;
    cudaSetDevice(s->device);
    if (s->compute.stream)
        cudaStreamSynchronize(s->compute.stream);
    dp_cuda_graphs_close(slot);
    if (s->blas)
        s->call.destroy(s->blas);
    queue_close(&s->compute);
    queue_close(&s->comm);
    dp_cuda_timer_close(s);
    if (s->workspace)
        cudaFree(s->workspace);
    if (s->stage)
        cudaFree(s->stage);
    if (s->parts)
        cudaFree(s->parts);
    cudaGetLastError(); /* the thread may continue with another group */
    free(s);
    slot->native = NULL;
}

static int cuda_alloc(struct dp_slot *slot, size_t bytes, void **memory, struct dp_error *err)
{
    const int status = dp_cuda_enter(slot, err);
    if (status)
        return status;
    const cudaError_t error = cudaMalloc(memory, bytes ? bytes : 1);
    if (error == cudaErrorMemoryAllocation) {
        cudaGetLastError();
        return dp_fail(err, DP_ENOMEM, "%s: cannot allocate %zu bytes", slot->info.name, bytes);
    }
    return error ? dp_cuda_fail(slot, "cudaMalloc", error, err) : 0;
}

static void cuda_release(struct dp_slot *slot, void *memory)
{
    if (!memory)
        return;
    dp_cuda_enter(slot, NULL); /* the memory is freed all the same: its pointer tells the device */
    dp_cuda_graphs_drop(slot);
    if (cudaFree(memory))
        cudaGetLastError(); /* otherwise the next launch of the thread would report it */
}

/* A copy from pageable memory takes time of the calling thread, one device after the other. */
static int cuda_host_alloc(struct dp_slot *host, size_t bytes, void **memory, struct dp_error *err)
{
    struct dp_slot *slot = host->group->slot[0];
    const int status = dp_cuda_enter(slot, err);
    if (status)
        return status;
    const cudaError_t error = cudaHostAlloc(memory, bytes ? bytes : 1, cudaHostAllocPortable);
    if (error == cudaErrorMemoryAllocation) {
        cudaGetLastError();
        return dp_fail(err, DP_ENOMEM, "host: cannot allocate %zu bytes of locked memory", bytes);
    }
    return error ? dp_cuda_fail(slot, "cudaHostAlloc", error, err) : 0;
}

static void cuda_host_release(struct dp_slot *host, void *memory)
{
    if (!memory)
        return;
    dp_cuda_enter(host->group->slot[0], NULL);
    if (cudaFreeHost(memory))
        cudaGetLastError();
}

static void cuda_adopt(struct dp_slot *slot)
{
    dp_cuda_enter(slot, NULL);
}

static int cuda_events(struct dp_slot *slot, int n, struct dp_error *err)
{
    struct dp_cuda_slot *s = slot->native;
    int status = dp_cuda_enter(slot, err);
    if (status == 0)
        status = add_events(slot, &s->compute, (uint64_t)n, err);
    return status ? status : add_events(slot, &s->comm, (uint64_t)n, err);
}

static void cuda_record(struct dp_queue *queue, struct dp_event *event)
{
    struct dp_cuda_queue *q = queue->native;
    event->queue = queue;
    event->position = ++q->recorded;
    dp_cuda_flush(queue, NULL); /* the end of the hold reports it */
    const cudaError_t error = cudaEventRecord(q->event[q->recorded % q->events], q->stream);
    if (error && !q->failed)
        q->failed = error;
    if (error)
        cudaGetLastError();
}

/* If the queue of an event failed to record it, the wait would not wait. */
static int check_recorded(const struct dp_queue *queue, struct dp_error *err)
{
    const struct dp_cuda_queue *q = queue->native;
    return q->failed ? dp_cuda_fail(queue->slot, "cudaEventRecord", q->failed, err) : 0;
}

static cudaEvent_t event_of(const struct dp_event *event)
{
    const struct dp_cuda_queue *q = event->queue->native;
    return q->event[event->position % q->events];
}

/* Work that will never end is given up before the runtime waits for it. */
static int watch(struct dp_queue *queue, struct dp_error *err)
{
    const struct dp_cuda_slot *s = queue->slot->native;
    return s->watch ? s->watch(queue, err) : 0;
}

static int cuda_finish(const struct dp_event *event, struct dp_error *err)
{
    int status = check_recorded(event->queue, err);
    if (status == 0 && event->position > 0)
        status = watch(event->queue, err);
    if (status || event->position == 0)
        return status;
    const cudaError_t error = cudaEventSynchronize(event_of(event));
    return error ? dp_cuda_fail(event->queue->slot, "cudaEventSynchronize", error, err) : 0;
}

/* A stream cannot wait for another kind of device, so the calling thread waits. */
static int cuda_wait(struct dp_queue *queue, const struct dp_event *event, struct dp_error *err)
{
    const struct dp_cuda_queue *q = queue->native;
    if (event->queue->slot->ops != queue->slot->ops)
        return event->queue->slot->ops->finish(event, err);
    const int status = check_recorded(event->queue, err);
    if (status || event->position == 0)
        return status;
    const cudaError_t error = cudaStreamWaitEvent(q->stream, event_of(event), 0);
    return error ? dp_cuda_fail(queue->slot, "cudaStreamWaitEvent", error, err) : 0;
}

static int cuda_sync(struct dp_queue *queue, struct dp_error *err)
{
    const struct dp_cuda_queue *q = queue->native;
    if (!q || !q->stream)
        return 0;
    const int flushed = dp_cuda_flush(queue, err);
    const int watched = watch(queue, flushed ? NULL : err);
    const cudaError_t error = cudaStreamSynchronize(q->stream);
    if (error)
        return dp_cuda_fail(queue->slot, "cudaStreamSynchronize", error, err);
    if (flushed || watched)
        return flushed ? flushed : watched;
    return check_recorded(queue, err);
}

const struct dp_device_ops dp_device_cuda = {
    .timer = &dp_cuda_timing,
    .open = cuda_open,
    .close = cuda_close,
    .alloc = cuda_alloc,
    .release = cuda_release,
    .host_alloc = cuda_host_alloc,
    .host_release = cuda_host_release,
    .launch = dp_cuda_launch,
    .call = dp_cuda_call,
    .adopt = cuda_adopt,
    .events = cuda_events,
    .record = cuda_record,
    .wait = cuda_wait,
    .finish = cuda_finish,
    .sync = cuda_sync,
    .hold = dp_cuda_hold,
    .ahead = dp_cuda_launch_ahead,
    .flush = dp_cuda_flush_all,
};
