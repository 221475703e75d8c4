/* timer.c: times of a GPU, by events in its queues. Nothing waits for them: they are read when the
 * slot is idle. All are made before the first, so a step makes none. */
#include "cuda.h"

#include <stdlib.h>

struct span {
    cudaEvent_t begin, end;
    enum dp_phase phase, outer;
    int replica;
    bool ended;
};

struct dp_cuda_timer {
    struct span span[DP_TRACE_SPANS];
    uint64_t used;      /* those asked for; only the first are there */
    cudaError_t failed; /* when the events were made */
};

static struct dp_cuda_timer *timer_of(const struct dp_slot *slot)
{
    const struct dp_cuda_slot *s = slot->native;
    return s->timer;
}

/* A failure is told by the first read. */
static void timer_open(struct dp_slot *slot)
{
    struct dp_cuda_slot *s = slot->native;
    if (s->timer)
        return;
    s->timer = calloc(1, sizeof *s->timer);
    if (!s->timer)
        return;
    cudaError_t error = cudaSetDevice(s->device);
    for (int i = 0; !error && i < DP_TRACE_SPANS; ++i) {
        struct span *span = &s->timer->span[i];
        error = cudaEventCreateWithFlags(&span->begin, cudaEventDefault);
        if (!error)
            error = cudaEventCreateWithFlags(&span->end, cudaEventDefault);
    }
    s->timer->failed = error;
    if (error)
        cudaGetLastError(); /* or the thread's next launch would be told */
}

void dp_cuda_timer_close(struct dp_cuda_slot *s)
{
    for (int i = 0; s->timer && i < DP_TRACE_SPANS; ++i) {
        if (s->timer->span[i].begin)
            cudaEventDestroy(s->timer->span[i].begin);
        if (s->timer->span[i].end)
            cudaEventDestroy(s->timer->span[i].end);
    }
    free(s->timer);
    s->timer = NULL;
}

/* The span at that place, NULL: there is none. */
static struct span *span_at(const struct dp_slot *slot, uint64_t place)
{
    struct dp_cuda_timer *timer = timer_of(slot);
    return timer && !timer->failed && place < DP_TRACE_SPANS ? &timer->span[place] : NULL;
}

/* The queue's next wait or sync tells of a failure. */
static void mark(struct dp_queue *queue, cudaEvent_t event)
{
    struct dp_cuda_queue *q = queue->native;
    const struct dp_cuda_slot *s = queue->slot->native;
    dp_cuda_flush(queue, NULL); /* what is held back comes before it */
    cudaError_t error = cudaSetDevice(s->device);
    if (!error)
        error = cudaEventRecord(event, q->stream);
    if (error && !q->failed)
        q->failed = error;
    if (error)
        cudaGetLastError();
}

static uint64_t timer_begin(struct dp_queue *queue, const struct dp_span *span)
{
    struct dp_cuda_timer *timer = timer_of(queue->slot);
    const uint64_t place = timer ? timer->used++ : 0;
    struct span *at = span_at(queue->slot, place);
    if (!at)
        return place;
    at->phase = span->phase;
    at->outer = span->outer;
    at->replica = span->replica;
    at->ended = false;
    mark(queue, at->begin);
    return place;
}

static void timer_end(struct dp_queue *queue, uint64_t begin)
{
    struct span *at = span_at(queue->slot, begin);
    if (!at)
        return;
    mark(queue, at->end);
    at->ended = true;
}

static void timer_forget(struct dp_slot *slot)
{
    struct dp_cuda_timer *timer = timer_of(slot);
    if (timer)
        timer->used = 0;
}

static int check_timer(const struct dp_slot *slot, const struct dp_cuda_timer *timer,
                       struct dp_error *err)
{
    if (!timer)
        return dp_fail(err, DP_ENOMEM, "%s: no memory for its times", slot->info.name);
    if (timer->failed)
        return dp_cuda_fail(slot, "cudaEventCreateWithFlags of a timer", timer->failed, err);
    if (timer->used > DP_TRACE_SPANS)
        return dp_fail(err, DP_EINVAL, "%s: %llu times of phases since the last read, at most %d",
                       slot->info.name, (unsigned long long)timer->used, DP_TRACE_SPANS);
    return 0;
}

static int timer_read(struct dp_slot *slot, struct dp_trace *trace, struct dp_error *err)
{
    struct dp_cuda_timer *timer = timer_of(slot);
    int status = check_timer(slot, timer, err);
    if (status == 0)
        status = dp_cuda_enter(slot, err);
    for (uint64_t i = 0; status == 0 && i < timer->used; ++i) {
        const struct span *span = &timer->span[i];
        float ms = 0.0f;
        if (!span->ended)
            continue; /* its call has failed */
        const cudaError_t error = cudaEventElapsedTime(&ms, span->begin, span->end);
        if (error)
            status = dp_cuda_fail(slot, "cudaEventElapsedTime", error, err);
        dp_span_add(trace, span->replica, span->phase, span->outer,
                    (uint64_t)((double)ms * 1e6 + 0.5));
    }
    timer_forget(slot);
    return status;
}

const struct dp_timer_ops dp_cuda_timing = {.open = timer_open,
                                            .begin = timer_begin,
                                            .end = timer_end,
                                            .forget = timer_forget,
                                            .read = timer_read};
