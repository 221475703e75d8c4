/* record/plan_kinds.c: how options of one kind are read and written: texts, lists of numbers,
 * choices of two; and the values of the axes among the lists. */
#include "record/plan_kinds.h"

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
    snprintf(why->text, sizeof why->text, "longer than %zu characters", option->text_bytes - 1);
    return -1;
}

void plan_write_text(const struct plan_option *option, const struct plan_options *plan,
                     struct plan_line *line)
{
    plan_add(line, option->name, "%s", (const char *)plan + option->text);
}

/* ---- lists of numbers ------------------------------------------------------------------------ */

static const size_t *values_of(const struct plan_option *option, const struct plan_options *plan)
{
    return (const size_t *)((const char *)plan + option->values);
}

static size_t n_values_of(const struct plan_option *option, const struct plan_options *plan)
{
    return *(const size_t *)((const char *)plan + option->n_values);
}

int plan_read_list(const struct plan_option *option, const char *value, struct plan_options *plan,
                   struct text_error *why)
{
    return option_sizes(value, option->min, option->max, (size_t *)((char *)plan + option->values),
                        option->room, (size_t *)((char *)plan + option->n_values), why);
}

void plan_write_list(const struct plan_option *option, const struct plan_options *plan,
                     struct plan_line *line)
{
    const size_t *values = values_of(option, plan), n = n_values_of(option, plan);
    char text[sizeof((struct record_run *)0)->command] = "";
    size_t used = 0;

    for (size_t i = 0; i < n && used < sizeof text; ++i)
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%zu", i == 0 ? "" : ",",
                                 values[i]);
    if (used >= sizeof text)
        line->full = true;
    else if (n > 0)
        plan_add(line, option->name, "%s", text);
}

bool plan_option_has_values(const struct plan_option *option, const struct plan_options *plan)
{
    return option->values != 0 && n_values_of(option, plan) > 0;
}

size_t plan_axis_count(const struct plan_option *option, const struct plan_options *plan,
                       enum cell_mode mode)
{
    const size_t n = option->axis.modes & 1u << mode ? n_values_of(option, plan) : 0;

    return n > 0 ? n : 1;
}

size_t plan_axis_value(const struct plan_option *option, const struct plan_options *plan,
                       enum cell_mode mode, size_t i)
{
    const bool has = (option->axis.modes & 1u << mode) && n_values_of(option, plan) > 0;

    return has ? values_of(option, plan)[i] : 0;
}

size_t plan_axis_get(const void *object, size_t place)
{
    return *(const size_t *)((const char *)object + place);
}

void plan_axis_set(void *object, size_t place, size_t value)
{
    *(size_t *)((char *)object + place) = value;
}

/* ---- choices --------------------------------------------------------------------------------- */

static bool *flag_of(const struct plan_option *option, struct plan_options *plan)
{
    return (bool *)((char *)plan + option->flag);
}

int plan_read_choice(const struct plan_option *option, const char *value, struct plan_options *plan,
                     struct text_error *why)
{
    size_t index = 0;
    const int status = option_name(option->what, value, option->choices, 2, &index, why);

    *flag_of(option, plan) = index == 1;
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
