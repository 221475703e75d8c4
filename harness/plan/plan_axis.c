/* plan/plan_axis.c: the values of the axes of a sweep in a plan, in a cell, and in the key of a
 * record. */
#include <stdio.h>
#include <string.h>

#include "command/command.h"
#include "plan/plan.h"
#include "text/options.h"

static size_t n_values_of(const struct plan_option *option, const struct plan_options *plan)
{
    return *(const size_t *)((const char *)plan + option->n_values);
}

bool plan_option_has_values(const struct plan_option *option, const struct plan_options *plan)
{
    return option->values != 0 && n_values_of(option, plan) > 0;
}

static bool has_values(const struct plan_option *option, const struct plan_options *plan,
                       enum cell_mode mode)
{
    return (option->axis.modes & 1u << mode) && n_values_of(option, plan) > 0;
}

size_t plan_axis_count(const struct plan_option *option, const struct plan_options *plan,
                       enum cell_mode mode)
{
    return has_values(option, plan, mode) ? n_values_of(option, plan) : 1;
}

static size_t bytes_of(const struct plan_axis *axis)
{
    return axis->bytes > 0 ? axis->bytes : sizeof(size_t);
}

void plan_axis_choose(const struct plan_option *option, const struct plan_options *plan,
                      enum cell_mode mode, size_t i, struct cell_config *cell)
{
    const size_t bytes = bytes_of(&option->axis);
    const char *values = (const char *)plan + option->values;

    if (has_values(option, plan, mode))
        memcpy((char *)cell + option->axis.in_cell, values + i * bytes, bytes);
}

bool plan_axis_has_numbers(const struct plan_axis *axis)
{
    return axis->modes != 0 && axis->bytes == 0;
}

size_t plan_axis_number(const struct plan_axis *axis, const void *object, size_t place)
{
    return axis->bytes > 0 ? 0 : *(const size_t *)(const void *)((const char *)object + place);
}

void plan_axis_text(const struct plan_axis *axis, const void *object, size_t place, char *text,
                    size_t bytes)
{
    if (axis->bytes > 0)
        snprintf(text, bytes, "%s", (const char *)object + place);
    else
        snprintf(text, bytes, "%zu", plan_axis_number(axis, object, place));
}

void plan_axes_words(const struct record_key *key, const char *before, bool all,
                     char text[PLAN_AXES_TEXT])
{
    text[0] = '\0';
    for (size_t i = 0; i < PLAN_OPTIONS; ++i) {
        const struct plan_option *option = &plan_option_table[i];
        const struct plan_axis *axis = &option->axis;
        const bool shown = plan_axis_has_numbers(axis) && (all || !axis->nameless);
        const size_t number = shown ? plan_axis_number(axis, key, axis->in_key) : 0;

        if (number > 0)
            text_add(text, PLAN_AXES_TEXT, "%s%s %zu", before, option->name, number);
    }
}

int plan_axis_read(const struct plan_axis *axis, const char *value, struct cell_config *cell)
{
    char *place = (char *)cell + axis->in_cell;
    struct text_error why;

    return axis->bytes > 0 ? command_copy(place, axis->bytes, value)
                           : option_size(value, 0, SIZE_MAX / 4, (size_t *)(void *)place, &why);
}

void plan_axis_copy(const struct plan_axis *axis, const struct cell_config *cell,
                    struct record_key *key)
{
    memcpy((char *)key + axis->in_key, (const char *)cell + axis->in_cell, bytes_of(axis));
}
