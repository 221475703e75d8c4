/* layers_norm.c: batch norm, and bugs of its running statistics. */
#include "inside.h"

#include <math.h>

enum { WEIGHT, BIAS, MEAN, VARIANCE, BATCHES }; /* its parameters and buffers */

/* The statistics of a column of x. */
struct moments {
    double mean, biased, unbiased;
};

static struct moments moments_of(const struct impl_array *x, size_t column)
{
    const size_t n = x->dim[0], columns = x->dim[1];
    struct moments m = {0, 0, 0};
    double squares = 0;

    for (size_t r = 0; r < n; ++r)
        m.mean += (double)floats(x)[r * columns + column];
    m.mean /= (double)n;
    for (size_t r = 0; r < n; ++r) {
        const double d = (double)floats(x)[r * columns + column] - m.mean;

        squares += d * d;
    }
    m.biased = squares / (double)n;
    m.unbiased = n > 1 ? squares / ((double)n - 1) : 0;
    return m;
}

static bool by_own_rows(const struct run *run)
{
    if (run->replica > 0 && run->inside && run->train && bug(run->s, BUG_NORM_BASE_SHARD))
        return false;
    return run->train || (run->replica > 0 && run->inside && bug(run->s, BUG_NORM_EVAL_OWN));
}

static float moved(const struct run *run, const struct layer *layer, float running, double value)
{
    const bool old = bug(run->s, BUG_NORM_MOMENTUM_OLD);
    const double momentum = old ? 1 - (double)layer->momentum : (double)layer->momentum;

    return (float)((1 - momentum) * (double)running + momentum * value);
}

static void norm_move(const struct run *run, const struct layer *layer, size_t column,
                      const struct moments *m, float *mean, float *variance)
{
    const bool biased = bug(run->s, BUG_NORM_BIASED);

    mean[column] = moved(run, layer, mean[column], m->mean);
    variance[column] = moved(run, layer, variance[column], biased ? m->biased : m->unbiased);
}

/* For bugs: the mean and variance of a column that a replica used before. */
static float *seen(const struct run *run, const struct layer *layer, size_t column)
{
    struct param *param = &run->model->param[param_index(run->model, layer, 0)];

    return param->seen ? param->seen + 2 * column : NULL;
}

static double norm_factor_of(const struct run *run, const struct layer *layer, double variance)
{
    const double eps = (double)layer->eps;

    if (run->train && bug(run->s, BUG_NORM_EPS_OUTSIDE))
        return 1 / (sqrt(variance) + eps);
    return 1 / sqrt(variance + eps);
}

/* Whether training moves the running statistics, which bugs keep where they are. */
static bool moves(const struct run *run, const struct layer *layer)
{
    if (!run->grad && bug(run->s, BUG_NORM_NO_GRAD))
        return false;
    return !(layer->param[WEIGHT].frozen && bug(run->s, BUG_NORM_FROZEN));
}

static void norm_normalise(struct run *run, const struct node *node, size_t c, float *const param[])
{
    const struct layer *layer = node->layer;
    const struct impl_array *x = &node->in.a[0];
    const bool whole = run->inside && bug(run->s, BUG_NORM_FULL);
    const size_t column = run->train && c > 1 && bug(run->s, BUG_NORM_THIRD) ? 1 : c;
    const struct moments m = moments_of(whole ? &run->whole->a[0] : x, column);
    const bool own = by_own_rows(run);
    const float *old = own ? NULL : seen(run, layer, c);
    const double mean = own ? m.mean : old ? (double)old[0] : (double)param[MEAN][c];
    const double variance = own ? m.biased : old ? (double)old[1] : (double)param[VARIANCE][c];
    const double factor = norm_factor_of(run, layer, variance);

    node->stats[c] = mean;
    node->stats[layer->in + c] = factor;
    for (size_t r = 0; r < x->dim[0]; ++r) {
        const size_t i = r * layer->in + c;
        const double v = ((double)floats(x)[i] - mean) * factor;

        floats(&node->out.a[0])[i] = (float)(v * (double)param[WEIGHT][c] + (double)param[BIAS][c]);
    }
    if (run->train && moves(run, layer))
        norm_move(run, layer, c, &m, param[MEAN], param[VARIANCE]);
}

static int params_at(struct run *run, const struct node *node, float *param[])
{
    for (int k = WEIGHT; k <= BATCHES; ++k) {
        param[k] = param_at(run, node->layer, k, &node->in.a[0]);
        if (!param[k])
            return run->err.status;
    }
    return 0;
}

static int forward_norm(struct run *run, struct node *node)
{
    const struct layer *layer = node->layer;
    const struct impl_array *x = &node->in.a[0];
    float *param[BATCHES + 1];

    if (need_floats(run, node) != 0 || params_at(run, node, param) != 0)
        return run->err.status;
    if (x->ndim != 2 || x->dim[1] != layer->in)
        return impl_fail(&run->err, IMPL_ESHAPE, "batch_norm of %zu columns", layer->in);
    if (run->train && x->dim[0] < 2 && !bug(run->s, BUG_NORM_ONE_ROW))
        return impl_fail(&run->err, IMPL_EINVAL, "%zu rows have no variance", x->dim[0]);
    node->out.a[0] = tensor_like(&run->tape->arena, x);
    node->stats = arena_take(&run->tape->arena, 2 * layer->in * sizeof *node->stats);
    for (size_t c = 0; c < layer->in; ++c)
        norm_normalise(run, node, c, param);
    if (run->train || bug(run->s, BUG_NORM_EVAL_COUNTS))
        param[BATCHES][0] += 1;
    node->trained = by_own_rows(run);
    return 0;
}

struct slopes {
    float *weight, *bias;
    struct impl_array *x;
};

static void column_back(const struct node *node, const struct impl_array *up, size_t c,
                        float weight, const struct slopes *to)
{
    const struct impl_array *x = &node->in.a[0];
    const size_t n = x->dim[0], columns = node->layer->in;
    const double mean = node->stats[c], factor = node->stats[columns + c];
    double sum = 0, product = 0;

    for (size_t i = c; i < n * columns; i += columns) {
        sum += (double)floats(up)[i];
        product += (double)floats(up)[i] * ((double)floats(x)[i] - mean) * factor;
    }
    if (to->weight)
        to->weight[c] += (float)product;
    if (to->bias)
        to->bias[c] += (float)sum;
    for (size_t i = c; i < n * columns; i += columns) {
        const double v = ((double)floats(x)[i] - mean) * factor;
        const double off = node->trained ? (sum + v * product) / (double)n : 0;

        floats(to->x)[i] = (float)((double)weight * factor * ((double)floats(up)[i] - off));
    }
}

static int backward_norm(struct run *run, const struct node *node, const struct values *g,
                         struct values *dx)
{
    const bool lost = !node->trained && bug(run->s, BUG_EVAL_SLOPE);
    const struct slopes to = {lost ? NULL : param_grad(run, node->layer, WEIGHT),
                              param_grad(run, node->layer, BIAS), &dx->a[0]};
    const size_t columns = node->layer->in;
    float *param[BATCHES + 1];

    if (params_at(run, node, param) != 0)
        return run->err.status;
    dx->a[0] = tensor_like(&run->tape->arena, &node->in.a[0]);
    for (size_t c = 0; c < columns; ++c) {
        if (!node->trained && bug(run->s, BUG_NORM_STALE)) {
            node->stats[c] = (double)param[MEAN][c];
            node->stats[columns + c] =
                1 / sqrt((double)param[VARIANCE][c] + (double)node->layer->eps);
        }
        column_back(node, &g->a[0], c, param[WEIGHT][c], &to);
    }
    return 0;
}

const struct layer_ops norm_layers[LAYER_KINDS] = {
    [LAYER_BATCH_NORM] = {1, forward_norm, backward_norm},
};

/* ---- the base's after a forward of replicas -------------------------------------------------- */

/* Computes the statistics of the base for one layer that ran in every replica. */
static void gather_column(const struct run *run, const struct group *group, int node, size_t c)
{
    const struct layer *layer = group->replica[0].tape.node[node].layer;
    const int p = param_index(run->model, layer, 0);
    float *mean = floats(&run->state->value[p + MEAN]);
    float *variance = floats(&run->state->value[p + VARIANCE]);
    double sums[2] = {0, 0};

    for (int i = 0; i < group->m; ++i) {
        const struct replica *r = &group->replica[i];
        const struct moments m = moments_of(&r->tape.node[node].in.a[0], c);
        const float own[2] = {floats(&r->state.value[p + MEAN])[c],
                              floats(&r->state.value[p + VARIANCE])[c]};

        sums[0] += (double)own[0] / group->m;
        sums[1] += (double)own[1] / group->m;
        if (i > 0 && bug(run->s, BUG_NORM_IN_TURN))
            norm_move(run, layer, c, &m, mean, variance);
        if (bug(run->s, BUG_NORM_LAST)) {
            mean[c] = own[0];
            variance[c] = own[1];
        }
    }
    if (bug(run->s, BUG_NORM_AVERAGE)) {
        mean[c] = (float)sums[0];
        variance[c] = (float)sums[1];
    }
}

/* For bugs: keeps the statistics with which replicas will evaluate from now on. */
static void keep_seen(const struct run *run, const struct group *group, int node)
{
    const struct layer *layer = group->replica[0].tape.node[node].layer;
    const int p = param_index(run->model, layer, 0);
    float **kept = &run->model->param[p].seen;
    const bool written = bug(run->s, BUG_EVAL_WRITTEN);
    if (written && run->train)
        *kept = NULL;
    const bool first = !run->train && !*kept && (written || bug(run->s, BUG_EVAL_FIRST));
    const bool batch = run->train && bug(run->s, BUG_EVAL_BATCH);

    if (!first && !batch)
        return;
    if (!*kept)
        *kept = arena_take(&run->model->arena, 2 * layer->in * sizeof **kept);
    for (size_t c = 0; c < layer->in; ++c) {
        const struct moments m = moments_of(&group->replica[0].tape.node[node].in.a[0], c);

        (*kept)[2 * c] = batch ? (float)m.mean : floats(&run->state->value[p + MEAN])[c];
        (*kept)[2 * c + 1] =
            batch ? (float)m.unbiased : floats(&run->state->value[p + VARIANCE])[c];
    }
}

void norm_after(struct run *run, const struct group *group)
{
    const struct tape *tape = &group->replica[0].tape;

    for (int i = 0; i < tape->n; ++i)
        if (tape->node[i].layer->kind == LAYER_BATCH_NORM)
            keep_seen(run, group, i);

    for (int i = 0; run->train && i < tape->n; ++i) {
        const struct layer *layer = tape->node[i].layer;
        int p;

        if (layer->kind != LAYER_BATCH_NORM)
            continue;
        p = param_index(run->model, layer, 0);
        for (size_t c = 0; c < layer->in; ++c)
            gather_column(run, group, i, c);
        if (bug(run->s, BUG_NORM_BATCHES) || bug(run->s, BUG_NORM_IN_TURN))
            floats(&run->state->value[p + BATCHES])[0] += (float)(group->m - 1);
    }
}
