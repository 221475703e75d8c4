/* description_fields.c: the kinds of layers and the fields of each. */
#include "description_read.h"
#include "words.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* How a field is read, and where its value goes in struct layer. */
enum read { ELSEWHERE, INT, SIZE, NEEDED, BOOL, FLOAT, DEVICE, NUMBERS, SECOND };
struct field {
    const char *name;
    enum read read; /* NEEDED: a size that must be there; these come first */
    size_t at;
};
#define AT(member) offsetof(struct layer, member)

enum { MOST_FIELDS = 6 };
static const struct kind {
    const char *word;
    struct field field[MOST_FIELDS]; /* in addition to the common ones and the parameters */
} kinds[LAYER_KINDS] = {
    [LAYER_SEQUENCE] = {"sequence", {{"layers", ELSEWHERE, 0}, {"reversed", NUMBERS, 0}}},
    [LAYER_FIRST] = {"first", {{"layers", ELSEWHERE, 0}}},
    [LAYER_PARALLEL] = {"parallel",
                        {{"layers", ELSEWHERE, 0},
                         {"device_ids", ELSEWHERE, 0},
                         {"output_device", ELSEWHERE, 0},
                         {"dim", INT, AT(dim)},
                         {"functional", BOOL, AT(functional)}}},
    [LAYER_AGAIN] = {"again", {{"of", ELSEWHERE, 0}}},
    [LAYER_AFFINE] = {"affine", {{"with_bias", BOOL, AT(with_bias)}}},
    [LAYER_LINEAR] = {"linear",
                      {{"in", NEEDED, AT(in)},
                       {"out", NEEDED, AT(out)},
                       {"with_bias", BOOL, AT(with_bias)},
                       {"by_columns", BOOL, AT(by_columns)}}},
    [LAYER_TIED] = {.word = "tied"},
    [LAYER_UNUSED] = {"unused", {{"size", SIZE, AT(in)}}},
    [LAYER_BRANCH] = {"branch", {{"above", FLOAT, AT(factor)}}},
    [LAYER_CONSTANT] = {"constant", {{"rows", NEEDED, AT(in)}, {"columns", NEEDED, AT(out)}}},
    [LAYER_EMBEDDING] = {"embedding", {{"rows", NEEDED, AT(in)}, {"columns", NEEDED, AT(out)}}},
    [LAYER_COUNTER] = {"counter", {{"half", BOOL, AT(half)}, {"scalar", BOOL, AT(scalar)}}},
    [LAYER_BORROW] = {"borrow", {{"of", ELSEWHERE, 0}}},
    [LAYER_BATCH_NORM] = {"batch_norm",
                          {{"features", SIZE, AT(in)},
                           {"momentum", FLOAT, AT(momentum)},
                           {"eps", FLOAT, AT(eps)}}},
    [LAYER_POSITIONS] = {"positions", {{"rows", NEEDED, AT(in)}, {"columns", NEEDED, AT(out)}}},
    [LAYER_LAYER_NORM] = {"layer_norm", {{"features", SIZE, AT(in)}, {"eps", FLOAT, AT(eps)}}},
    [LAYER_OUTPUT] = {"output", {{"of", ELSEWHERE, 0}}},
    [LAYER_GRAD] =
        {"grad", {{"values", NUMBERS, 0}, {"half", BOOL, AT(half)}, {"scalar", BOOL, AT(scalar)}}},
    [LAYER_RELU] = {.word = "relu"},
    [LAYER_IDENTITY] = {.word = "identity"},
    [LAYER_MULTIPLY] = {"multiply", {{"factor", FLOAT, AT(factor)}}},
    [LAYER_SUBTRACT_MEAN] = {.word = "subtract_mean"},
    [LAYER_DOUBLE_ROWS] = {.word = "double_rows"},
    [LAYER_TAKE] = {"take", {{"rows", NUMBERS, 0}}},
    [LAYER_FORK] = {.word = "fork"},
    [LAYER_SUM] = {.word = "sum"},
    [LAYER_MEAN] = {.word = "mean"},
    [LAYER_SUM_ROWS] = {.word = "sum_rows"},
    [LAYER_WIDEN] = {"widen", {{"columns", NUMBERS, 0}}},
    [LAYER_SCALAR_AT] = {"scalar_at", {{"replicas", NUMBERS, 0}}},
    [LAYER_TO] = {"to", {{"device", DEVICE, AT(target)}}},
    [LAYER_ARGUMENT] = {"argument", {{"index", INT, AT(index)}}},
    [LAYER_GELU] = {"gelu", {{"form", ELSEWHERE, 0}}},
    [LAYER_ATTENTION] = {"attention", {{"heads", SIZE, AT(heads)}}},
    [LAYER_CROSS_ENTROPY] = {.word = "cross_entropy"},
    [LAYER_TAG_DEVICE] = {.word = "tag_device"},
    [LAYER_TAG_REPLICA] = {.word = "tag_replica"},
    [LAYER_TAG_DIM] = {"tag_dim", {{"dim", INT, AT(dim)}}},
    [LAYER_TAG_MODE] = {.word = "tag_mode"},
    [LAYER_SLEEP] = {"sleep", {{"forward_ms", NUMBERS, 0}, {"backward_ms", SECOND, 0}}},
    [LAYER_FAIL] = {"fail",
                    {{"replicas", NUMBERS, 0},
                     {"when", ELSEWHERE, 0},
                     {"status", ELSEWHERE, 0},
                     {"text", ELSEWHERE, 0},
                     {"at", ELSEWHERE, 0}}},
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
    for (const struct field *f = kinds[kind].field; f->name; ++f)
        if (strcmp(f->name, field) == 0)
            return true;
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
    layer->output_device = IMPL_NOWHERE;
    if (status == 0 && r->devices > 0)
        status = read_device(r, object, "output_device", &layer->output_device);
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

static int read_fail(const struct reader *r, const json_t *object, struct layer *layer)
{
    char when[16] = "forward", word[16] = "fault";
    int at = 0, status = read_text(r, object, "when", when, sizeof when);

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

static int read_field(const struct reader *r, const json_t *object, const struct field *field,
                      struct layer *layer)
{
    const struct field *all = kinds[layer->kind].field;
    void *at = (char *)layer + field->at;

    switch (field->read) {
    case INT:
        return read_int(r, object, field->name, at);
    case NEEDED:
        if (!json_object_get(object, field->name))
            return impl_fail(r->err, IMPL_EINVAL, "a '%s' layer needs '%s' and '%s'",
                             kind_word(layer->kind), all[0].name, all[1].name);
        return read_size(r, object, field->name, at);
    case SIZE:
        return read_size(r, object, field->name, at);
    case BOOL:
        return read_bool(r, object, field->name, at);
    case FLOAT:
        return read_float(r, object, field->name, at);
    case DEVICE:
        return read_device(r, object, field->name, at);
    case NUMBERS:
        return read_numbers(r, object, field->name, &layer->number, &layer->n_numbers);
    case SECOND:
        return read_numbers(r, object, field->name, &layer->second, &layer->n_second);
    case ELSEWHERE:
        break;
    }
    return 0;
}

int read_fields(const struct reader *r, const json_t *object, struct layer *layer)
{
    int status = 0;

    layer->with_bias = true;
    layer->in = layer->out = layer->heads = 1;
    layer->factor = layer->kind == LAYER_MULTIPLY ? 1.0f : 0.0f;
    layer->momentum = 0.1f;
    layer->eps = 1e-5f;
    layer->target = IMPL_HOST;
    if (layer->kind == LAYER_PARALLEL)
        status = read_ids(r, object, layer);
    if (layer->kind == LAYER_GELU)
        status = read_gelu(r, object, layer);
    if (layer->kind == LAYER_FAIL)
        status = read_fail(r, object, layer);
    for (const struct field *f = kinds[layer->kind].field; status == 0 && f->name; ++f)
        status = read_field(r, object, f, layer);
    if (status == 0 && !(layer->eps > 0))
        status = impl_fail(r->err, IMPL_EINVAL, "field 'eps' is %g, must be above 0",
                           (double)layer->eps);
    return status;
}
