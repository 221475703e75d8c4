/* command/options.c: reads the options of a subcommand by their table. */
#include "command/command.h"

#include <string.h>

#include "text/options.h"

enum { OPTIONS_MOST = 63, KEY_ROW = 600 }; /* each has a bit of command_reading.seen */

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

/* The bit of an option; 0: there is none of that name. */
static uint64_t bit_of(const struct command_reading *reading, const char *name)
{
    const struct command_option *options = reading->syntax->options;

    for (int i = 0; options[i].name; ++i)
        if (strcmp(options[i].name, name) == 0)
            return (uint64_t)1 << i;
    return 0;
}

bool command_seen(const struct argp_state *state, const char *name)
{
    const struct command_reading *reading = state->input;

    return (reading->seen & bit_of(reading, name)) != 0;
}

error_t command_give(const struct argp_state *state, const char *name)
{
    struct command_reading *reading = state->input;

    if (command_seen(state, name))
        return command_bad_option(state, "--%s is given twice", name);
    reading->seen |= bit_of(reading, name);
    return 0;
}

/* An option without a letter has the key of its row. */
static int key_of(const struct command_syntax *syntax, const struct command_option *o)
{
    return o->key != 0 ? o->key : KEY_ROW + (int)(o - syntax->options);
}

static error_t parse_row(int key, char *value, struct argp_state *state)
{
    struct command_reading *reading = state->input;
    const struct command_option *o = reading->syntax->options;

    while (o->name && key != key_of(reading->syntax, o))
        ++o;
    const error_t status = o->name && !o->repeated ? command_give(state, o->name) : 0;
    void *const field = (char *)reading->input + o->offset;
    struct text_error why;

    if (status)
        return status;
    if (o->name && o->repeated)
        reading->seen |= bit_of(reading, o->name);
    if (reading->syntax->files && key == ARGP_KEY_ARG)
        return ARGP_ERR_UNKNOWN; /* all of them come together, as ARGP_KEY_ARGS */
    if (reading->syntax->files && key == ARGP_KEY_ARGS) {
        struct command_files *files = (void *)((char *)reading->input + reading->syntax->files_at);

        *files =
            (struct command_files){state->argv + state->next, (size_t)(state->argc - state->next)};
        return 0;
    }
    switch (o->name ? o->kind : COMMAND_OWN) {
    case COMMAND_FLAG:
        *(bool *)field = true;
        return 0;
    case COMMAND_POINTER:
        *(const char **)field = value;
        return 0;
    case COMMAND_TEXT:
        return value[0] == '\0' ? command_bad_option(state, "--%s is empty", o->name)
                                : command_field(state, o->name, value, field, o->most);
    case COMMAND_SIZE:
        return option_size(value, o->least, o->most, field, &why) == 0
                   ? 0
                   : command_bad_option(state, "--%s: %s", o->name, why.text);
    case COMMAND_REAL:
        return option_real(value, o->from, o->to, field, &why) == 0
                   ? 0
                   : command_bad_option(state, "--%s: %s", o->name, why.text);
    case COMMAND_CHOICE:
        return command_choice(state, o->name, o->name, value, o->names, o->most, field);
    case COMMAND_BACKEND:
        return command_backend(state, o->name, value, field, o->most);
    case COMMAND_COMMUNICATOR:
        return command_communicator(state, o->name, value, field, o->most);
    default:
        return reading->syntax->other ? reading->syntax->other(key, value, state)
                                      : command_key(key, value, state);
    }
}

int command_read(const struct command_syntax *syntax, int argc, char **argv, void *input)
{
    const char *const headings[COMMAND_GROUPS] = {[COMMAND_WHAT] = syntax->what,
                                                  [COMMAND_HOW_LONG] = "How long",
                                                  [COMMAND_WHERE_TO] = "Where to",
                                                  [COMMAND_RARE] = "Rarely needed"};
    struct command_reading reading = {.syntax = syntax, .input = input};
    struct argp_option table[2 * OPTIONS_MOST + COMMAND_GROUPS] = {{0}};
    const struct argp argp = {
        .options = table, .parser = parse_row, .args_doc = syntax->args_doc, .doc = syntax->doc};
    int n = 0;

    for (int group = 0; group < COMMAND_GROUPS; ++group) {
        const char *heading = headings[group];

        for (int i = 0; i < OPTIONS_MOST && syntax->options[i].name; ++i) {
            const struct command_option *o = &syntax->options[i];

            if ((int)o->group != group)
                continue;
            if (heading)
                table[n++] = (struct argp_option){.doc = heading, .group = group};
            heading = NULL;
            table[n] =
                (struct argp_option){.name = o->name, .arg = o->arg, .doc = o->doc, .group = group};
            table[n++].key = key_of(syntax, o);
            if (o->was)
                table[n++] = (struct argp_option){
                    .name = o->was, .flags = OPTION_ALIAS | OPTION_HIDDEN, .group = group};
        }
    }
    return command_parse(&argp, argc, argv, &reading);
}
