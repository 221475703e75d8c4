/* check/result.c: decides what is not to be run, which profiles were tested, and the exit status.
 */
#include <stdlib.h>

#include "check/runner.h"
#include "command/command.h"
#include "text/alloc.h"
#include "words.h"

/* ---- before anything runs -------------------------------------------------------------------- */

static void add_result(struct runner_run *run, const struct check_case *test)
{
    struct runner_result *result = &run->result[run->n++];

    /* A result has no verdict yet, so it is BROKEN until there is one. */
    *result = (struct runner_result){
        .test = test, .sentence = check_words(test->rule), .verdict = CHECK_BROKEN};
    snprintf(result->reason, sizeof result->reason, "not run");
}

/* Adds a result that has no function: it is about a profile as a whole. Returns its reason, which
 * the caller writes. */
static char *fail_profile(struct runner_run *run, const struct runner_profile *profile,
                          uint64_t capability, const char *word)
{
    struct runner_requirement *new = &run->requirement[run->n_requirements++];

    snprintf(new->id, sizeof new->id, "PROFILE.%s.%s", profile->name, word);
    new->test = (struct check_case){.id = new->id,
                                    .rule = "PROFILE",
                                    .evidence = REPORTED,
                                    .profiles = profile->bit,
                                    .needs = capability};
    add_result(run, &new->test);
    run->result[run->n - 1].verdict = CHECK_FAIL;
    return run->result[run->n - 1].reason;
}

/* With some of the cases alone (part) no whole profile is asked for. */
static bool asks_for(const struct runner_run *run, const struct runner_profile *profile, bool part)
{
    return (run->profiles & profile->bit) != 0 && (!part || run->options->profile[0] != '\0');
}

/* A case whose needs are not claimed gets its verdict without a process: it is skipped, unless it
 * is a part of a profile that was asked for and requires them. */
static void judge_needs(struct runner_result *result, uint64_t claimed, uint64_t demanded)
{
    const uint64_t missing = result->test->needs & ~claimed;
    const uint64_t first = (missing & demanded) != 0 ? missing & demanded : missing;
    const char *word = impl_capability_word(first & (~first + 1));

    result->reason[0] = '\0';
    if (missing == 0)
        return;
    if (result->test->obligation == MAY || (missing & demanded) == 0) {
        result->verdict = CHECK_SKIP;
        snprintf(result->reason, sizeof result->reason,
                 "not offered: the implementation does not have '%s'", word);
        return;
    }
    result->verdict = CHECK_FAIL;
    snprintf(result->reason, sizeof result->reason,
             "requires '%s', which the implementation does not have", word);
}

void runner_prepare(struct runner_run *run, const struct check_case *const tests[], size_t n)
{
    /* One more for the devices. */
    const size_t most = (size_t)(RUNNER_PROFILES + 1) * (RUNNER_CAPABILITIES + 1);
    const struct runner_options *options = run->options;
    const struct runner_profile named = {.name = "asked", .required = options->demanded};
    uint64_t needs = options->part ? 0 : ~(uint64_t)0, required = 0;

    run->result = cli_alloc(n + most, sizeof *run->result);
    run->requirement = cli_alloc(most, sizeof *run->requirement);
    for (size_t i = 0; i < n; ++i)
        needs |= tests[i]->needs;
    for (int p = 0; p <= RUNNER_PROFILES; ++p) {
        const bool own = p < RUNNER_PROFILES; /* the last: what the user named */
        const struct runner_profile *profile = own ? &runner_profiles[p] : &named;
        /* With --only or --area, only the needs of the selected cases are required. */
        const uint64_t missing =
            profile->required & (own ? needs : ~(uint64_t)0) & ~run->is.about.capabilities;

        if (own && !asks_for(run, profile, options->part))
            continue;
        required |= profile->required;
        for (int i = 0; i < RUNNER_CAPABILITIES && run->cause[0] == '\0'; ++i) {
            const char *word = impl_capability_word((uint64_t)1 << i);

            if (missing >> i & 1)
                snprintf(fail_profile(run, profile, (uint64_t)1 << i, word), RUNNER_TEXT,
                         "%s%s requires '%s', which the implementation does not have",
                         own ? "profile " : "--require-capabilities", own ? profile->name : "",
                         word);
        }
    }
    for (size_t i = 0; i < n; ++i) {
        struct runner_result *result = &run->result[run->n];

        if (options->by_default && (tests[i]->profiles & run->profiles) == 0)
            continue;
        add_result(run, tests[i]);
        if (run->cause[0] == '\0') {
            judge_needs(result, run->is.about.capabilities, required);
            continue;
        }
        result->verdict = run->caused;
        snprintf(result->reason, sizeof result->reason, "%s", run->cause);
    }
}

void runner_require_devices(struct runner_run *run)
{
    size_t skipped[RUNNER_PROFILES] = {0}, ran = 0;
    const bool only = run->options->only[0] != '\0'; /* an area alone needs its devices, too */

    for (size_t i = 0; i < run->n; ++i)
        ran += run->result[i].verdict != CHECK_SKIP;
    if (run->cause[0] != '\0' || ran == 0)
        return;
    for (size_t i = 0; i < run->n; ++i)
        for (int p = 0; p < RUNNER_PROFILES; ++p)
            skipped[p] += asks_for(run, &runner_profiles[p], only) &&
                          run->result[i].verdict == CHECK_SKIP &&
                          (run->result[i].test->profiles & runner_profiles[p].bit) != 0 &&
                          run->result[i].few_devices > 0 &&
                          run->result[i].few_devices <= runner_profiles[p].devices;
    for (int p = 0; p < RUNNER_PROFILES; ++p)
        if (skipped[p] > 0)
            snprintf(fail_profile(run, &runner_profiles[p], 0, "devices"), RUNNER_TEXT,
                     "profile %s needs %d devices, or as many ranks: without them %zu of its cases "
                     "cannot run, so it was not tested",
                     runner_profiles[p].name, runner_profiles[p].devices, skipped[p]);
}

void runner_unask(struct runner_result *result, bool interrupted)
{
    *result = (struct runner_result){.test = result->test,
                                     .sentence = result->sentence,
                                     .verdict = interrupted ? CHECK_BROKEN : CHECK_SKIP,
                                     .unasked = !interrupted};
    snprintf(result->reason, sizeof result->reason,
             interrupted ? "no verdict: interrupted" : "not run: --exitfirst ended the run");
}

/* ---- the exit status ------------------------------------------------------------------------- */

int runner_exit(const struct runner_run *run)
{
    size_t n[CHECK_BROKEN + 1] = {0};

    for (size_t i = 0; i < run->n; ++i)
        ++n[run->result[i].verdict];
    if (run->interrupted)
        return EXIT_INTERRUPTED;
    if (run->n == 0 || n[CHECK_BROKEN] > 0)
        return EXIT_MISUSE;
    if (n[CHECK_FAIL] > 0 || run->unfelt)
        return EXIT_FAILED;
    return n[CHECK_SKIP] == run->n ? EXIT_SKIPPED : EXIT_PASSED;
}
