/* distributed_backward.c: the backwards of all ranks, and when each gradient is ready.
 *
 * A parameter is ready on a rank when every module that ran with it in the forward has ended its
 * backward, because nothing adds to its gradient after that. Parameters without a gradient are
 * found when the backward of the rank has ended; PyTorch finds them before, in its graph. */
#include "distributed.h"

#include <stdio.h>
#include <string.h>

/* ---- the observer -------------------------------------------------------------------------- */

/* The number t of a parameter, or -1 if it is not trained. */
static int train_number(const struct dp_ddp *d, const struct dp_param *param)
{
    const struct dp_replicas *r = d->replicas;
    if (param->id < r->first_id || param->id - r->first_id >= r->n_ids)
        return -1;
    const int place = r->index[param->id - r->first_id];
    return place < 0 ? -1 : d->train_of[place];
}

void ddp_watch_forward(struct dp_watch *watch, const struct dp_module *module)
{
    const struct ddp_rank *rank = (const struct ddp_rank *)watch;
    for (int i = 0; i < module->n_params; ++i) {
        const int t = train_number(rank->ddp, module->params[i]);
        if (t >= 0)
            ++rank->uses[t];
    }
}

static void mark_ready(struct ddp_rank *rank, int t)
{
    struct dp_ddp *d = rank->ddp;
    const int b = d->train[t].bucket;
    rank->ready[t] = true;
    rank->used[t] = rank->used[t] || rank->touched[d->train[t].place];
    if (!d->rebuilt && rank->number == d->team[0])
        d->arrived[d->n_arrived++] = t;
    if (--rank->left[b] > 0)
        return;
    rank->times[b].ready = dp_now_ns();
    ddp_reduce_ready(d, rank->number, b);
}

void ddp_watch_backward(struct dp_watch *watch, const struct dp_module *module)
{
    struct ddp_rank *rank = (struct ddp_rank *)watch;
    for (int i = 0; rank->counting && i < module->n_params; ++i) {
        const int t = train_number(rank->ddp, module->params[i]);
        if (t < 0 || rank->open[t] == 0 || --rank->open[t] > 0)
            continue;
        if (rank->touched[rank->ddp->train[t].place])
            mark_ready(rank, t);
    }
}

/* ---- parameters without a gradient ------------------------------------------------------- */

static int fail_unused(const struct ddp_rank *rank, struct dp_error *err)
{
    struct dp_ddp *d = rank->ddp;
    char list[160] = "", name[64];
    size_t used = 0;
    for (int t = 0; t < d->n_train; ++t) {
        if (rank->ready[t])
            continue;
        if (dp_module_param_name(d->module, d->train[t].place, name, sizeof name))
            snprintf(name, sizeof name, "?");
        if (used + strlen(name) + 24 > sizeof list) {
            snprintf(list + used, sizeof list - used, ", ...");
            break;
        }
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%d '%s'", used > 0 ? ", " : "",
                                 d->train[t].place, name);
    }
    return dp_fail(err, DP_EINVAL, "no gradient in this backward, and no find_unused: %s", list);
}

/* A gradient that a rank does not have counts as zeros. */
static int zero_missing(const struct dp_ddp *d, int r, int t, struct dp_error *err)
{
    const struct dp_state *state = &d->replicas->replica[r].state;
    const struct dp_tensor *grad = &state->grad[d->train[t].place];
    const struct dp_zero zero = {grad->data, dp_tensor_bytes(grad)};
    if (state->has_grad[d->train[t].place])
        return 0;
    return dp_launch(&ddp_slot(d, r)->compute, DP_KERNEL_ZERO, &zero, sizeof zero, err);
}

/* Handles all parameters that did not become ready during the backward. */
static int end_rank(struct ddp_rank *rank, struct dp_error *err)
{
    struct dp_ddp *d = rank->ddp;
    int status = 0;
    for (int t = 0; t < d->n_train; ++t) {
        if (!rank->ready[t] && rank->touched[d->train[t].place])
            mark_ready(rank, t);
    }
    for (int t = 0; status == 0 && t < d->n_train; ++t) {
        if (rank->ready[t])
            continue;
        if (!d->config.find_unused)
            return fail_unused(rank, err);
        status = zero_missing(d, rank->number, t, err);
        if (status == 0)
            mark_ready(rank, t);
    }
    return status;
}

/* ---- backward ---------------------------------------------------------------------------- */

struct backward {
    struct dp_ddp *ddp;
    const struct ddp_call *call;
    const struct dp_tensor *grad_out;
    int n_grad_out;
};

static int backward_rank(int r, void *arg, struct dp_error *err)
{
    struct backward *b = arg;
    struct ddp_rank *rank = &b->ddp->rank[r];
    if (!b->call->active[r])
        return 0;
    /* A module that ends in a loss gets no gradients. */
    const struct dp_tensor *grad_out =
        b->n_grad_out == 0 ? NULL : b->grad_out + (ptrdiff_t)r * b->n_grad_out;
    rank->begin = dp_now_ns();
    int status = dp_backward(b->ddp->module, b->ddp->replicas->replica[r].run, grad_out,
                             b->n_grad_out, b->ddp->grad_in[r], b->call->n_in, err);
    for (int t = 0; status == 0 && !rank->counting && t < b->ddp->n_train; ++t)
        rank->used[t] = rank->used[t] || rank->touched[b->ddp->train[t].place];
    if (status == 0 && rank->counting)
        status = end_rank(rank, err);
    rank->end = dp_now_ns();
    return status;
}

/* A later forward may have failed on other ranks; what it saved here is dropped. */
static int rewind_runs(struct dp_ddp *d, const struct ddp_call *call, struct dp_error *err)
{
    for (int r = 0; r < d->n; ++r) {
        struct dp_run *run = d->replicas->replica[r].run;
        if (!call->active[r])
            continue;
        if (run->tape_used < call->rank[r].tape)
            return dp_fail(err, DP_EINVAL, "backward of rank %d without its forward", d->first + r);
        run->tape_used = call->rank[r].tape;
    }
    return 0;
}

/* Input gradients go to the slots of the inputs. */
static int move_back(struct dp_ddp *d, const struct backward *b, struct dp_tensor grad_in[],
                     struct dp_error *err)
{
    struct dp_moves moves[DP_MAX_SLOTS];
    const int n_in = b->call->n_in;
    int status = 0, total = 0;
    for (int r = 0; status == 0 && r < d->n; ++r) {
        struct dp_run *run = d->replicas->replica[r].run;
        void *memory = NULL;
        status = dp_run_scratch(run, DP_MAX_IO * sizeof *moves->move, &memory, err);
        struct dp_move *move = memory;
        moves[r] = (struct dp_moves){move, 0};
        for (int k = 0; status == 0 && k < n_in; ++k) {
            const struct dp_tensor *from = &d->grad_in[r][k];
            struct dp_tensor *to = &grad_in[r * n_in + k];
            const size_t bytes = dp_tensor_bytes(from);
            *to = b->call->active[r] ? *from : (struct dp_tensor){0};
            if (!to->slot || to->slot == b->call->rank[r].in[k].slot)
                continue;
            to->slot = b->call->rank[r].in[k].slot;
            status = dp_run_memory(run, to->slot, bytes, &to->data, err);
            move[moves[r].n] = (struct dp_move){
                to->slot, from->slot, {to->data, from->data, bytes, 1, bytes, bytes}};
            moves[r].n += bytes > 0;
        }
        total += moves[r].n;
    }
    const struct dp_team team = {d->group, d->replicas->slot, d->n};
    return status || total == 0 ? status : dp_comm_move(&team, moves, DP_PHASE_BACKWARD, err);
}

/* Selects the ranks that reduce, and their divisor. */
static void choose_team(struct dp_ddp *d, const bool everyone[])
{
    d->n_team = d->n_members = 0;
    for (int w = 0; w < d->world; ++w) {
        const int r = w - d->first;
        if (!everyone[w])
            continue;
        d->member[d->n_members++] = w;
        if (r >= 0 && r < d->n)
            d->team[d->n_team++] = r;
    }
    d->leads = d->n_team > 0 && d->member[0] == d->first + d->team[0];
    d->scale = (float)(1.0 / (double)(d->config.divide_by_active ? d->n_members : d->world));
}

/* Called after the backwards of all ranks, or after a failure. */
static int backward_reduce(struct dp_ddp *d, bool failed, struct dp_error *err)
{
    struct dp_span span[DP_MAX_SLOTS];
    /* A device with a timer has issued its backward, but not ended it. Its compute queue knows when
     * it has ended, and when the work after the reduction begins. */
    for (int i = 0; i < d->n_team; ++i) {
        struct dp_slot *slot = ddp_slot(d, d->team[i]);
        const enum dp_phase phase = slot->ops->timer ? DP_PHASE_REDUCE : DP_PHASE_NONE;
        span[i] = dp_span_begin(&slot->compute, d->team[i], phase);
    }
    const int status = ddp_reduce_end(d, failed, err);
    struct dp_trace *trace = d->group->trace;
    const uint64_t now = trace ? dp_now_ns() : 0;
    for (int i = 0; i < d->n_team; ++i) {
        const struct ddp_rank *rank = &d->rank[d->team[i]];
        dp_span_end(&span[i], 0);
        if (!trace || ddp_slot(d, rank->number)->ops->timer)
            continue;
        /* The reduction does not begin before the reported end of the backward. */
        const uint64_t end = trace->replica[rank->number].end_ns;
        dp_trace_add(
            trace, rank->number, DP_LANE_COMPUTE,
            &(struct dp_interval){DP_PHASE_REDUCE, end > rank->end ? end : rank->end, now});
    }
    /* All ranks of the team now have the mean of what any rank has used. */
    for (int t = 0; t < d->n_train; ++t) {
        const bool used = ddp_anyone_used(d, t);
        for (int i = 0; used && i < d->n_team; ++i)
            d->replicas->replica[d->team[i]].state.has_grad[d->train[t].place] = true;
    }
    for (int r = 0; r < d->n; ++r)
        memset(d->rank[r].used, 0, (size_t)d->n_train * sizeof *d->rank[r].used);
    return status;
}

static int backward_all(struct dp_ddp *d, const struct ddp_call *call, struct backward *b,
                        struct dp_error *err)
{
    int status = call->sync ? ddp_buckets_form(d, err) : 0;
    if (status)
        return status;
    choose_team(d, call->everyone);
    d->n_arrived = d->rebuilt ? d->n_arrived : 0;
    for (int i = 0; i < d->n_team; ++i) {
        const int r = d->team[i];
        struct ddp_rank *rank = &d->rank[r];
        const size_t n = (size_t)d->n_train;
        rank->counting = call->sync;
        memcpy(rank->open, call->rank[r].uses, n * sizeof *rank->open);
        memset(rank->ready, 0, n * sizeof *rank->ready);
        memset(rank->touched, 0, (size_t)d->replicas->params.n * sizeof *rank->touched);
        for (int j = 0; j < d->n_buckets; ++j) {
            rank->left[j] = d->bucket[j].n;
            rank->times[j].ready = rank->times[j].launch = 0;
            atomic_store(&rank->times[j].done, 0);
        }
    }
    status = rewind_runs(d, call, err);
    if (status)
        return status;
    if (call->sync)
        ddp_reduce_begin(d, !d->config.find_unused);
    status = ddp_tasks(d, DP_PHASE_BACKWARD, backward_rank, b, err);
    const int reduced = call->sync ? backward_reduce(d, status != 0, err) : 0;
    return status ? status : reduced;
}

int dp_ddp_backward(struct dp_ddp *ddp, const struct dp_tensor grad_out[], int n_grad_out,
                    struct dp_tensor grad_in[], int n_in, struct dp_error *err)
{
    const struct ddp_call *call = ddp->call;
    if (!call)
        return dp_fail(err, DP_EINVAL, "backward without a forward in grad mode");
    if (grad_in && n_in != call->n_in)
        return dp_fail(err, DP_EINVAL, "backward of %d inputs, the forward had %d", n_in,
                       call->n_in);
    struct backward b = {ddp, call, grad_out, n_grad_out};
    memset(ddp->grad_in, 0, (size_t)ddp->n * sizeof ddp->grad_in[0]);
    ddp->call = call->before;
    int status = backward_all(ddp, call, &b, err);
    if (status == 0 && grad_in)
        status = move_back(ddp, &b, grad_in, err);
    return ddp_done(ddp, status);
}

int dp_ddp_reduce(struct dp_ddp *ddp, struct dp_error *err)
{
    /* A rank contributes the gradients that it has; others count as zeros. */
    int status = 0;
    for (int r = 0; r < ddp->n; ++r) {
        struct ddp_rank *rank = &ddp->rank[r];
        for (int t = 0; t < ddp->n_train; ++t) {
            rank->used[t] = ddp->replicas->replica[r].state.has_grad[ddp->train[t].place];
            status = status ? status : zero_missing(ddp, r, t, err);
        }
        rank->end = dp_now_ns();
    }
    if (status)
        dp_group_wait(ddp->group, NULL);
    if (status)
        return ddp_done(ddp, status);
    choose_team(ddp, ddp->everyone);
    ddp_reduce_begin(ddp, false);
    for (int i = 0; i < ddp->n_team; ++i) {
        for (int b = 0; b < ddp->n_buckets; ++b)
            ddp->rank[ddp->team[i]].left[b] = 0;
    }
    for (int i = 0; i < ddp->n_team; ++i) {
        for (int b = 0; b < ddp->n_buckets; ++b)
            ddp_reduce_ready(ddp, ddp->team[i], b);
    }
    return ddp_done(ddp, backward_reduce(ddp, false, err));
}
