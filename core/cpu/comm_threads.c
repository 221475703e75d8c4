/* comm_threads.c: transfers and sums by the workers, in shared memory.
 *
 * A transfer belongs to a replica and runs on its worker, unless all of them are small; a sum is
 * cut into slices, one per worker, each added in replica order: the same bits as staged. Order on
 * the devices: every slot touched records "ready" behind its compute work; the comm queues wait for
 * it, record "done", and the compute queues of the slots touched wait for that. The host cannot put
 * its wait off, so a call that touches host memory has finished with it when it returns. */
#include "../backend.h"

/* Up to here a hand-off to other workers costs more than the work: the calling thread does it, in
 * the same queues. */
#define SLICE_ELEMENTS 8192
#define CALLER_BYTES   16384

struct job {
    const struct dp_team *team;
    const struct dp_moves *moves;
    struct dp_slot *dst_slot;
    const struct dp_sum *sums;
    int n_sums, n_slices;
    enum dp_phase phase;
    struct dp_error *errors; /* one per replica */
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

static int issue_moves(struct dp_slot *slot, const struct dp_moves *moves, size_t *bytes,
                       struct dp_error *err)
{
    for (int k = 0; k < moves->n; ++k) {
        const struct dp_move *move = &moves->move[k];
        int status = ready_wait(slot, move->src_slot, err);
        if (status == 0)
            status = ready_wait(slot, move->dst_slot, err);
        if (status == 0)
            status = dp_launch(&slot->comm, DP_KERNEL_COPY, &move->copy, sizeof move->copy, err);
        if (status)
            return status;
        *bytes += dp_move_traffic(move);
    }
    slot->ops->record(&slot->comm, &slot->done);
    return 0;
}

static void move_for_replica(int i, void *arg)
{
    const struct job *job = arg;
    if (job->moves[i].n == 0)
        return;
    const uint64_t begin = dp_trace_begin(job->team->group);
    size_t bytes = 0;
    issue_moves(job->team->slot[i], &job->moves[i], &bytes, &job->errors[i]);
    dp_trace_end(job->team->group, i, job->phase, begin, bytes);
}

/* The lowest replica's error. */
static int collect(const struct dp_error errors[], int n, struct dp_error *err)
{
    for (int i = 0; i < n; ++i) {
        if (errors[i].status)
            return dp_fail(err, errors[i].status, "%s", errors[i].text);
    }
    return 0;
}

static int threads_move(const struct dp_team *team, const struct dp_moves moves[],
                        enum dp_phase phase, struct dp_error *err)
{
    struct dp_error errors[DP_MAX_SLOTS];
    struct job job = {.team = team, .moves = moves, .phase = phase, .errors = errors};
    size_t bytes = 0;
    for (int i = 0; i < team->n; ++i) {
        errors[i].status = 0;
        for (int k = 0; k < moves[i].n; ++k) {
            ready_record(moves[i].move[k].src_slot);
            ready_record(moves[i].move[k].dst_slot);
            bytes += moves[i].move[k].copy.width * moves[i].move[k].copy.height;
        }
    }
    if (bytes > CALLER_BYTES)
        dp_team_run(team, move_for_replica, &job);
    for (int i = 0; bytes <= CALLER_BYTES && i < team->n; ++i)
        move_for_replica(i, &job);
    int status = collect(errors, team->n, err);
    for (int i = 0; status == 0 && i < team->n; ++i) {
        for (int k = 0; status == 0 && k < moves[i].n; ++k) {
            status = done_wait(moves[i].move[k].src_slot, team->slot[i], err);
            if (status == 0)
                status = done_wait(moves[i].move[k].dst_slot, team->slot[i], err);
        }
    }
    return status;
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
                                  sum->accumulate,
                                  job->team->n,
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
    issue_slices(job, i, &job->errors[i]);
    dp_trace_end(job->team->group, i, job->phase, begin, 0);
}

static int threads_reduce(const struct dp_team *team, struct dp_slot *dst_slot,
                          const struct dp_sum sums[], int n, enum dp_phase phase,
                          struct dp_error *err)
{
    struct dp_error errors[DP_MAX_SLOTS];
    struct job job = {.team = team,
                      .dst_slot = dst_slot,
                      .sums = sums,
                      .n_sums = n,
                      .phase = phase,
                      .errors = errors};
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
    int status = collect(errors, job.n_slices, err);
    for (int s = 0; status == 0 && s < job.n_slices; ++s) {
        status = done_wait(dst_slot, team->slot[s], err);
        for (int i = 0; status == 0 && i < team->n; ++i)
            status = done_wait(team->slot[i], team->slot[s], err);
    }
    return status;
}

const struct dp_comm_ops dp_comm_threads = {"threads", threads_move, threads_reduce};
