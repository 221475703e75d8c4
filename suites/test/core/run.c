/* run.c: the plain runner. It runs all cases in one process, one after the other, on new groups,
 * which a sanitizer can follow. It prints one line per case; a failure adds the reason, and the
 * command that repeats it. Exit: 0 all passed, 1 a case failed, 2 misuse or nothing selected, 77
 * everything was skipped. */
#include "list.h"

#include "command/command.h"
#include "text/options.h"

#include <argp.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>

#define MAX_SEEDS 64

struct choice {
    struct case_settings settings;
    const char *program, *devices, *only;
    bool list;
    size_t seeds[MAX_SEEDS];
    size_t n_seeds;
};

struct tally {
    size_t passed, failed, skipped, compared;
};

static const struct argp_option options[] = {
    {"devices", 'd', "KIND", 0,
     "virt (default), virt+lag, or cuda:N for slots on N GPUs in turn, N one of 1 2 4 8", 0},
    {"backend", 'b', "NAME", 0,
     "cpu (default), cpu-ref, cpu-cblas or cpu-onednn; on GPUs cuda (default) or cuda-staged", 0},
    {"communicator", 'c', "NAME", 0, "Instead of the backend's own", 0},
    {"only", 'o', "GLOB", 0, "Run the cases whose name matches, such as 'gradient/*'", 0},
    {"seed", 's', "LIST", 0, "Lag seeds, all cases once with each; 0 is purely lazy", 0},
    {"list", 'l', NULL, 0, "Print names and rules of the cases and run none", 0},
    {0},
};

static void run_choose(struct argp_state *state, const char *what, const char *value,
                       const char *const names[], size_t n, size_t *index)
{
    struct text_error why;
    if (option_name(what, value, names, n, index, &why) != 0)
        argp_failure(state, 2, 0, "%s", why.text);
}

static error_t run_parse(int key, char *value, struct argp_state *state)
{
    static const char *const devices[] = {"virt",   "virt+lag", "cuda:1",
                                          "cuda:2", "cuda:4",   "cuda:8"};
    static const int gpus[] = {0, 0, 1, 2, 4, 8};
    struct choice *choice = state->input;
    struct text_error why;
    size_t index = 0;
    switch (key) {
    case 'd':
        run_choose(state, "devices", value, devices, 6, &index);
        choice->devices = devices[index];
        choice->settings.lag = index == 1;
        choice->settings.gpus = gpus[index];
        return 0;
    case 'b':
        if (command_backend_name("backend", value, &why) != 0)
            argp_failure(state, 2, 0, "%s", why.text);
        choice->settings.backend = value;
        return 0;
    case 'c':
        if (command_communicator_name("communicator", value, &why) != 0)
            argp_failure(state, 2, 0, "%s", why.text);
        choice->settings.communicator = value;
        return 0;
    case 'o':
        choice->only = value;
        return 0;
    case 's':
        if (option_sizes(value, 0, SIZE_MAX, choice->seeds, MAX_SEEDS, &choice->n_seeds, &why) != 0)
            argp_failure(state, 2, 0, "seed: %s", why.text);
        return 0;
    case 'l':
        choice->list = true;
        return 0;
    case ARGP_KEY_ARG:
        argp_failure(state, 2, 0, "unexpected argument '%s'", value);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static void run_one(const struct test_case *test, const struct choice *choice, struct tally *tally)
{
    struct case_result result;
    const struct case_settings *s = &choice->settings;
    case_run(test, s, &result);
    tally->compared += result.compared;
    if (result.verdict == VERDICT_PASS) {
        ++tally->passed;
        printf("PASS %s\n", test->name);
    } else if (result.verdict == VERDICT_SKIP) {
        ++tally->skipped;
        printf("SKIP %s: %s\n", test->name, result.message);
    } else {
        ++tally->failed;
        printf("FAIL %s [%s]: %s\n", test->name, test->rules, result.message);
        printf("     repeat: %s --devices %s --backend %s --seed %llu --only '%s'\n",
               choice->program, choice->devices, s->backend, (unsigned long long)s->lag_seed,
               test->name);
    }
    (void)fflush(stdout);
}

static bool selected(const struct test_case *test, const char *only)
{
    return !only || fnmatch(only, test->name, 0) == 0;
}

static size_t list_cases(const char *only)
{
    size_t n = 0;
    for (size_t i = 0; i < case_count(); ++i) {
        const struct test_case *test = case_at(i);
        if (selected(test, only)) {
            printf("%-40s %s\n", test->name, test->rules);
            ++n;
        }
    }
    return n;
}

static void run_run_all(struct choice *choice, struct tally *tally)
{
    for (size_t s = 0; s < choice->n_seeds; ++s) {
        choice->settings.lag_seed = choice->seeds[s];
        for (size_t i = 0; i < case_count(); ++i) {
            const struct test_case *test = case_at(i);
            if (selected(test, choice->only))
                run_one(test, choice, tally);
        }
    }
}

static int status_of(const struct tally *tally)
{
    if (tally->failed > 0)
        return 1;
    if (tally->passed > 0)
        return 0;
    return tally->skipped > 0 ? 77 : 2;
}

int main(int argc, char **argv)
{
    struct choice choice = {.program = argv[0], .devices = "virt", .n_seeds = 1};
    const struct argp argp = {options, run_parse, NULL, "Runs the cases of core.",
                              NULL,    NULL,      NULL};
    argp_err_exit_status = 2;
    if (argp_parse(&argp, argc, argv, 0, NULL, &choice) != 0)
        return 2;
    if (!choice.settings.backend)
        choice.settings.backend = choice.settings.gpus > 0 ? "cuda" : "cpu";
    if (choice.list)
        return list_cases(choice.only) > 0 ? 0 : 2;
    struct tally tally = {0};
    run_run_all(&choice, &tally);
    if (tally.passed + tally.failed + tally.skipped == 0)
        (void)fprintf(stderr, "no case matches '%s'; --list prints the names\n", choice.only);
    printf("%zu passed, %zu failed, %zu skipped, %zu comparisons\n", tally.passed, tally.failed,
           tally.skipped, tally.compared);
    return status_of(&tally);
}
