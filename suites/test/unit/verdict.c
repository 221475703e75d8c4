/* verdict.c: sets the exit status of the program of Criterion tests.
 *
 *   0  at least one test ran, none failed      1  a test failed or crashed
 *   2  nothing was selected                    77 everything that was selected was skipped
 *
 * Criterion's own main exits 0 in the last two cases. Its count of skipped tests includes those
 * that the filter left out, so the tests that begin are counted here.
 *
 * The program does not define main: where libcriterion is linked with its calls bound to itself,
 * as Ubuntu's is, Criterion's workers would run it in place of their test (Criterion's issue 495).
 * So the status is set at exit, which only the runner comes to: hooks run in no other process. */
#include <criterion/criterion.h>
#include <criterion/hooks.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

/* Hooks take no argument of ours, so this has to be file scope; only the runner process uses it. */
static struct {
    size_t began, skipped, failed;
} seen;

static void end_with_verdict(void)
{
    int status = seen.began == seen.skipped ? 77 : 0;

    if (seen.failed != 0) {
        status = 1;
    } else if (seen.began == 0) {
        fputs("no test was selected\n", stderr);
        status = 2;
    }
    fflush(NULL);
    _Exit(status);
}

ReportHook(PRE_ALL)(struct criterion_test_set *set)
{
    (void)set;
    if (atexit(end_with_verdict) != 0)
        abort();
}

ReportHook(PRE_TEST)(struct criterion_test *test)
{
    (void)test;
    ++seen.began;
}

ReportHook(POST_TEST)(struct criterion_test_stats *stats)
{
    seen.skipped += stats->test_status == CR_STATUS_SKIPPED;
}

ReportHook(POST_ALL)(struct criterion_global_stats *stats)
{
    seen.failed = stats->tests_failed + stats->tests_crashed + stats->errors;
}
