/* sweep_result.c: the sentences that a sweep ends with, of made-up launches: what is said, how sure
 * it is, and what is not counted. */
#include "points_bench.h"
#include "record_example.h"

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

/* Returns the words about the rows, in one line, which begin with the answer of the report. */
static char *words_of(struct bench *bench, const char *path)
{
    static const struct sweep_options options = {.plan = {.launches = LAUNCHES}};
    const char *answer;
    size_t bytes = 0;
    char *text = NULL;
    FILE *file = open_memstream(&text, &bytes);

    cr_assert(file);
    bench_make(bench);
    sweep_result(file, &bench->report, path, &options);
    fclose(file);
    char *end = text;

    for (char *at = text; *at != '\0'; ++at) { /* lines are indented */
        *end = (char)(*at == '\n' ? ' ' : *at);
        end += end == text || *end != ' ' || end[-1] != ' ';
    }
    *end = '\0';
    answer = report_answer_words(&bench->report, PHRASE);
    cr_assert(strncmp(text + 1, answer, strlen(answer)) == 0, "not '%s', but '%s'", answer, text);
    return text;
}

static void check_words(struct bench *bench, const char *path, const char *wanted,
                        const char *unwanted)
{
    char *text = words_of(bench, path);

    cr_assert(strstr(text, wanted), "no '%s' in '%s'", wanted, text);
    cr_assert(!unwanted || !strstr(text, unwanted), "'%s' in '%s'", unwanted, text);
    free(text);
}

Test(sweep_result, the_best_setting_with_its_interval)
{
    struct bench *bench = bench_open("strong");

    add_pair(bench, 64, LAUNCHES, 1.35, 100);
    check_words(bench, "my.jsonl",
                " 2 devices train tutorial 1.35 times as fast as one (1.34 to 1.35; batch 64; at "
                "most 2.00 is possible). Nothing has to be measured again. Report: lockstep report "
                "my.jsonl --slide --out DIR ",
                "certain");
    /* A larger number whose interval is wide does not count; one that is better does. */
    add_pair(bench, 128, LAUNCHES, 1.9, -8000);
    check_words(bench, "my.jsonl",
                " batch 64; at most 2.00 is possible), the only setting that is certain enough. 1 "
                "of 2 settings on several devices was not certain enough to count (one was not "
                "measured well enough): ",
                "the best");
    add_pair(bench, 256, LAUNCHES, 1.8, 0);
    check_words(bench, "my.jsonl", " 2 devices train tutorial 1.80 times as fast as one ",
                "1.35 times");
    bench_close(bench);
}

Test(sweep_result, few_launches_are_not_certain)
{
    struct bench *bench = bench_open("weak");

    bench_add(bench, "plain", 1, 64, 0, 1000);
    bench_add(bench, "dp", 2, 128, 0, 1500);
    check_words(
        bench, "a b.jsonl",
        "(batch 64 per device; at most 2.00 is possible). Measured once, so not certain: "
        "sweep again with --launches 6. Report: lockstep report 'a b.jsonl' --slide --out DIR ",
        " to ");
    bench_close(bench);
    bench = bench_open("strong");
    add_pair(bench, 64, LAUNCHES - 1, 1.5, 0);
    check_words(bench, "it's.jsonl",
                " Measured 5 times, too few to be certain: sweep again with --launches 6. Report: "
                "lockstep report 'it'\\''s.jsonl' --slide --out DIR ",
                "FILE");
    bench_close(bench);
}

Test(sweep_result, devices_that_share_cores_show_no_speed)
{
    struct bench *bench = bench_open("strong");
    struct report_row *row = add_pair(bench, 64, LAUNCHES, 1.9, 0);
    size_t first = (size_t)(row - bench->row);

    for (size_t i = first; i < first + LAUNCHES; ++i)
        bench->cell[i].oversubscribed = true;
    check_words(bench, "my.jsonl", " This is no evidence of speed: more devices than cores. Report",
                "too noisy");
    add_pair(bench, 128, LAUNCHES, 1.2, 0);
    check_words(bench, "my.jsonl", " 2 devices train tutorial 1.20 times as fast as one ",
                "no evidence");
    bench_close(bench);
}

Test(sweep_result, without_a_comparison)
{
    static const char nothing[] = " Nothing can be said about scaling: ";
    struct bench *bench = bench_open("strong");

    bench_add(bench, "plain", 1, 64, 0, 1000);
    check_words(bench, "my.jsonl", nothing, "times as fast");
    check_words(bench, "my.jsonl",
                " tutorial with 64 rows on 1 device: throughput 64 Msamples/s. Measured once, so ",
                " to ");
    /* The largest number is that of a setting which is too noisy. */
    for (int l = 1; l < LAUNCHES; ++l)
        bench_add(bench, "plain", 1, 64, l, 1000);
    for (int l = 0; l < LAUNCHES; ++l)
        bench_add(bench, "plain", 1, 128, l, 1000 + 300 * l);
    check_words(bench, "my.jsonl",
                " tutorial with 64 rows on 1 device: throughput 64 Msamples/s (64 Msamples/s to "
                "64 Msamples/s). Report",
                "certain");
    bench_close(bench);
    bench = bench_open("strong");
    bench_add(bench, "dp", 2, 64, 0, 1000);
    bench_fail(bench_add(bench, "dp", 2, 128, 0, 1000));
    check_words(bench, "my.jsonl", nothing, "times as fast");
    check_words(bench, "my.jsonl", " tutorial with 64 rows on 2 devices: ", "128");
    check_words(bench, "my.jsonl", " Not verified, and in no number here: 1 of 2 launches. ", NULL);
    bench_fail(&bench->row[0]);
    check_words(bench, "my.jsonl", nothing, "samples/s");
    bench_close(bench);
}

Test(sweep_result, simulated_times_are_called_so)
{
    struct bench *bench = bench_open("strong");

    snprintf(bench->run.source, sizeof bench->run.source, "SIMULATED");
    add_pair(bench, 64, LAUNCHES, 1.9, 0);
    check_words(bench, "my.jsonl", " SIMULATED: 2 devices train tutorial 1.90 times as fast ",
                NULL);
    bench_close(bench);
}

/* Once, after a block of which every launch was disturbed; not if one was not. */
Test(sweep_result, a_disturbed_block_is_said_once)
{
    for (int quiet = 0; quiet < 2; ++quiet) {
        struct plan_options plan = {.devices = "virt:2",
                                    .backend = "cpu",
                                    .count = {2},
                                    .n_counts = 1,
                                    .batch = {64},
                                    .n_batches = 1,
                                    .n_workloads = 1,
                                    .launches = 3,
                                    .limits = {.seconds = 0.1, .min_steps = 3, .max_steps = 9}};
        FILE *const screen = stderr;
        struct text_error why = {""};
        struct progress progress;
        char *text = NULL;
        size_t bytes = 0;

        plan.workload[0] = example_workload("tutorial");
        cr_assert(plan_defaults(&plan, 2, &why) == 0, "%s", why.text);
        cr_assert(plan_block(&plan) == 2);
        struct cell_config *cells = plan_make(&plan, "threads", "0123456789abcdef");

        stderr = open_memstream(&text, &bytes);
        progress_open(&progress, &plan, cells, 0);
        for (size_t i = 0; i < plan_cells(&plan); ++i) {
            struct record_cell cell;

            cell_identify(&cells[i], &cell);
            cell.status = RECORD_OK;
            cell.foreign_frac = quiet && i == 1 ? 0.1 : 0.4;
            cell.steal_frac = NAN;
            progress_cell(&progress, &cell);
        }
        fclose(stderr);
        stderr = screen;
        const char *first = strstr(text, "No cell becomes certain this");

        cr_assert((strstr(text, "[busy] In a launch, 40 %") != NULL), "%s", text);
        cr_assert((first != NULL) == !quiet &&
                      (!first || !strstr(first + 1, "No cell becomes certain")),
                  "%d: %s", quiet, text);
        cr_assert(quiet || strstr(text, "Each of the first 2 launches was disturbed. "), "%s",
                  text);
        free(text);
        free(cells);
    }
}
