/* apply.c: runs replica i on the worker of its slot. Source: torch.nn.parallel.parallel_apply. */
#include "parallel.h"

static void run_task(int i, void *arg)
{
    const struct dp_tasks *tasks = arg;
    struct dp_error *err = &tasks->group->errors[i];
    const struct dp_span span = dp_span_begin(&tasks->slot[i]->compute, i, tasks->phase);
    err->status = 0;
    int status = tasks->step(i, tasks->arg, err);
    /* The caller may hold launches of this slot back; only this thread can issue its launches. */
    const int flushed = dp_slots_flush(&tasks->slot[i], 1, err);
    status = status ? status : flushed;
    if (status)
        dp_fail(err, status, "failed with %s", dp_status_name(status));
    dp_span_end(&span, 0);
}

int dp_tasks_run(struct dp_tasks *tasks, struct dp_error *err)
{
    const struct dp_team team = {tasks->group, tasks->slot, tasks->n};
    if (tasks->n < 1 || tasks->n > DP_MAX_SLOTS)
        return dp_fail(err, DP_EINVAL, "parallel_apply of %d calls: 1 to %d", tasks->n,
                       DP_MAX_SLOTS);
    int status = dp_team_check(&team, err);
    if (status)
        return status;
    status = dp_slots_flush(tasks->group->slot, tasks->group->size, err);
    if (status) {
        dp_group_wait(tasks->group, NULL);
        return status;
    }
    tasks->group->in_team = true;
    dp_team_run(&team, run_task, tasks);
    tasks->group->in_team = false;
    /* All calls have ended. The lowest index is reported, whichever failed first. */
    const struct dp_error *errors = tasks->group->errors;
    for (int i = 0; i < tasks->n; ++i) {
        if (errors[i].status == 0)
            continue;
        dp_group_wait(tasks->group, NULL);
        if (err && err->status == 0) {
            dp_fail(err, errors[i].status, "replica %d on %s: %s", i, tasks->slot[i]->info.name,
                    errors[i].text);
            err->has_replica = true;
            err->replica = i;
        }
        return errors[i].status;
    }
    return 0;
}

static int forward_call(int i, void *arg, struct dp_error *err)
{
    struct dp_call *call = (struct dp_call *)arg + i;
    return dp_forward(call->module, call->run, call->in, call->n_in, call->out, &call->n_out, err);
}

int dp_apply(struct dp_call calls[], int n, struct dp_error *err)
{
    if (n < 1 || n > DP_MAX_SLOTS)
        return dp_fail(err, DP_EINVAL, "parallel_apply of %d calls: 1 to %d", n, DP_MAX_SLOTS);
    struct dp_tasks tasks = {.group = calls[0].run->group,
                             .n = n,
                             .phase = DP_PHASE_FORWARD,
                             .step = forward_call,
                             .arg = calls};
    for (int i = 0; i < n; ++i)
        tasks.slot[i] = calls[i].run->slot;
    return dp_tasks_run(&tasks, err);
}
