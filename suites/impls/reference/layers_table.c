/* layers_table.c: layers that give rows of a matrix: constant, embedding. */
#include "layer.h"

#include <stdlib.h>

static int constant_forward(struct call *c)
{
    const struct dp_tensor *weight = param_value(c, 0);
    const int status = make_output_like(c, 0, weight);

    return status != 0 ? status : dp_tensor_copy(&c->out[0], weight, c->err);
}

static int constant_backward(struct call *c)
{
    const struct math m = {.x = c->grad_out[0].data, .n = dp_tensor_count(&c->grad_out[0])};

    return queue_param_grad(c, 0, LOOP_ADD, m);
}

/* The numbers are checked here, and not where they are used, because an error belongs to the
 * forward. */
static int check_indices(struct call *c)
{
    const size_t n = dp_tensor_count(&c->in[0]);
    int32_t *index = malloc((n + 1) * sizeof *index);
    int status;

    if (!index)
        return dp_fail(c->err, DP_ENOMEM, "no memory for %zu indices", n);
    status = n > 0 ? dp_tensor_read(index, &c->in[0], c->err) : 0;
    for (size_t i = 0; status == 0 && i < n; ++i)
        if (index[i] < 0 || (size_t)index[i] >= c->layer->in)
            status = dp_fail(c->err, DP_EINVAL, "index %zu is %d, the table has %zu rows", i,
                             (int)index[i], c->layer->in);
    free(index);
    return status;
}

static int embedding_forward(struct call *c)
{
    const struct dp_tensor *in = &c->in[0];
    const struct math m = {.x = param_value(c, 0)->data,
                           .index = c->in[0].data,
                           .n = c->layer->in * c->layer->out,
                           .rows = dp_tensor_count(in),
                           .columns = c->layer->out};
    struct dp_tensor shape = *in;
    int status;

    if (in->dtype != DP_I32 || in->ndim < 1 || in->ndim >= IMPL_MAX_DIMS)
        return dp_fail(c->err, DP_ESHAPE, "an embedding takes rows of int32");
    shape.dim[shape.ndim++] = c->layer->out;
    status = check_indices(c);
    return status != 0 ? status : queue_output(c, &shape, LOOP_LOOK_UP, m);
}

static int embedding_backward(struct call *c)
{
    const struct math m = {.x = c->grad_out[0].data,
                           .index = c->in[0].data,
                           .n = dp_tensor_count(&c->in[0]),
                           .rows = c->layer->in,
                           .columns = c->layer->out};

    return queue_param_grad(c, 0, LOOP_LOOK_UP_BACK, m);
}

const struct layer_type table_types[LAYER_KINDS] = {
    [LAYER_CONSTANT] = {.inputs = 0, .forward = constant_forward, .backward = constant_backward},
    [LAYER_EMBEDDING] = {.inputs = 1,
                         .any_dtype = true,
                         .forward = embedding_forward,
                         .backward = embedding_backward},
};
