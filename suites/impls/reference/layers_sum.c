/* layers_sum.c: layers that give one number: sum, mean, scalar_at. The losses of core keep their
 * sums in double; these sums are float, in index order. */
#include "layer.h"
#include "maths.h"

static int reduce_all(struct call *c, void (*loop)(const void *args))
{
    const int status = make_output(c, 0, 0, NULL);
    const struct math m = {
        .x = c->in[0].data, .y = c->out[0].data, .n = dp_tensor_count(&c->in[0])};

    return status != 0 ? status : queue_math(c, loop, &m);
}

static int spread(struct call *c, float divisor)
{
    const int status = c->in[0].needs_grad ? make_input_grad(c, 0) : 0;
    const struct math m = {.x = c->grad_out[0].data,
                           .y = c->grad_in[0].data,
                           .n = dp_tensor_count(&c->in[0]),
                           .factor = divisor};

    return status != 0 || !c->in[0].needs_grad ? status : queue_math(c, loop_spread, &m);
}

static int sum_forward(struct call *c)
{
    return reduce_all(c, loop_sum);
}

static int sum_backward(struct call *c)
{
    return spread(c, 1.0f);
}

const struct layer_type type_sum = {.inputs = 1, .forward = sum_forward, .backward = sum_backward};

static int mean_forward(struct call *c)
{
    return reduce_all(c, loop_mean);
}

static int mean_backward(struct call *c)
{
    return spread(c, (float)dp_tensor_count(&c->in[0]));
}

const struct layer_type type_mean = {
    .inputs = 1, .forward = mean_forward, .backward = mean_backward};

static int scalar_at_forward(struct call *c)
{
    return layer_listed(c->layer, c->replica) ? sum_forward(c) : pass_forward(c);
}

static int scalar_at_backward(struct call *c)
{
    return layer_listed(c->layer, c->replica) ? sum_backward(c) : pass_backward(c);
}

const struct layer_type type_scalar_at = {
    .inputs = 1, .forward = scalar_at_forward, .backward = scalar_at_backward};
