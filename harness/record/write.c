/* record/write.c: writes records as JSON, one line each, by the tables of fields.
 *
 * Every string is data: jansson escapes it. Bytes that are not UTF-8 (a name cut in the middle of a
 * character) become "?", so that a record is never lost because of a name. A value without a form
 * in JSON is NULL here; adding it fails, and with it the whole record. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "record/json.h"
#include "text/alloc.h"
#include "text/text.h"

static json_t *count_value(uint64_t number)
{
    return number <= (uint64_t)RECORD_EXACT_MAX ? json_integer((json_int_t)number) : NULL;
}

/* Returns an array or an object, or NULL if one of its values could not be added. */
static json_t *json_whole(json_t *value, int status)
{
    if (status == 0)
        return value;
    json_decref(value);
    return NULL;
}

static json_t *reals_value(const double *number, size_t n)
{
    json_t *array = n > RECORD_MOST_READINGS ? NULL : json_array();

    for (size_t i = 0; array && i < n; ++i)
        json_array_append_new(array, value_real(number[i]));
    return array;
}

static json_t *numbers_value(const uint64_t *number, size_t n)
{
    json_t *array = json_array();
    int status = 0;

    for (size_t i = 0; i < n; ++i)
        status |= json_array_append_new(array, count_value(number[i]));
    return json_whole(array, status);
}

/* An array for each row, of n numbers each. */
static json_t *rows_value(const uint64_t *number, size_t rows, size_t n)
{
    json_t *array = json_array();
    int status = 0;

    for (size_t row = 0; row < rows; ++row)
        status |= json_array_append_new(array, numbers_value(number + row * n, n));
    return json_whole(array, status);
}

/* The arrays of "raw", which have an element for each sample of the cell; null if they were not
 * measured. */
static json_t *samples_value(const struct record_field *field, const struct record_cell *cell)
{
    const void *member = (const char *)cell + field->offset;
    const struct record_part_times *part = member;
    const uint64_t *ns = NULL;

    if (field->nest == RECORD_FLAGS) {
        json_t *value = json_array();

        for (size_t i = 0; i < cell->n_samples; ++i)
            json_array_append_new(value, json_integer((json_int_t)cell->flags[i]));
        return value;
    }
    if (field->nest == RECORD_PART) {
        return !part->ns ? json_null()
                         : json_pack("{s:I, s:o}", "work", (json_int_t)part->work, "ns",
                                     rows_value(part->ns, part->rows, part->n));
    }
    memcpy(&ns, member, sizeof ns);
    if (field->nest == RECORD_STEPS && (ns || field->empty == RECORD_WRITTEN))
        return numbers_value(ns, ns ? cell->n_samples : 0);
    return ns ? rows_value(ns, (size_t)cell->n_ranks, cell->n_samples) : json_null();
}

static json_t *list_value(const struct record_field *field, const void *object)
{
    const char *element = (const char *)object + field->offset;
    const int n = *(const int *)((const void *)((const char *)object + field->count));
    json_t *array = json_array();
    int status = 0;

    if (n < 0 || n > field->max)
        return json_whole(array, -1);
    if (field->nest == RECORD_NUMBERS) {
        json_decref(array);
        return numbers_value((const void *)element, (size_t)n);
    }
    if (field->nest == RECORD_HEAP_LIST) {
        const void *list;

        memcpy(&list, element, sizeof list);
        element = list;
    }
    for (int i = 0; i < n; ++i, element += field->bytes)
        status |= json_array_append_new(array, record_json_of(field->element, element));
    return json_whole(array, status);
}

static json_t *field_value(const struct record_field *field, const void *object)
{
    const void *member = (const char *)object + field->offset;
    const struct record_series *series = member;
    const enum record_status *state = member;
    char text[24], *copy;
    json_t *value;

    switch (field->kind) {
    case RECORD_TEXT:
    case RECORD_HASH:
    case RECORD_OPTIONS:
        copy = cli_copy_text(member);
        for (size_t i = 0; copy[i] != '\0';) {
            uint32_t code = 0;
            const size_t n = text_decode(copy + i, &code);

            if (n == 0)
                copy[i] = '?';
            i += n > 0 ? n : 1;
        }
        value = json_string(copy);
        free(copy);
        return value;
    case RECORD_BOOL:
        return json_boolean(*(const bool *)member);
    case RECORD_INT:
        return json_integer(*(const int *)member);
    case RECORD_LONG:
        return json_integer(*(const long *)member);
    case RECORD_COUNT:
        return count_value(*(const size_t *)member);
    case RECORD_U64:
        return count_value(*(const uint64_t *)member);
    case RECORD_BIG:
        snprintf(text, sizeof text, "%" PRIu64, *(const uint64_t *)member);
        return json_string(text);
    case RECORD_REAL:
        return value_real(*(const double *)member);
    case RECORD_SERIES:
        return reals_value(series->value, series->n);
    case RECORD_NESTED:
        break;
    }
    switch (field->nest) {
    case RECORD_STATE:
        return (unsigned)*state < RECORD_STATUSES ? json_string(record_status_names[*state]) : NULL;
    case RECORD_OBJECT:
        return record_json_of(field->element, member);
    case RECORD_LIST:
    case RECORD_HEAP_LIST:
    case RECORD_NUMBERS:
        return list_value(field, object);
    case RECORD_REALS:
        return reals_value(member, (size_t)field->max);
    default:
        return samples_value(field, object);
    }
}

int record_json_add(json_t *object, const struct record_field *field, const void *from)
{
    if (field->kind == RECORD_NESTED && field->nest == RECORD_BY_HAND)
        return 0;
    json_t *value = field_value(field, from);

    if (field->empty != RECORD_WRITTEN && value && json_array_size(value) == 0 &&
        json_object_size(value) == 0) {
        json_decref(value);
        if (field->empty == RECORD_LEFT_OUT)
            return 0;
        value = json_null();
    }
    return json_object_set_new(object, field->name, value);
}

static int add_fields(json_t *object, const struct record_field *field, const void *from)
{
    int status = 0;

    for (; field->name; ++field)
        status |= record_json_add(object, field, from);
    return status;
}

json_t *record_json_of(const struct record_field *fields, const void *from)
{
    json_t *object = json_object();

    return json_whole(object, add_fields(object, fields, from));
}

static char *record_as_line(enum record_type type, int minor, const struct record_field *fields,
                            const void *from)
{
    char schema[40];
    json_t *root = json_object();

    snprintf(schema, sizeof schema, "lockstep/%s/1.%d", record_type_names[type], minor);
    json_object_set_new(root, "schema", json_string(schema));
    if (add_fields(root, fields, from) != 0) {
        json_decref(root);
        return NULL;
    }
    return document_text(root, JSON_COMPACT | JSON_REAL_PRECISION(17));
}

char *record_run_text(const struct record_run *run)
{
    return record_as_line(RECORD_IS_RUN, run->clocked ? 2 : 1, record_run_fields, run);
}

char *record_cell_text(const struct record_cell *cell)
{
    return record_as_line(RECORD_IS_CELL, 1, record_cell_fields, cell);
}

char *record_end_text(const char *run_id, const struct record_end *end)
{
    struct record_end line = *end;

    snprintf(line.run_id, sizeof line.run_id, "%s", run_id);
    return record_as_line(RECORD_IS_END, 1, record_end_fields, &line);
}
