/* analysis/members.c: reads the members of JSON files that are no records. The first fault counts,
 * so a reader asks once, at its end, whether there was one. */
#include "analysis/analysis.h"

#include <math.h>
#include <stdarg.h>

#include "record/json.h"

void member_fault(struct text_error *err, const char *format, ...)
{
    va_list args;

    if (err->text[0] != '\0')
        return;
    va_start(args, format);
    vsnprintf(err->text, sizeof err->text, format, args);
    va_end(args);
    text_clean(err->text, ' ');
}

void member_text(const json_t *object, const char *key, char *text, size_t bytes,
                 struct text_error *err)
{
    const json_t *member = json_object_get(object, key);
    const char *value = json_string_value(member);

    text[0] = '\0';
    if (!value || json_string_length(member) >= bytes) {
        member_fault(err, "'%s' is missing, no text, or longer than %zu bytes", key, bytes - 1);
        return;
    }
    snprintf(text, bytes, "%s", value);
    text_clean(text, ' ');
}

void member_texts(const json_t *object, const struct member_text texts[], size_t n, void *to,
                  struct text_error *err)
{
    for (size_t i = 0; i < n; ++i) {
        const json_t *value = json_object_get(object, texts[i].key);

        if (!texts[i].optional || (value && !json_is_null(value)))
            member_text(object, texts[i].key, (char *)to + texts[i].at, texts[i].bytes, err);
    }
}

size_t member_count(const json_t *object, const char *key, long long min, long long max,
                    struct text_error *err)
{
    const json_t *value = json_object_get(object, key);

    if (json_is_integer(value) && json_integer_value(value) >= min &&
        json_integer_value(value) <= max)
        return (size_t)json_integer_value(value);
    member_fault(err, "'%s' is missing or no whole number of %lld to %lld", key, min, max);
    return 0;
}

double member_number(const json_t *value, const char *key, double least, double most,
                     struct text_error *err)
{
    const double number = json_number_value(value);

    if (json_is_number(value) && isfinite(number) && number >= least && number <= most)
        return number;
    if (isfinite(most))
        member_fault(err, "'%s' is missing or no number of %g to %g", key, least, most);
    else
        member_fault(err, "'%s' is missing or no number of %g or more", key, least);
    return NAN;
}

bool member_flag(const json_t *object, const char *key, struct text_error *err)
{
    const json_t *value = json_object_get(object, key);

    if (!json_is_boolean(value))
        member_fault(err, "'%s' is missing or neither true nor false", key);
    return json_is_true(value);
}

size_t member_list(const json_t *object, const char *key, size_t min, size_t max,
                   const json_t **list, struct text_error *err)
{
    *list = json_object_get(object, key);
    if (json_is_array(*list) && json_array_size(*list) >= min && json_array_size(*list) <= max)
        return json_array_size(*list);
    member_fault(err, "'%s' is missing or no list of %zu to %zu", key, min, max);
    return 0;
}
