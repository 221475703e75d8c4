/* open.c: the modules that workloads stand for. */
#include "workload.h"

/* Children of a sequence as they are opened; the first failure stops. */
struct parts {
    struct dp_group *group;
    struct dp_slot *slot; /* where inputs are moved to; NULL: nowhere */
    workload_wrap_fn *wrap;
    void *user;
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
        ++p->n;
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

    for (size_t l = 0; l < layers; ++l) {
        add_linear(p, workload->size[l], workload->size[l + 1]);
        if (l + 1 < layers)
            add_relu(p);
    }
}

/* What wrap makes of the last child in its place. */
static void wrap_last(struct parts *p)
{
    struct dp_module *wrapped = NULL;

    if (p->status != 0 || !p->wrap)
        return;
    p->status = p->wrap(p->user, p->module[p->n - 1], &wrapped, p->err);
    if (p->status != 0)
        return;
    dp_module_close(p->module[p->n - 1]);
    p->module[p->n - 1] = wrapped;
}

static void add_blocks(struct parts *p)
{
    add_linear(p, 10, 20);
    add_linear(p, 20, 20);
    wrap_last(p);
    add_linear(p, 20, 20);
}

static void add_mixed(struct parts *p)
{
    if (p->status == 0)
        add(p, dp_embedding(p->group, WORKLOAD_TABLE, 10, next(p), p->err));
    if (p->status == 0)
        add(p, dp_to(p->group, p->slot, next(p), p->err));
    add_linear(p, 10, 10);
    wrap_last(p);
}

static int open_model(const struct workload *workload, struct parts *p, struct dp_module **model)
{
    switch (workload->kind) {
    case WORKLOAD_MLP:
        add_mlp(p, workload);
        break;
    case WORKLOAD_BLOCKS:
        add_blocks(p);
        break;
    case WORKLOAD_MIXED:
        add_mixed(p);
        break;
    case WORKLOAD_CNN:
        add_cnn(p);
        break;
    case WORKLOAD_CAPSNET:
        add_capsnet(p);
        break;
    case WORKLOAD_RNN:
    case WORKLOAD_LSTM:
        add_recurrent(p, workload->kind == WORKLOAD_LSTM);
        break;
    }
    if (p->status == 0)
        p->status = dp_sequential(p->group, p->module, p->n, model, p->err);
    while (p->n > 0)
        dp_module_close(p->module[--p->n]);
    return p->status;
}

int workload_open(const struct workload *workload, struct dp_group *group, struct dp_module **model,
                  struct dp_error *err)
{
    struct parts p = {.group = group, .err = err};

    return open_model(workload, &p, model);
}

/* All of it, or of mixed the layer behind the move. */
static int place(const struct workload *workload, struct dp_module *model, struct dp_slot *slot,
                 struct dp_error *err)
{
    if (!slot)
        return 0;
    return dp_module_to(workload->kind == WORKLOAD_MIXED ? dp_module_child(model, 2) : model, slot,
                        err);
}

int workload_open_wrapped(const struct workload *workload, struct dp_group *group,
                          struct dp_slot *slot, workload_wrap_fn *wrap, void *user,
                          struct dp_module **model, struct dp_error *err)
{
    const bool part = workload->kind == WORKLOAD_BLOCKS || workload->kind == WORKLOAD_MIXED;
    struct parts p = {
        .group = group, .slot = slot, .wrap = part ? wrap : NULL, .user = user, .err = err};
    struct dp_module *opened = NULL;
    int status = open_model(workload, &p, &opened);

    if (status == 0)
        status = place(workload, opened, slot, err);
    if (status == 0 && !part)
        status = wrap(user, opened, model, err);
    else if (status == 0)
        *model = dp_module_retain(opened);
    dp_module_close(opened);
    return status;
}

static int wrap_parallel(void *user, struct dp_module *part, struct dp_module **wrapped,
                         struct dp_error *err)
{
    return dp_parallel(part, user, wrapped, err);
}

int workload_open_parallel(const struct workload *workload, struct dp_group *group,
                           const struct dp_parallel_config *config, struct dp_module **model,
                           struct dp_error *err)
{
    struct dp_parallel_config wrap = {0};

    if (config)
        wrap = *config;
    return workload_open_wrapped(
        workload, group, wrap.device_ids != NULL ? wrap.device_ids[0] : dp_group_slot(group, 0),
        wrap_parallel, &wrap, model, err);
}
