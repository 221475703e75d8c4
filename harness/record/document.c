/* record/document.c: makes values of JSON documents, and prints documents as text. */
#include "record/document.h"

#include <jansson.h>
#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "record/record.h"
#include "text/text.h"

json_t *value_text(const char *text)
{
    json_t *string = json_string(text);

    return string ? string : json_string("?");
}

json_t *value_cleaned(const char *text)
{
    json_malloc_t allocate;
    json_free_t release;

    if (!text)
        return json_null();
    json_get_alloc_funcs(&allocate, &release); /* the allocator notes there that memory is short */
    char *copy = allocate(strlen(text) + 1);
    json_t *string = NULL;

    if (copy) {
        text_clean(strcpy(copy, text), '?');
        string = json_string(copy);
    }
    release(copy);
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
    char *text = record_memory_text(root, JSON_INDENT(1) | JSON_REAL_PRECISION(12));

    if (!text)
        return -1;
    fprintf(stream, "%s\n", text);
    free(text);
    return 0;
}

/* ---- memory ---------------------------------------------------------------------------------- */

/* It is global: jansson gives its allocator no argument through which it could find an object of
 * the caller. */
static atomic_bool failed;

static void *allocate(size_t bytes)
{
    void *memory = malloc(bytes);

    if (!memory)
        failed = true;
    return memory;
}

void record_memory_watch(void)
{
    json_set_alloc_funcs(allocate, free);
}

bool record_memory_failed(void)
{
    return failed;
}

char *record_memory_text(struct json_t *root, size_t flags)
{
    char *text = !root ? NULL : json_dumps(root, flags | JSON_ENSURE_ASCII);

    json_decref(root);
    if (failed) {
        free(text);
        return NULL;
    }
    return text;
}
