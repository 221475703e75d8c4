/* apply.c: parallel_apply. Every call has its own module and its own run. */
#include "reference.h"

/* One call: its module on its device, and the run with its only replica. */
struct applied {
    struct layer *description;
    struct world world;
    struct dp_module *module;
    struct dp_replicas *replicas;
    struct dp_tensor in[IMPL_MAX_IO], out[DP_MAX_IO];
};

static int apply_prepare(struct work *w, struct impl_apply *op, int i, struct applied *a,
                         struct dp_call *call)
{
    const struct impl_call *from = &op->calls[i];
    struct dp_slot *slot = slot_of(w->session->group, from->device, &w->error);
    int status = 0;

    a->world = (struct world){.group = w->session->group, .trace = op->trace, .first_replica = i};
    if (!slot)
        return w->error.status;
    if (from->n_in < 0 || from->n_in > IMPL_MAX_IO)
        return dp_fail(&w->error, DP_EINVAL, "%d inputs: 0 to %d", from->n_in, IMPL_MAX_IO);
    a->description = model_read(w->session->group, from->description, &w->error);
    if (!a->description)
        return w->error.status;
    status = model_build(&a->world, a->description, true, &a->module, &w->error);
    if (status == 0)
        status = dp_module_to(a->module, slot, &w->error);
    if (status == 0)
        status = dp_replicas_open(a->module, &slot, 1, &a->replicas, &w->error);
    if (status == 0)
        status = dp_replicate(a->replicas, 1, &w->error);
    if (status == 0)
        status = work_put_all(w, from->in, from->n_in, a->in);
    if (status != 0)
        return status;
    *call = (struct dp_call){.module = a->module,
                             .run = dp_replicas_run(a->replicas, 0),
                             .in = a->in,
                             .n_in = from->n_in,
                             .out = a->out};
    dp_run_grad_mode(call->run, op->grad);
    dp_run_train_mode(call->run, op->train);
    return 0;
}

static int apply(struct work *w, struct impl_apply *op, struct applied *applied,
                 struct dp_call *calls)
{
    int status = 0;

    for (int i = 0; status == 0 && i < op->n; ++i)
        status = apply_prepare(w, op, i, &applied[i], &calls[i]);
    if (status != 0)
        return status;
    trace_begin(w->session, op->trace);
    status = dp_apply(calls, op->n, &w->error);
    trace_end(w->session, op->trace);
    for (int i = 0; status == 0 && i < op->n; ++i) {
        op->calls[i].n_out = calls[i].n_out;
        for (int k = 0; status == 0 && k < calls[i].n_out; ++k)
            status = tensor_get(&calls[i].out[k], &op->calls[i].out[k], &w->error);
    }
    return status;
}

int reference_apply(struct impl_session *session, struct impl_apply *op, struct impl_error *err)
{
    const bool possible = op->n >= 1 && op->n <= IMPL_MAX_DEVICES;
    const size_t n = possible ? (size_t)op->n : 0;
    struct applied *applied;
    struct dp_call *calls;
    struct work w;
    int status;

    work_begin(&w, session);
    applied = work_memory(&w, n, sizeof *applied);
    calls = work_memory(&w, n, sizeof *calls);
    if (!applied || !calls)
        return work_end(&w, w.error.status, err);
    status = possible ? apply(&w, op, applied, calls) : dp_apply(calls, op->n, &w.error);
    dp_group_wait(session->group, NULL);
    for (size_t i = 0; i < n; ++i) {
        dp_replicas_close(applied[i].replicas);
        dp_module_close(applied[i].module);
        world_close_calls(&applied[i].world);
        description_free(applied[i].description);
    }
    return work_end(&w, status, err);
}
