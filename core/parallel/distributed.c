/* distributed.c: ranks and their forwards. Source: torch.nn.parallel.DistributedDataParallel. */
#include "distributed.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

uint64_t ddp_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC_RAW, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

float *ddp_grads(const struct dp_ddp *ddp, int rank)
{
    return ddp->replicas->replica[rank].grads->memory;
}

struct dp_slot *ddp_slot(const struct dp_ddp *ddp, int rank)
{
    return ddp->replicas->slot[rank];
}

int ddp_tasks(struct dp_ddp *ddp, enum dp_phase phase,
              int (*step)(int r, void *arg, struct dp_error *err), void *arg, struct dp_error *err)
{
    struct dp_tasks tasks = {
        .group = ddp->group, .n = ddp->n, .phase = phase, .step = step, .arg = arg};
    memcpy(tasks.slot, ddp->replicas->slot, sizeof tasks.slot);
    return dp_tasks_run(&tasks, err);
}

/* ---- opening ----------------------------------------------------------------------------- */

static int check_slots(struct dp_group *group, struct dp_slot *const slots[], int n,
                       struct dp_error *err)
{
    if (n < 1 || n > DP_MAX_SLOTS)
        return dp_fail(err, DP_EINVAL, "%d ranks: 1 to %d", n, DP_MAX_SLOTS);
    for (int i = 0; i < n; ++i) {
        if (!slots[i] || slots[i]->group != group || dp_is_host(slots[i]))
            return dp_fail(err, DP_EINVAL, "rank %d is not on a device of this group", i);
        for (int j = 0; j < i; ++j) {
            if (slots[j] == slots[i])
                return dp_fail(err, DP_EINVAL, "ranks %d and %d are both on %s", j, i,
                               slots[i]->info.name);
        }
    }
    return 0;
}

static void *zeroed(int n, size_t bytes)
{
    return calloc((size_t)n + 1, bytes);
}

static bool is_trained(const struct dp_param *param)
{
    return !param->frozen && !param->buffer;
}

static int list_trained(struct dp_ddp *d, struct dp_error *err)
{
    const struct dp_param_list *params = &d->replicas->params;
    d->train = zeroed(params->n, sizeof *d->train);
    d->train_of = zeroed(params->n, sizeof *d->train_of);
    if (!d->train || !d->train_of)
        return dp_fail(err, DP_ENOMEM, "no memory for ranks");
    for (int j = 0; j < params->n; ++j) {
        const struct dp_param *p = params->item[j];
        const struct dp_tensor *grad = &d->replicas->replica[0].state.grad[j];
        d->train_of[j] = -1;
        if (!is_trained(p))
            continue;
        if (p->value.dtype != DP_F32)
            return dp_fail(err, DP_EINVAL, "parameter %d '%s' is not of 32-bit floats", j, p->name);
        d->train_of[j] = d->n_train;
        d->train[d->n_train++] = (struct ddp_train){
            j, (size_t)((const float *)grad->data - ddp_grads(d, 0)), dp_tensor_count(grad), 0};
    }
    if (d->n_train == 0)
        return dp_fail(err, DP_EINVAL, "the module has no parameter to train: nothing to reduce");
    return 0;
}

static int open_rank(struct dp_ddp *d, int r, struct dp_error *err)
{
    struct ddp_rank *rank = &d->rank[r];
    struct replica *replica = &d->replicas->replica[r];
    rank->watch = (struct dp_watch){ddp_watch_forward, ddp_watch_backward};
    rank->ddp = d;
    rank->number = r;
    rank->active = true;
    rank->open = zeroed(d->n_train, sizeof *rank->open);
    rank->ready = zeroed(d->n_train, sizeof *rank->ready);
    rank->touched = zeroed(d->replicas->params.n, sizeof *rank->touched);
    rank->used = zeroed(d->n_train, sizeof *rank->used);
    rank->left = zeroed(d->n_train, sizeof *rank->left);
    rank->times = zeroed(d->n_train, sizeof *rank->times);
    rank->moving = zeroed(d->n_train, sizeof *rank->moving);
    if (!rank->open || !rank->ready || !rank->touched || !rank->used || !rank->left ||
        !rank->times || !rank->moving)
        return dp_fail(err, DP_ENOMEM, "no memory for rank %d", r);
    replica->state.touched = rank->touched;
    replica->run->watch = &rank->watch;
    return 0;
}

static int open_all(struct dp_ddp *d, struct dp_slot *const slots[], int n, struct dp_error *err)
{
    int status = check_slots(d->group, slots, n, err);
    if (status == 0)
        status = dp_replicas_open(d->module, slots, n, &d->replicas, err);
    if (status == 0)
        status = dp_replicate(d->replicas, n, err);
    if (status == 0)
        status = list_trained(d, err);
    if (status)
        return status;
    d->rank = calloc((size_t)n, sizeof *d->rank);
    if (!d->rank)
        return dp_fail(err, DP_ENOMEM, "no memory for %d ranks", n);
    d->n = n;
    for (int r = 0; status == 0 && r < n; ++r)
        status = open_rank(d, r, err);
    if (status == 0)
        status = ddp_buckets_open(d, err);
    return status ? status : ddp_comm_open(d, err);
}

int dp_ddp_open(struct dp_module *module, struct dp_slot *const slots[], int n,
                const struct dp_ddp_config *config, struct dp_ddp **ddp, struct dp_error *err)
{
    struct dp_ddp *d = calloc(1, sizeof *d);
    if (!d)
        return dp_fail(err, DP_ENOMEM, "no memory for DistributedDataParallel");
    d->group = dp_module_group(module);
    d->module = module;
    d->config = *config;
    d->send_buffers = true;
    const int status = open_all(d, slots, n, err);
    if (status) {
        dp_ddp_close(d);
        return status;
    }
    *ddp = d;
    return 0;
}

void dp_ddp_close(struct dp_ddp *ddp)
{
    if (!ddp)
        return;
    ddp_comm_close(ddp->comm);
    dp_group_wait(ddp->group, NULL);
    for (int r = 0; r < ddp->n; ++r) {
        struct ddp_rank *rank = &ddp->rank[r];
        free(rank->open);
        free(rank->ready);
        free(rank->touched);
        free(rank->used);
        free(rank->left);
        free(rank->times);
        free(rank->moving);
        dp_block_release(rank->velocity);
        dp_block_release(rank->rate);
    }
    ddp_buckets_close(ddp);
    free(ddp->rank);
    free(ddp->train);
    free(ddp->train_of);
    dp_replicas_close(ddp->replicas);
    free(ddp);
}

int dp_ddp_ranks(const struct dp_ddp *ddp)
{
    return ddp->n;
}

void dp_ddp_reset(struct dp_ddp *ddp)
{
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

/* ---- copies between ranks ---------------------------------------------------------------- */

/* Neighbours on both sides travel as one. */
static int add_move(struct dp_move move[], int n, const struct dp_tensor *from,
                    const struct dp_tensor *to)
{
    const size_t bytes = dp_tensor_bytes(from);
    struct dp_copy *last = n > 0 ? &move[n - 1].copy : NULL;
    if (last && (const char *)last->src + last->width == from->data &&
        (char *)last->dst + last->width == to->data) {
        last->width += bytes;
        last->src_pitch = last->dst_pitch = last->width;
        return n;
    }
    move[n] =
        (struct dp_move){to->slot, from->slot, {to->data, from->data, bytes, 1, bytes, bytes}};
    return n + 1;
}

int ddp_send(struct dp_ddp *ddp, int src, bool buffers_only, struct dp_error *err)
{
    struct dp_replicas *r = ddp->replicas;
    struct dp_moves moves[DP_MAX_SLOTS];
    for (int i = 0; i < ddp->n; ++i) {
        struct dp_move *move = r->replica[i].moves;
        int n = 0;
        for (int j = 0; i != src && j < r->params.n; ++j) {
            const struct dp_tensor *from = &r->replica[src].state.value[j];
            const struct dp_tensor *to = &r->replica[i].state.value[j];
            const size_t bytes = dp_tensor_bytes(from);
            if ((buffers_only && !r->params.item[j]->buffer) || bytes == 0)
                continue;
            n = add_move(move, n, from, to);
        }
        moves[i] = (struct dp_moves){move, n};
    }
    const struct dp_team team = {ddp->group, r->slot, ddp->n};
    return dp_comm_move(&team, moves, DP_PHASE_REPLICATE, err);
}

static bool has_buffers(const struct dp_ddp *d)
{
    for (int j = 0; j < d->replicas->params.n; ++j) {
        if (d->replicas->params.item[j]->buffer)
            return true;
    }
    return false;
}

/* The caller's inputs to their ranks, all at once; those that are there already stay. */
static int move_inputs(struct dp_ddp *d, struct ddp_call *call, struct dp_error *err)
{
    struct dp_moves moves[DP_MAX_SLOTS];
    int status = 0, total = 0;
    for (int r = 0; status == 0 && r < d->n; ++r) {
        struct dp_run *run = d->replicas->replica[r].run;
        void *memory = NULL;
        moves[r] = (struct dp_moves){NULL, 0};
        status = dp_run_scratch(run, DP_MAX_IO * sizeof *moves->move, &memory, err);
        struct dp_move *move = memory;
        for (int k = 0; status == 0 && call->active[r] && k < call->n_in; ++k) {
            const struct dp_tensor *from = &call->rank[r].in[k];
            struct dp_tensor *to = &call->rank[r].moved[k];
            const size_t bytes = dp_tensor_bytes(from);
            *to = *from;
            if (from->slot == run->slot)
                continue;
            status = dp_run_memory(run, run->slot, bytes, &to->data, err);
            to->slot = run->slot;
            move[moves[r].n] = (struct dp_move){
                to->slot, from->slot, {to->data, from->data, bytes, 1, bytes, bytes}};
            moves[r].n += bytes > 0;
        }
        moves[r].move = move;
        total += moves[r].n;
    }
    const struct dp_team team = {d->group, d->replicas->slot, d->n};
    return status || total == 0 ? status : dp_comm_move(&team, moves, DP_PHASE_SCATTER, err);
}

/* ---- join -------------------------------------------------------------------------------- */

/* Parameters and buffers of the last rank to join. */
static int end_join(struct dp_ddp *d, struct dp_error *err)
{
    const int status = ddp_send(d, d->last, false, err);
    if (status)
        return status;
    d->joining = false;
    for (int r = 0; r < d->n; ++r)
        d->rank[r].active = true;
    return 0;
}

/* Sets who takes part. *none: nobody has a batch, which is the end. */
static int enter_join(struct dp_ddp *d, const bool active[], bool *none, struct dp_error *err)
{
    int n = 0, highest = -1;
    *none = false;
    if (!active)
        return d->joining ? end_join(d, err) : 0;
    for (int r = 0; r < d->n; ++r) {
        if (active[r] && d->joining && !d->rank[r].active)
            return dp_fail(err, DP_EINVAL, "rank %d has a batch again: the join has not ended", r);
        n += active[r];
        highest = active[r] ? r : highest;
    }
    *none = n == 0;
    if (n == 0) {
        d->last = d->joining ? d->last : d->n - 1;
        return end_join(d, err);
    }
    d->joining = true;
    d->last = highest;
    for (int r = 0; r < d->n; ++r)
        d->rank[r].active = active[r];
    return 0;
}

/* ---- forward ----------------------------------------------------------------------------- */

struct forward {
    struct dp_ddp *ddp;
    struct ddp_call *call;
    struct dp_tensor *out;
};

static int forward_rank(int r, void *arg, struct dp_error *err)
{
    const struct forward *f = arg;
    struct dp_ddp *d = f->ddp;
    struct dp_run *run = d->replicas->replica[r].run;
    if (!f->call->active[r])
        return 0;
    d->rank[r].uses = f->call->rank[r].uses;
    const int status = dp_forward(d->module, run, f->call->rank[r].moved, f->call->n_in,
                                  &f->out[r * DP_MAX_IO], &f->call->rank[r].n_out, err);
    f->call->rank[r].tape = run->tape_used;
    return status;
}

/* In the memory of the runs, until their reset. */
static int open_call(struct dp_ddp *d, const struct dp_tensor in[], int n_in,
                     struct ddp_call **call, struct dp_error *err)
{
    void *memory = NULL;
    const size_t bytes = (size_t)d->n_train * sizeof(int);
    int status = n_in < 0 || n_in > DP_MAX_IO
                     ? dp_fail(err, DP_EINVAL, "%d inputs: 0 to %d", n_in, DP_MAX_IO)
                     : dp_run_scratch(d->replicas->replica[0].run, sizeof **call, &memory, err);
    struct ddp_call *c = memory;
    for (int r = 0; status == 0 && r < d->n; ++r) {
        status = dp_run_scratch(d->replicas->replica[r].run, bytes, &memory, err);
        if (status)
            return status;
        c->rank[r].uses = memory;
        memset(memory, 0, bytes);
        c->active[r] = d->rank[r].active;
        c->rank[r].n_out = 0;
        for (int k = 0; c->active[r] && k < n_in; ++k) {
            c->rank[r].in[k] = in[r * n_in + k];
            if (!c->rank[r].in[k].slot)
                return dp_fail(err, DP_EINVAL, "input %d of rank %d is no tensor", k, r);
        }
    }
    if (status)
        return status;
    c->n_in = n_in;
    c->sync = !d->no_sync;
    *call = c;
    return 0;
}

static int check_outputs(const struct dp_ddp *d, const struct ddp_call *call, int *n_out,
                         struct dp_error *err)
{
    int first = -1;
    for (int r = 0; r < d->n; ++r) {
        if (!call->active[r])
            continue;
        if (first >= 0 && call->rank[r].n_out != call->rank[first].n_out)
            return dp_fail(err, DP_ESHAPE, "rank %d has %d outputs, rank %d has %d", r,
                           call->rank[r].n_out, first, call->rank[first].n_out);
        first = first < 0 ? r : first;
    }
    *n_out = call->rank[first].n_out;
    return 0;
}

/* The base may have been moved away and back. */
static int check_base(struct dp_ddp *d, struct dp_error *err)
{
    const int status = dp_replicas_check(d->replicas, err);
    for (int j = 0; status == 0 && j < d->replicas->params.n; ++j)
        d->replicas->replica[0].state.value[j] = d->replicas->params.item[j]->value;
    return status;
}

static int forward_all(struct dp_ddp *d, struct ddp_call *call, struct dp_tensor out[], int *n_out,
                       struct dp_error *err)
{
    struct forward f = {d, call, out};
    const bool grad = d->replicas->replica[0].run->grad;
    const bool send = d->send_buffers && !d->config.keep_buffers && has_buffers(d);
    size_t mark[DP_MAX_SLOTS];
    int status = send ? ddp_send(d, d->joining ? d->last : 0, true, err) : 0;
    if (status == 0)
        status = move_inputs(d, call, err);
    if (status)
        return status;
    d->send_buffers = grad && call->sync;
    for (int r = 0; r < d->n; ++r)
        mark[r] = d->replicas->replica[r].run->tape_used;
    status = ddp_tasks(d, DP_PHASE_FORWARD, forward_rank, &f, err);
    if (status == 0)
        status = check_outputs(d, call, n_out, err);
    for (int r = 0; status && r < d->n; ++r)
        d->replicas->replica[r].run->tape_used = mark[r];
    if (status == 0 && grad) {
        call->before = d->call;
        d->call = call;
    }
    return status;
}

int dp_ddp_forward(struct dp_ddp *ddp, const struct dp_tensor in[], int n_in, const bool active[],
                   struct dp_tensor out[], int *n_out, struct dp_error *err)
{
    struct ddp_call *call = NULL;
    bool none;
    int status = check_base(ddp, err);
    if (status == 0)
        status = enter_join(ddp, active, &none, err);
    if (status)
        return status;
    if (none) {
        *n_out = 0;
        return 0;
    }
    status = open_call(ddp, in, n_in, &call, err);
    return status ? status : forward_all(ddp, call, out, n_out, err);
}
