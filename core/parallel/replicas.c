/* replicas.c: K sets of tensors for one module, with replicate and reduce. Sources:
 * torch.nn.parallel.replicate, comm.reduce_add_coalesced. */
#include "parallel.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void *zeroed(size_t count, size_t bytes)
{
    return calloc(count > 0 ? count : 1, bytes);
}

/* Fills index[id - first_id] for every parameter of the list. */
static int open_index(struct dp_replicas *r, struct dp_error *err)
{
    size_t first = SIZE_MAX, last = 0;
    for (int j = 0; j < r->params.n; ++j) {
        const size_t id = r->params.item[j]->id;
        first = id < first ? id : first;
        last = id > last ? id : last;
    }
    r->first_id = r->params.n > 0 ? first : 0;
    r->n_ids = r->params.n > 0 ? last - first + 1 : 0;
    r->index = zeroed(r->n_ids, sizeof *r->index);
    if (!r->index)
        return dp_fail(err, DP_ENOMEM, "no memory for replicas");
    for (size_t id = 0; id < r->n_ids; ++id)
        r->index[id] = -1;
    for (int j = 0; j < r->params.n; ++j)
        r->index[r->params.item[j]->id - r->first_id] = j;
    return 0;
}

static void replicas_place(const struct dp_replicas *r, const struct dp_block *block,
                           struct dp_tensor tensors[])
{
    size_t offset = 0;
    for (int j = 0; j < r->params.n; ++j) {
        tensors[j] = r->params.item[j]->grad; /* has the same shape */
        tensors[j].slot = block->slot;
        tensors[j].data = (char *)block->memory + dp_layout_add(&offset, &tensors[j]);
    }
}

static int open_replica(struct dp_replicas *r, int i, struct dp_error *err)
{
    struct replica *replica = &r->replica[i];
    struct dp_state *state = &replica->state;
    const size_t n = (size_t)r->params.n;
    size_t bytes = 0;
    for (int j = 0; j < r->params.n; ++j)
        dp_layout_add(&bytes, &r->params.item[j]->value);
    int status = dp_run_open(r->group, &replica->run, err);
    if (status == 0 && i > 0)
        status = dp_block_open(r->slot[i], bytes, &replica->values, err);
    if (status == 0)
        status = dp_block_open(r->slot[i], bytes, &replica->grads, err);
    if (status)
        return status;
    *state = (struct dp_state){r->index,
                               r->first_id,
                               r->n_ids,
                               zeroed(n, sizeof *state->value),
                               zeroed(n, sizeof *state->grad),
                               zeroed(n, sizeof *state->has_grad),
                               NULL};
    replica->moves = zeroed(n, sizeof *replica->moves);
    if (!state->value || !state->grad || !state->has_grad || !replica->moves)
        return dp_fail(err, DP_ENOMEM, "no memory for replicas");
    if (replica->values)
        replicas_place(r, replica->values, state->value);
    replicas_place(r, replica->grads, state->grad);
    replica->run->slot = r->slot[i];
    replica->run->replica = i;
    replica->run->state = state;
    return 0;
}

/* Memory belongs to the NUMA node of the thread that writes it first. That is the worker of the
 * slot, even if another thread copies values there later. NaN shows a replica that is read before
 * dp_replicate. */
static int touch_values(int i, void *arg, struct dp_error *err)
{
    const struct dp_replicas *r = arg;
    size_t bytes = 0;
    if (!r->replica[i].values)
        return 0;
    for (int j = 0; j < r->params.n; ++j)
        dp_layout_add(&bytes, &r->params.item[j]->value);
    const struct dp_fill fill = {r->replica[i].values->memory, NAN, bytes / sizeof(float)};
    return dp_launch(&r->slot[i]->compute, DP_KERNEL_FILL, &fill, sizeof fill, err);
}

static int touch_all(struct dp_replicas *r, struct dp_error *err)
{
    struct dp_tasks tasks = {
        .group = r->group, .n = r->n, .phase = DP_PHASE_NONE, .step = touch_values, .arg = r};
    if (r->group->in_team)
        return 0; /* the workers are busy */
    memcpy(tasks.slot, r->slot, sizeof tasks.slot);
    return dp_tasks_run(&tasks, err);
}

int dp_replicas_open(struct dp_module *module, struct dp_slot *const slots[], int n,
                     struct dp_replicas **replicas, struct dp_error *err)
{
    if (n < 1 || n > DP_MAX_SLOTS)
        return dp_fail(err, DP_EINVAL, "replicas on %d slots: 1 to %d", n, DP_MAX_SLOTS);
    struct dp_replicas *r = calloc(1, sizeof *r);
    if (!r)
        return dp_fail(err, DP_ENOMEM, "no memory for replicas");
    r->group = dp_module_group(module);
    r->module = dp_module_retain(module);
    r->visits = dp_module_visits(module);
    int status = dp_param_list_open(module, &r->params, err);
    if (status == 0)
        status = open_index(r, err);
    const size_t count = (size_t)r->params.n;
    r->item = zeroed(count, sizeof *r->item);
    r->sums = zeroed(count, sizeof *r->sums);
    r->pointers = zeroed(count * (size_t)n, sizeof *r->pointers);
    if (status == 0 && (!r->item || !r->sums || !r->pointers))
        status = dp_fail(err, DP_ENOMEM, "no memory for replicas");
    for (int i = 0; status == 0 && i < n; ++i) {
        r->slot[i] = slots[i];
        r->n = i + 1;
        status = open_replica(r, i, err);
    }
    if (status == 0)
        status = touch_all(r, err);
    if (status) {
        dp_replicas_close(r);
        return status;
    }
    *replicas = r;
    return 0;
}

void dp_replicas_close(struct dp_replicas *replicas)
{
    if (!replicas)
        return;
    for (int i = 0; i < replicas->n; ++i) {
        struct replica *replica = &replicas->replica[i];
        dp_run_close(replica->run);
        dp_block_release(replica->values);
        dp_block_release(replica->grads);
        free(replica->state.value);
        free(replica->state.grad);
        free(replica->state.has_grad);
        free(replica->moves);
    }
    dp_param_list_close(&replicas->params);
    dp_module_close(replicas->module);
    free(replicas->index);
    free(replicas->item);
    free(replicas->sums);
    free(replicas->pointers);
    free(replicas);
}

struct dp_run *dp_replicas_run(struct dp_replicas *replicas, int i)
{
    return i >= 0 && i < replicas->n ? replicas->replica[i].run : NULL;
}

int dp_replicas_check(const struct dp_replicas *r, struct dp_error *err)
{
    if (dp_module_visits(r->module) != r->visits)
        return dp_fail(err, DP_EINVAL, "the module got parameters after it was wrapped");
    for (int j = 0; j < r->params.n; ++j) {
        const struct dp_param *p = r->params.item[j];
        if (p->value.slot != r->slot[0])
            return dp_fail(err, DP_EDEVICE,
                           "%s '%s' is on %s; data parallel needs the whole module on %s",
                           p->buffer ? "buffer" : "parameter", p->name, p->value.slot->info.name,
                           r->slot[0]->info.name);
    }
    return 0;
}

void dp_replicas_zero_grad(struct dp_replicas *replicas, int m)
{
    for (int i = 0; i < m; ++i) {
        for (int j = 0; j < replicas->params.n; ++j)
            replicas->replica[i].state.has_grad[j] = false;
    }
}

int dp_replicate(struct dp_replicas *replicas, int m, struct dp_error *err)
{
    struct dp_moves moves[DP_MAX_SLOTS];
    struct dp_state *base = &replicas->replica[0].state;
    int status = dp_replicas_check(replicas, err);
    if (status == 0 && (m < 1 || m > replicas->n))
        status = dp_fail(err, DP_EINVAL, "%d replicas: 1 to %d", m, replicas->n);
    if (status)
        return status;
    for (int j = 0; j < replicas->params.n; ++j)
        base->value[j] = replicas->params.item[j]->value;
    moves[0] = (struct dp_moves){NULL, 0};
    dp_replicas_zero_grad(replicas, m);
    for (int i = 0; i < m; ++i) {
        struct replica *replica = &replicas->replica[i];
        if (i > 0)
            moves[i] = (struct dp_moves){
                replica->moves, dp_coalesce_moves(base->value, replica->state.value,
                                                  replicas->params.n, SIZE_MAX, replica->moves)};
    }
    const struct dp_team team = {replicas->group, replicas->slot, m};
    return dp_comm_move(&team, moves, DP_PHASE_REPLICATE, err);
}

/* A replica that did not use the parameter adds zeros. */
static int list_summand(struct dp_replicas *r, int j, int m, struct dp_summand *item,
                        struct dp_error *err)
{
    const struct dp_param *p = r->params.item[j];
    item->dst = p->grad;
    item->accumulate = p->has_grad;
    item->src = r->pointers + (size_t)j * (size_t)r->n;
    for (int i = 0; i < m; ++i) {
        const struct dp_state *state = &r->replica[i].state;
        item->src[i] = state->grad[j].data;
        if (state->has_grad[j])
            continue;
        const struct dp_zero zero = {state->grad[j].data, dp_tensor_bytes(&state->grad[j])};
        const int status = dp_launch(&r->slot[i]->compute, DP_KERNEL_ZERO, &zero, sizeof zero, err);
        if (status)
            return status;
    }
    return 0;
}

int dp_reduce(struct dp_replicas *replicas, int m, struct dp_error *err)
{
    int n = 0, status = dp_replicas_check(replicas, err);
    if (status == 0 && (m < 1 || m > replicas->n))
        status = dp_fail(err, DP_EINVAL, "%d replicas: 1 to %d", m, replicas->n);
    for (int j = 0; status == 0 && j < replicas->params.n; ++j) {
        if (!replicas->params.item[j]->frozen && !replicas->params.item[j]->buffer)
            status = list_summand(replicas, j, m, &replicas->item[n++], err);
    }
    if (status) {
        dp_group_wait(replicas->group, NULL);
        return status;
    }
    const int sums = dp_coalesce_sums(replicas->item, n, m, SIZE_MAX, replicas->sums);
    const struct dp_team team = {replicas->group, replicas->slot, m};
    status = dp_comm_reduce(&team, replicas->slot[0], replicas->sums, sums, DP_PHASE_REDUCE, err);
    for (int j = 0; status == 0 && j < replicas->params.n; ++j) {
        struct dp_param *p = replicas->params.item[j];
        p->has_grad = p->has_grad || (!p->frozen && !p->buffer);
    }
    return status;
}
