/* fields.c: converts the fields of an operation (calls.h) to JSON and back. */
#include "session.h"

#include <stdio.h>

/* ---- to JSON --------------------------------------------------------------------------------- */

static json_t *append_value(json_t *list, json_t *value)
{
    if (list && json_array_append_new(list, value) == 0)
        return list;
    json_decref(list);
    return NULL;
}

/* Lists the outputs of each rank that are in use, one rank after the other. */
static json_t *json_outputs(const struct impl_forward *op, int ranks)
{
    json_t *list = json_array();

    for (int rank = 0; rank < ranks; ++rank)
        for (int i = 0; i < op->n_out; ++i)
            list = append_value(list, json_array_of(&op->out[rank * IMPL_MAX_IO + i]));
    return list;
}

static json_t *json_list(const struct impl_field *field, const void *values, size_t n, bool out)
{
    json_t *list = json_array();

    for (size_t i = 0; i < n; ++i) {
        json_t *value = NULL;

        if (field->kind == FIELD_CALLS)
            value = json_fields(&impl_call_operation, (const struct impl_call *)values + i, 1, out);
        else if (field->kind == FIELD_ARRAYS)
            value = json_array_of((const struct impl_array *)values + i);
        else if (field->kind == FIELD_FLAGS)
            value = json_boolean(((const bool *)values)[i]);
        else if (field->kind == FIELD_DTYPES)
            value = json_string(impl_dtype_word(((const enum impl_dtype *)values)[i]));
        else if (field->kind == FIELD_INTS || field->kind == FIELD_BUCKETS)
            value = json_integer(((const int *)values)[i]);
        else
            value = json_size(((const size_t *)values)[i]);
        list = append_value(list, value);
    }
    return list;
}

/* Member `adamw` is null, or has the numbers that a step of SGD does not have. */
static json_t *json_adamw(const struct impl_step *step)
{
    return !step->adamw ? json_null()
                        : json_pack("{s:f, s:f, s:f, s:f}", "beta1", (double)step->beta1, "beta2",
                                    (double)step->beta2, "eps", (double)step->eps, "decay",
                                    (double)step->decay);
}

static json_t *json_field(const struct impl_field *field, const void *arguments, int ranks,
                          bool out)
{
    const void *at = impl_field_at(field, arguments);
    const void *target =
        impl_field_is_pointer(field->kind) ? impl_field_target(field, arguments) : NULL;

    switch (field->kind) {
    case FIELD_INT:
        return json_integer(*(const int *)at);
    case FIELD_SIZE:
    case FIELD_COUNT:
        return json_size(*(const size_t *)at);
    case FIELD_FLAG:
        return json_boolean(*(const bool *)at);
    case FIELD_FLOAT:
        return json_real((double)*(const float *)at);
    case FIELD_WHAT:
        return json_string(*(const enum impl_what *)at == IMPL_VALUE ? "value" : "grad");
    case FIELD_ADAMW:
        return json_adamw(at);
    case FIELD_TEXT:
        return json_string(target);
    case FIELD_ARRAY:
        return target ? json_array_of(target) : json_null();
    case FIELD_OUTPUTS:
        return json_outputs(arguments, ranks);
    case FIELD_TRACE:
        return json_trace(target);
    case FIELD_SIZES_HERE:
        return json_list(field, at, impl_field_used(field, arguments, ranks), out);
    default:
        return !target && (field->kind == FIELD_SIZES || field->kind == FIELD_FLAGS)
                   ? json_null()
                   : json_list(field, target, impl_field_used(field, arguments, ranks), out);
    }
}

json_t *json_fields(const struct impl_operation *row, const void *arguments, int ranks, bool out)
{
    json_t *object = json_object();

    for (size_t i = 0; i < row->n_fields && object; ++i) {
        const struct impl_field *field = &row->field[i];
        json_t *value;

        if (field->way != FIELD_BOTH && (field->way == FIELD_IN) == out &&
            (out || field->way != FIELD_WANTED))
            continue;
        if (!out && field->way == FIELD_WANTED)
            value = json_boolean(impl_field_target(field, arguments) != NULL);
        else if (out && field->way == FIELD_WANTED && !impl_field_target(field, arguments))
            value = json_null();
        else
            value = json_field(field, arguments, ranks, out);
        if (json_object_set_new(object, field->name, value) != 0) {
            json_decref(object);
            return NULL;
        }
    }
    return object;
}

/* ---- from JSON ------------------------------------------------------------------------------- */

void answer_elements(struct answer *a, const struct impl_field *field, const json_t *list,
                     const char *where, void *values)
{
    const size_t n = json_array_size(list);
    char path[64];

    for (size_t i = 0; i < n; ++i) {
        const json_t *value = json_array_get(list, i);

        switch (field->kind) {
        case FIELD_ARRAYS:
            snprintf(path, sizeof path, "%.16s%s%.16s[%zu]", where, where[0] == '\0' ? "" : ".",
                     field->name, i);
            answer_array(a, value, path, (struct impl_array *)values + i);
            break;
        case FIELD_BUCKETS:
            if (!json_is_integer(value) || json_integer_value(value) < 0 ||
                json_integer_value(value) >= (json_int_t)n)
                answer_fault(a, "%s[%zu] is not a number of 0 .. %zu", field->name, i, n - 1);
            ((int *)values)[i] = a->fault[0] == '\0' ? (int)json_integer_value(value) : -1;
            break;
        case FIELD_INTS:
            ((int *)values)[i] = (int)json_integer_value(value);
            break;
        case FIELD_FLAGS:
            ((bool *)values)[i] = json_is_true(value);
            break;
        case FIELD_DTYPES:
            ((enum impl_dtype *)values)[i] =
                impl_dtype_of(json_is_string(value) ? json_string_value(value) : "");
            break;
        default:
            ((size_t *)values)[i] = (size_t)answer_size_of(a, value, field->name);
        }
    }
}

/* JSON has n_out outputs for each rank, without gaps; in memory each rank has IMPL_MAX_IO
 * places. */
static void read_outputs(struct answer *a, struct impl_forward *op, int ranks)
{
    const json_t *list;

    op->n_out = (int)answer_int(a, a->ok, "", "n_out", 0, INT32_MAX);
    if (op->n_out > IMPL_MAX_IO) {
        a->room = true;
        return;
    }
    list = answer_list(a, a->ok, "", "out", (size_t)ranks * (size_t)op->n_out);
    for (size_t i = 0; i < json_array_size(list); ++i) {
        const size_t n_out = (size_t)op->n_out, rank = i / n_out;

        answer_array(a, json_array_get(list, i), "out", &op->out[rank * IMPL_MAX_IO + i % n_out]);
    }
}

static void read_calls(struct answer *a, struct impl_call *calls, size_t n)
{
    const json_t *list = answer_list(a, a->ok, "", "calls", n);
    char where[32];

    for (size_t i = 0; list && i < n; ++i) {
        snprintf(where, sizeof where, "calls[%zu]", i);
        answer_fields(a, &impl_call_operation, json_array_get(list, i), where, &calls[i], 1);
    }
}

static void read_field_list(struct answer *a, const struct impl_field *field, const json_t *object,
                            const char *where, void *arguments, int ranks)
{
    const size_t n = impl_field_count(field, arguments, ranks);
    void *values = impl_field_is_pointer(field->kind) ? impl_field_target(field, arguments)
                                                      : impl_field_at(field, arguments);
    const json_t *list;

    if (!values && field->way == FIELD_WANTED)
        return;
    list = field->length > 0 ? answer_list_up_to(a, object, where, field->name, n)
                             : answer_list(a, object, where, field->name, n);
    answer_elements(a, field, list, where, values);
    impl_field_use(field, arguments, json_array_size(list));
}

static void read_field(struct answer *a, const struct impl_field *field, const json_t *object,
                       const char *where, void *arguments, int ranks)
{
    void *at = impl_field_at(field, arguments);
    const json_t *value;

    switch (field->kind) {
    case FIELD_INT:
        *(int *)at = (int)answer_int(a, object, where, field->name, 0,
                                     field->most > 0 ? (long long)field->most : INT32_MAX);
        break;
    case FIELD_COUNT:
        *(size_t *)at = json_object_get(object, field->name)
                            ? (size_t)answer_size(a, object, where, field->name)
                            : 0;
        break;
    case FIELD_PARAM:
        answer_param(a, at);
        break;
    case FIELD_ARRAY:
        if (!impl_field_target(field, arguments))
            break;
        value = answer_field(a, object, where, field->name);
        if (value)
            answer_array(a, value, field->name, impl_field_target(field, arguments));
        break;
    case FIELD_OUTPUTS:
        read_outputs(a, arguments, ranks);
        break;
    case FIELD_CALLS:
        read_calls(a, impl_field_target(field, arguments),
                   impl_field_count(field, arguments, ranks));
        break;
    case FIELD_TRACE:
        answer_trace(a, impl_field_target(field, arguments));
        break;
    default:
        read_field_list(a, field, object, where, arguments, ranks);
    }
}

void answer_fields(struct answer *a, const struct impl_operation *row, const json_t *object,
                   const char *where, void *arguments, int ranks)
{
    for (size_t i = 0; i < row->n_fields; ++i)
        if (row->field[i].way != FIELD_IN)
            read_field(a, &row->field[i], object, where, arguments, ranks);
}

/* Returns how many bytes the results can have. */
size_t fields_room(const struct impl_operation *row, const void *arguments, int ranks)
{
    size_t room = 0;

    for (size_t i = 0; i < row->n_fields; ++i) {
        const struct impl_field *field = &row->field[i];
        const size_t n = impl_field_count(field, arguments, ranks);
        const void *values;

        if (field->way == FIELD_IN || !impl_field_is_pointer(field->kind))
            continue;
        values = impl_field_target(field, arguments);
        if (field->kind == FIELD_CALLS)
            for (size_t c = 0; c < n; ++c)
                room += fields_room(&impl_call_operation, (const struct impl_call *)values + c, 1);
        else if (field->kind == FIELD_ARRAY || field->kind == FIELD_ARRAYS ||
                 field->kind == FIELD_OUTPUTS)
            room += arrays_room(values, n);
        else if (field->kind == FIELD_BUCKETS || field->kind == FIELD_SIZES)
            room += n < SIZE_MAX / 64 ? n * (field->kind == FIELD_SIZES ? 24 : 8) : SIZE_MAX / 2;
    }
    return room;
}
