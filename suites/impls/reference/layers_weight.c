/* layers_weight.c: layers with one or two numbers to train: affine, tied, borrow, branch; those
 * whose parameter is not used: unused, grad; and counter, whose buffer counts. */
#include "layer.h"

/* ---- affine, borrow -------------------------------------------------------------------------- */

static int scale_forward(struct call *c, const struct dp_tensor *weight,
                         const struct dp_tensor *bias)
{
    return queue_output(c, &c->in[0], LOOP_AFFINE,
                        (struct math){.x = c->in[0].data,
                                      .a = weight->data,
                                      .b = bias ? bias->data : NULL,
                                      .n = dp_tensor_count(&c->in[0])});
}

static int scale_input_grad(struct call *c, const struct dp_tensor *weight)
{
    return queue_input_grad(c, 0, LOOP_AFFINE,
                            (struct math){.x = c->grad_out[0].data,
                                          .a = weight->data,
                                          .n = dp_tensor_count(&c->in[0])});
}

static int layers_weight_weight_grad(struct call *c, int i)
{
    return queue_param_grad(c, i, LOOP_DOT,
                            (struct math){.x = c->grad_out[0].data,
                                          .a = c->in[0].data,
                                          .n = dp_tensor_count(&c->in[0])});
}

static int affine_forward(struct call *c)
{
    return scale_forward(c, param_value(c, 0), c->layer->with_bias ? param_value(c, 1) : NULL);
}

static int affine_backward(struct call *c)
{
    const struct math bias = {.x = c->grad_out[0].data, .n = dp_tensor_count(&c->in[0])};
    int status = layers_weight_weight_grad(c, 0);

    if (status == 0 && c->layer->with_bias)
        status = queue_param_grad(c, 1, LOOP_SUM, bias);
    return status != 0 ? status : scale_input_grad(c, param_value(c, 0));
}

/* Uses the tensor of the base module in every replica: it is an alias that was taken before the
 * model was wrapped. */
static int borrow_forward(struct call *c)
{
    const struct dp_tensor *weight = &c->node->param[0]->value;

    if (weight->slot != c->slot)
        return dp_fail(c->err, DP_EDEVICE, "the borrowed weight is on %s, the input is on %s",
                       dp_slot_name(weight->slot), dp_slot_name(c->slot));
    return scale_forward(c, weight, NULL);
}

static int borrow_backward(struct call *c)
{
    return scale_input_grad(c, &c->node->param[0]->value);
}

/* ---- tied ------------------------------------------------------------------------------------ */

static int tied_forward(struct call *c)
{
    return queue_output(c, &c->in[0], LOOP_SCALE_TWICE,
                        (struct math){.x = c->in[0].data,
                                      .a = param_value(c, 0)->data,
                                      .n = dp_tensor_count(&c->in[0])});
}

static int tied_backward(struct call *c)
{
    struct math m = {.x = c->grad_out[0].data,
                     .a = c->in[0].data,
                     .b = param_value(c, 0)->data,
                     .n = dp_tensor_count(&c->in[0])};
    const int status = queue_param_grad(c, 0, LOOP_TIED_GRAD, m);

    m.a = param_value(c, 0)->data;
    return status != 0 ? status : queue_input_grad(c, 0, LOOP_SCALE_TWICE, m);
}

/* ---- branch ---------------------------------------------------------------------------------- */

enum { LOW, HIGH };

static int branch_forward(struct call *c)
{
    struct dp_tensor first = c->in[0];
    float value = 0.0f;
    int status = 0;

    first.ndim = 0;
    if (dp_tensor_count(&c->in[0]) > 0) {
        status = dp_tensor_read(&value, &first, c->err);
        c->memo.flag = value > c->layer->factor;
    }
    return status != 0 ? status : scale_forward(c, param_value(c, c->memo.flag ? HIGH : LOW), NULL);
}

static int branch_backward(struct call *c)
{
    const int used = c->memo.flag ? HIGH : LOW;
    const int status = layers_weight_weight_grad(c, used);

    return status != 0 ? status : scale_input_grad(c, param_value(c, used));
}

/* ---- grad, counter --------------------------------------------------------------------------- */

static int grad_backward(struct call *c)
{
    const double value = layer_number(c->layer->number, c->layer->n_numbers, c->replica);
    const int status = queue_param_grad(c, 0, LOOP_NUMBER, (struct math){.first = (float)value});

    return status != 0 ? status : pass_backward(c);
}

static int counter_forward(struct call *c)
{
    const struct dp_tensor *count = param_value(c, 0);
    const struct math m = {.accumulate = true, .first = 1.0f, .y = count->data};
    const int status = queue_math(c, LOOP_NUMBER, m);

    return status != 0 ? status : pass_forward(c);
}

const struct layer_type weight_types[LAYER_KINDS] = {
    [LAYER_AFFINE] = {.inputs = 1, .forward = affine_forward, .backward = affine_backward},
    [LAYER_BORROW] = {.inputs = 1, .forward = borrow_forward, .backward = borrow_backward},
    [LAYER_TIED] = {.inputs = 1, .forward = tied_forward, .backward = tied_backward},
    [LAYER_BRANCH] = {.inputs = 1, .forward = branch_forward, .backward = branch_backward},
    [LAYER_UNUSED] = {.inputs = 1,
                      .any_dtype = true,
                      .untrained = true,
                      .forward = pass_forward,
                      .backward = pass_backward},
    [LAYER_GRAD] = {.inputs = 1,
                    .any_dtype = true,
                    .forward = pass_forward,
                    .backward = grad_backward},
    [LAYER_COUNTER] = {.inputs = 1,
                       .any_dtype = true,
                       .forward = counter_forward,
                       .backward = pass_backward},
};
