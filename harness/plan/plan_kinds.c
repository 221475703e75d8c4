/* plan/plan_kinds.c: reads and writes the options of each kind: texts, lists of numbers, lists of
 * names, and choices of two. */
#include "plan/plan.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "command/command.h"
#include "text/options.h"

void plan_add(struct plan_line *line, const char *name, const char *format, ...)
{
    char value[sizeof((struct record_run *)0)->command];
    va_list args;

    va_start(args, format);
    const int length = vsnprintf(value, sizeof value, format, args);
    va_end(args);
    const int n = snprintf(line->text + line->used, line->bytes - line->used, "%s--%s %s",
                           line->used > 0 ? " " : "", name, value);

    if (length < 0 || (size_t)length >= sizeof value || n < 0 ||
        (size_t)n >= line->bytes - line->used)
        line->full = true;
    else
        line->used += (size_t)n;
}

/* ---- texts ----------------------------------------------------------------------------------- */

int plan_read_text(const struct plan_option *option, const char *value, struct plan_options *plan,
                   struct text_error *why)
{
    if (command_copy((char *)plan + option->text, option->text_bytes, value) == 0)
        return 0;
    return text_fail(why, "longer than %zu characters", option->text_bytes - 1);
}

void plan_write_text(const struct plan_option *option, const struct plan_options *plan,
                     struct plan_line *line)
{
    plan_add(line, option->name, "%s", (const char *)plan + option->text);
}

/* ---- lists of numbers ------------------------------------------------------------------------ */

int plan_read_list(const struct plan_option *option, const char *value, struct plan_options *plan,
                   struct text_error *why)
{
    return option_sizes(value, option->min, option->max, (size_t *)((char *)plan + option->values),
                        option->room, (size_t *)((char *)plan + option->n_values), why);
}

/* Writes a list of numbers, or of names. */
void plan_write_list(const struct plan_option *option, const struct plan_options *plan,
                     struct plan_line *line)
{
    const char *values = (const char *)plan + option->values;
    const size_t n = *(const size_t *)((const char *)plan + option->n_values);
    const size_t bytes = option->axis.bytes;
    char text[sizeof((struct record_run *)0)->command] = "";
    size_t used = 0;

    for (size_t i = 0; i < n && used < sizeof text; ++i) {
        const char *comma = i == 0 ? "" : ",";
        char *at = text + used;

        used +=
            (size_t)(bytes > 0 ? snprintf(at, sizeof text - used, "%s%s", comma, values + i * bytes)
                               : snprintf(at, sizeof text - used, "%s%zu", comma,
                                          ((const size_t *)(const void *)values)[i]));
    }
    if (used >= sizeof text)
        line->full = true;
    else if (n > 0)
        plan_add(line, option->name, "%s", text);
}

/* ---- lists of names -------------------------------------------------------------------------- */

int plan_read_names(const struct plan_option *option, const char *value, struct plan_options *plan,
                    struct text_error *why)
{
    size_t *n = (size_t *)((char *)plan + option->n_values);
    const size_t bytes = option->axis.bytes;
    char *names = (char *)plan + option->values;

    for (const char *name = value;; ++name) {
        const size_t length = strcspn(name, ",");

        if (length == 0 || length >= bytes)
            return text_fail(why, "'%.40s' is no list of names", name);
        if (*n == option->room)
            return text_fail(why, "at most %zu are allowed", option->room);
        for (size_t i = 0; i < *n; ++i)
            if (strlen(names + i * bytes) == length && memcmp(names + i * bytes, name, length) == 0)
                return text_fail(why, "%.*s is given twice", (int)length, name);
        memcpy(names + *n * bytes, name, length);
        names[*n * bytes + length] = '\0';
        ++*n;
        name += length;
        if (*name == '\0')
            return 0;
    }
}

/* ---- choices --------------------------------------------------------------------------------- */

int plan_read_choice(const struct plan_option *option, const char *value, struct plan_options *plan,
                     struct text_error *why)
{
    size_t index = 0;
    const int status = option_name(option->what, value, option->choices, 2, &index, why);

    *(bool *)((char *)plan + option->flag) = index == 1;
    return status;
}

void plan_write_choice(const struct plan_option *option, const struct plan_options *plan,
                       struct plan_line *line)
{
    const bool second = *(const bool *)((const char *)plan + option->flag);

    plan_add(line, option->name, "%s", option->choices[second]);
}

void plan_write_second(const struct plan_option *option, const struct plan_options *plan,
                       struct plan_line *line)
{
    if (*(const bool *)((const char *)plan + option->flag))
        plan_write_choice(option, plan, line);
}
