/* data_parallel_backward.c: scatters the output gradient by the sizes of the forward, runs the
 * backwards of the replicas, gathers input gradients on the slots of the inputs, and sums the
 * gradients of the parameters into the base module. */
#include "parallel.h"

#include <string.h>

struct backward {
    struct dp_parallel_self *p;
    struct dp_module *module;
    const struct dp_parallel_call *call;
};

static int backward_replica(int i, void *arg, struct dp_error *err)
{
    const struct backward *b = arg;
    struct dp_tensor grad_out[DP_MAX_IO], grad_in[DP_MAX_IO];
    for (int k = 0; k < b->call->n_out; ++k)
        grad_out[k] = b->p->grad_out[k][i];
    const int status = dp_backward(b->module, dp_replicas_run(b->p->replicas, i), grad_out,
                                   b->call->n_out, grad_in, b->call->n_in, err);
    for (int k = 0; status == 0 && k < b->call->n_in; ++k)
        b->p->grad_in[k][i] = grad_in[k];
    return status;
}

/* The output gradient is cut by the sizes that were gathered; they are not computed again. */
static int scatter_gradient(struct dp_parallel_self *p, struct dp_run *run,
                            const struct dp_parallel_call *call, int k,
                            const struct dp_tensor *grad, struct dp_tensor shards[],
                            struct dp_error *err)
{
    size_t sizes[DP_MAX_SLOTS];
    const bool scalars = call->out[k][0].ndim == 0;
    int dim = 0, n = 0, status = 0;
    for (int i = 0; i < call->m; ++i)
        shards[i] = (struct dp_tensor){0};
    if (!grad->slot)
        return 0;
    if (!scalars)
        status = dp_dim_wrap("data_parallel", p->dim, grad->ndim, &dim, err);
    for (int i = 0; i < call->m; ++i)
        sizes[i] = scalars ? 1 : call->out[k][i].dim[dim];
    if (status == 0)
        status = dp_scatter_phase(run, grad, p->slot, call->m, dim, sizes, DP_PHASE_BACKWARD,
                                  shards, &n, err);
    for (int i = 0; status == 0 && scalars && i < call->m; ++i)
        shards[i].ndim = 0;
    return status;
}

static int zeros_like(struct dp_run *run, const struct dp_tensor *like, struct dp_tensor *zeros,
                      struct dp_error *err)
{
    const int status =
        dp_run_tensor(run, like->slot, like->dtype, like->ndim, like->dim, zeros, err);
    if (status)
        return status;
    const struct dp_zero args = {zeros->data, dp_tensor_bytes(zeros)};
    return dp_launch(&like->slot->compute, DP_KERNEL_ZERO, &args, sizeof args, err);
}

/* Input gradients go back to the slot of the input. A replica without one counts as zeros. */
static int gather_gradient(struct dp_parallel_self *p, struct dp_run *run,
                           const struct dp_parallel_call *call, int k, struct dp_tensor parts[],
                           struct dp_tensor *grad, struct dp_error *err)
{
    int given = 0, dim = 0;
    for (int i = 0; i < call->m; ++i)
        given += parts[i].slot != NULL;
    *grad = (struct dp_tensor){0};
    if (given == 0 || !call->in[k].needs_grad)
        return 0;
    int status = dp_dim_wrap("data_parallel", p->dim, call->in[k].ndim, &dim, err);
    for (int i = 0; status == 0 && i < call->m; ++i) {
        if (!parts[i].slot)
            status = zeros_like(run, &call->shard[k][i], &parts[i], err);
    }
    if (status)
        return status;
    return dp_gather_phase(run, parts, call->m, dim, call->in[k].slot, DP_PHASE_BACKWARD, grad,
                           err);
}

static int backward_replicas(struct dp_module *module, struct dp_parallel_self *p,
                             struct dp_run *run, const struct dp_parallel_call *call,
                             const struct dp_tensor grad_out[], struct dp_tensor grad_in[],
                             struct dp_error *err)
{
    int status = 0;
    for (int k = 0; status == 0 && k < call->n_out; ++k)
        status = scatter_gradient(p, run, call, k, &grad_out[k], p->grad_out[k], err);
    if (status)
        return status;
    struct backward b = {p, dp_module_child(module, 0), call};
    struct dp_tasks tasks = {.group = run->group,
                             .n = call->m,
                             .phase = DP_PHASE_BACKWARD,
                             .step = backward_replica,
                             .arg = &b};
    memcpy(tasks.slot, p->slot, sizeof tasks.slot);
    /* Gradients of an earlier backward, of two forwards, are already in the base. */
    dp_replicas_zero_grad(p->replicas, call->m);
    status = dp_tasks_run(&tasks, err);
    for (int k = 0; status == 0 && k < call->n_in; ++k)
        status = gather_gradient(p, run, call, k, p->grad_in[k], &grad_in[k], err);
    return status ? status : dp_reduce(p->replicas, call->m, err);
}

static int backward_direct(struct dp_module *module, struct dp_run *run,
                           const struct dp_parallel_call *call, const struct dp_tensor grad_out[],
                           struct dp_tensor grad_in[], struct dp_error *err)
{
    struct dp_tensor in[DP_MAX_IO] = {{0}};
    const struct dp_parallel_self *p = dp_module_self(module);
    struct dp_slot *const outer = run->slot;
    run->slot = p->n > 0 ? p->slot[0] : outer;
    const struct dp_span span = dp_span_begin(&run->slot->compute, 0, DP_PHASE_BACKWARD);
    int status =
        dp_backward(dp_module_child(module, 0), run, grad_out, call->n_out, in, call->n_in, err);
    run->slot = outer;
    dp_span_end(&span, 0);
    for (int k = 0; status == 0 && k < call->n_in; ++k) {
        const struct dp_tensor *input = &call->in[k];
        grad_in[k] = in[k];
        if (!in[k].slot || in[k].slot == input->slot)
            continue;
        status =
            dp_run_tensor(run, input->slot, in[k].dtype, in[k].ndim, in[k].dim, &grad_in[k], err);
        if (status == 0)
            status = dp_tensor_copy(&grad_in[k], &in[k], err);
    }
    return status;
}

int dp_parallel_backward(struct dp_module *module, struct dp_run *run,
                         const struct dp_tensor grad_out[], int n_out, struct dp_tensor grad_in[],
                         int n_in, struct dp_error *err)
{
    struct dp_parallel_self *p = dp_module_self(module);
    struct dp_parallel_call *call;
    (void)n_out, (void)n_in;
    int status = dp_run_restore(run, module, &call, sizeof call, err);
    if (status)
        return status;
    if (call->direct)
        return backward_direct(module, run, call, grad_out, grad_in, err);
    if (!p->in_step || p->run != run->serial || p->step != run->step)
        return dp_fail(err, DP_EINVAL,
                       "backward of a data_parallel that another run, or a failed "
                       "backward, has used since");
    /* A later forward may have succeeded on this replica and failed later; its saved data are
     * dropped. */
    for (int i = 0; status == 0 && i < call->m; ++i) {
        struct dp_run *replica = dp_replicas_run(p->replicas, i);
        if (replica->tape_used < call->tape[i])
            status = dp_fail(err, DP_EINVAL, "backward of data_parallel without its forward");
        else
            replica->tape_used = call->tape[i];
    }
    if (status == 0)
        status = backward_replicas(module, p, run, call, grad_out, grad_in, err);
    if (status)
        p->in_step = false;
    return status;
}
