/* distributed.c: the slots, tasks and modes of ranks. Source:
 * torch.nn.parallel.DistributedDataParallel. */
#include "distributed.h"

#include <string.h>

float *ddp_grads(const struct dp_ddp *ddp, int rank)
{
    return ddp->replicas->replica[rank].grads->memory;
}

struct dp_slot *ddp_slot(const struct dp_ddp *ddp, int rank)
{
    return ddp->replicas->slot[rank];
}

int ddp_done(struct dp_ddp *ddp, int status)
{
    if (status && ddp->group->world > ddp->group->size)
        dp_comm_abort(ddp->group);
    return status;
}

int ddp_tasks(struct dp_ddp *ddp, enum dp_phase phase,
              int (*step)(int r, void *arg, struct dp_error *err), void *arg, struct dp_error *err)
{
    struct dp_tasks tasks = {
        .group = ddp->group, .n = ddp->n, .phase = phase, .step = step, .arg = arg};
    memcpy(tasks.slot, ddp->replicas->slot, sizeof tasks.slot);
    return dp_tasks_run(&tasks, err);
}

int dp_ddp_ranks(const struct dp_ddp *ddp)
{
    return ddp->n;
}

void dp_ddp_reset(struct dp_ddp *ddp)
{
    dp_silent_fault_step(ddp->group);
    for (int r = 0; r < ddp->n; ++r)
        dp_run_reset(ddp->replicas->replica[r].run);
    ddp->call = NULL;
}

void dp_ddp_grad_mode(struct dp_ddp *ddp, bool on)
{
    for (int r = 0; r < ddp->n; ++r)
        ddp->replicas->replica[r].run->grad = on;
}

void dp_ddp_train_mode(struct dp_ddp *ddp, bool on)
{
    for (int r = 0; r < ddp->n; ++r)
        ddp->replicas->replica[r].run->train = on;
}

void dp_ddp_no_sync(struct dp_ddp *ddp, bool on)
{
    ddp->no_sync = on;
}

void dp_ddp_zero_grad(struct dp_ddp *ddp)
{
    dp_replicas_zero_grad(ddp->replicas, ddp->n);
}
