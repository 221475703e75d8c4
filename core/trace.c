/* trace.c: where time and traffic go. A replica's entry is written by its worker, or
 * by the calling thread while the workers are idle. */
#include "backend.h"

#include <time.h>

void dp_group_trace(struct dp_group *group, struct dp_trace *trace)
{
    group->trace = trace;
}

static uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC_RAW, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

uint64_t dp_trace_begin(const struct dp_group *group)
{
    return group->trace ? now_ns() : 0;
}

void dp_trace_end(struct dp_group *group, int replica, enum dp_phase phase, uint64_t begin,
                  size_t bytes)
{
    if (!group->trace || phase == DP_PHASE_NONE)
        return;
    group->trace->replica[replica].ns[phase] += now_ns() - begin;
    group->trace->replica[replica].bytes[phase] += bytes;
}

void dp_trace_matmul(const struct dp_slot *slot, uint64_t begin)
{
    if (slot->group->trace && !dp_is_host(slot))
        slot->group->trace->matmul_ns[slot->info.index] += now_ns() - begin;
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
