/* run.c: executes modules. A run owns the memory of a step and the tape, on which each forward
 * saves data for its backward. The last entry is on top. */
#include "module.h"

#include <stdlib.h>
#include <string.h>

/* A mark follows each record on the tape. The module may have been freed when a wrong backward
 * comes, so only its address and its kind (a literal) are used. */
struct tape_mark {
    const struct dp_module *module;
    const char *kind;
    size_t bytes;
};

/* The data that an outermost forward leaves for dp_backward. */
struct frame {
    uint64_t versions; /* sum over its parameters; versions only grow */
    int n_in, n_out;
    struct dp_tensor out[DP_MAX_IO];
};

int dp_run_open(struct dp_group *group, struct dp_run **run, struct dp_error *err)
{
    struct dp_run *r = calloc(1, sizeof *r);
    if (!r)
        return dp_fail(err, DP_ENOMEM, "no memory for a run");
    r->group = group;
    r->serial = group->next_run++;
    r->slot = &group->host;
    r->replica = -1;
    r->grad = r->train = true;
    r->stack[0].slot = &group->host;
    for (int i = 0; i < group->size; ++i)
        r->stack[i + 1].slot = group->slot[i];
    *run = r;
    return 0;
}

void dp_run_close(struct dp_run *run)
{
    if (!run)
        return;
    dp_group_wait(run->group, NULL);
    for (int i = 0; i <= run->group->size; ++i)
        dp_stack_close(&run->stack[i]);
    free(run->tape);
    free(run);
}

void dp_run_reset(struct dp_run *run)
{
    for (int i = 0; i <= run->group->size; ++i)
        dp_stack_reset(&run->stack[i]);
    run->tape_used = 0;
    ++run->step;
}

void dp_run_grad_mode(struct dp_run *run, bool on)
{
    run->grad = on;
}

void dp_run_train_mode(struct dp_run *run, bool on)
{
    run->train = on;
}

bool dp_run_has_grad(const struct dp_run *run)
{
    return run->grad;
}

bool dp_run_is_training(const struct dp_run *run)
{
    return run->train;
}

int dp_run_replica(const struct dp_run *run)
{
    return run->replica;
}

struct dp_slot *dp_run_slot(const struct dp_run *run)
{
    return run->slot;
}

int dp_run_memory(struct dp_run *run, const struct dp_slot *slot, size_t bytes, void **memory,
                  struct dp_error *err)
{
    if (slot->group != run->group)
        return dp_fail(err, DP_EINVAL, "%s is of another group than the run", slot->info.name);
    return dp_stack_take(&run->stack[slot->info.index + 1], bytes, memory, err);
}

int dp_run_scratch(struct dp_run *run, size_t bytes, void **memory, struct dp_error *err)
{
    return dp_run_memory(run, &run->group->host, bytes, memory, err);
}

int dp_run_tensor(struct dp_run *run, struct dp_slot *slot, enum dp_dtype dtype, int ndim,
                  const size_t dim[], struct dp_tensor *tensor, struct dp_error *err)
{
    const int status = dp_tensor_shape(slot, dtype, ndim, dim, tensor, err);
    return status ? status : dp_run_memory(run, slot, dp_tensor_bytes(tensor), &tensor->data, err);
}

int dp_run_save(struct dp_run *run, const struct dp_module *module, const void *record,
                size_t bytes, struct dp_error *err)
{
    const struct tape_mark mark = {module, module->ops->kind, bytes};
    const size_t need = run->tape_used + bytes + sizeof mark;
    if (need > run->tape_bytes) {
        unsigned char *grown = realloc(run->tape, 2 * need);
        if (!grown)
            return dp_fail(err, DP_ENOMEM, "no memory to save a forward of %s", module->ops->kind);
        run->tape = grown;
        run->tape_bytes = 2 * need;
    }
    memcpy(run->tape + run->tape_used, record, bytes);
    memcpy(run->tape + run->tape_used + bytes, &mark, sizeof mark);
    run->tape_used = need;
    return 0;
}

int dp_run_restore(struct dp_run *run, const struct dp_module *module, void *record, size_t bytes,
                   struct dp_error *err)
{
    struct tape_mark mark;
    if (run->tape_used < sizeof mark)
        return dp_fail(err, DP_EINVAL, "backward of %s without a forward in grad mode",
                       module->ops->kind);
    memcpy(&mark, run->tape + run->tape_used - sizeof mark, sizeof mark);
    if (mark.module != module || mark.bytes != bytes)
        return dp_fail(err, DP_EINVAL, "backward of %s, but the last forward was one of %s%s",
                       module->ops->kind,
                       strcmp(mark.kind, module->ops->kind) == 0 ? "another " : "", mark.kind);
    run->tape_used -= sizeof mark + bytes;
    memcpy(record, run->tape + run->tape_used, bytes);
    return 0;
}

/* Returns -1 for tensors of the base: outside of replicas, and for parameters that are not in the
 * tree. */
static int state_entry(const struct dp_run *run, const struct dp_param *param)
{
    const struct dp_state *state = run->state;
    if (!state || param->id < state->first_id || param->id - state->first_id >= state->n_ids)
        return -1;
    return state->index[param->id - state->first_id];
}

const struct dp_tensor *dp_run_value(struct dp_run *run, const struct dp_param *param)
{
    const int i = state_entry(run, param);
    return i >= 0 ? &run->state->value[i] : &param->value;
}

void dp_run_grad(struct dp_run *run, struct dp_param *param, struct dp_tensor *grad,
                 bool *accumulate)
{
    bool *has = &param->has_grad;
    *grad = param->grad;
    const int i = state_entry(run, param);
    if (i >= 0) {
        has = &run->state->has_grad[i];
        *grad = run->state->grad[i];
    }
    if (i >= 0 && run->state->touched)
        run->state->touched[i] = true;
    *accumulate = *has;
    *has = true;
}

int dp_run_call(struct dp_run *run, struct dp_slot *slot, void (*function)(const void *args),
                const void *args, size_t bytes, const struct dp_use uses[], int n_uses,
                struct dp_error *err)
{
    (void)run;
    if (bytes > DP_CALL_BYTES)
        return dp_fail(err, DP_EINVAL, "arguments of %zu bytes: at most %d", bytes, DP_CALL_BYTES);
    if (n_uses < 0 || n_uses > DP_CALL_USES)
        return dp_fail(err, DP_EINVAL, "%d uses of memory: 0 to %d", n_uses, DP_CALL_USES);
    for (int i = 0; i < n_uses; ++i) {
        if (bytes < sizeof(void *) || uses[i].place > bytes - sizeof(void *))
            return dp_fail(err, DP_EINVAL, "a pointer at byte %zu of %zu", uses[i].place, bytes);
    }
    const struct dp_host_call call = {function, args, bytes, uses, n_uses};
    return slot->ops->call(&slot->compute, &call, err);
}

int dp_same_slot(const char *what, const struct dp_tensor *a, const char *other,
                 const struct dp_tensor *b, struct dp_error *err)
{
    if (a->slot == b->slot)
        return 0;
    return dp_fail(err, DP_EDEVICE, "%s is on %s, %s is on %s", what, a->slot->info.name, other,
                   b->slot->info.name);
}

int dp_check_inputs(const char *kind, const struct dp_tensor in[], int n_in, int least, int most,
                    struct dp_error *err)
{
    if (n_in < least || n_in > most)
        return dp_fail(err, DP_EINVAL, "%s takes %d to %d inputs, got %d", kind, least, most, n_in);
    for (int i = 0; i < n_in; ++i) {
        if (!in[i].slot)
            return dp_fail(err, DP_EINVAL, "input %d of %s is not a tensor", i, kind);
    }
    return 0;
}

/* When an error is reported, nothing may still use the memory of this run. */
static void drain(struct dp_run *run)
{
    if (run->replica < 0)
        dp_group_wait(run->group, NULL);
    else
        dp_slot_wait(run->slot, NULL);
}

static uint64_t versions_of(const struct dp_module *module)
{
    uint64_t sum = 0;
    for (int i = 0; i < module->n_params; ++i)
        sum += module->params[i]->buffer ? 0 : module->params[i]->version;
    for (int i = 0; i < module->n_children; ++i)
        sum += versions_of(module->children[i]);
    return sum;
}

/* The slots on which an outermost forward or backward may hold launches back. Inside a replica it
 * is the slot of the replica, for any run. */
static int held_slots(struct dp_run *run, struct dp_slot *const **slots)
{
    const bool replica = run->replica >= 0;
    *slots = replica ? &run->slot : run->group->slot;
    return replica ? 1 : run->group->in_team ? 0 : run->group->size;
}

static int call_forward(struct dp_module *module, struct dp_run *run, const struct dp_tensor in[],
                        int n_in, struct dp_tensor out[], int *n_out, struct dp_error *err)
{
    const int status = module->ops->forward(module, run, in, n_in, out, n_out, err);
    if (status == 0 && run->watch && run->grad)
        run->watch->forward(run->watch, module);
    return status;
}

static int call_backward(struct dp_module *module, struct dp_run *run,
                         const struct dp_tensor grad_out[], int n_out, struct dp_tensor grad_in[],
                         int n_in, struct dp_error *err)
{
    for (int k = 0; k < n_in; ++k)
        grad_in[k] = (struct dp_tensor){0};
    const int status = module->ops->backward(module, run, grad_out, n_out, grad_in, n_in, err);
    if (status == 0 && run->watch)
        run->watch->backward(run->watch, module);
    return status;
}

static int forward_outermost(struct dp_module *module, struct dp_run *run,
                             const struct dp_tensor in[], int n_in, struct dp_tensor out[],
                             int *n_out, struct dp_error *err)
{
    const size_t mark = run->tape_used;
    struct frame frame; /* not cleared: only the first n_out of out are read */
    struct dp_slot *const *slots;
    const int n_slots = held_slots(run, &slots);
    dp_slots_hold(slots, n_slots);
    frame.n_in = n_in;
    frame.n_out = 0;
    int status = call_forward(module, run, in, n_in, out, &frame.n_out, err);
    const int issued = dp_slots_issue(slots, n_slots, err);
    status = status ? status : issued;
    if (status == 0 && run->grad) {
        memcpy(frame.out, out, (size_t)frame.n_out * sizeof *out);
        frame.versions = versions_of(module);
        status = dp_run_save(run, module, &frame, sizeof frame, err);
    }
    if (status) {
        run->tape_used = mark;
        drain(run);
        return status;
    }
    *n_out = frame.n_out;
    return 0;
}

int dp_forward(struct dp_module *module, struct dp_run *run, const struct dp_tensor in[], int n_in,
               struct dp_tensor out[], int *n_out, struct dp_error *err)
{
    int status = dp_check_inputs(module->ops->kind, in, n_in, 0, DP_MAX_IO, err);
    if (status)
        return status;
    if (run->depth > 0)
        return call_forward(module, run, in, n_in, out, n_out, err);
    ++run->depth;
    status = forward_outermost(module, run, in, n_in, out, n_out, err);
    --run->depth;
    return status;
}

/* Checks the arguments of backward against those of forward. */
static int check_backward(const struct dp_module *module, const struct frame *frame,
                          const struct dp_tensor grad_out[], int n_grad_out,
                          const struct dp_tensor grad_in[], int n_in, struct dp_error *err)
{
    if ((n_grad_out != 0 && n_grad_out != frame->n_out) || (grad_in && n_in != frame->n_in))
        return dp_fail(err, DP_EINVAL,
                       "backward of %s: %d gradients out and %d in, it has %d and %d",
                       module->ops->kind, n_grad_out, n_in, frame->n_out, frame->n_in);
    if (frame->versions != versions_of(module))
        return dp_fail(err, DP_EINVAL,
                       "backward of %s: one of its parameters was changed after the forward",
                       module->ops->kind);
    char got[DP_SHAPE_TEXT], want[DP_SHAPE_TEXT];
    for (int i = 0; i < n_grad_out; ++i) {
        if (!grad_out[i].slot)
            continue;
        if (!dp_same_shape(&grad_out[i], &frame->out[i]))
            return dp_fail(err, DP_ESHAPE, "gradient %d has shape %s, the output had %s", i,
                           dp_shape_text(&grad_out[i], got), dp_shape_text(&frame->out[i], want));
        const int status =
            dp_same_slot("the gradient", &grad_out[i], "the output", &frame->out[i], err);
        if (status)
            return status;
    }
    return 0;
}

static int backward_outermost(struct dp_module *module, struct dp_run *run,
                              const struct dp_tensor grad_out[], int n_grad_out,
                              struct dp_tensor grad_in[], int n_in, struct dp_error *err)
{
    struct frame frame;
    struct dp_tensor ones[DP_MAX_IO], unwanted[DP_MAX_IO];
    const size_t mark = run->tape_used;
    int status = dp_run_restore(run, module, &frame, sizeof frame, err);
    if (status)
        return status;
    status = check_backward(module, &frame, grad_out, n_grad_out, grad_in, n_in, err);
    if (status == 0 && n_grad_out == 0 && frame.n_out > 0) {
        const struct dp_tensor *loss = &frame.out[0];
        status = dp_run_tensor(run, loss->slot, DP_F32, loss->ndim, loss->dim, &ones[0], err);
        if (status == 0) {
            const struct dp_fill fill = {ones[0].data, 1.0f, dp_tensor_count(&ones[0])};
            status = dp_launch(&loss->slot->compute, DP_KERNEL_FILL, &fill, sizeof fill, err);
        }
        for (int i = 1; i < frame.n_out; ++i)
            ones[i] = (struct dp_tensor){0};
        grad_out = ones;
    }
    if (status) {
        run->tape_used = mark;
        return status;
    }
    return call_backward(module, run, grad_out, frame.n_out, grad_in ? grad_in : unwanted,
                         frame.n_in, err);
}

int dp_backward(struct dp_module *module, struct dp_run *run, const struct dp_tensor grad_out[],
                int n_grad_out, struct dp_tensor grad_in[], int n_in, struct dp_error *err)
{
    if (run->depth > 0)
        return call_backward(module, run, grad_out, n_grad_out, grad_in, n_in, err);
    struct dp_slot *const *slots;
    const int n_slots = held_slots(run, &slots);
    ++run->depth;
    dp_slots_hold(slots, n_slots);
    int status = backward_outermost(module, run, grad_out, n_grad_out, grad_in, n_in, err);
    const int issued = dp_slots_issue(slots, n_slots, err);
    status = status ? status : issued;
    --run->depth;
    if (status)
        drain(run);
    return status;
}
