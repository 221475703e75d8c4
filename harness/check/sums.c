/* check/sums.c: the sums of a run, and its verdict in a sentence. */
#include <string.h>

#include "check/runner.h"
#include "command/command.h"

static bool is_of_area(const struct runner_result *result, const struct check_area *area)
{
    return runner_area_of(result->test->rule) == area;
}

void runner_sums(const struct runner_run *run, const struct check_area *area,
                 struct runner_area_sums *sums)
{
    char rule[32];

    *sums = (struct runner_area_sums){.name = area ? area->name : "PROFILE"};
    sums->rules = area ? area->n_rules : 0;
    for (int i = 1; i <= sums->rules; ++i) {
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
    for (size_t i = 0; i < run->n; ++i) {
        if (!is_of_area(&run->result[i], area))
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
        if (is_of_area(&run->result[i], area))
            return true;
    return false;
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
        total->rules += sums.rules;
        total->covered += sums.covered;
        total->pending += sums.pending;
        total->not_applicable += sums.not_applicable;
        total->observed += sums.observed;
        total->reported += sums.reported;
        total->cases += sums.cases;
        for (int i = 0; i <= CHECK_BROKEN; ++i)
            total->verdict[i] += sums.verdict[i];
    }
}

/* ---- the sentence ---------------------------------------------------------------------------- */

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

/* Adds the cases that were not tested, so that no reader takes them for tested. */
static void add_untested(const struct runner_run *run, char sentence[RUNNER_TEXT])
{
    size_t few = 0, not_offered = 0;

    for (size_t i = 0; i < run->n; ++i) {
        const struct runner_result *result = &run->result[i];
        const bool skipped = result->verdict == CHECK_SKIP;

        few += skipped && result->few_devices > 0;
        not_offered += skipped && (result->test->needs & ~run->is.about.capabilities) != 0;
    }
    if (few > 0 && not_offered > 0)
        text_add(sentence, RUNNER_TEXT, " (%zu because of too few devices, %zu not offered)", few,
                 not_offered);
    else if (few > 0)
        text_add(sentence, RUNNER_TEXT, " (%zu because of too few devices)", few);
    else if (not_offered > 0)
        text_add(sentence, RUNNER_TEXT, " (%zu not offered)", not_offered);
    for (int p = 0; p < RUNNER_PROFILES; ++p)
        if ((run->options->profiles & ~run->profiles & runner_profiles[p].bit) != 0)
            text_add(sentence, RUNNER_TEXT,
                     "; not tested: %s, which the implementation does not offer",
                     runner_profiles[p].name);
}

const char *runner_verdict(const struct runner_run *run, char sentence[RUNNER_TEXT])
{
    static const char *const words[] = {"", "failed", "skipped", "broken"};
    const struct impl_about *about = &run->is.about;
    struct runner_area_sums total;

    if (run->cause[0] != '\0') {
        snprintf(sentence, RUNNER_TEXT, "%.500s could not be tested: %.500s", run->options->impl,
                 run->cause);
        return word_of_exit(runner_exit(run));
    }
    runner_totals(run, &total);
    snprintf(sentence, RUNNER_TEXT, "%s%s%s ", about->name, about->version[0] != '\0' ? " " : "",
             about->version);
    if (about->devices > 0)
        text_add(sentence, RUNNER_TEXT, "with %d device%s", about->devices,
                 about->devices == 1 ? "" : "s");
    else
        text_add(sentence, RUNNER_TEXT, "on the host");
    text_add(sentence, RUNNER_TEXT, ": %zu of %zu cases passed", total.verdict[CHECK_PASS],
             total.cases);
    for (int i = CHECK_FAIL; i <= CHECK_BROKEN; ++i)
        if (total.verdict[i] > 0)
            text_add(sentence, RUNNER_TEXT, ", %zu %s", total.verdict[i], words[i]);
    add_untested(run, sentence);
    return word_of_exit(runner_exit(run));
}
