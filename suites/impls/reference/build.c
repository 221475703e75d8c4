/* build.c: builds the tree of modules of a description. Two containers are separate modules: the
 * inside of `parallel`, and its functional form. */
#include "layer.h"
#include "reference.h"

#include <stdlib.h>
#include <string.h>

/* ---- passage --------------------------------------------------------------------------------- */

struct passage {
    struct world *world;
    struct dp_module *inner;   /* the same children in a dp_sequential; NULL without any */
    struct dp_module *turned;  /* in reverse order; NULL: no replica runs them so */
    const struct layer *layer; /* lists the replicas that run them in reverse order */
    bool watched;
};

static size_t containers_rows_of(const struct dp_tensor *in, int dim)
{
    const int d = dim < 0 ? dim + in->ndim : dim;

    return d >= 0 && d < in->ndim ? in->dim[d] : 0;
}

int world_replica(const struct world *world, const struct dp_run *run)
{
    const int replica = dp_run_replica(run);

    return world->first_rank + (replica < 0 ? 0 : replica);
}

/* Each replica has an entry, which its worker writes. */
static struct impl_replica *containers_look(const struct passage *p, const struct dp_run *run)
{
    const int replica = dp_run_replica(run);
    const int i = p->world->first_replica + (replica < 0 ? 0 : replica);
    struct impl_replica *seen;

    if (!p->watched || !p->world->trace)
        return NULL;
    seen = &p->world->trace->replica[i];
    seen->device = device_of(dp_run_slot(run));
    seen->thread = thread_number();
    seen->grad = dp_run_has_grad(run);
    seen->train = dp_run_is_training(run);
    return seen;
}

/* Returns the layers in the order in which this replica runs them. */
static struct dp_module *order_of(const struct passage *p, const struct dp_run *run)
{
    return p->turned && layer_listed(p->layer, world_replica(p->world, run)) ? p->turned : p->inner;
}

/* Returns how many of n tensors the layers get: all, or with `first` the first one. */
static int taken_by(const struct passage *p, int n)
{
    return p->layer->kind == LAYER_FIRST && n > 1 ? 1 : n;
}

static int passage_forward(struct dp_module *module, struct dp_run *run,
                           const struct dp_tensor in[], int n_in, struct dp_tensor out[],
                           int *n_out, struct dp_error *err)
{
    const struct passage *p = dp_module_self(module);
    struct impl_replica *seen = containers_look(p, run);
    const int taken = taken_by(p, n_in), left = n_in - taken;
    int status = 0;

    if (seen) {
        ++seen->calls;
        seen->rows = n_in > 0 ? containers_rows_of(&in[0], p->layer->dim) : 0;
    }
    if (p->inner)
        status = dp_forward(order_of(p, run), run, in, taken, out, n_out, err);
    if (status == 0 && p->inner && *n_out + left > DP_MAX_IO)
        status =
            dp_fail(err, DP_EINVAL, "%d tensors and %d more, at most %d", *n_out, left, DP_MAX_IO);
    if (status != 0)
        return status;
    if (!p->inner) {
        memcpy(out, in, (size_t)n_in * sizeof *out);
        *n_out = n_in;
        return 0;
    }
    memcpy(out + *n_out, in + taken, (size_t)left * sizeof *out);
    *n_out += left;
    return 0;
}

static int passage_backward(struct dp_module *module, struct dp_run *run,
                            const struct dp_tensor grad_out[], int n_out,
                            struct dp_tensor grad_in[], int n_in, struct dp_error *err)
{
    const struct passage *p = dp_module_self(module);
    const int taken = p->inner ? taken_by(p, n_in) : 0, left = n_in - taken;

    containers_look(p, run);
    memcpy(grad_in + taken, grad_out + n_out - left, (size_t)left * sizeof *grad_in);
    if (!p->inner)
        return 0;
    return dp_backward(order_of(p, run), run, grad_out, n_out - left, grad_in, taken, err);
}

static void passage_close(void *self)
{
    struct passage *p = self;

    dp_module_close(p->inner);
    dp_module_close(p->turned);
    free(p);
}

static int open_turned(struct passage *p, struct dp_module *const children[], int n,
                       struct dp_error *err)
{
    struct dp_module **other = calloc((size_t)n, sizeof *other);
    int status;

    if (!other)
        return dp_fail(err, DP_ENOMEM, "no memory for a container");
    for (int i = 0; i < n; ++i)
        other[i] = children[n - 1 - i];
    status = dp_sequential(p->world->group, other, n, &p->turned, err);
    free(other);
    return status;
}

/* Opens the children of a layer, in order or in reverse order, by dp_sequential; there may be none.
 * watched: it writes into the trace of the world which replica ran it. */
static int passage_open(struct world *world, const struct layer *layer,
                        struct dp_module *const children[], bool watched, struct dp_module **module,
                        struct dp_error *err)
{
    static const struct dp_module_ops ops = {"sequence", passage_forward, passage_backward,
                                             passage_close};
    struct passage *p = calloc(1, sizeof *p);
    const int n = layer->n_children;
    int status = 0;

    if (!p)
        return dp_fail(err, DP_ENOMEM, "no memory for a container");
    *p = (struct passage){world, NULL, NULL, layer, watched};
    if (n > 0)
        status = dp_sequential(world->group, children, n, &p->inner, err);
    if (status == 0 && n > 0 && layer->kind == LAYER_SEQUENCE && layer->n_numbers > 0)
        status = open_turned(p, children, n, err);
    if (status == 0)
        status = dp_module_open(world->group, &ops, p, children, n, module, err);
    if (status != 0)
        passage_close(p);
    return status;
}

/* ---- functional ------------------------------------------------------------------------------ */

struct functional {
    struct world *world;
    struct dp_slot *slot[DP_MAX_SLOTS];
    struct dp_parallel_config config;
};

void world_close_calls(struct world *world)
{
    for (int i = 0; i < world->n_calls; ++i)
        dp_module_close(world->call[i]);
    free(world->call);
    world->call = NULL;
    world->n_calls = world->calls_capacity = 0;
}

/* Inside a replica core refuses the call before anything is made, so only the caller's thread keeps
 * calls. */
static int functional_forward(struct dp_module *module, struct dp_run *run,
                              const struct dp_tensor in[], int n_in, struct dp_tensor out[],
                              int *n_out, struct dp_error *err)
{
    const struct functional *f = dp_module_self(module);
    struct dp_module *call = NULL;
    int status = dp_data_parallel(dp_module_child(module, 0), run, f->config.device_ids,
                                  f->config.n_device_ids, f->config.output_device, f->config.dim,
                                  in, n_in, out, n_out, &call, err);

    if (status != 0)
        return status;
    if (dp_run_has_grad(run)) {
        struct world *world = f->world;
        struct dp_module **room =
            list_room(world->call, world->n_calls, &world->calls_capacity, sizeof *room, err);

        world->call = room ? room : world->call;
        status = room ? dp_run_save(run, module, &call, sizeof call, err) : DP_ENOMEM;
    }
    if (status != 0 || !dp_run_has_grad(run))
        dp_module_close(call);
    else
        f->world->call[f->world->n_calls++] = call;
    return status;
}

static int functional_backward(struct dp_module *module, struct dp_run *run,
                               const struct dp_tensor grad_out[], int n_out,
                               struct dp_tensor grad_in[], int n_in, struct dp_error *err)
{
    const struct functional *f = dp_module_self(module);
    struct dp_module *call = NULL;
    int status = dp_run_restore(run, module, &call, sizeof call, err);

    if (status == 0)
        status = dp_backward(call, run, grad_out, n_out, grad_in, n_in, err);
    if (status == 0) {
        struct world *world = f->world;
        bool closed = false;

        /* Backwards come in reverse order of their forwards, so the call is the last one; later
         * ones had no backward. */
        while (!closed && world->n_calls > 0) {
            closed = world->call[world->n_calls - 1] == call;
            dp_module_close(world->call[--world->n_calls]);
        }
    }
    return status;
}

/* The module has the kind of core's wrapper, so that parameter names have the wrapper's level. */
static int functional_open(struct world *world, struct dp_module *child,
                           const struct dp_parallel_config *config, struct dp_module **module,
                           struct dp_error *err)
{
    static const struct dp_module_ops ops = {"data_parallel", functional_forward,
                                             functional_backward, free};
    struct functional *f = calloc(1, sizeof *f);
    int status;

    if (!f)
        return dp_fail(err, DP_ENOMEM, "no memory for a container");
    f->world = world;
    f->config = *config;
    f->config.device_ids = f->slot;
    if (!config->device_ids)
        f->config.n_device_ids = dp_group_size(world->group);
    for (int i = 0; i < f->config.n_device_ids; ++i)
        f->slot[i] = config->device_ids ? config->device_ids[i] : dp_group_slot(world->group, i);
    status = dp_module_open(world->group, &ops, f, &child, 1, module, err);
    if (status != 0)
        free(f);
    return status;
}

/* ---- the tree of modules --------------------------------------------------------------------- */

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
