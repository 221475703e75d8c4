/* compare/pairs_options.c: reads the options of pairs, and those of a sweep, which both arms get.
 *
 * An arm is a program and options: both arms have the same options, or the same program. Their
 * plans must have the same cells at the same places, except for differences that the options of an
 * arm make. */
#include "compare/pairs.h"

#include "command/command.h"
#include "numbers/rank.h"
#include "text/options.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const char NAME[] = "lockstep compare";

enum { MORE_ARGUMENTS = 64 };

/* The options of pairs, and the other arguments, which are passed to a sweep. A switch is 1 or 0;
 * -1: it was not given. */
struct taken {
    const char *program[PAIRS_ARMS], *options[PAIRS_ARMS], *aa, *pairs, *looks, *figure, *format;
    int strict, exact, allow_dirty, allow_disturbed;
    char **rest;
    int n;
};

enum { OF_ARMS = 4 }; /* the first rows: if one of them is given, it is a comparison of pairs */

static const struct own {
    const char *name;
    int values;        /* number of its values; 0: a switch, which stores `on` */
    const char *shown; /* its name in a complaint */
    size_t offset;     /* of its first value */
    int on;
} own_options[] = {
    {"--ab", 2, "--ab OLD NEW", offsetof(struct taken, program), 0},
    {"--aa", 1, "--aa PROGRAM", offsetof(struct taken, aa), 0},
    {"--a", 1, "--a 'OPTIONS'", offsetof(struct taken, options[PAIRS_OLD]), 0},
    {"--b", 1, "--b 'OPTIONS'", offsetof(struct taken, options[PAIRS_NEW]), 0},
    {"--pairs", 1, "--pairs N", offsetof(struct taken, pairs), 0},
    {"--looks", 1, "--looks N", offsetof(struct taken, looks), 0},
    {"--figure", 1, "--figure DIR", offsetof(struct taken, figure), 0},
    {"--format", 1, "--format FORMAT", offsetof(struct taken, format), 0},
    {"-f", 1, "-f FORMAT", offsetof(struct taken, format), 0},
    {"--strict", 0, "--strict or --no-strict", offsetof(struct taken, strict), 1},
    {"--no-strict", 0, "--strict or --no-strict", offsetof(struct taken, strict), 0},
    {"--exact", 0, "--exact", offsetof(struct taken, exact), 1},
    {"-e", 0, "--exact", offsetof(struct taken, exact), 1},
    {"--allow-dirty", 0, "--allow-dirty", offsetof(struct taken, allow_dirty), 1},
    {"--allow-disturbed", 0, "--allow-disturbed", offsetof(struct taken, allow_disturbed), 1}};

enum { OWN = sizeof own_options / sizeof own_options[0] };

static bool begins(const char *argument, const char *name)
{
    const size_t length = strlen(name);

    return strncmp(argument, name, length) == 0 &&
           (argument[length] == '\0' || argument[length] == '=');
}

bool pairs_wanted(int argc, char **argv)
{
    bool wanted = false;

    for (int i = 1; i < argc; ++i)
        for (int own = 0; own < OF_ARMS; ++own)
            wanted = wanted || begins(argv[i], own_options[own].name);
    for (int i = 1; i < argc; ++i)
        wanted = wanted && strcmp(argv[i], "--help") != 0 && strcmp(argv[i], "-h") != 0 &&
                 strcmp(argv[i], "--usage") != 0;
    return wanted;
}

static int misuse(const char *format, const char *value)
{
    char text[400];

    snprintf(text, sizeof text, format, value);
    command_complain(NAME, "%s", text);
    return command_misuse(NAME);
}

/* If argument i is an option of pairs, takes it, and moves i to its last value. */
static int take_option(int argc, char **argv, int *i, struct taken *taken)
{
    const struct own *own = own_options;

    while (own < own_options + OWN && !begins(argv[*i], own->name))
        ++own;
    if (own == own_options + OWN) {
        taken->rest[taken->n++] = argv[*i];
        return 0;
    }
    const char *value = strchr(argv[*i], '=');
    void *const place = (char *)taken + own->offset;
    const char **const text = place;
    int *const on = place;

    if (value && own->values != 1)
        return misuse("write it as %s", own->shown);
    if (!value && *i + own->values >= argc)
        return misuse("a value is missing: %s", own->shown);
    if (own->values == 0 ? *on >= 0 : *text != NULL)
        return misuse("%s is given twice", own->values == 0 ? own->shown : own->name);
    if (own->values == 0)
        *on = own->on;
    for (int k = 0; k < own->values; ++k)
        text[k] = value ? value + 1 : argv[++*i];
    return 0;
}

/* Checks that both programs, or both sets of options, are given. */
static int read_taken(const struct taken *taken, struct pairs *pairs)
{
    const bool a = taken->options[PAIRS_OLD] != NULL, b = taken->options[PAIRS_NEW] != NULL;
    const char *forms[COMPARE_FORMATS];
    const char *const ci = getenv("CI");
    struct text_error why = {""};

    if (taken->aa && (taken->program[PAIRS_OLD] || a || b))
        return misuse("%s compares a program with itself: not with --ab, --a or --b", "--aa");
    if (taken->aa && taken->looks)
        return misuse("%s is not of --aa, which needs all pairs", "--looks");
    if (taken->aa && taken->strict >= 0)
        return misuse(
            "%s has the exit status 4 if the machine is too noisy, whatever --strict says", "--aa");
    if (taken->program[PAIRS_OLD] && (a || b))
        return misuse("%s compares two programs, --a and --b two sets of options of this one: "
                      "use one of them",
                      "--ab");
    if (!taken->program[PAIRS_OLD] && a != b)
        return misuse("%s is missing: --a 'OPTIONS' --b 'OPTIONS'", a ? "--b" : "--a");
    for (size_t i = 0; i < COMPARE_FORMATS; ++i)
        forms[i] = compare_format_name(i);
    if (taken->format &&
        option_name("format", taken->format, forms, COMPARE_FORMATS, &pairs->format, &why) != 0)
        return misuse("--format: %s", why.text);
    if (taken->pairs && option_size(taken->pairs, 1, RANK_MOST, &pairs->asked, &why) != 0)
        return misuse("--pairs: %s", why.text);
    pairs->looks = 1;
    if (taken->looks && option_size(taken->looks, 1, PAIRS_LOOKS_MOST, &pairs->looks, &why) != 0)
        return misuse("--looks: %s", why.text);
    pairs->figure = taken->figure;
    pairs->exact = taken->exact > 0;
    pairs->aa = taken->aa != NULL;
    pairs->allow_dirty = taken->allow_dirty > 0;
    pairs->allow_disturbed = taken->allow_disturbed > 0;
    pairs->strict = taken->strict >= 0 ? taken->strict > 0 : ci && strcmp(ci, "true") == 0;
    for (int arm = 0; arm < PAIRS_ARMS; ++arm) {
        pairs->arm[arm].program = taken->aa ? taken->aa : taken->program[arm];
        pairs->arm[arm].options = taken->options[arm];
    }
    return 0;
}

/* Reads the sweep of an arm: the arguments of both, and those of the arm, word by word. */
static int parse_arm(const struct taken *taken, struct pairs_arm *arm)
{
    const struct sweep_options *sweep = &arm->sweep;
    char *words = strdup(arm->options ? arm->options : ""), *rest = words;
    char **argument = calloc((size_t)taken->n + MORE_ARGUMENTS + 1, sizeof argument[0]);
    int n = taken->n, status = EXIT_MISUSE;
    char *word = NULL;

    for (int i = 0; argument && i < n; ++i)
        argument[i] = taken->rest[i];
    while (words && argument && (word = strtok_r(NULL, " ", &rest)) &&
           n < taken->n + MORE_ARGUMENTS)
        argument[n++] = word;
    if (!words || !argument)
        command_complain(NAME, "no memory for the options");
    else if (word)
        status = misuse("more than 64 words in '%.100s'", arm->options);
    else
        status = sweep_parse(n, argument, &arm->sweep);
    free(argument);
    free(words);
    if (status != 0)
        return status;
    if (sweep->resume)
        return misuse("%s is of a sweep: pairs are measured in one session", "--resume");
    if (sweep->format < REPORT_FORMATS)
        return misuse("%s is of a sweep here: write it whole, and not among the options of --a or "
                      "--b",
                      "--format");
    if (sweep->plan.launches > 0)
        return misuse("%s is of a sweep: say --pairs N", "--launches");
    return sweep_devices(NAME, sweep, &arm->run);
}

/* Plans the cells of the arm, and its command, with the number of pairs as launches. */
static int plan_arm(struct pairs *pairs, struct pairs_arm *arm)
{
    struct plan_options *plan = &arm->sweep.plan;
    struct text_error why = {""};
    struct timespec now;

    plan->launches = 1;
    if (plan->n_per_process > 0)
        return command_refuse(NAME, "--per-process is of `lockstep sweep --launcher` only");
    if (plan_defaults(plan, arm->run.n_slots, &why) != 0)
        return command_refuse(NAME, "%s", why.text);
    if (arm == &pairs->arm[PAIRS_OLD]) {
        pairs->cells = plan_block(plan);
        clock_gettime(CLOCK_REALTIME, &now);
        pairs->seed =
            plan->has_seed
                ? plan->seed
                : ((uint64_t)now.tv_nsec / 1000 + (uint64_t)now.tv_sec * 1000003U) % 1000000000U;
        const size_t least = pairs_least(pairs->cells, pairs->looks);
        const size_t most = RANK_MOST / pairs->looks;

        pairs->per_look = pairs->asked > 0        ? pairs->asked
                          : least > PAIRS_DEFAULT ? least
                                                  : PAIRS_DEFAULT;
        if (pairs->per_look > most) {
            command_complain(NAME,
                             "--pairs %zu: with --looks %zu there are at most %zu to each interim "
                             "analysis",
                             pairs->per_look, pairs->looks, most);
            return command_misuse(NAME);
        }
        if (pairs->per_look < least) {
            command_complain(
                NAME, "--pairs %zu: to show anything in one of %zu %s it takes at least %zu pairs",
                pairs->per_look, pairs->cells, pairs->cells == 1 ? "cell" : "cells", least);
            return command_misuse(NAME);
        }
    }
    plan->launches = pairs->per_look * pairs->looks;
    plan->seed = pairs->seed;
    if (plan_defaults(plan, arm->run.n_slots, &why) != 0 ||
        plan_command(plan, arm->run.command, sizeof arm->run.command, &why) != 0)
        return command_refuse(NAME, "%s", why.text);
    arm->plan = plan_make(plan, arm->run.communicator, pairs->arm[PAIRS_OLD].run.run_id);
    return arm->plan ? 0 : command_refuse(NAME, "no memory for the plan");
}

int pairs_options(int argc, char **argv, struct pairs *pairs)
{
    struct taken taken = {.strict = -1,
                          .exact = -1,
                          .allow_dirty = -1,
                          .allow_disturbed = -1,
                          .rest = calloc((size_t)argc + 1, sizeof taken.rest[0])};
    int status = 0;

    if (!taken.rest)
        return command_refuse(NAME, "no memory for the options");
    taken.rest[taken.n++] = argv[0];
    for (int i = 1; i < argc && status == 0; ++i)
        status = take_option(argc, argv, &i, &taken);
    if (status == 0)
        status = read_taken(&taken, pairs);
    for (int arm = 0; arm < PAIRS_ARMS && status == 0; ++arm) {
        status = parse_arm(&taken, &pairs->arm[arm]);
        if (status == 0)
            status = plan_arm(pairs, &pairs->arm[arm]);
    }
    free(taken.rest);
    if (status != 0)
        return status;
    /* A ratio of times is only valid for the same work. */
    const struct pairs_arm *b = &pairs->arm[PAIRS_NEW];
    const size_t cells = plan_block(&b->sweep.plan);

    if (cells != pairs->cells)
        return command_refuse(NAME, "--a has %zu cells and --b %zu: both need the same ones",
                              pairs->cells, cells);
    for (size_t i = 0; i < cells * pairs->per_look * pairs->looks; ++i) {
        const struct cell_config *old = &pairs->arm[PAIRS_OLD].plan[i], *fresh = &b->plan[i];

        if (strcmp(old->workload.name, fresh->workload.name) != 0 || old->rows != fresh->rows)
            return command_refuse(NAME,
                                  "--a has %s with %zu rows where --b has %s with %zu: both need "
                                  "the same workloads and batches",
                                  old->workload.name, old->rows, fresh->workload.name, fresh->rows);
    }
    return 0;
}
