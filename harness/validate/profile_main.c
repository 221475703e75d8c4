/* validate/profile_main.c: `lockstep validate check` shows whether a profile is right and its
 * limits can fail, and `lockstep validate learn` makes one. */
#include "validate/validate.h"

#include "command/command.h"
#include "text/alloc.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct arguments {
    const char *name, *about, *out;
    struct command_files files;
    bool metrics;
};

static error_t check_files(int key, char *value, struct argp_state *state)
{
    const struct arguments *arguments = command_input(state);

    if (key != ARGP_KEY_END)
        return command_key(key, value, state);
    return arguments->files.n > 0 || arguments->metrics ? 0
                                                        : command_bad_option(state, "name a file");
}

/* ---- check -------------------------------------------------------------------------------- */

static int check_profile(const char *command, const char *name, char *const records[], size_t n)
{
    static const char *const already[] = {"what is expected fails", "these records fail"},
                             *const width[] = {"OK", "WIDE"},
                             *const than[] = {"its peak", "expected", "measured"};
    char path[PROFILE_PATH], cannot[VALIDATE_TEXT], bound[96], worst[QUANTITY_TEXT], by[96];
    struct text_error why = {{0}};
    struct profile *profile;
    struct report report;
    int status = 0, verdict = EXIT_PASSED, binding = 0;

    if (profile_find(command, name, path) != 0)
        return EXIT_MISUSE;
    if (profile_read(path, &profile, &why) != 0)
        return command_refuse(command, "%s", why.text);
    status = validate_open(command, records, n, &report);
    if (status == 0 && n > 0 && validate_match(profile, &report, &why) != 0)
        status = command_refuse(command, "%s", why.text);
    for (unsigned i = 0; i < profile->n_limits && status == 0; ++i) {
        const struct profile_limit *limit = &profile->limit[i];

        const double factor = validate_mutate(profile, n > 0 ? &report : NULL, limit, cannot);

        profile_bound_words(limit, bound);
        const enum quantity_kind kind = limit->row->kind;
        const double more = 100 * (factor - 1);
        /* From a peak every machine is far. */
        const bool known = n > 0 || isfinite(limit->healthy), wide = known && round(more) > 20;

        binding += limit->binding;
        if (cannot[0] != '\0') {
            command_complain(command, "%.120s:%d: %s %s: %s", path, limit->line, limit->metric,
                             bound, cannot);
            verdict = EXIT_FAILED;
            continue;
        }
        printf("%s:%d: %s %s: ", name, limit->line, limit->metric, bound);
        if (limit->row->fact)
            printf("OK: would fail at %s\n", quantity_words(limit->row->worst, kind, worst));
        else if (more <= 0)
            printf("can fail: %s it already\n", already[n > 0]);
        else {
            by[0] = '\0';
            quantity_add_difference(limit->row->higher ? 1 / factor : factor, 1, kind, by,
                                    sizeof by);
            printf("%s: would fail if %s %s\n", width[wide], by, than[known + (n > 0)]);
        }
    }
    if (status == 0 && profile->not_shown) {
        command_complain(command, "%.120s: not_shown: %.300s: learn it again", path,
                         profile->not_shown);
        verdict = EXIT_FAILED;
    }
    const uint64_t launches = profile->requires.launches;
    struct validate_need *need = cli_alloc(1, sizeof *need);

    const bool known = status == 0 && validate_need(profile, need, &why) == 0;

    if (known)
        printf("%s: devices needed: %zu\n", name,
               (size_t)(need->devices > profile->match.gpus ? need->devices : profile->match.gpus));
    if (known && launches > 0 && need->launches > launches)
        command_say(stderr, 2,
                    "%s: NOTE: the profile requires %zu launches, and its limits stay OPEN with "
                    "fewer than %zu: write `requires: {launches: %zu}`",
                    command, (size_t)launches, need->launches, need->launches);
    free(need);
    if (status == 0 && binding > 0 && !profile_judges_speed(profile))
        command_say(stderr, 2,
                    "%s: NOTE: no limit on speed binds: where all devices are slow alike, it "
                    "passes",
                    command);
    validate_close(&report);
    profile_free(profile);
    return status == 0 ? verdict : status;
}

int validate_check_main(int argc, char **argv)
{
    static const struct command_option options[] = {
        {"metrics", 'm', NULL, "print all metrics that a limit can name, and exit", COMMAND_FLAG,
         .offset = offsetof(struct arguments, metrics), .group = COMMAND_WHAT},
        {0}};
    static const struct command_syntax syntax = {
        .options = options,
        .other = check_files,
        .files = true,
        .files_at = offsetof(struct arguments, files),
        .what = "What to show",
        .args_doc = "P.yaml [F.jsonl...]",
        .doc = "Shows whether a profile is right, and whether each of its limits can fail."
               "\vA profile is refused for an unknown key, a number without a unit, a limit "
               "without a source or a date, and a minimum above its maximum. Then each limit is "
               "tried on a machine that gets slower and slower, beginning with the records, or "
               "without records with the number that the limit expects. A limit that does not fail "
               "at 0.3 of the speed would accept every machine: it is an error. So is a limit "
               "above 1.1 times what is expected. WIDE: it takes more than 20 % to fail.\n\n"
               "Exit status: 0 every limit can fail; 1 one cannot, or the profile is not_shown; 2 "
               "misuse, or a profile that is wrong.\n\nExamples:\n"
               "  lockstep validate check my-node.yaml\n"
               "  lockstep validate check --metrics"};
    static const char *const units[QUANTITY_KINDS] = {"ns, us, ms, s", "samples/s", "B",
                                                      "x, %",          "B/s",       "FLOP/s"};
    struct arguments arguments = {.name = NULL};

    if (command_read(&syntax, argc, argv, &arguments) != 0)
        return EXIT_MISUSE;
    if (!arguments.metrics)
        return check_profile(argv[0], arguments.files.path[0], arguments.files.path + 1,
                             arguments.files.n - 1);
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

/* ---- learn -------------------------------------------------------------------------------- */

int validate_learn_main(int argc, char **argv)
{
    static const struct command_option options[] = {
        {"name", 'n', "TEXT", "name of the profile (default: learned)", COMMAND_POINTER,
         .offset = offsetof(struct arguments, name), .group = COMMAND_WHAT},
        {"about", 'a', "LIST",
         "metrics to make limits for, like product_spread,matrix_product (default: step_time, "
         "device_spread, and those of --parts, if the records have them); `lockstep validate check "
         "--metrics` lists all",
         COMMAND_POINTER, .offset = offsetof(struct arguments, about), .group = COMMAND_WHAT},
        {"out", 'o', "FILE", "write the profile here (default: print it)", COMMAND_POINTER,
         .offset = offsetof(struct arguments, out), .group = COMMAND_WHERE_TO},
        {0}};
    static const struct command_syntax syntax = {
        .options = options,
        .other = check_files,
        .files = true,
        .files_at = offsetof(struct arguments, files),
        .what = "What to learn",
        .args_doc = "F.jsonl...",
        .doc = "Prints a profile. With 95 % confidence, 95 % of this machine's sessions keep its "
               "limits."
               "\vIt needs at least 6 files, all verified, each of a different session, of one "
               "class of machine and one matrix library.\n\n"
               "Exit status: 0 a profile was printed; 2 misuse, or files that no profile can be "
               "learned from; 3 a profile without a limit on speed, or other work disturbed more "
               "than half of the launches.\n\nExamples:\n"
               "  lockstep validate learn session*.jsonl >my-node.yaml\n"
               "  lockstep validate learn --name my-node --out my-node.yaml session*.jsonl"};
    struct arguments arguments = {.name = "learned"};

    if (command_read(&syntax, argc, argv, &arguments) != 0)
        return EXIT_MISUSE;
    if (arguments.out && !freopen(arguments.out, "wx", stdout))
        return command_refuse(argv[0], "--out: cannot make '%.200s': %s%s", arguments.out,
                              strerror(errno),
                              errno == EEXIST ? ": delete it, or name another file" : "");
    const int status = validate_learn(argv[0], arguments.name, arguments.about,
                                      arguments.out ? arguments.out : "standard output",
                                      arguments.files.path, arguments.files.n);

    if (arguments.out && status == EXIT_MISUSE)
        unlink(arguments.out);
    return status;
}
