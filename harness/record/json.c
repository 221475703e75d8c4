/* record/json.c: functions that all readers of records share: they load a line, and read its schema
 * and its members.
 *
 * The input is untrusted: types and ranges are checked here, before anything is stored. */
#include "record/json.h"
#include "record/memory.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

const char *const record_type_names[RECORD_TYPES] = {"run", "cell", "end"};

int record_fail(struct text_error *err, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(err->text, sizeof err->text, format, arguments);
    va_end(arguments);
    text_clean(err->text, '?'); /* it may quote the file */
    return -1;
}

/* Estimates the memory of the JSON values of a text: an object costs ten times as much as a number.
 */
static size_t memory_of(const char *text, size_t bytes)
{
    enum { OBJECT = 320, ARRAY = 128, VALUE = 48 };
    size_t sum = 0;
    bool quoted = false;
    for (size_t i = 0; i < bytes; ++i) {
        const char c = text[i];
        if (c == '"') {
            quoted = !quoted;
        } else if (quoted) {
            i += c == '\\';
        } else if (c == '{') {
            sum += OBJECT;
        } else if (c == '[') {
            sum += ARRAY;
        } else if (c == ',' || c == ':') {
            sum += VALUE;
        }
    }
    return sum;
}

json_t *record_json_text(const char *text, size_t bytes, json_error_t *why)
{
    if (memory_of(text, bytes) <= RECORD_JSON_BYTES) {
        return json_loadb(text, bytes, JSON_REJECT_DUPLICATES, why);
    }
    *why = (json_error_t){.line = 1};
    snprintf(why->text, sizeof why->text, "so many values need more than %zu MiB of memory",
             RECORD_JSON_BYTES >> 20);
    return NULL;
}

/* Reads all of a file of that size, and appends a 0 byte; NULL: it cannot be read. */
static char *read_all(const char *path, size_t bytes)
{
    FILE *stream = fopen(path, "rb");
    char *text = stream ? malloc(bytes + 1) : NULL;
    if (text && fread(text, 1, bytes, stream) != bytes) {
        free(text);
        text = NULL;
    }
    if (stream) {
        fclose(stream);
    }
    return text;
}

/* A sealed document is a file of one line, whatever newlines are in it. */
static int check_whole(const json_t *root, const char *text, size_t bytes, struct text_error *err)
{
    const struct record_link link = record_link_of(root);
    struct record_chain chain = {.lines = 0};

    return record_chain_check(&link, text, bytes - (text[bytes - 1] == '\n'), true, &chain, err);
}

json_t *record_json_file(const char *path, size_t most, struct text_error *err)
{
    struct stat status;
    json_error_t why;
    json_t *root = NULL;
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
    char *text = read_all(path, (size_t)status.st_size);
    if (!text) {
        record_fail(err, "cannot read it: %s", strerror(errno));
    } else if (!(root = record_json_text(text, (size_t)status.st_size, &why))) {
        if (!record_memory_failed())
            record_fail(err, "not JSON: line %d: %.100s", why.line, why.text);
    } else if (check_whole(root, text, (size_t)status.st_size, err) != 0) {
        json_decref(root);
        root = NULL;
    }
    free(text);
    if (record_memory_failed()) {
        json_decref(root);
        root = NULL;
        record_fail(err, "out of memory");
    }
    return root;
}

json_t *record_json_load(const char *line, size_t bytes, struct record_raw *raw,
                         struct text_error *err)
{
    json_error_t error;
    json_t *root = NULL;
    if (record_raw_cut(line, bytes, raw)) {
        root = record_json_text(raw->line, raw->length, &error);
    }
    if (!root) {
        /* If the line is not JSON, the error must name the column in the file, so the original line
         * is parsed. */
        raw->n_arrays = 0;
        root = record_json_text(line, bytes, &error);
    }
    if (record_memory_failed()) {
        json_decref(root);
        root = NULL;
        record_fail(err, "out of memory");
    } else if (!root) {
        record_fail(err, "not JSON: %s (column %d)", error.text, error.column);
    } else if (!json_is_object(root)) {
        json_decref(root);
        root = NULL;
        record_fail(err, "not a JSON object");
    }
    return root;
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
    if (!schema) {
        record_fail(err, "\"schema\" is missing or no string");
    }
    return schema;
}

int record_json_schema(const json_t *root, const char *name, struct text_error *err)
{
    const char *schema = schema_of(root, err);
    if (!schema || record_json_is_schema(schema, name)) {
        return schema ? 0 : -1;
    }
    return record_fail(err, "schema \"%.60s\" is not known: this program reads lockstep/%s/1.x",
                       schema, name);
}

int record_json_type(const json_t *root, struct text_error *err)
{
    const char *schema = schema_of(root, err);
    if (!schema) {
        return -1;
    }
    for (int type = 0; type < RECORD_TYPES; ++type) {
        if (record_json_is_schema(schema, record_type_names[type])) {
            return type;
        }
    }
    return record_fail(err,
                       "schema \"%.60s\" is not known: this program reads lockstep/run/1.x, "
                       "lockstep/cell/1.x and lockstep/end/1.x",
                       schema);
}

static int read_text(const json_t *value, const struct record_field *field, char *text,
                     struct text_error *err)
{
    const char *string = json_string_value(value);
    if (!string) {
        return record_fail(err, "\"%s\" is missing or no string", field->name);
    }
    const size_t length = json_string_length(value);
    if (length >= field->bytes) {
        return record_fail(err, "\"%s\" has %zu bytes, at most %zu are allowed", field->name,
                           length, field->bytes - 1);
    }
    memcpy(text, string, length + 1);
    return 0;
}

const json_t *record_json_object(const json_t *object, const char *name, struct text_error *err)
{
    const json_t *found = json_object_get(object, name);
    if (!json_is_object(found)) {
        record_fail(err, "\"%s\" is missing or no object", name);
        return NULL;
    }
    return found;
}

int record_json_integer(const json_t *value, const char *name, json_int_t min, json_int_t max,
                        json_int_t *number, struct text_error *err)
{
    if (!json_is_integer(value)) {
        return record_fail(err, "\"%s\" is missing or no integer", name);
    }
    *number = json_integer_value(value);
    if (*number < min || *number > max) {
        return record_fail(err,
                           "\"%s\" is %" JSON_INTEGER_FORMAT ", outside %" JSON_INTEGER_FORMAT
                           " to %" JSON_INTEGER_FORMAT,
                           name, *number, min, max);
    }
    return 0;
}

static int read_big(const json_t *value, const char *name, uint64_t *number, struct text_error *err)
{
    const char *string = json_string_value(value);
    if (!string || string[0] == '\0' || strspn(string, "0123456789") != strlen(string)) {
        return record_fail(err, "\"%s\" is missing or no string of digits", name);
    }
    errno = 0;
    const unsigned long long parsed = strtoull(string, NULL, 10);
    if (errno != 0 || parsed > UINT64_MAX) {
        return record_fail(err, "\"%s\" is \"%.30s\", more than 64 bits", name, string);
    }
    *number = parsed;
    return 0;
}

int record_json_real(const json_t *value, const char *name, double *number, struct text_error *err)
{
    if (!json_is_number(value) && !json_is_null(value)) {
        return record_fail(err, "\"%s\" is missing or neither a number nor null", name);
    }
    *number = json_is_null(value) ? NAN : json_number_value(value);
    return 0;
}

void record_json_store(const struct record_field *field, json_int_t number, void *member)
{
    if (field->kind == RECORD_INT) {
        *(int *)member = (int)number;
    } else if (field->kind == RECORD_LONG) {
        *(long *)member = (long)number;
    } else if (field->kind == RECORD_COUNT) {
        *(size_t *)member = (size_t)number;
    } else {
        *(uint64_t *)member = (uint64_t)number;
    }
}

static int read_field(const json_t *value, const struct record_field *field, void *object,
                      struct text_error *err)
{
    void *member = (char *)object + field->offset;
    json_int_t number = 0;
    switch (field->kind) {
    case RECORD_TEXT:
    case RECORD_HASH:
    case RECORD_OPTIONS:
        return read_text(value, field, member, err);
    case RECORD_BOOL:
        if (!json_is_boolean(value)) {
            return record_fail(err, "\"%s\" is missing or neither true nor false", field->name);
        }
        *(bool *)member = json_is_true(value);
        return 0;
    case RECORD_BIG:
        return read_big(value, field->name, member, err);
    case RECORD_REAL:
        return record_json_real(value, field->name, member, err);
    case RECORD_SERIES:
        return record_series_from_json(value, field->name, member, err);
    default:
        break;
    }
    if (record_json_integer(value, field->name, field->min, field->max, &number, err) != 0) {
        return -1;
    }
    record_json_store(field, number, member);
    return 0;
}

int record_json_fields(const json_t *object, const struct record_field *field, void *to,
                       struct text_error *err)
{
    for (; field->name; ++field) {
        const json_t *value = json_object_get(object, field->name);
        const bool here = field->kind != RECORD_NESTED && (value || !field->later);
        if (here &&
            (read_field(value, field, to, err) != 0 || record_check_value(field, to, err) != 0)) {
            return -1;
        }
    }
    return 0;
}
