/* open.c: the modules that workloads stand for. */
#include "workload.h"

/* Children of a sequence as they are opened; the first failure stops. */
struct parts {
    struct dp_group *group;
    struct dp_error *err;
    struct dp_module *module[2 * WORKLOAD_MAX_SIZES];
    int n, status;
};

static struct dp_module **next(struct parts *p)
{
    return &p->module[p->n];
}

static void add(struct parts *p, int status)
{
    p->status = status;
    if (status == 0)
        p->n++;
}

static void add_linear(struct parts *p, size_t in, size_t out)
{
    if (p->status == 0)
        add(p, dp_linear(p->group, in, out, true, next(p), p->err));
}

static void add_relu(struct parts *p)
{
    if (p->status == 0)
        add(p, dp_relu(p->group, next(p), p->err));
}

static void add_conv(struct parts *p, size_t in, size_t out, size_t stride, size_t padding)
{
    const struct dp_window window = {{3, 3}, {stride, stride}, {padding, padding}};

    if (p->status == 0)
        add(p, dp_conv2d(p->group, in, out, &window, true, next(p), p->err));
}

static void add_pool(struct parts *p)
{
    const struct dp_window window = {.kernel = {2, 2}};

    if (p->status == 0)
        add(p, dp_max_pool2d(p->group, &window, next(p), p->err));
}

static void add_view(struct parts *p, int ndim, const size_t dim[])
{
    if (p->status == 0)
        add(p, ndim == 0 ? dp_flatten(p->group, next(p), p->err)
                         : dp_unflatten(p->group, ndim, dim, next(p), p->err));
}

static void add_recurrent(struct parts *p, bool lstm)
{
    add_view(p, 2, (const size_t[]){8, 8});
    if (p->status == 0)
        add(p, lstm ? dp_lstm(p->group, 8, 128, true, next(p), p->err)
                    : dp_rnn(p->group, 8, 128, true, next(p), p->err));
    add_linear(p, 128, 10);
}

static void add_cnn(struct parts *p)
{
    add_view(p, 3, (const size_t[]){1, 8, 8});
    add_conv(p, 1, 32, 1, 1);
    add_relu(p);
    add_conv(p, 32, 64, 1, 1);
    add_relu(p);
    add_pool(p);
    add_view(p, 0, NULL);
    add_linear(p, 1024, 10);
}

static void add_capsnet(struct parts *p)
{
    const struct dp_capsule_config config = {32, 10, 8, 16, 3};

    add_view(p, 3, (const size_t[]){1, 8, 8});
    add_conv(p, 1, 32, 1, 0);
    add_relu(p);
    add_conv(p, 32, 64, 2, 0);
    add_view(p, 2, (const size_t[]){32, 8});
    if (p->status == 0)
        add(p, dp_capsule(p->group, &config, next(p), p->err));
    add_view(p, 0, NULL);
    add_linear(p, 160, 10);
}

static void add_mlp(struct parts *p, const struct workload *workload)
{
    const size_t layers = workload_layers(workload);

    for (size_t l = 0; l < layers; l++) {
        add_linear(p, workload->size[l], workload->size[l + 1]);
        if (l + 1 < layers)
            add_relu(p);
    }
}

/* The last child in the wrapper's place. */
static void wrap_last(struct parts *p, const struct dp_parallel_config *config)
{
    struct dp_module *wrapper = NULL;

    if (p->status != 0 || config == NULL)
        return;
    p->status = dp_parallel(p->module[p->n - 1], config, &wrapper, p->err);
    if (p->status != 0)
        return;
    dp_module_close(p->module[p->n - 1]);
    p->module[p->n - 1] = wrapper;
}

static struct dp_slot *first_slot(struct dp_group *group, const struct dp_parallel_config *config)
{
    if (config != NULL && config->device_ids != NULL)
        return config->device_ids[0];
    return dp_group_slot(group, 0);
}

/* wrap NULL: nothing is wrapped or moved. */
static void add_blocks(struct parts *p, const struct dp_parallel_config *wrap)
{
    add_linear(p, 10, 20);
    add_linear(p, 20, 20);
    wrap_last(p, wrap);
    add_linear(p, 20, 20);
}

static void add_mixed(struct parts *p, const struct dp_parallel_config *wrap)
{
    if (p->status == 0)
        add(p, dp_embedding(p->group, 1000, 10, next(p), p->err));
    if (p->status == 0)
        add(p, dp_to(p->group, wrap != NULL ? first_slot(p->group, wrap) : NULL, next(p), p->err));
    add_linear(p, 10, 10);
    wrap_last(p, wrap);
}

static int open_model(const struct workload *workload, struct dp_group *group,
                      const struct dp_parallel_config *wrap, struct dp_module **model,
                      struct dp_error *err)
{
    struct parts p = {.group = group, .err = err};

    switch (workload->kind) {
    case WORKLOAD_MLP:
        add_mlp(&p, workload);
        break;
    case WORKLOAD_BLOCKS:
        add_blocks(&p, wrap);
        break;
    case WORKLOAD_MIXED:
        add_mixed(&p, wrap);
        break;
    case WORKLOAD_CNN:
        add_cnn(&p);
        break;
    case WORKLOAD_CAPSNET:
        add_capsnet(&p);
        break;
    case WORKLOAD_RNN:
    case WORKLOAD_LSTM:
        add_recurrent(&p, workload->kind == WORKLOAD_LSTM);
        break;
    }
    if (p.status == 0)
        p.status = dp_sequential(group, p.module, p.n, model, err);
    while (p.n > 0)
        dp_module_close(p.module[--p.n]);
    return p.status;
}

int workload_open(const struct workload *workload, struct dp_group *group, struct dp_module **model,
                  struct dp_error *err)
{
    return open_model(workload, group, NULL, model, err);
}

/* All of it, or of mixed the layer behind the move. */
static int place(const struct workload *workload, struct dp_module *model, struct dp_slot *slot,
                 struct dp_error *err)
{
    if (slot == NULL)
        return 0;
    return dp_module_to(workload->kind == WORKLOAD_MIXED ? dp_module_child(model, 2) : model, slot,
                        err);
}

int workload_open_parallel(const struct workload *workload, struct dp_group *group,
                           const struct dp_parallel_config *config, struct dp_module **model,
                           struct dp_error *err)
{
    const bool part = workload->kind == WORKLOAD_BLOCKS || workload->kind == WORKLOAD_MIXED;
    const struct dp_parallel_config all = {0};
    const struct dp_parallel_config *wrap = config != NULL ? config : &all;
    struct dp_module *opened = NULL, *wrapper = NULL;
    int rc = open_model(workload, group, part ? wrap : NULL, &opened, err);

    if (rc == 0)
        rc = place(workload, opened, first_slot(group, wrap), err);
    if (rc == 0 && !part)
        rc = dp_parallel(opened, wrap, &wrapper, err);
    if (rc == 0)
        *model = part ? dp_module_retain(opened) : dp_module_retain(wrapper);
    dp_module_close(wrapper);
    dp_module_close(opened);
    return rc;
}
