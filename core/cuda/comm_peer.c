/* comm_peer.c: transfers and sums between GPUs, issued by the calling thread.
 *
 * A transfer goes from GPU to GPU by the path that the driver has. The same data for many GPUs are
 * forwarded from GPU to GPU (peer_relay.c). A sum is cut into slices, one for each replica. The
 * GPU of the replica reads all summands of its slice, and adds them in replica order. If a GPU
 * cannot use the memory of another, the summands are copied to the GPU of the destination, which
 * adds them in the same order, with the same bits. The order on devices is that of comm_threads.c.
 */
#include "cuda.h"

static struct dp_cuda_slot *native(const struct dp_slot *slot)
{
    return slot->native;
}

/* ---- order ------------------------------------------------------------------------------- */

/* The slots of the group that a communication uses, and whether the host is one of them. */
struct touched {
    uint64_t slots;
    bool host;
};

static void touch(struct touched *touched, const struct dp_slot *slot)
{
    if (dp_is_host(slot))
        touched->host = true;
    else
        touched->slots |= (uint64_t)1 << slot->info.index;
}

static void touch_moves(struct touched *touched, const struct dp_moves *moves)
{
    for (int k = 0; k < moves->n; ++k) {
        touch(touched, moves->move[k].src_slot);
        touch(touched, moves->move[k].dst_slot);
    }
}

static struct touched touch_team(const struct dp_team *team, const struct dp_slot *dst_slot)
{
    struct touched touched = {0};
    touch(&touched, dst_slot);
    for (int i = 0; i < team->n; ++i)
        touch(&touched, team->slot[i]);
    return touched;
}

static void record_ready(const struct dp_group *group, const struct touched *touched)
{
    for (int i = 0; i < group->size; ++i) {
        struct dp_slot *slot = group->slot[i];
        if ((touched->slots >> i & 1) != 0)
            slot->ops->record(&slot->compute, &slot->ready);
    }
}

static int ready_wait(struct dp_slot *worker, const struct dp_slot *touched, struct dp_error *err)
{
    return dp_is_host(touched) ? 0 : dp_event_wait(&worker->comm, &touched->ready, err);
}

/* All slots that were used continue after the worker; the host waits here. */
static int done_wait(const struct dp_group *group, const struct touched *touched,
                     struct dp_slot *worker, struct dp_error *err)
{
    int status = 0;
    for (int i = 0; status == 0 && i < group->size; ++i) {
        if ((touched->slots >> i & 1) != 0)
            status = dp_event_wait(&group->slot[i]->compute, &worker->done, err);
    }
    return status || !touched->host ? status : worker->ops->finish(&worker->done, err);
}

/* ---- transfers --------------------------------------------------------------------------- */

/* The slot that makes the transfers of a replica; the host has no queue for them. */
static struct dp_slot *carrier(struct dp_slot *slot, const struct dp_moves *moves)
{
    for (int k = 0; dp_is_host(slot) && k < moves->n; ++k) {
        const struct dp_move *move = &moves->move[k];
        slot = dp_is_host(move->dst_slot) ? move->src_slot : move->dst_slot;
    }
    return slot;
}

/* Issues the transfers of replica i. The wait for their data does not count as their time. */
static int issue_moves(struct dp_slot *worker, const struct dp_moves *moves, int i,
                       enum dp_phase phase, struct dp_error *err)
{
    size_t bytes = 0;
    int status = 0;
    for (int k = 0; status == 0 && k < moves->n; ++k) {
        status = ready_wait(worker, moves->move[k].src_slot, err);
        if (status == 0)
            status = ready_wait(worker, moves->move[k].dst_slot, err);
    }
    const struct dp_span span = dp_span_begin(&worker->comm, i, phase);
    for (int k = 0; status == 0 && k < moves->n; ++k) {
        status = dp_cuda_carry(worker, &moves->move[k], err);
        bytes += dp_move_traffic(&moves->move[k]);
    }
    dp_span_end(&span, bytes);
    worker->ops->record(&worker->comm, &worker->done);
    return status;
}

/* All transfers are issued before anything waits for the first, so they run concurrently. */
static int peer_move(const struct dp_team *team, const struct dp_moves moves[], enum dp_phase phase,
                     struct dp_error *err)
{
    struct touched all = {0};
    int status = 0;
    for (int i = 0; i < team->n; ++i)
        touch_moves(&all, &moves[i]);
    record_ready(team->group, &all);
    if (dp_cuda_should_relay(team, moves))
        return dp_cuda_relay(team, moves, phase, err);
    for (int i = 0; status == 0 && i < team->n; ++i) {
        if (moves[i].n > 0)
            status = issue_moves(carrier(team->slot[i], &moves[i]), &moves[i], i, phase, err);
    }
    for (int i = 0; status == 0 && i < team->n; ++i) {
        struct touched touched = {0};
        touch_moves(&touched, &moves[i]);
        if (moves[i].n > 0)
            status = done_wait(team->group, &touched, carrier(team->slot[i], &moves[i]), err);
    }
    return status;
}

/* ---- sums -------------------------------------------------------------------------------- */

/* A part of a sum: elements first..first+n. */
struct part {
    const struct dp_sum *sum;
    size_t first, n;
};

static size_t unit_of(const struct part *part)
{
    return dp_dtype_bytes(part->sum->dtype);
}

/* The arguments of the kernel, with all summands in their places. */
static struct dp_reduce_args peer_arguments(const struct dp_team *team, const struct part *part)
{
    struct dp_reduce_args args = {part->sum->dtype, team->n, part->sum->accumulate,
                                  part->n,          NULL,    {NULL}};
    args.dst = (char *)part->sum->dst + part->first * unit_of(part);
    for (int i = 0; i < team->n; ++i)
        args.src[i] = (const char *)part->sum->src[i] + part->first * unit_of(part);
    return args;
}

/* The GPU of the destination gets the whole sum through its port. If other GPUs can add, it adds
 * nothing, because its port would have to carry summands, too. */
static bool adds(const struct dp_team *team, const struct dp_slot *dst_slot, int i)
{
    bool others = false;
    for (int k = 0; k < team->n; ++k)
        others = others || team->slot[k] != dst_slot;
    return team->n <= 2 || !others || team->slot[i] != dst_slot;
}

/* The slice of replica i, in whole cache lines. There is one slice for each replica that adds. */
static struct part slice_of(const struct dp_team *team, const struct dp_slot *dst_slot,
                            const struct dp_sum *sum, int i)
{
    size_t workers = 0, place = 0;
    for (int k = 0; k < team->n; ++k) {
        place = k == i ? workers : place;
        workers += adds(team, dst_slot, k);
    }
    const size_t each = (sum->n / workers + 32) / 32 * 32, first = place * each;
    if (first >= sum->n)
        return (struct part){sum, 0, 0};
    return (struct part){sum, first, sum->n - first < each ? sum->n - first : each};
}

static int wait_for_team(const struct dp_team *team, struct dp_slot *worker,
                         const struct dp_slot *dst_slot, struct dp_error *err)
{
    bool waited = false;
    int status = 0;
    for (int i = 0; status == 0 && i < team->n; ++i) {
        status = ready_wait(worker, team->slot[i], err);
        waited = waited || team->slot[i] == dst_slot;
    }
    return status || waited ? status : ready_wait(worker, dst_slot, err);
}

static int sum_slices(const struct dp_team *team, struct dp_slot *dst_slot,
                      const struct dp_sum sums[], int n, enum dp_phase phase, struct dp_error *err)
{
    int status = 0;
    for (int i = 0; status == 0 && i < team->n; ++i) {
        struct dp_slot *worker = team->slot[i];
        if (!adds(team, dst_slot, i))
            continue;
        const struct dp_span span = dp_span_begin(&worker->comm, i, phase);
        for (int k = 0; status == 0 && k < n; ++k) {
            const struct part part = slice_of(team, dst_slot, &sums[k], i);
            const struct dp_reduce_args args = peer_arguments(team, &part);
            status = part.n == 0
                         ? 0
                         : dp_launch(&worker->comm, DP_KERNEL_REDUCE, &args, sizeof args, err);
        }
        dp_span_end(&span, 0);
        worker->ops->record(&worker->comm, &worker->done);
    }
    return status;
}

/* Adds in slices. The first GPU that adds also finishes, and all slots that were used wait for
 * that. */
static int sum_direct(const struct dp_team *team, struct dp_slot *dst_slot,
                      const struct dp_sum sums[], int n, enum dp_phase phase, struct dp_error *err)
{
    int at = 0;
    while (!adds(team, dst_slot, at))
        ++at;
    struct dp_slot *first = team->slot[at];
    /* The first GPU that adds waits for all slots, and the others that add wait for it. */
    int status = wait_for_team(team, first, dst_slot, err);
    first->ops->record(&first->comm, &first->done);
    for (int i = 0; status == 0 && i < team->n; ++i) {
        if (team->slot[i] != first && adds(team, dst_slot, i))
            status = dp_event_wait(&team->slot[i]->comm, &first->done, err);
    }
    if (status == 0)
        status = sum_slices(team, dst_slot, sums, n, phase, err);
    for (int i = 0; status == 0 && i < team->n; ++i) {
        if (team->slot[i] != first && adds(team, dst_slot, i))
            status = dp_event_wait(&first->comm, &team->slot[i]->done, err);
    }
    first->ops->record(&first->comm, &first->done);
    const struct touched touched = touch_team(team, dst_slot);
    return status ? status : done_wait(team->group, &touched, first, err);
}

/* It is allocated with the first sum that needs it, because few slots ever have one. */
int dp_cuda_stage(struct dp_slot *slot, void **stage, struct dp_error *err)
{
    void *memory = native(slot)->stage;
    const int status = memory ? 0 : slot->ops->alloc(slot, DP_CUDA_STAGE_BYTES, &memory, err);
    if (status == 0)
        *stage = native(slot)->stage = memory;
    return status;
}

/* Summands out of reach are copied to the GPU of the destination before they are added there: each
 * to a place of chunk bytes, from this one on. */
static int add_staged(const struct dp_team *team, struct dp_slot *dst_slot, const struct part *part,
                      char *place, size_t chunk, struct dp_error *err)
{
    const size_t bytes = part->n * unit_of(part);
    struct dp_reduce_args args = peer_arguments(team, part);
    for (int i = 0; i < team->n; ++i) {
        if (dp_cuda_reaches(dst_slot, team->slot[i]))
            continue;
        const struct dp_move move = {
            dst_slot, team->slot[i], {place, args.src[i], bytes, 1, bytes, bytes}};
        const int status = dp_cuda_carry(dst_slot, &move, err);
        if (status)
            return status;
        args.src[i] = place;
        place += chunk;
    }
    return dp_launch(&dst_slot->comm, DP_KERNEL_REDUCE, &args, sizeof args, err);
}

static bool all_in_reach(const struct dp_team *team, const struct dp_slot *dst_slot)
{
    for (int i = 0; i < team->n; ++i) {
        if (!dp_cuda_reaches(team->slot[i], dst_slot))
            return false;
        for (int k = 0; k < team->n; ++k) {
            if (!dp_cuda_reaches(team->slot[i], team->slot[k]))
                return false;
        }
    }
    return true;
}

static int peer_reduce(const struct dp_team *team, struct dp_slot *dst_slot,
                       const struct dp_sum sums[], int n, enum dp_phase phase, struct dp_error *err)
{
    const struct touched touched = touch_team(team, dst_slot);
    record_ready(team->group, &touched);
    dp_trace_sums(team, dst_slot, sums, n, phase);
    if (all_in_reach(team, dst_slot))
        return sum_direct(team, dst_slot, sums, n, phase, err);
    /* A sum whose summands are all in reach of its destination is not cut. */
    /* The number of replicas of the team whose memory the slot cannot use. */
    int far = 0;
    for (int i = 0; i < team->n; ++i)
        far += !dp_cuda_reaches(dst_slot, team->slot[i]);
    const size_t chunk = far > 0 ? DP_CUDA_STAGE_BYTES / (size_t)far / 256 * 256 : SIZE_MAX;
    void *stage = NULL;
    int status = far > 0 ? dp_cuda_stage(dst_slot, &stage, err) : 0;
    if (status == 0)
        status = wait_for_team(team, dst_slot, dst_slot, err);
    const struct dp_span span = dp_span_begin(&dst_slot->comm, 0, phase);
    for (int k = 0; status == 0 && k < n; ++k) {
        const size_t most = chunk / dp_dtype_bytes(sums[k].dtype);
        for (size_t at = 0, part_n; status == 0 && at < sums[k].n; at += part_n) {
            const size_t left = sums[k].n - at;
            part_n = left < most ? left : most;
            const struct part part = {&sums[k], at, part_n};
            status = add_staged(team, dst_slot, &part, stage, chunk, err);
        }
    }
    dp_span_end(&span, 0);
    dst_slot->ops->record(&dst_slot->comm, &dst_slot->done);
    return status ? status : done_wait(team->group, &touched, dst_slot, err);
}

/* For GPUs of which some cannot use the memory of others. */
static const struct dp_comm_ops peer_staged = {.name = "peer-staged",
                                               .can = DP_COMM_PARALLEL | DP_COMM_RANKS,
                                               .move = peer_move,
                                               .reduce = peer_reduce,
                                               .broadcast = dp_moved_broadcast,
                                               .collective_call = dp_moved_collective,
                                               .allreduce = dp_moved_allreduce};

static int peer_open(struct dp_group *group, struct dp_error *err)
{
    int status = 0;
    bool all = true;
    for (int i = 0; status == 0 && i < group->size; ++i) {
        for (int k = 0; status == 0 && k < group->size; ++k) {
            status = dp_cuda_connect(group->slot[i], group->slot[k], err);
            all = all && dp_cuda_reaches(group->slot[i], group->slot[k]);
        }
    }
    if (status == 0 && !all)
        group->comm = &peer_staged;
    return status;
}

const struct dp_comm_ops dp_comm_peer = {.name = "peer",
                                         .instead = "peer-staged",
                                         .can = DP_COMM_PARALLEL | DP_COMM_RANKS | DP_COMM_OVERLAP,
                                         .needs = DP_KIND_PEERS,
                                         .open = peer_open,
                                         .start = dp_second_start,
                                         .close = dp_second_close,
                                         .move = peer_move,
                                         .reduce = peer_reduce,
                                         .broadcast = dp_moved_broadcast,
                                         .collective_call = dp_moved_collective,
                                         .allreduce = dp_second_allreduce,
                                         .poll = dp_second_poll,
                                         .abort = dp_second_abort};
