/* command/command.c: helpers of the subcommands. Every complaint is one line on stderr. */
#include "command/command.h"
#include "command/device_list.h"

#include "text/options.h"
#include "text/text.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KEY_USAGE = 1024, COLUMNS = 80 };

static void write_complaint(const char *command, const char *format, va_list args)
{
    char text[1024];

    vsnprintf(text, sizeof text, format, args);
    fprintf(stderr, "%s: ", command);
    text_write(stderr, TEXT_PLAIN, text, sizeof text);
    fputc('\n', stderr);
}

void command_complain(const char *command, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    write_complaint(command, format, args);
    va_end(args);
}

int command_refuse(const char *command, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    write_complaint(command, format, args);
    va_end(args);
    return EXIT_MISUSE;
}

int command_refuse_call(const char *command, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    write_complaint(command, format, args);
    va_end(args);
    return command_misuse(command);
}

void command_wrap(FILE *stream, const char *text, size_t used, size_t indent, size_t columns)
{
    char others[81];

    snprintf(others, sizeof others, "%*s", (int)indent, "");
    text_wrap(stream, TEXT_PLAIN, text, columns > used ? columns - used : 1, others, columns);
}

void command_say(FILE *stream, size_t indent, const char *format, ...)
{
    char text[2048];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    command_wrap(stream, text, 0, indent, COLUMNS);
}

void command_say_each(FILE *stream, const char *text)
{
    size_t indent = 0;

    while (*text != '\0') {
        char line[2048];
        size_t n = 0;

        for (int depth = 0; text[n] != '\0'; ++n) { /* depth: parentheses have a ";", too */
            depth += (text[n] == '(') - (text[n] == ')');
            if (n > 0 && depth == 0 && text[n] == ' ' && strchr(".;", text[n - 1]))
                break;
        }
        snprintf(line, sizeof line, "%.*s", (int)n, text);
        fprintf(stream, "%*s", (int)indent, "");
        command_wrap(stream, line, indent, indent + 2, COLUMNS);
        indent = n > 0 && text[n - 1] == ';' ? 4 : 2;
        text += n + strspn(text + n, " ");
    }
}

/* As argp's own, which knows no -h. */
const struct argp_option command_always[] = {
    {.name = "help", .key = 'h', .doc = "show all options, and exit"},
    {.name = "usage", .key = KEY_USAGE, .doc = "show a short summary, and exit"},
    {.key = '?', .flags = OPTION_HIDDEN},
    {0}};

bool command_is_always(const char *argument)
{
    return text_has_word("--help -h --usage --dump-options", argument);
}

/* The program ends after any of these. */
static error_t parse_always(int key, char *arg, struct argp_state *state)
{
    (void)arg;
    if (key == 'h' || key == '?') {
        command_help(state->root_argp, state->name);
        exit(EXIT_PASSED);
    }
    if (key == KEY_USAGE)
        argp_state_help(state, stdout, ARGP_HELP_USAGE | ARGP_HELP_EXIT_OK);
    return ARGP_ERR_UNKNOWN;
}

int command_misuse(const char *command)
{
    fprintf(stderr, "Try '%s --help' for more information.\n", command);
    return EXIT_MISUSE;
}

int command_parse(const struct argp *argp, int argc, char **argv, void *input)
{
    static const struct argp always = {.options = command_always, .parser = parse_always};
    static const struct argp_child children[] = {{.argp = &always}, {0}};
    const bool dumps = argc > 1 && strcmp(argv[argc - 1], "--dump-options") == 0;
    struct argp whole = *argp;
    error_t status = 0;

    for (int i = 1; i < argc; ++i) {
        if (!text_is_clean(argv[i]))
            return command_refuse(
                argv[0], "'%.60s' has control or invisible characters, or is not UTF-8", argv[i]);
    }
    whole.children = children;
    if (!dumps || argc > 2)
        status = argp_parse(&whole, argc - dumps, argv, ARGP_NO_HELP, NULL, input);
    if (status == 0 && dumps) {
        command_dump(argp);
        exit(EXIT_PASSED);
    }
    if (status == 0)
        return 0;
    if (status != ENOMEM) /* its only error without a line */
        return command_misuse(argv[0]);
    return command_refuse(argv[0], "out of memory");
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
    va_list args;

    va_start(args, format);
    write_complaint(state->name, format, args);
    va_end(args);
    return EINVAL;
}

error_t command_choice(const struct argp_state *state, const char *option, const char *what,
                       const char *value, const char *const names[], size_t n, size_t *index)
{
    struct text_error why;

    if (option_name(what, value, names, n, index, &why) == 0)
        return 0;
    return command_bad_option(state, "--%s: %s", option, why.text);
}

int command_copy(char *field, size_t bytes, const char *value)
{
    const size_t length = strlen(value);

    if (length >= bytes)
        return -1;
    memcpy(field, value, length + 1);
    return 0;
}

error_t command_field(const struct argp_state *state, const char *option, const char *value,
                      char *field, size_t bytes)
{
    if (command_copy(field, bytes, value) == 0)
        return 0;
    return command_bad_option(state, "--%s: longer than %zu characters", option, bytes - 1);
}

int command_core_error(const char *command, const struct dp_error *err)
{
    command_complain(command, "%s", err->text);
    return err->status == DP_EINVAL ? EXIT_MISUSE : EXIT_FAILED;
}

void command_visible(char text[96])
{
    const char *devices = getenv("CUDA_VISIBLE_DEVICES");

    snprintf(text, 96, "%s%.48s%s", devices != NULL ? ", with CUDA_VISIBLE_DEVICES='" : "",
             devices != NULL ? devices : "", devices != NULL ? "'" : "");
}

/* The environment can make cuBLAS multiply in another precision than it is told, and exact data do
 * not show it: what is recorded would not be what was measured. */
static int check_environment(const char *command, const struct dp_group_config *config)
{
    static const char *const names[] = {"NVIDIA_TF32_OVERRIDE", "CUBLAS_EMULATE_SINGLE_PRECISION"};
    struct dp_kind_row kind;
    const bool rounds =
        config->devices && dp_kind_of(config->devices, &kind) && kind.flags & DP_KIND_TF32;

    for (int i = 0; rounds && i < 2; ++i) {
        const char *value = getenv(names[i]);
        const bool off = value && strcmp(value, "0") == 0;

        /* The first one, when it is 0, forbids TF32. */
        if (!value || (off && !(i == 0 && config->math == DP_MATH_TF32)))
            continue;
        command_complain(command,
                         "%s='%.16s' in the environment: cuBLAS would not work in math %s; unset "
                         "it%s",
                         names[i], value, dp_math_name(config->math), off ? "" : " or make it 0");
        return EXIT_MISUSE;
    }
    return 0;
}

/* NCCL writes its log to standard output, where results go. */
int command_check_nccl_log(const char *command, const char *communicator)
{
    const char *level = getenv("NCCL_DEBUG"), *file = getenv("NCCL_DEBUG_FILE");
    const bool asked = communicator && strncmp(communicator, "nccl", 4) == 0;
    const bool whole = level && strcmp(level, "VERSION") != 0; /* which has no file */

    if (!asked || !level || level[0] == '\0' ||
        (whole && file && file[0] != '\0' && strcmp(file, "/dev/stdout") != 0))
        return 0;
    command_complain(command,
                     "NCCL_DEBUG='%.32s' in the environment: NCCL would write to standard output, "
                     "where results go; %s",
                     level,
                     whole ? "name a file in NCCL_DEBUG_FILE, such as nccl.%h.%p.log" : "unset it");
    return EXIT_MISUSE;
}

int command_open_group(const char *command, const struct dp_group_config *config, size_t required,
                       struct dp_group **group)
{
    const int log = command_check_nccl_log(command, config->communicator);
    const int misuse = log ? log : check_environment(command, config);
    struct dp_error err = {0};

    if (misuse)
        return misuse;
    const int status = dp_group_open(config, group, &err);
    const size_t there = status == 0 ? (size_t)dp_group_size(*group) : 0;
    char visible[96];

    if (status == 0 && there >= required)
        return 0;
    if (status == 0) {
        if (there > 0)
            command_complain(command, "--require-devices %zu: %s has %zu", required,
                             config->devices, there);
        else
            command_complain(command, "--require-devices %zu: %s has no devices", required,
                             config->devices);
        dp_group_close(*group);
        *group = NULL;
        return EXIT_FAILED;
    }
    if (status != DP_ENODEV)
        return command_core_error(command, &err);
    command_visible(visible);
    command_complain(command, "%s%s", err.text, visible);
    /* "all" of a kind that is not here is nothing to do; a numbered device is missing. */
    if (!device_list_all(config->devices))
        return EXIT_FAILED;
    return required > 0 ? EXIT_FAILED : EXIT_SKIPPED;
}

int command_ended(const char *command, const struct dp_group *group, int status)
{
    struct dp_error err = {0};

    return status == EXIT_PASSED && dp_group_faulty(group, &err) ? command_core_error(command, &err)
                                                                 : status;
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
