/* points.c: launches summed up on hand-made rows: intervals, ranges, pairs, base cases. */
#include "points_bench.h"
#include "report/page.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

Test(points, six_launches_give_an_interval)
{
    static const double steps[] = {60, 20, 50, 10, 30, 40};
    struct bench *bench = bench_open("strong");
    for (int l = 0; l < 6; ++l)
        bench_add(bench, "dp", 1, 30, l, steps[l]);
    bench_make(bench);
    cr_assert(bench->report.n_points == 1 && bench->report.n_groups == 1);
    const struct report_point *point = &bench->point[0];
    bench_value(&point->value[REPORT_STEP], 35, 10, 60, REPORT_INTERVAL, 6);
    cr_assert(bench_near(point->value[REPORT_STEP].coverage, 0.96875), "%.17g",
              point->value[REPORT_STEP].coverage);
    cr_assert(point->value[REPORT_THROUGHPUT].range == REPORT_INTERVAL);
    /* It follows from the step in the same row; the median of the six rates would not. */
    bench_value(&point->value[REPORT_THROUGHPUT], 30e9 / 35, 30e9 / 60, 30e9 / 10, REPORT_INTERVAL,
                6);
    cr_assert(point->middle->cell->key.launch == 4, "launch %d", point->middle->cell->key.launch);
    bench_close(bench);
}

enum { STEPS = 100 };

/* Makes launches whose first steps are slower by a part and that differ by chance; NULL: no memory.
 */
static uint64_t *settle(struct bench *bench, int launches, double slower)
{
    uint64_t *ns = calloc((size_t)launches * STEPS, sizeof *ns);
    static unsigned flags[STEPS] = {[0] = RECORD_WARMUP};
    cr_assert(ns);
    for (int l = 0; l < launches; ++l) {
        struct record_cell *cell = &bench->cell[bench->report.n_rows];
        bench_add(bench, "dp", 1, 30, l, 1000);
        for (int i = 0; i < STEPS; ++i) {
            const double noise = 1 + 0.01 * ((i * 37 + l * 11) % 7 - 3);
            ns[l * STEPS + i] = (uint64_t)(1e6 * noise * (i <= 10 ? 1 + slower : 1));
        }
        ns[l * STEPS] = 100000000; /* the warm-up step does not count */
        cell->t_step_ns = ns + (size_t)l * STEPS;
        cell->flags = flags;
        cell->n_samples = STEPS;
    }
    bench_make(bench);
    report_settling_make(&bench->report);
    return ns;
}

Test(points, steps_that_get_faster_are_seen_across_launches)
{
    static const struct {
        int launches;
        double slower;
        bool settles;
    } rows[] = {
        {6, 0, false}, {6, 0.01, false}, {6, 0.06, true}, {2, 0.5, false}, {6, -0.2, false}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
        struct bench *bench = bench_open("strong");
        uint64_t *ns = settle(bench, rows[i].launches, rows[i].slower);
        const struct report_point *point = &bench->point[0];
        cr_assert(report_settles(point) == rows[i].settles, "row %zu: %g [%g, %g]", i,
                  point->settled_by, point->settling.lo, point->settling.hi);
        cr_assert(fabs(point->settled_by - log(1 + rows[i].slower)) < 0.015, "row %zu: %g", i,
                  point->settled_by);
        cr_assert(point->settling.valid == (rows[i].launches > 2));
        free(ns);
        bench_close(bench);
    }
}

Test(points, ten_launches_give_a_narrower_interval)
{
    struct bench *bench = bench_open("strong");
    for (int l = 0; l < 10; ++l)
        bench_add(bench, "dp", 1, 30, l, 10.0 * (l + 1));
    bench_make(bench);
    bench_value(&bench->point[0].value[REPORT_STEP], 55, 20, 90, REPORT_INTERVAL, 10);
    cr_assert(bench_near(bench->point[0].value[REPORT_STEP].coverage, 1002.0 / 1024));
    bench_close(bench);
}

Test(points, five_launches_give_a_range)
{
    struct bench *bench = bench_open("strong");
    for (int l = 0; l < 5; ++l)
        bench_add(bench, "dp", 1, 30, l, 10.0 * (l + 1));
    bench_make(bench);
    bench_value(&bench->point[0].value[REPORT_STEP], 30, 10, 50, REPORT_LAUNCHES, 5);
    bench_value(&bench->point[0].value[REPORT_SPEEDUP], 1, 1, 1, REPORT_LAUNCHES, 5);
    bench_close(bench);
}

Test(points, one_launch_shows_its_steps)
{
    struct bench *bench = bench_open("strong");
    bench_add(bench, "dp", 1, 30, 0, 100);
    bench_add(bench, "dp", 2, 30, 0, 60);
    bench_make(bench);
    bench_value(&bench->point[0].value[REPORT_STEP], 100, 99, 101, REPORT_STEPS, 40);
    bench_value(&bench->point[0].value[REPORT_THROUGHPUT], 30e9 / 100, 30e9 / 101, 30e9 / 99,
                REPORT_STEPS, 40);
    bench_value(&bench->point[1].value[REPORT_SPEEDUP], 100.0 / 60, 0, 0, REPORT_NONE, 1);
    bench_value(&bench->point[1].value[REPORT_EFFICIENCY], 50.0 / 60, 0, 0, REPORT_NONE, 1);
    bench_close(bench);
}

/* The properties of the work that a launch records in addition to its key tell launches apart; a
 * failed launch may not know them. */
Test(points, launches_of_other_work_are_another_point)
{
    struct bench *bench = bench_open("strong");
    for (int l = 0; l < 6; ++l) {
        struct report_row *row = bench_add(bench, "dp", 1, 30, l, 10.0 * (l + 1));
        bench->cell[l].model_params = l % 2 == 0 ? 82 : 83;
        if (l == 5) {
            bench_fail(row);
            bench->cell[l].model_params = 0;
        }
    }
    bench_make(bench);
    cr_assert(bench->report.n_points == 2, "%zu points", bench->report.n_points);
    const struct report_point *one = &bench->point[0], *other = &bench->point[1];
    cr_assert(one->n == 4 && one->verified == 3 && other->n == 2 && other->verified == 2);
    bench_value(&one->value[REPORT_STEP], 30, 10, 50, REPORT_LAUNCHES, 3);
    bench_value(&other->value[REPORT_STEP], 30, 20, 40, REPORT_LAUNCHES, 2);
    bench_close(bench);
}

Test(points, failed_launches_are_left_out)
{
    struct bench *bench = bench_open("strong");
    for (int l = 0; l < 6; ++l) {
        struct report_row *row = bench_add(bench, "dp", 1, 30, l, 10.0 * (l + 1));
        if (l == 5)
            bench_fail(row);
    }
    bench_fail(bench_add(bench, "dp", 2, 30, 0, 1));
    bench_make(bench);
    const struct report_point *point = &bench->point[0], *none = &bench->point[1];
    cr_assert(point->n == 6 && point->verified == 5);
    bench_value(&point->value[REPORT_STEP], 30, 10, 50, REPORT_LAUNCHES, 5);
    cr_assert(report_point_failed(point) && report_point_failed(none));
    cr_assert(none->verified == 0 && !none->middle && isnan(none->value[REPORT_STEP].middle));
    cr_assert(isnan(none->value[REPORT_SPEEDUP].middle) &&
              none->value[REPORT_SPEEDUP].range == REPORT_NONE);
    char text[REPORT_CELL_TEXT];
    bench_cell(&bench->report, REPORT_TABLE_CELLS, (size_t)(point - bench->point), "Status", 0,
               text);
    cr_assert(strcmp(text, "verified, 1 of 6 launches FAILED") == 0, "%s", text);
    bench_close(bench);
}

Test(points, a_launch_missing_in_the_base_drops_the_pair)
{
    struct bench *bench = bench_open("strong");
    bench_add(bench, "plain", 1, 30, 0, 100);
    bench_fail(bench_add(bench, "plain", 1, 30, 1, 100));
    bench_add(bench, "plain", 1, 30, 3, 130);
    for (int l = 0; l < 4; ++l)
        bench_add(bench, "dp", 2, 30, l, 50.0 + 10 * l);
    bench_make(bench);
    const struct report_point *point = &bench->point[1];
    cr_assert(point->base == &bench->point[0] && report_is_plain(point->base));
    /* Launch 0: 100 / 50; launch 3: 130 / 80. The medians alone would say 115 / 65. */
    bench_value(&point->value[REPORT_SPEEDUP], (2 + 1.625) / 2, 1.625, 2, REPORT_LAUNCHES, 2);
    bench_value(&point->value[REPORT_EFFICIENCY], (2 + 1.625) / 4, 1.625 / 2, 1, REPORT_LAUNCHES,
                2);
    bench_close(bench);
}

/* Seven launches each have an interval, but only five pairs: their range must not be called one. */
Test(points, few_pairs_of_many_launches_give_a_range)
{
    struct bench *bench = bench_open("strong");
    char text[REPORT_CELL_TEXT] = "";
    for (int l = 0; l < 7; ++l) {
        struct report_row *base = bench_add(bench, "dp", 1, 30, l, 100);
        struct report_row *row = bench_add(bench, "dp", 2, 30, l, 50 + l);
        if (l < 1)
            bench_fail(base);
        else if (l < 2)
            bench_fail(row);
    }
    bench_make(bench);
    const struct report_point *point = &bench->point[1];
    bench_value(&point->value[REPORT_STEP], 53.5, 50, 56, REPORT_INTERVAL, 6);
    bench_value(&point->value[REPORT_SPEEDUP], 100.0 / 54, 100.0 / 56, 100.0 / 52, REPORT_LAUNCHES,
                5);
    char *table = bench_table(&bench->report, REPORT_TABLE_CELLS);
    cr_assert(strstr(table, "| Median step | 95\u00a0% interval |"), "%s", table);
    cr_assert(strstr(table, "| Speed-up | Range of launches |"), "%s", table);
    free(table);
    bench_cell(&bench->report, REPORT_TABLE_CELLS, 1, "Speed-up", 1, text);
    cr_assert(strcmp(text, "1.79..1.92 (5 pairs)") == 0, "%s", text);
    bench_close(bench);
}

Test(points, runs_are_paired_with_themselves)
{
    struct bench *bench = bench_open("strong");
    bench_add(bench, "dp", 1, 30, 0, 100);
    bench_add(bench, "dp", 1, 30, 0, 300)->run = &bench->other_run;
    bench_add(bench, "dp", 2, 30, 0, 50);
    bench_add(bench, "dp", 2, 30, 0, 100)->run = &bench->other_run;
    bench_add(bench, "dp", 3, 30, 7, 40);
    bench_make(bench);
    cr_assert(bench->report.n_points == 3);
    bench_value(&bench->point[1].value[REPORT_SPEEDUP], 2.5, 2, 3, REPORT_LAUNCHES, 2);
    /* There is no launch in common: the ratio is that of the medians, without a range and without
     * pairs. */
    bench_value(&bench->point[2].value[REPORT_SPEEDUP], 5, 0, 0, REPORT_NONE, 0);
    bench_close(bench);
}

/* Launches of two sessions are no pairs, whatever their numbers. */
Test(points, sittings_are_paired_with_themselves)
{
    struct bench *bench = bench_open("strong");
    for (int l = 0; l < 3; ++l) {
        struct report_row *base = bench_add(bench, "dp", 1, 30, l, 100);
        struct report_row *row = bench_add(bench, "dp", 2, 30, l, 50 + 10 * l);
        bench->cell[base - bench->row].sitting = l > 0;
        bench->cell[row - bench->row].sitting = l > 1;
    }
    bench_make(bench);
    /* Launches 0 and 2: 100 / 50 and 100 / 70; launch 1 is of session 1 in one cell and of session
     * 0 in the other. */
    bench_value(&bench->point[1].value[REPORT_SPEEDUP], (2 + 100.0 / 70) / 2, 100.0 / 70, 2,
                REPORT_LAUNCHES, 2);
    bench_close(bench);
}

Test(points, weak_scaling_compares_rows_per_device)
{
    struct bench *bench = bench_open("weak");
    bench_add(bench, "dp", 1, 30, 0, 98);
    bench_add(bench, "dp", 1, 60, 0, 198);
    bench_add(bench, "dp", 2, 60, 0, 118);
    bench_make(bench);
    const struct report_point *point = &bench->point[2];
    cr_assert(point->single == &bench->point[0] && point->base == point->single);
    cr_assert(!point->plain);
    bench_value(&point->value[REPORT_SPEEDUP], 2 * 98.0 / 118, 0, 0, REPORT_NONE, 1);
    bench_value(&point->value[REPORT_EFFICIENCY], 98.0 / 118, 0, 0, REPORT_NONE, 1);
    cr_assert(bench_near(point->bound, 1));
    /* The lost part is the same in all sentences. */
    struct report_limit limit;
    report_limit_of(point, &limit);
    cr_assert(bench_near(limit.missing, 1 - limit.of_bound), "%g of %g", limit.missing,
              limit.of_bound);
    bench_close(bench);
}

/* Two of four ranks are on each of two hosts, which do not share their cores. */
Test(points, the_cores_are_those_of_all_hosts)
{
    static const struct {
        int cores, usable, hosts;
        double bound;
    } rows[] = {{1, 1, 0, 0.25}, {1, 1, 1, 0.25}, {1, 1, 2, 0.5}, {8, 1, 2, 0.5},
                {2, 8, 2, 1},    {8, 8, 2, 1},    {0, 0, 2, 1}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
        struct bench *bench = bench_open("strong");
        bench->run.cores = rows[i].cores;
        bench->run.usable_pus = rows[i].usable;
        bench_add(bench, "ddp", 4, 32, 0, 100);
        bench->cell[0].hosts = rows[i].hosts;
        bench_make(bench);
        cr_assert(bench_near(bench->point[0].bound, rows[i].bound), "row %zu: %g", i,
                  bench->point[0].bound);
        bench_close(bench);
    }
}

Test(points, plain_comes_before_one_device)
{
    struct bench *bench = bench_open("strong");
    bench_add(bench, "dp", 1, 10, 0, 100);
    bench_add(bench, "dp", 8, 10, 0, 40);
    bench_add(bench, "dp", 1, 30, 0, 100);
    bench_add(bench, "plain", 1, 10, 0, 80);
    bench_fail(bench_add(bench, "plain", 1, 30, 0, 80));
    bench_add(bench, "dp", 2, 64, 0, 80);
    bench_make(bench);
    const struct report_point *p = bench->point;
    cr_assert(bench->report.n_groups == 1 && bench->group[0].n == 6);
    cr_assert(report_is_plain(&p[0]) && report_is_plain(&p[1]) && !report_is_plain(&p[2]));
    cr_assert(p[2].base == &p[0] && p[2].single == &p[2]);
    bench_value(&p[2].value[REPORT_SPEEDUP], 0.8, 0, 0, REPORT_NONE, 1);
    cr_assert(!p[3].plain && p[3].base == &p[3], "a failed base case was used");
    cr_assert(!p[4].base && isnan(p[4].value[REPORT_SPEEDUP].middle), "no base at that batch");
    cr_assert(p[5].row->cell->key.n_devices == 8 && bench_near(p[5].bound, 10.0 / 16));
    bench_value(&p[5].value[REPORT_SPEEDUP], 2, 0, 0, REPORT_NONE, 1);
    bench_close(bench);
}

Test(points, settings_are_not_compared)
{
    struct bench *bench = bench_open("strong");
    struct report_row *row = bench_add(bench, "dp", 1, 30, 0, 100);
    row->variant = 1;
    bench_add(bench, "dp", 2, 30, 0, 50);
    bench_make(bench);
    cr_assert(bench->report.n_groups == 2);
    cr_assert(!bench->point[0].base);
    bench_close(bench);
}

/* The first launch crashed before it knew that its cores were shared. */
Test(points, sharing_is_what_verified_launches_say)
{
    struct bench *bench = bench_open("strong");
    bench_fail(bench_add(bench, "dp", 8, 30, 0, 100));
    bench_add(bench, "dp", 8, 30, 1, 100);
    bench->cell[1].oversubscribed = true;
    bench_make(bench);
    cr_assert(bench->report.n_points == 1 && bench->point[0].verified == 1);
    cr_assert(report_oversubscribed(&bench->point[0]));
    bench_close(bench);
}

Test(points, phases_are_medians_of_the_launches_that_know_them)
{
    uint64_t measured = 0;
    struct bench *bench = bench_open("strong");
    for (int l = 0; l < 4; ++l) {
        struct record_cell *cell = &bench->cell[bench->report.n_rows];
        struct report_row *row = bench_add(bench, "dp", 1, 30, l, 100);
        cell->phase_ns[RECORD_REDUCE] = l == 3 ? NULL : &measured;
        cell->phase_median_ns[RECORD_REDUCE] = 10.0 * l;
        cell->outside_frac = l == 0 ? NAN : 0.1 * l;
        cell->phase_ns[RECORD_LOSS] = &measured;
        if (l == 2)
            bench_fail(row);
    }
    bench_make(bench);
    cr_assert(bench_near(bench->point[0].value[REPORT_PHASE + RECORD_REDUCE].middle, 5));
    cr_assert(isnan(bench->point[0].value[REPORT_PHASE + RECORD_LOSS].middle));
    cr_assert(isnan(bench->point[0].value[REPORT_PHASE + RECORD_SCATTER].middle));
    cr_assert(bench_near(bench->point[0].value[REPORT_OUTSIDE].middle, 0.2), "%g",
              bench->point[0].value[REPORT_OUTSIDE].middle);
    bench_close(bench);
}
