/* claims.c: what the report says about points: ratios, lost time, hidden time. */
#include "points_bench.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The bound of 4 devices on 2 cores is a speed-up of 2, on GPUs it is 4; that of 3 rows on 2
 * devices is 1.5. */
Test(claims, the_bound_counts_cores)
{
    static const struct {
        const char *kind;
        int devices, cores, usable;
        size_t rows;
        double speedup;
    } list[] = {
        {"virt", 4, 2, 2, 64, 2}, {"virt", 4, 2, 4, 64, 2},  {"virt", 4, 8, 2, 64, 2},
        {"virt", 4, 8, 8, 64, 4}, {"virt", 2, 2, 2, 3, 1.5}, {"virt", 8, 4, 4, 10, 4},
        {"virt", 8, 6, 6, 10, 5}, {"virt", 4, 0, 0, 64, 4},  {"virt", 4, 0, 2, 64, 2},
        {"cuda", 4, 2, 2, 64, 4},
    };
    for (size_t i = 0; i < sizeof list / sizeof list[0]; ++i) {
        struct bench *bench = bench_open("strong");
        bench->run.cores = list[i].cores;
        bench->run.usable_pus = list[i].usable;
        struct report_row *row = bench_add(bench, "dp", list[i].devices, list[i].rows, 0, 100);
        snprintf(row->kind, sizeof row->kind, "%s", list[i].kind);
        bench_make(bench);
        cr_assert(bench_near(bench->point[0].bound * list[i].devices, list[i].speedup),
                  "row %zu: %g", i, bench->point[0].bound * list[i].devices);
        bench_close(bench);
    }
}

/* The rows per device stay the same, and there are no more cores: at best the step takes twice as
 * long. */
Test(claims, weak_scaling_has_cores_too)
{
    struct bench *bench = bench_open("weak");
    bench->run.cores = bench->run.usable_pus = 2;
    bench_add(bench, "dp", 1, 30, 0, 100);
    bench_add(bench, "dp", 4, 120, 0, 250);
    bench_make(bench);
    struct report_limit limit;
    report_limit_of(&bench->point[1], &limit);
    cr_assert(bench_near(limit.of_bound, 0.8) && bench_near(limit.missing, 50.0 / 250), "%g",
              limit.missing);
    bench_close(bench);
}

Test(claims, losses_add_up)
{
    struct bench *bench = bench_open("strong");
    bench_add(bench, "plain", 1, 30, 0, 100);
    bench_phase(bench, 0, RECORD_FORWARD, 30);
    bench_phase(bench, 0, RECORD_BACKWARD, 60);
    bench_add(bench, "dp", 2, 30, 0, 80);
    bench_phase(bench, 1, RECORD_FORWARD, 19);
    bench_phase(bench, 1, RECORD_BACKWARD, 28);
    bench_phase(bench, 1, RECORD_REDUCE, 16);
    bench_make(bench);
    struct report_limit limit;
    const struct report_point *point = report_group_best(&bench->group[0]);
    cr_assert(point == &bench->point[1]);
    cr_assert(report_limit_of(point, &limit));
    cr_assert(bench_near(limit.of_bound, 100.0 / 160) && bench_near(limit.missing, 30.0 / 80));
    /* The step takes 80 ns where 50 would do: reduce 16, forward 19 - 15, backward 28 - 30, no
     * phase 12. */
    static const double losses[] = {2.0 / 80, 16.0 / 80, 0, 12.0 / 80};
    double sum = 0;
    for (enum report_loss l = 0; l < REPORT_LOSSES; ++l) {
        sum += limit.loss[l];
        cr_assert(fabs(limit.loss[l] - losses[l]) <= 1e-12, "loss %d: %g", l, limit.loss[l]);
    }
    cr_assert(fabs(sum - limit.missing) <= 1e-12, "%.17g", sum);
    cr_assert(limit.most == REPORT_LOSS_MOVES);
    bench_close(bench);
}

/* The lost part is one minus the reached part, of the same pairs of launches. The medians alone
 * would say that two devices are at 111 % of their bound. */
Test(claims, what_is_lost_is_what_was_not_reached)
{
    static const double base[] = {100, 200, 300}, steps[] = {60, 90, 240};
    struct bench *bench = bench_open("strong");
    for (int l = 0; l < 3; ++l) {
        const size_t cell = bench->report.n_rows;
        bench_add(bench, "plain", 1, 30, l, base[l]);
        bench_phase(bench, cell, RECORD_FORWARD, 0.9 * base[l]);
        bench_add(bench, "dp", 2, 30, l, steps[l]);
        bench_phase(bench, cell + 1, RECORD_FORWARD, 0.7 * steps[l]);
        bench_phase(bench, cell + 1, RECORD_REDUCE, (l + 1) * 0.05 * steps[l]);
    }
    bench_make(bench);
    struct report_limit limit;
    const struct report_point *point = &bench->point[1];
    double sum = 0;
    cr_assert(report_limit_of(point, &limit));
    cr_assert(bench_near(limit.of_bound, 5.0 / 6) && bench_near(limit.missing, 1 - limit.of_bound));
    for (enum report_loss l = 0; l < REPORT_LOSSES; ++l)
        sum += limit.loss[l];
    cr_assert(bench_near(sum, limit.missing), "parts of %g are %g", limit.missing, sum);
    bench_close(bench);
}

/* The medians of the parts do not add up to anything near the whole: then no parts are reported. */
Test(claims, parts_that_do_not_add_up_are_not_told)
{
    static const double forward[] = {95, 5, 5}, backward[] = {5, 95, 5}, reduce[] = {0, 0, 90};
    struct bench *bench = bench_open("strong");
    for (int l = 0; l < 3; ++l) {
        const size_t cell = bench->report.n_rows;
        bench_add(bench, "plain", 1, 30, l, 100);
        bench_add(bench, "dp", 2, 30, l, 100);
        bench_phase(bench, cell + 1, RECORD_FORWARD, forward[l]);
        bench_phase(bench, cell + 1, RECORD_BACKWARD, backward[l]);
        bench_phase(bench, cell + 1, RECORD_REDUCE, reduce[l]);
    }
    bench_make(bench);
    struct report_limit limit;
    cr_assert(!report_limit_of(&bench->point[1], &limit) && !(limit.loss[limit.most] > 0));
    cr_assert(bench_near(limit.missing, 0.5));
    bench_close(bench);
}

/* Compares a text in the first row of a table. */
static void check_words(const struct bench *bench, enum report_table_id which, const char *heading,
                        int after, const char *want)
{
    char text[REPORT_CELL_TEXT];
    bench_cell(&bench->report, which, 0, heading, after, text);
    cr_assert(strcmp(text, want) == 0, "%s, not %s", text, want);
}

/* A ratio of two cells is one number, in either direction, and has an interval. */
Test(claims, a_ratio_and_its_inverse_say_the_same)
{
    static const double plain[] = {100, 110, 105, 130, 95, 120};
    static const double single[] = {120, 100, 130, 140, 90, 150};
    static const double ranks[] = {90, 130, 125, 110, 100, 160};
    struct bench *bench = bench_open("strong");
    for (int l = 0; l < 6; ++l) {
        bench_add(bench, "plain", 1, 30, l, plain[l]);
        bench_add(bench, "dp", 1, 30, l, single[l]);
        bench_add(bench, "ddp", 1, 30, l, ranks[l]);
    }
    bench_make(bench);
    const struct report_point *one = &bench->point[1], *ddp = &bench->point[2];
    const double faster = (130.0 / 140 + 100.0 / 120) / 2;
    bench_value(&one->value[REPORT_SPEEDUP], faster, 120.0 / 150, 110.0 / 100, REPORT_INTERVAL, 6);
    check_words(bench, REPORT_TABLE_BASES, "DataParallel / plain, by launch", 0, "1.14\u00d7?");
    check_words(bench, REPORT_TABLE_BASES, "DataParallel / plain, by launch", 1, "[0.91, 1.25]");
    /* The ratios by launch are 1.33, 0.77, 1.04, 1.27, 0.9, 0.94: the interval is 0.9375 to 1.04.
     */
    cr_assert(ddp->peer == one);
    bench_value(&ddp->value[REPORT_BESIDE], 1 / ((150.0 / 160 + 130.0 / 125) / 2), 90.0 / 120,
                130.0 / 100, REPORT_INTERVAL, 6);
    check_words(bench, REPORT_TABLE_RANKS, "DDP / DP, by launch", 0, "1.01?");
    check_words(bench, REPORT_TABLE_RANKS, "DDP / DP, by launch", 1, "[0.75, 1.30]");
    bench_close(bench);
}

/* Makes six launches with a reduction of 40 ns in steps with that noise. */
static struct bench *overlapping(const double wholes[6])
{
    struct bench *bench = bench_open("strong");
    for (int l = 0; l < 6; ++l) {
        struct record_cell *cell = &bench->cell[bench->report.n_rows];
        bench_add(bench, "ddp", 2, 30, l, 100);
        cell->compute_alone_ns = 100;
        cell->comm_alone_ns = 40;
        cell->whole_ns = wholes[l];
        /* The value that older records have. */
        cell->hidden_frac = fmin(fmax((140 - wholes[l]) / 40, 0), 1);
    }
    bench_make(bench);
    return bench;
}

/* All but a tenth of a reduction is hidden, in the median: cutting values off must not change it.
 */
Test(claims, hidden_is_not_cut_before_its_median)
{
    static const double quiet[] = {96, 98, 104, 104, 110, 112};
    static const double loud[] = {20, 90, 104, 104, 200, 500};
    struct bench *bench = overlapping(quiet);
    char text[REPORT_CELL_TEXT] = "";
    bench_value(&bench->point[0].value[REPORT_HIDDEN], 0.9, 0.7, 1.1, REPORT_INTERVAL, 6);
    report_metric_words(&bench->point[0], REPORT_HIDDEN, text);
    cr_assert(strcmp(text, "90\u00a0%") == 0, "%s", text);
    bench_close(bench);
    bench = overlapping(loud);
    text[0] = '\0';
    bench_value(&bench->point[0].value[REPORT_HIDDEN], 0.9, -9, 3, REPORT_INTERVAL, 6);
    report_metric_words(&bench->point[0], REPORT_HIDDEN, text);
    cr_assert(strcmp(text, "not resolved: reduction 40.0\u00a0ns, noise of the step 240\u00a0ns") ==
                  0,
              "%s", text);
    bench_fail(&bench->row[5]);
    bench_make(bench);
    text[0] = '\0';
    report_metric_words(&bench->point[0], REPORT_HIDDEN, text);
    cr_assert(strstr(text, "too few launches"), "%s", text);
    bench_close(bench);
}

Test(claims, losses_need_phases_and_a_base)
{
    struct bench *bench = bench_open("strong");
    struct report_limit limit;
    bench_add(bench, "dp", 1, 30, 0, 100);
    bench_add(bench, "dp", 2, 30, 0, 80);
    bench_add(bench, "dp", 2, 60, 0, 80);
    bench_make(bench);
    cr_assert(!report_limit_of(&bench->point[1], &limit), "no phase is known");
    cr_assert(bench_near(limit.of_bound, 100.0 / 160));
    cr_assert(!report_limit_of(&bench->point[2], &limit), "there is no base");
    bench_close(bench);
}

Test(claims, the_best_point_has_cores_of_its_own)
{
    struct bench *bench = bench_open("strong");
    for (int devices = 1; devices <= 8; devices *= 2) {
        bench_add(bench, "dp", devices, 30, 0, 100);
        bench_add(bench, "dp", devices, 64, 0, 200);
        bench->cell[bench->report.n_rows - 1].oversubscribed = devices > 4;
        bench->cell[bench->report.n_rows - 2].oversubscribed = devices > 4;
    }
    bench_make(bench);
    const struct report_point *best = report_group_best(&bench->group[0]);
    cr_assert(best->row->cell->key.n_devices == 4 && best->row->cell->key.global_batch == 64);
    struct report_base base;
    size_t at[3] = {0}, n = 0;
    while (report_base_next(&bench->group[0], at, &base))
        cr_assert(!base.plain && base.single == &bench->point[n++]);
    cr_assert(n == 2);
    bench_close(bench);
}

static void status_is(const char *workload, const char *want)
{
    struct bench *bench = bench_open("strong");
    char text[REPORT_CELL_TEXT];
    bench_add(bench, "dp", 2, 30, 0, 100);
    bench->cell[0].steady_state = true;
    snprintf(bench->cell[0].key.workload, sizeof bench->cell[0].key.workload, "%s", workload);
    bench_make(bench);
    bench_cell(&bench->report, REPORT_TABLE_CELLS, 0, "Status", 0, text);
    cr_assert(strcmp(text, want) == 0, "%s: %s", workload, text);
    bench_close(bench);
}

/* Results that round were not compared bit for bit, and the report does not say that they were. */
Test(claims, only_what_is_exact_is_said_to_be)
{
    static const char *const exact[] = {"tutorial", "mlp:8,6,4", "cnn"};
    static const char *const rounds[] = {"rnn", "lstm", "capsnet", "resnet", "one that is new"};
    for (size_t i = 0; i < sizeof exact / sizeof exact[0]; ++i)
        status_is(exact[i], "verified");
    for (size_t i = 0; i < sizeof rounds / sizeof rounds[0]; ++i)
        status_is(rounds[i], "verified within bounds");
}

/* Stalls are in the mean step, and samples/s follow from the median: the page says where the two
 * differ. */
Test(claims, stalls_are_said)
{
    struct bench *bench = bench_open("strong");
    char *text = NULL;
    size_t bytes = 0;
    struct text_out out = {.file = open_memstream(&text, &bytes), .form = TEXT_MARKDOWN};
    cr_assert(out.file);
    bench_add(bench, "dp", 1, 30, 0, 100);
    bench_add(bench, "dp", 2, 30, 0, 80);
    bench_add(bench, "dp", 3, 30, 0, 60);
    struct report_run run = {.run = &bench->run, .drift = {.change_p = NAN, .lag1_p = NAN}};
    bench->report.run = &run;
    bench->report.n_runs = 1;
    bench->cell[0].mean_ns = 124;
    bench->cell[1].mean_ns = 100;
    bench->cell[2].mean_ns = 180;
    bench_make(bench);
    report_cautions(&out, &bench->report);
    cr_assert(fclose(out.file) == 0);
    cr_assert(strstr(text, "In 2 of 3 cells a step takes 1.25 times as long in the mean") &&
                  strstr(text, "(at most 3.0 times)"),
              "%s", text);
    free(text);
    bench_close(bench);
}
