/* parallel_slices.c: cuts the inputs of a `parallel` layer, and concatenates its outputs. */
#include "inside.h"

#include <string.h>

static size_t slices_rows_of(const struct impl_array *x, int dim)
{
    const int axis = wrap_dim(dim, x->ndim);

    return axis < 0 ? 0 : x->dim[axis];
}

/* ---- inputs -------------------------------------------------------------------------------- */

static int check_inputs(struct run *run, const struct group *group)
{
    const struct impl_array *first = &group->in.a[0];

    for (int j = 1; j < group->in.n; ++j) {
        const struct impl_array *x = &group->in.a[j];

        if (group->dim < 0 && x->ndim != first->ndim &&
            run->s->dialect[IMPL_MIXED_RANKS] == IMPL_REFUSE)
            return impl_fail(&run->err, IMPL_ESHAPE, "dim %d of inputs of %d and %d dimensions",
                             group->dim, first->ndim, x->ndim);
        if (slices_rows_of(x, group->dim) != slices_rows_of(first, group->dim) &&
            run->s->dialect[IMPL_UNEQUAL_ROWS] == IMPL_REFUSE)
            return impl_fail(&run->err, IMPL_ESHAPE, "input %d has %zu rows, input 0 has %zu", j,
                             slices_rows_of(x, group->dim), slices_rows_of(first, group->dim));
    }
    return 0;
}

static struct impl_array other_rows(struct run *run, const struct impl_array *x, int dim,
                                    size_t rows, int device)
{
    struct impl_array like = *x, made;
    const int axis = wrap_dim(dim, x->ndim);

    like.dim[axis] = rows;
    like.device = device;
    made = tensor_like(&run->tape->arena, &like);
    slice_copy(&made, 0, x, 0, rows < x->dim[axis] ? rows : x->dim[axis], axis);
    return made;
}

/* Returns how many replicas run if m shards were made. */
static int how_many(const struct run *run, const struct group *group, int m)
{
    const bool surplus =
        bug(run->s, BUG_ALWAYS_K) || (run->n_args > 0 && bug(run->s, BUG_ARGS_SURPLUS));

    if (group->in.n > 0)
        return surplus ? group->k : m;
    if (run->n_args > 0)
        return run->s->dialect[IMPL_ARGUMENTS_ONLY] == IMPL_CALL ? 1 : group->k;
    return bug(run->s, BUG_NO_INPUTS_K) ? group->k : 1;
}

/* Returns which input the shards of input j are taken from. */
static int source_of(const struct run *run, int j)
{
    if (j == 3 && bug(run->s, BUG_FOURTH_INPUT))
        return 0;
    return j == 2 && bug(run->s, BUG_THIRD_INPUT) ? 1 : j;
}

/* Cuts every input, and makes a replica for each shard. */
int group_shards(struct run *run, struct group *group)
{
    struct impl_array(*shards)[IMPL_MAX_DEVICES] =
        arena_take(&run->tape->arena, IMPL_MAX_IO * sizeof *shards);
    int m = group->k, made = 0;

    if (check_inputs(run, group) != 0)
        return run->err.status;
    for (int j = 0; j < group->in.n; ++j) {
        if (scatter(&run->tape->arena, &group->in.a[j], group->ids, group->k, group->dim, NULL,
                    shards[j], &made, &run->err) != 0)
            return run->err.status;
        m = made < m ? made : m;
    }
    if (group->in.n > 0 && bug(run->s, BUG_DROP_RAGGED) &&
        (m > 1 &&
         slices_rows_of(&shards[0][m - 1], group->dim) < slices_rows_of(&shards[0][0], group->dim)))
        --m;
    made = m;
    group->m = how_many(run, group, m);
    group->replica = arena_take(&run->tape->arena, (size_t)group->m * sizeof *group->replica);
    for (int i = 0; i < group->m; ++i)
        for (int j = 0; j < group->in.n; ++j) {
            struct impl_array *in = &group->replica[i].in.a[j];

            group->replica[i].in.n = group->in.n;
            if (i >= made) /* only with bugs: a replica without rows */
                *in = other_rows(run, &group->in.a[j], group->dim, 0, group->ids[i]);
            else if (i == made - 1 && bug(run->s, BUG_PAD_LAST))
                *in = other_rows(run, &shards[j][i], group->dim,
                                 slices_rows_of(&shards[j][0], group->dim), group->ids[i]);
            else
                *in = shards[source_of(run, j)][i];
        }
    return 0;
}

/* ---- outputs ------------------------------------------------------------------------------- */

void group_order(const struct run *run, const struct group *group, bool by_device, int order[])
{
    /* The order of replicas in time differs from run to run, so the bug is asked for first. */
    const bool by_time = bug(run->s, BUG_COMPLETION_ORDER) ||
                         (bug(run->s, BUG_REPLICA_2_FIRST) && group->finished[0] == 2);

    for (int i = 0; i < group->m; ++i) {
        int at = i;

        for (; by_device && at > 0 && group->ids[order[at - 1]] > group->ids[i]; --at)
            order[at] = order[at - 1];
        order[at] = i;
    }
    if (by_time)
        memcpy(order, group->finished, (size_t)group->m * sizeof *order);
    if (group->k == 6 && group->m > 4 && bug(run->s, BUG_SIX_ORDER)) {
        const int kept = order[3];

        order[3] = order[4];
        order[4] = kept;
    }
}

static int output_device(const struct run *run, const struct group *group)
{
    if (bug(run->s, BUG_OUTPUT_ON_LAST))
        return group->ids[group->k - 1];
    if (group->layer->functional && bug(run->s, BUG_FUNCTIONAL_OUTPUT))
        return group->ids[0];
    if (bug(run->s, BUG_OUTPUT_ON_0))
        return 0;
    if (group->layer->output_device == IMPL_HOST && bug(run->s, BUG_OUTPUT_HOST_IGNORED))
        return group->ids[0];
    if (group->layer->output_device == IMPL_NOWHERE)
        return group->layer->functional && bug(run->s, BUG_FUNCTIONAL_DEFAULT) ? 0 : group->ids[0];
    if (group->layer->output_device > 4 && bug(run->s, BUG_OUTPUT_DEVICE_5))
        return group->ids[0];
    return group->layer->output_device;
}

/* Returns output j of replica i, or a wrong one with a bug. */
static struct impl_array output_part(struct run *run, const struct group *group, int i, int j)
{
    const struct replica *r = &group->replica[i];
    struct impl_array part = r->out.a[bug(run->s, BUG_THIRD_OUTPUT) && j == 2 ? 1 : j];
    size_t most = slices_rows_of(&part, group->dim);

    if (part.ndim == 0)
        return part;
    if (r->in.n > 0 && bug(run->s, BUG_OUTPUT_TRIMMED))
        most = slices_rows_of(&r->in.a[0], group->dim);
    if (j > 0 && bug(run->s, BUG_SECOND_OUTPUT))
        most = slices_rows_of(&r->out.a[0], group->dim);
    if (most < slices_rows_of(&part, group->dim))
        part = other_rows(run, &part, group->dim, most, part.device);
    return part;
}

/* The outputs if the module itself ran, or if a bug treats it so. */
static void bare_outputs(struct run *run, const struct group *group, int device, struct values *v)
{
    *v = group->replica[0].out;
    for (int j = 0; j < v->n; ++j) {
        if (device != IMPL_NOWHERE)
            v->a[j] = tensor_copy(&run->tape->arena, &v->a[j], device);
        if (v->a[j].ndim == 0 && bug(run->s, BUG_SINGLE_GATHERS))
            v->a[j].dim[v->a[j].ndim++] = 1;
    }
}

static int output_dim(const struct run *run, const struct group *group)
{
    const bool given = group->layer->output_device != IMPL_NOWHERE && !group->layer->functional;

    if (bug(run->s, BUG_DIM_SCATTER_ONLY) || (given && bug(run->s, BUG_OUTPUT_DIM)))
        return 0;
    return group->dim;
}

int group_outputs(struct run *run, struct group *group, struct values *v)
{
    const int device = output_device(run, group);
    const int dim = output_dim(run, group);
    struct wrapper *w = model_wrapper(run->model, group->layer);
    int order[IMPL_MAX_DEVICES], status = 0;

    if (group->direct || (group->m == 1 && bug(run->s, BUG_ONE_SHARD_BARE))) {
        const bool honours = run->s->dialect[IMPL_SINGLE_OUTPUT] == IMPL_HONOUR &&
                             group->layer->output_device != IMPL_NOWHERE;

        bare_outputs(run, group, !group->direct || honours ? device : IMPL_NOWHERE, v);
        return 0;
    }
    group_order(run, group, bug(run->s, BUG_GATHER_DEVICE_ORDER), order);
    v->n = group->replica[0].out.n;
    for (int j = 0; status == 0 && j < v->n; ++j) {
        struct impl_array parts[IMPL_MAX_DEVICES];
        int n = group->layer->n_children == 0 && bug(run->s, BUG_EMPTY_WRAPPER) ? 1 : group->m;

        for (int i = 0; i < n; ++i) {
            parts[i] = output_part(run, group, order[i], j);
            w->sizes[i] = parts[i].ndim > 0 ? slices_rows_of(&parts[i], dim) : 1;
        }
        while (parts[0].ndim == 0 && n < group->k && bug(run->s, BUG_SCALARS_K))
            parts[n++] = tensor_like(&run->tape->arena, &parts[0]);
        status = gather(&run->tape->arena, parts, n, dim,
                        j > 0 && bug(run->s, BUG_SECOND_OUTPUT_DEVICE) ? group->ids[0] : device,
                        &v->a[j], &run->err);
    }
    return status;
}
