/* answer.c: reads fields of an answer, and checks that each is there, of its type and in its
 * range. */
#include "session.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void answer_fault(struct answer *a, const char *format, ...)
{
    char text[sizeof a->fault];
    va_list args;

    if (a->fault[0] != '\0')
        return;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    process_excerpt(text, strlen(text), a->fault, sizeof a->fault);
}

/* Returns the text before the name of a field: "shards[1].", or nothing for a field of the answer
 * itself. */
static const char *dot_after(const char *where)
{
    return where[0] == '\0' ? "" : ".";
}

json_t *answer_field(struct answer *a, const json_t *object, const char *where, const char *name)
{
    json_t *value = json_object_get(object, name);

    if (!value)
        answer_fault(a, "%s%s'%s' is missing", where, where[0] == '\0' ? "" : ": ", name);
    return value;
}

long long answer_int(struct answer *a, const json_t *object, const char *where, const char *name,
                     long long least, long long most)
{
    const json_t *value = answer_field(a, object, where, name);
    const long long number = json_integer_value(value);

    if (!value)
        return least;
    if (!json_is_integer(value)) {
        answer_fault(a, "%s%s%s is not an integer", where, dot_after(where), name);
        return least;
    }
    if (number < least || number > most) {
        answer_fault(a, "%s%s%s is %lld, it must be %lld..%lld", where, dot_after(where), name,
                     number, least, most);
        return least;
    }
    return number;
}

/* Reads digits only, for a number of at most 2^64 - 1. */
static bool read_digits(const char *text, uint64_t *number)
{
    char *end;

    if (!text || text[0] == '\0' || strspn(text, "0123456789") != strlen(text))
        return false;
    errno = 0;
    *number = strtoull(text, &end, 10);
    return errno == 0 && *end == '\0';
}

uint64_t answer_size_of(struct answer *a, const json_t *value, const char *where)
{
    uint64_t number = 0;

    if (json_is_integer(value) && json_integer_value(value) >= 0)
        return (uint64_t)json_integer_value(value);
    if (!json_is_string(value) || !read_digits(json_string_value(value), &number))
        answer_fault(a, "%s is not an integer of 0 or more", where);
    return number;
}

uint64_t answer_size(struct answer *a, const json_t *object, const char *where, const char *name)
{
    const json_t *value = answer_field(a, object, where, name);
    char path[64];

    snprintf(path, sizeof path, "%.30s%s%.30s", where, dot_after(where), name);
    return !value ? 0 : answer_size_of(a, value, path);
}

bool answer_flag(struct answer *a, const json_t *object, const char *where, const char *name)
{
    const json_t *value = answer_field(a, object, where, name);

    if (value && !json_is_boolean(value))
        answer_fault(a, "%s%s%s is not true or false", where, dot_after(where), name);
    return json_is_true(value);
}

void answer_text(struct answer *a, const json_t *object, const char *where, const char *name,
                 char *to, size_t bytes)
{
    const json_t *value = answer_field(a, object, where, name);

    to[0] = '\0';
    if (!value)
        return;
    if (json_is_string(value))
        process_excerpt(json_string_value(value), json_string_length(value), to, bytes);
    else
        answer_fault(a, "%s%s%s is not a text", where, dot_after(where), name);
}

static json_t *list_of(struct answer *a, const json_t *object, const char *where, const char *name)
{
    json_t *value = answer_field(a, object, where, name);

    if (!value || json_is_array(value))
        return value;
    answer_fault(a, "%s%s%s is not a list", where, dot_after(where), name);
    return NULL;
}

json_t *answer_list(struct answer *a, const json_t *object, const char *where, const char *name,
                    size_t n)
{
    json_t *list = list_of(a, object, where, name);

    if (!list || json_array_size(list) == n)
        return list;
    answer_fault(a, "%s%s%s has %zu entries, it must have %zu", where, dot_after(where), name,
                 json_array_size(list), n);
    return NULL;
}

json_t *answer_list_up_to(struct answer *a, const json_t *object, const char *where,
                          const char *name, size_t most)
{
    json_t *list = list_of(a, object, where, name);

    if (!list || json_array_size(list) <= most)
        return list;
    a->room = true;
    return NULL;
}

void answer_dims(struct answer *a, const json_t *object, const char *where, int *ndim, size_t *dim)
{
    const json_t *list = list_of(a, object, where, "dims");
    char path[64];

    *ndim = 0;
    if (!list)
        return;
    if (json_array_size(list) > IMPL_MAX_DIMS) {
        answer_fault(a, "%s%sdims has %zu entries, it may have %d", where, dot_after(where),
                     json_array_size(list), IMPL_MAX_DIMS);
        return;
    }
    *ndim = (int)json_array_size(list);
    for (int i = 0; i < *ndim; ++i) {
        snprintf(path, sizeof path, "%.40s%sdims[%d]", where, dot_after(where), i);
        dim[i] = (size_t)answer_size_of(a, json_array_get(list, (size_t)i), path);
    }
}

enum impl_dtype answer_dtype(struct answer *a, const json_t *object, const char *where)
{
    enum impl_dtype dtype;
    char word[24];

    answer_text(a, object, where, "dtype", word, sizeof word);
    dtype = impl_dtype_of(word);
    if (dtype == IMPL_NONE)
        answer_fault(a, "%s%sdtype '%s' is not a type", where, dot_after(where), word);
    return dtype;
}
