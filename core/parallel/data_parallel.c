/* data_parallel.c: scatter, replicate, apply and gather as one module, and nothing else. The
 * backward is in data_parallel_backward.c. Source: torch.nn.DataParallel. */
#include "parallel.h"

#include <stdlib.h>
#include <string.h>

/* A call is large, and lasts one step: it is in the memory of the run, and the tape holds a
 * pointer. */
static int open_call(struct dp_run *run, struct dp_parallel_call **call, struct dp_error *err)
{
    void *memory;
    const int status = dp_run_scratch(run, sizeof **call, &memory, err);
    if (status == 0)
        *call = memory;
    return status;
}

static int check_rows(const struct dp_parallel_self *p, const struct dp_tensor in[], int n_in,
                      struct dp_error *err)
{
    size_t rows = 0;
    for (int k = 0; k < n_in; ++k) {
        int dim;
        const int status = dp_dim_wrap("data_parallel", p->dim, in[k].ndim, &dim, err);
        if (status)
            return status;
        if (k > 0 && in[k].dim[dim] != rows)
            return dp_fail(err, DP_ESHAPE, "input %d has %zu rows, input 0 has %zu", k,
                           in[k].dim[dim], rows);
        rows = in[k].dim[dim];
    }
    return 0;
}

struct forward {
    struct dp_parallel_self *p;
    struct dp_module *module;
    struct dp_parallel_call *call;
    int n_out[DP_MAX_SLOTS];
};

static int forward_replica(int i, void *arg, struct dp_error *err)
{
    struct forward *f = arg;
    struct dp_tensor in[DP_MAX_IO], out[DP_MAX_IO];
    for (int k = 0; k < f->call->n_in; ++k)
        in[k] = f->call->shard[k][i];
    const int status = dp_forward(f->module, dp_replicas_run(f->p->replicas, i), in, f->call->n_in,
                                  out, &f->n_out[i], err);
    if (status)
        return status;
    for (int k = 0; k < f->n_out[i]; ++k)
        f->call->out[k][i] = out[k];
    return 0;
}

static int check_outputs(const struct forward *f, struct dp_error *err)
{
    f->call->n_out = f->n_out[0];
    for (int i = 1; i < f->call->m; ++i) {
        if (f->n_out[i] != f->n_out[0])
            return dp_fail(err, DP_ESHAPE, "replica %d has %d outputs, replica 0 has %d", i,
                           f->n_out[i], f->n_out[0]);
    }
    return 0;
}

/* Records how much each replica has saved. Backward, or a failure of this forward, goes back to it.
 */
static void mark_tapes(const struct dp_parallel_self *p, struct dp_parallel_call *call)
{
    for (int i = 0; i < p->n; ++i)
        call->tape[i] = dp_replicas_run(p->replicas, i)->tape_used;
}

/* Scatter, replicate, apply, gather. */
static int forward_replicas(struct dp_module *module, struct dp_parallel_self *p,
                            struct dp_run *run, struct dp_parallel_call *call,
                            struct dp_tensor out[], struct dp_error *err)
{
    int status = 0;
    call->m = 1;
    for (int k = 0; status == 0 && k < call->n_in; ++k)
        status = dp_scatter(run, &call->in[k], p->slot, p->n, p->dim, NULL, call->shard[k],
                            &call->m, err);
    if (status == 0)
        status = dp_replicate(p->replicas, call->m, err);
    if (status)
        return status;
    struct forward f = {p, dp_module_child(module, 0), call, {0}};
    struct dp_tasks tasks = {.group = run->group,
                             .n = call->m,
                             .phase = DP_PHASE_FORWARD,
                             .step = forward_replica,
                             .arg = &f};
    memcpy(tasks.slot, p->slot, sizeof tasks.slot);
    status = dp_tasks_run(&tasks, err);
    /* The run of the caller counts random draws for all, so that the next call, in any wrapper,
     * gets new ones. */
    for (int i = 0; i < p->n; ++i) {
        const uint64_t draws = dp_replicas_run(p->replicas, i)->draws;
        run->draws = run->draws < draws ? draws : run->draws;
    }
    if (status == 0)
        status = check_outputs(&f, err);
    for (int k = 0; status == 0 && k < call->n_out; ++k)
        status = dp_gather(run, call->out[k], call->m, p->dim, p->output, &out[k], err);
    if (status == 0)
        mark_tapes(p, call);
    return status;
}

/* With one slot, inputs move there and the module is called. With no slot, inputs stay where they
 * are. */
static int forward_direct(struct dp_module *module, struct dp_parallel_self *p, struct dp_run *run,
                          struct dp_parallel_call *call, struct dp_tensor out[],
                          struct dp_error *err)
{
    int n, status = 0;
    call->direct = true;
    for (int k = 0; status == 0 && k < call->n_in; ++k) {
        call->shard[k][0] = call->in[k];
        if (p->n > 0)
            status =
                dp_scatter(run, &call->in[k], p->slot, 1, p->dim, NULL, call->shard[k], &n, err);
    }
    if (status)
        return status;
    struct dp_tensor in[DP_MAX_IO];
    for (int k = 0; k < call->n_in; ++k)
        in[k] = call->shard[k][0];
    struct dp_slot *const outer = run->slot;
    run->slot = p->n > 0 ? p->slot[0] : outer;
    const struct dp_span span = dp_span_begin(&run->slot->compute, 0, DP_PHASE_FORWARD);
    status = dp_forward(dp_module_child(module, 0), run, in, call->n_in, out, &call->n_out, err);
    run->slot = outer;
    dp_span_end(&span, 0);
    return status;
}

static int parallel_forward(struct dp_module *module, struct dp_run *run,
                            const struct dp_tensor in[], int n_in, struct dp_tensor out[],
                            int *n_out, struct dp_error *err)
{
    struct dp_parallel_self *p = dp_module_self(module);
    struct dp_parallel_call *call;
    if (run->replica >= 0)
        return dp_fail(err, DP_EINVAL, "data_parallel inside a replica of data_parallel");
    /* This is the first check, as in PyTorch: a misplaced model is reported for any inputs
     * [COMP-03]. */
    int status = p->n > 0 ? dp_replicas_check(p->replicas, err) : 0;
    if (status == 0 && p->n > 0)
        status = check_rows(p, in, n_in, err);
    if (status == 0)
        status = open_call(run, &call, err);
    if (status)
        return status;
    call->direct = false;
    call->n_in = n_in;
    call->n_out = 0;
    for (int k = 0; k < n_in; ++k)
        call->in[k] = in[k];
    if (p->n > 1) {
        for (int i = 0; i < p->n; ++i) {
            struct dp_run *replica = dp_replicas_run(p->replicas, i);
            if (!p->in_step || p->run != run->serial || p->step != run->step)
                dp_run_reset(replica);
            replica->grad = run->grad;
            replica->train = run->train;
            replica->draws = run->draws;
        }
        if (!p->in_step || p->run != run->serial || p->step != run->step)
            dp_silent_fault_step(run->group);
        p->in_step = true;
        p->run = run->serial;
        p->step = run->step;
        mark_tapes(p, call);
        status = forward_replicas(module, p, run, call, out, err);
    } else {
        status = forward_direct(module, p, run, call, out, err);
    }
    if (status == 0 && run->grad)
        status = dp_run_save(run, module, &call, sizeof call, err);
    /* Some replicas may have saved a forward that will get no backward; earlier ones are kept. */
    for (int i = 0; status && p->n > 1 && i < p->n; ++i)
        dp_replicas_run(p->replicas, i)->tape_used = call->tape[i];
    if (status == 0)
        *n_out = call->n_out;
    return status;
}

static void parallel_close(void *self)
{
    struct dp_parallel_self *p = self;
    dp_replicas_close(p->replicas);
    free(p);
}

static const struct dp_module_ops parallel_ops = {"data_parallel", parallel_forward,
                                                  dp_parallel_backward, parallel_close};

static int choose_slots(struct dp_group *group, const struct dp_parallel_config *config,
                        struct dp_parallel_self *p, struct dp_error *err)
{
    const bool all = config->device_ids == NULL;
    p->n = all ? group->size : config->n_device_ids;
    if (p->n < 0 || p->n > DP_MAX_SLOTS || (!all && p->n == 0))
        return dp_fail(err, DP_EINVAL, "%d device ids: 1 to %d", p->n, DP_MAX_SLOTS);
    for (int i = 0; i < p->n; ++i)
        p->slot[i] = all ? group->slot[i] : config->device_ids[i];
    p->output = config->output_device ? config->output_device : p->slot[0];
    p->dim = config->dim;
    if (p->output && p->output->group != group)
        return dp_fail(err, DP_EINVAL, "output_device is not a device of this group");
    for (int i = 0; i < p->n; ++i) {
        if (!p->slot[i] || p->slot[i]->group != group || dp_is_host(p->slot[i]))
            return dp_fail(err, DP_EINVAL, "device_ids[%d] is not a device of this group", i);
        for (int j = 0; j < i; ++j) {
            if (p->slot[j] == p->slot[i])
                return dp_fail(err, DP_EINVAL, "device_ids[%d] and device_ids[%d] are both %s", j,
                               i, p->slot[i]->info.name);
        }
    }
    return 0;
}

static int open_wrapper(struct dp_module *module, const struct dp_parallel_config *config,
                        bool move_to_single, struct dp_module **wrapper, struct dp_error *err)
{
    struct dp_group *group = dp_module_group(module);
    struct dp_parallel_self *p = calloc(1, sizeof *p);
    if (!p)
        return dp_fail(err, DP_ENOMEM, "no memory for data_parallel");
    struct dp_module *opened = NULL;
    int status = choose_slots(group, config, p, err);
    if (status == 0 && p->n > 0)
        status = dp_replicas_open(module, p->slot, p->n, &p->replicas, err);
    if (status == 0)
        status = dp_module_open(group, &parallel_ops, p, &module, 1, &opened, err);
    if (status) {
        parallel_close(p);
        return status;
    }
    if (p->n == 1 && move_to_single)
        status = dp_module_to(module, p->slot[0], err);
    if (status) {
        dp_module_close(opened);
        return status;
    }
    *wrapper = opened;
    return 0;
}

int dp_parallel(struct dp_module *module, const struct dp_parallel_config *config,
                struct dp_module **wrapper, struct dp_error *err)
{
    return open_wrapper(module, config, true, wrapper, err);
}

int dp_data_parallel(struct dp_module *module, struct dp_run *run, struct dp_slot *const slots[],
                     int n_slots, struct dp_slot *output_device, int dim,
                     const struct dp_tensor in[], int n_in, struct dp_tensor out[], int *n_out,
                     struct dp_module **call, struct dp_error *err)
{
    struct dp_module *wrapper = NULL;
    const struct dp_parallel_config config = {slots, n_slots, output_device, dim};
    int status = 0;
    if (run->replica >= 0)
        return dp_fail(err, DP_EINVAL, "data_parallel inside a replica of data_parallel");
    if (n_slots == 0)
        wrapper = dp_module_retain(module);
    else
        status = open_wrapper(module, &config, false, &wrapper, err);
    if (status == 0)
        status = dp_forward(wrapper, run, in, n_in, out, n_out, err);
    if (status) {
        dp_module_close(wrapper);
        return status;
    }
    *call = wrapper;
    return 0;
}
