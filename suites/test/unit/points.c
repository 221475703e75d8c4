/* points.c: launches summed up on hand-made rows: intervals, ranges, pairs, base cases. */
#include "report/report.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define CAPACITY 64

/* Rows as report_rows.c makes them, and room for what comes of them. */
struct bench {
    struct record_run run, other_run;
    struct record_cell cell[CAPACITY];
    struct report_row row[CAPACITY];
    struct report_point point[CAPACITY];
    struct report_group group[CAPACITY];
    struct report report;
};

static struct bench *open_bench(const char *scaling)
{
    struct bench *bench = calloc(1, sizeof *bench);
    cr_assert(bench);
    snprintf(bench->run.run_id, sizeof bench->run.run_id, "a");
    snprintf(bench->run.source, sizeof bench->run.source, "measured");
    snprintf(bench->run.scaling, sizeof bench->run.scaling, "%s", scaling);
    bench->other_run = bench->run;
    snprintf(bench->other_run.run_id, sizeof bench->other_run.run_id, "b");
    bench->report =
        (struct report){.row = bench->row, .point = bench->point, .group = bench->group};
    return bench;
}

static void close_bench(struct bench *bench)
{
    free(bench->report.bucket);
    free(bench);
}

/* One verified launch; its mean is 2 ns more than the median. */
static struct report_row *add(struct bench *bench, const char *mode, int devices, size_t batch,
                              int launch, double median_ns)
{
    const size_t i = bench->report.n_rows++;
    cr_assert(i < CAPACITY);
    struct record_cell *cell = &bench->cell[i];
    struct report_row *row = &bench->row[i];
    snprintf(cell->key.workload, sizeof cell->key.workload, "tutorial");
    snprintf(cell->key.mode, sizeof cell->key.mode, "%s", mode);
    cell->key.n_devices = devices;
    cell->key.global_batch = batch;
    cell->key.launch = launch;
    cell->n_valid = 40;
    cell->median_ns = median_ns;
    cell->p05_ns = median_ns - 1;
    cell->p95_ns = median_ns + 1;
    cell->mean_ns = median_ns + 2;
    cell->throughput_samples_per_s = 1e9 * (double)batch / cell->mean_ns;
    for (int p = 0; p < RECORD_PHASES; ++p) {
        cell->phase_median_ns[p] = NAN;
    }
    cell->outside_frac = NAN;
    *row = (struct report_row){
        .run = &bench->run, .cell = cell, .kind = "virt", .verified = true, .state = "verified"};
    return row;
}

static void fail(struct report_row *row)
{
    row->verified = false;
    row->state = "failed";
}

static void make(struct bench *bench)
{
    qsort(bench->row, bench->report.n_rows, sizeof bench->row[0], report_row_order);
    cr_assert(report_points_make(&bench->report) == 0);
}

static bool near(double got, double want)
{
    return fabs(got - want) <= 1e-12 * fabs(want);
}

static void check_value(const struct report_value *got, double middle, double lo, double hi,
                        enum report_range range, size_t n)
{
    cr_assert(near(got->middle, middle), "middle %.17g, not %.17g", got->middle, middle);
    cr_assert(range == REPORT_NONE ? isnan(got->lo) && isnan(got->hi)
                                   : near(got->lo, lo) && near(got->hi, hi),
              "%.17g..%.17g, not %.17g..%.17g", got->lo, got->hi, lo, hi);
    cr_assert(got->range == range && got->n == n, "range %d of %zu", (int)got->range, got->n);
    cr_assert(isnan(got->coverage) == (range != REPORT_INTERVAL));
}

Test(points, six_launches_give_an_interval)
{
    static const double steps[] = {60, 20, 50, 10, 30, 40};
    struct bench *bench = open_bench("strong");
    for (int l = 0; l < 6; ++l) {
        add(bench, "dp", 1, 30, l, steps[l]);
    }
    make(bench);
    cr_assert(bench->report.n_points == 1 && bench->report.n_groups == 1);
    const struct report_point *point = &bench->point[0];
    check_value(&point->value[REPORT_STEP], 35, 10, 60, REPORT_INTERVAL, 6);
    cr_assert(near(point->value[REPORT_STEP].coverage, 0.96875), "%.17g",
              point->value[REPORT_STEP].coverage);
    cr_assert(point->value[REPORT_THROUGHPUT].range == REPORT_INTERVAL);
    /* It follows from the step beside it, which the median of the six rates would not. */
    check_value(&point->value[REPORT_THROUGHPUT], 30e9 / 35, 30e9 / 60, 30e9 / 10, REPORT_INTERVAL,
                6);
    cr_assert(point->middle->cell->key.launch == 4, "launch %d", point->middle->cell->key.launch);
    close_bench(bench);
}

enum { STEPS = 100 };

/* Launches that begin slower by a part and differ from each other by chance; NULL: memory. */
static uint64_t *settle(struct bench *bench, int launches, double slower)
{
    uint64_t *ns = calloc((size_t)launches * STEPS, sizeof *ns);
    static unsigned flags[STEPS] = {[0] = RECORD_WARMUP};
    cr_assert(ns);
    for (int l = 0; l < launches; ++l) {
        struct record_cell *cell = &bench->cell[bench->report.n_rows];
        add(bench, "dp", 1, 30, l, 1000);
        for (int i = 0; i < STEPS; ++i) {
            const double noise = 1 + 0.01 * ((i * 37 + l * 11) % 7 - 3);
            ns[l * STEPS + i] = (uint64_t)(1e6 * noise * (i <= 10 ? 1 + slower : 1));
        }
        ns[l * STEPS] = 100000000; /* the step of the warm-up counts for nothing */
        cell->t_step_ns = ns + (size_t)l * STEPS;
        cell->flags = flags;
        cell->n_samples = STEPS;
    }
    make(bench);
    cr_assert(report_settling_make(&bench->report) == 0);
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
        struct bench *bench = open_bench("strong");
        uint64_t *ns = settle(bench, rows[i].launches, rows[i].slower);
        const struct report_point *point = &bench->point[0];
        cr_assert(report_settles(point) == rows[i].settles, "row %zu: %g [%g, %g]", i,
                  point->settled_by, point->settling.lo, point->settling.hi);
        cr_assert(fabs(point->settled_by - log(1 + rows[i].slower)) < 0.015, "row %zu: %g", i,
                  point->settled_by);
        cr_assert(point->settling.valid == (rows[i].launches > 2));
        free(ns);
        close_bench(bench);
    }
}

Test(points, ten_launches_give_a_narrower_interval)
{
    struct bench *bench = open_bench("strong");
    for (int l = 0; l < 10; ++l) {
        add(bench, "dp", 1, 30, l, 10.0 * (l + 1));
    }
    make(bench);
    check_value(&bench->point[0].value[REPORT_STEP], 55, 20, 90, REPORT_INTERVAL, 10);
    cr_assert(near(bench->point[0].value[REPORT_STEP].coverage, 1002.0 / 1024));
    close_bench(bench);
}

Test(points, five_launches_give_a_range)
{
    struct bench *bench = open_bench("strong");
    for (int l = 0; l < 5; ++l) {
        add(bench, "dp", 1, 30, l, 10.0 * (l + 1));
    }
    make(bench);
    check_value(&bench->point[0].value[REPORT_STEP], 30, 10, 50, REPORT_LAUNCHES, 5);
    check_value(&bench->point[0].value[REPORT_SPEEDUP], 1, 1, 1, REPORT_LAUNCHES, 5);
    close_bench(bench);
}

Test(points, one_launch_shows_its_steps)
{
    struct bench *bench = open_bench("strong");
    add(bench, "dp", 1, 30, 0, 100);
    add(bench, "dp", 2, 30, 0, 60);
    make(bench);
    check_value(&bench->point[0].value[REPORT_STEP], 100, 99, 101, REPORT_STEPS, 40);
    check_value(&bench->point[0].value[REPORT_THROUGHPUT], 30e9 / 100, 30e9 / 101, 30e9 / 99,
                REPORT_STEPS, 40);
    check_value(&bench->point[1].value[REPORT_SPEEDUP], 100.0 / 60, 0, 0, REPORT_NONE, 1);
    check_value(&bench->point[1].value[REPORT_EFFICIENCY], 50.0 / 60, 0, 0, REPORT_NONE, 1);
    close_bench(bench);
}

Test(points, failed_launches_are_left_out)
{
    struct bench *bench = open_bench("strong");
    for (int l = 0; l < 6; ++l) {
        struct report_row *row = add(bench, "dp", 1, 30, l, 10.0 * (l + 1));
        if (l == 5) {
            fail(row);
        }
    }
    fail(add(bench, "dp", 2, 30, 0, 1));
    make(bench);
    const struct report_point *point = &bench->point[0], *none = &bench->point[1];
    cr_assert(point->n == 6 && point->verified == 5);
    check_value(&point->value[REPORT_STEP], 30, 10, 50, REPORT_LAUNCHES, 5);
    cr_assert(report_point_failed(point) && report_point_failed(none));
    cr_assert(none->verified == 0 && !none->middle && isnan(none->value[REPORT_STEP].middle));
    cr_assert(isnan(none->value[REPORT_SPEEDUP].middle) &&
              none->value[REPORT_SPEEDUP].range == REPORT_NONE);
    char text[REPORT_CELL_TEXT] = "";
    report_point_words(&bench->report, point, REPORT_STATUS_COLUMN, text);
    cr_assert(strcmp(text, "verified, 1 of 6 launches FAILED") == 0, "%s", text);
    close_bench(bench);
}

Test(points, a_launch_missing_in_the_base_drops_the_pair)
{
    struct bench *bench = open_bench("strong");
    add(bench, "plain", 1, 30, 0, 100);
    fail(add(bench, "plain", 1, 30, 1, 100));
    add(bench, "plain", 1, 30, 3, 130);
    for (int l = 0; l < 4; ++l) {
        add(bench, "dp", 2, 30, l, 50.0 + 10 * l);
    }
    make(bench);
    const struct report_point *point = &bench->point[1];
    cr_assert(point->base == &bench->point[0] && report_is_plain(point->base));
    /* Launch 0: 100 / 50; launch 3: 130 / 80. The medians alone would say 115 / 65. */
    check_value(&point->value[REPORT_SPEEDUP], (2 + 1.625) / 2, 1.625, 2, REPORT_LAUNCHES, 2);
    check_value(&point->value[REPORT_EFFICIENCY], (2 + 1.625) / 4, 1.625 / 2, 1, REPORT_LAUNCHES,
                2);
    close_bench(bench);
}

/* Seven launches each make intervals, but only five pairs: their range must not be called one. */
Test(points, few_pairs_of_many_launches_give_a_range)
{
    struct bench *bench = open_bench("strong");
    char text[REPORT_CELL_TEXT] = "";
    for (int l = 0; l < 7; ++l) {
        struct report_row *base = add(bench, "dp", 1, 30, l, 100);
        struct report_row *row = add(bench, "dp", 2, 30, l, 50 + l);
        if (l < 1) {
            fail(base);
        } else if (l < 2) {
            fail(row);
        }
    }
    make(bench);
    const struct report_point *point = &bench->point[1];
    check_value(&point->value[REPORT_STEP], 53.5, 50, 56, REPORT_INTERVAL, 6);
    check_value(&point->value[REPORT_SPEEDUP], 100.0 / 54, 100.0 / 56, 100.0 / 52, REPORT_LAUNCHES,
                5);
    cr_assert(strcmp(report_column_name(&bench->report, report_metric_column(REPORT_STEP, true)),
                     "95\u00a0% interval") == 0);
    cr_assert(strcmp(report_column_name(&bench->report, report_metric_column(REPORT_SPEEDUP, true)),
                     "Range of launches") == 0);
    report_point_words(&bench->report, point, report_metric_column(REPORT_SPEEDUP, true), text);
    cr_assert(strcmp(text, "1.79..1.92 (5 pairs)") == 0, "%s", text);
    close_bench(bench);
}

Test(points, runs_are_paired_with_themselves)
{
    struct bench *bench = open_bench("strong");
    add(bench, "dp", 1, 30, 0, 100);
    add(bench, "dp", 1, 30, 0, 300)->run = &bench->other_run;
    add(bench, "dp", 2, 30, 0, 50);
    add(bench, "dp", 2, 30, 0, 100)->run = &bench->other_run;
    add(bench, "dp", 3, 30, 7, 40);
    make(bench);
    cr_assert(bench->report.n_points == 3);
    check_value(&bench->point[1].value[REPORT_SPEEDUP], 2.5, 2, 3, REPORT_LAUNCHES, 2);
    /* No launch in common: the ratio of the medians, without a range and as of no pair. */
    check_value(&bench->point[2].value[REPORT_SPEEDUP], 5, 0, 0, REPORT_NONE, 0);
    close_bench(bench);
}

Test(points, weak_scaling_compares_rows_per_device)
{
    struct bench *bench = open_bench("weak");
    add(bench, "dp", 1, 30, 0, 98);
    add(bench, "dp", 1, 60, 0, 198);
    add(bench, "dp", 2, 60, 0, 118);
    make(bench);
    const struct report_point *point = &bench->point[2];
    cr_assert(point->single == &bench->point[0] && point->base == point->single);
    cr_assert(!point->plain);
    check_value(&point->value[REPORT_SPEEDUP], 2 * 98.0 / 118, 0, 0, REPORT_NONE, 1);
    check_value(&point->value[REPORT_EFFICIENCY], 98.0 / 118, 0, 0, REPORT_NONE, 1);
    cr_assert(near(point->bound, 1));
    /* What is lost is the same in all sentences. */
    struct report_limit limit;
    report_limit_of(point, &limit);
    cr_assert(near(limit.missing, 1 - limit.of_bound), "%g of %g", limit.missing, limit.of_bound);
    close_bench(bench);
}

Test(points, plain_comes_before_one_device)
{
    struct bench *bench = open_bench("strong");
    add(bench, "dp", 1, 10, 0, 100);
    add(bench, "dp", 8, 10, 0, 40);
    add(bench, "dp", 1, 30, 0, 100);
    add(bench, "plain", 1, 10, 0, 80);
    fail(add(bench, "plain", 1, 30, 0, 80));
    add(bench, "dp", 2, 64, 0, 80);
    make(bench);
    const struct report_point *p = bench->point;
    cr_assert(bench->report.n_groups == 1 && bench->group[0].n == 6);
    cr_assert(report_is_plain(&p[0]) && report_is_plain(&p[1]) && !report_is_plain(&p[2]));
    cr_assert(p[2].base == &p[0] && p[2].single == &p[2]);
    check_value(&p[2].value[REPORT_SPEEDUP], 0.8, 0, 0, REPORT_NONE, 1);
    cr_assert(!p[3].plain && p[3].base == &p[3], "a failed base case was used");
    cr_assert(!p[4].base && isnan(p[4].value[REPORT_SPEEDUP].middle), "no base at that batch");
    cr_assert(p[5].row->cell->key.n_devices == 8 && near(p[5].bound, 10.0 / 16));
    check_value(&p[5].value[REPORT_SPEEDUP], 2, 0, 0, REPORT_NONE, 1);
    close_bench(bench);
}

/* 4 devices on 2 cores are held against 2, on GPUs against 4; 3 rows on 2 of them against 1.5. */
Test(points, the_bound_counts_cores)
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
        struct bench *bench = open_bench("strong");
        bench->run.cores = list[i].cores;
        bench->run.usable_pus = list[i].usable;
        struct report_row *row = add(bench, "dp", list[i].devices, list[i].rows, 0, 100);
        snprintf(row->kind, sizeof row->kind, "%s", list[i].kind);
        make(bench);
        cr_assert(near(bench->point[0].bound * list[i].devices, list[i].speedup), "row %zu: %g", i,
                  bench->point[0].bound * list[i].devices);
        close_bench(bench);
    }
}

/* Rows per device stay, cores do not get more: at best the step takes twice as long. */
Test(points, weak_scaling_has_cores_too)
{
    struct bench *bench = open_bench("weak");
    bench->run.cores = bench->run.usable_pus = 2;
    add(bench, "dp", 1, 30, 0, 100);
    add(bench, "dp", 4, 120, 0, 250);
    make(bench);
    struct report_limit limit;
    report_limit_of(&bench->point[1], &limit);
    cr_assert(near(limit.of_bound, 0.8) && near(limit.missing, 50.0 / 250), "%g", limit.missing);
    close_bench(bench);
}

Test(points, settings_are_not_compared)
{
    struct bench *bench = open_bench("strong");
    struct report_row *row = add(bench, "dp", 1, 30, 0, 100);
    row->variant = 1;
    add(bench, "dp", 2, 30, 0, 50);
    make(bench);
    cr_assert(bench->report.n_groups == 2);
    cr_assert(!bench->point[0].base);
    close_bench(bench);
}

/* The first launch crashed before it knew that its cores were shared. */
Test(points, sharing_is_what_verified_launches_say)
{
    struct bench *bench = open_bench("strong");
    fail(add(bench, "dp", 8, 30, 0, 100));
    add(bench, "dp", 8, 30, 1, 100);
    bench->cell[1].oversubscribed = true;
    make(bench);
    cr_assert(bench->report.n_points == 1 && bench->point[0].verified == 1);
    cr_assert(report_oversubscribed(&bench->point[0]));
    close_bench(bench);
}

Test(points, phases_are_medians_of_the_launches_that_know_them)
{
    uint64_t measured = 0;
    struct bench *bench = open_bench("strong");
    for (int l = 0; l < 4; ++l) {
        struct record_cell *cell = &bench->cell[bench->report.n_rows];
        struct report_row *row = add(bench, "dp", 1, 30, l, 100);
        cell->phase_ns[RECORD_REDUCE] = l == 3 ? NULL : &measured;
        cell->phase_median_ns[RECORD_REDUCE] = 10.0 * l;
        cell->outside_frac = l == 0 ? NAN : 0.1 * l;
        cell->phase_ns[RECORD_LOSS] = &measured;
        if (l == 2) {
            fail(row);
        }
    }
    make(bench);
    cr_assert(near(bench->point[0].value[REPORT_PHASE + RECORD_REDUCE].middle, 5));
    cr_assert(isnan(bench->point[0].value[REPORT_PHASE + RECORD_LOSS].middle));
    cr_assert(isnan(bench->point[0].value[REPORT_PHASE + RECORD_SCATTER].middle));
    cr_assert(near(bench->point[0].value[REPORT_OUTSIDE].middle, 0.2), "%g",
              bench->point[0].value[REPORT_OUTSIDE].middle);
    close_bench(bench);
}

static void set_phase(struct bench *bench, size_t cell, enum record_phase phase, double ns)
{
    static uint64_t measured;
    bench->cell[cell].phase_ns[phase] = &measured;
    bench->cell[cell].phase_median_ns[phase] = ns;
}

Test(points, losses_add_up)
{
    struct bench *bench = open_bench("strong");
    add(bench, "plain", 1, 30, 0, 100);
    set_phase(bench, 0, RECORD_FORWARD, 30);
    set_phase(bench, 0, RECORD_BACKWARD, 60);
    add(bench, "dp", 2, 30, 0, 80);
    set_phase(bench, 1, RECORD_FORWARD, 19);
    set_phase(bench, 1, RECORD_BACKWARD, 28);
    set_phase(bench, 1, RECORD_REDUCE, 16);
    make(bench);
    struct report_limit limit;
    const struct report_point *point = report_group_best(&bench->report, &bench->group[0]);
    cr_assert(point == &bench->point[1]);
    cr_assert(report_limit_of(point, &limit));
    cr_assert(near(limit.of_bound, 100.0 / 160) && near(limit.missing, 30.0 / 80));
    /* 80 ns where 50 would do: reduce 16, forward 19 - 15, backward 28 - 30, no phase 12. */
    static const int phases[] = {RECORD_REDUCE, RECORD_PHASES, RECORD_FORWARD};
    static const double shares[] = {16.0 / 80, 12.0 / 80, 4.0 / 80};
    double sum = 0;
    for (size_t i = 0; i < limit.n_parts; ++i) {
        sum += limit.part[i].share;
        cr_assert(i >= 3 || (limit.part[i].phase == phases[i] &&
                             fabs(limit.part[i].share - shares[i]) <= 1e-12),
                  "part %zu: %d, %g", i, limit.part[i].phase, limit.part[i].share);
    }
    cr_assert(fabs(sum - limit.missing) <= 1e-12, "%.17g", sum);
    cr_assert(limit.part[limit.n_parts - 1].phase == RECORD_BACKWARD);
    cr_assert(fabs(report_loss_of(&limit, REPORT_LOSS_COMPUTE) - 2.0 / 80) <= 1e-12);
    cr_assert(fabs(report_loss_of(&limit, REPORT_LOSS_MOVES) - 16.0 / 80) <= 1e-12);
    close_bench(bench);
}

/* What is lost is one minus what was reached, of the same pairs of launches. The medians alone say
 * that two devices are at 111 % of their bound. */
Test(points, what_is_lost_is_what_was_not_reached)
{
    static const double base[] = {100, 200, 300}, steps[] = {60, 90, 240};
    struct bench *bench = open_bench("strong");
    for (int l = 0; l < 3; ++l) {
        const size_t cell = bench->report.n_rows;
        add(bench, "plain", 1, 30, l, base[l]);
        set_phase(bench, cell, RECORD_FORWARD, 0.9 * base[l]);
        add(bench, "dp", 2, 30, l, steps[l]);
        set_phase(bench, cell + 1, RECORD_FORWARD, 0.7 * steps[l]);
        set_phase(bench, cell + 1, RECORD_REDUCE, (l + 1) * 0.05 * steps[l]);
    }
    make(bench);
    struct report_limit limit;
    const struct report_point *point = &bench->point[1];
    double sum = 0;
    cr_assert(report_limit_of(point, &limit));
    cr_assert(near(limit.of_bound, 5.0 / 6) && near(limit.missing, 1 - limit.of_bound));
    for (size_t i = 0; i < limit.n_parts; ++i) {
        sum += limit.part[i].share;
    }
    cr_assert(near(sum, limit.missing), "parts of %g are %g", limit.missing, sum);
    close_bench(bench);
}

/* The medians of the parts do not add up to anything near: then nobody knows them. */
Test(points, parts_that_do_not_add_up_are_not_told)
{
    static const double forward[] = {95, 5, 5}, backward[] = {5, 95, 5}, reduce[] = {0, 0, 90};
    struct bench *bench = open_bench("strong");
    for (int l = 0; l < 3; ++l) {
        const size_t cell = bench->report.n_rows;
        add(bench, "plain", 1, 30, l, 100);
        add(bench, "dp", 2, 30, l, 100);
        set_phase(bench, cell + 1, RECORD_FORWARD, forward[l]);
        set_phase(bench, cell + 1, RECORD_BACKWARD, backward[l]);
        set_phase(bench, cell + 1, RECORD_REDUCE, reduce[l]);
    }
    make(bench);
    struct report_limit limit;
    cr_assert(!report_limit_of(&bench->point[1], &limit) && limit.n_parts == 0);
    cr_assert(near(limit.missing, 0.5));
    close_bench(bench);
}

static void check_words(const struct bench *bench, enum report_base_column column, const char *want)
{
    char text[REPORT_CELL_TEXT];
    struct report_base base;
    size_t at[2] = {0};
    cr_assert(report_base_next(&bench->report, &bench->group[0], at, &base));
    report_base_words(&base, column, text);
    cr_assert(strcmp(text, want) == 0, "%s, not %s", text, want);
}

/* A ratio of two cells is one number, whichever way round, and has an interval. */
Test(points, a_ratio_and_its_inverse_say_the_same)
{
    static const double plain[] = {100, 110, 105, 130, 95, 120};
    static const double single[] = {120, 100, 130, 140, 90, 150};
    static const double ranks[] = {90, 130, 125, 110, 100, 160};
    struct bench *bench = open_bench("strong");
    char text[REPORT_CELL_TEXT];
    for (int l = 0; l < 6; ++l) {
        add(bench, "plain", 1, 30, l, plain[l]);
        add(bench, "dp", 1, 30, l, single[l]);
        add(bench, "ddp", 1, 30, l, ranks[l]);
    }
    make(bench);
    const struct report_point *one = &bench->point[1], *ddp = &bench->point[2];
    const double faster = (130.0 / 140 + 100.0 / 120) / 2;
    check_value(&one->value[REPORT_SPEEDUP], faster, 120.0 / 150, 110.0 / 100, REPORT_INTERVAL, 6);
    check_words(bench, REPORT_BASE_WRAPPER, "1.14\u00d7");
    check_words(bench, REPORT_BASE_WRAPPER_RANGE, "[0.91, 1.25]");
    /* By launch 1.33, 0.77, 1.04, 1.27, 0.9, 0.94: between 0.9375 and 1.04. */
    cr_assert(ddp->peer == one);
    check_value(&ddp->beside, 1 / ((150.0 / 160 + 130.0 / 125) / 2), 90.0 / 120, 130.0 / 100,
                REPORT_INTERVAL, 6);
    report_ranks_words(REPORT_RANKS_BESIDE, ddp, 5, text);
    cr_assert(strcmp(text, "1.01") == 0, "%s", text);
    report_ranks_words(REPORT_RANKS_BESIDE, ddp, 6, text);
    cr_assert(strcmp(text, "[0.75, 1.30]") == 0, "%s", text);
    close_bench(bench);
}

/* Six launches of a reduction of 40 ns in steps of that noise. */
static struct bench *overlapping(const double wholes[6])
{
    struct bench *bench = open_bench("strong");
    for (int l = 0; l < 6; ++l) {
        struct record_cell *cell = &bench->cell[bench->report.n_rows];
        add(bench, "ddp", 2, 30, l, 100);
        cell->compute_alone_ns = 100;
        cell->comm_alone_ns = 40;
        cell->whole_ns = wholes[l];
        /* As older records have it. */
        cell->hidden_frac = fmin(fmax((140 - wholes[l]) / 40, 0), 1);
    }
    make(bench);
    return bench;
}

/* All but a tenth of a reduction is hidden, in the median: it must not be bent by what is cut off.
 */
Test(points, hidden_is_not_cut_before_its_median)
{
    static const double quiet[] = {96, 98, 104, 104, 110, 112};
    static const double loud[] = {20, 90, 104, 104, 200, 500};
    struct bench *bench = overlapping(quiet);
    char text[REPORT_CELL_TEXT] = "";
    check_value(&bench->point[0].value[REPORT_HIDDEN], 0.9, 0.7, 1.1, REPORT_INTERVAL, 6);
    report_add_metric(text, &bench->point[0], REPORT_HIDDEN);
    cr_assert(strcmp(text, "90\u00a0%") == 0, "%s", text);
    close_bench(bench);
    bench = overlapping(loud);
    text[0] = '\0';
    check_value(&bench->point[0].value[REPORT_HIDDEN], 0.9, -9, 3, REPORT_INTERVAL, 6);
    report_add_metric(text, &bench->point[0], REPORT_HIDDEN);
    cr_assert(strcmp(text, "not resolved: reduction 40.0\u00a0ns, noise of the step 240\u00a0ns") ==
                  0,
              "%s", text);
    fail(&bench->row[5]);
    bench->report.n_points = bench->report.n_groups = 0;
    free(bench->report.bucket);
    make(bench);
    text[0] = '\0';
    report_add_metric(text, &bench->point[0], REPORT_HIDDEN);
    cr_assert(strstr(text, "too few launches"), "%s", text);
    close_bench(bench);
}

Test(points, losses_need_phases_and_a_base)
{
    struct bench *bench = open_bench("strong");
    struct report_limit limit;
    add(bench, "dp", 1, 30, 0, 100);
    add(bench, "dp", 2, 30, 0, 80);
    add(bench, "dp", 2, 60, 0, 80);
    make(bench);
    cr_assert(!report_limit_of(&bench->point[1], &limit), "no phase is known");
    cr_assert(near(limit.of_bound, 100.0 / 160));
    cr_assert(!report_limit_of(&bench->point[2], &limit), "there is no base");
    close_bench(bench);
}

Test(points, the_best_point_has_cores_of_its_own)
{
    struct bench *bench = open_bench("strong");
    for (int devices = 1; devices <= 8; devices *= 2) {
        add(bench, "dp", devices, 30, 0, 100);
        add(bench, "dp", devices, 64, 0, 200);
        bench->cell[bench->report.n_rows - 1].oversubscribed = devices > 4;
        bench->cell[bench->report.n_rows - 2].oversubscribed = devices > 4;
    }
    make(bench);
    const struct report_point *best = report_group_best(&bench->report, &bench->group[0]);
    cr_assert(best->row->cell->key.n_devices == 4 && best->row->cell->key.global_batch == 64);
    struct report_base base;
    size_t at[2] = {0}, n = 0;
    while (report_base_next(&bench->report, &bench->group[0], at, &base)) {
        cr_assert(!base.plain && base.single == &bench->point[n++]);
    }
    cr_assert(n == 2);
    close_bench(bench);
}
