/* command/backend.c: see command/command.h. */
#include "command/command.h"

#include "text/options.h"

#include <string.h>

enum { NAMES = 16 };

int command_backend_name(const char *what, const char *value, struct text_error *why)
{
    const char *names[NAMES];
    struct dp_backend_row row;
    size_t n = 0, index;

    for (; n < NAMES && dp_backends((int)n, &row); ++n)
        names[n] = row.name;
    return option_name(what, value, names, n, &index, why);
}

int command_communicator_name(const char *what, const char *value, struct text_error *why)
{
    const char *names[NAMES];
    struct dp_communicator_row row;
    size_t n = 0, index;

    for (; n < NAMES && dp_communicators((int)n, &row); ++n)
        names[n] = row.name;
    return option_name(what, value, names, n, &index, why);
}

/* A name that there is may still be longer than where it goes. */
static error_t take(const struct argp_state *state, const char *option, const char *value,
                    int (*name)(const char *what, const char *value, struct text_error *why),
                    char *field, size_t bytes)
{
    struct text_error why = {""};

    if (name(option, value, &why) != 0)
        return command_bad_option(state, "--%s: %s", option, why.text);
    return command_field(state, option, value, field, bytes);
}

error_t command_backend(const struct argp_state *state, const char *option, const char *value,
                        char *field, size_t bytes)
{
    return take(state, option, value, command_backend_name, field, bytes);
}

error_t command_communicator(const struct argp_state *state, const char *option, const char *value,
                             char *field, size_t bytes)
{
    return take(state, option, value, command_communicator_name, field, bytes);
}

const char *command_given(const char *text)
{
    return text[0] != '\0' ? text : NULL;
}

const char *command_default_backend(const char *devices)
{
    struct dp_backend_row row, first = {.name = ""};
    struct dp_kind_row kind;
    const bool known = dp_kind_of(devices, &kind);

    dp_backends(0, &first);
    for (int i = 0; known && dp_backends(i, &row); ++i)
        if (strcmp(row.kind, kind.name) == 0)
            return row.name;
    return first.name;
}

int command_check_communicator(const char *command, const char *communicator, const char *backend,
                               const char *devices, unsigned can)
{
    const int log = command_check_nccl_log(command, communicator);
    struct dp_error err = {0};

    if (log)
        return log;
    if (dp_communicator_check(command_given(communicator), command_given(backend), devices, can,
                              &err) == 0)
        return 0;
    return command_core_error(command, &err);
}
