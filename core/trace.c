/* trace.c: times and traffic of replicas. The entry of a replica is written by its worker, or by
 * the calling thread while the workers are idle. Devices that work asynchronously keep their times
 * in their timers until they are read. */
#include "backend.h"

#include <time.h>

void dp_group_trace(struct dp_group *group, struct dp_trace *trace)
{
    group->trace = trace;
    for (int i = 0; i < group->size; ++i) {
        const struct dp_timer_ops *timer = group->slot[i]->ops->timer;
        if (timer && trace)
            timer->open(group->slot[i]);
        if (timer)
            timer->forget(group->slot[i]);
        if (timer && trace && trace->timeline)
            timer->place(group->slot[i]);
    }
}

int dp_trace_read(struct dp_group *group, struct dp_error *err)
{
    int status = dp_group_wait(group, err);
    for (int i = 0; status == 0 && group->trace && i < group->size; ++i) {
        struct dp_slot *slot = group->slot[i];
        if (slot->ops->timer)
            status = slot->ops->timer->read(slot, group->trace, err);
    }
    return status;
}

uint64_t dp_now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC_RAW, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static struct dp_span begin_span(struct dp_queue *queue, int replica, enum dp_phase phase,
                                 enum dp_phase outer)
{
    const struct dp_timer_ops *timer = queue->slot->ops->timer;
    struct dp_span span = {NULL, phase, outer, replica, 0};
    if (!queue->slot->group->trace || phase == DP_PHASE_NONE)
        return span;
    span.queue = queue;
    queue->phase = phase;
    span.begin = timer ? timer->begin(queue, &span) : dp_now_ns();
    return span;
}

struct dp_span dp_span_begin(struct dp_queue *queue, int replica, enum dp_phase phase)
{
    return begin_span(queue, replica, phase, DP_PHASE_NONE);
}

void dp_trace_add(struct dp_trace *trace, int replica, enum dp_lane lane,
                  const struct dp_interval *time)
{
    if (time->phase != DP_PHASE_NONE) {
        trace->replica[replica].ns[time->phase] += time->end_ns - time->begin_ns;
        trace->replica[replica].end_ns = time->end_ns;
    }
    if (!trace->timeline)
        return;
    const int n = trace->timeline->lane[replica][lane].n++;
    if (n < DP_TIMELINE_CAPACITY)
        trace->timeline->lane[replica][lane].at[n] = *time;
}

/* The outer span may not have been added yet. Until then its time is below 0, modulo 2^64. */
void dp_span_add(struct dp_trace *trace, const struct dp_span *span, uint64_t begin_ns,
                 uint64_t end_ns)
{
    const struct dp_slot *slot = span->queue->slot;
    const enum dp_lane lane = span->queue == &slot->comm ? DP_LANE_TRANSFER : DP_LANE_COMPUTE;
    dp_trace_add(trace, span->replica, lane, &(struct dp_interval){span->phase, begin_ns, end_ns});
    if (span->outer != DP_PHASE_NONE)
        trace->replica[span->replica].ns[span->outer] -= end_ns - begin_ns;
}

void dp_span_end(const struct dp_span *span, size_t bytes)
{
    const struct dp_slot *slot = span->queue ? span->queue->slot : NULL;
    struct dp_trace *trace = slot ? slot->group->trace : NULL;
    if (slot)
        span->queue->phase = span->outer;
    if (!trace)
        return;
    if (slot->ops->timer)
        slot->ops->timer->end(span->queue, span->begin);
    else
        dp_span_add(trace, span, span->begin, dp_now_ns());
    trace->replica[span->replica].bytes[span->phase] += bytes;
}

/* The host has no replica number. */
static int replica_of(const struct dp_slot *slot)
{
    return slot->info.index > 0 ? slot->info.index : 0;
}

struct dp_span dp_phase_begin(struct dp_slot *slot, enum dp_phase phase)
{
    return dp_span_begin(&slot->compute, replica_of(slot), phase);
}

struct dp_span dp_phase_within(struct dp_slot *slot, enum dp_phase phase, enum dp_phase outer)
{
    return begin_span(&slot->compute, replica_of(slot), phase, outer);
}

void dp_phase_end(const struct dp_span *span)
{
    dp_span_end(span, 0);
}

uint64_t dp_trace_begin(const struct dp_group *group)
{
    return group->trace ? dp_now_ns() : 0;
}

void dp_trace_end(struct dp_group *group, int replica, enum dp_phase phase, uint64_t begin,
                  size_t bytes)
{
    struct dp_trace *trace = group->trace;
    if (!trace || (phase == DP_PHASE_NONE && !trace->timeline))
        return;
    dp_trace_add(trace, replica, DP_LANE_TRANSFER,
                 &(struct dp_interval){phase, begin, dp_now_ns()});
    if (phase != DP_PHASE_NONE)
        trace->replica[replica].bytes[phase] += bytes;
}

void dp_trace_matmul(const struct dp_slot *slot, uint64_t begin)
{
    if (slot->group->trace && !dp_is_host(slot))
        slot->group->trace->matmul_ns[slot->info.index] += dp_now_ns() - begin;
}

size_t dp_move_traffic(const struct dp_move *move)
{
    return move->src_slot == move->dst_slot ? 0 : move->copy.width * move->copy.height;
}

void dp_trace_sums(const struct dp_team *team, const struct dp_slot *dst_slot,
                   const struct dp_sum sums[], int n, enum dp_phase phase)
{
    size_t bytes = 0;
    if (!team->group->trace || phase == DP_PHASE_NONE)
        return;
    for (int k = 0; k < n; ++k)
        bytes += sums[k].n * dp_dtype_bytes(sums[k].dtype);
    for (int i = 0; i < team->n; ++i) {
        if (team->slot[i] != dst_slot)
            team->group->trace->replica[i].bytes[phase] += bytes;
    }
}
