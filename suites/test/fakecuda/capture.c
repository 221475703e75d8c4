/* capture.c: streams whose operations are recorded instead of being run. The streams of one capture
 * are its branches, and seen[a][b] is the last node of branch b that branch a waited for. */
#include "fake.h"

#include <stdlib.h>
#include <string.h>

struct fake_capture *fake_capture_find(uint64_t serial)
{
    struct fake_capture *capture = fake.captures;
    while (capture && capture->serial != serial)
        capture = capture->next;
    return capture;
}

struct fake_capture *fake_capture_forbids(void)
{
    if (fake_me.mode == cudaStreamCaptureModeRelaxed)
        return NULL;
    for (struct fake_capture *capture = fake.captures; capture; capture = capture->next) {
        const bool mine = pthread_equal(capture->thread, pthread_self());
        if (mine && capture->mode != cudaStreamCaptureModeRelaxed)
            return capture;
        if (!mine && capture->mode == cudaStreamCaptureModeGlobal &&
            fake_me.mode == cudaStreamCaptureModeGlobal)
            return capture;
    }
    return NULL;
}

void fake_capture_break(struct fake_capture *capture, cudaError_t error)
{
    if (!capture->broken)
        capture->broken = error;
}

static cudaError_t usable(const struct fake_capture *capture)
{
    if (!pthread_equal(capture->thread, pthread_self()))
        fake_violation("an operation of this thread goes into a capture of another thread");
    return capture->broken;
}

static int add_node(struct fake_capture *capture, int branch, struct fake_work *work, int after)
{
    if (capture->nodes == capture->room) {
        struct fake_node *more = fake_memory((size_t)(capture->room * 2 + 32) * sizeof *more);
        capture->room = capture->room * 2 + 32;
        if (capture->nodes)
            memcpy(more, capture->node, (size_t)capture->nodes * sizeof *more);
        free(capture->node);
        capture->node = more;
    }
    capture->node[capture->nodes] = (struct fake_node){work, branch, after};
    capture->last[branch] = capture->seen[branch][branch] = capture->nodes;
    return capture->nodes++;
}

cudaError_t fake_capture_work(struct CUstream_st *stream, struct fake_work *work)
{
    const cudaError_t error = usable(stream->capture);
    if (error)
        fake_work_drop(work);
    else
        add_node(stream->capture, stream->branch, work, -1);
    return error;
}

cudaError_t fake_capture_record(struct CUstream_st *stream, struct CUevent_st *event)
{
    const struct fake_capture *capture = stream->capture;
    const cudaError_t error = usable(capture);
    if (error)
        return error;
    event->recorded = true;
    event->capture = capture->serial;
    event->branch = stream->branch;
    event->node = capture->last[stream->branch];
    memcpy(event->seen, capture->seen[stream->branch], sizeof event->seen);
    return cudaSuccess;
}

static cudaError_t capture_join(struct fake_capture *capture, struct CUstream_st *stream)
{
    if (capture->branches == FAKE_BRANCHES) {
        fake_violation("more than %d streams in one capture", FAKE_BRANCHES);
        return cudaErrorNotSupported;
    }
    stream->capture = capture;
    stream->branch = capture->branches++;
    capture->device[stream->branch] = stream->device;
    capture->last[stream->branch] = -1;
    for (int i = 0; i < FAKE_BRANCHES; ++i)
        capture->seen[stream->branch][i] = -1;
    return cudaSuccess;
}

static cudaError_t capture_refuse(struct fake_capture *capture, cudaError_t error, const char *why)
{
    fake_violation("cudaStreamWaitEvent: %s", why);
    if (capture)
        fake_capture_break(capture, cudaErrorStreamCaptureInvalidated);
    return error;
}

cudaError_t fake_capture_wait(struct CUstream_st *stream, const struct CUevent_st *event)
{
    struct fake_capture *capture = fake_capture_find(event->capture);
    if (!event->recorded)
        return cudaSuccess;
    if (event->capture == 0)
        return capture_refuse(stream->capture, cudaErrorStreamCaptureIsolation,
                              "a captured stream waits for an event that was not captured");
    if (!capture)
        return capture_refuse(stream->capture, cudaErrorCapturedEvent,
                              "the event was recorded in a capture that has ended");
    if (stream->capture && stream->capture != capture)
        return capture_refuse(stream->capture, cudaErrorStreamCaptureMerge,
                              "the event is of another capture");
    cudaError_t error = usable(capture);
    if (!error && !stream->capture)
        error = capture_join(capture, stream);
    if (error)
        return error;
    const int branch = stream->branch;
    add_node(capture, branch, NULL, event->node);
    for (int i = 0; i < FAKE_BRANCHES; ++i)
        if (i != branch && event->seen[i] > capture->seen[branch][i])
            capture->seen[branch][i] = event->seen[i];
    return cudaSuccess;
}

static cudaError_t capture_begin(struct CUstream_st *stream, enum cudaStreamCaptureMode mode)
{
    if (stream->capture) {
        fake_violation("cudaStreamBeginCapture: stream %d is being captured already", stream->id);
        return cudaErrorIllegalState;
    }
    struct fake_capture *capture = fake_memory(sizeof *capture);
    capture->serial = ++fake.serial;
    capture->origin = stream;
    capture->thread = pthread_self();
    capture->mode = mode;
    capture->next = fake.captures;
    fake.captures = capture;
    return capture_join(capture, stream);
}

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, enum cudaStreamCaptureMode mode)
{
    struct fake_call call = {.name = "cudaStreamBeginCapture"};
    if (fake_enter(&call)) {
        if (fake_stream_is(stream, call.name))
            fake_result(&call, capture_begin(stream, mode));
        else
            fake_result(&call, cudaErrorInvalidResourceHandle);
    }
    return fake_leave(&call);
}

void fake_nodes_drop(struct fake_node *node, int nodes)
{
    for (int i = 0; i < nodes; ++i)
        fake_work_drop(node[i].work);
    free(node);
}

static void capture_end(struct fake_capture *capture)
{
    struct fake_capture **link = &fake.captures;
    while (*link != capture)
        link = &(*link)->next;
    *link = capture->next;
    for (struct CUstream_st *stream = fake.streams; stream; stream = stream->next)
        if (stream->capture == capture)
            stream->capture = NULL;
    fake_nodes_drop(capture->node, capture->nodes);
    free(capture);
}

static cudaError_t may_end(const struct CUstream_st *stream)
{
    const struct fake_capture *capture = stream->capture;
    if (!capture)
        return cudaErrorIllegalState;
    if (capture->origin != stream) {
        fake_violation("cudaStreamEndCapture: the capture began in stream %d, not %d",
                       capture->origin->id, stream->id);
        return cudaErrorStreamCaptureUnmatched;
    }
    if (capture->mode != cudaStreamCaptureModeRelaxed &&
        !pthread_equal(capture->thread, pthread_self())) {
        fake_violation("cudaStreamEndCapture: the capture was begun by another thread");
        return cudaErrorStreamCaptureWrongThread;
    }
    return cudaSuccess;
}

static cudaError_t outcome(const struct fake_capture *capture)
{
    for (int branch = 1; branch < capture->branches && !capture->broken; ++branch) {
        if (capture->last[branch] > capture->seen[0][branch]) {
            fake_violation("cudaStreamEndCapture: nothing waits for what a second stream does");
            return cudaErrorStreamCaptureUnjoined;
        }
    }
    return capture->broken;
}

static struct CUgraph_st *graph_of(struct fake_capture *capture)
{
    struct CUgraph_st *graph = fake_memory(sizeof *graph);
    graph->live = true;
    graph->node = capture->node;
    graph->nodes = capture->nodes;
    graph->branches = capture->branches;
    memcpy(graph->device, capture->device, sizeof graph->device);
    capture->node = NULL;
    capture->nodes = 0;
    graph->next = fake.graphs;
    return fake.graphs = graph;
}

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *graph)
{
    struct fake_call call = {.name = "cudaStreamEndCapture", .rules = FAKE_ALWAYS};
    if (fake_enter(&call)) {
        cudaError_t error = cudaErrorInvalidResourceHandle;
        *graph = NULL;
        if (fake_stream_is(stream, call.name))
            error = may_end(stream);
        fake_result(&call, error);
        if (!error) {
            struct fake_capture *capture = stream->capture;
            fake_result(&call, outcome(capture));
            if (!call.error)
                *graph = graph_of(capture);
            capture_end(capture);
        }
    }
    return fake_leave(&call);
}

cudaError_t cudaStreamIsCapturing(cudaStream_t stream, enum cudaStreamCaptureStatus *status)
{
    struct fake_call call = {.name = "cudaStreamIsCapturing"};
    if (fake_enter(&call)) {
        if (!fake_stream_is(stream, call.name))
            fake_result(&call, cudaErrorInvalidResourceHandle);
        else if (!stream->capture)
            *status = cudaStreamCaptureStatusNone;
        else
            *status = stream->capture->broken ? cudaStreamCaptureStatusInvalidated
                                              : cudaStreamCaptureStatusActive;
    }
    return fake_leave(&call);
}

cudaError_t cudaThreadExchangeStreamCaptureMode(enum cudaStreamCaptureMode *mode)
{
    struct fake_call call = {.name = "cudaThreadExchangeStreamCaptureMode"};
    if (fake_enter(&call)) {
        const enum cudaStreamCaptureMode old = fake_me.mode;
        fake_me.mode = *mode;
        *mode = old;
    }
    return fake_leave(&call);
}

void fake_captures_close(void)
{
    if (fake.captures)
        fake_violation("leak: a stream capture was never ended");
    while (fake.captures)
        capture_end(fake.captures);
}
