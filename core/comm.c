/* comm.c: the way to every communicator: what all of them would have to check. */
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

/* On failure everything queued so far ends before it is reported. */
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
    return drained(team->group, team->group->backend->comm->move(team, moves, phase, err));
}

int dp_comm_reduce(const struct dp_team *team, struct dp_slot *dst_slot, const struct dp_sum sums[],
                   int n, enum dp_phase phase, struct dp_error *err)
{
    int status = dp_team_check(team, err);
    if (status == 0)
        status = check_group(team->group, dst_slot, err);
    if (status)
        return status;
    return drained(team->group,
                   team->group->backend->comm->reduce(team, dst_slot, sums, n, phase, err));
}
