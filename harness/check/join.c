/* check/join.c: field by field. An array of a rank is null in the answers of all processes but
 * one, or in all. */
#include "check/operations.h"

#include <string.h>

static json_t *field(json_t *const answers[], int p, const char *name)
{
    return json_object_get(json_object_get(answers[p], "ok"), name);
}

int join_failed(json_t *const answers[], int n)
{
    int found = -1;

    for (int p = n - 1; p >= 0; --p) {
        const json_t *error = json_object_get(answers[p], "error");
        const char *text = json_string_value(json_object_get(error, "text"));

        if (text && (found < 0 || !strstr(text, " has given up")))
            found = p;
    }
    return found;
}

/* 0, or -1 without memory. NULL is a value that could not be made. */
static int put(json_t *object, const char *name, json_t *value)
{
    return value ? json_object_set_new(object, name, value) : -1;
}

/* ---- arrays ---------------------------------------------------------------------------------- */

static int join_array(json_t *ok, json_t *const answers[], int n)
{
    json_t *found = json_object_get(ok, "array");

    for (int p = 1; p < n && json_is_null(found); ++p)
        found = field(answers, p, "array");
    return found ? json_object_set(ok, "array", found) : 0;
}

/* Entry i of lists of so many. */
static json_t *entry(json_t *const answers[], int n, const char *name, size_t count, size_t i)
{
    for (int p = 0; p < n; ++p) {
        const json_t *list = field(answers, p, name);
        json_t *value = json_array_size(list) == count ? json_array_get(list, i) : NULL;

        if (value && !json_is_null(value))
            return json_incref(value);
    }
    return json_null();
}

/* Of a process none of whose ranks took part the list is empty. */
static int join_list(json_t *ok, json_t *const answers[], int n, const char *name)
{
    json_t *joined = json_object_get(ok, name) ? json_array() : NULL;
    size_t count = 0;

    if (!json_object_get(ok, name))
        return 0;
    for (int p = 0; p < n; ++p) {
        const size_t size = json_array_size(field(answers, p, name));

        count = size > count ? size : count;
    }
    for (size_t i = 0; joined && i < count; ++i)
        if (json_array_append_new(joined, entry(answers, n, name, count, i))) {
            json_decref(joined);
            return -1;
        }
    return put(ok, name, joined);
}

static int join_count(json_t *ok, json_t *const answers[], int n)
{
    json_int_t most = 0;

    if (!json_object_get(ok, "n_out"))
        return 0;
    for (int p = 0; p < n; ++p) {
        const json_int_t count = json_integer_value(field(answers, p, "n_out"));

        most = count > most ? count : most;
    }
    return put(ok, "n_out", json_integer(most));
}

/* ---- traces ---------------------------------------------------------------------------------- */

/* Ranks one behind the other; the rest of a trace is the first process's. */
static int join_trace(json_t *ok, json_t *const answers[], int n)
{
    json_t *replicas = json_object_get(json_object_get(ok, "trace"), "replicas");

    for (int p = 1; replicas && p < n; ++p) {
        json_t *more = json_object_get(field(answers, p, "trace"), "replicas");

        if (more && json_array_extend(replicas, more))
            return -1;
    }
    return 0;
}

json_t *join_answers(json_t *const answers[], int n)
{
    json_t *ok = json_object_get(answers[0], "ok");
    const int failed = join_failed(answers, n);

    if (failed >= 0)
        return json_incref(answers[failed]);
    for (int p = 0; p < n; ++p)
        if (!json_object_get(answers[p], "ok"))
            return NULL;
    return join_array(ok, answers, n) || join_count(ok, answers, n) ||
                   join_list(ok, answers, n, "out") || join_list(ok, answers, n, "grad_in") ||
                   join_trace(ok, answers, n)
               ? NULL
               : json_incref(answers[0]);
}
