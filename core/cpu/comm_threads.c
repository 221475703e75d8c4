/* comm_threads.c: transfers and sums by the workers, in shared memory.
 *
 * A transfer is for a replica, and its worker makes it. If all transfers are small, the calling
 * thread makes them. Workers without a transfer help the others. A sum is cut into slices, one for
 * each worker, and each slice is added in replica order, so the bits are those of staged. On the
 * devices every slot that is touched records "ready" after its compute work. The comm queues wait
 * for it, and record "done"; the compute queues of these slots wait for that. The host cannot defer
 * its wait, so a call that touches host memory has finished with it when it returns. */
#include "../backend.h"

/* Up to this size the calling thread does the work, in the same queues, because to hand it to other
 * workers would cost more. */
#define SLICE_ELEMENTS 8192
#define CALLER_BYTES   16384

struct job {
    const struct dp_team *team;
    const struct dp_moves *moves;
    struct dp_slot *dst_slot;
    const struct dp_sum *sums;
    int n_sums, n_slices;
    int n_busy, n_idle;     /* replicas with transfers, and helpers without */
    int idle[DP_MAX_SLOTS]; /* position of an idle replica among the idle ones */
    enum dp_phase phase;
    uint64_t begin; /* of all, if moves of one replica wait for another's; else 0 */
};

static void ready_record(struct dp_slot *slot)
{
    slot->ops->record(&slot->compute, &slot->ready);
}

static int ready_wait(struct dp_slot *worker, struct dp_slot *touched, struct dp_error *err)
{
    return dp_event_wait(&worker->comm, &touched->ready, err);
}

static int done_wait(struct dp_slot *touched, struct dp_slot *worker, struct dp_error *err)
{
    return dp_event_wait(&touched->compute, &worker->done, err);
}

static size_t threads_cut(size_t width, int unit, int units)
{
    return unit == units ? width : width / (size_t)units * (size_t)unit / 64 * 64;
}

/* Units first..last-1 of the bytes of a copy. If the bytes are not consecutive, unit 0 is all of
 * them. */
static struct dp_copy threads_share(const struct dp_copy *whole, int first, int last, int units)
{
    struct dp_copy part = *whole;
    if (whole->height != 1) {
        part.height = first == 0 ? whole->height : 0;
        return part;
    }
    const size_t begin = threads_cut(whole->width, first, units);
    part.dst = (char *)whole->dst + begin;
    part.src = (const char *)whole->src + begin;
    part.width = threads_cut(whole->width, last, units) - begin;
    return part;
}

static int issue_share(struct dp_slot *slot, const struct dp_move *move, int first, int last,
                       int units, struct dp_error *err)
{
    const struct dp_copy copy = threads_share(&move->copy, first, last, units);
    if (copy.height == 0 || copy.width == 0)
        return 0;
    int status = ready_wait(slot, move->src_slot, err);
    if (status == 0)
        status = ready_wait(slot, move->dst_slot, err);
    return status ? status : dp_launch(&slot->comm, DP_KERNEL_COPY, &copy, sizeof copy, err);
}

/* With b busy and c idle replicas, a busy one does b of the b + c units of its moves, and every
 * idle one does one unit of each move. So all have the same number of bytes. */
static int issue_moves(const struct job *job, int i, size_t *bytes, struct dp_error *err)
{
    struct dp_slot *slot = job->team->slot[i];
    const int units = job->n_busy + job->n_idle;
    int status = 0;
    for (int j = 0; j < job->team->n; ++j) {
        const bool own = j == i, helps = job->moves[i].n == 0;
        const int first = own ? 0 : job->n_busy + job->idle[i];
        for (int k = 0; status == 0 && (own || helps) && k < job->moves[j].n; ++k) {
            const struct dp_move *move = &job->moves[j].move[k];
            status = issue_share(slot, move, first, own ? job->n_busy : first + 1, units, err);
            *bytes += own ? dp_move_traffic(move) : 0;
        }
    }
    if (status == 0)
        slot->ops->record(&slot->comm, &slot->done);
    return status;
}

static void move_for_replica(int i, void *arg)
{
    const struct job *job = arg;
    if (job->moves[i].n == 0 && job->n_idle == 0)
        return;
    const uint64_t begin = job->begin ? job->begin : dp_trace_begin(job->team->group);
    size_t bytes = 0;
    issue_moves(job, i, &bytes, &job->team->group->errors[i]);
    dp_trace_end(job->team->group, i, job->phase, begin, bytes);
}

/* Reports the error of the lowest replica. */
static int threads_collect(const struct dp_error errors[], int n, struct dp_error *err)
{
    for (int i = 0; i < n; ++i) {
        if (errors[i].status)
            return dp_fail(err, errors[i].status, "%s", errors[i].text);
    }
    return 0;
}

/* Later work on these slots waits for all workers that moved something. */
static int moves_done(const struct job *job, struct dp_error *err)
{
    const struct dp_team *team = job->team;
    int status = 0;
    for (int i = 0; i < team->n; ++i) {
        for (int w = 0; w < team->n; ++w) {
            const bool carried = w == i || (job->n_idle > 0 && job->moves[w].n == 0);
            for (int k = 0; status == 0 && carried && k < job->moves[i].n; ++k) {
                status = done_wait(job->moves[i].move[k].src_slot, team->slot[w], err);
                if (status == 0)
                    status = done_wait(job->moves[i].move[k].dst_slot, team->slot[w], err);
            }
        }
    }
    return status;
}

static int threads_move(const struct dp_team *team, const struct dp_moves moves[],
                        enum dp_phase phase, struct dp_error *err)
{
    struct dp_error *errors = team->group->errors;
    struct job job = {.team = team, .moves = moves, .phase = phase};
    size_t bytes = 0;
    for (int i = 0; i < team->n; ++i) {
        errors[i].status = 0;
        job.idle[i] = i - job.n_busy;
        job.n_busy += moves[i].n > 0;
        for (int k = 0; k < moves[i].n; ++k) {
            ready_record(moves[i].move[k].src_slot);
            ready_record(moves[i].move[k].dst_slot);
            bytes += moves[i].move[k].copy.width * moves[i].move[k].copy.height;
        }
    }
    if (bytes > CALLER_BYTES) {
        job.n_idle = team->n - job.n_busy;
        dp_team_run(team, move_for_replica, &job);
    } else {
        job.begin = dp_trace_begin(team->group);
        for (int i = 0; i < team->n; ++i)
            move_for_replica(i, &job);
    }
    const int status = threads_collect(errors, team->n, err);
    return status ? status : moves_done(&job, err);
}

static int issue_slice(const struct job *job, const struct dp_sum *sum, int slice,
                       struct dp_error *err)
{
    const size_t unit = dp_dtype_bytes(sum->dtype);
    const size_t each = (sum->n / (size_t)job->n_slices + 16) / 16 * 16;
    const size_t first = (size_t)slice * each;
    if (first >= sum->n)
        return 0;
    struct dp_reduce_args args = {sum->dtype,
                                  job->team->n,
                                  sum->accumulate,
                                  sum->n - first < each ? sum->n - first : each,
                                  (char *)sum->dst + first * unit,
                                  {NULL}};
    for (int i = 0; i < job->team->n; ++i)
        args.src[i] = (const char *)sum->src[i] + first * unit;
    return dp_launch(&job->team->slot[slice]->comm, DP_KERNEL_REDUCE, &args, sizeof args, err);
}

static int issue_slices(const struct job *job, int slice, struct dp_error *err)
{
    struct dp_slot *slot = job->team->slot[slice];
    int status = ready_wait(slot, job->dst_slot, err);
    for (int i = 0; status == 0 && i < job->team->n; ++i)
        status = ready_wait(slot, job->team->slot[i], err);
    for (int k = 0; status == 0 && k < job->n_sums; ++k)
        status = issue_slice(job, &job->sums[k], slice, err);
    if (status)
        return status;
    slot->ops->record(&slot->comm, &slot->done);
    return 0;
}

static void sum_for_replica(int i, void *arg)
{
    const struct job *job = arg;
    const uint64_t begin = dp_trace_begin(job->team->group);
    issue_slices(job, i, &job->team->group->errors[i]);
    dp_trace_end(job->team->group, i, job->phase, begin, 0);
}

static int threads_reduce(const struct dp_team *team, struct dp_slot *dst_slot,
                          const struct dp_sum sums[], int n, enum dp_phase phase,
                          struct dp_error *err)
{
    struct dp_error *errors = team->group->errors;
    struct job job = {
        .team = team, .dst_slot = dst_slot, .sums = sums, .n_sums = n, .phase = phase};
    size_t elements = 0;
    for (int k = 0; k < n; ++k)
        elements += sums[k].n;
    job.n_slices = elements < SLICE_ELEMENTS ? 1 : team->n;
    ready_record(dst_slot);
    for (int i = 0; i < team->n; ++i) {
        errors[i].status = 0;
        ready_record(team->slot[i]);
    }
    const struct dp_team slices = {team->group, team->slot, job.n_slices};
    dp_team_run(&slices, sum_for_replica, &job);
    dp_trace_sums(team, dst_slot, sums, n, phase);
    int status = threads_collect(errors, job.n_slices, err);
    for (int s = 0; status == 0 && s < job.n_slices; ++s) {
        status = done_wait(dst_slot, team->slot[s], err);
        for (int i = 0; status == 0 && i < team->n; ++i)
            status = done_wait(team->slot[i], team->slot[s], err);
    }
    return status;
}

const struct dp_comm_ops dp_comm_threads = {.name = "threads",
                                            .can =
                                                DP_COMM_PARALLEL | DP_COMM_RANKS | DP_COMM_OVERLAP,
                                            .needs = DP_KIND_CORES,
                                            .start = dp_second_start,
                                            .close = dp_second_close,
                                            .move = threads_move,
                                            .reduce = threads_reduce,
                                            .broadcast = dp_moved_broadcast,
                                            .collective_call = dp_moved_collective,
                                            .allreduce = dp_second_allreduce,
                                            .poll = dp_second_poll,
                                            .abort = dp_second_abort};
