/* description_read.c: reads JSON text into a tree of layers: containers, names, devices. */
#include "description_read.h"

#include <stdlib.h>
#include <string.h>

/* ---- reading ------------------------------------------------------------------------------- */

static bool is_param(const struct layer *layer, const char *field)
{
    for (int i = 0; i < layer->n_params; ++i)
        if (strcmp(layer->param[i].name, field) == 0)
            return true;
    return false;
}

static int check_names_of_fields(const struct reader *r, json_t *object, const struct layer *layer)
{
    const char *field;
    json_t *value;

    json_object_foreach(object, field, value)
    {
        if (strcmp(field, "kind") != 0 && strcmp(field, "name") != 0 &&
            strcmp(field, "device") != 0 && strcmp(field, "frozen") != 0 &&
            !kind_has_field(layer->kind, field) && !is_param(layer, field))
            return impl_fail(r->err, IMPL_EINVAL, "a '%s' layer has no field '%.40s'",
                             kind_word(layer->kind), field);
    }
    return 0;
}

static int first_device(const struct reader *r, const struct layer *parallel)
{
    if (r->devices == 0)
        return IMPL_HOST;
    return parallel->n_ids > 0 ? parallel->ids[0] : 0;
}

static int read_layer(const struct reader *r, json_t *object, int device, int depth,
                      struct layer *layer);

static int read_children(const struct reader *r, const json_t *object, int device, int depth,
                         struct layer *layer)
{
    const json_t *list = json_object_get(object, "layers");
    const size_t n = json_array_size(list);

    if (!json_is_array(list) || n > 256 || depth > 16)
        return impl_fail(r->err, IMPL_EINVAL,
                         "'layers' must be a list of at most 256 layers, not "
                         "deeper than 16");
    layer->child = calloc(n + 1, sizeof *layer->child);
    if (!layer->child)
        return impl_fail(r->err, IMPL_EBROKEN, "no memory");
    for (size_t i = 0; i < n; ++i) {
        int status;

        layer->n_children = (int)i + 1;
        status = read_layer(r, json_array_get(list, i), device, depth + 1, &layer->child[i]);
        if (status != 0)
            return status;
    }
    return 0;
}

static int read_layer(const struct reader *r, json_t *object, int device, int depth,
                      struct layer *layer)
{
    const char *word = json_string_value(json_object_get(object, "kind"));
    int status;

    layer->device = device;
    if (!word)
        return impl_fail(r->err, IMPL_EINVAL, "a layer must be an object with a 'kind'");
    layer->kind = kind_of(word);
    if (layer->kind == LAYER_KINDS) {
        layer->kind = LAYER_IDENTITY;
        return impl_fail(r->err, IMPL_ENOTSUP, "unknown kind of layer '%.40s'", word);
    }
    status = read_text(r, object, "name", layer->name, sizeof layer->name);
    if (status == 0)
        status = read_fields(r, object, layer);
    if (status == 0 && layer->kind == LAYER_PARALLEL)
        layer->device = first_device(r, layer);
    if (status == 0 && layer->kind != LAYER_TO)
        status = read_device(r, object, "device", &layer->device);
    if (status == 0)
        status = read_params(r, object, layer);
    if (status == 0)
        status = check_names_of_fields(r, object, layer);
    if (status == 0 && kind_has_field(layer->kind, "layers"))
        status = read_children(r, object, layer->device, depth, layer);
    return status;
}

/* ---- names ---------------------------------------------------------------------------------- */

static struct layer *model_find(struct layer *tree, const char *name, int *found)
{
    struct layer *result = NULL;

    if (strcmp(tree->name, name) == 0) {
        ++*found;
        result = tree;
    }
    for (int i = 0; i < tree->n_children; ++i) {
        struct layer *inner = model_find(&tree->child[i], name, found);
        if (inner)
            result = inner;
    }
    return result;
}

static bool contains(const struct layer *tree, const struct layer *layer)
{
    bool inside = tree == layer;

    for (int i = 0; !inside && i < tree->n_children; ++i)
        inside = contains(&tree->child[i], layer);
    return inside;
}

/* Returns which of the two comes first in the tree; NULL: neither is in it. */
static const struct layer *model_first_of(const struct layer *tree, const struct layer *a,
                                          const struct layer *b)
{
    const struct layer *first = tree == a || tree == b ? tree : NULL;

    for (int i = 0; !first && i < tree->n_children; ++i)
        first = model_first_of(&tree->child[i], a, b);
    return first;
}

static bool fits_of(const struct layer *model, const struct layer *layer)
{
    const struct layer *of = layer->of;

    if (!of || of->kind == LAYER_AGAIN || contains(of, layer))
        return false;
    if (layer->kind == LAYER_OUTPUT)
        return of->kind == LAYER_EMBEDDING && model_first_of(model, of, layer) == of;
    return layer->kind == LAYER_AGAIN || of->kind == LAYER_AFFINE;
}

static int resolve(const struct reader *r, struct layer *model, struct layer *layer,
                   const json_t *object)
{
    const json_t *list = json_object_get(object, "layers");
    /* The kind of layer that the field `of` must name; NULL: the layer has no such field. */
    const char *meant = layer->kind == LAYER_AGAIN    ? "another layer"
                        : layer->kind == LAYER_BORROW ? "an affine layer"
                        : layer->kind == LAYER_OUTPUT ? "an embedding before it"
                                                      : NULL;
    int found = 0, status = 0;

    if (layer->name[0] != '\0' && model_find(model, layer->name, &found) && found > 1)
        return impl_fail(r->err, IMPL_EINVAL, "two layers have the name '%s'", layer->name);
    if (meant) {
        const char *of = json_string_value(json_object_get(object, "of"));

        layer->of = !of || of[0] == '\0' ? NULL : model_find(model, of, &found);
        if (!fits_of(model, layer))
            return impl_fail(r->err, IMPL_EINVAL, "'of' of a '%s' layer must name %s",
                             kind_word(layer->kind), meant);
    }
    for (int i = 0; status == 0 && i < layer->n_children; ++i)
        status = resolve(r, model, &layer->child[i], json_array_get(list, (size_t)i));
    return status;
}

/* Two containers may each contain `again` of the other, which would be a tree without end, so the
 * layers are counted. */
static int count_layers(const struct reader *r, const struct layer *layer, int depth, int *left)
{
    int status = 0;

    if (depth > 64 || --*left < 0)
        return impl_fail(r->err, IMPL_EINVAL, "layers that contain each other by 'again'");
    if (layer->kind == LAYER_AGAIN)
        status = count_layers(r, layer->of, depth + 1, left);
    for (int i = 0; status == 0 && i < layer->n_children; ++i)
        status = count_layers(r, &layer->child[i], depth + 1, left);
    return status;
}

/* ---- whole models --------------------------------------------------------------------------- */

static int read_model(const struct reader *r, json_t *object, struct layer *model)
{
    int status, left = 10000;

    model->kind = LAYER_SEQUENCE;
    model->device = r->devices > 0 ? 0 : IMPL_HOST;
    if (!json_is_object(object))
        return impl_fail(r->err, IMPL_EINVAL, "a model must be a JSON object with 'layers'");
    status = read_device(r, object, "device", &model->device);
    if (status == 0)
        status = read_bool(r, object, "find_unused", &model->find_unused);
    if (status == 0)
        status = read_bool(r, object, "inner_no_sync", &model->inner_no_sync);
    if (status == 0)
        status = read_bool(r, object, "no_sync_backward", &model->no_sync_backward);
    if (status == 0)
        status = read_int(r, object, "keywords", &model->keywords);
    if (status == 0)
        status = read_children(r, object, model->device, 0, model);
    if (status == 0)
        status = resolve(r, model, model, object);
    return status != 0 ? status : count_layers(r, model, 0, &left);
}

struct layer *description_read(const char *text, int devices, struct impl_error *err)
{
    const struct reader r = {devices, err};
    struct layer *model = calloc(1, sizeof *model);
    json_error_t why;
    json_t *object = json_loads(text, JSON_REJECT_DUPLICATES, &why);
    int status = 0;

    if (!model)
        status = impl_fail(err, IMPL_EBROKEN, "no memory");
    else if (!object)
        status = impl_fail(err, IMPL_EINVAL, "not JSON: %.100s", why.text);
    else
        status = read_model(&r, object, model);
    json_decref(object);
    if (status == 0)
        return model;
    description_free(model);
    return NULL;
}

char *description_of_rank(const char *text, int rank, int ranks, struct impl_error *err)
{
    json_t *list = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
    char *own;

    if (!json_is_array(list)) {
        own = strdup(text);
    } else if (json_array_size(list) != (size_t)ranks) {
        impl_fail(err, IMPL_EINVAL, "%zu descriptions of %d ranks", json_array_size(list), ranks);
        own = NULL;
    } else {
        own = json_dumps(json_array_get(list, (size_t)rank), JSON_COMPACT);
    }
    json_decref(list);
    if (!own)
        impl_fail(err, IMPL_EBROKEN, "no memory");
    return own;
}
