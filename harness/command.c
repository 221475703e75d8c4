/* command.c: helpers of the subcommands. Every complaint is one line on stderr. */
#include "command.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int command_parse(const struct argp *argp, int argc, char **argv, void *input)
{
    return argp_parse(argp, argc, argv, 0, NULL, input) == 0 ? 0 : EXIT_MISUSE;
}

error_t command_key(int key, char *arg, struct argp_state *state)
{
    switch (key) {
    case ARGP_KEY_INIT:
        /* getopt has already written its line; argp would add "Try --help" and exit. */
        state->err_stream = NULL;
        return 0;
    case ARGP_KEY_ARG:
        return command_bad_option(state, "unexpected argument '%.60s'", arg);
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

error_t command_bad_option(const struct argp_state *state, const char *format, ...)
{
    char text[512];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    /* The text may quote the command line: it must stay one line. */
    for (char *c = text; *c != '\0'; c++)
        *c = iscntrl((unsigned char)*c) ? '?' : *c;
    fprintf(stderr, "%s: %s\n", state->name, text);
    return EINVAL;
}

int command_copy(char *field, size_t bytes, const char *value)
{
    const size_t length = strlen(value);

    if (length >= bytes)
        return -1;
    memcpy(field, value, length + 1);
    return 0;
}

static int ends_with(const char *text, const char *end)
{
    const size_t length = strlen(text), tail = strlen(end);

    return length >= tail && strcmp(text + length - tail, end) == 0;
}

int command_core_error(const char *command, const struct dp_error *err)
{
    fprintf(stderr, "%s: %s\n", command, err->text);
    return err->status == DP_EINVAL ? EXIT_MISUSE : EXIT_FAILED;
}

int command_open_group(const char *command, const struct dp_group_config *config,
                       struct dp_group **group)
{
    struct dp_error err = {0};
    const int rc = dp_group_open(config, group, &err);

    if (rc == 0)
        return 0;
    const int status = command_core_error(command, &err);

    /* "all" of a kind that is not here is nothing to do; a numbered device is missing. */
    return rc == DP_ENODEV && ends_with(config->devices, ":all") ? EXIT_SKIPPED : status;
}

void command_default_devices(char *field, size_t bytes)
{
    struct dp_machine machine;
    struct dp_error err = {0};
    int cores = 1;

    if (dp_machine_read(&machine, &err) == 0 && machine.usable_cores > 0)
        cores = machine.usable_cores;
    snprintf(field, bytes, "virt:%d", cores < DP_MAX_SLOTS ? cores : DP_MAX_SLOTS);
}
