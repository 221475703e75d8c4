/* layers_transformer.c: the layers of a transformer except attention and cross entropy, in double;
 * each result is rounded once. */
#include "inside.h"

#include <math.h>

size_t width_of(const struct impl_array *x)
{
    return x->ndim > 0 ? x->dim[x->ndim - 1] : 1;
}

size_t tokens_of(const struct impl_array *x)
{
    const size_t width = width_of(x);

    return width > 0 ? tensor_count(x) / width : 0;
}

int input_misfit(struct run *run, const char *layer)
{
    return impl_fail(&run->err, IMPL_ESHAPE, "an input of another shape than %s takes", layer);
}

double dot_of(const float *a, const float *b, size_t n)
{
    double sum = 0;

    for (size_t k = 0; k < n; ++k)
        sum += (double)a[k] * (double)b[k];
    return sum;
}

/* ---- positions ------------------------------------------------------------------------------- */

/* Returns the position in its sequence of token i of the input. */
static size_t position(const struct run *run, const struct node *node, size_t i)
{
    const size_t steps = node->in.a[0].dim[1], rows = node->layer->in;

    if (bug(run->s, BUG_POSITIONS_REPLICA))
        return (i % steps + (size_t)run->replica) % rows;
    return bug(run->s, BUG_POSITIONS_ROW) ? i % rows : i % steps;
}

static int forward_positions(struct run *run, struct node *node)
{
    const struct impl_array *x = &node->in.a[0];
    const size_t width = node->layer->out;
    const float *w = param_at(run, node->layer, 0, x);

    if (!w || need_floats(run, node) != 0)
        return run->err.status;
    if (x->ndim != 3 || x->dim[1] > node->layer->in || x->dim[2] != width)
        return input_misfit(run, "positions");
    node->out.a[0] = tensor_like(&run->tape->arena, x);
    for (size_t i = 0; i < tensor_count(x); ++i)
        floats(&node->out.a[0])[i] =
            floats(x)[i] + w[position(run, node, i / width) * width + i % width];
    return 0;
}

static int backward_positions(struct run *run, const struct node *node, const struct values *g,
                              struct values *dx)
{
    const struct impl_array *x = &node->in.a[0];
    const size_t width = node->layer->out;
    const size_t row = x->dim[1] * width;
    const size_t n =
        bug(run->s, BUG_POSITIONS_FIRST) && tensor_count(x) > row ? row : tensor_count(x);
    float *dw = param_grad(run, node->layer, 0);

    for (size_t i = 0; dw && i < n; ++i)
        dw[position(run, node, i / width) * width + i % width] += floats(&g->a[0])[i];
    return pass_back(run, node, g, dx);
}

/* ---- layer norm ------------------------------------------------------------------------------ */

static void moments(const float *x, size_t n, float eps, double stats[2])
{
    double mean = 0, square = 0;

    for (size_t i = 0; i < n; ++i)
        mean += (double)x[i] / (double)n;
    for (size_t i = 0; i < n; ++i)
        square += ((double)x[i] - mean) * ((double)x[i] - mean) / (double)n;
    stats[0] = mean;
    stats[1] = 1 / sqrt(square + (double)eps);
}

static int forward_layer_norm(struct run *run, struct node *node)
{
    const struct layer *layer = node->layer;
    const struct impl_array *x = &node->in.a[0];
    const size_t n = layer->in, tokens = tokens_of(x);
    const float *w = param_at(run, layer, 0, x), *b = param_at(run, layer, 1, x);

    if (!w || !b || need_floats(run, node) != 0)
        return run->err.status;
    if (x->ndim < 1 || width_of(x) != n)
        return input_misfit(run, "layer_norm");
    node->out.a[0] = tensor_like(&run->tape->arena, x);
    node->stats = arena_take(&run->tape->arena, (2 * tokens + 1) * sizeof *node->stats);
    for (size_t i = 0; i < tokens; ++i) {
        const float *from = floats(x) + i * n;
        float *to = floats(&node->out.a[0]) + i * n;
        double *stats = node->stats + 2 * i;

        moments(from, n, layer->eps, stats);
        if (bug(run->s, BUG_LAYER_NORM_SHARD))
            moments(floats(x), tokens * n, layer->eps, stats);
        for (size_t k = 0; k < n; ++k)
            to[k] = (float)(((double)from[k] - stats[0]) * stats[1] * (double)w[k] + (double)b[k]);
    }
    return 0;
}

static int backward_layer_norm(struct run *run, const struct node *node, const struct values *g,
                               struct values *dx)
{
    const struct impl_array *x = &node->in.a[0];
    const size_t n = node->layer->in;
    const float *w = param_at(run, node->layer, 0, x);
    float *dw = param_grad(run, node->layer, 0), *db = param_grad(run, node->layer, 1);

    if (!w)
        return run->err.status;
    dx->a[0] = tensor_like(&run->tape->arena, x);
    for (size_t i = 0; i < tokens_of(x); ++i) {
        const float *from = floats(x) + i * n, *up = floats(&g->a[0]) + i * n;
        const double *stats = node->stats + 2 * i;

        /* Computes the gradients of one token. */
        float *down = floats(&dx->a[0]) + i * n;
        double sum = 0, product = 0;

        for (size_t k = 0; k < n; ++k) {
            const double slope = (double)up[k] * (double)w[k];

            sum += slope;
            product += slope * ((double)from[k] - stats[0]) * stats[1];
        }
        for (size_t k = 0; k < n; ++k) {
            const double v = ((double)from[k] - stats[0]) * stats[1];

            down[k] = (float)(stats[1] *
                              ((double)up[k] * (double)w[k] - (sum + v * product) / (double)n));
        }
        for (size_t k = 0; k < n; ++k) {
            if (dw)
                dw[k] += up[k] * (float)(((double)from[k] - stats[0]) * stats[1]);
            if (db)
                db[k] += up[k];
        }
    }
    return 0;
}

/* ---- gelu ------------------------------------------------------------------------------------ */

static const double root_half = 0.70710678118654752440, pi = 3.14159265358979323846;

/* Returns the value, or the slope. */
static double transformer_gelu(double x, bool tanh_form, bool slope)
{
    const double c = sqrt(2 / pi), t = tanh(c * (x + 0.044715 * x * x * x));
    const double share = tanh_form ? (1 + t) / 2 : (1 + erf(x * root_half)) / 2;
    const double bend = tanh_form ? (1 - t * t) / 2 * c * (1 + 3 * 0.044715 * x * x)
                                  : exp(-x * x / 2) / sqrt(2 * pi);

    return slope ? share + x * bend : x * share;
}

static int forward_gelu(struct run *run, struct node *node)
{
    const struct impl_array *x = &node->in.a[0];

    if (need_floats(run, node) != 0)
        return run->err.status;
    node->out.a[0] = tensor_like(&run->tape->arena, x);
    for (size_t i = 0; i < tensor_count(x); ++i)
        floats(&node->out.a[0])[i] =
            (float)transformer_gelu((double)floats(x)[i], node->layer->tanh_form, false);
    return 0;
}

static int backward_gelu(struct run *run, const struct node *node, const struct values *g,
                         struct values *dx)
{
    const struct impl_array *x = &node->in.a[0];

    dx->a[0] = tensor_like(&run->tape->arena, x);
    for (size_t i = 0; i < tensor_count(x); ++i)
        floats(&dx->a[0])[i] =
            (float)(transformer_gelu((double)floats(x)[i], node->layer->tanh_form, true) *
                    (double)floats(&g->a[0])[i]);
    return 0;
}

/* ---- output: the table of an embedding, the other way ---------------------------------------- */

static int forward_output(struct run *run, struct node *node)
{
    const struct layer *table = node->layer->of;
    const struct impl_array *x = &node->in.a[0];
    const float *w = param_at(run, table, 0, x);
    struct impl_array shape = *x;

    if (!w || need_floats(run, node) != 0)
        return run->err.status;
    if (x->ndim < 2 || width_of(x) != table->out)
        return input_misfit(run, "output");
    shape.dim[shape.ndim - 1] = table->in;
    node->out.a[0] = tensor_new(&run->tape->arena, IMPL_F32, shape.ndim, shape.dim, x->device);
    for (size_t i = 0; i < tokens_of(x); ++i)
        for (size_t r = 0; r < table->in; ++r)
            floats(&node->out.a[0])[i * table->in + r] =
                (float)dot_of(floats(x) + i * table->out, w + r * table->out, table->out);
    return 0;
}

static int backward_output(struct run *run, const struct node *node, const struct values *g,
                           struct values *dx)
{
    const struct layer *table = node->layer->of;
    const struct impl_array *x = &node->in.a[0];
    const size_t rows = table->in, width = table->out;
    const float *w = param_at(run, table, 0, x), *up = floats(&g->a[0]);
    const bool several = run->inside || run->model->team;
    const float times = several && bug(run->s, BUG_TABLE_TWICE) ? 2 : 1;
    float *dw = param_grad(run, table, 0);

    if (!w)
        return run->err.status;
    dx->a[0] = tensor_like(&run->tape->arena, x);
    for (size_t i = 0; i < tokens_of(x); ++i)
        for (size_t r = 0; r < rows; ++r)
            for (size_t k = 0; k < width; ++k) {
                if (dw)
                    dw[r * width + k] += times * up[i * rows + r] * floats(x)[i * width + k];
                floats(&dx->a[0])[i * width + k] += up[i * rows + r] * w[r * width + k];
            }
    return 0;
}

const struct layer_ops transformer_layers[LAYER_KINDS] = {
    [LAYER_POSITIONS] = {1, forward_positions, backward_positions},
    [LAYER_LAYER_NORM] = {1, forward_layer_norm, backward_layer_norm},
    [LAYER_GELU] = {1, forward_gelu, backward_gelu},
    [LAYER_OUTPUT] = {1, forward_output, backward_output},
};
