/* comm_staged.c: the slow and simple communicator, which defines the results of the others. It
 * waits for all queues, copies everything through a host buffer, and adds in replica order. */
#include "../backend.h"

static int staged_carry(struct dp_slot *slot, void *dst, const void *src, size_t bytes,
                        struct dp_error *err)
{
    const struct dp_copy copy = {dst, src, bytes, 1, bytes, bytes};
    const int status = dp_launch(&slot->comm, DP_KERNEL_COPY, &copy, sizeof copy, err);
    const int synced = dp_queue_sync(&slot->comm, err);
    return status ? status : synced;
}

static int carry_move(struct dp_group *group, const struct dp_move *move, struct dp_error *err)
{
    const struct dp_copy *c = &move->copy;
    int status = 0;
    for (size_t row = 0; status == 0 && row < c->height; ++row) {
        char *dst = (char *)c->dst + row * c->dst_pitch;
        const char *src = (const char *)c->src + row * c->src_pitch;
        for (size_t at = 0; status == 0 && at < c->width; at += DP_STAGE_BYTES) {
            const size_t left = c->width - at, n = left < DP_STAGE_BYTES ? left : DP_STAGE_BYTES;
            status = staged_carry(move->src_slot, group->stage, src + at, n, err);
            if (status == 0)
                status = staged_carry(move->dst_slot, dst + at, group->stage, n, err);
        }
    }
    return status;
}

static int staged_move(const struct dp_team *team, const struct dp_moves moves[],
                       enum dp_phase phase, struct dp_error *err)
{
    int status = dp_group_wait(team->group, err);
    const uint64_t begin = dp_trace_begin(team->group);
    for (int i = 0; status == 0 && i < team->n; ++i) {
        size_t bytes = 0;
        for (int k = 0; status == 0 && k < moves[i].n; ++k) {
            const struct dp_move *move = &moves[i].move[k];
            status = carry_move(team->group, move, err);
            bytes += dp_move_traffic(move);
        }
        dp_trace_end(team->group, i, phase, begin, bytes);
    }
    return status;
}

/* The first half of the stage holds a chunk of the sum, and the second half the next summand. */
static int carry_sum(const struct dp_team *team, struct dp_slot *dst_slot, const struct dp_sum *sum,
                     size_t first, size_t n, struct dp_error *err)
{
    const size_t unit = dp_dtype_bytes(sum->dtype), bytes = n * unit;
    void *total = team->group->stage, *next = team->group->stage + DP_STAGE_BYTES / 2;
    char *dst = (char *)sum->dst + first * unit;
    struct dp_reduce_args add = {sum->dtype, 1, true, n, total, {next}};
    int status = 0;
    for (int i = 0; status == 0 && i < team->n; ++i) {
        const char *src = (const char *)sum->src[i] + first * unit;
        status = staged_carry(team->slot[i], i == 0 ? total : next, src, bytes, err);
        if (status == 0 && i > 0)
            status = dp_launch(&team->group->host.compute, DP_KERNEL_REDUCE, &add, sizeof add, err);
    }
    if (status == 0 && sum->accumulate) {
        status = staged_carry(dst_slot, next, dst, bytes, err);
        add.dst = next, add.src[0] = total;
        if (status == 0)
            status = dp_launch(&team->group->host.compute, DP_KERNEL_REDUCE, &add, sizeof add, err);
        total = next;
    }
    return status ? status : staged_carry(dst_slot, dst, total, bytes, err);
}

static int staged_reduce(const struct dp_team *team, struct dp_slot *dst_slot,
                         const struct dp_sum sums[], int n, enum dp_phase phase,
                         struct dp_error *err)
{
    int status = dp_group_wait(team->group, err);
    const uint64_t begin = dp_trace_begin(team->group);
    for (int k = 0; status == 0 && k < n; ++k) {
        const size_t chunk = DP_STAGE_BYTES / 2 / dp_dtype_bytes(sums[k].dtype);
        for (size_t at = 0; status == 0 && at < sums[k].n; at += chunk) {
            const size_t left = sums[k].n - at;
            status = carry_sum(team, dst_slot, &sums[k], at, left < chunk ? left : chunk, err);
        }
    }
    dp_trace_end(team->group, 0, phase, begin, 0);
    dp_trace_sums(team, dst_slot, sums, n, phase);
    return status;
}

const struct dp_comm_ops dp_comm_staged = {.name = "staged",
                                           .can = DP_COMM_PARALLEL | DP_COMM_RANKS,
                                           .move = staged_move,
                                           .reduce = staged_reduce,
                                           .broadcast = dp_moved_broadcast,
                                           .collective_call = dp_moved_collective,
                                           .allreduce = dp_moved_allreduce};
