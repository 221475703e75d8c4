/* description_params.c: the parameters of each kind of layer, their initial values, and which of
 * them are frozen. */
#include "description_read.h"

#include <stdlib.h>
#include <string.h>

static struct layer_param *params_add(struct layer *layer, const char *name, int ndim, size_t first,
                                      size_t second)
{
    struct layer_param *param = &layer->param[layer->n_params++];

    strcpy(param->name, name);
    param->ndim = ndim;
    param->dim[0] = first;
    param->dim[1] = second;
    return param;
}

static int read_initial(const struct reader *r, const json_t *list, struct layer_param *param)
{
    const size_t count = param->dim[0] * param->dim[1];

    if (!list)
        return 0;
    if (!json_is_array(list) || json_array_size(list) != count)
        return impl_fail(r->err, IMPL_EINVAL, "'%s' must be a list of %zu numbers", param->name,
                         count);
    param->initial = calloc(count, sizeof *param->initial);
    if (!param->initial)
        return impl_fail(r->err, IMPL_EBROKEN, "no memory");
    for (size_t i = 0; i < count; ++i) {
        if (!json_is_number(json_array_get(list, i)))
            return impl_fail(r->err, IMPL_EINVAL, "'%s' must be a list of %zu numbers", param->name,
                             count);
        param->initial[i] = (float)json_number_value(json_array_get(list, i));
    }
    return 0;
}

static int freeze_named(const struct reader *r, struct layer *layer, const json_t *name)
{
    for (int i = 0; json_is_string(name) && i < layer->n_params; ++i)
        if (strcmp(layer->param[i].name, json_string_value(name)) == 0 && !layer->param[i].buffer) {
            layer->param[i].frozen = true;
            return 0;
        }
    return impl_fail(r->err, IMPL_EINVAL, "'frozen' of a '%s' layer names no parameter of it",
                     kind_word(layer->kind));
}

static int read_frozen(const struct reader *r, const json_t *frozen, struct layer *layer)
{
    int status = 0;

    if (frozen && !json_is_boolean(frozen) && !json_is_array(frozen))
        return impl_fail(r->err, IMPL_EINVAL, "'frozen' must be true, false or a list of names");
    for (int i = 0; json_is_true(frozen) && i < layer->n_params; ++i)
        layer->param[i].frozen = !layer->param[i].buffer;
    for (size_t i = 0; status == 0 && json_is_array(frozen) && i < json_array_size(frozen); ++i)
        status = freeze_named(r, layer, json_array_get(frozen, i));
    return status;
}

int read_params(const struct reader *r, const json_t *object, struct layer *layer)
{
    int status = 0;

    switch (layer->kind) {
    case LAYER_AFFINE:
        params_add(layer, "weight", 1, 1, 1);
        if (layer->with_bias)
            params_add(layer, "bias", 1, 1, 1);
        break;
    case LAYER_LINEAR:
        params_add(layer, "weight", 2, layer->out, layer->in)->by_columns = layer->by_columns;
        if (layer->with_bias)
            params_add(layer, "bias", 1, layer->out, 1);
        break;
    case LAYER_TIED:
        params_add(layer, "weight", 1, 1, 1);
        break;
    case LAYER_GRAD:
        params_add(layer, "weight", !layer->scalar, 1, 1)->half = layer->half;
        break;
    case LAYER_UNUSED:
        params_add(layer, "weight", 1, layer->in, 1);
        break;
    case LAYER_BRANCH:
        params_add(layer, "low", 1, 1, 1);
        params_add(layer, "high", 1, 1, 1);
        break;
    case LAYER_CONSTANT:
    case LAYER_EMBEDDING:
    case LAYER_POSITIONS:
        params_add(layer, "weight", 2, layer->in, layer->out);
        break;
    case LAYER_LAYER_NORM:
        params_add(layer, "weight", 1, layer->in, 1);
        params_add(layer, "bias", 1, layer->in, 1);
        break;
    case LAYER_COUNTER:
        params_add(layer, "count", !layer->scalar, 1, 1)->buffer = true;
        layer->param[0].half = layer->half;
        break;
    case LAYER_BATCH_NORM:
        params_add(layer, "weight", 1, layer->in, 1);
        params_add(layer, "bias", 1, layer->in, 1);
        params_add(layer, "running_mean", 1, layer->in, 1)->buffer = true;
        params_add(layer, "running_var", 1, layer->in, 1)->buffer = true;
        params_add(layer, "batches", 1, 1, 1)->buffer = true;
        break;
    default:
        break;
    }
    for (int i = 0; status == 0 && i < layer->n_params; ++i)
        status = read_initial(r, json_object_get(object, layer->param[i].name), &layer->param[i]);
    return status != 0 ? status : read_frozen(r, json_object_get(object, "frozen"), layer);
}
