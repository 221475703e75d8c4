/* open.c: the modules that workloads stand for, opened or in words. */
#include "descriptor.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* A model has at most so many at a time: gpt's layers are two each. */
enum { WORKLOAD_PARTS = 128 };

/* Children of a sequence as they are opened; the first failure stops. */
struct workload_parts {
    FILE *words; /* of workload_describe, which opens nothing; else NULL */
    struct dp_group *group;
    struct dp_slot *slot; /* where inputs are moved to; NULL: nowhere */
    workload_wrap_fn *wrap;
    void *user;
    struct dp_error *err;
    struct dp_module *module[WORKLOAD_PARTS];
    int n, status;
};

static struct dp_module **open_next(struct workload_parts *p)
{
    return &p->module[p->n];
}

static void open_add(struct workload_parts *p, int status)
{
    p->status = status;
    if (status == 0)
        ++p->n;
}

/* Whether a module is to be opened: none after a failure, and none where words are wanted. */
static bool opens(struct workload_parts *p, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static bool opens(struct workload_parts *p, const char *format, ...)
{
    va_list arguments;

    if (p->status != 0 || !p->words)
        return p->status == 0;
    va_start(arguments, format);
    if (vfprintf(p->words, format, arguments) < 0)
        p->status = DP_EINVAL;
    va_end(arguments);
    return false;
}

void workload_add_linear(struct workload_parts *p, size_t in, size_t out)
{
    if (opens(p, "linear %zu %zu\n", in, out))
        open_add(p, dp_linear(p->group, in, out, true, open_next(p), p->err));
}

void workload_add_relu(struct workload_parts *p)
{
    if (opens(p, "relu\n"))
        open_add(p, dp_relu(p->group, open_next(p), p->err));
}

void workload_add_conv(struct workload_parts *p, size_t in, size_t out, size_t stride,
                       size_t padding, bool bias)
{
    const struct dp_window window = {{3, 3}, {stride, stride}, {padding, padding}};

    if (opens(p, "conv %zu %zu %zu %zu %d\n", in, out, stride, padding, bias))
        open_add(p, dp_conv2d(p->group, in, out, &window, bias, open_next(p), p->err));
}

void workload_add_norm(struct workload_parts *p, size_t channels)
{
    if (opens(p, "norm %zu\n", channels))
        open_add(p, dp_batch_norm(p->group, channels, 1e-5, 0.1, open_next(p), p->err));
}

void workload_add_pool(struct workload_parts *p)
{
    const struct dp_window window = {.kernel = {2, 2}};

    if (opens(p, "pool\n"))
        open_add(p, dp_max_pool2d(p->group, &window, open_next(p), p->err));
}

void workload_add_view(struct workload_parts *p, int ndim, const size_t dim[])
{
    char shape[100] = "";

    for (int d = 0; d < ndim; ++d)
        snprintf(shape + strlen(shape), sizeof shape - strlen(shape), " %zu", dim[d]);
    if (opens(p, "view%s\n", shape))
        open_add(p, ndim == 0 ? dp_flatten(p->group, open_next(p), p->err)
                              : dp_unflatten(p->group, ndim, dim, open_next(p), p->err));
}

void workload_add_recurrent(struct workload_parts *p, bool lstm)
{
    workload_add_view(p, 2, (const size_t[]){8, 8});
    if (opens(p, "%s 8 128\n", lstm ? "lstm" : "rnn"))
        open_add(p, lstm ? dp_lstm(p->group, 8, 128, true, open_next(p), p->err)
                         : dp_rnn(p->group, 8, 128, true, open_next(p), p->err));
    workload_add_linear(p, 128, 10);
}

void workload_add_capsule(struct workload_parts *p, const struct dp_capsule_config *config)
{
    if (opens(p, "capsule %zu %zu %zu %zu %d\n", config->in, config->out, config->d_in,
              config->d_out, config->rounds))
        open_add(p, dp_capsule(p->group, config, open_next(p), p->err));
}

void workload_add_table(struct workload_parts *p, size_t rows, size_t width)
{
    if (opens(p, "table %zu %zu\n", rows, width))
        open_add(p, dp_embedding(p->group, rows, width, open_next(p), p->err));
}

void workload_add_move(struct workload_parts *p)
{
    if (opens(p, "move\n"))
        open_add(p, dp_to(p->group, p->slot, open_next(p), p->err));
}

void workload_add_positions(struct workload_parts *p, size_t context, size_t width)
{
    if (opens(p, "positions %zu %zu\n", context, width))
        open_add(p, dp_positions(p->group, context, width, open_next(p), p->err));
}

void workload_add_layer_norm(struct workload_parts *p, size_t width)
{
    if (opens(p, "layer_norm %zu\n", width))
        open_add(p, dp_layer_norm(p->group, width, 1e-5, open_next(p), p->err));
}

void workload_add_attention(struct workload_parts *p, size_t heads)
{
    if (opens(p, "attention %zu\n", heads))
        open_add(p, dp_attention(p->group, heads, 0, 0, open_next(p), p->err));
}

void workload_add_gelu(struct workload_parts *p)
{
    if (opens(p, "gelu tanh\n"))
        open_add(p, dp_gelu(p->group, true, open_next(p), p->err));
}

void workload_add_tied(struct workload_parts *p)
{
    struct dp_param *table = NULL;

    if (!opens(p, "tied 0\n"))
        return;
    if (dp_module_params(p->module[0], &table, 1) == 1)
        open_add(p, dp_linear_tied(p->group, table, open_next(p), p->err));
    else
        p->status = dp_fail(p->err, DP_EINVAL, "the first part is not a table");
}

void workload_skip_last(struct workload_parts *p, int n)
{
    struct dp_module **first = &p->module[p->n - n], *body = NULL, *whole = NULL;

    if (!opens(p, "skip %d\n", n))
        return;
    p->status = dp_sequential(p->group, first, n, &body, p->err);
    if (p->status == 0)
        p->status = dp_residual(p->group, body, &whole, p->err);
    dp_module_close(body);
    if (p->status != 0)
        return;
    for (int i = 0; i < n; ++i)
        dp_module_close(first[i]);
    p->n -= n - 1;
    *first = whole;
}

/* The last child is replaced by its wrapper. */
void workload_wrap_last(struct workload_parts *p)
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

static int open_open_model(const struct workload *workload, struct workload_parts *p,
                           struct dp_module **model)
{
    workload->is->add(p, workload);
    if (p->status == 0)
        p->status = dp_sequential(p->group, p->module, p->n, model, p->err);
    while (p->n > 0)
        dp_module_close(p->module[--p->n]);
    return p->status;
}

int workload_describe(const struct workload *workload, FILE *out)
{
    const struct workload_descriptor *is = workload->is;
    struct workload_parts p = {.words = out};

    fprintf(out, "workload %s\nsizes", workload->name);
    for (size_t i = 0; i < workload->n_sizes; ++i)
        fprintf(out, " %zu", workload->size[i]);
    fprintf(out, "\nkind %s\n", is->chain ? "chain" : "model");
    if (is->shards)
        fprintf(out, "shards\n");
    if (is->exact)
        fprintf(out, "exact %d %.17g %.17g\n", is->wide_bits, is->growth.results, is->growth.terms);
    for (size_t i = 0; !is->chain && i < workload_n_params(workload); ++i) {
        const struct workload_law law = workload_law(workload, i, false);

        fprintf(out, "law %zu %u %u %.17g\n", law.count, law.every, law.most, law.unit);
    }
    if (is->tokens)
        fprintf(out, "tokens %zu %zu\n", is->period[0], is->period[1]);
    if (is->end)
        fprintf(out, "clip %.17g\nadamw %.17g %.17g %.17g %.17g %.17g\n", is->end->max_norm,
                is->end->config.lr, is->end->config.beta1, is->end->config.beta2,
                is->end->config.eps, is->end->config.decay);
    fprintf(out, "modules\n");
    is->add(&p, workload);
    return p.status == 0 && !ferror(out) ? 0 : -1;
}

int workload_open(const struct workload *workload, struct dp_group *group, struct dp_module **model,
                  struct dp_error *err)
{
    struct workload_parts p = {.group = group, .err = err};

    return open_open_model(workload, &p, model);
}

/* Places all of it, or for mixed the layer after the move. */
static int open_place(const struct workload *workload, struct dp_module *model,
                      struct dp_slot *slot, struct dp_error *err)
{
    if (!slot)
        return 0;
    return dp_module_to(workload->is->table ? dp_module_child(model, 2) : model, slot, err);
}

int workload_open_wrapped(const struct workload *workload, struct dp_group *group,
                          struct dp_slot *slot, workload_wrap_fn *wrap, void *user,
                          struct dp_module **model, struct dp_error *err)
{
    const bool part = workload->is->inside;
    struct workload_parts p = {
        .group = group, .slot = slot, .wrap = part ? wrap : NULL, .user = user, .err = err};
    struct dp_module *opened = NULL;
    int status = open_open_model(workload, &p, &opened);

    if (status == 0)
        status = open_place(workload, opened, slot, err);
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
