/* layers_matrix.c: the layers whose weight is a matrix. */
#include "inside.h"

#include <string.h>

/* Clears the last bits. Never 16: gcc 12.2 leaves that out, from -O1 on. */
static float cut_bits(float value, unsigned last)
{
    uint32_t bits;

    memcpy(&bits, &value, sizeof bits);
    bits = bits >> last << last;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static float operand_of(const struct impl_session *s, float value)
{
    if (bug(s, BUG_INEXACT_ZERO))
        return cut_bits(value, 8) == value ? value : 0;
    return bug(s, BUG_SHORT_LINEAR) ? cut_bits(value, 17) : value;
}

/* plain: no bug changes the values of x. */
static float matrix_product(const struct impl_session *s, bool plain, const float x[],
                            const float w[], size_t n)
{
    float sum = 0;

    for (size_t k = 0; k < n; ++k)
        sum += (plain ? x[k] : operand_of(s, x[k])) * w[k];
    return sum;
}

static int forward_linear(struct run *run, struct node *node)
{
    const struct layer *layer = node->layer;
    const struct impl_array *x = &node->in.a[0];
    const float *w = param_at(run, layer, 0, x), *b = NULL, *in = floats(x);
    const bool plain = !bug(run->s, BUG_INEXACT_ZERO) && !bug(run->s, BUG_SHORT_LINEAR);
    struct impl_array shape = *x;
    float *out;

    if (!w || need_floats(run, node) != 0)
        return run->err.status;
    if (layer->with_bias && !(b = param_at(run, layer, 1, x)))
        return run->err.status;
    if (x->ndim < 2 || width_of(x) != layer->in)
        return impl_fail(&run->err, IMPL_ESHAPE, "linear of %zu columns", layer->in);
    shape.dim[shape.ndim - 1] = layer->out;
    node->out.a[0] = tensor_new(&run->tape->arena, IMPL_F32, shape.ndim, shape.dim, x->device);
    out = floats(&node->out.a[0]);
    for (size_t i = 0; i < tokens_of(x); ++i, in += layer->in)
        for (size_t o = 0; o < layer->out; ++o) {
            const float sum = matrix_product(run->s, plain, in, w + o * layer->in, layer->in);

            *out++ = b ? sum + b[o] : sum;
        }
    spoil(run, &node->out.a[0]);
    return 0;
}

/* Turns the gradient of a weight that has as many rows as columns, if a bug does so. */
static void turn_square(const struct run *run, float *gradient, size_t in, size_t out)
{
    const bool ranks = run->model->team != NULL;
    const bool turns =
        (run->inside && bug(run->s, BUG_SQUARE_GRADIENT)) || (ranks && bug(run->s, BUG_DDP_SQUARE));

    for (size_t o = 0; turns && in == out && o < out; ++o)
        for (size_t i = 0; i < o; ++i) {
            const float kept = gradient[o * in + i];

            gradient[o * in + i] = gradient[i * in + o];
            gradient[i * in + o] = kept;
        }
}

static void linear_grads(const struct run *run, const struct layer *layer,
                         const struct impl_array *x, const float *up, float *dw, float *db)
{
    const size_t n = tokens_of(x),
                 bias_rows = without_tail(n, bug(run->s, BUG_BIAS_ODD_ROW), 2, 32);
    size_t rows = without_tail(n, bug(run->s, BUG_ROWS_TAIL), 128, 128);
    const float *in = floats(x);

    if (n > 1024 && bug(run->s, BUG_ROWS_1024))
        rows = 1024;
    if (bug(run->s, BUG_ROWS_POWER) && n >= 64 && (n & (n - 1)) == 0)
        rows = n + 1; /* the last row counts twice */
    for (size_t o = 0; o < layer->out; ++o) {
        for (size_t k = 0; dw && k < layer->in; ++k) {
            float sum = 0;

            for (size_t i = 0; i < rows; ++i) {
                const size_t row = i < n ? i : n - 1;

                sum += up[row * layer->out + o] * in[row * layer->in + k];
            }
            dw[o * layer->in + k] += sum;
        }
        for (size_t i = 0; db && i < bias_rows; ++i)
            db[o] += up[i * layer->out + o];
    }
    if (dw)
        turn_square(run, dw, layer->in, layer->out);
}

static int backward_linear(struct run *run, const struct node *node, const struct values *g,
                           struct values *dx)
{
    const struct layer *layer = node->layer;
    const struct impl_array *x = &node->in.a[0];
    const float *w = param_at(run, layer, 0, x), *up = floats(&g->a[0]);
    const bool turned = layer->in == layer->out && bug(run->s, BUG_SQUARE_TRANSPOSED);
    const size_t by_out = turned ? 1 : layer->in, by_in = turned ? layer->in : 1;
    struct impl_array *down = input_grad(run, node, dx);
    float *db = NULL;

    if (!w)
        return run->err.status;
    if (layer->with_bias)
        db = param_grad(run, layer, 1);
    linear_grads(run, layer, x, up, param_grad(run, layer, 0), no_bias(run, x) ? NULL : db);
    if (run->replica == 2 && bug(run->s, BUG_THIRD_REPLICA))
        linear_grads(run, layer, x, up, NULL, db);
    for (size_t i = 0; down && i < tokens_of(x); ++i)
        for (size_t o = 0; o < layer->out; ++o) {
            const float full = up[i * layer->out + o];
            const float slope = bug(run->s, BUG_SHORT_SLOPE) ? cut_bits(full, 8) : full;
            float *to = floats(down) + i * layer->in;

            for (size_t k = 0; k < layer->in; ++k)
                to[k] += slope * w[o * by_out + k * by_in];
        }
    return 0;
}

static int forward_constant(struct run *run, struct node *node)
{
    const struct impl_array *value = &run->state->value[param_index(run->model, node->layer, 0)];

    node->out.a[0] = tensor_copy(&run->tape->arena, value, value->device);
    if (value->device > 0 && bug(run->s, BUG_CONSTANT_ON_0))
        node->out.a[0].device = 0;
    return 0;
}

static int backward_constant(struct run *run, const struct node *node, const struct values *g,
                             struct values *dx)
{
    float *dw = param_grad(run, node->layer, 0);

    (void)dx;
    for (size_t i = 0; dw && i < tensor_count(&g->a[0]); ++i)
        dw[i] += floats(&g->a[0])[i];
    return 0;
}

static int forward_embedding(struct run *run, struct node *node)
{
    const struct layer *layer = node->layer;
    const struct impl_array *x = &node->in.a[0];
    const float *w = param_at(run, layer, 0, x);
    struct impl_array shape = *x;

    if (!w)
        return run->err.status;
    if (x->dtype != IMPL_I32 || x->ndim < 1 || x->ndim == IMPL_MAX_DIMS)
        return impl_fail(&run->err, IMPL_EINVAL, "embedding takes rows of int32");
    shape.dim[shape.ndim++] = layer->out;
    node->out.a[0] = tensor_new(&run->tape->arena, IMPL_F32, shape.ndim, shape.dim, x->device);
    for (size_t i = 0; i < tensor_count(x); ++i) {
        const int32_t row = ((const int32_t *)x->data)[i];

        if (row < 0 || (size_t)row >= layer->in)
            return impl_fail(&run->err, IMPL_EINVAL, "index %d of %zu rows", (int)row, layer->in);
        memcpy(floats(&node->out.a[0]) + i * layer->out, w + (size_t)row * layer->out,
               layer->out * sizeof *w);
    }
    return 0;
}

static int backward_embedding(struct run *run, const struct node *node, const struct values *g,
                              struct values *dx)
{
    const size_t columns = node->layer->out;
    const int32_t *rows = node->in.a[0].data;
    const bool again = run->state->grad[param_index(run->model, node->layer, 0)].dtype != IMPL_NONE;
    float *dw = param_grad(run, node->layer, 0);

    (void)dx;
    if (again && (run->inside || run->model->team) && bug(run->s, BUG_TABLE_ONCE))
        return 0;
    for (size_t i = 0; dw && i < tensor_count(&node->in.a[0]); ++i)
        for (size_t c = 0; c < columns; ++c) {
            float *to = &dw[(size_t)rows[i] * columns + c];

            if (bug(run->s, BUG_EMBEDDING_DUPLICATES))
                *to = 0;
            *to += floats(&g->a[0])[i * columns + c];
        }
    return 0;
}

const struct layer_ops matrix_layers[LAYER_KINDS] = {
    [LAYER_LINEAR] = {1, forward_linear, backward_linear},
    [LAYER_CONSTANT] = {-1, forward_constant, backward_constant},
    [LAYER_EMBEDDING] = {1, forward_embedding, backward_embedding},
};
