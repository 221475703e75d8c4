/* plan/plan_axis.c: the values of the axes of a sweep in a plan, in a cell, and in the key of a
 * record; and the table of the options of a worker. */
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
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
    return option->n_values != 0 && n_values_of(option, plan) > 0;
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
    const char *values = (const char *)plan + option->place;

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

void plan_axis_copy(const struct plan_axis *axis, const struct cell_config *cell,
                    struct record_key *key)
{
    memcpy((char *)key + axis->in_key, (const char *)cell + axis->in_cell, bytes_of(axis));
}

/* ---- options of a worker --------------------------------------------------------------------- */

/* An EXTRA is left out if it is 0, like the value of an axis, because older programs do not know
 * it. */
enum kind { TEXT, SIZE, INTEGER, NUMBER, SECONDS, EXTRA, FLAG, WORKLOAD, MATH, MODE };

static const struct field {
    const char *name, *value;
    enum kind kind;
    /* Offset in struct cell_config, and the size of a text or the largest number. */
    size_t place, most;
} fields[CELL_FIELDS] = {
#define PLACE(member) offsetof(struct cell_config, member)
#define BYTES(member) sizeof((struct cell_config *)0)->member
    {"workload", "NAME", WORKLOAD, PLACE(workload), 0},
    {"devices", "LIST", TEXT, PLACE(devices), BYTES(devices)},
    {"count", "K", INTEGER, PLACE(n_devices), DP_MAX_SLOTS},
    {"backend", "NAME", TEXT, PLACE(backend), BYTES(backend)},
    {"math", "NAME", MATH, PLACE(math), 0},
    {"mode", "NAME", MODE, PLACE(mode), 0},
    {"rows", "N", SIZE, PLACE(rows), SIZE_MAX / 4},
    {"seed", "S", NUMBER, PLACE(seed), 0},
    {"seconds", "T", SECONDS, PLACE(limits.seconds), 0},
    {"min-steps", "N", SIZE, PLACE(limits.min_steps), SIZE_MAX / 4},
    {"max-steps", "N", SIZE, PLACE(limits.max_steps), SIZE_MAX / 4},
    {"warmup-steps", "N", SIZE, PLACE(limits.warmup_steps), CELL_WARMUP_MAX},
    {"warmup-seconds", "T", SECONDS, PLACE(limits.warmup_seconds), 0},
    {"order", "I", SIZE, PLACE(order_index), SIZE_MAX / 4},
    {"launch", "L", INTEGER, PLACE(launch), INT_MAX},
    {"run-id", "ID", TEXT, PLACE(run_id), BYTES(run_id)},
    {"bind-cores", NULL, FLAG, PLACE(bind), 0},
    {"no-graphs", NULL, FLAG, PLACE(no_graphs), 0},
    {"phases-apart", NULL, FLAG, PLACE(phases_apart), 0},
    {"trace", NULL, FLAG, PLACE(trace), 0},
    {"parts", "T", EXTRA, PLACE(parts), 0},
    {"timeout", "S", EXTRA, PLACE(timeout), 0},
};

static const struct plan_option *axis_of(size_t i)
{
    const struct plan_option *option = i < CELL_FIELDS ? NULL : &plan_option_table[i - CELL_FIELDS];

    return option && option->axis.modes != 0 ? option : NULL;
}

const char *cell_option_name(size_t i)
{
    const struct plan_option *axis = axis_of(i);

    return i < CELL_FIELDS ? fields[i].name : axis ? axis->name : "";
}

const char *cell_option_value(size_t i)
{
    return i < CELL_FIELDS ? fields[i].value : "N";
}

bool cell_option_write(size_t i, const struct cell_config *config, char value[CELL_VALUE_BYTES])
{
    const struct plan_option *option = axis_of(i);
    const struct field *field = &fields[i < CELL_FIELDS ? i : 0];
    const char *place = (const char *)config + field->place;

    value[0] = '\0';
    if (i >= CELL_FIELDS) {
        if (!option || !(option->axis.modes & 1u << config->mode))
            return false;
        plan_axis_text(&option->axis, config, option->axis.in_cell, value, CELL_VALUE_BYTES);
        return option->axis.bytes > 0 || strcmp(value, "0") != 0;
    }
    switch (field->kind) {
    case WORKLOAD:
        snprintf(value, CELL_VALUE_BYTES, "%s", config->workload.name);
        return config->workload.n_sizes > 0;
    case TEXT:
        snprintf(value, CELL_VALUE_BYTES, "%s", place);
        break;
    case SIZE:
        snprintf(value, CELL_VALUE_BYTES, "%zu", *(const size_t *)(const void *)place);
        break;
    case INTEGER:
        snprintf(value, CELL_VALUE_BYTES, "%d", *(const int *)(const void *)place);
        break;
    case NUMBER:
        snprintf(value, CELL_VALUE_BYTES, "%" PRIu64, *(const uint64_t *)(const void *)place);
        break;
    case SECONDS:
    case EXTRA:
        snprintf(value, CELL_VALUE_BYTES, "%g", *(const double *)(const void *)place);
        return field->kind == SECONDS || *(const double *)(const void *)place > 0;
    case MATH:
        snprintf(value, CELL_VALUE_BYTES, "%s", dp_math_name(config->math));
        break;
    case MODE:
        snprintf(value, CELL_VALUE_BYTES, "%s", cell_mode_names[config->mode]);
        break;
    default:
        return *(const bool *)place;
    }
    return true;
}

int cell_option_read(size_t i, const char *value, struct cell_config *config)
{
    const struct plan_option *option = axis_of(i);
    const struct field *field = &fields[i < CELL_FIELDS ? i : 0];
    char *place = (char *)config + field->place;
    struct text_error why;
    size_t number = 0;
    int status = 0;

    if (i >= CELL_FIELDS && !option)
        return -1;
    if (i >= CELL_FIELDS) {
        const size_t bytes = option->axis.bytes;

        place = (char *)config + option->axis.in_cell;
        return bytes > 0 ? command_copy(place, bytes, value)
                         : option_size(value, 0, SIZE_MAX / 4, (size_t *)(void *)place, &why);
    }
    switch (field->kind) {
    case TEXT:
        return command_copy(place, field->most, value);
    case SIZE:
        return option_size(value, 0, field->most, (size_t *)(void *)place, &why);
    case INTEGER:
        status = option_size(value, 0, field->most, &number, &why);
        *(int *)(void *)place = (int)number;
        return status;
    case NUMBER:
        *(uint64_t *)(void *)place = strtoull(value, NULL, 10);
        return 0;
    case SECONDS:
    case EXTRA:
        *(double *)(void *)place = strtod(value, NULL);
        return 0;
    case FLAG:
        *(bool *)place = true;
        return 0;
    case WORKLOAD:
        return workload_parse(value, &config->workload, why.text, sizeof why.text);
    case MATH:
        for (config->math = 0; config->math < DP_MATHS; ++config->math)
            if (strcmp(value, dp_math_name(config->math)) == 0)
                return 0;
        return -1;
    default:
        for (config->mode = 0; config->mode < CELL_MODES; ++config->mode)
            if (strcmp(value, cell_mode_names[config->mode]) == 0)
                return 0;
        return -1;
    }
}
