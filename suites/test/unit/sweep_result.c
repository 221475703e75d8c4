/* sweep_result.c: the sentences that a sweep ends with, of made-up launches: what is said, how sure
 * it is, and what is not counted. */
#include "points_bench.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sweep/sweep.h"

enum { LAUNCHES = 6 };

/* Adds launches of the model alone, and of DataParallel on 2 devices, which is faster by a ratio;
 * launches differ by so many ns. Returns the first row of the latter. */
static struct report_row *add_pair(struct bench *bench, size_t batch, int launches, double faster,
                                   double differ)
{
    struct report_row *row = &bench->row[bench->report.n_rows + (size_t)launches];

    for (int l = 0; l < launches; ++l)
        bench_add(bench, "plain", 1, batch, l, 100000);
    for (int l = 0; l < launches; ++l)
        bench_add(bench, "dp", 2, batch, l, 100000 / faster + differ * l);
    return row;
}

/* The words about the rows, in one line. */
static void check_words(struct bench *bench, const char *path, const char *wanted,
                        const char *unwanted)
{
    static const struct sweep_options options = {.plan = {.launches = LAUNCHES}};
    size_t bytes = 0;
    char *text = NULL;
    FILE *file = open_memstream(&text, &bytes);

    cr_assert(file);
    bench_make(bench);
    sweep_result(file, &bench->report, path, &options);
    fclose(file);
    for (char *at = text; *at != '\0'; ++at)
        *at = (char)(*at == '\n' ? ' ' : *at);
    cr_assert(strstr(text, wanted), "no '%s' in '%s'", wanted, text);
    cr_assert(!unwanted || !strstr(text, unwanted), "'%s' in '%s'", unwanted, text);
    cr_assert(strstr(text, "Report: lockstep report "), "%s", text);
    free(text);
}

Test(sweep_result, the_best_setting_with_its_interval)
{
    struct bench *bench = bench_open("strong");

    add_pair(bench, 64, LAUNCHES, 1.35, 100);
    check_words(bench, "my.jsonl",
                " 2 devices are 1.35 times as fast as one (1.34 to 1.35), tutorial at 64 rows. "
                "Report: lockstep report my.jsonl --out DIR ",
                "certain");
    /* A larger number whose interval is wide does not count; one that is better does. */
    add_pair(bench, 128, LAUNCHES, 1.9, 40000);
    check_words(bench, "my.jsonl",
                "(1.34 to 1.35), tutorial at 64 rows; 1 more was too noisy to say.", "the best");
    add_pair(bench, 256, LAUNCHES, 1.8, 0);
    check_words(
        bench, "my.jsonl",
        " 2 devices are 1.80 times as fast as one (1.80 to 1.80), tutorial at 256 rows, the "
        "best of 2 settings; 1 more was too noisy to say. ",
        "sweep again");
    bench_close(bench);
}

Test(sweep_result, few_launches_are_not_certain)
{
    struct bench *bench = bench_open("weak");

    bench_add(bench, "plain", 1, 64, 0, 1000);
    bench_add(bench, "dp", 2, 128, 0, 1500);
    check_words(bench, "a b.jsonl",
                " tutorial at 64 rows per device. Measured once, so not certain: sweep again with "
                "--launches 6. Report: lockstep report 'a b.jsonl' --out DIR ",
                " to ");
    bench_close(bench);
    bench = bench_open("strong");
    add_pair(bench, 64, LAUNCHES - 1, 1.5, 0);
    check_words(bench, "it's.jsonl",
                " Too few launches for an interval: sweep again with --launches 6.", "it's");
    bench_close(bench);
}

Test(sweep_result, wide_intervals_and_no_difference)
{
    struct bench *bench = bench_open("strong");

    add_pair(bench, 64, LAUNCHES, 1.9, 40000);
    check_words(bench, "my.jsonl", " The interval is too wide to be sure: stop other programs, ",
                "once");
    bench_close(bench);
    bench = bench_open("strong");
    add_pair(bench, 64, LAUNCHES, 1.01, 400);
    check_words(
        bench, "my.jsonl",
        " 2 devices are not shown to be faster or slower: 1.00 times as fast as one (0.99 to "
        "1.01), ",
        "wide");
    bench_close(bench);
}

Test(sweep_result, devices_that_share_cores_show_no_speed)
{
    struct bench *bench = bench_open("strong");
    struct report_row *row = add_pair(bench, 64, LAUNCHES, 1.9, 0);
    size_t first = (size_t)(row - bench->row);

    for (size_t i = first; i < first + LAUNCHES; ++i)
        bench->cell[i].oversubscribed = true;
    check_words(bench, "my.jsonl", " this shows that it works, and not how fast it is. Report",
                "not count");
    add_pair(bench, 128, LAUNCHES, 1.2, 0);
    check_words(
        bench, "my.jsonl",
        " 2 devices are 1.20 times as fast as one (1.20 to 1.20), tutorial at 128 rows; 1 more "
        "(oversubscribed) does not count. Report",
        "it works");
    bench_close(bench);
}

Test(sweep_result, without_a_comparison)
{
    struct bench *bench = bench_open("strong");

    bench_add(bench, "plain", 1, 64, 0, 1000);
    check_words(
        bench, "my.jsonl",
        " All settings are on one device, so there is no speed-up. tutorial at 64 rows: 64M "
        "rows/s on 1 device. Measured once, ",
        "times as fast");
    bench_close(bench);
    bench = bench_open("strong");
    bench_add(bench, "dp", 2, 64, 0, 1000);
    bench_fail(bench_add(bench, "dp", 2, 128, 0, 1000));
    bench->report.counts = (struct report_counts){.planned = 2, .measured = 2, .verified = 1};
    check_words(bench, "my.jsonl", " There is no speed-up: no verified setting on several devices ",
                "times as fast");
    check_words(bench, "my.jsonl", " Not verified, and in no number here: 1 of 2 launches. ", NULL);
    bench_close(bench);
}

Test(sweep_result, simulated_times_are_called_so)
{
    struct bench *bench = bench_open("strong");

    snprintf(bench->run.source, sizeof bench->run.source, "SIMULATED");
    add_pair(bench, 64, LAUNCHES, 1.9, 0);
    check_words(bench, "my.jsonl", " SIMULATED: 2 devices are 1.90 times as fast as one ", NULL);
    bench_close(bench);
}
