/* check/sums.c: the sums of a run, and its verdict in a sentence. */
#include <string.h>

#include "check/runner.h"
#include "command/command.h"

/* Rules that have an excuse, and rules that have a case with PASS or FAIL, by its evidence. */
static void count_rules(const struct runner_run *run, struct runner_area_sums *row)
{
    char rule[32];

    for (int i = 1; i <= row->rules; ++i) {
        const struct runner_result *result = run->result;
        bool seen[2] = {false, false};

        runner_rule(row->area, i, rule);
        for (size_t j = 0; j < run->n; ++j, ++result)
            if (result->ran && strcmp(result->test->rule, rule) == 0 &&
                (result->verdict == CHECK_PASS || result->verdict == CHECK_FAIL))
                seen[result->test->evidence == OBSERVED] = true;
        row->observed += seen[1];
        row->reported += seen[0] && !seen[1];

        const struct check_excuse *excuse = runner_excuse(row->area, rule);

        row->covered += excuse == NULL;
        row->pending += excuse && excuse->pending;
        row->not_applicable += excuse && !excuse->pending;
    }
}

void runner_sums_of(const struct runner_run *run, struct runner_sums *sums)
{
    const bool whole = run->options->only[0] == '\0' && run->options->area[0] == '\0';
    struct runner_area_sums total = {.name = "total"};

    *sums = (struct runner_sums){.n = 0};
    for (int a = -1; a < check_n_areas && sums->n <= RUNNER_AREAS; ++a) {
        const struct check_area *area = a < 0 ? NULL : check_areas[a];
        struct runner_area_sums *row = &sums->row[sums->n];

        *row = (struct runner_area_sums){
            .area = area, .name = area ? area->name : "PROFILE", .rules = area ? area->n_rules : 0};
        for (size_t i = 0; i < run->n; ++i)
            if (runner_area_of(run->result[i].test->rule) == area) {
                ++row->cases;
                ++row->verdict[run->result[i].verdict];
            }
        if (row->cases == 0 && !(area && whole))
            continue;
        count_rules(run, row);
        total.rules += row->rules;
        total.covered += row->covered;
        total.pending += row->pending;
        total.not_applicable += row->not_applicable;
        total.observed += row->observed;
        total.reported += row->reported;
        total.cases += row->cases;
        for (int i = 0; i <= CHECK_BROKEN; ++i)
            total.verdict[i] += row->verdict[i];
        ++sums->n;
    }
    sums->row[sums->n] = total;
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

const char *runner_verdict(const struct runner_run *run, char sentence[RUNNER_TEXT])
{
    static const char *const words[] = {"", "failed", "skipped", "broken"};
    const struct impl_about *about = &run->is.about;
    size_t few = 0, not_offered = 0, verdict[CHECK_BROKEN + 1] = {0};

    if (run->cause[0] != '\0') {
        snprintf(sentence, RUNNER_TEXT, "%.500s could not be tested: %.500s", run->options->impl,
                 run->cause);
        return word_of_exit(runner_exit(run));
    }
    for (size_t i = 0; i < run->n; ++i) {
        const struct runner_result *result = &run->result[i];
        const bool skipped = result->verdict == CHECK_SKIP;

        ++verdict[result->verdict];
        few += skipped && result->few_devices > 0;
        not_offered += skipped && (result->test->needs & ~about->capabilities) != 0;
    }
    snprintf(sentence, RUNNER_TEXT, "%s%s%s ", about->name, about->version[0] != '\0' ? " " : "",
             about->version);
    if (about->devices > 0)
        text_add(sentence, RUNNER_TEXT, "with %d device%s", about->devices,
                 about->devices == 1 ? "" : "s");
    else
        text_add(sentence, RUNNER_TEXT, "on the host");
    text_add(sentence, RUNNER_TEXT, ": %zu of %zu cases passed", verdict[CHECK_PASS], run->n);
    for (int i = CHECK_FAIL; i <= CHECK_BROKEN; ++i)
        if (verdict[i] > 0)
            text_add(sentence, RUNNER_TEXT, ", %zu %s", verdict[i], words[i]);
    /* The cases that were not tested, so that no reader takes them for tested. */
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
    return word_of_exit(runner_exit(run));
}
