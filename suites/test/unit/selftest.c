/* selftest.c: the output of selftest about a fault that was not found, a false alarm, and an
 * interrupted run: none of it may look all right. */
#define _POSIX_C_SOURCE 200809L

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "soak/soak.h"

static const struct selftest_setting setting = {.mode = "ddp"};
static struct selftest_case items[] = {
    {.name = "NaN",
     .setting = &setting,
     .fault = "nan",
     .step = 8,
     .device = 1,
     .seen = {.status = 0},
     .verdict = "FAILED: not found"},
    {.name = "no fault",
     .setting = &setting,
     .device = -1,
     .detector = SELFTEST_DETECTORS,
     .seen = {.status = 1, .findings = 2, .at = {[SELFTEST_SPEED] = 11}},
     .verdict = "FAILED: <something> was found"},
    {.name = "a flip",
     .setting = &setting,
     .fault = "flip",
     .drawn = true,
     .seen = {.status = 1, .findings = 1, .at = {[SELFTEST_RESULT] = 3}},
     .verdict = "right"},
};

enum { AS_JSON = -1 };

static void written(int form, bool interrupted, const char *const wanted[])
{
    const struct selftest selftest = {
        .item = items, .n = 3, .sums = {.wrong = 2, .interrupted = interrupted, .flips = 1}};
    char *text = NULL;
    size_t bytes = 0;
    FILE *stream = open_memstream(&text, &bytes);

    cr_assert(stream);
    if (form == AS_JSON)
        selftest_json(stream, &selftest);
    else
        selftest_export(stream, &selftest, (enum export_format)form);
    cr_assert(fclose(stream) == 0);
    for (size_t i = 0; wanted[i]; ++i)
        cr_assert(strstr(text, wanted[i]), "no %s in: %s", wanted[i], text);
    free(text);
}

Test(selftest, junit)
{
    static const char *const wrong[] = {
        "tests=\"4\" failures=\"2\" errors=\"0\"",
        "name=\"NaN, virt:1, step 8\"><failure message=\"FAILED: not found\" type=\"undetected\">",
        "name=\"no fault\"><failure message=\"FAILED: &lt;something&gt; was found\" "
        "type=\"false alarm\">",
        "speed: iteration 11\n</failure>",
        "name=\"a flip, virt:0, step 0, run 2\"></testcase>",
        "name=\"every run was made\"></testcase>",
        NULL};
    static const char *const interrupted[] = {
        "failures=\"2\" errors=\"1\"", "name=\"every run was made\"><error message=\"interrupted\"",
        NULL};

    written(EXPORT_JUNIT, false, wrong);
    written(EXPORT_JUNIT, true, interrupted);
}

Test(selftest, others)
{
    static const char *const csv[] = {"undetected", "false alarm", "\"virt:1\"", NULL};
    static const char *const openmetrics[] = {"lockstep_selftest_wrong 2\n",
                                              "lockstep_selftest_right{", "# EOF\n", NULL};
    static const char *const annotations[] = {"::error ", "FAILED: not found", "interrupted",
                                              "2 wrong", NULL};

    written(EXPORT_CSV, false, csv);
    written(EXPORT_OPENMETRICS, false, openmetrics);
    written(EXPORT_ANNOTATIONS, true, annotations);
}

Test(selftest, json)
{
    static const char *const wanted[] = {"\"wrong\": 2",
                                         "\"interrupted\": true",
                                         "\"verdict\": \"FAILED: not found\"",
                                         "\"right\": false",
                                         "\"detector\": null",
                                         "\"speed\": 11",
                                         "\"exit_status\": 1,\n   \"right\": false",
                                         "\"elsewhere\": 0",
                                         NULL};

    written(AS_JSON, true, wanted);
}

/* A speed that was not judged is no finding, but it is reported. */
Test(selftest, a_speed_that_is_not_judged)
{
    static const struct {
        const char *speeds[2];
        size_t findings;
        bool unjudged;
    } rows[] = {{{"as the others", "as the others"}, 0, false},
                {{"not judged", "as the others"}, 0, true},
                {{"as the others", "not judged"}, 0, true},
                {{"as the others", "not shown"}, 0, false},
                {{"not judged", "SLOW"}, 1, true}};

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
        struct selftest_seen seen = {.status = 0};
        char text[256];
        const int bytes =
            snprintf(text, sizeof text,
                     "{\"findings\":[],\"devices\":[{\"speed\":\"%s\"},{\"speed\":\"%s\"}]}",
                     rows[i].speeds[0], rows[i].speeds[1]);

        selftest_read(text, (size_t)bytes, 1, &seen);
        cr_assert(seen.understood && seen.findings == rows[i].findings, "row %zu", i);
        cr_assert(seen.unjudged == rows[i].unjudged, "row %zu", i);
        cr_assert(seen.elsewhere == 0);
    }
}
