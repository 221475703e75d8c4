/* stream.c: the runtime's calls about streams. */
#include "fake.h"

/* Priorities: the lower the number, the higher. */
enum { LEAST = 0, GREATEST = -5 };

static void create(struct fake_call *call, cudaStream_t *out, unsigned int flags, int priority)
{
    struct CUstream_st *stream = NULL;
    if (!out || flags > cudaStreamNonBlocking)
        fake_result(call, cudaErrorInvalidValue);
    else if (!(stream = fake_stream_new(fake_me.device)))
        fake_result(call, cudaErrorMemoryAllocation);
    else
        *out = stream;
    if (stream)
        stream->priority = priority;
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *out, unsigned int flags)
{
    struct fake_call call = {.name = "cudaStreamCreateWithFlags"};
    if (fake_enter(&call))
        create(&call, out, flags, LEAST);
    return fake_leave(&call);
}

cudaError_t cudaDeviceGetStreamPriorityRange(int *least, int *greatest)
{
    struct fake_call call = {.name = "cudaDeviceGetStreamPriorityRange"};
    if (fake_enter(&call)) {
        if (least)
            *least = LEAST;
        if (greatest)
            *greatest = GREATEST;
    }
    return fake_leave(&call);
}

/* CUDA takes the nearest priority that exists; here any other one is taken for a mistake. */
cudaError_t cudaStreamCreateWithPriority(cudaStream_t *out, unsigned int flags, int priority)
{
    struct fake_call call = {.name = "cudaStreamCreateWithPriority"};
    if (fake_enter(&call)) {
        if (priority > LEAST || priority < GREATEST)
            fake_violation("%s: priority %d: %d to %d", call.name, priority, GREATEST, LEAST);
        create(&call, out, flags, priority);
    }
    return fake_leave(&call);
}

int fakecuda_streams(int priority)
{
    int n = 0;
    fake_lock();
    for (const struct CUstream_st *stream = fake.streams; stream; stream = stream->next)
        n += stream->live && !stream->internal && stream->priority == priority;
    fake_unlock();
    return n;
}

cudaError_t cudaStreamDestroy(cudaStream_t stream)
{
    struct fake_call call = {.name = "cudaStreamDestroy", .rules = FAKE_ALWAYS};
    if (fake_enter(&call)) {
        if (!fake_stream_is(stream, call.name)) {
            fake_result(&call, cudaErrorInvalidResourceHandle);
        } else {
            if (stream->capture)
                fake_capture_break(stream->capture, cudaErrorStreamCaptureInvalidated);
            fake_stream_drop(stream);
        }
    }
    return fake_leave(&call);
}

/* Returns whether the call may wait for the stream: a stream that is captured has nothing to wait
 * for. */
static cudaError_t may_wait(struct CUstream_st *stream, const char *call)
{
    if (!fake_stream_is(stream, call))
        return cudaErrorInvalidResourceHandle;
    if (!stream->capture)
        return cudaSuccess;
    fake_violation("%s: stream %d is being captured", call, stream->id);
    fake_capture_break(stream->capture, cudaErrorStreamCaptureInvalidated);
    return cudaErrorStreamCaptureUnsupported;
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream)
{
    struct fake_call call = {.name = "cudaStreamSynchronize", .rules = FAKE_UNSAFE | FAKE_ALWAYS};
    if (fake_enter(&call)) {
        const cudaError_t error = may_wait(stream, call.name);
        fake_result(&call, error ? error : fake_host_waits(fake_token_of(stream), call.name));
    }
    return fake_leave(&call);
}

cudaError_t cudaStreamQuery(cudaStream_t stream)
{
    struct fake_call call = {.name = "cudaStreamQuery", .rules = FAKE_UNSAFE};
    if (fake_enter(&call)) {
        const cudaError_t error = may_wait(stream, call.name);
        fake_result(&call, error ? error : fake_host_asks(fake_token_of(stream)));
    }
    return fake_leave(&call);
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned int flags)
{
    struct fake_call call = {.name = "cudaStreamWaitEvent", .rules = FAKE_CHOSEN};
    if (fake_enter(&call)) {
        if (!fake_stream_is(stream, call.name) || !fake_event_is(event, call.name))
            fake_result(&call, cudaErrorInvalidResourceHandle);
        else if (flags != cudaEventWaitDefault)
            fake_result(&call, cudaErrorInvalidValue);
        else if (stream->capture || event->capture)
            fake_result(&call, fake_capture_wait(stream, event));
        else if (event->recorded && --fake.waits_to_drop != 0)
            fake_put_wait(stream, &event->token);
    }
    return fake_leave(&call);
}
