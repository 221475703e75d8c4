/* check/result.c: from verdicts to sums, a sentence and an exit status. */
#include <stdlib.h>
#include <string.h>

#include "check/runner.h"
#include "command/command.h"
#include "words.h"

/* ---- before anything runs -------------------------------------------------------------------- */

static uint64_t needs_of_all(const struct check_case *const tests[], size_t n)
{
    uint64_t needs = 0;

    for (size_t i = 0; i < n; ++i)
        needs |= tests[i]->needs;
    return needs;
}

static void add_result(struct runner_run *run, const struct check_case *test)
{
    struct runner_result *result = &run->result[run->n++];

    /* Nothing is a verdict until there is one. */
    *result = (struct runner_result){.test = test, .verdict = CHECK_BROKEN};
    snprintf(result->reason, sizeof result->reason, "not run");
}

static void require(struct runner_run *run, const struct runner_profile *profile,
                    uint64_t capability)
{
    struct check_case *test = &run->requirement[run->n_requirements];
    const size_t room = 80;
    const char *word = impl_capability_word(capability);
    char *id = malloc(room);

    if (!id)
        return; /* the cases that need it fail anyway */
    ++run->n_requirements;
    snprintf(id, room, "PROFILE.%s.%s", profile->name, word);
    *test = (struct check_case){.id = id,
                                .rule = "PROFILE",
                                .evidence = REPORTED,
                                .profiles = profile->bit,
                                .needs = capability};
    add_result(run, test);
    run->result[run->n - 1].verdict = CHECK_FAIL;
    snprintf(run->result[run->n - 1].reason, RUNNER_TEXT,
             "profile %s requires '%s', which the implementation does not have", profile->name,
             word);
}

/* With --only or --area, only what the cases left need. */
static void add_requirements(struct runner_run *run, uint64_t needs)
{
    const struct runner_options *options = run->options;
    const bool part = options->only[0] != '\0' || options->area[0] != '\0';

    if (part && options->profile[0] == '\0')
        return;
    for (int p = 0; p < RUNNER_PROFILES; ++p) {
        const uint64_t required = runner_profiles[p].required & (part ? needs : ~(uint64_t)0);
        const uint64_t missing = required & ~run->is.about.capabilities;

        if ((options->profiles & runner_profiles[p].bit) == 0)
            continue;
        for (int i = 0; i < RUNNER_CAPABILITIES; ++i)
            if (missing >> i & 1)
                require(run, &runner_profiles[p], (uint64_t)1 << i);
    }
}

/* A case whose needs are not claimed has its verdict without a process. */
static void judge_needs(struct runner_result *result, uint64_t claimed)
{
    const uint64_t missing = result->test->needs & ~claimed;
    const uint64_t lowest = missing & (~missing + 1);

    result->reason[0] = '\0';
    if (missing == 0)
        return;
    result->verdict = result->test->obligation == MAY ? CHECK_SKIP : CHECK_FAIL;
    snprintf(result->reason, sizeof result->reason,
             result->verdict == CHECK_SKIP ? "optional: the implementation does not have '%s'"
                                           : "requires '%s', which the implementation does not "
                                             "have",
             impl_capability_word(lowest));
}

int runner_prepare(struct runner_run *run, const struct check_case *const tests[], size_t n)
{
    const size_t most = (size_t)RUNNER_PROFILES * RUNNER_CAPABILITIES;

    run->result = calloc(n + most, sizeof *run->result);
    run->requirement = calloc(most, sizeof *run->requirement);
    if (!run->result || !run->requirement)
        return -1;
    if (run->cause[0] == '\0')
        add_requirements(run, needs_of_all(tests, n));
    for (size_t i = 0; i < n; ++i) {
        add_result(run, tests[i]);
        if (run->cause[0] == '\0')
            judge_needs(&run->result[run->n - 1], run->is.about.capabilities);
        else
            snprintf(run->result[run->n - 1].reason, RUNNER_TEXT, "%s", run->cause);
    }
    return 0;
}

void runner_run_free(struct runner_run *run)
{
    for (size_t i = 0; i < run->n_requirements; ++i)
        free((char *)run->requirement[i].id);
    free(run->requirement);
    free(run->result);
    run->requirement = NULL;
    run->result = NULL;
    run->n = run->n_requirements = 0;
}

/* ---- sums ------------------------------------------------------------------------------------ */

static bool is_of(const struct runner_result *result, const struct check_area *area)
{
    const struct check_area *found = runner_area_of(result->test->rule);

    return found == area;
}

static void sum_rules(const struct runner_run *run, const struct check_area *area,
                      struct runner_area_sums *sums)
{
    char rule[32];

    sums->rules = area->n_rules;
    for (int i = 1; i <= area->n_rules; ++i) {
        bool seen[2] = {false, false};

        runner_rule(area, i, rule);
        for (size_t j = 0; j < run->n; ++j)
            if (run->result[j].ran && strcmp(run->result[j].test->rule, rule) == 0 &&
                (run->result[j].verdict == CHECK_PASS || run->result[j].verdict == CHECK_FAIL))
                seen[run->result[j].test->evidence == OBSERVED] = true;
        sums->observed += seen[1];
        sums->reported += seen[0] && !seen[1];

        const struct check_excuse *excuse = runner_excuse(area, rule);

        sums->covered += excuse == NULL;
        sums->pending += excuse && excuse->pending;
        sums->not_applicable += excuse && !excuse->pending;
    }
}

void runner_sums(const struct runner_run *run, const struct check_area *area,
                 struct runner_area_sums *sums)
{
    *sums = (struct runner_area_sums){.name = area ? area->name : "PROFILE"};
    if (area)
        sum_rules(run, area, sums);
    for (size_t i = 0; i < run->n; ++i) {
        if (!is_of(&run->result[i], area))
            continue;
        ++sums->cases;
        ++sums->verdict[run->result[i].verdict];
    }
}

bool runner_shows(const struct runner_run *run, const struct check_area *area)
{
    const struct runner_options *options = run->options;

    if (area && options->only[0] == '\0' && options->area[0] == '\0')
        return true;
    for (size_t i = 0; i < run->n; ++i)
        if (is_of(&run->result[i], area))
            return true;
    return false;
}

static void add_sums(struct runner_area_sums *total, const struct runner_area_sums *sums)
{
    total->rules += sums->rules;
    total->covered += sums->covered;
    total->pending += sums->pending;
    total->not_applicable += sums->not_applicable;
    total->observed += sums->observed;
    total->reported += sums->reported;
    total->cases += sums->cases;
    for (int i = 0; i <= CHECK_BROKEN; ++i)
        total->verdict[i] += sums->verdict[i];
}

void runner_totals(const struct runner_run *run, struct runner_area_sums *total)
{
    struct runner_area_sums sums;

    *total = (struct runner_area_sums){.name = "total"};
    for (int a = -1; a < check_n_areas; ++a) {
        const struct check_area *area = a < 0 ? NULL : check_areas[a];

        if (!runner_shows(run, area))
            continue;
        runner_sums(run, area, &sums);
        add_sums(total, &sums);
    }
}

/* ---- the verdict ----------------------------------------------------------------------------- */

int runner_exit(const struct runner_run *run)
{
    struct runner_area_sums total;

    runner_totals(run, &total);
    if (run->cause[0] != '\0' || total.cases == 0 || total.verdict[CHECK_BROKEN] > 0)
        return EXIT_MISUSE;
    if (total.verdict[CHECK_FAIL] > 0)
        return EXIT_FAILED;
    return total.verdict[CHECK_SKIP] == total.cases ? EXIT_SKIPPED : EXIT_PASSED;
}

static size_t for_want_of_devices(const struct runner_run *run)
{
    size_t n = 0;

    for (size_t i = 0; i < run->n; ++i)
        n += run->result[i].verdict == CHECK_SKIP && run->result[i].few_devices;
    return n;
}

const char *runner_verdict(const struct runner_run *run, char sentence[RUNNER_TEXT])
{
    const struct impl_about *about = &run->is.about;
    struct runner_area_sums total;
    char where[32] = "on the host";
    size_t used, few;

    if (run->cause[0] != '\0') {
        snprintf(sentence, RUNNER_TEXT, "%.500s could not be tested: %.500s", run->options->impl,
                 run->cause);
        return "BROKEN";
    }
    runner_totals(run, &total);
    if (about->devices > 0)
        snprintf(where, sizeof where, "with %d device%s", about->devices,
                 about->devices == 1 ? "" : "s");
    used = (size_t)snprintf(sentence, RUNNER_TEXT, "%s%s%s %s: %zu of %zu cases passed",
                            about->name, about->version[0] != '\0' ? " " : "", about->version,
                            where, total.verdict[CHECK_PASS], total.cases);
    for (int i = CHECK_FAIL; i <= CHECK_BROKEN; ++i) {
        static const char *const words[] = {"", "failed", "skipped", "broken"};

        if (total.verdict[i] > 0)
            used += (size_t)snprintf(sentence + used, RUNNER_TEXT - used, ", %zu %s",
                                     total.verdict[i], words[i]);
    }
    few = for_want_of_devices(run);
    if (few > 0)
        snprintf(sentence + used, RUNNER_TEXT - used, " (%zu because of too few devices)", few);
    switch (runner_exit(run)) {
    case EXIT_PASSED:
        return "PASS";
    case EXIT_FAILED:
        return "FAIL";
    case EXIT_SKIPPED:
        return "SKIP";
    default:
        return "BROKEN";
    }
}
