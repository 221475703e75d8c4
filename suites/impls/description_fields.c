/* description_fields.c: the kinds of layers and the fields of each. */
#include "description_read.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct kind {
    const char *word;
    const char *fields; /* separated and enclosed by blanks */
};

static const struct kind kinds[LAYER_KINDS] = {
    [LAYER_SEQUENCE] = {"sequence", " layers reversed "},
    [LAYER_FIRST] = {"first", " layers "},
    [LAYER_PARALLEL] = {"parallel", " layers device_ids output_device dim functional "},
    [LAYER_AGAIN] = {"again", " of "},
    [LAYER_AFFINE] = {"affine", " with_bias "},
    [LAYER_LINEAR] = {"linear", " in out with_bias "},
    [LAYER_TIED] = {"tied", " "},
    [LAYER_UNUSED] = {"unused", " size "},
    [LAYER_BRANCH] = {"branch", " above "},
    [LAYER_CONSTANT] = {"constant", " rows columns "},
    [LAYER_EMBEDDING] = {"embedding", " rows columns "},
    [LAYER_COUNTER] = {"counter", " "},
    [LAYER_BORROW] = {"borrow", " of "},
    [LAYER_BATCH_NORM] = {"batch_norm", " features momentum eps "},
    [LAYER_POSITIONS] = {"positions", " rows columns "},
    [LAYER_LAYER_NORM] = {"layer_norm", " features eps "},
    [LAYER_OUTPUT] = {"output", " of "},
    [LAYER_GRAD] = {"grad", " values "},
    [LAYER_RELU] = {"relu", " "},
    [LAYER_IDENTITY] = {"identity", " "},
    [LAYER_MULTIPLY] = {"multiply", " factor "},
    [LAYER_SUBTRACT_MEAN] = {"subtract_mean", " "},
    [LAYER_DOUBLE_ROWS] = {"double_rows", " "},
    [LAYER_TAKE] = {"take", " rows "},
    [LAYER_FORK] = {"fork", " "},
    [LAYER_SUM] = {"sum", " "},
    [LAYER_MEAN] = {"mean", " "},
    [LAYER_SUM_ROWS] = {"sum_rows", " "},
    [LAYER_WIDEN] = {"widen", " columns "},
    [LAYER_SCALAR_AT] = {"scalar_at", " replicas "},
    [LAYER_TO] = {"to", " "},
    [LAYER_ARGUMENT] = {"argument", " index "},
    [LAYER_GELU] = {"gelu", " form "},
    [LAYER_ATTENTION] = {"attention", " heads "},
    [LAYER_CROSS_ENTROPY] = {"cross_entropy", " "},
    [LAYER_TAG_DEVICE] = {"tag_device", " "},
    [LAYER_TAG_REPLICA] = {"tag_replica", " "},
    [LAYER_TAG_DIM] = {"tag_dim", " dim "},
    [LAYER_TAG_MODE] = {"tag_mode", " "},
    [LAYER_SLEEP] = {"sleep", " forward_ms backward_ms "},
    [LAYER_FAIL] = {"fail", " replicas when status text at "},
};

enum layer_kind kind_of(const char *word)
{
    int kind = 0;

    while (kind < LAYER_KINDS && strcmp(kinds[kind].word, word) != 0)
        ++kind;
    return (enum layer_kind)kind;
}

const char *kind_word(enum layer_kind kind)
{
    return kinds[kind].word;
}

bool kind_has_field(enum layer_kind kind, const char *field)
{
    const size_t length = strlen(field);
    const char *at = kinds[kind].fields + 1;

    while (length > 0 && !strchr(field, ' ') && (at = strstr(at, field))) {
        if (at[-1] == ' ' && at[length] == ' ')
            return true;
        ++at;
    }
    return false;
}

/* ---- values ------------------------------------------------------------------------------- */

static int bad(const struct reader *r, const char *field, const char *must)
{
    return impl_fail(r->err, IMPL_EINVAL, "field '%s' must be %s", field, must);
}

int read_int(const struct reader *r, const json_t *object, const char *field, int *value)
{
    const json_t *found = json_object_get(object, field);

    if (!found)
        return 0;
    if (!json_is_integer(found) || llabs(json_integer_value(found)) > 1000000)
        return bad(r, field, "an integer of at most a million");
    *value = (int)json_integer_value(found);
    return 0;
}

int read_text(const struct reader *r, const json_t *object, const char *field, char *value,
              size_t bytes)
{
    const json_t *found = json_object_get(object, field);

    if (!found)
        return 0;
    if (!json_is_string(found) || json_string_length(found) >= bytes)
        return bad(r, field, "a short string");
    memcpy(value, json_string_value(found), json_string_length(found) + 1);
    return 0;
}

static int check_device_number(const struct reader *r, const char *field, int device)
{
    if (device >= IMPL_HOST && device < r->devices)
        return 0;
    return impl_fail(r->err, IMPL_ENODEV, "field '%s': no device %d, there are %d", field, device,
                     r->devices);
}

int read_device(const struct reader *r, const json_t *object, const char *field, int *value)
{
    int status = read_int(r, object, field, value);

    if (status == 0 && json_object_get(object, field))
        status = check_device_number(r, field, *value);
    return status;
}

static int read_size(const struct reader *r, const json_t *object, const char *field, size_t *value)
{
    int number = (int)*value;
    const int status = read_int(r, object, field, &number);

    if (status != 0)
        return status;
    if (number < 1)
        return bad(r, field, "1 or more");
    *value = (size_t)number;
    return 0;
}

int read_bool(const struct reader *r, const json_t *object, const char *field, bool *value)
{
    const json_t *found = json_object_get(object, field);

    if (!found)
        return 0;
    if (!json_is_boolean(found))
        return bad(r, field, "true or false");
    *value = json_is_true(found);
    return 0;
}

static int read_float(const struct reader *r, const json_t *object, const char *field, float *value)
{
    const json_t *found = json_object_get(object, field);

    if (!found)
        return 0;
    if (!json_is_number(found) || !isfinite(json_number_value(found)))
        return bad(r, field, "a number");
    *value = (float)json_number_value(found);
    return 0;
}

static int read_numbers(const struct reader *r, const json_t *object, const char *field,
                        double **numbers, int *n)
{
    const json_t *found = json_object_get(object, field);
    const size_t count = json_array_size(found);

    if (!found)
        return 0;
    if (!json_is_array(found) || count > 4096)
        return bad(r, field, "a list of numbers");
    *numbers = calloc(count + 1, sizeof **numbers);
    if (!*numbers)
        return impl_fail(r->err, IMPL_EBROKEN, "no memory");
    for (size_t i = 0; i < count; ++i) {
        if (!json_is_number(json_array_get(found, i)))
            return bad(r, field, "a list of numbers");
        (*numbers)[i] = json_number_value(json_array_get(found, i));
    }
    *n = (int)count;
    return 0;
}

/* ---- the fields of a kind ------------------------------------------------------------------ */

static int read_ids(const struct reader *r, const json_t *object, struct layer *layer)
{
    double *ids = NULL;
    int n = LAYER_ALL_DEVICES;
    int status = read_numbers(r, object, "device_ids", &ids, &n);

    if (status == 0 && n > IMPL_MAX_DEVICES)
        status = bad(r, "device_ids", "a list of at most 64 devices");
    for (int i = 0; status == 0 && i < n; ++i) {
        if (!(fabs(ids[i]) < 1e6) || ids[i] != floor(ids[i]))
            status = bad(r, "device_ids", "a list of devices");
        else if (r->devices > 0) /* without devices a wrapper ignores its device_ids: CPU-01 */
            status = check_device_number(r, "device_ids", (int)ids[i]);
        if (status == 0)
            layer->ids[i] = (int)ids[i];
    }
    layer->n_ids = n;
    free(ids);
    return status;
}

static int read_parallel(const struct reader *r, const json_t *object, struct layer *layer)
{
    int status = read_ids(r, object, layer);

    layer->output_device = IMPL_NOWHERE;
    if (status == 0 && r->devices > 0)
        status = read_device(r, object, "output_device", &layer->output_device);
    if (status == 0)
        status = read_int(r, object, "dim", &layer->dim);
    if (status == 0)
        status = read_bool(r, object, "functional", &layer->functional);
    return status;
}

static int read_sizes(const struct reader *r, const json_t *object, const char *in, const char *out,
                      struct layer *layer)
{
    int status;

    if (!json_object_get(object, in) || !json_object_get(object, out))
        return impl_fail(r->err, IMPL_EINVAL, "a '%s' layer needs '%s' and '%s'",
                         kind_word(layer->kind), in, out);
    status = read_size(r, object, in, &layer->in);
    return status != 0 ? status : read_size(r, object, out, &layer->out);
}

/* Reads the fields of batch_norm and layer_norm. */
static int read_norm(const struct reader *r, const json_t *object, struct layer *layer)
{
    int status = read_size(r, object, "features", &layer->in);

    layer->momentum = 0.1f;
    layer->eps = 1e-5f;
    if (status == 0 && layer->kind == LAYER_BATCH_NORM)
        status = read_float(r, object, "momentum", &layer->momentum);
    if (status == 0)
        status = read_float(r, object, "eps", &layer->eps);
    if (status == 0 && !(layer->eps > 0))
        status = impl_fail(r->err, IMPL_EINVAL, "field 'eps' is %g, must be above 0",
                           (double)layer->eps);
    return status;
}

static int read_gelu(const struct reader *r, const json_t *object, struct layer *layer)
{
    char form[16] = "erf";
    const int status = read_text(r, object, "form", form, sizeof form);

    layer->tanh_form = strcmp(form, "tanh") == 0;
    if (status != 0 || layer->tanh_form || strcmp(form, "erf") == 0)
        return status;
    return bad(r, "form", "erf or tanh");
}

static int read_sleep(const struct reader *r, const json_t *object, struct layer *layer)
{
    int status = read_numbers(r, object, "forward_ms", &layer->number, &layer->n_numbers);

    if (status == 0)
        status = read_numbers(r, object, "backward_ms", &layer->second, &layer->n_second);
    return status;
}

static int read_fail(const struct reader *r, const json_t *object, struct layer *layer)
{
    char when[16] = "forward", word[16] = "fault";
    int at = 0, status = read_numbers(r, object, "replicas", &layer->number, &layer->n_numbers);

    if (status == 0)
        status = read_text(r, object, "when", when, sizeof when);
    if (status == 0)
        status = read_text(r, object, "status", word, sizeof word);
    if (status == 0)
        status = read_text(r, object, "text", layer->fail_text, sizeof layer->fail_text);
    if (status == 0)
        status = read_int(r, object, "at", &at);
    if (status != 0)
        return status;
    layer->fail_backward = strcmp(when, "backward") == 0;
    layer->fail_status = impl_status_of(word);
    layer->fail_at = (unsigned)at;
    if (!layer->fail_backward && strcmp(when, "forward") != 0)
        return bad(r, "when", "forward or backward");
    if (layer->fail_status <= IMPL_OK)
        return bad(r, "status", "a word of impl_status");
    return at < 0 ? bad(r, "at", "0 or more") : 0;
}

/* The kinds whose only field is a list of numbers. */
static const char *const lists[LAYER_KINDS] = {
    [LAYER_SEQUENCE] = "reversed", [LAYER_GRAD] = "values",        [LAYER_TAKE] = "rows",
    [LAYER_WIDEN] = "columns",     [LAYER_SCALAR_AT] = "replicas",
};

int read_fields(const struct reader *r, const json_t *object, struct layer *layer)
{
    const char *list = lists[layer->kind];

    layer->with_bias = true;
    layer->in = layer->out = layer->heads = 1;
    layer->factor = layer->kind == LAYER_MULTIPLY ? 1.0f : 0.0f;
    layer->target = IMPL_HOST;
    if (list)
        return read_numbers(r, object, list, &layer->number, &layer->n_numbers);
    switch (layer->kind) {
    case LAYER_PARALLEL:
        return read_parallel(r, object, layer);
    case LAYER_AFFINE:
        return read_bool(r, object, "with_bias", &layer->with_bias);
    case LAYER_LINEAR: {
        const int status = read_bool(r, object, "with_bias", &layer->with_bias);
        return status != 0 ? status : read_sizes(r, object, "in", "out", layer);
    }
    case LAYER_UNUSED:
        return read_size(r, object, "size", &layer->in);
    case LAYER_BRANCH:
        return read_float(r, object, "above", &layer->factor);
    case LAYER_CONSTANT:
    case LAYER_EMBEDDING:
    case LAYER_POSITIONS:
        return read_sizes(r, object, "rows", "columns", layer);
    case LAYER_BATCH_NORM:
    case LAYER_LAYER_NORM:
        return read_norm(r, object, layer);
    case LAYER_GELU:
        return read_gelu(r, object, layer);
    case LAYER_ATTENTION:
        return read_size(r, object, "heads", &layer->heads);
    case LAYER_MULTIPLY:
        return read_float(r, object, "factor", &layer->factor);
    case LAYER_TO:
        return read_device(r, object, "device", &layer->target);
    case LAYER_ARGUMENT:
        return read_int(r, object, "index", &layer->index);
    case LAYER_TAG_DIM:
        return read_int(r, object, "dim", &layer->dim);
    case LAYER_SLEEP:
        return read_sleep(r, object, layer);
    case LAYER_FAIL:
        return read_fail(r, object, layer);
    default:
        return 0;
    }
}
