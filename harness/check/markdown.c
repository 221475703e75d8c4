/* check/markdown.c: the result for the page of a CI job. */
#include "check/runner.h"
#include "files/text_out.h"

enum { SHOWN = 50 };

static void write_sums(struct text_out *out, const struct runner_area_sums *sums)
{
    text_print(out, "| %s | %d | %d | %d | %d | %zu | %zu | %zu | %zu | %zu | %d | %d |\n",
               sums->name, sums->rules, sums->covered, sums->pending, sums->not_applicable,
               sums->cases, sums->verdict[CHECK_PASS], sums->verdict[CHECK_FAIL],
               sums->verdict[CHECK_SKIP], sums->verdict[CHECK_BROKEN], sums->observed,
               sums->reported);
}

void runner_markdown(FILE *stream, const struct runner_run *run)
{
    struct text_out out = {.file = stream, .form = TEXT_MARKDOWN};
    struct runner_area_sums sums;
    char sentence[RUNNER_TEXT];
    const char *word = runner_verdict(run, sentence);
    size_t n = 0;

    text_print(&out, "### Conformance: %s\n\n%s.\n", word, sentence);
    if (run->cause[0] != '\0')
        return;
    text_print(&out, "\n| area | rules | covered | pending | n/a | cases | pass | fail | skip | "
                     "broken | observed | reported |\n"
                     "|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n");
    for (int a = -1; a < check_n_areas; ++a) {
        const struct check_area *area = a < 0 ? NULL : check_areas[a];

        if (!runner_shows(run, area))
            continue;
        runner_sums(run, area, &sums);
        write_sums(&out, &sums);
    }
    runner_totals(run, &sums);
    write_sums(&out, &sums);
    for (size_t i = 0; i < run->n; ++i) {
        const struct runner_result *result = &run->result[i];

        if (result->verdict != CHECK_FAIL && result->verdict != CHECK_BROKEN)
            continue;
        if (n == 0)
            text_print(&out, "\n| verdict | case | reason |\n|---|---|---|\n");
        if (n++ < SHOWN)
            text_print(&out, "| %s | %s | %s |\n", runner_verdict_words[result->verdict],
                       result->test->id, result->reason);
    }
    if (n > SHOWN)
        text_print(&out, "\n%zu more are not shown.\n", n - SHOWN);
}
