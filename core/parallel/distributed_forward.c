/* distributed_forward.c: a forward of every rank on its batch; which ranks take part; and copies
 * between ranks before it. Source: torch.nn.parallel.DistributedDataParallel. */
#include "distributed.h"

#include <string.h>

/* ---- copies between ranks ---------------------------------------------------------------- */

int ddp_send_values(struct dp_ddp *ddp, int root, bool buffers_only, struct dp_error *err)
{
    const struct dp_replicas *r = ddp->replicas;
    struct dp_part part[DP_MAX_SLOTS];
    int member[DP_MAX_SLOTS], n = 0;
    for (int w = 0; w < ddp->world; ++w)
        member[w] = w;
    for (int j = 0; j < r->params.n; ++j) {
        const size_t bytes = dp_tensor_bytes(&r->params.item[j]->value);
        if ((buffers_only && !r->params.item[j]->buffer) || bytes == 0)
            continue;
        for (int i = 0; i < ddp->n; ++i)
            ddp->value[i * r->params.n + n] = r->replica[i].state.value[j].data;
        ddp->value_bytes[n++] = bytes;
    }
    for (int i = 0; i < ddp->n; ++i)
        part[i] = (struct dp_part){.slot = r->slot[i],
                                   .rank = ddp->first + i,
                                   .replica = i,
                                   .piece = ddp->value + i * r->params.n,
                                   .moves = r->replica[i].moves};
    const struct dp_collective all = {.member = member,
                                      .n_members = ddp->world,
                                      .part = part,
                                      .n_parts = ddp->n,
                                      .bytes = ddp->value_bytes,
                                      .n_pieces = n};
    return dp_comm_broadcast(ddp->group, &all, root, DP_PHASE_REPLICATE, err);
}

static bool has_buffers(const struct dp_ddp *d)
{
    for (int j = 0; j < d->replicas->params.n; ++j) {
        if (d->replicas->params.item[j]->buffer)
            return true;
    }
    return false;
}

/* Moves the inputs of the caller to their ranks, all together. Those that are already there stay.
 */
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

static void set_active(struct dp_ddp *d, const bool everyone[])
{
    for (int w = 0; w < d->world; ++w)
        d->everyone[w] = !everyone || everyone[w];
    for (int r = 0; r < d->n; ++r)
        d->rank[r].active = d->everyone[d->first + r];
}

/* Sends the parameters and buffers of the rank that joined last. */
static int end_join(struct dp_ddp *d, struct dp_error *err)
{
    const int status = ddp_send_values(d, d->last, false, err);
    if (status)
        return status;
    d->joining = false;
    set_active(d, NULL);
    return 0;
}

/* Finds which ranks of the world have a batch; each process knows only its ranks. */
static int ask_everyone(struct dp_ddp *d, const bool active[], bool everyone[],
                        struct dp_error *err)
{
    for (int r = 0; r < d->n; ++r) {
        if (active[r] && d->joining && !d->rank[r].active)
            return dp_fail(err, DP_EINVAL, "rank %d has a batch again: the join has not ended",
                           d->first + r);
    }
    for (int w = 0; w < d->world; ++w)
        d->votes[w] = w >= d->first && w - d->first < d->n && active[w - d->first];
    const int status = dp_comm_allreduce_max(d->group, d->votes, d->world, err);
    for (int w = 0; w < d->world; ++w)
        everyone[w] = d->votes[w] != 0;
    return status;
}

/* Sets the ranks that take part. *none: no rank has a batch, which ends the join. */
static int enter_join(struct dp_ddp *d, const bool active[], bool *none, struct dp_error *err)
{
    bool everyone[DP_MAX_SLOTS];
    int highest = -1;
    *none = false;
    if (!active)
        return d->joining ? end_join(d, err) : 0;
    const int status = ask_everyone(d, active, everyone, err);
    if (status)
        return status;
    for (int w = 0; w < d->world; ++w)
        highest = everyone[w] ? w : highest;
    *none = highest < 0;
    if (*none) {
        d->last = d->joining ? d->last : d->world - 1;
        return end_join(d, err);
    }
    d->joining = true;
    d->last = highest;
    set_active(d, everyone);
    return 0;
}

/* ---- forward ----------------------------------------------------------------------------- */

struct pass {
    struct dp_ddp *ddp;
    struct ddp_call *call;
    struct dp_tensor *out;
};

static int forward_rank(int r, void *arg, struct dp_error *err)
{
    const struct pass *f = arg;
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

/* The call is in the memory of the runs until their reset. */
static int open_call(struct dp_ddp *d, const struct dp_tensor in[], int n_in,
                     struct ddp_call **call, struct dp_error *err)
{
    void *memory = NULL;
    const size_t bytes = (size_t)d->n_train * sizeof(int);
    int status = n_in < 0 || n_in > DP_MAX_IO
                     ? dp_fail(err, DP_EINVAL, "%d inputs: 0 to %d", n_in, DP_MAX_IO)
                     : dp_run_scratch(d->replicas->replica[0].run, sizeof **call, &memory, err);
    struct ddp_call *c = memory;
    if (status == 0)
        status = dp_run_scratch(d->replicas->replica[0].run, (size_t)d->world * sizeof *c->everyone,
                                &memory, err);
    if (status)
        return status;
    c->everyone = memory;
    memcpy(c->everyone, d->everyone, (size_t)d->world * sizeof *c->everyone);
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
                return dp_fail(err, DP_EINVAL, "input %d of rank %d is not a tensor", k,
                               d->first + r);
        }
    }
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
            return dp_fail(err, DP_ESHAPE, "rank %d has %d outputs, rank %d has %d", d->first + r,
                           call->rank[r].n_out, d->first + first, call->rank[first].n_out);
        first = first < 0 ? r : first;
    }
    *n_out = first < 0 ? 0 : call->rank[first].n_out;
    return 0;
}

static int forward_all(struct dp_ddp *d, struct ddp_call *call, struct dp_tensor out[], int *n_out,
                       struct dp_error *err)
{
    struct pass f = {d, call, out};
    const bool grad = d->replicas->replica[0].run->grad;
    const bool send = d->send_buffers && !d->config.keep_buffers && has_buffers(d);
    size_t mark[DP_MAX_SLOTS];
    int status = send ? ddp_send_values(d, d->joining ? d->last : 0, true, err) : 0;
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

static int forward_forward_all(struct dp_ddp *ddp, const struct dp_tensor in[], int n_in,
                               const bool active[], struct dp_tensor out[], int *n_out,
                               struct dp_error *err)
{
    struct ddp_call *call = NULL;
    bool none;
    int status = dp_replicas_check(ddp->replicas, err);
    /* The base may have been moved away and back. */
    for (int j = 0; status == 0 && j < ddp->replicas->params.n; ++j)
        ddp->replicas->replica[0].state.value[j] = ddp->replicas->params.item[j]->value;
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

int dp_ddp_forward(struct dp_ddp *ddp, const struct dp_tensor in[], int n_in, const bool active[],
                   struct dp_tensor out[], int *n_out, struct dp_error *err)
{
    return ddp_done(ddp, forward_forward_all(ddp, in, n_in, active, out, n_out, err));
}
