/* event.c: the runtime's calls about events. Their times are the host's, taken when the operation
 * in front of them has run: plausible, and no measurement of a GPU. */
#include "fake.h"

#include <stdlib.h>

void fake_stamp_drop(struct fake_stamp *stamp)
{
    if (stamp && --stamp->users == 0)
        free(stamp);
}

bool fake_event_is(const struct CUevent_st *event, const char *call)
{
    if (event && event->live)
        return true;
    fake_violation("%s: the event %s", call, event ? "was destroyed" : "is null");
    return false;
}

static struct CUevent_st *event_new(void)
{
    struct CUevent_st *event = fake.stale;
    if (fake.all_stale < FAKE_STALE) {
        event = fake_memory(sizeof *event);
        event->next = fake.events;
        return fake.events = event;
    }
    fake.stale = event->next_stale;
    --fake.all_stale;
    fake_stamp_drop(event->stamp);
    *event = (struct CUevent_st){.next = event->next};
    return event;
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *out, unsigned int flags)
{
    struct fake_call call = {.name = "cudaEventCreateWithFlags"};
    if (fake_enter(&call)) {
        const unsigned known = cudaEventBlockingSync | cudaEventDisableTiming;
        if (!out || (flags & ~known)) {
            fake_result(&call, cudaErrorInvalidValue);
        } else {
            struct CUevent_st *event = event_new();
            event->live = true;
            event->timed = !(flags & cudaEventDisableTiming);
            event->device = fake_me.device;
            *out = event;
        }
    }
    return fake_leave(&call);
}

cudaError_t cudaEventDestroy(cudaEvent_t event)
{
    struct fake_call call = {.name = "cudaEventDestroy", .rules = FAKE_ALWAYS};
    if (fake_enter(&call)) {
        if (fake_event_is(event, call.name)) {
            event->live = false;
            if (fake.all_stale++ == 0)
                fake.stale = event;
            else
                fake.last_stale->next_stale = event;
            fake.last_stale = event;
        } else
            fake_result(&call, cudaErrorInvalidResourceHandle);
    }
    return fake_leave(&call);
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream)
{
    struct fake_call call = {.name = "cudaEventRecord", .rules = FAKE_MARKS | FAKE_CHOSEN};
    if (fake_enter(&call)) {
        if (!fake_event_is(event, call.name) || !fake_stream_is(stream, call.name)) {
            fake_result(&call, cudaErrorInvalidResourceHandle);
        } else if (event->device != stream->device) {
            fake_violation("%s: an event of device %d is recorded in stream %d of device %d",
                           call.name, event->device, stream->id, stream->device);
            fake_result(&call, cudaErrorInvalidResourceHandle);
        } else if (stream->capture) {
            fake_result(&call, fake_capture_record(stream, event));
        } else {
            fake_stamp_drop(event->stamp);
            event->stamp = fake_memory(sizeof *event->stamp);
            event->stamp->users = 2;
            event->recorded = true;
            event->capture = 0;
            fake_put_mark(stream, &event->token, event->stamp);
        }
    }
    return fake_leave(&call);
}

/* An event of a capture stands for nothing that could be waited for. */
static cudaError_t may_wait(const struct CUevent_st *event, const char *call)
{
    if (!fake_event_is(event, call))
        return cudaErrorInvalidResourceHandle;
    if (event->capture == 0)
        return cudaSuccess;
    struct fake_capture *capture = fake_capture_find(event->capture);
    fake_violation("%s: the event was recorded in a capture", call);
    if (capture)
        fake_capture_break(capture, cudaErrorStreamCaptureInvalidated);
    return cudaErrorCapturedEvent;
}

cudaError_t cudaEventSynchronize(cudaEvent_t event)
{
    struct fake_call call = {.name = "cudaEventSynchronize", .rules = FAKE_UNSAFE | FAKE_ALWAYS};
    if (fake_enter(&call)) {
        cudaError_t error = may_wait(event, call.name);
        if (!error && event->recorded)
            error = fake_host_waits(event->token, call.name);
        fake_result(&call, error);
    }
    return fake_leave(&call);
}

cudaError_t cudaEventQuery(cudaEvent_t event)
{
    struct fake_call call = {.name = "cudaEventQuery", .rules = FAKE_UNSAFE};
    if (fake_enter(&call)) {
        cudaError_t error = may_wait(event, call.name);
        if (!error && event->recorded)
            error = fake_host_asks(event->token);
        fake_result(&call, error);
    }
    return fake_leave(&call);
}

static cudaError_t elapsed(float *ms, const struct CUevent_st *start, const struct CUevent_st *end)
{
    if (!start->timed || !end->timed || !start->stamp || !end->stamp || start->capture ||
        end->capture)
        return cudaErrorInvalidResourceHandle;
    if (start->device != end->device) {
        fake_violation("cudaEventElapsedTime: from an event of device %d to one of device %d",
                       start->device, end->device);
        return cudaErrorInvalidResourceHandle;
    }
    if (!start->stamp->passed || !end->stamp->passed)
        return cudaErrorNotReady;
    *ms = (float)((double)end->stamp->ns - (double)start->stamp->ns) * 1e-6f;
    return cudaSuccess;
}

cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t start, cudaEvent_t end)
{
    struct fake_call call = {.name = "cudaEventElapsedTime"};
    if (fake_enter(&call)) {
        if (!ms || !fake_event_is(start, call.name) || !fake_event_is(end, call.name))
            fake_result(&call, cudaErrorInvalidValue);
        else
            fake_result(&call, elapsed(ms, start, end));
    }
    return fake_leave(&call);
}

void fake_events_close(void)
{
    long live = 0;
    while (fake.events) {
        struct CUevent_st *event = fake.events;
        fake.events = event->next;
        live += event->live;
        fake_stamp_drop(event->stamp);
        free(event);
    }
    if (live)
        fake_violation("leak: %ld events", live);
}
