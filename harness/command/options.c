/* command/options.c: reads the options of a subcommand by their table. */
#include "command/backend.h"
#include "command/command.h"

#include <string.h>

enum { OPTIONS_MOST = 63 }; /* each has a bit of command_reading.seen */

/* The object that argp hands to the parser. */
struct command_reading {
    const struct command_syntax *syntax;
    void *input;
    uint64_t seen;
};

void *command_input(const struct argp_state *state)
{
    const struct command_reading *reading = state->input;

    return reading->input;
}

bool command_seen(const struct argp_state *state, const char *name)
{
    const struct command_reading *reading = state->input;

    for (int i = 0; reading->syntax->options[i].name; ++i)
        if (strcmp(reading->syntax->options[i].name, name) == 0)
            return (reading->seen >> i & 1) != 0;
    return false;
}

static error_t read_value(const struct command_option *o, char *value, void *field,
                          const struct argp_state *state)
{
    switch (o->kind) {
    case COMMAND_FLAG:
        *(bool *)field = true;
        return 0;
    case COMMAND_POINTER:
        *(const char **)field = value;
        return 0;
    case COMMAND_TEXT:
        return command_field(state, o->name, value, field, o->most);
    case COMMAND_SIZE:
        return command_size(state, o->name, value, o->least, o->most, field);
    case COMMAND_REAL:
        return command_real(state, o->name, value, o->from, o->to, field);
    case COMMAND_CHOICE:
        return command_choice(state, o->name, o->name, value, o->names, o->most, field);
    case COMMAND_BACKEND:
        return command_backend(state, o->name, value, field, o->most);
    default:
        return command_communicator(state, o->name, value, field, o->most);
    }
}

static error_t parse_row(int key, char *value, struct argp_state *state)
{
    struct command_reading *reading = state->input;
    const struct command_option *o = reading->syntax->options;

    while (o->name && o->key != key)
        ++o;
    if (o->name) {
        const uint64_t bit = (uint64_t)1 << (o - reading->syntax->options);

        if (!o->repeated && (reading->seen & bit))
            return command_bad_option(state, "--%s is given twice", o->name);
        reading->seen |= bit;
        if (o->kind != COMMAND_OWN)
            return read_value(o, value, (char *)reading->input + o->offset, state);
    }
    return reading->syntax->other ? reading->syntax->other(key, value, state)
                                  : command_key(key, value, state);
}

int command_read(const struct command_syntax *syntax, int argc, char **argv, void *input)
{
    struct command_reading reading = {.syntax = syntax, .input = input};
    struct argp_option table[OPTIONS_MOST + 1] = {{0}};
    const struct argp argp = {
        .options = table, .parser = parse_row, .args_doc = syntax->args_doc, .doc = syntax->doc};

    for (int i = 0; i < OPTIONS_MOST && syntax->options[i].name; ++i) {
        const struct command_option *o = &syntax->options[i];

        table[i] =
            (struct argp_option){.name = o->name, .key = o->key, .arg = o->arg, .doc = o->doc};
    }
    return command_parse(&argp, argc, argv, &reading);
}
