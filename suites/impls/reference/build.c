/* build.c: builds the tree of modules of a description. */
#include "containers.h"
#include "layer.h"

#include <stdlib.h>
#include <string.h>

struct built {
    const struct layer *layer;
    struct dp_module *module;
    struct node *node; /* NULL: a module of core */
};

struct builder {
    struct world *world;
    struct built *list; /* all layers so far, in the order in which they were finished */
    int n;
    struct dp_error *err;
};

static int count_layers(const struct layer *layer)
{
    int n = 1;

    for (int i = 0; i < layer->n_children; ++i)
        n += count_layers(&layer->child[i]);
    return n;
}

static const struct built *build_find(const struct builder *b, const struct layer *layer)
{
    for (int i = 0; i < b->n; ++i)
        if (b->list[i].layer == layer)
            return &b->list[i];
    return NULL;
}

/* ---- parameters ------------------------------------------------------------------------------ */

/* Sets zeros unless the description has other values, whatever core begins with. */
static int set_initial(const struct layer_param *param, const struct dp_tensor *value,
                       struct dp_error *err)
{
    const size_t n = param->dim[0] * param->dim[1];
    struct impl_array from = {.dtype = IMPL_F32, .ndim = param->ndim};
    float *zeros = NULL;
    int status;

    memcpy(from.dim, param->dim, (size_t)param->ndim * sizeof *from.dim);
    from.data = param->initial;
    if (!param->initial)
        from.data = zeros = calloc(n + 1, sizeof *zeros);
    status = !from.data ? dp_fail(err, DP_ENOMEM, "no memory for a parameter")
                        : value_put(value, &from, err);
    free(zeros);
    return status;
}

static int set_params(struct builder *b, const struct layer *layer, struct dp_module *module)
{
    struct dp_param *list[LAYER_MAX_PARAMS];
    const int n = layer->n_params > 0 ? dp_module_params(module, list, LAYER_MAX_PARAMS) : 0;
    int status = 0;

    if (n < 0)
        return dp_fail(b->err, n, "no memory for a list of parameters");
    if (n != layer->n_params)
        return dp_fail(b->err, OWN_STATUS(IMPL_EBROKEN), "%d parameters where %d are described", n,
                       layer->n_params);
    for (int i = 0; status == 0 && i < n; ++i) {
        list[i]->frozen = layer->param[i].frozen;
        list[i]->buffer = layer->param[i].buffer;
        if (layer->param[i].initial || layer->kind == LAYER_BATCH_NORM ||
            layer->kind == LAYER_LAYER_NORM)
            status = set_initial(&layer->param[i], &list[i]->value, b->err);
    }
    return status;
}

static bool all_on(const struct layer *layer, int device)
{
    const bool tied = layer->kind == LAYER_OUTPUT;
    bool same =
        layer->kind != LAYER_PARALLEL && layer->kind != LAYER_AGAIN &&
        (tied ? layer->of->device == device : layer->n_params == 0 || layer->device == device);

    for (int i = 0; same && i < layer->n_children; ++i)
        same = all_on(&layer->child[i], device);
    return same;
}

/* All parameters of a container are moved at once if they have the same device, so that they are
 * adjacent in memory. */
static int build_place(struct builder *b, const struct layer *layer, struct dp_module *module)
{
    struct dp_slot *slot = slot_of(b->world->group, layer->device, b->err);
    int status = 0;

    if (!slot)
        return DP_ENODEV;
    if (all_on(layer, layer->device))
        return dp_module_to(module, slot, b->err);
    /* The layers inside a `parallel` were moved before it was wrapped, and `again` and `output`
     * have no parameters. */
    for (int i = 0; status == 0 && i < layer->n_children; ++i)
        if (layer->child[i].kind != LAYER_PARALLEL && layer->child[i].kind != LAYER_AGAIN &&
            layer->child[i].kind != LAYER_OUTPUT)
            status = build_place(b, &layer->child[i], dp_module_child(module, i));
    return status;
}

/* ---- layers ---------------------------------------------------------------------------------- */

static int build(struct builder *b, const struct layer *layer, struct dp_module **module);

/* Builds the children of a container, in a passage. */
static int build_inside(struct builder *b, const struct layer *layer, bool watched,
                        struct dp_module **module)
{
    struct dp_module **child = calloc((size_t)layer->n_children + 1, sizeof *child);
    int n = 0, status = 0;

    if (!child)
        return dp_fail(b->err, DP_ENOMEM, "no memory for a container");
    while (status == 0 && n < layer->n_children) {
        status = build(b, &layer->child[n], &child[n]);
        n += status == 0;
    }
    if (status == 0)
        status = passage_open(b->world, layer, child, watched, module, b->err);
    for (int i = 0; i < n; ++i)
        dp_module_close(child[i]);
    free(child);
    return status;
}

/* Without devices there are no slots that device_ids could name. */
static int configure(struct builder *b, const struct layer *layer, struct dp_slot *slots[],
                     struct dp_parallel_config *config)
{
    struct dp_group *group = b->world->group;

    *config = (struct dp_parallel_config){.dim = layer->dim};
    if (layer->output_device != IMPL_NOWHERE) {
        config->output_device = slot_of(group, layer->output_device, b->err);
        if (!config->output_device)
            return DP_ENODEV;
    }
    if (layer->n_ids == LAYER_ALL_DEVICES || dp_group_size(group) == 0)
        return 0;
    config->device_ids = slots;
    config->n_device_ids = layer->n_ids;
    for (int i = 0; i < layer->n_ids; ++i) {
        slots[i] = slot_of(group, layer->ids[i], b->err);
        if (!slots[i])
            return DP_ENODEV;
    }
    return 0;
}

static int build_parallel(struct builder *b, const struct layer *layer, struct dp_module **module)
{
    struct dp_slot *slots[IMPL_MAX_DEVICES];
    struct dp_parallel_config config;
    struct dp_module *inside = NULL;
    int status = build_inside(b, layer, true, &inside);

    if (status != 0)
        return status;
    /* The inside of a `parallel` is placed as a sequence. */
    struct layer sequence = *layer;

    sequence.kind = LAYER_SEQUENCE;
    status = build_place(b, &sequence, inside);
    if (status == 0)
        status = configure(b, layer, slots, &config);
    if (status == 0)
        status = layer->functional ? functional_open(b->world, inside, &config, module, b->err)
                                   : dp_parallel(inside, &config, module, b->err);
    dp_module_close(inside);
    return status;
}

static int build_again(struct builder *b, const struct layer *layer, struct dp_module **module)
{
    const struct built *first = build_find(b, layer->of);

    if (!first)
        return dp_fail(b->err, DP_EINVAL, "'again' of '%s' before that layer", layer->of->name);
    *module = dp_module_retain(first->module);
    return 0;
}

static int build_kind(struct builder *b, const struct layer *layer, struct dp_module **module,
                      struct node **node)
{
    struct dp_group *group = b->world->group;

    if (layer->by_columns || layer->half || layer->scalar)
        return dp_fail(b->err, DP_ENOTSUP, "the reference has no strides, types or scalars");
    switch (layer->kind) {
    case LAYER_SEQUENCE:
    case LAYER_FIRST:
        return build_inside(b, layer, false, module);
    case LAYER_PARALLEL:
        return build_parallel(b, layer, module);
    case LAYER_AGAIN:
        return build_again(b, layer, module);
    case LAYER_LINEAR:
        return dp_linear(group, layer->in, layer->out, layer->with_bias, module, b->err);
    case LAYER_BATCH_NORM:
        return dp_batch_norm(group, layer->in, (double)layer->eps, (double)layer->momentum, module,
                             b->err);
    case LAYER_RELU:
        return dp_relu(group, module, b->err);
    case LAYER_POSITIONS:
        return dp_positions(group, layer->in, layer->out, module, b->err);
    case LAYER_LAYER_NORM:
        return dp_layer_norm(group, layer->in, (double)layer->eps, module, b->err);
    case LAYER_GELU:
        return dp_gelu(group, layer->tanh_form, module, b->err);
    case LAYER_ATTENTION:
        return dp_attention(group, layer->heads, 0.0, 0, module, b->err);
    case LAYER_OUTPUT:
        return dp_linear_tied(group, build_find(b, layer->of)->node->param[0], module, b->err);
    case LAYER_CROSS_ENTROPY:
        return dp_loss(group, DP_LOSS_XENT, 1.0f, false, module, b->err);
    default:
        return node_open(b->world, layer, module, node, b->err);
    }
}

static int build(struct builder *b, const struct layer *layer, struct dp_module **module)
{
    struct dp_module *made = NULL;
    struct node *node = NULL;
    int status = build_kind(b, layer, &made, &node);

    if (status != 0)
        return status;
    if (layer->n_params > 0)
        status = set_params(b, layer, made);
    if (status != 0) {
        dp_module_close(made);
        return status;
    }
    b->list[b->n++] = (struct built){layer, made, node};
    *module = made;
    return 0;
}

int model_build(struct world *world, const struct layer *model, bool watched,
                struct dp_module **module, struct dp_error *err)
{
    struct builder b = {.world = world, .err = err};
    struct dp_module *root = NULL;
    int status;

    b.list = calloc((size_t)count_layers(model), sizeof *b.list);
    if (!b.list)
        return dp_fail(err, DP_ENOMEM, "no memory for a model");
    status = build_inside(&b, model, watched, &root);
    if (status == 0)
        status = build_place(&b, model, root);
    if (status == 0) {
        /* The layer that a `borrow` refers to may come after it, so this is done at the end. */
        for (int i = 0; i < b.n; ++i)
            if (b.list[i].layer->kind == LAYER_BORROW)
                b.list[i].node->param[0] = build_find(&b, b.list[i].layer->of)->node->param[0];
    }
    free(b.list);
    if (status != 0) {
        dp_module_close(root);
        return status;
    }
    *module = root;
    return 0;
}

struct layer *model_read(struct dp_group *group, const char *description, struct dp_error *err)
{
    struct impl_error why = {0};
    struct layer *model = description_read(description, dp_group_size(group), &why);

    if (!model)
        dp_fail(err, dp_status_of(why.status), "%s", why.text);
    return model;
}
