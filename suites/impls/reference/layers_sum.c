/* layers_sum.c: layers that give one number: sum, mean, scalar_at. The losses of core keep their
 * sums in double; these sums are float, in index order. */
#include "layer.h"

static int reduce_all(struct call *c, enum loop loop)
{
    return queue_output(c, &(struct dp_tensor){.ndim = 0}, loop,
                        (struct math){.x = c->in[0].data, .n = dp_tensor_count(&c->in[0])});
}

static int spread(struct call *c, float divisor)
{
    return queue_input_grad(c, 0, LOOP_SPREAD,
                            (struct math){.x = c->grad_out[0].data,
                                          .n = dp_tensor_count(&c->in[0]),
                                          .factor = divisor});
}

static int sum_forward(struct call *c)
{
    return reduce_all(c, LOOP_SUM);
}

static int sum_backward(struct call *c)
{
    return spread(c, 1.0f);
}

static int mean_forward(struct call *c)
{
    return reduce_all(c, LOOP_MEAN);
}

static int mean_backward(struct call *c)
{
    return spread(c, (float)dp_tensor_count(&c->in[0]));
}

static int scalar_at_forward(struct call *c)
{
    return layer_listed(c->layer, c->replica) ? sum_forward(c) : pass_forward(c);
}

static int scalar_at_backward(struct call *c)
{
    return layer_listed(c->layer, c->replica) ? sum_backward(c) : pass_backward(c);
}

const struct layer_type sum_types[LAYER_KINDS] = {
    [LAYER_SUM] = {.inputs = 1, .forward = sum_forward, .backward = sum_backward},
    [LAYER_MEAN] = {.inputs = 1, .forward = mean_forward, .backward = mean_backward},
    [LAYER_SCALAR_AT] = {.inputs = 1, .forward = scalar_at_forward, .backward = scalar_at_backward},
};
