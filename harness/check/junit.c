/* check/junit.c: the result as JUnit XML: an area is a suite, BROKEN is an error. */
#include <string.h>

#include "check/runner.h"
#include "files/text_out.h"

static void time_text(double seconds, char field[32])
{
    snprintf(field, 32, "%.6f", seconds);
}

static double seconds_of(const struct runner_run *run, const struct check_area *area)
{
    double seconds = 0;

    for (size_t i = 0; i < run->n; ++i)
        if (runner_area_of(run->result[i].test->rule) == area)
            seconds += run->result[i].seconds;
    return seconds;
}

static void verdict(struct text_out *out, const struct runner_run *run,
                    const struct runner_result *result)
{
    static const char *const element[] = {
        [CHECK_FAIL] = "failure", [CHECK_SKIP] = "skipped", [CHECK_BROKEN] = "error"};
    char command[8 * RUNNER_TEXT];

    if (result->verdict == CHECK_PASS)
        return;
    text_print(out, "<%s message=\"%s\"", element[result->verdict], result->reason);
    if (result->verdict == CHECK_SKIP) {
        text_print(out, "/>");
        return;
    }
    runner_command(run->options, result->test->id, command);
    text_print(out, " type=\"%s\">rule %s, %s, %s\n%s\n%s\n</%s>",
               runner_verdict_words[result->verdict], result->test->rule,
               runner_obligation_words[result->test->obligation],
               runner_evidence_words[result->test->evidence], result->reason, command,
               element[result->verdict]);
}

static void suite(struct text_out *out, const struct runner_run *run, const struct check_area *area)
{
    struct runner_area_sums sums;
    char seconds[32];

    runner_sums(run, area, &sums);
    if (sums.cases == 0)
        return;
    time_text(seconds_of(run, area), seconds);
    text_print(out,
               "<testsuite name=\"%s\" tests=\"%zu\" failures=\"%zu\" errors=\"%zu\" "
               "skipped=\"%zu\" time=\"%s\">\n",
               sums.name, sums.cases, sums.verdict[CHECK_FAIL], sums.verdict[CHECK_BROKEN],
               sums.verdict[CHECK_SKIP], seconds);
    for (size_t i = 0; i < run->n; ++i) {
        const struct runner_result *result = &run->result[i];

        if (runner_area_of(result->test->rule) != area)
            continue;
        time_text(result->seconds, seconds);
        text_print(out, "<testcase classname=\"lockstep.%s\" name=\"%s\" time=\"%s\">", sums.name,
                   result->test->id, seconds);
        verdict(out, run, result);
        text_print(out, "</testcase>\n");
    }
    text_print(out, "</testsuite>\n");
}

void runner_junit(FILE *stream, const struct runner_run *run)
{
    struct text_out out = {.file = stream, .form = TEXT_HTML};
    struct runner_area_sums sums;
    char seconds[32];

    runner_totals(run, &sums);
    time_text(run->seconds, seconds);
    text_print(&out,
               "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
               "<testsuites name=\"lockstep check\" tests=\"%zu\" failures=\"%zu\" "
               "errors=\"%zu\" skipped=\"%zu\" time=\"%s\">\n",
               sums.cases, sums.verdict[CHECK_FAIL], sums.verdict[CHECK_BROKEN],
               sums.verdict[CHECK_SKIP], seconds);
    for (int a = -1; a < check_n_areas; ++a)
        suite(&out, run, a < 0 ? NULL : check_areas[a]);
    text_print(&out, "</testsuites>\n");
}
