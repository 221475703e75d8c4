/* validate/main.c: `lockstep validate`: options, and the order of things. */
#include "validate/validate.h"

#include "command/command.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static const char NAME[] = "lockstep validate";

struct arguments {
    const char *profile, *node;
    char **files;
    size_t n_files, format;
    uint64_t seen;
};

static const struct {
    const char *name;
    int (*write)(FILE *stream, const struct validate *validate);
} forms[] = {{"text", validate_text},
             {"json", validate_json},
             {"junit", validate_junit},
             {"md", validate_markdown}};

enum { FORMS = sizeof forms / sizeof forms[0], NODE_BYTES = 253 };

static const struct argp_option option_table[] = {
    {"profile", 'p', "FILE", 0, "What the machine has to reach, in YAML", 0},
    {"format", 'f', "text|json|junit|md", 0, "What to print (default text)", 0},
    {"node", 'N', "NAME", 0,
     "What the verdict calls the machine (default: nothing; no host name is read)", 0},
    {0}};

static const char documentation[] =
    "Holds the records of a machine against a profile."
    "\vEach limit of the profile is PASS if the bound of the median over launches, at 95 % for all "
    "its cells and devices together, is on its good side; FAIL if the other bound is on the bad "
    "side; OPEN if neither is shown; UNMEASURED if the records have no such number; INVALID if "
    "nobody may believe it: launches that are not verified, simulated, oversubscribed, or fewer "
    "than the profile requires. A machine is ACCEPTED if every binding limit is PASS, REJECTED if "
    "one is FAIL, else NOT SHOWN. Advisory limits are printed and decide nothing.\n\n"
    "Exit status: 0 ACCEPTED; 1 REJECTED; 2 misuse, a profile that is wrong, or records of another "
    "machine; 3 NOT SHOWN.";

/* Lists of nodes are read by programs: what could part or break one is no name. */
static error_t take_node(struct arguments *arguments, const char *value, struct argp_state *state)
{
    const size_t length = strlen(value);

    if (length == 0 || length > NODE_BYTES || !isalnum((unsigned char)value[0]) ||
        strspn(value, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_:") !=
            length)
        return command_bad_option(state,
                                  "--node: '%.60s' is no name of 1 to %d letters, digits, and . - "
                                  "_ : behind the first",
                                  value, NODE_BYTES);
    arguments->node = value;
    return 0;
}

static error_t parse_option(int key, char *value, struct argp_state *state)
{
    struct arguments *arguments = state->input;
    const char *names[FORMS];
    const error_t status = command_once(state, option_table, key, &arguments->seen);

    if (status)
        return status;
    for (size_t i = 0; i < FORMS; ++i)
        names[i] = forms[i].name;
    switch (key) {
    case 'p':
        arguments->profile = value;
        return 0;
    case 'f':
        return command_choice(state, "format", "format", value, names, FORMS, &arguments->format);
    case 'N':
        return take_node(arguments, value, state);
    case ARGP_KEY_ARG:
        return ARGP_ERR_UNKNOWN; /* all of them come together, as ARGP_KEY_ARGS */
    case ARGP_KEY_ARGS:
        arguments->files = state->argv + state->next;
        arguments->n_files = (size_t)(state->argc - state->next);
        return 0;
    case ARGP_KEY_END:
        if (!arguments->profile)
            return command_bad_option(state, "name a profile: --profile FILE");
        if (arguments->n_files == 0)
            return command_bad_option(state, "name the records, as `lockstep sweep` writes them");
        return 0;
    default:
        return command_key(key, value, state);
    }
}

/* Says what came of it; the exit status. */
static int judge(const struct arguments *arguments, struct validate *validate)
{
    static const int statuses[] = {EXIT_PASSED, EXIT_FAILED, VALIDATE_EXIT_NOT_SHOWN};
    int status = validate_judge(validate);

    if (status == 0)
        status = forms[arguments->format].write(stdout, validate);
    if (status == 0)
        return statuses[validate->machine];
    command_complain(NAME, "no memory for the verdict");
    return EXIT_MISUSE;
}

int validate_main(int argc, char **argv)
{
    static const struct argp parser = {.options = option_table,
                                       .parser = parse_option,
                                       .args_doc = "F.jsonl...",
                                       .doc = documentation};
    struct arguments arguments = {.profile = NULL};
    struct text_error why = {{0}};
    struct profile *profile = NULL;
    struct report report;
    int status;

    if (command_parse(&parser, argc, argv, &arguments) != 0)
        return EXIT_MISUSE;
    if (profile_read(arguments.profile, &profile, &why) != 0) {
        command_complain(NAME, "%s", why.text);
        return EXIT_MISUSE;
    }
    status = validate_open(NAME, arguments.files, arguments.n_files, &report);
    if (status == 0 && validate_match(profile, &report, &why) != 0) {
        command_complain(NAME, "%s", why.text);
        status = EXIT_MISUSE;
    }
    if (status == 0) {
        struct validate validate = {.profile = profile, .report = &report, .node = arguments.node};

        status = judge(&arguments, &validate);
        free(validate.judged);
    }
    validate_close(&report);
    profile_free(profile);
    return status;
}
