/* drift.c: permutation tests, and what they find in the launches of a sweep: planted effects, and
 * nothing if nothing was planted. */
#include "points_bench.h"

#include "numbers/stats.h"
#include "report/page.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCKS = 6, CELLS = 12 };

Test(drift, statistics)
{
    static const double at[] = {0, 1, 2, 4}, x[] = {5, 7, 9, 13}, same[] = {3, 3, 3, 3};
    static const double turns[] = {1, -1, 1, -1};
    cr_assert(bench_near(permute_slope(x, 4, at), 2));
    cr_assert(isnan(permute_slope(x, 4, same)), "no time went by");
    cr_assert(bench_near(permute_lag1(turns, 4, NULL), -0.75));
    cr_assert(isnan(permute_lag1(same, 4, NULL)));
    double scratch[4];
    cr_assert(isnan(permute_test(same, 4, permute_lag1, NULL, 99, 1, scratch)));
}

/* For 8 numbers in order and in reverse, 2 of 40320 orders are as extreme. */
Test(drift, the_test_is_seeded_and_never_0)
{
    static const double x[] = {1, 2, 3, 4, 5, 6, 7, 8};
    double scratch[8];
    cr_assert(bench_near(permute_test(x, 8, permute_slope, x, 999, 7, scratch), 1.0 / 1000));
    static const double mixed[] = {3, 1, 4, 8, 5, 2, 6, 7};
    const double p = permute_test(mixed, 8, permute_slope, x, 999, 7, scratch);
    cr_assert(p > 0.1 && p < 0.5, "%g", p);
    cr_assert(p == permute_test(mixed, 8, permute_slope, x, 999, 7, scratch), "the same seed");
    cr_assert(mixed[0] == 3, "the numbers are as they were");
}

static double noise(uint64_t *state)
{
    *state = *state * 6364136223846793005U + 1442695040888963407U;
    return (double)(*state >> 33) / 0x1p31 - 0.5;
}

/* Without an effect, 5 % of the tests say that there is one. */
Test(drift, chance_is_what_it_says)
{
    uint64_t state = 3;
    size_t alarms[2] = {0};
    for (int i = 0; i < 400; ++i) {
        double at[12], x[12], scratch[12];
        for (int k = 0; k < 12; ++k) {
            at[k] = k;
            x[k] = noise(&state);
        }
        alarms[0] += permute_test(x, 12, permute_slope, at, 199, 1, scratch) <= 0.05;
        alarms[1] += permute_test(x, 12, permute_lag1, NULL, 199, 1, scratch) <= 0.05;
    }
    cr_assert(alarms[0] >= 8 && alarms[0] <= 34, "%zu of 400", alarms[0]);
    cr_assert(alarms[1] >= 8 && alarms[1] <= 34, "%zu of 400", alarms[1]);
}

/* Makes cells with very different steps in blocks, each launch a minute after the last, with 2 % of
 * noise. The step of the launch at a place takes factor(place) times as long. */
static struct bench *sitting(double (*factor)(int place), bool timed)
{
    struct bench *bench = bench_open("strong");
    static struct report_run run;
    uint64_t state = 11;
    run = (struct report_run){.run = &bench->run, .sealed = true, .planned = true, .ended = true};
    bench->report.run = &run;
    bench->report.n_runs = 1;
    for (int place = 0; place < BLOCKS * CELLS; ++place) {
        const int block = place / CELLS, cell = (5 * place + 7 * block) % CELLS;
        const double step = 1000.0 * (1 + cell) * (1 + 0.02 * noise(&state)) * factor(place);
        const size_t i = bench->report.n_rows;
        bench_add(bench, "dp", 1, 8 * (size_t)(1 + cell), block, step);
        bench->cell[i].order_index = (size_t)place;
        bench->cell[i].start_epoch_ns =
            UINT64_C(1795248000000000000) + (timed ? UINT64_C(60000000000) * (uint64_t)place : 0);
    }
    bench_make(bench);
    report_drift_make(&bench->report);
    return bench;
}

static const char *said_of(const struct bench *bench, char text[REPORT_CELL_TEXT])
{
    return report_answer_words(&bench->report, text);
}

static double steady(int place)
{
    (void)place;
    return 1;
}

static double slower(int place)
{
    return exp(0.05 * (place / CELLS));
}

/* Another load comes and goes every 9 launches: the blocks, of 12 launches, hardly see it. */
static double neighbour(int place)
{
    return place / 9 % 2 ? 1.2 : 1;
}

Test(drift, a_steady_sitting_has_none)
{
    struct bench *bench = sitting(steady, true);
    const struct report_drift *drift = &bench->report.run[0].drift;
    cr_assert(drift->blocks == BLOCKS && drift->launches == BLOCKS * CELLS);
    cr_assert(fabs(drift->change) < 0.02 && drift->change_p > 0.05, "%g, p %g", drift->change,
              drift->change_p);
    cr_assert(fabs(drift->lag1) < 0.3 && drift->lag1_p > 0.05, "%g, p %g", drift->lag1,
              drift->lag1_p);
    cr_assert(report_doubt_of(&bench->report.point[0], REPORT_STEP) == REPORT_CERTAIN);
    const char *text = said_of(bench, PHRASE);
    cr_assert(!strstr(text, "drifted") && !strstr(text, "are alike"), "%s", text);
    bench_close(bench);
}

Test(drift, a_machine_that_gets_slower_is_found)
{
    struct bench *bench = sitting(slower, true);
    const struct report_drift *drift = &bench->report.run[0].drift;
    cr_assert(fabs(drift->change - expm1(0.25)) < 0.02, "%g", drift->change);
    cr_assert(drift->change_p <= 0.02, "p %g", drift->change_p);
    const char *text = said_of(bench, PHRASE);
    cr_assert(strstr(text, "Keep in mind: the machine drifted, times became 28 % longer"), "%s",
              text);
    bench_close(bench);
}

Test(drift, neighbours_that_are_alike_are_found)
{
    struct bench *bench = sitting(neighbour, true);
    const struct report_drift *drift = &bench->report.run[0].drift;
    cr_assert(drift->lag1 > 0.4 && drift->lag1_p <= 0.002, "%g, p %g", drift->lag1, drift->lag1_p);
    cr_assert(drift->change_p > 0.05, "p %g", drift->change_p);
    const char *text = said_of(bench, PHRASE);
    cr_assert(
        strstr(text, "Keep in mind: launches that follow each other are alike (autocorrelation 0."),
        "%s", text);
    cr_assert(!strstr(text, "drifted"), "%s", text);
    /* What would be certain of independent launches is not. */
    struct report_point *point = &bench->report.point[0];
    const double wide = 0.19 * report_middle(point, REPORT_STEP);
    point->value[REPORT_STEP].hi = point->value[REPORT_STEP].lo + wide;
    cr_assert(fabs(point->alike - drift->lag1) < 1e-12);
    cr_assert(report_doubt_of(point, REPORT_STEP) == REPORT_DOUBT_WIDE);
    point->alike = 0;
    cr_assert(report_doubt_of(point, REPORT_STEP) == REPORT_CERTAIN);
    bench_close(bench);
}

/* No answer says that all is well where intervals do not allow for something; the slide has the
 * same sentences. */
Test(drift, the_answer_says_what_intervals_do_not_allow_for)
{
    static const struct {
        double foreign; /* of the last launch */
        int sitting;
        double change_p, lag1_p;
        const char *rest;
    } list[] = {
        {0, 0, 1, 1, "Nothing has to be measured again."},
        {0.31, 0, 1, 1,
         "Keep in mind: 1 of 12 launches was disturbed: up to 31 % of the time of their cores "
         "went to other programs, 0 % to other machines."},
        {NAN, 0, 1, 1, "Keep in mind: whether 1 of 12 launches was disturbed is not known."},
        {0, 1, 1, 1,
         "Keep in mind: there were 2 sessions, between which the machine may have changed."},
        {0, 0, 0.05, 1, "Keep in mind: the machine drifted, times became 7 % shorter."},
        {0, 0, 1, 0.05,
         "Keep in mind: launches that follow each other are alike (autocorrelation 0.36), so "
         "intervals may be 1.5 times too narrow."},
    };
    for (size_t i = 0; i < sizeof list / sizeof list[0]; ++i) {
        struct bench *bench = bench_open("strong");
        struct report_run run = {.run = &bench->run,
                                 .drift = {.change = -0.07,
                                           .change_p = list[i].change_p,
                                           .lag1 = 0.36,
                                           .lag1_p = list[i].lag1_p}};
        bench->report.run = &run;
        bench->report.n_runs = 1;
        for (int l = 0; l < 12; ++l)
            bench_add(bench, l < 6 ? "plain" : "dp", l < 6 ? 1 : 2, 64, l % 6, l < 6 ? 1000 : 512);
        bench->cell[11].foreign_frac = list[i].foreign;
        bench->cell[11].sitting = bench->cell[5].sitting = list[i].sitting;
        bench_make(bench);
        cr_assert_str_eq(report_answer_of(&bench->report).rest, list[i].rest);
        bench_close(bench);
    }
}

/* Without times the order is not known. */
Test(drift, records_without_times_tell_nothing)
{
    struct bench *bench = sitting(slower, false);
    const struct report_drift *drift = &bench->report.run[0].drift;
    cr_assert(isnan(drift->change_p) && isnan(drift->lag1_p));
    bench_close(bench);
}

/* A failed launch does not count, and cells of two launches say nothing of a third. */
Test(drift, few_launches_tell_nothing)
{
    struct bench *bench = sitting(slower, true);
    for (size_t i = 0; i < bench->report.n_rows; ++i)
        if (bench->row[i].cell->key.launch >= 2)
            bench_fail(&bench->row[i]);
    bench_make(bench);
    report_drift_make(&bench->report);
    const struct report_drift *drift = &bench->report.run[0].drift;
    cr_assert(drift->launches == 0 && isnan(drift->change_p) && isnan(drift->lag1_p));
    bench_close(bench);
}
