/* record/document.c: makes values of JSON documents, and prints documents as text. */
#include "record/json.h"

#include <jansson.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "record/record.h"
#include "text/alloc.h"
#include "text/text.h"

void document_use_memory(void)
{
    json_set_alloc_funcs(cli_bytes, free);
}

json_t *value_text(const char *text)
{
    json_t *string = json_string(text);

    return string ? string : json_string("?");
}

json_t *value_cleaned(const char *text)
{
    if (!text)
        return json_null();
    char *copy = cli_copy_text(text);

    text_clean(copy, '?');
    json_t *string = json_string(copy);

    free(copy);
    return string;
}

json_t *value_real(double number)
{
    return isfinite(number) ? json_real(number) : json_null();
}

json_t *value_count(size_t n)
{
    return json_integer((json_int_t)n);
}

json_t *value_key(const struct record_key *key)
{
    json_t *object = json_object();
    char value[128];

    for (const struct record_field *field = record_key_fields; field->name; ++field) {
        if (field->role != RECORD_IDENTITY)
            continue;
        record_show(field, key, value, sizeof value);
        json_object_set_new(object, field->name,
                            field->kind == RECORD_TEXT ? value_text(value)
                                                       : json_integer(strtoll(value, NULL, 10)));
    }
    return object;
}

/* Makes the next value; the letters are those of record/json.h. */
static json_t *value_of(char kind, va_list *values)
{
    const char *text;
    size_t n;

    switch (kind) {
    case 'b':
        return json_boolean(va_arg(*values, int));
    case 'i':
        return json_integer(va_arg(*values, int));
    case 'n':
        return value_count(va_arg(*values, size_t));
    case 'p':
        n = va_arg(*values, size_t);
        return n > 0 ? value_count(n) : json_null();
    case 'r':
        return value_real(va_arg(*values, double));
    case 's':
        return json_string(va_arg(*values, const char *));
    case 't':
        text = va_arg(*values, const char *);
        return text ? value_text(text) : json_null();
    case 'c':
        return value_cleaned(va_arg(*values, const char *));
    case 'k':
        text = va_arg(*values, const char *);
        return value_cleaned(text && text[0] != '\0' ? text : NULL);
    default:
        return va_arg(*values, json_t *);
    }
}

/* Adds members up to the end, or up to a "}", and moves *at there. Returns 0, or -1: a value is
 * NULL. */
static int add_members(json_t *object, const char **at, va_list *values)
{
    int status = 0;

    while (**at != '\0' && **at != '}') {
        const int length = (int)strcspn(*at, ":");
        json_t *value;
        char name[64];

        snprintf(name, sizeof name, "%.*s", length, *at);
        *at += length + 1;
        if (**at == '{') {
            value = json_object();
            ++*at;
            status |= add_members(value, at, values);
        } else {
            value = value_of(**at, values);
        }
        status |= json_object_set_new(object, name, value);
        *at += (*at)[1] == ' ' ? 2 : 1;
    }
    return status;
}

json_t *value_add(json_t *object, const char *members, ...)
{
    va_list values;

    va_start(values, members);
    const int status = add_members(object, &members, &values);

    va_end(values);
    if (status == 0)
        return object;
    json_decref(object);
    return NULL;
}

int document_print(FILE *stream, json_t *root)
{
    char *text = document_text(root, JSON_INDENT(1) | JSON_REAL_PRECISION(12));

    if (!text)
        return -1;
    fprintf(stream, "%s\n", text);
    free(text);
    return 0;
}

char *document_text(json_t *root, size_t flags)
{
    char *text = json_dumps(root, flags | JSON_ENSURE_ASCII);

    json_decref(root);
    return text;
}
