/* soak/selftest_junit.c: the same as JUnit XML: a run of soak is a test case.
 *
 * The last case is that all runs were made: of an interrupted selftest every other case may be
 * green. */
#include "soak/selftest.h"

#include "files/text_out.h"

static void put_name(struct text_out *out, const struct selftest_case *item)
{
    text_print(out, "<testcase classname=\"lockstep.selftest\" name=\"%s", item->name);
    if (item->fault)
        text_print(out, ", virt:%d, step %d", item->device, (int)item->step);
    text_print(out, "\">");
}

static void put_case(struct text_out *out, const struct selftest_case *item, size_t place)
{
    put_name(out, item);
    if (selftest_wrong(item)) {
        text_print(out, "<failure message=\"%s\" type=\"%s\">run %zu: exit status %d",
                   item->verdict, item->fault ? "undetected" : "false alarm", place,
                   item->seen.status);
        for (int d = 0; d < SELFTEST_DETECTORS; ++d)
            if (item->seen.at[d] > 0)
                text_print(out, "\n%s: iteration %zu", selftest_detector_words[d],
                           (size_t)item->seen.at[d]);
        text_print(out, "</failure>");
    }
    text_print(out, "</testcase>\n");
}

int selftest_junit(FILE *stream, const struct selftest *selftest)
{
    struct text_out out = {.file = stream, .form = TEXT_HTML};
    const struct selftest_sums *sums = &selftest->sums;
    const int stopped = sums->interrupted;

    text_print(&out,
               "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
               "<testsuites name=\"lockstep selftest\" tests=\"%zu\" failures=\"%zu\" "
               "errors=\"%d\" skipped=\"0\">\n",
               selftest->n + 1, sums->wrong, stopped);
    text_print(&out,
               "<testsuite name=\"selftest\" tests=\"%zu\" failures=\"%zu\" errors=\"%d\" "
               "skipped=\"0\">\n",
               selftest->n + 1, sums->wrong, stopped);
    for (size_t i = 0; i < selftest->n; ++i)
        put_case(&out, &selftest->item[i], i);
    text_print(&out, "<testcase classname=\"lockstep.selftest\" name=\"every run was made\">");
    if (stopped)
        text_print(&out, "<error message=\"interrupted\" type=\"interrupted\"/>");
    text_print(&out, "</testcase>\n</testsuite>\n</testsuites>\n");
    return 0;
}
