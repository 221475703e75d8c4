/* run.c: runs layers forward and tapes backward, and the operations forward and backward. */
#include "inside.h"

#include <stdlib.h>
#include <string.h>

/* The number of forwards without a backward that are kept; then the oldest is dropped. */
enum { MOST_PENDING = 32, MOST_ARGS = 16 };

struct state state_new(struct arena *arena, int n)
{
    struct state state = {arena_take(arena, ((size_t)n + 1) * sizeof *state.value),
                          arena_take(arena, ((size_t)n + 1) * sizeof *state.grad)};

    return state;
}

void tape_free_inside(struct tape *tape)
{
    for (int i = 0; i < tape->n; ++i)
        for (int r = 0; tape->node[i].group && r < tape->node[i].group->m; ++r)
            tape_free_inside(&tape->node[i].group->replica[r].tape);
    free(tape->node);
    arena_free(&tape->arena);
}

/* Frees a tape. */
static void tape_drop(struct tape *tape, bool leak)
{
    struct impl_session *s = tape->arena.session;

    if (leak) {
        tape->next = s->lost;
        s->lost = tape;
        return;
    }
    tape_free_inside(tape);
    free(tape);
}

static struct node *tape_add(struct tape *tape)
{
    if (tape->n == tape->room) {
        tape->room = 2 * tape->room + 8;
        tape->node = realloc(tape->node, (size_t)tape->room * sizeof *tape->node);
        if (!tape->node)
            abort();
    }
    memset(&tape->node[tape->n], 0, sizeof *tape->node);
    return &tape->node[tape->n++];
}

/* ---- layers -------------------------------------------------------------------------------- */

static const struct layer_ops *ops_of(enum layer_kind kind)
{
    const struct layer_ops *const tables[] = {param_layers, matrix_layers,      norm_layers,
                                              plain_layers, transformer_layers, attention_layers};

    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; ++i)
        if (tables[i][kind].forward)
            return &tables[i][kind];
    return &probe_layers[kind];
}

static int run_plain(struct run *run, const struct layer *layer, struct values *v)
{
    const struct layer_ops *ops = ops_of(layer->kind);
    struct node *node = tape_add(run->tape);
    int status;

    if (ops->n_in >= 0 && v->n != ops->n_in)
        return impl_fail(&run->err, IMPL_ESHAPE, "a layer of %d inputs got %d", ops->n_in, v->n);
    node->layer = layer;
    node->in = *v;
    node->out.n = 1;
    status = ops->forward(run, node);
    *v = node->out;
    return status;
}

static int run_sequence(struct run *run, const struct layer *layer, struct values *v);

/* The container whose layers only get the first input. It adds two nodes to the tape, before and
 * after its layers. They share the gradients of the inputs
 * that pass by the layers. */
static int run_first(struct run *run, const struct layer *layer, struct values *v)
{
    struct node *node = tape_add(run->tape);
    const struct values all = *v;
    struct values *rest = arena_take(&run->tape->arena, sizeof *rest);
    int status;

    node->layer = layer;
    node->in = *v;
    node->rest = rest;
    v->n = all.n > 0;
    node->out = *v;
    rest->n = all.n - v->n;
    status = run_layers(run, layer->child, layer->n_children, v);
    if (status == 0 && v->n + rest->n > IMPL_MAX_IO)
        status = impl_fail(&run->err, IMPL_EINVAL, "%d tensors and %d more", v->n, rest->n);
    if (status != 0)
        return status;
    node = tape_add(run->tape);
    node->layer = layer;
    node->in = *v;
    node->rest = rest;
    for (int i = 0; i < rest->n; ++i)
        v->a[v->n++] = all.a[i + 1];
    node->out = *v;
    return 0;
}

static int run_layer(struct run *run, const struct layer *layer, struct values *v)
{
    switch (layer->kind) {
    case LAYER_FIRST:
        return run_first(run, layer, v);
    case LAYER_SEQUENCE:
        return run_sequence(run, layer, v);
    case LAYER_AGAIN:
        return run_layer(run, layer->of, v);
    case LAYER_PARALLEL:
        if (run->s->devices == 0)
            return parallel_on_host(run, layer, v);
        struct node *node = tape_add(run->tape);
        int status;

        node->layer = layer;
        node->in = *v;
        status = parallel_forward(run, layer, &node->group, v);
        node->out = *v;
        return status;
    default:
        return run_plain(run, layer, v);
    }
}

/* Runs a sequence in the order of this replica. */
static int run_sequence(struct run *run, const struct layer *layer, struct values *v)
{
    int status = 0;

    if (!layer_listed(layer, run->replica))
        return run_layers(run, layer->child, layer->n_children, v);
    for (int i = layer->n_children - 1; status == 0 && i >= 0; --i)
        status = run_layer(run, &layer->child[i], v);
    return status;
}

int run_layers(struct run *run, const struct layer layers[], int n, struct values *v)
{
    int status = 0;

    for (int i = 0; status == 0 && i < n; ++i)
        status = run_layer(run, &layers[i], v);
    return status;
}

static bool all_none(const struct values *g)
{
    for (int i = 0; i < g->n; ++i)
        if (g->a[i].dtype != IMPL_NONE)
            return false;
    return true;
}

int run_back(struct run *run, struct values *g)
{
    int status = 0;

    for (int i = run->tape->n - 1; status == 0 && i >= 0; --i) {
        const struct node *node = &run->tape->node[i];
        struct values dx = {.n = node->in.n};

        for (int j = 0; j < dx.n; ++j)
            dx.a[j] = tensor_none();
        if (node->rest) {
            /* The node after the layers has more outputs than inputs, or as many. */
            struct values *rest = node->rest;
            const bool behind = node->out.n == node->in.n + rest->n;

            for (int k = 0; k < node->in.n && k < node->out.n; ++k)
                dx.a[k] = g->a[k];
            for (int k = 0; k < rest->n; ++k) {
                if (behind)
                    rest->a[k] = g->a[node->in.n + k];
                else
                    dx.a[node->out.n + k] = rest->a[k];
            }
        } else if (!all_none(g) && node->group)
            status = parallel_back(run, node, g, &dx);
        else if (!all_none(g))
            status = ops_of(node->layer->kind)->backward(run, node, g, &dx);
        if (status == 0 && run->model->team)
            rank_layer_done(run, node->layer);
        *g = dx;
    }
    if (status == 0 && run->model->team)
        rank_end(run);
    return status;
}

/* ---- forward ------------------------------------------------------------------------------- */

static int run_read_list(struct arena *arena, const struct impl_array arrays[], int n, int most,
                         struct impl_array list[], struct impl_error *err)
{
    int status =
        n < 0 || n > most ? impl_fail(err, IMPL_EINVAL, "%d tensors, at most %d", n, most) : 0;

    for (int i = 0; status == 0 && i < n; ++i)
        status = tensor_in(arena, &arrays[i], &list[i], err);
    return status;
}

static int forward_outputs(const struct run *run, struct impl_forward *op, struct impl_error *err)
{
    const struct values *out = &run->tape->out;
    int status = 0;

    op->n_out = out->n;
    for (int j = 0; status == 0 && j < out->n; ++j)
        status = tensor_out(&out->a[j], &op->out[j], err);
    return status;
}

/* Sets the modes, which bugs change after errors of earlier forwards. */
static int forward_mode(struct impl_model *model, const struct impl_forward *op, struct run *run)
{
    struct impl_session *s = model->session;

    run->grad = op->grad && !s->stuck_no_grad && (op->train || !bug(s, BUG_EVAL_NO_GRADIENTS));
    run->train = op->train;
    ++s->forwards;
    if (s->stuck_error) {
        s->stuck_error = false;
        return impl_fail(&run->err, IMPL_EFAULT, "a worker is still busy");
    }
    return 0;
}

static void trace_begin(struct impl_trace *trace)
{
    if (!trace)
        return;
    memset(trace, 0, sizeof *trace);
    trace->caller = this_thread();
}

/* Changes an error that a model returns, if a bug does so; returns its status. */
static int error_told(struct impl_model *model, struct impl_error *err)
{
    struct impl_session *s = model->session;

    if (++model->errors == 1)
        model->first_error = *err;
    else if (bug(s, BUG_ERROR_AGAIN))
        *err = model->first_error;
    if (model->errors == 2 && bug(s, BUG_ERROR_SECOND_BLOCKS))
        s->stuck_error = true;
    return err->status;
}

static int forward_run(struct run *run, struct impl_forward *op)
{
    struct tape *tape = run->tape;
    struct impl_array *args = arena_take(&tape->arena, MOST_ARGS * sizeof *args);
    int status = forward_mode(run->model, op, run);

    if (status == 0 && bug(run->s, BUG_REFUSES_FORWARD))
        status = impl_fail(&run->err, IMPL_EDEVICE, "no");
    run->args = args;
    run->given = op->args;
    run->n_args = op->n_args;
    if (status == 0)
        status = run_read_list(&tape->arena, op->in, op->n_in, IMPL_MAX_IO, tape->in.a, &run->err);
    if (status == 0)
        status = run_read_list(&tape->arena, op->args, op->n_args, MOST_ARGS, args, &run->err);
    if (status != 0)
        return status;
    tape->in.n = op->n_in;
    if (op->n_in > 0 && bug(run->s, BUG_INPUT_AT))
        memo_use(&run->model->input, op->in[0].data, &tape->in.a[0]);
    if (op->n_args > 0 && args[0].dtype == IMPL_F32 && tensor_count(&args[0]) > 0)
        run->model->argument = floats(&args[0])[0];
    for (int i = 0; bug(run->s, BUG_INPUT_REREAD) && i < op->n_in; ++i)
        tape->in.a[i].data = op->in[i].data;
    tape->out = tape->in;
    status = run_layers(run, run->model->root->child, run->model->root->n_children, &tape->out);
    return status != 0 ? status : forward_outputs(run, op, &run->err);
}

int op_forward(struct impl_model *model, struct impl_forward *op, struct impl_error *err)
{
    struct impl_session *s = model->session;
    struct tape *tape = calloc(1, sizeof *tape);
    struct run run = {
        .s = s, .model = model, .state = &model->base, .tape = tape, .replica = model->rank};
    int status;

    if (model->ranks) {
        free(tape);
        return team_forward(model->ranks, op, err);
    }
    if (!tape)
        return impl_fail(err, IMPL_EBROKEN, "no memory");
    tape->arena.session = s;
    tape->opened = sessions_opened();
    tape->changes = model->changes;
    run.trace = op->trace;
    run.device = s->devices > 0 ? 0 : IMPL_HOST;
    trace_begin(op->trace);
    status = forward_run(&run, op);
    s->stuck_error = status != 0 && run.last && bug(s, BUG_ERROR_BLOCKS);
    s->stuck_no_grad = status != 0 && !run.grad && bug(s, BUG_ERROR_NO_GRAD);
    for (int i = 0; bug(s, BUG_INFER_MOMENTUM) && !op->grad && i < model->n_params; ++i)
        model->param[i].velocity = NULL;
    model->inferred = model->inferred || !op->grad;
    if (status != 0 && bug(s, BUG_FAILURE_DROPS))
        model_drop_pending(model);
    if (status == 0 && run.grad) {
        struct tape **link = &model->pending;

        tape->next = model->pending;
        model->pending = tape;
        for (int i = 0; i < (bug(model->session, BUG_FOUR_WAIT) ? 4 : MOST_PENDING) && *link; ++i)
            link = &(*link)->next;
        if (*link) {
            tape_drop(*link, false);
            *link = NULL;
        }
    } else {
        tape_drop(tape, bug(s, BUG_LEAK) || bug(s, status == 0 ? BUG_INFER_LEAK : BUG_LEAK_FAILED));
    }
    if (bug(s, BUG_LEAK_SMALL)) {
        enum { CRUMB = 1024 };
        struct crumb *crumb = malloc(CRUMB);

        if (!crumb)
            abort();
        memset(crumb, 1, CRUMB);
        crumb->next = s->crumbs;
        s->crumbs = crumb;
    }
    if (op->trace)
        op->trace->live_bytes = atomic_load(&s->live);
    if (status == 0)
        return 0;
    *err = run.err;
    return error_told(model, err);
}

/* ---- backward ------------------------------------------------------------------------------ */

static int read_gradients(struct tape *tape, const struct impl_backward *op, struct values *g,
                          struct impl_error *err)
{
    g->n = tape->out.n;
    if (op->n_grad_out == 0 && g->n == 1) {
        g->a[0] = tensor_like(&tape->arena, &tape->out.a[0]);
        for (size_t i = 0; g->a[0].dtype == IMPL_F32 && i < tensor_count(&g->a[0]); ++i)
            floats(&g->a[0])[i] = 1;
        return 0;
    }
    if (op->n_grad_out != g->n)
        return impl_fail(err, IMPL_ESHAPE, "%d gradients of %d outputs", op->n_grad_out, g->n);
    for (int j = 0; j < g->n; ++j) {
        if (tensor_in(&tape->arena, &op->grad_out[j], &g->a[j], err) != 0)
            return err->status;
        if (g->a[j].dtype == IMPL_NONE)
            continue;
        if (g->a[j].dtype != IMPL_F32 || !same_shape(&g->a[j], &tape->out.a[j]))
            return impl_fail(err, IMPL_ESHAPE, "gradient %d does not fit its output", j);
        g->a[j].device = tape->out.a[j].device;
    }
    return 0;
}

static int deliver(const struct run *run, const struct impl_backward *op, const struct values *dx,
                   struct impl_error *err)
{
    const struct impl_array none = tensor_none();
    bool stopped = false;
    int status = 0;

    for (int i = 0; status == 0 && i < op->n_in; ++i) {
        const bool wanted = run->tape->in.a[i].needs_grad || bug(run->s, BUG_GRADIENT_UNASKED);

        stopped = stopped || (!wanted && bug(run->s, BUG_DX_STOPS_EARLY));
        status = tensor_out(wanted && !stopped ? &dx->a[i] : &none, &op->grad_in[i], err);
    }
    return status;
}

/* Adds the gradients of a backward to those of the base, when nothing can fail any more. */
static void commit(struct impl_model *model, const struct state *found)
{
    const struct impl_session *s = model->session;
    const bool single = model->n_wrappers > 0 && model->wrapper[0].layer->n_ids == 1;

    if (model->n_wrappers == 0)
        model->own_square = square_of(found->grad, model->n_params);
    for (int i = 0; i < model->n_params; ++i) {
        struct impl_array *grad = &model->base.grad[i];
        const bool table = model->param[i].layer->kind == LAYER_EMBEDDING;
        const bool sets = bug(s, BUG_OVERWRITE) || (single && bug(s, BUG_SINGLE_OVERWRITES)) ||
                          (table && bug(s, BUG_TABLE_SETS));
        const bool was = grad->dtype != IMPL_NONE && !sets;

        if (found->grad[i].dtype == IMPL_NONE)
            continue;
        grad_of(model, i);
        if (bug(s, BUG_GRADIENT_DEVICE))
            grad->device = found->grad[i].device;
        if (was) {
            const bool cut = bug(s, BUG_ADDED_TAIL);
            struct impl_array added =
                tensor_list(grad, without_tail(tensor_count(grad), cut, 4, 64));

            tensor_add(&added, &found->grad[i]);
        } else {
            memcpy(grad->data, found->grad[i].data, grad->capacity);
        }
    }
}

/* For a bug: the memory of the last input gradient is not cleared. */
static void accumulate_dx(struct impl_model *model, const struct values *dx)
{
    if (dx->n == 0 || dx->a[0].dtype == IMPL_NONE)
        return;
    if (same_shape(&dx->a[0], &model->last_dx) && model->last_dx.dtype == dx->a[0].dtype) {
        struct impl_array sum = dx->a[0];

        tensor_add(&sum, &model->last_dx);
    }
    model->last_dx = tensor_copy(&model->arena, &dx->a[0], dx->a[0].device);
}

static struct tape *which_tape(const struct impl_model *model)
{
    struct tape *tape = model->pending;

    while (tape && tape->next && bug(model->session, BUG_OLDEST_BACKWARD))
        tape = tape->next;
    if (tape && tape->opened != sessions_opened() && bug(model->session, BUG_SESSION_DROPS))
        return NULL;
    return tape;
}

static int check_tape(const struct impl_model *model, const struct tape *tape,
                      const struct impl_backward *op, struct impl_error *err)
{
    if (!tape)
        return impl_fail(err, IMPL_EINVAL, "no forward in grad mode is waiting for a backward");
    if (tape->changes != model->changes)
        return impl_fail(err, IMPL_EINVAL, "a parameter was changed after the forward");
    if (op->n_in != tape->in.n)
        return impl_fail(err, IMPL_ESHAPE, "%d input gradients of %d inputs", op->n_in, tape->in.n);
    return 0;
}

int op_backward(struct impl_model *model, struct impl_backward *op, struct impl_error *err)
{
    struct impl_session *s = model->session;
    struct tape *tape = which_tape(model);
    struct values g = {.n = 0};
    struct state found;
    struct run run = {.s = s,
                      .model = model,
                      .state = &found,
                      .tape = tape,
                      .replica = model->rank,
                      .grad = true};
    int status;

    if (model->ranks)
        return team_backward(model->ranks, op, err);
    if ((status = check_tape(model, tape, op, err)) != 0)
        return status;
    found = state_new(&tape->arena, model->n_params);
    found.value = model->base.value;
    run.trace = op->trace;
    trace_begin(op->trace);
    status = read_gradients(tape, op, &g, &run.err);
    if (status == 0 && bug(s, BUG_GRADIENT_AT) && op->n_grad_out > 0)
        memo_use(&model->gradient, op->grad_out[0].data, &g.a[0]);
    if (status == 0)
        status = run_back(&run, &g);
    if (status == 0 && bug(s, BUG_DX_ACCUMULATES))
        accumulate_dx(model, &g);
    ++model->backwards;
    if (status == 0)
        status = deliver(&run, op, &g, &run.err);
    if (status == 0 || bug(s, BUG_ERROR_GRADIENT))
        commit(model, &found);
    if (status == 0) {
        struct tape **link = &model->pending;

        while (*link != tape)
            link = &(*link)->next;
        *link = tape->next;
        tape_drop(tape, tape->leaks || bug(s, BUG_LEAK) ||
                            (model->backwards % 64 == 0 && bug(s, BUG_LEAK_SELDOM)));
    }
    if (op->trace)
        op->trace->live_bytes = atomic_load(&s->live);
    if (status == 0)
        return 0;
    *err = run.err;
    return error_told(model, err);
}
