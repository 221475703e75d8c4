/* param.c: the parameters of a whole tree in pre-order, each once: listed, named and moved
 * together. */
#include "module.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool list_has(const struct dp_param_list *list, const struct dp_param *param)
{
    for (int i = 0; i < list->n; ++i) {
        if (list->item[i] == param)
            return true;
    }
    return false;
}

static int list_add(struct dp_param_list *list, struct dp_param *param, struct dp_error *err)
{
    if (list_has(list, param))
        return 0;
    if (list->n == list->capacity) {
        const int capacity = list->capacity ? 2 * list->capacity : 16;
        struct dp_param **grown = realloc(list->item, (size_t)capacity * sizeof *grown);
        if (!grown)
            return dp_fail(err, DP_ENOMEM, "no memory for a list of %d parameters", capacity);
        list->item = grown;
        list->capacity = capacity;
    }
    list->item[list->n++] = param;
    return 0;
}

static int list_collect(struct dp_module *module, struct dp_param_list *list, struct dp_error *err)
{
    int status = 0;
    for (int i = 0; status == 0 && i < module->n_params; ++i)
        status = list_add(list, module->params[i], err);
    for (int i = 0; status == 0 && i < module->n_children; ++i)
        status = list_collect(module->children[i], list, err);
    return status;
}

int dp_param_list_open(struct dp_module *module, struct dp_param_list *list, struct dp_error *err)
{
    *list = (struct dp_param_list){NULL, 0, 0};
    const int status = list_collect(module, list, err);
    if (status)
        dp_param_list_close(list);
    return status;
}

void dp_param_list_close(struct dp_param_list *list)
{
    free(list->item);
    *list = (struct dp_param_list){NULL, 0, 0};
}

size_t dp_module_visits(const struct dp_module *module)
{
    size_t n = (size_t)module->n_params;
    for (int i = 0; i < module->n_children; ++i)
        n += dp_module_visits(module->children[i]);
    return n;
}

int dp_module_params(struct dp_module *module, struct dp_param *list[], int capacity)
{
    struct dp_param_list all;
    const int status = dp_param_list_open(module, &all, NULL);
    if (status)
        return status;
    const int n = all.n;
    for (int i = 0; i < n && i < capacity; ++i)
        list[i] = all.item[i];
    dp_param_list_close(&all);
    return n;
}

/* Finds the path to param below module, in the same order as list_collect. */
static bool find_path(const struct dp_module *module, const struct dp_param *param, char *text,
                      size_t bytes)
{
    for (int i = 0; i < module->n_params; ++i) {
        if (module->params[i] == param) {
            snprintf(text, bytes, "%s", param->name);
            return true;
        }
    }
    const bool wrapper = strcmp(module->ops->kind, "data_parallel") == 0;
    for (int i = 0; i < module->n_children; ++i) {
        const int length =
            wrapper ? snprintf(text, bytes, "module.") : snprintf(text, bytes, "%d.", i);
        const size_t used = length > 0 && (size_t)length < bytes ? (size_t)length : bytes;
        if (find_path(module->children[i], param, text + used, bytes - used))
            return true;
    }
    return false;
}

int dp_module_param_name(struct dp_module *module, int i, char *text, size_t bytes)
{
    struct dp_param_list list;
    struct dp_error err = {0};
    if (dp_param_list_open(module, &list, &err))
        return err.status;
    const bool found = i >= 0 && i < list.n && find_path(module, list.item[i], text, bytes);
    dp_param_list_close(&list);
    return found ? 0 : DP_EINVAL;
}

void dp_zero_grad(struct dp_module *module)
{
    for (int i = 0; i < module->n_params; ++i)
        module->params[i]->has_grad = false;
    for (int i = 0; i < module->n_children; ++i)
        dp_zero_grad(module->children[i]);
}

/* The mixing function of SplitMix64: uniform, and a function of its argument alone. */
static uint64_t param_mix(uint64_t z)
{
    z += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static int param_init(struct dp_param *param, uint64_t seed, struct dp_error *err)
{
    const size_t n = dp_tensor_count(&param->value);
    if (param->value.dtype != DP_F32 || param->value.ndim == 0 || n == 0 || param->init_bound < 0)
        return 0;
    float *values = malloc(n * sizeof *values);
    if (!values)
        return dp_fail(err, DP_ENOMEM, "no memory to initialise '%s'", param->name);
    const size_t inputs = param->value.ndim == 1 ? n : n / param->value.dim[0];
    const double bound =
        param->init_bound > 0 ? (double)param->init_bound : 1.0 / sqrt((double)inputs);
    for (size_t i = 0; i < n; ++i) {
        const double unit = (double)(param_mix(seed ^ param_mix(i)) >> 11) / 9007199254740992.0;
        values[i] = (float)((2.0 * unit - 1.0) * bound);
    }
    const int status = dp_tensor_write(&param->value, values, err);
    free(values);
    return status;
}

int dp_module_init(struct dp_module *module, uint64_t seed, struct dp_error *err)
{
    struct dp_param_list list;
    int status = dp_param_list_open(module, &list, err);
    for (int i = 0; status == 0 && i < list.n; ++i) {
        if (!list.item[i]->buffer)
            status = param_init(list.item[i], param_mix(seed ^ param_mix((uint64_t)i + 1)), err);
    }
    dp_param_list_close(&list);
    return status;
}

int dp_module_to(struct dp_module *module, struct dp_slot *slot, struct dp_error *err)
{
    struct dp_param_list list;
    struct dp_block *values = NULL, *grads = NULL;
    size_t bytes = 0;
    int status = dp_param_list_open(module, &list, err);
    for (int i = 0; i < list.n; ++i)
        dp_layout_add(&bytes, &list.item[i]->value);
    if (status == 0)
        status = dp_block_open(slot, bytes, &values, err);
    if (status == 0)
        status = dp_block_open(slot, bytes, &grads, err);
    if (status == 0) {
        /* Gives all of the list new places in two blocks. The old blocks are released only at the
         * end. */
        size_t offset = 0;
        for (int i = 0; status == 0 && i < list.n; ++i) {
            const struct dp_param *p = list.item[i];
            const size_t place = dp_layout_add(&offset, &p->value);
            struct dp_tensor value = p->value, grad = p->grad;
            value.slot = grad.slot = values->slot;
            value.data = (char *)values->memory + place;
            grad.data = (char *)grads->memory + place;
            status = dp_tensor_copy(&value, &p->value, err);
            if (status == 0)
                status = dp_tensor_copy(&grad, &p->grad, err);
        }
    }
    if (status == 0) {
        size_t offset = 0;
        for (int i = 0; i < list.n; ++i) {
            struct dp_param *p = list.item[i];
            const size_t place = dp_layout_add(&offset, &p->value);
            dp_block_release(p->value_block);
            dp_block_release(p->grad_block);
            p->value_block = values;
            p->grad_block = grads;
            ++values->refs;
            ++grads->refs;
            p->value.slot = p->grad.slot = values->slot;
            p->value.data = (char *)values->memory + place;
            p->grad.data = (char *)grads->memory + place;
        }
    }
    dp_block_release(values);
    dp_block_release(grads);
    dp_param_list_close(&list);
    return status;
}
