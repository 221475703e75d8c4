/* record/json.c: functions that all readers of records share: they load a line, and read its schema
 * and its members.
 *
 * The input is untrusted: types and ranges are checked here, before anything is stored. */
#include "record/json.h"
#include "text/alloc.h"

#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

const char *const record_type_names[RECORD_TYPES] = {"run", "cell", "end"};

json_t *record_json_text(const char *text, size_t bytes, json_error_t *why)
{
    /* An estimate of the memory of its values: an object costs ten times as much as a number. */
    enum { OBJECT = 320, ARRAY = 128, VALUE = 48 };
    /* The most numbers that the record of a launch may have: harness/plan/plan.c. */
    _Static_assert(RECORD_LINE_BYTES / (sizeof "86400000000000," - 1) * VALUE < RECORD_JSON_BYTES,
                   "the longest record of a launch can be read");
    size_t sum = 0;
    bool quoted = false;

    for (size_t i = 0; i < bytes; ++i) {
        const char c = text[i];

        if (c == '"')
            quoted = !quoted;
        else if (quoted)
            i += c == '\\';
        else if (c == '{')
            sum += OBJECT;
        else if (c == '[')
            sum += ARRAY;
        else if (c == ',' || c == ':')
            sum += VALUE;
    }
    if (sum <= RECORD_JSON_BYTES)
        return json_loadb(text, bytes, JSON_REJECT_DUPLICATES, why);
    *why = (json_error_t){.line = 1};
    snprintf(why->text, sizeof why->text, "so many values need more than %zu MiB of memory",
             RECORD_JSON_BYTES >> 20);
    return NULL;
}

json_t *record_json_file(const char *path, size_t most, struct text_error *err)
{
    struct record_chain chain = {.lines = 0};
    struct stat status;
    json_error_t why;
    json_t *root = NULL;
    int wrong = -1;

    if (stat(path, &status) != 0) {
        record_fail(err, "%s", strerror(errno));
        return NULL;
    }
    if (!S_ISREG(status.st_mode)) {
        record_fail(err, "it is not a regular file");
        return NULL;
    }
    if (status.st_size == 0 || status.st_size > (off_t)most) {
        record_fail(err, "it has %lld bytes: 1 to %zu MiB are allowed", (long long)status.st_size,
                    most >> 20);
        return NULL;
    }
    const size_t bytes = (size_t)status.st_size;
    FILE *stream = fopen(path, "rb");
    char *text = cli_bytes(bytes + 1);
    const bool whole = stream && fread(text, 1, bytes, stream) == bytes;

    if (stream)
        fclose(stream);
    if (!whole) {
        record_fail(err, "cannot read it: %s", strerror(errno));
    } else if (!(root = record_json_text(text, bytes, &why))) {
        record_fail(err, "not JSON: line %d: %.100s", why.line, why.text);
    } else {
        /* A sealed document is a file of one line, whatever newlines are in it. */
        const struct record_link link = record_link_of(root);

        wrong =
            record_chain_check(&link, text, bytes - (text[bytes - 1] == '\n'), true, &chain, err);
    }
    free(text);
    if (wrong == 0)
        return root;
    json_decref(root);
    return NULL;
}

json_t *record_json_load(const char *line, size_t bytes, struct text_error *err)
{
    json_error_t error;
    json_t *root = record_json_text(line, bytes, &error);

    if (root && json_is_object(root))
        return root;
    if (!root)
        record_fail(err, "not JSON: %s (column %d)", error.text, error.column);
    else
        record_fail(err, "not a JSON object");
    json_decref(root);
    return NULL;
}

bool record_json_is_schema(const char *schema, const char *name)
{
    char prefix[32];
    const int n = snprintf(prefix, sizeof prefix, "lockstep/%s/1.", name);
    const char *minor = schema + n;

    return strncmp(schema, prefix, (size_t)n) == 0 && minor[0] != '\0' &&
           strspn(minor, "0123456789") == strlen(minor);
}

static const char *schema_of(const json_t *root, struct text_error *err)
{
    const char *schema = json_string_value(json_object_get(root, "schema"));

    if (!schema)
        record_fail(err, "\"schema\" is missing or no string");
    return schema;
}

int record_json_schema(const json_t *root, const char *name, struct text_error *err)
{
    const char *schema = schema_of(root, err);

    if (!schema || record_json_is_schema(schema, name))
        return schema ? 0 : -1;
    return record_fail(err, "schema \"%.60s\" is not known: this program reads lockstep/%s/1.x",
                       schema, name);
}

int record_json_type(const json_t *root, struct text_error *err)
{
    const char *schema = schema_of(root, err);

    if (!schema)
        return -1;
    for (int type = 0; type < RECORD_TYPES; ++type)
        if (record_json_is_schema(schema, record_type_names[type]))
            return type;
    return record_fail(err,
                       "schema \"%.60s\" is not known: this program reads lockstep/run/1.x, "
                       "lockstep/cell/1.x and lockstep/end/1.x",
                       schema);
}

int record_json_integer(const json_t *value, const char *name, json_int_t min, json_int_t max,
                        json_int_t *number, struct text_error *err)
{
    if (!json_is_integer(value))
        return record_fail(err, "\"%s\" is missing or no integer", name);
    *number = json_integer_value(value);
    if (*number < min || *number > max)
        return record_fail(err,
                           "\"%s\" is %" JSON_INTEGER_FORMAT ", outside %" JSON_INTEGER_FORMAT
                           " to %" JSON_INTEGER_FORMAT,
                           name, *number, min, max);
    return 0;
}

int record_json_real(const json_t *value, const char *name, double *number, struct text_error *err)
{
    if (!json_is_number(value) && !json_is_null(value))
        return record_fail(err, "\"%s\" is missing or neither a number nor null", name);
    *number = json_is_null(value) ? NAN : json_number_value(value);
    return 0;
}

/* ---- arrays and objects --------------------------------------------------------------------- */

/* Checks that it is an array of n elements. */
static int check_array(const json_t *array, const char *name, size_t n, struct text_error *err)
{
    if (!json_is_array(array))
        return record_fail(err, "\"%s\" is missing or no array", name);
    if (json_array_size(array) != n)
        return record_fail(err, "\"%s\" has %zu elements, expected %zu", name,
                           json_array_size(array), n);
    return 0;
}

static int read_reals(const json_t *array, const char *name, double *to, struct text_error *err)
{
    for (size_t i = 0; i < json_array_size(array); ++i)
        if (record_json_real(json_array_get(array, i), name, &to[i], err) != 0)
            return -1;
    return 0;
}

static int read_whole_numbers(const json_t *array, const char *name, json_int_t most, uint64_t *to,
                              struct text_error *err)
{
    for (size_t i = 0; i < json_array_size(array); ++i) {
        json_int_t number = 0;

        if (record_json_integer(json_array_get(array, i), name, 0, most, &number, err) != 0)
            return -1;
        to[i] = (uint64_t)number;
    }
    return 0;
}

static int read_list(const json_t *array, const struct record_field *field, void *object,
                     struct text_error *err)
{
    char *element = (char *)object + field->offset;
    int *const count = (void *)((char *)object + field->count);
    const size_t n = json_array_size(array);

    if (!json_is_array(array) || n > (size_t)field->max)
        return record_fail(err, "\"%s\" is missing or no array of at most %lld", field->name,
                           field->max);
    if (field->nest == RECORD_NUMBERS) {
        /* Arrays that share a count cannot be empty, and have the same length. */
        if (field->empty == RECORD_LEFT_OUT && (n == 0 || (*count != 0 && n != (size_t)*count)))
            return record_fail(
                err, "\"%s\" is not an array of 1 to %lld times, as many as of the others",
                field->name, field->max);
        *count = (int)n;
        return read_whole_numbers(array, field->name, RECORD_EXACT_MAX, (void *)element, err);
    }
    if (field->nest == RECORD_HEAP_LIST && n > 0) {
        void *list = cli_alloc(n, field->bytes);

        memcpy(element, &list, sizeof list);
        element = list;
    }
    *count = (int)n;
    for (size_t i = 0; i < n; ++i, element += field->bytes) {
        const json_t *from = json_array_get(array, i);

        if (!json_is_object(from))
            return record_fail(err, "an element of \"%s\" is no object", field->name);
        record_unknown(field->element, element);
        if (record_json_fields(from, field->element, element, err) != 0)
            return -1;
    }
    return 0;
}

/* Reads an array for each row, of n numbers each. It checks all lengths before it allocates memory;
 * so the product cannot overflow. NULL: there is an error. One more element is allocated, because a
 * NULL in a record means that it was not measured. */
static uint64_t *read_rows(const json_t *array, const char *name, size_t rows, size_t n,
                           struct text_error *err)
{
    uint64_t *times;

    if (check_array(array, name, rows, err) != 0)
        return NULL;
    for (size_t row = 0; row < rows; ++row)
        if (!json_is_array(json_array_get(array, row)) ||
            json_array_size(json_array_get(array, row)) != n) {
            record_fail(err, "\"%s\" of row %zu is not an array of %zu times", name, row, n);
            return NULL;
        }
    times = cli_alloc(rows * n, sizeof *times);
    for (size_t row = 0; row < rows; ++row)
        if (read_whole_numbers(json_array_get(array, row), name, RECORD_EXACT_MAX, times + row * n,
                               err)) {
            free(times);
            return NULL;
        }
    return times;
}

/* Reads an array of "raw", which has an element for each sample of the cell. */
static int read_samples(const json_t *value, const struct record_field *field,
                        struct record_cell *cell, struct text_error *err)
{
    void *member = (char *)cell + field->offset;
    const size_t n = cell->n_samples;
    uint64_t *times;

    if (field->nest == RECORD_PART) {
        const json_t *ns = json_object_get(value, "ns");
        struct record_part_times *part = member;
        json_int_t work = 0;

        part->n = json_array_size(json_array_get(ns, 0));
        if (record_json_integer(json_object_get(value, "work"), "work", 1, RECORD_EXACT_MAX, &work,
                                err) != 0)
            return -1;
        if (part->n == 0 || part->n > RECORD_MOST_PARTS)
            return record_fail(err, "\"%s\" of \"parts\" has no arrays of 1 to %d times",
                               field->name, RECORD_MOST_PARTS);
        part->work = (uint64_t)work;
        part->rows = record_part_rows((enum record_part)(part - cell->part), cell->key.n_devices);
        part->ns = read_rows(ns, field->name, part->rows, part->n, err);
        return part->ns ? 0 : -1;
    }
    if (field->nest == RECORD_RANKS) {
        times = read_rows(value, field->name, (size_t)cell->n_ranks, n, err);
        memcpy(member, &times, sizeof times);
        return times ? 0 : -1;
    }
    if (check_array(value, field->name, n, err) != 0)
        return -1;
    times = cli_alloc(n, sizeof *times);
    if (field->nest == RECORD_STEPS) {
        memcpy(member, &times, sizeof times);
        return read_whole_numbers(value, field->name, RECORD_EXACT_MAX, times, err);
    }
    const int status = read_whole_numbers(value, field->name, UINT16_MAX, times, err);

    cell->flags = cli_alloc(n, sizeof cell->flags[0]);
    for (size_t i = 0; status == 0 && i < n; ++i)
        cell->flags[i] = (unsigned)times[i];
    free(times);
    return status;
}

/* Texts, and numbers that are written as texts. */
static int read_text(const json_t *value, const struct record_field *field, void *member,
                     struct text_error *err)
{
    const char *string = json_string_value(value);
    const size_t length = json_string_length(value);

    if (field->kind == RECORD_BIG) {
        if (length == 0 || strspn(string, "0123456789") != length)
            return record_fail(err, "\"%s\" is missing or no string of digits", field->name);
        errno = 0;
        const unsigned long long parsed = strtoull(string, NULL, 10);

        if (errno != 0 || parsed > UINT64_MAX)
            return record_fail(err, "\"%s\" is \"%.30s\", more than 64 bits", field->name, string);
        *(uint64_t *)member = parsed;
        return 0;
    }
    if (!string)
        return record_fail(err, "\"%s\" is missing or no string", field->name);
    if (length >= field->bytes)
        return record_fail(err, "\"%s\" has %zu bytes, at most %zu are allowed", field->name,
                           length, field->bytes - 1);
    memcpy(member, string, length + 1);
    return 0;
}

/* Stores an integer, which is in its range, in the member of its field. */
static void store_integer(const struct record_field *field, json_int_t number, void *member)
{
    if (field->kind == RECORD_INT)
        *(int *)member = (int)number;
    else if (field->kind == RECORD_LONG)
        *(long *)member = (long)number;
    else if (field->kind == RECORD_COUNT)
        *(size_t *)member = (size_t)number;
    else
        *(uint64_t *)member = (uint64_t)number;
}

static int read_value(const json_t *value, const struct record_field *field, void *object,
                      struct text_error *err)
{
    void *member = (char *)object + field->offset;
    struct record_series *series = member;
    const char *name = json_string_value(value);
    json_int_t number = 0;

    switch (field->kind) {
    case RECORD_TEXT:
    case RECORD_HASH:
    case RECORD_OPTIONS:
    case RECORD_BIG:
        return read_text(value, field, member, err);
    case RECORD_BOOL:
        if (!json_is_boolean(value))
            return record_fail(err, "\"%s\" is missing or neither true nor false", field->name);
        *(bool *)member = json_is_true(value);
        return 0;
    case RECORD_REAL:
        return record_json_real(value, field->name, member, err);
    case RECORD_SERIES: /* an earlier one is freed with the object, by its owner */
        series->n = json_array_size(value);
        if (!json_is_array(value) || series->n > RECORD_MOST_READINGS)
            return record_fail(err, "\"%s\" is not an array of at most %d numbers", field->name,
                               RECORD_MOST_READINGS);
        series->value = cli_alloc(series->n, sizeof *series->value);
        return read_reals(value, field->name, series->value, err);
    case RECORD_NESTED:
        break;
    default:
        if (record_json_integer(value, field->name, field->min, field->max, &number, err) != 0)
            return -1;
        store_integer(field, number, member);
        return 0;
    }
    switch (field->nest) {
    case RECORD_STATE:
        for (int i = 0; name && i < RECORD_STATUSES; ++i)
            if (strcmp(name, record_status_names[i]) == 0) {
                *(enum record_status *)member = (enum record_status)i;
                return 0;
            }
        return record_fail(err, "\"%s\" is %.40s, not one of the known ones", field->name,
                           name ? name : "missing or no string");
    case RECORD_OBJECT:
        if (!json_is_object(value))
            return record_fail(err, "\"%s\" is missing or no object", field->name);
        record_unknown(field->element, member);
        return record_json_fields(value, field->element, member, err);
    case RECORD_LIST:
    case RECORD_HEAP_LIST:
    case RECORD_NUMBERS:
        return read_list(value, field, object, err);
    case RECORD_REALS:
        return check_array(value, field->name, (size_t)field->max, err) != 0
                   ? -1
                   : read_reals(value, field->name, member, err);
    default:
        return read_samples(value, field, object, err);
    }
}

int record_json_fields(const json_t *object, const struct record_field *field, void *to,
                       struct text_error *err)
{
    for (; field->name; ++field) {
        const json_t *value = json_object_get(object, field->name);
        const bool none = value ? field->empty == RECORD_AS_NULL && json_is_null(value)
                                : field->later || field->empty == RECORD_LEFT_OUT;

        if (none || (field->kind == RECORD_NESTED && field->nest == RECORD_BY_HAND))
            continue;
        if (read_value(value, field, to, err) != 0 || record_check_value(field, to, err) != 0)
            return -1;
    }
    return 0;
}

/* ---- records --------------------------------------------------------------------------------- */

int record_cell_from_json(const json_t *root, struct record_cell *cell, struct text_error *err)
{
    memset(cell, 0, sizeof *cell);
    record_unknown(record_cell_fields, cell);
    if (record_json_fields(root, record_cell_fields, cell, err) == 0 &&
        record_cell_check(cell, err) == 0)
        return 0;
    record_cell_free(cell);
    return -1;
}

int record_run_from_json(const json_t *root, struct record_run *run, struct text_error *err)
{
    static const double most_load = 1e6;
    const char *schema = json_string_value(json_object_get(root, "schema"));

    memset(run, 0, sizeof *run);
    snprintf(run->scaling, sizeof run->scaling, "strong");
    run->launches = 1;
    record_unknown(record_run_fields, run);
    if (record_json_fields(root, record_run_fields, run, err) != 0)
        return -1;
    run->clocked = schema && strtol(schema + strlen("lockstep/run/1."), NULL, 10) > 1;
    for (size_t i = 0; i < 3; ++i)
        if (run->load_avg[i] < 0 || run->load_avg[i] > most_load)
            return record_fail(err, "\"load_avg\" is %g, outside 0 to %g", run->load_avg[i],
                               most_load);
    const struct record_bound rows[] = {
        {"packages", run->packages, 0, run->pus},
        {"cores", run->cores, 0, run->pus},
        {"usable_pus", run->usable_pus, run->cores > 0, run->pus},
        {"timer_tick_ns", run->timer_tick_ns, run->cores > 0 ? 1e-3 : 0, 1e9},
        {"numa", run->node.n_numa, 0, run->numa_nodes},
    };

    return record_check_bounds(rows, sizeof rows / sizeof rows[0], err);
}

int record_end_from_json(const json_t *root, struct record_end *end, struct text_error *err)
{
    memset(end, 0, sizeof *end);
    record_unknown(record_end_fields, end);
    return record_json_fields(root, record_end_fields, end, err);
}
