/* layers_plain.c: layers without parameters: identity, multiply, to, argument. */
#include "layer.h"

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
    if (!same_shape(&c->in[0], &c->in[1]))
        return dp_fail(c->err, DP_ESHAPE, "multiply takes two tensors of one shape");
    return queue_output(c, &c->in[0], LOOP_MULTIPLY,
                        (struct math){.x = c->in[0].data,
                                      .a = c->in[1].data,
                                      .n = dp_tensor_count(&c->in[0]),
                                      .factor = c->layer->factor});
}

static int multiply_backward(struct call *c)
{
    int status = 0;

    for (int k = 0; status == 0 && k < 2; ++k)
        status = queue_input_grad(c, k, LOOP_MULTIPLY_BACK,
                                  (struct math){.x = c->grad_out[0].data,
                                                .a = c->in[1 - k].data,
                                                .n = dp_tensor_count(&c->in[k]),
                                                .factor = c->layer->factor});
    return status;
}

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

/* ---- argument -------------------------------------------------------------------------------- */

static int argument_forward(struct call *c)
{
    const struct world *world = c->node->world;
    const struct argument *argument;

    if (c->layer->index < 0 || c->layer->index >= world->n_arguments)
        return dp_fail(c->err, DP_EINVAL, "argument %d of %d", c->layer->index, world->n_arguments);
    argument = &world->argument[c->layer->index];
    if (!argument->value || argument->n == 0)
        return dp_fail(c->err, DP_EINVAL, "argument %d is not a list of float32", c->layer->index);
    c->memo.number = argument->value[0];
    return queue_output(c, &c->in[0], LOOP_SHIFT,
                        (struct math){.x = c->in[0].data,
                                      .n = dp_tensor_count(&c->in[0]),
                                      .factor = argument->value[0],
                                      .first = 1000.0f * (float)argument->n});
}

static int argument_backward(struct call *c)
{
    return queue_input_grad(c, 0, LOOP_SHIFT,
                            (struct math){.x = c->grad_out[0].data,
                                          .n = dp_tensor_count(&c->grad_out[0]),
                                          .factor = c->memo.number});
}

const struct layer_type plain_types[LAYER_KINDS] = {
    [LAYER_IDENTITY] = {.inputs = 1,
                        .any_dtype = true,
                        .forward = pass_forward,
                        .backward = pass_backward},
    [LAYER_MULTIPLY] = {.inputs = 2, .forward = multiply_forward, .backward = multiply_backward},
    [LAYER_TO] = {.inputs = 1, .any_dtype = true, .forward = to_forward, .backward = to_backward},
    [LAYER_ARGUMENT] = {.inputs = 1, .forward = argument_forward, .backward = argument_backward},
};
