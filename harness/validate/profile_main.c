/* validate/profile_main.c: `lockstep profile`: checks whether a profile is valid, and whether its
 * limits can fail. */
#include "validate/validate.h"

#include "command/command.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char NAME[] = "lockstep profile";

struct arguments {
    const char *name, *about;
    char **files;
    size_t n_files;
    bool metrics;
    uint64_t seen;
};

static const struct argp_option option_table[] = {
    {"name", 'n', "TEXT", 0, "With learn: what the profile is called (default learned)", 0},
    {"about", 'a', "LIST", 0,
     "With learn: the metrics that limits are about, like product_spread,matrix_product (default: "
     "step_time, device_spread, and those of --parts, if the records have them)",
     0},
    {"metrics", 'm', NULL, 0, "Print what a limit can be about, and end", 0},
    {0}};

static const char documentation[] =
    "Says whether a profile is right, and whether each of its limits can fail; or learns one."
    "\vA profile is refused for an unknown key, a number without a unit, a limit without a source "
    "or a date, and a range upside down. Then every limit is tried on a machine that gets slower: "
    "that of the records, if any are named, else one that shows what the limit calls expected. A "
    "limit that does not fail at 0.3 of the speed accepts every machine, and is an error; so is "
    "one above 1.1 of what is expected.\n\n"
    "learn prints a profile that 95 % of a machine's sittings keep, with a confidence of 95 %: of "
    "at "
    "least 6 files of one class of machine and one library of matrix products, each a sitting of "
    "its own, all verified.\n\n"
    "Exit status: 0 every limit can fail; 1 one cannot; 2 misuse, or a profile that is wrong.";

enum action { CHECK, LEARN, ACTIONS };

static enum action find_action(const struct arguments *arguments)
{
    static const char *const names[ACTIONS] = {"check", "learn"};

    for (int i = 0; i < ACTIONS && arguments->n_files >= 2; ++i)
        if (strcmp(arguments->files[0], names[i]) == 0)
            return (enum action)i;
    return ACTIONS;
}

static error_t parse_option(int key, char *value, struct argp_state *state)
{
    struct arguments *arguments = state->input;
    const error_t status = command_once(state, option_table, key, &arguments->seen);

    if (status)
        return status;
    switch (key) {
    case 'n':
        arguments->name = value;
        return 0;
    case 'a':
        arguments->about = value;
        return 0;
    case 'm':
        arguments->metrics = true;
        return 0;
    case ARGP_KEY_ARG:
        return ARGP_ERR_UNKNOWN; /* all of them come together, as ARGP_KEY_ARGS */
    case ARGP_KEY_ARGS:
        arguments->files = state->argv + state->next;
        arguments->n_files = (size_t)(state->argc - state->next);
        return 0;
    case ARGP_KEY_END:
        if (!arguments->metrics && find_action(arguments) == ACTIONS)
            return command_bad_option(
                state, "say what to do: check P.yaml [F.jsonl...], or learn F.jsonl...");
        return 0;
    default:
        return command_key(key, value, state);
    }
}

static int print_metrics(void)
{
    static const char *const units[QUANTITY_KINDS] = {"ns, us, ms, s", "samples/s", "B",
                                                      "x, %",          "B/s",       "FLOP/s"};

    for (int i = 0; i < VALIDATE_METRICS; ++i) {
        const struct validate_metric *metric = &validate_metrics[i];
        const int used = printf("%-20s %-14s ", metric->name, units[metric->kind]);
        char text[160];

        snprintf(text, sizeof text, "%s is better; %s%s", metric->higher ? "more" : "less",
                 metric->means, metric->by_device ? "; each device by itself" : "");
        command_wrap(stdout, text, (size_t)used, (size_t)used, 80);
    }
    return EXIT_PASSED;
}

static int check_limits(const char *path, const struct profile *profile,
                        const struct report *report)
{
    int status = EXIT_PASSED;

    for (unsigned i = 0; i < profile->n_limits; ++i) {
        const struct profile_limit *limit = &profile->limit[i];
        struct validate_firing firing;
        char bound[96];

        if (validate_mutate(profile, report, limit, &firing) != 0) {
            command_complain(NAME, "no memory");
            return EXIT_MISUSE;
        }
        profile_bound_words(limit, bound);
        if (firing.fires && limit->row->fact) {
            char worst[QUANTITY_TEXT];

            printf("%s:%d: %s %s: fails at %s\n", path, limit->line, limit->metric, bound,
                   quantity_words(limit->row->worst, limit->row->kind, worst));
            continue;
        }
        if (firing.fires) {
            printf("%s:%d: %s %s: fails at %.2f times the time\n", path, limit->line, limit->metric,
                   bound, firing.factor);
            continue;
        }
        command_complain(NAME, "%.120s:%d: %s %s: %s", path, limit->line, limit->metric, bound,
                         firing.why);
        status = EXIT_FAILED;
    }
    return status;
}

static int check(const char *name, char *const records[], size_t n)
{
    char path[PROFILE_PATH];
    struct text_error why = {{0}};
    struct profile *profile;
    struct report report;
    int status = 0;

    if (profile_find(NAME, name, path) != 0)
        return EXIT_MISUSE;
    if (profile_read(path, &profile, &why) != 0) {
        command_complain(NAME, "%s", why.text);
        return EXIT_MISUSE;
    }
    status = validate_open(NAME, records, n, &report);
    if (status == 0 && n > 0 && validate_match(profile, &report, &why) != 0) {
        command_complain(NAME, "%s", why.text);
        status = EXIT_MISUSE;
    }
    if (status == 0)
        status = check_limits(path, profile, n > 0 ? &report : NULL);
    validate_close(&report);
    profile_free(profile);
    return status;
}

int profile_main(int argc, char **argv)
{
    static const struct argp parser = {.options = option_table,
                                       .parser = parse_option,
                                       .args_doc = "check P.yaml [F.jsonl...]\nlearn F.jsonl...",
                                       .doc = documentation};
    struct arguments arguments = {.name = "learned"};

    if (command_parse(&parser, argc, argv, &arguments) != 0)
        return EXIT_MISUSE;
    if (arguments.metrics)
        return print_metrics();
    if (find_action(&arguments) == LEARN)
        return validate_learn(NAME, arguments.name, arguments.about, arguments.files + 1,
                              arguments.n_files - 1);
    return check(arguments.files[1], arguments.files + 2, arguments.n_files - 2);
}
