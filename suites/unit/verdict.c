/* main.c: runs the Criterion tests and says by its exit status what happened.
 *
 *   0  at least one test ran, none failed      1  a test failed or crashed
 *   2  nothing was selected                    77 everything that was selected was skipped
 *
 * Criterion's own main exits 0 in the last two cases. Its count of skipped tests includes those
 * that the filter left out, so the tests that begin are counted here. */
#include <criterion/criterion.h>
#include <criterion/hooks.h>
#include <stddef.h>
#include <stdio.h>

/* Hooks take no argument of ours, so this has to be file scope; only the runner process uses it. */
static struct {
    size_t began, skipped, failed;
} seen;

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

static int verdict(int ok)
{
    if (!ok || seen.failed != 0) {
        return 1;
    }
    if (seen.began == 0) {
        fputs("no test was selected\n", stderr);
        return 2;
    }
    return seen.began == seen.skipped ? 77 : 0;
}

int main(int argc, char **argv)
{
    struct criterion_test_set *tests = criterion_initialize();
    int status = 0;
    if (criterion_handle_args(argc, argv, true)) {
        status = verdict(criterion_run_all_tests(tests));
    }
    criterion_finalize(tests);
    return status;
}
