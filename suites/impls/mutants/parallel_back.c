/* parallel_back.c: the backward of a `parallel` layer: cuts the output gradients by the sizes that
 * the forward recorded, concatenates input gradients, and sums the gradients of parameters. */
#include "inside.h"

#include <math.h>
#include <string.h>

/* ---- output gradients ---------------------------------------------------------------------- */

static int send_gradient(struct run *run, struct group *group, int j, const struct impl_array *g)
{
    const bool scalars = group->replica[0].out.a[j].ndim == 0;
    const bool placed = group->layer->output_device != IMPL_NOWHERE;
    const bool first = scalars && (bug(run->s, BUG_SCALAR_GRADIENT) ||
                                   (placed && bug(run->s, BUG_OUTPUT_SCALARS)));
    const int dim = bug(run->s, BUG_DIM_NOT_IN_BACKWARD) || scalars ? 0 : group->dim;
    struct impl_array pieces[IMPL_MAX_DEVICES];
    size_t size[IMPL_MAX_DEVICES];
    int devices[IMPL_MAX_DEVICES], n = 0;

    for (int i = 0; i < group->m; ++i)
        devices[i] = group->replica[i].out.a[j].device;
    for (int i = 0; i < group->m; ++i) {
        const struct impl_array *out = &group->replica[i].out.a[j];

        size[i] = out->ndim == 0 ? 1 : out->dim[wrap_dim(dim, out->ndim)];
        if (bug(run->s, BUG_ROWS_16_BIT))
            size[i] &= 0xffff;
    }
    if (j == 0 && bug(run->s, BUG_LATEST_SIZES))
        memcpy(size, model_wrapper(run->model, group->layer)->sizes,
               (size_t)group->m * sizeof *size);
    if (scatter(&run->tape->arena, g, devices, group->m, dim,
                bug(run->s, BUG_FRESH_CHUNK) ? NULL : size, pieces, &n, &run->err) != 0)
        return run->err.status;
    for (int i = 0; i < group->m; ++i) {
        const struct impl_array *out = &group->replica[i].out.a[j];
        struct impl_array *piece = &group->replica[i].g.a[j];

        *piece = i < n ? pieces[first ? 0 : i] : tensor_like(&run->tape->arena, out);
        if (out->ndim == 0)
            piece->ndim = 0;
        if (!same_shape(piece, out)) /* only with bugs */
            return impl_fail(&run->err, IMPL_ESHAPE, "gradient of replica %d", i);
    }
    return 0;
}

static int send_gradients(struct run *run, struct group *group, const struct values *g)
{
    int status = 0;

    for (int i = 0; i < group->m; ++i) {
        group->replica[i].g.n = g->n;
        memset(&group->replica[i].run.err, 0, sizeof group->replica[i].run.err);
    }
    for (int j = 0; status == 0 && j < g->n; ++j) {
        struct replica *first = &group->replica[0];
        const bool placed = group->layer->output_device != IMPL_NOWHERE;
        const bool lost = j > 0 && (bug(run->s, BUG_FIRST_OUTPUT_ONLY) ||
                                    (placed && bug(run->s, BUG_OUTPUT_FURTHER)));

        for (int i = 0; i < group->m; ++i)
            group->replica[i].g.a[j] = tensor_none();
        if (g->a[j].dtype == IMPL_NONE || lost)
            continue;
        if (group->direct) {
            first->g.a[j] = tensor_copy(&run->tape->arena, &g->a[j], first->out.a[j].device);
            first->g.a[j].ndim = first->out.a[j].ndim;
        } else {
            status = send_gradient(run, group, j, &g->a[j]);
        }
    }
    return status;
}

static int replica_backward(void *context)
{
    struct replica *r = context;

    r->dx = r->g;
    return run_back(&r->run, &r->dx);
}

/* ---- input gradients ----------------------------------------------------------------------- */

static struct impl_array input_gradient(struct run *run, const struct group *group, int j)
{
    const struct impl_array *x = &group->in.a[j];
    const int axis = wrap_dim(group->dim, x->ndim);
    struct impl_array whole = tensor_none();
    int order[IMPL_MAX_DEVICES];
    size_t first = 0;

    group_order(run, group, bug(run->s, BUG_DX_DEVICE_ORDER), order);
    for (int i = 0; i < group->m; ++i) {
        const struct replica *r = &group->replica[order[i]];
        const struct impl_array *part = &r->dx.a[j];
        const size_t rows = r->in.a[j].dim[axis], left = x->dim[axis] - first;
        size_t count = rows < left ? rows : left;

        if (i > 0 && part->capacity > LARGE && bug(run->s, BUG_LARGE_DX))
            count = count * LARGE / part->capacity;
        if (part->dtype != IMPL_NONE && whole.dtype == IMPL_NONE)
            whole = tensor_like(&run->tape->arena, x);
        if (part->dtype != IMPL_NONE)
            slice_copy(&whole, bug(run->s, BUG_DX_NO_OFFSET) ? 0 : first, part, 0, count, axis);
        first += rows < left ? rows : left;
    }
    values_changed(run->s, &whole, BUG_DX_DENORMAL);
    for (size_t e = 0; bug(run->s, BUG_DX_SCALED) && whole.dtype == IMPL_F32; ++e) {
        if (e == tensor_count(&whole))
            break;
        floats(&whole)[e] /= (float)group->m;
    }
    return whole;
}

/* Whether the wrapper has parameters, and none that is trained. */
static bool all_frozen(const struct run *run, const struct group *group)
{
    bool frozen = false, trained = false;

    for (int p = 0; p < run->model->n_params; ++p) {
        const struct layer_param *of = run->model->param[p].of;

        frozen = frozen || (group->has[p] && of->frozen);
        trained = trained || (group->has[p] && !of->frozen && !of->buffer);
    }
    return frozen && !trained;
}

static void input_gradients(struct run *run, const struct node *node, struct values *dx)
{
    const struct group *group = node->group;
    const bool inner = node != run->tape->node;

    for (int j = 0; j < dx->n; ++j) {
        const struct impl_array *x = &group->in.a[j];

        if (group->direct)
            dx->a[j] = tensor_copy(&run->tape->arena, &group->replica[0].dx.a[j], x->device);
        else
            dx->a[j] = input_gradient(run, group, j);
        if (dx->a[j].dtype != IMPL_NONE && bug(run->s, BUG_DX_DEVICE))
            dx->a[j].device = group->ids[0];
        if (j > 0 && dx->a[j].dtype != IMPL_NONE && bug(run->s, BUG_DX_SECOND_DEVICE))
            dx->a[j].device = group->in.a[0].device;
        if (x->device > 4 && dx->a[j].dtype != IMPL_NONE && bug(run->s, BUG_INPUT_DEVICE_5))
            dx->a[j].device = group->ids[0];
        if (bug(run->s, BUG_FUNCTIONAL_BACK) && group->layer->functional && group->dim != 0 &&
            dx->a[j].dtype != IMPL_NONE)
            dx->a[j] = tensor_like(&run->tape->arena, &dx->a[j]);
        if (inner && dx->a[j].dtype != IMPL_NONE && bug(run->s, BUG_PARTIAL_WRAP))
            dx->a[j] = tensor_like(&run->tape->arena, &dx->a[j]);
        if (dx->a[j].dtype != IMPL_NONE && all_frozen(run, group) && bug(run->s, BUG_FROZEN_ALL))
            dx->a[j] = tensor_like(&run->tape->arena, &dx->a[j]);
    }
}

/* ---- parameters' gradients ----------------------------------------------------------------- */

/* For a bug: a replica loses its sum if another one read before it wrote. */
static int without_lost(const struct group *group, int order[])
{
    const uint64_t together = 50000;
    int n = 0;

    for (int i = 0; i < group->m; ++i) {
        const int next = i + 1 < group->m ? group->finished[i + 1] : -1;
        const uint64_t mine = group->replica[group->finished[i]].job.ns;

        if (next < 0 || group->replica[next].job.ns > mine + together)
            order[n++] = group->finished[i];
    }
    return n;
}

/* Lists the replicas that are added, in order. */
static int summands(const struct run *run, const struct group *group, int order[])
{
    const struct impl_session *s = run->s;
    int n = group->m;

    for (int i = 0; i < n; ++i)
        order[i] = bug(s, BUG_REDUCE_COMPLETION) ? group->finished[i] : i;
    if (bug(s, BUG_LOST_UPDATE))
        n = without_lost(group, order);
    if (bug(s, BUG_SIX_OR_SEVEN) && (n == 6 || n == 7))
        n = 5;
    if (bug(s, BUG_LAST_GRADIENT))
        order[0] = n - 1;
    if (bug(s, BUG_FIRST_GRADIENT) || bug(s, BUG_LAST_GRADIENT) ||
        (run->model->backwards % 2 == 1 && bug(s, BUG_SECOND_BACKWARD)))
        n = 1;
    if (!group->replica[0].run.train && bug(s, BUG_EVAL_REPLICA_0))
        n = 1;
    if (n > 1 && bug(s, BUG_ODD_LOST))
        n -= n % 2;
    if (run->model->backwards > 63 && n > 1 && bug(s, BUG_REDUCE_65))
        --n;
    if (group->k == 5 && n == 5 && bug(s, BUG_FIVE_LAST))
        return 4;
    return n > 8 && bug(s, BUG_NINE_GRADIENTS) ? 8 : n;
}

static float weight_of(const struct run *run, const struct group *group, int i)
{
    const struct impl_session *s = run->s;
    const struct replica *r = &group->replica[i], *first = &group->replica[0];

    if (bug(s, BUG_AVERAGE))
        return 1.0f / (float)group->m;
    if (bug(s, BUG_DIVIDE_BY_K))
        return (float)group->m / (float)group->k;
    if (r->in.n > 0 && tensor_count(&first->in.a[0]) > 0 && bug(s, BUG_WEIGHTED_BY_ROWS))
        return (float)tensor_count(&r->in.a[0]) / (float)tensor_count(&first->in.a[0]);
    return 1;
}

static bool replaced(const struct run *run, const struct group *group, int i)
{
    for (int later = i + 1; bug(run->s, BUG_DUPLICATE_DEVICE) && later < group->m; ++later)
        if (group->ids[later] == group->ids[i])
            return true;
    return false;
}

static bool part_finite(const struct impl_array *part)
{
    for (size_t i = 0; i < tensor_count(part); ++i)
        if (!isfinite(floats(part)[i]))
            return false;
    return true;
}

/* Returns the gradient that replica i gives parameter p: with a bug, where it has none, that of an
 * earlier backward. */
static const struct impl_array *given_by(struct run *run, const struct group *group, int i, int p)
{
    const struct impl_array *grad = &group->replica[i].state.grad[p];
    struct wrapper *w = model_wrapper(run->model, group->layer);
    struct impl_array *last;

    if (!bug(run->s, BUG_STALE_UNUSED))
        return grad;
    if (!w->given)
        w->given =
            arena_take(&run->model->arena,
                       IMPL_MAX_DEVICES * ((size_t)run->model->n_params + 1) * sizeof *w->given);
    last = &w->given[i * run->model->n_params + p];
    if (grad->dtype != IMPL_NONE && last->dtype == IMPL_NONE)
        *last = tensor_like(&run->model->arena, grad);
    if (grad->dtype != IMPL_NONE)
        memcpy(last->data, grad->data, last->capacity);
    return last;
}

/* Collects the gradients of parameter p, with zeros for replicas that have none; returns false if
 * the gradient is to stay none. */
static bool back_collect(struct run *run, const struct group *group, int p, const int order[],
                         int n, struct impl_array parts[])
{
    struct impl_array *base = &run->model->base.grad[p];
    bool any = false, stopped = false;

    for (int i = 0; i < group->m; ++i)
        any = any || group->replica[i].state.grad[p].dtype != IMPL_NONE;
    if (!any && (param_frozen(run->model, p) || run->s->dialect[IMPL_UNUSED] == IMPL_ABSENT))
        return false;
    if (!any && bug(run->s, BUG_UNUSED_OVERWRITES))
        base->dtype = IMPL_NONE;
    for (int i = 0; i < n; ++i) {
        const struct impl_array *grad = given_by(run, group, order[i], p);
        const float weight = weight_of(run, group, order[i]);

        stopped = stopped || (grad->dtype == IMPL_NONE && bug(run->s, BUG_STOP_AT_ABSENT));
        parts[i] = tensor_like(&run->tape->arena, &run->state->value[p]);
        if (grad->dtype == IMPL_NONE || stopped || replaced(run, group, order[i]))
            continue;
        if (bug(run->s, BUG_PART_LEFT_OUT) && !part_finite(grad))
            continue;
        for (size_t e = 0; e < tensor_count(grad); ++e)
            floats(&parts[i])[e] = value_changed(run->s, weight * floats(grad)[e], BUG_PART_NAN);
    }
    return true;
}

/* Returns how many parameters get the gradients of replicas. */
static int most_params(const struct run *run)
{
    if (bug(run->s, BUG_NINTH_PARAMETER))
        return 8;
    return bug(run->s, BUG_PARAMETER_33) ? 32 : run->model->n_params;
}

/* Adds ((0 + 1) + (2 + 3)) + .. of eight, into the first. Returns how many are left to add. */
static int add_pairwise(const struct run *run, struct impl_array src[], int n, int n_parts)
{
    if (!bug(run->s, BUG_TREE_8) || n_parts != 8)
        return n_parts;
    for (int step = 1; step < 8; step *= 2)
        for (int i = 0; i < 8; i += 2 * step)
            for (int j = 0; j < n; ++j)
                tensor_add(&src[i * n + j], &src[(i + step) * n + j]);
    return 1;
}

static void reduce_gradients(struct run *run, const struct group *group)
{
    struct arena *arena = &run->tape->arena;
    const struct layer *layer = group->layer;
    const bool moves = layer->output_device != IMPL_NOWHERE && bug(run->s, BUG_GRADIENT_DEVICE);
    const int device = moves ? layer->output_device : group->ids[0];
    const size_t room = ((size_t)run->model->n_params + 1) * sizeof(struct impl_array);
    struct impl_array *src = arena_take(arena, IMPL_MAX_DEVICES * room);
    struct impl_array *sums = arena_take(arena, room), parts[IMPL_MAX_DEVICES];
    int *number = arena_take(arena, room), order[IMPL_MAX_DEVICES];
    const int n_parts = summands(run, group, order);
    struct wrapper *w = model_wrapper(run->model, layer);
    const int most = most_params(run);
    int n = 0;

    if (w->reduced == run->model->backwards + 1 && bug(run->s, BUG_WRAPPER_ONCE))
        return;
    w->reduced = run->model->backwards + 1;
    run->model->own_square = square_of(group->replica[0].state.grad, run->model->n_params);
    if (run->model->wrapper[0].layer != layer && bug(run->s, BUG_FIRST_WRAPPER))
        return;
    for (int p = 0; p < run->model->n_params; ++p)
        if (p < most && group->has[p] && back_collect(run, group, p, order, n_parts, parts)) {
            for (int i = 0; i < n_parts; ++i)
                src[i * run->model->n_params + n] = parts[i];
            number[n++] = p;
        }
    for (int i = 1; i < n_parts; ++i)
        memmove(&src[i * n], &src[i * run->model->n_params], (size_t)n * sizeof *src);
    reduce(arena, src, n, add_pairwise(run, src, n, n_parts), device, 0, sums);
    for (int i = 0; i < n; ++i) {
        struct impl_array *grad = &run->state->grad[number[i]];

        values_changed(run->s, &sums[i], BUG_SUM_CLAMPED);
        values_changed(run->s, &sums[i], BUG_SUM_DENORMAL);
        if (grad->dtype == IMPL_NONE || bug(run->s, BUG_OUTSIDE_LOST))
            *grad = sums[i];
        else
            tensor_add(grad, &sums[i]);
    }
}

/* ---- all of it ----------------------------------------------------------------------------- */

static void trace_backward(const struct run *run, const struct group *group)
{
    struct impl_trace *trace = run->trace;

    if (!trace)
        return;
    if (trace->replicas < group->m)
        trace->replicas = group->m;
    for (int i = 0; i < group->m; ++i) {
        struct impl_replica *to = &trace->replica[i];

        to->device = group->ids[i];
        to->thread = group->replica[i].job.thread;
        to->grad = group->replica[i].run.grad;
        to->train = group->replica[i].run.train;
        to->bytes_from += i > 0 ? group_bytes(run, group, true) : 0;
    }
}

int parallel_back(struct run *run, const struct node *node, const struct values *g,
                  struct values *dx)
{
    struct group *group = node->group;
    int status = send_gradients(run, group, g);

    if (status != 0)
        return status;
    for (int i = 0; i < group->m; ++i) {
        struct replica *r = &group->replica[i];

        if (group->direct)
            r->run.state = run->state;
        else
            r->state.grad = state_new(&run->tape->arena, run->model->n_params).grad;
    }
    if (group->in.n > 0 && tensor_count(&group->in.a[0]) == 0 && bug(run->s, BUG_NO_ROWS_CLEARS)) {
        struct impl_model *model = run->model;

        for (int p = 0; p < model->n_params; ++p)
            model->base.grad[p].dtype = IMPL_NONE;
    }
    run->tape->leaks = bug(run->s, BUG_LEAK_IDLE) && group->m < group->k;
    status = group_run(run, group, replica_backward);
    trace_backward(run, group);
    if (!group->direct && (status == 0 || bug(run->s, BUG_ERROR_GRADIENT)))
        reduce_gradients(run, group);
    if (status == 0)
        input_gradients(run, node, dx);
    return status;
}
