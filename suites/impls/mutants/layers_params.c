/* layers_params.c: access to parameters, and the layers that scale by one weight or count. */
#include "inside.h"

#include <string.h>

/* Returns the values of a parameter if they are on the device of x; else NULL with the error. */
static float *value_at(struct run *run, const struct impl_array *value, const struct impl_array *x)
{
    if (value->device == x->device)
        return value->data;
    impl_fail(&run->err, IMPL_EDEVICE, "a parameter is on device %d, the input on device %d",
              value->device, x->device);
    run->err.device = value->device;
    run->err.device_also = x->device;
    return NULL;
}

float *param_at(struct run *run, const struct layer *layer, int k, const struct impl_array *x)
{
    return value_at(run, &run->state->value[param_index(run->model, layer, k)], x);
}

float *param_grad(struct run *run, const struct layer *layer, int k)
{
    const int i = param_index(run->model, layer, k);
    struct impl_array *grad = &run->state->grad[i];

    if (param_frozen(run->model, i) && !bug(run->s, BUG_FROZEN_GRADIENT))
        return NULL;
    if (bug(run->s, BUG_BIAS_FROZEN) && k == 0 && layer->n_params > 1 &&
        param_frozen(run->model, i + 1))
        return NULL;
    if (param_frozen(run->model, i - k) && bug(run->s, BUG_FROZEN_LAYER))
        return NULL;
    if (grad->dtype == IMPL_NONE)
        *grad = tensor_like(&run->tape->arena, &run->state->value[i]);
    return floats(grad);
}

/* Begins a layer with one input and one output of the same shape. */
static int params_begin(struct run *run, struct node *node)
{
    node->out.a[0] = tensor_like(&run->tape->arena, &node->in.a[0]);
    return need_floats(run, node);
}

static void flip_low_bit(float *y)
{
    uint32_t bits;

    memcpy(&bits, y, sizeof bits);
    bits ^= 1u;
    memcpy(y, &bits, sizeof bits);
}

void spoil(const struct run *run, const struct impl_array *y)
{
    if (tensor_count(y) == 0)
        return;
    if (y->device == 2 && bug(run->s, BUG_LOW_BIT))
        flip_low_bit(floats(y));
    if (run->inside && run->s->forwards % 2 == 1 && bug(run->s, BUG_JITTER))
        flip_low_bit(floats(y));
}

/* ---- affine, tied, branch, borrow: one weight ---------------------------------------------- */

static void params_scale(const struct run *run, float w, const float *b, const struct impl_array *x,
                         struct impl_array *y)
{
    const bool wide = x->device % 2 == 1 && bug(run->s, BUG_EXTENDED);

    for (size_t i = 0; i < tensor_count(x); ++i) {
        const float v = floats(x)[i];

        if (!b)
            floats(y)[i] = w * v;
        else
            floats(y)[i] = wide ? (float)((double)w * v + *b) : w * v + *b;
    }
}

static float params_dot(const struct impl_array *a, const struct impl_array *b)
{
    float sum = 0;

    for (size_t i = 0; i < tensor_count(a); ++i)
        sum += floats(a)[i] * floats(b)[i];
    return sum;
}

static float params_total(const struct impl_array *a)
{
    float sum = 0;

    for (size_t i = 0; i < tensor_count(a); ++i)
        sum += floats(a)[i];
    return sum;
}

static int forward_affine(struct run *run, struct node *node)
{
    const struct impl_array *x = &node->in.a[0];
    const struct layer *layer = node->layer;
    const float *w = param_at(run, layer, 0, x), *b = NULL;

    if (!w || params_begin(run, node) != 0)
        return run->err.status;
    if (layer->with_bias && !(b = param_at(run, layer, 1, x)))
        return run->err.status;
    params_scale(run, *w, b, x, &node->out.a[0]);
    spoil(run, &node->out.a[0]);
    return 0;
}

struct impl_array *input_grad(struct run *run, const struct node *node, struct values *dx)
{
    const bool frozen = param_frozen(run->model, param_index(run->model, node->layer, 0));

    dx->a[0] = tensor_like(&run->tape->arena, &node->in.a[0]);
    if (frozen && bug(run->s, BUG_FROZEN_STOPS)) {
        dx->a[0] = tensor_none();
        return NULL;
    }
    return &dx->a[0];
}

bool no_bias(const struct run *run, const struct impl_array *x)
{
    const bool one_row = x->ndim > 0 && x->dim[0] == 1;

    return bug(run->s, BUG_NO_BIAS_GRADIENT) || (one_row && bug(run->s, BUG_ONE_ROW_BIAS));
}

static int backward_affine(struct run *run, const struct node *node, const struct values *g,
                           struct values *dx)
{
    const struct impl_array *x = &node->in.a[0], *up = &g->a[0];
    const size_t n = without_tail(tensor_count(up), bug(run->s, BUG_TERMS_TAIL), 512, 512);
    const struct impl_array terms = tensor_list(up, n);
    const struct layer *layer = node->layer;
    const float *w = param_at(run, layer, 0, x);
    float *dw = param_grad(run, layer, 0);
    float *db = layer->with_bias ? param_grad(run, layer, 1) : NULL;
    struct impl_array *down = input_grad(run, node, dx);

    if (!w)
        return run->err.status;
    if (dw)
        *dw += params_dot(&terms, x);
    if (db && !no_bias(run, x))
        *db += params_total(up);
    if (db && bug(run->s, BUG_THIRD_REPLICA) && run->replica == 2)
        *db += params_total(up);
    if (down)
        params_scale(run, *w, NULL, up, down);
    return 0;
}

static int forward_tied(struct run *run, struct node *node)
{
    const float *w = param_at(run, node->layer, 0, &node->in.a[0]);

    if (!w || params_begin(run, node) != 0)
        return run->err.status;
    params_scale(run, *w, NULL, &node->in.a[0], &node->out.a[0]);
    params_scale(run, *w, NULL, &node->out.a[0], &node->out.a[0]);
    return 0;
}

static int backward_tied(struct run *run, const struct node *node, const struct values *g,
                         struct values *dx)
{
    const struct impl_array *x = &node->in.a[0], *up = &g->a[0];
    const float *w = param_at(run, node->layer, 0, x);
    float *dw = param_grad(run, node->layer, 0);
    struct impl_array wx = tensor_like(&run->tape->arena, x), wg = wx;
    const bool once = (run->inside && bug(run->s, BUG_TIED_ONCE)) ||
                      (run->inside && run->k >= 3 && bug(run->s, BUG_TIED_K3));

    if (!w)
        return run->err.status;
    wg = tensor_like(&run->tape->arena, x);
    params_scale(run, *w, NULL, x, &wx);
    params_scale(run, *w, NULL, up, &wg);
    if (dw)
        *dw += params_dot(up, &wx) + (once ? 0 : params_dot(&wg, x));
    dx->a[0] = tensor_like(&run->tape->arena, x);
    params_scale(run, *w, NULL, &wg, &dx->a[0]);
    return 0;
}

/* Returns which parameter a branch uses. */
static int branch_of(const struct node *node)
{
    const struct impl_array *x = &node->in.a[0];

    return tensor_count(x) > 0 && floats(x)[0] > node->layer->factor ? 1 : 0;
}

static int forward_branch(struct run *run, struct node *node)
{
    const float *w;

    if (params_begin(run, node) != 0)
        return run->err.status;
    w = param_at(run, node->layer, branch_of(node), &node->in.a[0]);
    if (!w)
        return run->err.status;
    params_scale(run, *w, NULL, &node->in.a[0], &node->out.a[0]);
    return 0;
}

static int backward_branch(struct run *run, const struct node *node, const struct values *g,
                           struct values *dx)
{
    const struct impl_array *x = &node->in.a[0], *up = &g->a[0];
    const int used = branch_of(node);
    const float *w = param_at(run, node->layer, used, x);
    float *dw = param_grad(run, node->layer, used);

    if (!w)
        return run->err.status;
    if (dw)
        *dw += params_dot(up, x);
    dx->a[0] = tensor_like(&run->tape->arena, x);
    params_scale(run, *w, NULL, up, &dx->a[0]);
    return 0;
}

/* Returns the weight of another layer, as the base has it. */
static const float *borrowed(struct run *run, const struct node *node)
{
    const int i = param_index(run->model, node->layer->of, 0);
    const struct impl_array *value = &run->model->base.value[i];

    if (run->s->dialect[IMPL_BORROWED] == IMPL_BASE)
        return value->data;
    return value_at(run, value, &node->in.a[0]);
}

static int forward_borrow(struct run *run, struct node *node)
{
    const float *w = borrowed(run, node);

    if (!w || params_begin(run, node) != 0)
        return run->err.status;
    params_scale(run, *w, NULL, &node->in.a[0], &node->out.a[0]);
    return 0;
}

static int backward_borrow(struct run *run, const struct node *node, const struct values *g,
                           struct values *dx)
{
    const float *w = borrowed(run, node);

    if (!w)
        return run->err.status;
    dx->a[0] = tensor_like(&run->tape->arena, &node->in.a[0]);
    params_scale(run, *w, NULL, &g->a[0], &dx->a[0]);
    return 0;
}

/* ---- y = x --------------------------------------------------------------------------------- */

static int forward_same(struct run *run, struct node *node)
{
    (void)run;
    node->out = node->in;
    return 0;
}

static int forward_counter(struct run *run, struct node *node)
{
    float *count = param_at(run, node->layer, 0, &node->in.a[0]);

    if (!count)
        return run->err.status;
    *count += 1;
    return forward_same(run, node);
}

static int backward_grad(struct run *run, const struct node *node, const struct values *g,
                         struct values *dx)
{
    const struct layer *layer = node->layer;
    float *dw = param_grad(run, layer, 0);

    if (dw)
        *dw += (float)layer_number(layer->number, layer->n_numbers, run->replica);
    return pass_back(run, node, g, dx);
}

const struct layer_ops param_layers[LAYER_KINDS] = {
    [LAYER_AFFINE] = {1, forward_affine, backward_affine},
    [LAYER_TIED] = {1, forward_tied, backward_tied},
    [LAYER_UNUSED] = {1, forward_same, pass_back},
    [LAYER_BRANCH] = {1, forward_branch, backward_branch},
    [LAYER_COUNTER] = {1, forward_counter, pass_back},
    [LAYER_BORROW] = {1, forward_borrow, backward_borrow},
    [LAYER_GRAD] = {1, forward_same, backward_grad},
};
