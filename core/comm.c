/* comm.c: calls every communicator, and does the checks that all of them need. */
#include "backend.h"

static int check_group(const struct dp_group *group, const struct dp_slot *slot,
                       struct dp_error *err)
{
    return slot->group == group
               ? 0
               : dp_fail(err, DP_EINVAL, "%s is of another group", slot->info.name);
}

int dp_team_check(const struct dp_team *team, struct dp_error *err)
{
    int status = 0;
    if (team->group->in_team)
        return dp_fail(err, DP_EINVAL, "data parallel work inside a replica is not supported");
    for (int i = 0; status == 0 && i < team->n; ++i)
        status = check_group(team->group, team->slot[i], err);
    return status;
}

/* After a failure, all queued work ends before the failure is reported. */
static int drained(struct dp_group *group, int status)
{
    if (status)
        dp_group_wait(group, NULL);
    return status;
}

int dp_comm_move(const struct dp_team *team, const struct dp_moves moves[], enum dp_phase phase,
                 struct dp_error *err)
{
    int status = dp_team_check(team, err);
    for (int i = 0; status == 0 && i < team->n; ++i) {
        for (int k = 0; status == 0 && k < moves[i].n; ++k) {
            status = check_group(team->group, moves[i].move[k].src_slot, err);
            if (status == 0)
                status = check_group(team->group, moves[i].move[k].dst_slot, err);
        }
    }
    if (status)
        return status;
    return drained(team->group, team->group->comm->move(team, moves, phase, err));
}

int dp_check_sum(enum dp_dtype dtype, struct dp_error *err)
{
    return dtype <= DP_I64
               ? 0
               : dp_fail(err, DP_EINVAL, "bf16 cannot be summed: f32, f64, i32 and i64 can");
}

int dp_comm_reduce(const struct dp_team *team, struct dp_slot *dst_slot, const struct dp_sum sums[],
                   int n, enum dp_phase phase, struct dp_error *err)
{
    int status = dp_team_check(team, err);
    if (status == 0)
        status = check_group(team->group, dst_slot, err);
    for (int k = 0; status == 0 && k < n; ++k)
        status = dp_check_sum(sums[k].dtype, err);
    if (status)
        return status;
    return drained(team->group, team->group->comm->reduce(team, dst_slot, sums, n, phase, err));
}

/* ---- collectives ------------------------------------------------------------------------- */

int dp_comm_start(struct dp_group *group, struct dp_error *err)
{
    const struct dp_comm_ops *ops = group->comm;
    const int status = dp_comm_check(ops, group->kind, DP_COMM_RANKS, err);
    return status || !ops->start ? status : ops->start(group, err);
}

static int check_whole(const struct dp_group *group, struct dp_error *err)
{
    return group->broken
               ? dp_fail(err, DP_EFAULT, "a collective of this group's processes has failed before")
               : 0;
}

void dp_comm_abort(struct dp_group *group)
{
    group->broken = group->world > group->size;
    if (group->comm->abort)
        group->comm->abort(group);
    if (group->broken)
        group->others->bootstrap->abort(group->others->self);
    dp_group_wait(group, NULL);
}

static int aborted(struct dp_group *group, int status)
{
    if (status)
        dp_comm_abort(group);
    return status;
}

int dp_comm_broadcast(struct dp_group *group, const struct dp_collective *c, int root,
                      enum dp_phase phase, struct dp_error *err)
{
    const int status = check_whole(group, err);
    return status ? status : aborted(group, group->comm->broadcast(group, c, root, phase, err));
}

/* The sum over one member is its own numbers, which stay where they are. */
static int comm_keep(struct dp_group *group, struct dp_collective *c, struct dp_error *err)
{
    const int status = c->timed ? dp_group_wait(group, err) : 0;
    for (int i = 0; i < c->n_parts; ++i) {
        c->part[i].done = c->part[i].ready;
        atomic_store(c->part[i].done_ns, dp_now_ns());
    }
    return status;
}

int dp_comm_allreduce(struct dp_group *group, struct dp_collective *c, struct dp_error *err)
{
    const int status = check_whole(group, err);
    if (status)
        return status;
    return c->n_members == 1 && c->scale == 1.0f ? comm_keep(group, c, err)
                                                 : group->comm->allreduce(group, c, err);
}

int dp_comm_collective(struct dp_group *group, const struct dp_collective_call *s,
                       struct dp_error *err)
{
    const struct dp_comm_ops *ops = group->comm;
    const int status = check_whole(group, err);
    if (status)
        return status;
    if (!ops->collective_call)
        return dp_fail(err, DP_ENOTSUP,
                       "communicator %s has collectives in blocks and out of place in one process "
                       "only",
                       ops->name);
    return aborted(group, ops->collective_call(group, s, err));
}

int dp_comm_poll(struct dp_group *group, struct dp_error *err)
{
    return group->comm->poll ? aborted(group, group->comm->poll(group, err)) : 0;
}

int dp_comm_allreduce_max(struct dp_group *group, int64_t values[], int n, struct dp_error *err)
{
    if (group->world == group->size)
        return 0;
    const int status = check_whole(group, err);
    return status ? status : aborted(group, group->comm->allreduce_max(group, values, n, err));
}
