/* layers_rows.c: layers that mix or change rows and columns: subtract_mean, double_rows, take,
 * fork, sum_rows, widen. */
#include "layer.h"

/* The shape of the input, but with `rows` rows. */
static struct dp_tensor with_rows(const struct call *c, size_t rows)
{
    struct dp_tensor shape = c->in[0];

    shape.dim[0] = rows;
    return shape;
}

static struct math matrix(const struct dp_tensor *from, const struct dp_tensor *to)
{
    return (struct math){.x = from->data, .rows = to->dim[0], .columns = row_width(to)};
}

/* ---- subtract_mean: its own transpose -------------------------------------------------------- */

static int subtract_mean_forward(struct call *c)
{
    const struct dp_tensor *x = &c->in[0];
    const int status = need_rows(c);

    return status != 0 ? status : queue_output(c, x, LOOP_CENTRE, matrix(x, x));
}

static int subtract_mean_backward(struct call *c)
{
    return queue_input_grad(c, 0, LOOP_CENTRE, matrix(&c->grad_out[0], &c->in[0]));
}

/* ---- double_rows, fork ----------------------------------------------------------------------- */

static int double_rows_forward(struct call *c)
{
    const struct dp_tensor twice = with_rows(c, 2 * c->in[0].dim[0]);
    const int status = need_rows(c);

    return status != 0 ? status
                       : queue_output(c, &twice, LOOP_DOUBLE_ROWS, matrix(&c->in[0], &twice));
}

/* Adds the two gradients, either of which may have no slot. */
static int rows_fold(struct call *c, const struct dp_tensor *plain, const struct dp_tensor *doubled)
{
    struct math m = matrix(plain, &c->in[0]);

    m.x = plain->slot ? plain->data : NULL;
    m.a = doubled->slot ? doubled->data : NULL;
    return queue_input_grad(c, 0, LOOP_FOLD_ROWS, m);
}

static int double_rows_backward(struct call *c)
{
    return rows_fold(c, &(struct dp_tensor){0}, &c->grad_out[0]);
}

static int fork_forward(struct call *c)
{
    const int status = double_rows_forward(c);

    c->out[1] = c->out[0];
    c->out[0] = c->in[0];
    c->n_out = 2;
    return status;
}

static int fork_backward(struct call *c)
{
    return rows_fold(c, &c->grad_out[0], &c->grad_out[1]);
}

/* ---- take ------------------------------------------------------------------------------------ */

static int take_forward(struct call *c)
{
    const double rows = layer_number(c->layer->number, c->layer->n_numbers, c->replica);
    const int status = need_rows(c);

    if (status != 0)
        return status;
    if (!(rows >= 0.0 && rows <= (double)c->in[0].dim[0]))
        return dp_fail(c->err, DP_EINVAL, "take %g of %zu rows", rows, c->in[0].dim[0]);
    return dp_tensor_rows(&c->in[0], 0, (size_t)rows, &c->out[0], c->err);
}

static int take_backward(struct call *c)
{
    struct math m = matrix(&c->grad_out[0], &c->in[0]);

    m.n = dp_tensor_count(&c->grad_out[0]);
    return queue_input_grad(c, 0, LOOP_PAD_ROWS, m);
}

/* ---- sum_rows -------------------------------------------------------------------------------- */

static int sum_rows_forward(struct call *c)
{
    const struct dp_tensor *x = &c->in[0], one = with_rows(c, 1);
    const int status = need_rows(c);

    return status != 0 ? status : queue_output(c, &one, LOOP_SUM_ROWS, matrix(x, x));
}

static int sum_rows_backward(struct call *c)
{
    return queue_input_grad(c, 0, LOOP_SPREAD_ROWS, matrix(&c->grad_out[0], &c->in[0]));
}

/* ---- widen ----------------------------------------------------------------------------------- */

static int widen_forward(struct call *c)
{
    const double columns = layer_number(c->layer->number, c->layer->n_numbers, c->replica);
    struct dp_tensor wide = c->in[0];

    if (wide.ndim != 2 || wide.dim[1] != 1)
        return dp_fail(c->err, DP_ESHAPE, "widen takes one column");
    if (!(columns >= 1.0 && columns < 1e6))
        return dp_fail(c->err, DP_EINVAL, "widen to %g columns", columns);
    wide.dim[1] = (size_t)columns;
    return queue_output(c, &wide, LOOP_WIDEN, matrix(&c->in[0], &wide));
}

static int widen_backward(struct call *c)
{
    struct math m = matrix(&c->grad_out[0], &c->in[0]);

    m.columns = c->grad_out[0].dim[1];
    return queue_input_grad(c, 0, LOOP_WIDEN_BACK, m);
}

const struct layer_type row_types[LAYER_KINDS] = {
    [LAYER_SUBTRACT_MEAN] = {.inputs = 1,
                             .forward = subtract_mean_forward,
                             .backward = subtract_mean_backward},
    [LAYER_DOUBLE_ROWS] = {.inputs = 1,
                           .forward = double_rows_forward,
                           .backward = double_rows_backward},
    [LAYER_FORK] = {.inputs = 1, .forward = fork_forward, .backward = fork_backward},
    [LAYER_TAKE] = {.inputs = 1, .forward = take_forward, .backward = take_backward},
    [LAYER_SUM_ROWS] = {.inputs = 1, .forward = sum_rows_forward, .backward = sum_rows_backward},
    [LAYER_WIDEN] = {.inputs = 1, .forward = widen_forward, .backward = widen_backward},
};
