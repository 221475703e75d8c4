/* record/document.c: makes values of JSON documents, and prints documents as text. */
#include "record/json.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>

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
