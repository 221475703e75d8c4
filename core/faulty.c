/* faulty.c: a group in which one call fails on purpose, once: +fault:OPERATION@CALL of a device
 * list, and of tests.
 *
 * The tables of the slots and of the communicator are copies of those that they wrap, with the
 * failing operation replaced. So everything below them works as always. */
#include "backend.h"

#include <stdlib.h>

struct dp_faults {
    enum dp_fault fault;
    uint64_t at;
    _Atomic uint64_t calls;
    const struct dp_device_ops *device;
    const struct dp_comm_ops *inner;
    struct dp_device_ops device_ops;
    struct dp_comm_ops comm_ops;
};

static const char *const names[DP_FAULTS] = {
    [DP_FAULT_ALLOC] = "alloc",         [DP_FAULT_LAUNCH] = "launch",
    [DP_FAULT_CALL] = "call",           [DP_FAULT_WAIT] = "wait",
    [DP_FAULT_FINISH] = "finish",       [DP_FAULT_SYNC] = "sync",
    [DP_FAULT_MOVE] = "move",           [DP_FAULT_REDUCE] = "reduce",
    [DP_FAULT_BROADCAST] = "broadcast", [DP_FAULT_ALLREDUCE] = "allreduce",
    [DP_FAULT_POLL] = "poll",
};

const char *dp_fault_name(enum dp_fault fault)
{
    return names[fault];
}

static int faulty_fails(struct dp_group *group, struct dp_error *err)
{
    struct dp_faults *f = group->faults;
    const uint64_t call = atomic_fetch_add(&f->calls, 1) + 1;
    return call == f->at ? dp_fail(err, f->fault == DP_FAULT_ALLOC ? DP_ENOMEM : DP_EFAULT,
                                   "call %llu of %s fails on purpose", (unsigned long long)call,
                                   names[f->fault])
                         : 0;
}

/* ---- devices ----------------------------------------------------------------------------- */

static int faulty_alloc(struct dp_slot *slot, size_t bytes, void **memory, struct dp_error *err)
{
    const int status = faulty_fails(slot->group, err);
    return status ? status : slot->group->faults->device->alloc(slot, bytes, memory, err);
}

static int faulty_launch(struct dp_queue *queue, enum dp_kernel kernel, const void *args,
                         size_t bytes, struct dp_error *err)
{
    struct dp_group *group = queue->slot->group;
    const int status = faulty_fails(group, err);
    return status ? status : group->faults->device->launch(queue, kernel, args, bytes, err);
}

static int faulty_ahead(struct dp_queue *queue, enum dp_kernel kernel, const void *args,
                        struct dp_error *err)
{
    struct dp_group *group = queue->slot->group;
    const int status = faulty_fails(group, err);
    return status ? status : group->faults->device->ahead(queue, kernel, args, err);
}

static int faulty_call(struct dp_queue *queue, const struct dp_host_call *call,
                       struct dp_error *err)
{
    struct dp_group *group = queue->slot->group;
    const int status = faulty_fails(group, err);
    return status ? status : group->faults->device->call(queue, call, err);
}

static int faulty_wait(struct dp_queue *queue, const struct dp_event *event, struct dp_error *err)
{
    struct dp_group *group = queue->slot->group;
    const int status = faulty_fails(group, err);
    return status ? status : group->faults->device->wait(queue, event, err);
}

/* These two fail after their work: what they wait for has failed, and has ended. */
static int faulty_finish(const struct dp_event *event, struct dp_error *err)
{
    struct dp_group *group = event->queue->slot->group;
    const int status = group->faults->device->finish(event, err);
    return status ? status : faulty_fails(group, err);
}

static int faulty_sync(struct dp_queue *queue, struct dp_error *err)
{
    struct dp_group *group = queue->slot->group;
    const int status = group->faults->device->sync(queue, err);
    return status ? status : faulty_fails(group, err);
}

/* ---- communicators ----------------------------------------------------------------------- */

static int faulty_move(const struct dp_team *team, const struct dp_moves moves[],
                       enum dp_phase phase, struct dp_error *err)
{
    const int status = faulty_fails(team->group, err);
    return status ? status : team->group->faults->inner->move(team, moves, phase, err);
}

static int faulty_reduce(const struct dp_team *team, struct dp_slot *dst_slot,
                         const struct dp_sum sums[], int n, enum dp_phase phase,
                         struct dp_error *err)
{
    const int status = faulty_fails(team->group, err);
    return status ? status
                  : team->group->faults->inner->reduce(team, dst_slot, sums, n, phase, err);
}

static int faulty_broadcast(struct dp_group *group, const struct dp_collective *c, int root,
                            enum dp_phase phase, struct dp_error *err)
{
    const int status = faulty_fails(group, err);
    return status ? status : group->faults->inner->broadcast(group, c, root, phase, err);
}

static int faulty_allreduce(struct dp_group *group, struct dp_collective *c, struct dp_error *err)
{
    const int status = faulty_fails(group, err);
    return status ? status : group->faults->inner->allreduce(group, c, err);
}

static int faulty_poll(struct dp_group *group, struct dp_error *err)
{
    const int status = faulty_fails(group, err);
    return status || !group->faults->inner->poll ? status : group->faults->inner->poll(group, err);
}

/* ---- opening ----------------------------------------------------------------------------- */

int dp_faults_open(struct dp_group *group, enum dp_fault fault, struct dp_error *err)
{
    struct dp_faults *f = group->faults = calloc(1, sizeof *f);
    if (!f)
        return dp_fail(err, DP_ENOMEM, "no memory for a fault");
    f->fault = fault;
    f->device = group->slot[0]->ops;
    f->device_ops = *f->device;
    f->inner = group->comm;
    f->comm_ops = *f->inner;
    if (f->fault == DP_FAULT_ALLOC)
        f->device_ops.alloc = faulty_alloc;
    if (f->fault == DP_FAULT_LAUNCH)
        f->device_ops.launch = faulty_launch, f->device_ops.convolve = NULL;
    if (f->fault == DP_FAULT_LAUNCH && f->device->ahead)
        f->device_ops.ahead = faulty_ahead;
    if (f->fault == DP_FAULT_CALL)
        f->device_ops.call = faulty_call;
    if (f->fault == DP_FAULT_WAIT)
        f->device_ops.wait = faulty_wait;
    if (f->fault == DP_FAULT_FINISH)
        f->device_ops.finish = faulty_finish;
    if (f->fault == DP_FAULT_SYNC)
        f->device_ops.sync = faulty_sync;
    if (f->fault == DP_FAULT_MOVE)
        f->comm_ops.move = faulty_move;
    if (f->fault == DP_FAULT_REDUCE)
        f->comm_ops.reduce = faulty_reduce;
    if (f->fault == DP_FAULT_BROADCAST)
        f->comm_ops.broadcast = faulty_broadcast;
    if (f->fault == DP_FAULT_ALLREDUCE)
        f->comm_ops.allreduce = faulty_allreduce;
    if (f->fault == DP_FAULT_POLL)
        f->comm_ops.poll = faulty_poll;
    for (int i = 0; i < group->size; ++i)
        group->slot[i]->ops = &f->device_ops;
    group->comm = &f->comm_ops;
    return 0;
}

void dp_faults_arm(struct dp_group *group, uint64_t at)
{
    atomic_store(&group->faults->calls, 0);
    group->faults->at = at;
}

bool dp_faults_hit(const struct dp_group *group)
{
    return group->faults->at > 0 && atomic_load(&group->faults->calls) >= group->faults->at;
}

int dp_group_faulty(const struct dp_group *group, struct dp_error *err)
{
    const struct dp_faults *f = group ? group->faults : NULL;
    if (!f || f->at == 0)
        return group ? dp_silent_fault_ended(group, err) : 0;
    const unsigned long long calls = atomic_load(&f->calls);
    return calls >= f->at
               ? dp_fail(err, DP_EFAULT,
                         "call %llu of %s failed on purpose, and no error was reported",
                         (unsigned long long)f->at, names[f->fault])
               : dp_fail(err, DP_EFAULT, "call %llu of %s was to fail, but there were %llu",
                         (unsigned long long)f->at, names[f->fault], calls);
}
