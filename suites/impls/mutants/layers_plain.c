/* layers_plain.c: the layers without parameters that do arithmetic. */
#include "inside.h"

int pass_back(struct run *run, const struct node *node, const struct values *g, struct values *dx)
{
    (void)run;
    (void)node;
    dx->a[0] = g->a[0];
    return 0;
}

int need_floats(struct run *run, const struct node *node)
{
    for (int i = 0; i < node->in.n; ++i)
        if (node->in.a[i].dtype != IMPL_F32)
            return impl_fail(&run->err, IMPL_EINVAL, "the layer works on float32");
    return 0;
}

static int need_rows(struct run *run, const struct node *node)
{
    if (node->in.a[0].ndim == 0)
        return impl_fail(&run->err, IMPL_ESHAPE, "the layer needs at least one dimension");
    return need_floats(run, node);
}

/* Returns the number of elements of a row. */
static size_t width(const struct impl_array *x)
{
    size_t elements = 1;

    for (int i = 1; i < x->ndim; ++i)
        elements *= x->dim[i];
    return elements;
}

/* Returns a tensor like x, with another number of rows. */
static struct impl_array with_rows(struct run *run, const struct impl_array *x, size_t rows)
{
    struct impl_array like = *x;

    like.dim[0] = rows;
    return tensor_like(&run->tape->arena, &like);
}

static int forward_relu(struct run *run, struct node *node)
{
    const struct impl_array *x = &node->in.a[0];

    node->out.a[0] = tensor_like(&run->tape->arena, x);
    for (size_t i = 0; x->dtype == IMPL_F32 && i < tensor_count(x); ++i)
        floats(&node->out.a[0])[i] = floats(x)[i] > 0 ? floats(x)[i] : 0;
    return need_floats(run, node);
}

static int backward_relu(struct run *run, const struct node *node, const struct values *g,
                         struct values *dx)
{
    const struct impl_array *x = &node->in.a[0];

    dx->a[0] = tensor_like(&run->tape->arena, x);
    for (size_t i = 0; i < tensor_count(x); ++i)
        floats(&dx->a[0])[i] = floats(x)[i] > 0 ? floats(&g->a[0])[i] : 0;
    return 0;
}

static int forward_identity(struct run *run, struct node *node)
{
    (void)run;
    node->out = node->in;
    return 0;
}

static int forward_multiply(struct run *run, struct node *node)
{
    const struct impl_array *a = &node->in.a[0], *b = &node->in.a[1];

    if (!same_shape(a, b))
        return impl_fail(&run->err, IMPL_ESHAPE, "multiply: inputs of different shapes");
    if (need_floats(run, node) != 0)
        return run->err.status;
    if (a->device != b->device) {
        impl_fail(&run->err, IMPL_EDEVICE, "multiply: inputs on device %d and device %d", a->device,
                  b->device);
        run->err.device = a->device;
        run->err.device_also = b->device;
        return IMPL_EDEVICE;
    }
    node->out.a[0] = tensor_like(&run->tape->arena, a);
    for (size_t i = 0; i < tensor_count(a); ++i)
        floats(&node->out.a[0])[i] = node->layer->factor * (floats(a)[i] * floats(b)[i]);
    return 0;
}

static int backward_multiply(struct run *run, const struct node *node, const struct values *g,
                             struct values *dx)
{
    const float factor = node->layer->factor;

    for (int k = 0; k < 2; ++k) {
        dx->a[k] = tensor_like(&run->tape->arena, &node->in.a[k]);
        for (size_t i = 0; i < tensor_count(&dx->a[k]); ++i)
            floats(&dx->a[k])[i] = factor * floats(&g->a[0])[i] * floats(&node->in.a[1 - k])[i];
    }
    return 0;
}

/* Computes to = from minus its mean over rows; both directions use it. */
static void subtract_mean(const struct impl_array *from, struct impl_array *to)
{
    const size_t n = from->dim[0], columns = width(from);

    for (size_t c = 0; c < columns; ++c) {
        float sum = 0;

        for (size_t i = 0; i < n; ++i)
            sum += floats(from)[i * columns + c];
        for (size_t i = 0; i < n; ++i)
            floats(to)[i * columns + c] = floats(from)[i * columns + c] - sum / (float)n;
    }
}

static int forward_subtract_mean(struct run *run, struct node *node)
{
    if (need_rows(run, node) != 0)
        return run->err.status;
    node->out.a[0] = tensor_like(&run->tape->arena, &node->in.a[0]);
    subtract_mean(&node->in.a[0], &node->out.a[0]);
    return 0;
}

static int backward_subtract_mean(struct run *run, const struct node *node, const struct values *g,
                                  struct values *dx)
{
    dx->a[0] = tensor_like(&run->tape->arena, &node->in.a[0]);
    subtract_mean(&g->a[0], &dx->a[0]);
    return 0;
}

/* ---- rows ---------------------------------------------------------------------------------- */

static struct impl_array doubled(struct run *run, const struct impl_array *x)
{
    struct impl_array y = with_rows(run, x, 2 * x->dim[0]);

    for (size_t i = 0; i < x->dim[0]; ++i) {
        slice_copy(&y, 2 * i, x, i, 1, 0);
        slice_copy(&y, 2 * i + 1, x, i, 1, 0);
    }
    return y;
}

static void add_halves(struct impl_array *dx, const struct impl_array *g)
{
    const size_t columns = width(dx);

    for (size_t i = 0; g->dtype != IMPL_NONE && i < dx->dim[0]; ++i)
        for (size_t c = 0; c < columns; ++c)
            floats(dx)[i * columns + c] +=
                floats(g)[2 * i * columns + c] + floats(g)[(2 * i + 1) * columns + c];
}

static int forward_double_rows(struct run *run, struct node *node)
{
    if (need_rows(run, node) != 0)
        return run->err.status;
    node->out.a[0] = doubled(run, &node->in.a[0]);
    return 0;
}

static int backward_double_rows(struct run *run, const struct node *node, const struct values *g,
                                struct values *dx)
{
    dx->a[0] = tensor_like(&run->tape->arena, &node->in.a[0]);
    add_halves(&dx->a[0], &g->a[0]);
    return 0;
}

static int forward_fork(struct run *run, struct node *node)
{
    if (need_rows(run, node) != 0)
        return run->err.status;
    node->out.n = 2;
    node->out.a[0] = node->in.a[0];
    node->out.a[1] = doubled(run, &node->in.a[0]);
    return 0;
}

static int backward_fork(struct run *run, const struct node *node, const struct values *g,
                         struct values *dx)
{
    dx->a[0] = tensor_like(&run->tape->arena, &node->in.a[0]);
    add_halves(&dx->a[0], &g->a[1]);
    if (g->a[0].dtype != IMPL_NONE)
        tensor_add(&dx->a[0], &g->a[0]);
    return 0;
}

static int forward_take(struct run *run, struct node *node)
{
    const struct layer *layer = node->layer;
    const double rows = layer_number(layer->number, layer->n_numbers, run->replica);

    if (need_rows(run, node) != 0)
        return run->err.status;
    if (!(rows >= 0 && rows <= (double)node->in.a[0].dim[0]))
        return impl_fail(&run->err, IMPL_ESHAPE, "take %g of %zu rows", rows, node->in.a[0].dim[0]);
    node->out.a[0] = with_rows(run, &node->in.a[0], (size_t)rows);
    slice_copy(&node->out.a[0], 0, &node->in.a[0], 0, (size_t)rows, 0);
    return 0;
}

static int backward_take(struct run *run, const struct node *node, const struct values *g,
                         struct values *dx)
{
    dx->a[0] = tensor_like(&run->tape->arena, &node->in.a[0]);
    slice_copy(&dx->a[0], 0, &g->a[0], 0, g->a[0].dim[0], 0);
    return 0;
}

static int forward_widen(struct run *run, struct node *node)
{
    const struct layer *layer = node->layer;
    const struct impl_array *x = &node->in.a[0];
    const double columns = layer_number(layer->number, layer->n_numbers, run->replica);
    const size_t shape[] = {x->dim[0], columns >= 0 && columns < 1e6 ? (size_t)columns : 0};

    if (need_floats(run, node) != 0)
        return run->err.status;
    if (x->ndim != 2 || x->dim[1] != 1)
        return impl_fail(&run->err, IMPL_ESHAPE, "widen takes one column");
    node->out.a[0] = tensor_new(&run->tape->arena, IMPL_F32, 2, shape, x->device);
    for (size_t i = 0; i < shape[0] * shape[1]; ++i)
        floats(&node->out.a[0])[i] = floats(x)[i / shape[1]];
    return 0;
}

static int backward_widen(struct run *run, const struct node *node, const struct values *g,
                          struct values *dx)
{
    dx->a[0] = tensor_like(&run->tape->arena, &node->in.a[0]);
    for (size_t i = 0; i < tensor_count(&g->a[0]); ++i)
        floats(&dx->a[0])[i / g->a[0].dim[1]] += floats(&g->a[0])[i];
    return 0;
}

/* ---- sums ---------------------------------------------------------------------------------- */

static float plain_sum_of(const struct impl_array *x, size_t first, size_t n)
{
    float sum = 0;

    for (size_t i = 0; i < n; ++i)
        sum += floats(x)[first + i];
    return sum;
}

static struct impl_array scalar(struct run *run, const struct impl_array *x, float value)
{
    struct impl_array y = tensor_new(&run->tape->arena, IMPL_F32, 0, NULL, x->device);

    floats(&y)[0] = value;
    return y;
}

static int forward_sum(struct run *run, struct node *node)
{
    const struct impl_array *x = &node->in.a[0];

    if (need_floats(run, node) != 0)
        return run->err.status;
    node->out.a[0] = scalar(run, x, plain_sum_of(x, 0, tensor_count(x)));
    return 0;
}

static void plain_fill(struct impl_array *x, float value)
{
    for (size_t i = 0; i < tensor_count(x); ++i)
        floats(x)[i] = value;
}

static int backward_sum(struct run *run, const struct node *node, const struct values *g,
                        struct values *dx)
{
    dx->a[0] = tensor_like(&run->tape->arena, &node->in.a[0]);
    plain_fill(&dx->a[0], floats(&g->a[0])[0]);
    return 0;
}

/* Returns the mean of the means of the outputs of earlier replicas. */
static float mean_of_means(const struct run *run, const struct impl_array *x)
{
    const int m = run->last->m;
    size_t first = 0;
    float sum = 0;

    for (int i = 0; i < m; ++i) {
        const size_t n = tensor_count(&run->last->replica[i].out.a[0]);

        if (first + n <= tensor_count(x))
            sum += plain_sum_of(x, first, n) / (float)n;
        first += n;
    }
    return sum / (float)m;
}

static int forward_mean(struct run *run, struct node *node)
{
    const struct impl_array *x = &node->in.a[0];
    const size_t n = tensor_count(x);

    if (need_floats(run, node) != 0)
        return run->err.status;
    node->out.a[0] = scalar(run, x, plain_sum_of(x, 0, n) / (float)n);
    if (run->last && bug(run->s, BUG_MEAN_OF_MEANS))
        floats(&node->out.a[0])[0] = mean_of_means(run, x);
    return 0;
}

static int backward_mean(struct run *run, const struct node *node, const struct values *g,
                         struct values *dx)
{
    dx->a[0] = tensor_like(&run->tape->arena, &node->in.a[0]);
    plain_fill(&dx->a[0], floats(&g->a[0])[0] / (float)tensor_count(&node->in.a[0]));
    return 0;
}

static int forward_sum_rows(struct run *run, struct node *node)
{
    const struct impl_array *x = &node->in.a[0];

    if (need_rows(run, node) != 0)
        return run->err.status;
    node->out.a[0] = with_rows(run, x, 1);
    for (size_t i = 0; i < tensor_count(x); ++i)
        floats(&node->out.a[0])[i % width(x)] += floats(x)[i];
    return 0;
}

static int backward_sum_rows(struct run *run, const struct node *node, const struct values *g,
                             struct values *dx)
{
    dx->a[0] = tensor_like(&run->tape->arena, &node->in.a[0]);
    for (size_t i = 0; i < dx->a[0].dim[0]; ++i)
        slice_copy(&dx->a[0], i, &g->a[0], 0, 1, 0);
    return 0;
}

static int forward_scalar_at(struct run *run, struct node *node)
{
    if (layer_listed(node->layer, run->replica))
        return forward_sum(run, node);
    return forward_identity(run, node);
}

static int backward_scalar_at(struct run *run, const struct node *node, const struct values *g,
                              struct values *dx)
{
    if (layer_listed(node->layer, run->replica))
        return backward_sum(run, node, g, dx);
    return pass_back(run, node, g, dx);
}

const struct layer_ops plain_layers[LAYER_KINDS] = {
    [LAYER_RELU] = {1, forward_relu, backward_relu},
    [LAYER_IDENTITY] = {1, forward_identity, pass_back},
    [LAYER_MULTIPLY] = {2, forward_multiply, backward_multiply},
    [LAYER_SUBTRACT_MEAN] = {1, forward_subtract_mean, backward_subtract_mean},
    [LAYER_DOUBLE_ROWS] = {1, forward_double_rows, backward_double_rows},
    [LAYER_FORK] = {1, forward_fork, backward_fork},
    [LAYER_TAKE] = {1, forward_take, backward_take},
    [LAYER_WIDEN] = {1, forward_widen, backward_widen},
    [LAYER_SUM] = {1, forward_sum, backward_sum},
    [LAYER_MEAN] = {1, forward_mean, backward_mean},
    [LAYER_SUM_ROWS] = {1, forward_sum_rows, backward_sum_rows},
    [LAYER_SCALAR_AT] = {1, forward_scalar_at, backward_scalar_at},
};
