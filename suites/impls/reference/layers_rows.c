/* layers_rows.c: layers that mix or change rows and columns: subtract_mean, double_rows, take,
 * fork, sum_rows, widen. */
#include "layer.h"
#include "maths.h"

/* Makes output k in the shape of the input, but with `rows` rows. */
static int make_rows(struct call *c, int k, size_t rows)
{
    struct dp_tensor shape = c->in[0];

    shape.dim[0] = rows;
    return make_output_like(c, k, &shape);
}

static struct math matrix(const struct dp_tensor *from, const struct dp_tensor *to)
{
    return (struct math){
        .x = from->data, .y = to->data, .rows = to->dim[0], .columns = row_width(to)};
}

/* ---- subtract_mean: its own transpose -------------------------------------------------------- */

static int subtract_mean_forward(struct call *c)
{
    int status = need_rows(c);
    struct math m;

    if (status == 0)
        status = make_output_like(c, 0, &c->in[0]);
    if (status != 0)
        return status;
    m = matrix(&c->in[0], &c->out[0]);
    return queue_math(c, loop_centre, &m);
}

static int subtract_mean_backward(struct call *c)
{
    const int status = c->in[0].needs_grad ? make_input_grad(c, 0) : 0;
    const struct math m = matrix(&c->grad_out[0], &c->grad_in[0]);

    return status != 0 || !c->in[0].needs_grad ? status : queue_math(c, loop_centre, &m);
}

const struct layer_type type_subtract_mean = {
    .inputs = 1, .forward = subtract_mean_forward, .backward = subtract_mean_backward};

/* ---- double_rows, fork ----------------------------------------------------------------------- */

static int put_doubled(struct call *c, int k)
{
    int status = need_rows(c);
    struct math m;

    if (status == 0)
        status = make_rows(c, k, 2 * c->in[0].dim[0]);
    if (status != 0)
        return status;
    m = matrix(&c->in[0], &c->out[k]);
    return queue_math(c, loop_double_rows, &m);
}

/* Adds the two gradients, either of which may be NULL. */
static int fold(struct call *c, const struct dp_tensor *plain, const struct dp_tensor *doubled)
{
    int status = c->in[0].needs_grad ? make_input_grad(c, 0) : 0;
    struct math m;

    if (status != 0 || !c->in[0].needs_grad)
        return status;
    m = matrix(&c->in[0], &c->grad_in[0]);
    m.x = plain ? plain->data : NULL;
    m.a = doubled ? doubled->data : NULL;
    return queue_math(c, loop_fold_rows, &m);
}

static int double_rows_forward(struct call *c)
{
    return put_doubled(c, 0);
}

static int double_rows_backward(struct call *c)
{
    return fold(c, NULL, &c->grad_out[0]);
}

const struct layer_type type_double_rows = {
    .inputs = 1, .forward = double_rows_forward, .backward = double_rows_backward};

static int fork_forward(struct call *c)
{
    c->out[0] = c->in[0];
    c->n_out = 2;
    return put_doubled(c, 1);
}

static int fork_backward(struct call *c)
{
    const struct dp_tensor *g = c->grad_out;

    return fold(c, g[0].slot != NULL ? &g[0] : NULL, g[1].slot != NULL ? &g[1] : NULL);
}

const struct layer_type type_fork = {
    .inputs = 1, .forward = fork_forward, .backward = fork_backward};

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
    const int status = c->in[0].needs_grad ? make_input_grad(c, 0) : 0;
    struct math m = matrix(&c->grad_out[0], &c->grad_in[0]);

    m.n = dp_tensor_count(&c->grad_out[0]);
    return status != 0 || !c->in[0].needs_grad ? status : queue_math(c, loop_pad_rows, &m);
}

const struct layer_type type_take = {
    .inputs = 1, .forward = take_forward, .backward = take_backward};

/* ---- sum_rows -------------------------------------------------------------------------------- */

static int sum_rows_forward(struct call *c)
{
    int status = need_rows(c);
    struct math m;

    if (status == 0)
        status = make_rows(c, 0, 1);
    if (status != 0)
        return status;
    m = matrix(&c->in[0], &c->out[0]);
    m.rows = c->in[0].dim[0];
    return queue_math(c, loop_sum_rows, &m);
}

static int sum_rows_backward(struct call *c)
{
    const int status = c->in[0].needs_grad ? make_input_grad(c, 0) : 0;
    const struct math m = matrix(&c->grad_out[0], &c->grad_in[0]);

    return status != 0 || !c->in[0].needs_grad ? status : queue_math(c, loop_spread_rows, &m);
}

const struct layer_type type_sum_rows = {
    .inputs = 1, .forward = sum_rows_forward, .backward = sum_rows_backward};

/* ---- widen ----------------------------------------------------------------------------------- */

static int widen_forward(struct call *c)
{
    const double columns = layer_number(c->layer->number, c->layer->n_numbers, c->replica);
    size_t dim[] = {c->in[0].dim[0], 1};
    struct math m;
    int status;

    if (c->in[0].ndim != 2 || c->in[0].dim[1] != 1)
        return dp_fail(c->err, DP_ESHAPE, "widen takes one column");
    if (!(columns >= 1.0 && columns < 1e6))
        return dp_fail(c->err, DP_EINVAL, "widen to %g columns", columns);
    dim[1] = (size_t)columns;
    status = make_output(c, 0, 2, dim);
    if (status != 0)
        return status;
    m = matrix(&c->in[0], &c->out[0]);
    return queue_math(c, loop_widen, &m);
}

static int widen_backward(struct call *c)
{
    const int status = c->in[0].needs_grad ? make_input_grad(c, 0) : 0;
    struct math m = matrix(&c->grad_out[0], &c->grad_in[0]);

    m.columns = c->grad_out[0].dim[1];
    return status != 0 || !c->in[0].needs_grad ? status : queue_math(c, loop_widen_back, &m);
}

const struct layer_type type_widen = {
    .inputs = 1, .forward = widen_forward, .backward = widen_backward};
