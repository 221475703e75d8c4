/* serve.c: turns a request into a call, and its results into an answer. */
#include "serve.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* Additional capacity for a result, because an implementation may make it larger than its inputs.
 * Pages that are not used cost nothing. */
enum { MORE = 65536, LITTLE_MORE = 64, MODEL_ROOM = 1 << 22, PARAM_ROOM = 1 << 26 };

/* ---- memory that lasts until an answer is written -------------------------------------------- */

struct serve_piece {
    struct serve_piece *next;
    max_align_t data[];
};

static void *serve_memory(struct serve *s, size_t bytes)
{
    struct serve_piece *piece = calloc(1, sizeof *piece + bytes + 1);

    if (!piece)
        abort();
    piece->next = s->pieces;
    s->pieces = piece;
    return piece->data;
}

/* ---- what is in a request -------------------------------------------------------------------- */

static void take_fields(struct serve *s, const struct impl_operation *row, const json_t *object,
                        void *arguments);

static void take_array(struct serve *s, const json_t *value, const char *name,
                       struct impl_array *array)
{
    array->capacity = json_string_length(json_object_get(value, "data")) / 2;
    array->data = serve_memory(s, array->capacity);
    answer_array(&s->request, value, name, array);
    array->needs_grad = json_is_true(json_object_get(value, "needs_grad"));
}

static void *take_list(struct serve *s, const struct impl_field *field, const json_t *list,
                       void *arguments)
{
    const size_t n = json_array_size(list);
    void *values = serve_memory(s, (n + 1) * impl_field_bytes(field->kind));

    if (field->length > 0)
        impl_field_use(field, arguments, n);
    if (json_is_null(list))
        return NULL;
    if (field->kind == FIELD_ARRAYS)
        for (size_t i = 0; i < n; ++i)
            take_array(s, json_array_get(list, i), field->name, (struct impl_array *)values + i);
    else if (field->kind == FIELD_CALLS)
        for (size_t i = 0; i < n; ++i)
            take_fields(s, &impl_call_operation, json_array_get(list, i),
                        (struct impl_call *)values + i);
    else
        answer_elements(&s->request, field, list, "", values);
    return values;
}

static float request_number(const json_t *object, const char *name)
{
    return (float)json_number_value(json_object_get(object, name));
}

static void take_field(struct serve *s, const struct impl_field *field, const json_t *object,
                       void *arguments)
{
    void *at = impl_field_at(field, arguments), *target;
    const json_t *value = answer_field(&s->request, object, "", field->name);
    struct impl_step *step = at;

    switch (field->kind) {
    case FIELD_INT:
        *(int *)at = (int)answer_int(&s->request, object, "", field->name, INT32_MIN, INT32_MAX);
        return;
    case FIELD_SIZE:
        *(size_t *)at = (size_t)answer_size(&s->request, object, "", field->name);
        return;
    case FIELD_FLAG:
        *(bool *)at = json_is_true(value);
        return;
    case FIELD_FLOAT:
        *(float *)at = (float)json_number_value(value);
        return;
    case FIELD_WHAT:
        *(enum impl_what *)at =
            json_is_string(value) && strcmp(json_string_value(value), "grad") == 0 ? IMPL_GRAD
                                                                                   : IMPL_VALUE;
        return;
    case FIELD_ADAMW:
        step->adamw = json_is_object(value);
        step->beta1 = request_number(value, "beta1");
        step->beta2 = request_number(value, "beta2");
        step->eps = request_number(value, "eps");
        step->decay = request_number(value, "decay");
        return;
    case FIELD_TEXT:
        target = (void *)json_string_value(value);
        if (!target)
            answer_fault(&s->request, "%s is not a text", field->name);
        break;
    case FIELD_ARRAY:
        target = serve_memory(s, sizeof(struct impl_array));
        take_array(s, value, field->name, target);
        break;
    default:
        target = take_list(s, field, value, arguments);
    }
    memcpy(at, &target, sizeof target);
}

static void take_fields(struct serve *s, const struct impl_operation *row, const json_t *object,
                        void *arguments)
{
    for (size_t i = 0; i < row->n_fields; ++i)
        if (row->field[i].way == FIELD_IN || row->field[i].way == FIELD_BOTH)
            take_field(s, &row->field[i], object, arguments);
}

/* ---- room for results ------------------------------------------------------------------------ */

static size_t array_room(const struct impl_operation *row, const void *arguments, int ranks)
{
    size_t all = 0, largest = 0;

    if (row->room == ROOM_OF_MODEL)
        return MODEL_ROOM;
    if (row->room == ROOM_OF_PARAM)
        return PARAM_ROOM;
    for (size_t i = 0; i < row->n_fields; ++i) {
        const struct impl_field *field = &row->field[i];
        const size_t n = impl_field_count(field, arguments, ranks);

        if (field->way != FIELD_IN || (field->kind != FIELD_ARRAY && field->kind != FIELD_ARRAYS))
            continue;
        for (size_t j = 0; j < n; ++j) {
            const struct impl_array *arrays = impl_field_target(field, arguments);

            all += arrays[j].capacity;
            largest = arrays[j].capacity > largest ? arrays[j].capacity : largest;
        }
    }
    /* If there are many tensors, the result for each must not have the capacity for all of them. */
    return row->room == ROOM_OF_LARGEST ? largest + LITTLE_MORE : all + MORE;
}

static void make_result_room(struct serve *s, const struct impl_operation *row,
                             const json_t *object, void *arguments, int ranks)
{
    const size_t bytes = array_room(row, arguments, ranks);

    for (size_t i = 0; i < row->n_fields; ++i) {
        const struct impl_field *field = &row->field[i];
        const size_t n = impl_field_count(field, arguments, ranks);
        struct impl_array *arrays;
        void *target;

        if (field->way == FIELD_BOTH)
            for (size_t c = 0; c < n; ++c)
                make_result_room(s, &impl_call_operation, object,
                                 (struct impl_call *)impl_field_target(field, arguments) + c,
                                 ranks);
        if (field->way == FIELD_IN || field->way == FIELD_BOTH ||
            !impl_field_is_pointer(field->kind))
            continue;
        if (field->way == FIELD_WANTED && !json_is_true(json_object_get(object, field->name)))
            continue;
        target = serve_memory(s, (n + 1) * impl_field_bytes(field->kind));
        memcpy(impl_field_at(field, arguments), &target, sizeof target);
        arrays = target;
        if (field->kind == FIELD_ARRAY || field->kind == FIELD_ARRAYS ||
            field->kind == FIELD_OUTPUTS)
            for (size_t j = 0; j < n; ++j)
                arrays[j] = (struct impl_array){
                    .data = serve_memory(s, bytes), .capacity = bytes, .device = IMPL_NOWHERE};
    }
}

/* ---- operations ------------------------------------------------------------------------------ */

json_t *serve_about(const struct impl_about *about)
{
    json_t *devices = json_array(), *capabilities = json_array(), *dialects = json_object();

    for (int i = 0; i < about->devices; ++i)
        json_array_append_new(devices, json_string(about->device_name[i]));
    for (int i = 0; i < IMPL_CAPABILITIES; ++i)
        if ((about->capabilities >> i & 1) != 0)
            json_array_append_new(capabilities,
                                  json_string(impl_capability_word((uint64_t)1 << i)));
    for (int i = 0; i < IMPL_DIALECTS; ++i)
        if (about->dialect[i] != IMPL_UNDECLARED)
            json_object_set_new(dialects, impl_dialect_word((enum impl_dialect)i),
                                json_string(impl_choice_word(about->dialect[i])));
    return json_pack("{s:s, s:s, s:o, s:o, s:o, s:s, s:s}", "name", about->name, "version",
                     about->version, "devices", devices, "capabilities", capabilities, "dialects",
                     dialects, "blas", about->blas, "gpu_software", about->gpu_software);
}

static json_t *serve_param(const struct impl_param *p)
{
    return json_pack("{s:s, s:s, s:o, s:i, s:b, s:b}", "name", p->name, "dtype",
                     impl_dtype_word(p->dtype), "dims", json_sizes(p->dim, (size_t)p->ndim),
                     "device", p->device, "buffer", p->buffer, "frozen", p->frozen);
}

static int serve_open(struct serve *s, json_t **ok, struct impl_error *err)
{
    const json_t *request = s->request.ok;
    const char *devices = json_string_value(json_object_get(request, "devices"));
    const char *options = json_string_value(json_object_get(request, "options"));
    const struct impl_config config = {
        .devices = !devices ? "" : devices,
        .options = !options || options[0] == '\0' ? s->source.options : options,
        .host_only = json_is_true(json_object_get(request, "host_only")),
        .seed = answer_size(&s->request, request, "", "seed"),
    };
    struct impl_about about;
    int status;

    memset(&about, 0, sizeof about);
    status = s->source.ops->open(&config, &about, &s->session, err);
    if (status == IMPL_OK)
        *ok = serve_about(&about);
    return status;
}

/* The other side knows a model by its index in the table. */
static int serve_model_open(struct serve *s, struct impl_model_open_call *call, json_t **ok,
                            struct impl_error *err)
{
    int place = 0, status;

    while (place < SERVE_MODELS && s->model[place])
        ++place;
    if (place == SERVE_MODELS || !call->description)
        return impl_fail(err, IMPL_EBROKEN, "no description, or too many models");
    s->ranks[place] = call->ranks;
    status = impl_invoke(s->source.ops, IMPL_OP_MODEL_OPEN, s->session, NULL, call, err);
    s->model[place] = status == IMPL_OK ? call->model : NULL;
    if (status == IMPL_OK)
        *ok = json_pack("{s:i}", "model", place);
    return status;
}

static int serve_operation(struct serve *s, const char *name, json_t **ok, struct impl_error *err)
{
    const enum impl_op op = impl_op_of(name);
    const struct impl_operation *row = &impl_operations[op];
    union impl_arguments arguments;
    struct impl_model *model = NULL;
    int place = 0, status;

    if (op == IMPL_OPS || op == IMPL_OP_CLOSE)
        return impl_fail(err, IMPL_ENOTSUP, "no operation '%.40s'", name);
    if (op == IMPL_OP_OPEN)
        return serve_open(s, ok, err);
    memset(&arguments, 0, sizeof arguments);
    if (row->on_model) {
        place = (int)answer_int(&s->request, s->request.ok, "", "model", 0, SERVE_MODELS - 1);
        model = s->model[place];
        if (!model)
            return impl_fail(err, IMPL_EBROKEN, "there is no model %d", place);
    }
    take_fields(s, row, s->request.ok, &arguments);
    if (op == IMPL_OP_SAMPLER)
        arguments.sampler.capacity =
            arguments.sampler.items < MODEL_ROOM ? arguments.sampler.items + 1024 : MODEL_ROOM;
    if (s->request.fault[0] != '\0')
        return IMPL_EBROKEN;
    make_result_room(s, row, s->request.ok, &arguments, s->ranks[place]);
    if (op == IMPL_OP_MODEL_OPEN)
        return serve_model_open(s, &arguments.model_open, ok, err);
    if (op == IMPL_OP_RESET)
        memset(s->model, 0, sizeof s->model);
    status = impl_invoke(s->source.ops, op, s->session, model, &arguments, err);
    if (op == IMPL_OP_MODEL_CLOSE)
        s->model[place] = NULL;
    if (status != IMPL_OK)
        return status;
    *ok = op == IMPL_OP_PARAM ? serve_param(&arguments.param.param)
                              : json_fields(row, &arguments, s->ranks[place], true);
    return IMPL_OK;
}

json_t *serve_error(json_t *request, int status, const struct impl_error *err)
{
    return json_pack("{s:O, s:{s:s, s:i, s:i, s:i, s:s}}", "id", json_object_get(request, "id"),
                     "error", "status", impl_status_word(status), "replica", err->replica, "device",
                     err->device, "device_also", err->device_also, "text", err->text);
}

json_t *serve_answer(struct serve *s, json_t *request)
{
    const char *op = json_string_value(json_object_get(request, "op"));
    struct impl_error err = {.replica = -1, .device = IMPL_NOWHERE, .device_also = IMPL_NOWHERE};
    json_t *ok = NULL;
    int status;

    s->request.fault[0] = '\0';
    s->request.ok = request;
    status = serve_operation(s, op == NULL ? "" : op, &ok, &err);
    if (s->request.fault[0] != '\0') {
        memset(&err, 0, sizeof err);
        status = impl_fail(&err, IMPL_EBROKEN, "the request: %s", s->request.fault);
    }
    while (s->pieces) {
        struct serve_piece *next = s->pieces->next;
        free(s->pieces);
        s->pieces = next;
    }
    if (status == IMPL_OK)
        return json_pack("{s:O, s:o}", "id", json_object_get(request, "id"), "ok", ok);
    json_decref(ok);
    return serve_error(request, status, &err);
}
