/* layer.c: the common part of the layers that the adapter implements. */
#include "layer.h"
#include "maths.h"

#include <stdlib.h>
#include <string.h>

/* NULL: no table has this kind. */
static const struct layer_type *type_of(enum layer_kind kind)
{
    const struct layer_type *const tables[] = {weight_types, table_types, row_types,
                                               sum_types,    plain_types, probe_types};

    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; ++i)
        if (tables[i][kind].forward)
            return &tables[i][kind];
    return NULL;
}

/* The data of a forward that the tape keeps. */
struct kept {
    struct dp_tensor in[LAYER_INPUTS];
    struct dp_slot *slot;
    struct memo memo;
};

static struct call begin_call(struct dp_module *module, struct dp_run *run, struct dp_error *err)
{
    struct node *node = dp_module_self(module);

    return (struct call){.node = node,
                         .layer = node->layer,
                         .run = run,
                         .replica = world_replica(node->world, run),
                         .n_in = node->type->inputs,
                         .n_out = 1,
                         .err = err};
}

static int elsewhere(struct dp_error *err, const char *what, const struct dp_tensor *tensor,
                     const struct dp_slot *slot)
{
    return dp_fail(err, DP_EDEVICE, "%s is on %s, the input is on %s", what,
                   dp_slot_name(tensor->slot), dp_slot_name(slot));
}

static int check_inputs(struct call *c, int n_in)
{
    const struct layer_type *type = c->node->type;

    if (n_in != type->inputs)
        return dp_fail(c->err, DP_EINVAL, "a layer that takes %d tensors got %d", type->inputs,
                       n_in);
    for (int k = 0; k < n_in; ++k) {
        if (c->in[k].slot != c->in[0].slot)
            return elsewhere(c->err, "another input", &c->in[k], c->in[0].slot);
        if (!type->any_dtype && c->in[k].dtype != DP_F32)
            return dp_fail(c->err, DP_ESHAPE, "a layer that takes float32 got another type");
    }
    return 0;
}

/* Without inputs a layer runs where its parameter is. */
static int check_places(struct call *c)
{
    c->slot = c->n_in > 0 ? c->in[0].slot : param_value(c, 0)->slot;
    for (int i = 0; i < c->layer->n_params; ++i) {
        const struct dp_tensor *value = param_value(c, i);
        char what[64] = "parameter ";

        strncat(what, c->layer->param[i].name, 32);
        if (value->slot != c->slot)
            return elsewhere(c->err, what, value, c->slot);
    }
    return 0;
}

static bool is_trained(const struct call *c, int i)
{
    const struct dp_param *param = c->node->param[i];

    return !param->frozen && !param->buffer;
}

static bool needs_backward(const struct call *c)
{
    const struct layer_type *type = c->node->type;
    bool needs = type->always;

    for (int k = 0; k < c->n_in; ++k)
        needs = needs || c->in[k].needs_grad;
    for (int i = 0; i < c->layer->n_params; ++i)
        needs = needs || (!type->untrained && is_trained(c, i));
    return needs && dp_run_has_grad(c->run);
}

static int node_forward(struct dp_module *module, struct dp_run *run, const struct dp_tensor in[],
                        int n_in, struct dp_tensor out[], int *n_out, struct dp_error *err)
{
    struct call c = begin_call(module, run, err);
    struct kept kept = {0};
    int status;

    c.in = in;
    c.out = out;
    status = check_inputs(&c, n_in);
    if (status == 0)
        status = check_places(&c);
    if (status == 0)
        status = c.node->type->forward(&c);
    for (int k = 0; status == 0 && k < c.n_in; ++k)
        kept.in[k] = in[k];
    kept.slot = c.slot;
    kept.memo = c.memo;
    if (status == 0 && dp_run_has_grad(run))
        status = dp_run_save(run, module, &kept, sizeof kept, err);
    if (status != 0)
        return status;
    for (int k = 0; k < c.n_out; ++k)
        out[k].needs_grad = needs_backward(&c);
    *n_out = c.n_out;
    return 0;
}

static int node_backward(struct dp_module *module, struct dp_run *run,
                         const struct dp_tensor grad_out[], int n_out, struct dp_tensor grad_in[],
                         int n_in, struct dp_error *err)
{
    struct call c = begin_call(module, run, err);
    struct kept kept;
    bool wanted = false;
    const int status = dp_run_restore(run, module, &kept, sizeof kept, err);

    (void)n_in;
    for (int k = 0; k < n_out; ++k)
        wanted = wanted || grad_out[k].slot;
    if (status != 0 || !wanted)
        return status;
    c.in = kept.in;
    c.slot = kept.slot;
    c.memo = kept.memo;
    c.grad_out = grad_out;
    c.grad_in = grad_in;
    c.n_out = n_out;
    return c.node->type->backward(&c);
}

int node_open(struct world *world, const struct layer *layer, struct dp_module **module,
              struct node **node, struct dp_error *err)
{
    static const struct dp_module_ops ops = {"layer", node_forward, node_backward, free};
    struct node *n = calloc(1, sizeof *n);
    struct dp_module *m = NULL;
    int status = 0;

    if (!n)
        return dp_fail(err, DP_ENOMEM, "no memory for a layer");
    n->layer = layer;
    n->world = world;
    n->type = type_of(layer->kind);
    if (!n->type)
        status = dp_fail(err, DP_ENOTSUP, "the reference has no such layer");
    if (status == 0)
        status = dp_module_open(world->group, &ops, n, NULL, 0, &m, err);
    if (status != 0) {
        free(n);
        return status;
    }
    for (int i = 0; status == 0 && i < layer->n_params; ++i)
        status = dp_module_add_param(m, layer->param[i].name, DP_F32, layer->param[i].ndim,
                                     layer->param[i].dim, &n->param[i], err);
    if (status != 0) {
        dp_module_close(m);
        return status;
    }
    *module = m;
    *node = n;
    return 0;
}

/* ---- for the layers -------------------------------------------------------------------------- */

int pass_forward(struct call *c)
{
    c->out[0] = c->in[0];
    return 0;
}

int pass_backward(struct call *c)
{
    if (c->in[0].needs_grad)
        c->grad_in[0] = c->grad_out[0];
    return 0;
}

static int make_output(struct call *c, int k, int ndim, const size_t dim[])
{
    return dp_run_tensor(c->run, c->slot, DP_F32, ndim, dim, &c->out[k], c->err);
}

int make_output_like(struct call *c, int k, const struct dp_tensor *like)
{
    return make_output(c, k, like->ndim, like->dim);
}

int make_input_grad(struct call *c, int k)
{
    const struct dp_tensor *in = &c->in[k];

    return dp_run_tensor(c->run, in->slot, DP_F32, in->ndim, in->dim, &c->grad_in[k], c->err);
}

const struct dp_tensor *param_value(const struct call *c, int i)
{
    return dp_run_value(c->run, c->node->param[i]);
}

size_t row_width(const struct dp_tensor *tensor)
{
    size_t width = 1;

    for (int d = 1; d < tensor->ndim; ++d)
        width *= tensor->dim[d];
    return width;
}

int need_rows(const struct call *c)
{
    if (c->in[0].ndim < 1)
        return dp_fail(c->err, DP_ESHAPE, "a layer that takes rows got a tensor of shape ()");
    return 0;
}

int queue_math(struct call *c, enum loop loop, struct math math)
{
    struct dp_use uses[DP_CALL_USES];

    math.loop = loop;
    return dp_run_call(c->run, c->slot, math_run, &math, sizeof math, uses, math_uses(&math, uses),
                       c->err);
}

int queue_output(struct call *c, const struct dp_tensor *like, enum loop loop, struct math math)
{
    const int status = make_output_like(c, 0, like);

    math.y = c->out[0].data;
    return status != 0 ? status : queue_math(c, loop, math);
}

int queue_input_grad(struct call *c, int k, enum loop loop, struct math math)
{
    int status;

    if (!c->in[k].needs_grad)
        return 0;
    status = make_input_grad(c, k);
    math.y = c->grad_in[k].data;
    return status != 0 ? status : queue_math(c, loop, math);
}

int queue_param_grad(struct call *c, int i, enum loop loop, struct math math)
{
    struct dp_tensor grad;

    if (!is_trained(c, i))
        return 0;
    dp_run_grad(c->run, c->node->param[i], &grad, &math.accumulate);
    math.y = grad.data;
    return queue_math(c, loop, math);
}
