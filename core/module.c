/* module.c: trees of layers, and their parameters. All replicas share the tree; struct dp_state
 * holds what differs between them. */
#include "module.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int dp_module_open(struct dp_group *group, const struct dp_module_ops *ops, void *self,
                   struct dp_module *const children[], int n_children, struct dp_module **module,
                   struct dp_error *err)
{
    struct dp_module *m = calloc(1, sizeof *m);
    struct dp_module **list = calloc((size_t)n_children + 1, sizeof *list);
    if (!m || !list) {
        free(m);
        free(list);
        return dp_fail(err, DP_ENOMEM, "no memory for a module");
    }
    m->group = group;
    m->ops = ops;
    m->self = self;
    m->refs = 1;
    m->children = list;
    m->n_children = n_children;
    for (int i = 0; i < n_children; ++i)
        list[i] = dp_module_retain(children[i]);
    *module = m;
    return 0;
}

static void param_release(struct dp_param *param)
{
    if (--param->refs > 0)
        return;
    dp_block_release(param->value_block);
    dp_block_release(param->grad_block);
    free(param);
}

void dp_module_close(struct dp_module *module)
{
    if (!module || --module->refs > 0)
        return;
    for (int i = 0; i < module->n_children; ++i)
        dp_module_close(module->children[i]);
    for (int i = 0; i < module->n_params; ++i)
        param_release(module->params[i]);
    if (module->ops->close)
        module->ops->close(module->self);
    free(module->children);
    free(module->params);
    free(module);
}

struct dp_module *dp_module_retain(struct dp_module *module)
{
    ++module->refs;
    return module;
}

void *dp_module_self(const struct dp_module *module)
{
    return module->self;
}

const char *dp_module_kind(const struct dp_module *module)
{
    return module->ops->kind;
}

struct dp_group *dp_module_group(const struct dp_module *module)
{
    return module->group;
}

int dp_module_children(const struct dp_module *module)
{
    return module->n_children;
}

struct dp_module *dp_module_child(const struct dp_module *module, int i)
{
    return i >= 0 && i < module->n_children ? module->children[i] : NULL;
}

int dp_module_tie_param(struct dp_module *module, struct dp_param *param, struct dp_error *err)
{
    struct dp_param **grown =
        realloc(module->params, ((size_t)module->n_params + 1) * sizeof *grown);
    if (!grown)
        return dp_fail(err, DP_ENOMEM, "no memory for parameter '%s'", param->name);
    module->params = grown;
    module->params[module->n_params++] = param;
    ++param->refs;
    return 0;
}

static int param_open(struct dp_module *module, struct dp_param *p, enum dp_dtype dtype, int ndim,
                      const size_t dim[], struct dp_error *err)
{
    struct dp_slot *host = dp_group_host(module->group);
    int status = dp_tensor_shape(host, dtype, ndim, dim, &p->value, err);
    if (status)
        return status;
    const size_t bytes = dp_tensor_bytes(&p->value);
    p->grad = p->value;
    p->value.version = &p->version;
    status = dp_block_open(host, bytes, &p->value_block, err);
    if (status == 0)
        status = dp_block_open(host, bytes, &p->grad_block, err);
    if (status)
        return status;
    p->value.data = p->value_block->memory;
    p->grad.data = p->grad_block->memory;
    memset(p->value.data, 0, bytes);
    memset(p->grad.data, 0, bytes);
    return dp_module_tie_param(module, p, err);
}

int dp_module_add_param(struct dp_module *module, const char *name, enum dp_dtype dtype, int ndim,
                        const size_t dim[], struct dp_param **param, struct dp_error *err)
{
    if (dtype == DP_BF16)
        return dp_fail(err, DP_EINVAL, "parameter '%.40s' is of bf16, which can only be moved",
                       name);
    struct dp_param *p = calloc(1, sizeof *p);
    if (!p)
        return dp_fail(err, DP_ENOMEM, "no memory for parameter '%.40s'", name);
    snprintf(p->name, sizeof p->name, "%s", name);
    p->id = module->group->next_param++;
    const int status = param_open(module, p, dtype, ndim, dim, err);
    if (status) {
        p->refs = 1;
        param_release(p);
        return status;
    }
    *param = p;
    return 0;
}
