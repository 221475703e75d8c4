/* layers_plain.c: layers without parameters: identity, multiply, to, argument. */
#include "layer.h"
#include "maths.h"

const struct layer_type type_identity = {
    .inputs = 1, .any_dtype = true, .forward = pass_forward, .backward = pass_backward};

/* ---- multiply -------------------------------------------------------------------------------- */

static bool same_shape(const struct dp_tensor *a, const struct dp_tensor *b)
{
    bool same = a->ndim == b->ndim;

    for (int d = 0; same && d < a->ndim; ++d)
        same = a->dim[d] == b->dim[d];
    return same;
}

static int multiply_forward(struct call *c)
{
    struct math m = {.x = c->in[0].data, .a = c->in[1].data, .n = dp_tensor_count(&c->in[0])};
    int status;

    if (!same_shape(&c->in[0], &c->in[1]))
        return dp_fail(c->err, DP_ESHAPE, "multiply takes two tensors of one shape");
    status = make_output_like(c, 0, &c->in[0]);
    m.y = c->out[0].data;
    m.factor = c->layer->factor;
    return status != 0 ? status : queue_math(c, loop_multiply, &m);
}

static int multiply_backward(struct call *c)
{
    int status = 0;

    for (int k = 0; status == 0 && k < 2; ++k) {
        struct math m = {.x = c->grad_out[0].data,
                         .a = c->in[1 - k].data,
                         .n = dp_tensor_count(&c->in[k]),
                         .factor = c->layer->factor};

        if (!c->in[k].needs_grad)
            continue;
        status = make_input_grad(c, k);
        m.y = c->grad_in[k].data;
        if (status == 0)
            status = queue_math(c, loop_multiply_back, &m);
    }
    return status;
}

const struct layer_type type_multiply = {
    .inputs = 2, .forward = multiply_forward, .backward = multiply_backward};

/* ---- to -------------------------------------------------------------------------------------- */

static int to_forward(struct call *c)
{
    const struct dp_tensor *in = &c->in[0];
    struct dp_slot *slot = slot_of(c->node->world->group, c->layer->target, c->err);
    int status;

    if (!slot)
        return DP_ENODEV;
    status = dp_run_tensor(c->run, slot, in->dtype, in->ndim, in->dim, &c->out[0], c->err);
    return status != 0 ? status : dp_tensor_copy(&c->out[0], in, c->err);
}

static int to_backward(struct call *c)
{
    const int status = c->in[0].needs_grad ? make_input_grad(c, 0) : 0;

    if (status != 0 || !c->in[0].needs_grad)
        return status;
    return dp_tensor_copy(&c->grad_in[0], &c->grad_out[0], c->err);
}

const struct layer_type type_to = {
    .inputs = 1, .any_dtype = true, .forward = to_forward, .backward = to_backward};

/* ---- argument -------------------------------------------------------------------------------- */

static int scale_by(struct call *c, const struct dp_tensor *from, const struct dp_tensor *to,
                    float factor, float offset)
{
    const struct math m = {.x = from->data,
                           .y = to->data,
                           .n = dp_tensor_count(from),
                           .factor = factor,
                           .first = offset};

    return queue_math(c, loop_shift, &m);
}

static int argument_forward(struct call *c)
{
    const struct world *world = c->node->world;
    const struct argument *argument;
    int status;

    if (c->layer->index < 0 || c->layer->index >= world->n_arguments)
        return dp_fail(c->err, DP_EINVAL, "argument %d of %d", c->layer->index, world->n_arguments);
    argument = &world->argument[c->layer->index];
    if (!argument->value || argument->n == 0)
        return dp_fail(c->err, DP_EINVAL, "argument %d is not a list of float32", c->layer->index);
    status = make_output_like(c, 0, &c->in[0]);
    c->memo.number = argument->value[0];
    return status != 0 ? status
                       : scale_by(c, &c->in[0], &c->out[0], argument->value[0],
                                  1000.0f * (float)argument->n);
}

static int argument_backward(struct call *c)
{
    const int status = c->in[0].needs_grad ? make_input_grad(c, 0) : 0;

    if (status != 0 || !c->in[0].needs_grad)
        return status;
    return scale_by(c, &c->grad_out[0], &c->grad_in[0], c->memo.number, 0.0f);
}

const struct layer_type type_argument = {
    .inputs = 1, .forward = argument_forward, .backward = argument_backward};
