/* timer.c: times of a GPU, by events in its queues. Nothing waits for them; they are read when the
 * slot is idle. All events are created before the first span, so a step creates none. */
#include "cuda.h"

#include <stdlib.h>

struct span {
    cudaEvent_t begin, end;
    struct dp_span what;
    uint64_t range; /* for a profiler */
    bool ended;
};

struct dp_cuda_timer {
    struct span span[DP_TRACE_SPANS];
    uint64_t used;      /* number of spans requested; only the first ones exist */
    cudaEvent_t anchor; /* of a timeline: at anchor_ns on the clock of the host */
    uint64_t anchor_ns;
    cudaError_t failed; /* in that call */
    const char *call;
};

static struct dp_cuda_timer *timer_of(const struct dp_slot *slot)
{
    const struct dp_cuda_slot *s = slot->native;
    return s->timer;
}

/* The first read reports it. */
static void note_failure(struct dp_cuda_timer *timer, const char *call, cudaError_t error)
{
    timer->failed = error;
    timer->call = call;
    if (error)
        cudaGetLastError(); /* otherwise the next launch of the thread would report it */
}

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
    if (!error)
        error = cudaEventCreateWithFlags(&s->timer->anchor, cudaEventDefault);
    note_failure(s->timer, "cudaEventCreateWithFlags of a timer", error);
}

static void timer_place(struct dp_slot *slot)
{
    const struct dp_cuda_slot *s = slot->native;
    struct dp_cuda_timer *timer = s->timer;
    if (!timer || timer->failed)
        return;
    cudaError_t error = cudaSetDevice(s->device);
    if (!error)
        error = cudaEventRecord(timer->anchor, s->compute.stream);
    if (!error)
        error = cudaEventSynchronize(timer->anchor);
    timer->anchor_ns = dp_trace_begin(slot->group);
    note_failure(timer, "cudaEventSynchronize of a timer", error);
}

void dp_cuda_timer_close(struct dp_cuda_slot *s)
{
    for (int i = 0; s->timer && i < DP_TRACE_SPANS; ++i) {
        if (s->timer->span[i].begin)
            cudaEventDestroy(s->timer->span[i].begin);
        if (s->timer->span[i].end)
            cudaEventDestroy(s->timer->span[i].end);
    }
    if (s->timer && s->timer->anchor)
        cudaEventDestroy(s->timer->anchor);
    free(s->timer);
    s->timer = NULL;
}

/* The span at that place; NULL if there is none. */
static struct span *span_at(const struct dp_slot *slot, uint64_t place)
{
    struct dp_cuda_timer *timer = timer_of(slot);
    return timer && !timer->failed && place < DP_TRACE_SPANS ? &timer->span[place] : NULL;
}

/* A failure is reported by the next wait or sync of the queue. */
static void mark(struct dp_queue *queue, cudaEvent_t event)
{
    struct dp_cuda_queue *q = queue->native;
    dp_cuda_flush(queue, NULL); /* launches that are held back come before it */
    const cudaError_t error = cudaEventRecord(event, q->stream);
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
    at->what = *span;
    at->ended = false;
    at->range = dp_cuda_range_begin(span->phase);
    mark(queue, at->begin);
    return place;
}

static void timer_end(struct dp_queue *queue, uint64_t begin)
{
    struct span *at = span_at(queue->slot, begin);
    if (!at)
        return;
    mark(queue, at->end);
    dp_cuda_range_end(at->range);
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
        return dp_cuda_fail(slot, timer->call, timer->failed, err);
    if (timer->used > DP_TRACE_SPANS)
        return dp_fail(err, DP_EINVAL, "%s: %llu times of phases since the last read, at most %d",
                       slot->info.name, (unsigned long long)timer->used, DP_TRACE_SPANS);
    return 0;
}

/* The time from one event to another; both have passed. */
static int elapsed(const struct dp_slot *slot, cudaEvent_t from, cudaEvent_t to, uint64_t *ns,
                   struct dp_error *err)
{
    float ms = 0.0f;
    const cudaError_t error = cudaEventElapsedTime(&ms, from, to);
    *ns = (uint64_t)((double)ms * 1e6 + 0.5);
    return error ? dp_cuda_fail(slot, "cudaEventElapsedTime", error, err) : 0;
}

static int read_span(const struct dp_slot *slot, const struct span *span, struct dp_trace *trace,
                     struct dp_error *err)
{
    const struct dp_cuda_timer *timer = timer_of(slot);
    uint64_t begin = 0, ns = 0;
    int status = elapsed(slot, span->begin, span->end, &ns, err);
    if (status == 0 && trace->timeline)
        status = elapsed(slot, timer->anchor, span->begin, &begin, err);
    if (status)
        return status;
    begin += trace->timeline ? timer->anchor_ns : 0;
    dp_span_add(trace, &span->what, begin, begin + ns);
    return 0;
}

static int timer_read(struct dp_slot *slot, struct dp_trace *trace, struct dp_error *err)
{
    struct dp_cuda_timer *timer = timer_of(slot);
    int status = check_timer(slot, timer, err);
    if (status == 0)
        status = dp_cuda_enter(slot, err);
    for (uint64_t i = 0; status == 0 && i < timer->used; ++i) {
        if (timer->span[i].ended) /* otherwise its call has failed */
            status = read_span(slot, &timer->span[i], trace, err);
    }
    timer_forget(slot);
    return status;
}

const struct dp_timer_ops dp_cuda_timing = {.open = timer_open,
                                            .begin = timer_begin,
                                            .end = timer_end,
                                            .forget = timer_forget,
                                            .place = timer_place,
                                            .read = timer_read};
