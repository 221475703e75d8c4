/* ranks.c: models of several ranks: opening, forward, join, step. */
#include "ranks.h"

#include <stdlib.h>
#include <string.h>

/* ---- bugs that show after a failure, after many steps, or with another rate ------------------ */

/* The error of a rank names the rank, and no more devices than the error of its layer. */
static int rank_failed(struct ranks *ranks, int r, struct impl_error *err)
{
    const struct impl_session *s = ranks->session;
    const struct impl_error own = *err;
    const int status = bug(s, BUG_RANK_ERROR_KIND) ? IMPL_EFAULT : own.status;

    ranks->failed = r;
    ranks->erred = true;
    err->status = IMPL_OK; /* the first error wins */
    impl_fail(err, status, "rank %d: %.230s", r,
              bug(s, BUG_RANK_ERROR_TEXT) ? "it failed" : own.text);
    err->replica = bug(s, BUG_RANK_ERROR_FIRST) ? 0 : r;
    err->device = bug(s, BUG_RANK_ERROR_DEVICE) ? 0 : own.device;
    err->device_also = own.device_also;
    return err->status;
}

static bool rank_unsent(struct ranks *ranks)
{
    const bool seldom = bug(ranks->session, BUG_RANKS_65) && ++ranks->backwards % 65 == 0;

    return seldom || ranks->quiet || (ranks->failed >= 0 && bug(ranks->session, BUG_RANK_UNSENT));
}

/* ---- values of one rank to others ------------------------------------------------------------ */

/* Whether a bug does not send this parameter. */
static bool spared(const struct ranks *ranks, const struct param *param, bool buffers_only, int p)
{
    const struct impl_session *s = ranks->session;
    const struct impl_model *first = ranks->rank[0].model;
    int buffers = 0;

    for (int before = 0; before < p; ++before)
        buffers += first->param[before].of->buffer;
    if (buffers_only && buffers > 0 && bug(s, BUG_DDP_FIRST_BUFFER))
        return true;
    if (buffers_only && strcmp(param->of->name, "batches") == 0 && bug(s, BUG_DDP_BATCHES_UNSENT))
        return true;
    if (!param->of->buffer && param->of->frozen && bug(s, BUG_DDP_FROZEN_UNSENT))
        return true;
    if (param->of->by_columns && bug(s, BUG_DDP_COPY_SENT))
        return true;
    if (param->of->ndim == 0 && bug(s, BUG_DDP_SCALAR_UNSENT))
        return true;
    if (buffers_only && param->of->half && bug(s, BUG_DDP_HALF_BUFFER))
        return true;
    if (buffers_only && param->of->ndim == 0 && bug(s, BUG_DDP_SCALAR_BUFFER))
        return true;
    return ranks->joining && !buffers_only && param->of->buffer && bug(s, BUG_DDP_JOIN_PARAMETERS);
}

/* Returns how many bytes of a value are sent to a rank. */
static size_t sent_bytes(const struct impl_session *s, int rank, bool buffers_only, size_t bytes)
{
    const bool first = buffers_only ? bug(s, BUG_DDP_BUFFERS_ELEMENT) : bug(s, BUG_DDP_SENT_FIRST);

    if (buffers_only && rank > 3 && bug(s, BUG_DDP_BUFFERS_FOUR))
        return 0;
    return first && bytes > sizeof(float) ? sizeof(float) : bytes;
}

static void send_values(const struct ranks *ranks, int from, bool buffers_only)
{
    const struct impl_model *src = ranks->rank[from].model;

    for (int r = 0; r < ranks->n; ++r) {
        struct impl_model *to = ranks->rank[r].model;

        for (int p = 0; r != from && p < src->n_params && p < to->n_params; ++p) {
            const size_t bytes = src->base.value[p].capacity < to->base.value[p].capacity
                                     ? src->base.value[p].capacity
                                     : to->base.value[p].capacity;

            if (spared(ranks, &src->param[p], buffers_only, p))
                continue;
            if (src->param[p].of->buffer || !buffers_only)
                memcpy(to->base.value[p].data, src->base.value[p].data,
                       sent_bytes(ranks->session, r, buffers_only, bytes));
        }
    }
}

/* ---- opening --------------------------------------------------------------------------------- */

static int open_rank(struct ranks *ranks, const char *text, int r, struct impl_error *err)
{
    struct impl_session *s = ranks->session;
    struct impl_model *model = NULL;
    char *own = description_of_rank(text, r, ranks->n, err);
    const int status = !own ? err->status : model_open(s, own, 1, &model, err);

    free(own);
    if (status != 0)
        return status;
    s->models = model->next; /* it belongs to the ranks, not to the session */
    model->team = ranks;
    model->rank = r;
    ranks->rank[r].model = model;
    ranks->rank[r].active = true;
    return 0;
}

static int ranks_compare(const struct ranks *ranks, int r, struct impl_error *err)
{
    const struct impl_model *first = ranks->rank[0].model, *other = ranks->rank[r].model;

    if (bug(ranks->session, BUG_DDP_UNCHECKED))
        return 0;
    if (first->n_params != other->n_params)
        return impl_fail(err, IMPL_ESHAPE, "rank 0 has %d parameters, rank %d has %d",
                         first->n_params, r, other->n_params);
    for (int p = 0; p < first->n_params; ++p) {
        if (!same_shape(&first->base.value[p], &other->base.value[p]))
            return impl_fail(err, IMPL_ESHAPE, "parameter %d of rank %d has another shape", p, r);
        if (bug(ranks->session, BUG_DDP_ORDER_CHECKED) &&
            first->param[p].layer->kind != other->param[p].layer->kind)
            return impl_fail(err, IMPL_EINVAL, "parameter %d of rank %d is another one", p, r);
    }
    return 0;
}

static int list_trained(struct ranks *ranks, struct arena *arena, struct impl_error *err)
{
    const struct impl_model *model = ranks->rank[0].model;
    const size_t n = (size_t)model->n_params + 1;

    ranks->param = arena_take(arena, n * sizeof *ranks->param);
    ranks->trained = arena_take(arena, n * sizeof *ranks->trained);
    ranks->bucket = arena_take(arena, n * sizeof *ranks->bucket);
    ranks->arrived = arena_take(arena, n * sizeof *ranks->arrived);
    for (int p = 0; p < model->n_params; ++p) {
        ranks->trained[p] = param_frozen(model, p) ? -1 : ranks->n_trained;
        if (ranks->trained[p] >= 0)
            ranks->param[ranks->n_trained++] = p;
    }
    for (int r = 0; r < ranks->n; ++r) {
        struct rank *rank = &ranks->rank[r];

        rank->open = arena_take(arena, n * sizeof *rank->open);
        rank->ready = arena_take(arena, n);
        rank->used = arena_take(arena, n);
        rank->left = arena_take(arena, n * sizeof *rank->left);
        rank->last = arena_take(arena, n * sizeof *rank->last);
        rank->launch = arena_take(arena, n * sizeof *rank->launch);
    }
    return ranks->n_trained > 0 ? 0 : impl_fail(err, IMPL_EINVAL, "there is nothing to train");
}

static int ranks_open_all(struct ranks *ranks, struct impl_model *model, const char *text,
                          struct impl_error *err)
{
    const bool last = bug(ranks->session, BUG_DDP_BROADCAST_LAST);
    int status = 0;

    for (int r = 0; status == 0 && r < ranks->n; ++r)
        status = open_rank(ranks, text, r, err);
    for (int r = 1; status == 0 && r < ranks->n; ++r)
        status = ranks_compare(ranks, r, err);
    if (status == 0)
        status = list_trained(ranks, &model->arena, err);
    if (status != 0)
        return status;
    ranks->find_unused = ranks->rank[0].model->root->find_unused;
    team_form_buckets(ranks);
    if (!bug(ranks->session, BUG_DDP_NO_BROADCAST))
        send_values(ranks, last ? ranks->n - 1 : 0, false);
    return 0;
}

int team_open(struct impl_session *s, const char *text, int n, struct impl_model **model,
              struct impl_error *err)
{
    struct impl_model *m = n <= IMPL_MAX_DEVICES ? calloc(1, sizeof *m) : NULL;
    struct ranks *ranks;
    int status;

    if (!m)
        return impl_fail(err, IMPL_EINVAL, "%d ranks, at most %d", n, IMPL_MAX_DEVICES);
    m->session = m->arena.session = s;
    m->ranks = ranks = arena_take(&m->arena, sizeof *ranks);
    ranks->session = ranks->scratch.session = s;
    ranks->n = n;
    ranks->rank = arena_take(&m->arena, (size_t)n * sizeof *ranks->rank);
    ranks->send = true;
    ranks->missing = ranks->failed = -1;
    m->next = s->models;
    s->models = m;
    status = ranks_open_all(ranks, m, text, err);
    if (status != 0)
        model_close(m);
    else
        *model = m;
    return status;
}

void team_close(struct ranks *ranks)
{
    for (int r = 0; r < ranks->n; ++r)
        if (ranks->rank[r].model)
            model_close(ranks->rank[r].model);
    arena_free(&ranks->scratch);
}

struct impl_model *team_model(const struct ranks *ranks, int rank)
{
    return rank >= 0 && rank < ranks->n ? ranks->rank[rank].model : NULL;
}

/* ---- join ------------------------------------------------------------------------------------ */

/* *none: no rank has a batch, and nothing runs. */
static int enter_join(struct ranks *ranks, const bool active[], bool *none, struct impl_error *err)
{
    int last = -1;

    *none = false;
    for (int r = 0; active && r < ranks->n; ++r) {
        if (active[r] && !ranks->rank[r].active)
            return impl_fail(err, IMPL_EINVAL, "rank %d has joined and comes back", r);
        last = active[r] ? r : last;
    }
    if (!active || last < 0) {
        *none = active != NULL;
        if (ranks->joining && !(bug(ranks->session, BUG_DDP_JOIN_ONCE) && ranks->joins++ > 0))
            send_values(ranks, bug(ranks->session, BUG_DDP_JOIN_FIRST) ? 0 : ranks->last, false);
        ranks->joining = false;
        for (int r = 0; r < ranks->n; ++r)
            ranks->rank[r].active = true;
        return 0;
    }
    ranks->joining = true;
    ranks->last = last;
    for (int r = 0; r < ranks->n; ++r)
        ranks->rank[r].active = active[r];
    return 0;
}

/* ---- forward --------------------------------------------------------------------------------- */

static void drop_calls(struct ranks *ranks)
{
    for (int r = 0; r < ranks->n; ++r)
        model_drop_pending(ranks->rank[r].model);
    ranks->n_calls = 0;
}

static bool sends_buffers(const struct ranks *ranks)
{
    if (!ranks->train && bug(ranks->session, BUG_DDP_BUFFERS_EVAL))
        return false;
    if (bug(ranks->session, BUG_DDP_BUFFERS_NEVER))
        return false;
    if (bug(ranks->session, BUG_DDP_SENDS_SHARED))
        return !ranks->session->unsent;
    return ranks->send || bug(ranks->session, BUG_DDP_BUFFERS_ALWAYS);
}

/* Changes how the values of one rank, of which the last `keywords` have names, are handed on, if a
 * bug does so. */
static void hand_on(const struct ranks *ranks, struct impl_forward *own, struct impl_array turned[])
{
    const int named = ranks->rank[0].model->root->keywords;

    if (named > 0 && bug(ranks->session, BUG_DDP_NAMES_LOST))
        own->n_args = 0;
    if (named == 3 && own->n_in == 2 && bug(ranks->session, BUG_DDP_NAMES_TURNED)) {
        turned[0] = own->in[1];
        turned[1] = own->in[0];
        own->in = turned;
    }
}

static int forward_all(struct ranks *ranks, struct impl_forward *op, struct impl_error *err)
{
    int status = 0;

    for (int r = 0; status == 0 && r < ranks->n; ++r) {
        struct impl_forward own = *op;
        struct impl_array turned[2];

        own.in = op->in + (ptrdiff_t)r * op->n_in;
        own.out = op->out + (ptrdiff_t)r * IMPL_MAX_IO;
        own.trace = NULL;
        own.train = op->train || bug(ranks->session, BUG_DDP_TRAINS);
        if (!ranks->rank[r].active)
            continue;
        hand_on(ranks, &own, turned);
        status = op_forward(ranks->rank[r].model, &own, err);
        op->n_out = own.n_out;
        if (status == 0 && bug(ranks->session, BUG_DDP_OUTPUT_OF) && r > 0 && own.n_out > 1)
            memcpy(own.out[1].data, own.out[0].data, tensor_bytes(&own.out[0]));
        if (status != 0)
            status = rank_failed(ranks, r, err);
    }
    return status;
}

/* A backward that still waited for a gradient is reported by the next forward, once. */
static int check_missing(struct ranks *ranks, struct impl_error *err)
{
    const int missing = ranks->missing;

    ranks->missing = -1;
    if (missing < 0)
        return 0;
    return impl_fail(err, IMPL_EINVAL,
                     "the backward before has not ended: parameter %d got no "
                     "gradient, and nobody looks for unused ones",
                     missing);
}

/* Whether a bug sends the parameters as well as the buffers. */
static bool sends_all(const struct ranks *ranks)
{
    const struct impl_model *model = ranks->rank[0].model;

    if (!ranks->train && bug(ranks->session, BUG_DDP_SENDS_EVAL))
        return true;
    if (bug(ranks->session, BUG_DDP_SENDS_PARAMETERS))
        return true;
    return sends_buffers(ranks) && model->param[model->n_params - 1].of->buffer &&
           bug(ranks->session, BUG_DDP_SENDS_TOO);
}

static void trace_sends(const struct ranks *ranks, int from, struct impl_trace *trace)
{
    const struct impl_model *model = ranks->rank[from].model;
    const bool all = bug(ranks->session, BUG_DDP_SENDS_PARAMETERS);
    uint64_t bytes = 0;

    memset(trace, 0, sizeof *trace);
    for (int p = 0; p < model->n_params; ++p)
        if (all || (model->param[p].of->buffer && sends_buffers(ranks)))
            bytes += tensor_bytes(&model->base.value[p]);
    trace->replicas = ranks->n;
    for (int r = 0; r < ranks->n; ++r) {
        trace->replica[r].device = IMPL_HOST;
        trace->replica[r].calls = ranks->rank[r].active;
        trace->replica[r].bytes_to = r == from ? 0 : bytes;
    }
}

int team_forward(struct ranks *ranks, struct impl_forward *op, struct impl_error *err)
{
    const int place = ranks->n_calls;
    bool none;
    int status = check_missing(ranks, err);

    if (status == 0)
        status = enter_join(ranks, op->active, &none, err);
    if (status == 0 && op->grad && place == MOST_CALLS)
        status = impl_fail(err, IMPL_EINVAL, "%d forwards wait for a backward", place);
    if (status != 0)
        return status;
    op->n_out = 0;
    if (none)
        return 0;
    ranks->train = op->train;
    const bool joining = ranks->joining && !bug(ranks->session, BUG_DDP_JOIN_BUFFERS);
    const int first = joining ? ranks->last : 0;
    const int from = bug(ranks->session, BUG_DDP_BUFFERS_LAST) ? ranks->n - 1 : first;
    const bool all = sends_all(ranks);

    if (sends_buffers(ranks) || all)
        send_values(ranks, from, !all);
    if (op->trace)
        trace_sends(ranks, from, op->trace);
    ranks->send = op->grad && !op->no_sync;
    ranks->session->no_sync = op->no_sync;
    ranks->session->unsent = !ranks->send;
    status = forward_all(ranks, op, err);
    if (status != 0) {
        ranks->quiet = ranks->quiet || (op->no_sync && bug(ranks->session, BUG_RANK_QUIET));
        drop_calls(ranks);
        return status;
    }
    if (!op->grad && place > 0 && bug(ranks->session, BUG_DDP_INFER_SYNC))
        ranks->call[place - 1].sync = false;
    if (!op->grad)
        return 0;
    ranks->call[place].sync =
        !op->no_sync && (op->train || !bug(ranks->session, BUG_DDP_EVAL_SYNC));
    if (ranks->rank[0].model->root->inner_no_sync && bug(ranks->session, BUG_DDP_INNER))
        ranks->call[place].sync = true;
    if (place > 0 && bug(ranks->session, BUG_DDP_DROPPED))
        ranks->call[place].sync = false;
    for (int r = 0; r < ranks->n; ++r)
        ranks->call[place].active[r] = ranks->rank[r].active;
    for (int i = 0; bug(ranks->session, BUG_RANKS_WAIT) && i < place; ++i)
        ranks->call[i].sync = false;
    ++ranks->n_calls;
    return 0;
}

/* ---- backward -------------------------------------------------------------------------------- */

static int backward_all(struct ranks *ranks, const struct impl_backward *op, bool sync,
                        struct impl_error *err)
{
    const int each = op->n_in / ranks->n;
    int status = 0;

    for (int i = 0; status == 0 && i < ranks->n_team; ++i) {
        const int r = ranks->team[i];
        struct rank *rank = &ranks->rank[r];
        struct impl_backward own = *op;
        struct impl_array first[IMPL_MAX_IO];

        own.grad_out = op->grad_out + (ptrdiff_t)r * op->n_grad_out;
        if (op->n_grad_out == 2 && bug(ranks->session, BUG_DDP_SECOND_GRADIENT)) {
            first[0] = own.grad_out[0];
            first[1] = tensor_none();
            own.grad_out = first;
        }
        own.grad_in = op->grad_in + (ptrdiff_t)r * each;
        own.n_in = each;
        own.trace = NULL;
        rank_begin(ranks, rank, sync);
        status = op_backward(rank->model, &own, err);
        if (status == 0 && bug(ranks->session, BUG_DDP_SECOND_DX) && each > 1)
            memset(own.grad_in[1].data, 0, tensor_bytes(&own.grad_in[1]));
        rank->torn = status != 0;
        if (status != 0)
            status = rank_failed(ranks, r, err);
    }
    return status;
}

static void trace_backward(const struct ranks *ranks, bool sync, struct impl_trace *trace)
{
    const struct rank *rank = &ranks->rank[0];
    uint64_t bytes = 0;

    if (!trace)
        return;
    memset(trace, 0, sizeof *trace);
    trace->replicas = ranks->n;
    for (int k = 0; sync && k < rank->n_launches && k < IMPL_MAX_BUCKETS; ++k) {
        bytes += rank->launch[k].n * sizeof(float);
        trace->bucket[trace->buckets++] =
            (struct impl_bucket){rank->launch[k].n * sizeof(float), rank->launch[k].ns};
    }
    for (int r = 0; r < ranks->n; ++r) {
        const uint64_t times = bug(ranks->session, BUG_DDP_ALL_TO_ALL) ? (uint64_t)ranks->n : 2;

        trace->replica[r].device = IMPL_HOST;
        trace->replica[r].bytes_from = r == 0 ? 0 : times * bytes;
    }
}

int team_backward(struct ranks *ranks, struct impl_backward *op, struct impl_error *err)
{
    bool sync;
    int status;

    if (ranks->n_calls == 0)
        return impl_fail(err, IMPL_EINVAL, "no forward in grad mode is waiting for a backward");
    if (op->n_in % ranks->n != 0)
        return impl_fail(err, IMPL_ESHAPE, "%d inputs of %d ranks", op->n_in, ranks->n);
    sync = ranks->call[--ranks->n_calls].sync && !rank_unsent(ranks);
    if (bug(ranks->session, BUG_DDP_MODE_SHARED))
        sync = !ranks->session->no_sync;
    if (ranks->rank[0].model->root->no_sync_backward && bug(ranks->session, BUG_DDP_MODE_BACKWARD))
        sync = false;
    if (ranks->rank[0].model->root->no_sync_backward && bug(ranks->session, BUG_DDP_MODE_OUTSIDE))
        sync = true;
    ranks->n_team = ranks->empty = 0;
    for (int r = 0; r < ranks->n; ++r)
        if (ranks->call[ranks->n_calls].active[r]) {
            const struct tape *tape = ranks->rank[r].model->pending;

            ranks->team[ranks->n_team++] = r;
            ranks->empty += tape && tensor_count(&tape->in.a[0]) == 0;
        }
    ranks->n_arrived = ranks->rebuilt ? ranks->n_arrived : 0;
    status = backward_all(ranks, op, sync, err);
    if (status == 0 && sync)
        team_reduce(ranks);
    if (status == 0)
        ranks->failed = -1;
    if (status == 0) {
        const int each = op->n_in / ranks->n;

        /* Sets the input gradients of ranks that have joined. */
        for (int k = 0; k < op->n_in; ++k)
            if (!ranks->rank[k / each].active)
                op->grad_in[k].dtype = IMPL_NONE;
    }
    trace_backward(ranks, sync, op->trace);
    arena_free(&ranks->scratch);
    if (status == 0 && sync && !ranks->rebuilt)
        team_rebuild_buckets(ranks);
    if (status != 0)
        drop_calls(ranks);
    return status;
}

/* ---- the step -------------------------------------------------------------------------------- */

int team_step(struct ranks *ranks, const struct impl_step *step, struct impl_error *err)
{
    const bool forgets = bug(ranks->session, BUG_DDP_MOMENTUM);
    int status = 0;

    for (int r = 0; status == 0 && r < ranks->n; ++r) {
        struct impl_step own = *step;

        if (!ranks->stepped)
            ranks->rate = step->lr;
        ranks->stepped = true;
        own.lr = r > 0 && bug(ranks->session, BUG_RATE_RANKS) ? ranks->rate : step->lr;
        own.momentum = forgets ? 0 : step->momentum;
        if (ranks->rank[r].active)
            status = op_step(ranks->rank[r].model, &own, err);
    }
    return status;
}

int team_zero_grad(struct ranks *ranks, struct impl_error *err)
{
    int status = 0;

    for (int r = 0; status == 0 && r < ranks->n; ++r)
        status = op_zero_grad(ranks->rank[r].model, err);
    return status;
}
