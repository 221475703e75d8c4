/* check/result.c: from verdicts to sums, a sentence and an exit status. */
#include <stdarg.h>
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

/* A case that no function belongs to: about a profile as a whole. Its reason is printf'd. */
static void fail_profile(struct runner_run *run, const struct runner_profile *profile,
                         uint64_t capability, const char *word, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

static void fail_profile(struct runner_run *run, const struct runner_profile *profile,
                         uint64_t capability, const char *word, const char *format, ...)
{
    struct runner_requirement *new = &run->requirement[run->n_requirements++];
    va_list args;

    snprintf(new->id, sizeof new->id, "PROFILE.%s.%s", profile->name, word);
    new->test = (struct check_case){.id = new->id,
                                    .rule = "PROFILE",
                                    .evidence = REPORTED,
                                    .profiles = profile->bit,
                                    .needs = capability};
    add_result(run, &new->test);
    run->result[run->n - 1].verdict = CHECK_FAIL;
    va_start(args, format);
    vsnprintf(run->result[run->n - 1].reason, RUNNER_TEXT, format, args);
    va_end(args);
}

/* With --only or --area alone nobody asks for a whole profile. */
static bool asks_for(const struct runner_run *run, const struct runner_profile *profile)
{
    const struct runner_options *options = run->options;
    const bool part = options->only[0] != '\0' || options->area[0] != '\0';

    return (run->profiles & profile->bit) != 0 && (!part || options->profile[0] != '\0');
}

static uint64_t required(const struct runner_run *run)
{
    uint64_t capabilities = 0;

    for (int p = 0; p < RUNNER_PROFILES; ++p)
        if (asks_for(run, &runner_profiles[p]))
            capabilities |= runner_profiles[p].required;
    return capabilities;
}

/* With --only or --area, only what the cases left need. */
static void add_requirements(struct runner_run *run, uint64_t needs)
{
    const struct runner_options *options = run->options;
    const bool part = options->only[0] != '\0' || options->area[0] != '\0';

    for (int p = 0; p < RUNNER_PROFILES; ++p) {
        const struct runner_profile *profile = &runner_profiles[p];
        const uint64_t missing =
            profile->required & (part ? needs : ~(uint64_t)0) & ~run->is.about.capabilities;

        for (int i = 0; i < RUNNER_CAPABILITIES && asks_for(run, profile); ++i) {
            const uint64_t capability = (uint64_t)1 << i;

            if ((missing & capability) != 0)
                fail_profile(run, profile, capability, impl_capability_word(capability),
                             "profile %s requires '%s', which the implementation does not have",
                             profile->name, impl_capability_word(capability));
        }
    }
}

/* A case whose needs are not claimed has its verdict without a process: it is skipped, unless it
 * is a part of a profile that was asked for and requires them. */
static void judge_needs(struct runner_result *result, uint64_t claimed, uint64_t demanded,
                        bool launched)
{
    const uint64_t missing = result->test->needs & ~claimed;
    const uint64_t first = (missing & demanded) != 0 ? missing & demanded : missing;
    const char *word = impl_capability_word(first & (~first + 1));

    result->reason[0] = '\0';
    if (launched && (result->test->needs & IMPL_CAP_DDP) == 0) {
        result->verdict = CHECK_SKIP;
        snprintf(result->reason, sizeof result->reason,
                 "it has no ranks: nothing of it is between processes");
        return;
    }
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

static void fail_untested(const struct runner_run *run, struct runner_result *result)
{
    result->verdict = run->blame ? CHECK_FAIL : CHECK_BROKEN;
    snprintf(result->reason, sizeof result->reason, "%s", run->cause);
}

int runner_prepare(struct runner_run *run, const struct check_case *const tests[], size_t n)
{
    const size_t most = (size_t)RUNNER_PROFILES * (RUNNER_CAPABILITIES + 1); /* and devices */

    run->result = calloc(n + most, sizeof *run->result);
    run->requirement = calloc(most, sizeof *run->requirement);
    if (!run->result || !run->requirement)
        return -1;
    if (run->cause[0] == '\0')
        add_requirements(run, needs_of_all(tests, n));
    for (size_t i = 0; i < n; ++i) {
        if (run->options->by_default && (tests[i]->profiles & run->profiles) == 0)
            continue;
        add_result(run, tests[i]);
        if (run->cause[0] == '\0')
            judge_needs(&run->result[run->n - 1], run->is.about.capabilities, required(run),
                        run->options->launcher[0] != '\0');
        else
            fail_untested(run, &run->result[run->n - 1]);
    }
    return 0;
}

static size_t too_few_for(const struct runner_run *run, const struct runner_profile *profile)
{
    size_t n = 0;

    for (size_t i = 0; i < run->n; ++i)
        n += run->result[i].verdict == CHECK_SKIP &&
             (run->result[i].test->profiles & profile->bit) != 0 &&
             run->result[i].few_devices > 0 && run->result[i].few_devices <= profile->devices;
    return n;
}

static bool anything_ran(const struct runner_run *run)
{
    for (size_t i = 0; i < run->n; ++i)
        if (run->result[i].verdict != CHECK_SKIP)
            return true;
    return false;
}

void runner_require_devices(struct runner_run *run)
{
    size_t skipped[RUNNER_PROFILES];

    if (run->cause[0] != '\0' || !anything_ran(run))
        return;
    for (int p = 0; p < RUNNER_PROFILES; ++p)
        skipped[p] = asks_for(run, &runner_profiles[p]) ? too_few_for(run, &runner_profiles[p]) : 0;
    for (int p = 0; p < RUNNER_PROFILES; ++p)
        if (skipped[p] > 0)
            fail_profile(run, &runner_profiles[p], 0, "devices",
                         "profile %s needs %d devices, or as many ranks: %zu of its cases were "
                         "skipped for want of them, so it was not tested",
                         runner_profiles[p].name, runner_profiles[p].devices, skipped[p]);
}

void runner_run_free(struct runner_run *run)
{
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
    if (run->cause[0] != '\0' && run->blame)
        return EXIT_FAILED;
    if (run->cause[0] != '\0' || total.cases == 0 || total.verdict[CHECK_BROKEN] > 0)
        return EXIT_MISUSE;
    if (total.verdict[CHECK_FAIL] > 0)
        return EXIT_FAILED;
    return total.verdict[CHECK_SKIP] == total.cases ? EXIT_SKIPPED : EXIT_PASSED;
}

static const char *word_of_exit(int status)
{
    switch (status) {
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

/* A sentence that grows. */
struct growing {
    char *text;
    size_t used;
};

static void grow(struct growing *sentence, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void grow(struct growing *sentence, const char *format, ...)
{
    const size_t room = RUNNER_TEXT - sentence->used;
    va_list args;
    int n;

    va_start(args, format);
    n = vsnprintf(sentence->text + sentence->used, room, format, args);
    va_end(args);
    sentence->used += n > 0 && (size_t)n < room ? (size_t)n : 0;
}

/* What a reader would take for tested. */
static void add_untested(struct growing *sentence, const struct runner_run *run)
{
    size_t few = 0, not_offered = 0;

    for (size_t i = 0; i < run->n; ++i) {
        const struct runner_result *result = &run->result[i];
        const bool skipped = result->verdict == CHECK_SKIP;

        few += skipped && result->few_devices > 0;
        not_offered += skipped && (result->test->needs & ~run->is.about.capabilities) != 0;
    }
    if (few > 0 && not_offered > 0)
        grow(sentence, " (%zu because of too few devices, %zu not offered)", few, not_offered);
    else if (few > 0)
        grow(sentence, " (%zu because of too few devices)", few);
    else if (not_offered > 0)
        grow(sentence, " (%zu not offered)", not_offered);
    for (int p = 0; p < RUNNER_PROFILES; ++p)
        if ((run->options->profiles & ~run->profiles & runner_profiles[p].bit) != 0)
            grow(sentence, "; not tested: %s, which the implementation does not offer",
                 runner_profiles[p].name);
}

const char *runner_verdict(const struct runner_run *run, char sentence[RUNNER_TEXT])
{
    static const char *const words[] = {"", "failed", "skipped", "broken"};
    const struct impl_about *about = &run->is.about;
    struct growing growing = {.text = sentence};
    struct runner_area_sums total;

    if (run->cause[0] != '\0') {
        snprintf(sentence, RUNNER_TEXT, "%.500s could not be tested: %.500s", run->options->impl,
                 run->cause);
        return word_of_exit(runner_exit(run));
    }
    runner_totals(run, &total);
    grow(&growing, "%s%s%s ", about->name, about->version[0] != '\0' ? " " : "", about->version);
    if (about->devices > 0)
        grow(&growing, "with %d device%s", about->devices, about->devices == 1 ? "" : "s");
    else
        grow(&growing, "on the host");
    grow(&growing, ": %zu of %zu cases passed", total.verdict[CHECK_PASS], total.cases);
    for (int i = CHECK_FAIL; i <= CHECK_BROKEN; ++i)
        if (total.verdict[i] > 0)
            grow(&growing, ", %zu %s", total.verdict[i], words[i]);
    add_untested(&growing, run);
    return word_of_exit(runner_exit(run));
}
