/* rates.c: the most that a device can do, and the reached shares of it, on hand-made rows. */
#include "points_bench.h"
#include "record_example.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 4, TOKENS = 8, DEVICES = 2 };

/* 4 rows have 8 tokens each, a step takes 1000 ns and a token 100 operations: each of two devices
 * needs 32 x 100 / 2 operations per microsecond. */
static const double NEEDED = 1.6e9;

/* Adds a launch of a language model, in bf16 on two GPUs. */
static struct report_row *rates_add(struct bench *bench, int launch)
{
    struct record_cell *cell = &bench->cell[bench->report.n_rows];
    struct report_row *row = bench_add(bench, "dp", DEVICES, ROWS, launch, 1000);

    bench->run.n_slots = DEVICES;
    for (int i = 0; i < DEVICES; ++i)
        bench->run.slot[i] = (struct record_slot){.kind = "cuda", .model = "Example GPU"};
    snprintf(row->kind, sizeof row->kind, "cuda");
    snprintf(cell->key.workload, sizeof cell->key.workload, "gpt-tiny");
    snprintf(cell->key.devices, sizeof cell->key.devices, "cuda:0-1");
    snprintf(cell->key.dtype, sizeof cell->key.dtype, "bf16");
    snprintf(cell->key.backend, sizeof cell->key.backend, "cuda");
    cell->tokens_per_row = TOKENS;
    cell->flops_per_token = 100;
    return row;
}

static struct record_cell *last(struct bench *bench)
{
    return &bench->cell[bench->report.n_rows - 1];
}

/* Adds products of 800 operations on both devices, with these times: 100 ns is the median. */
static void add_parts(struct record_cell *cell)
{
    static uint64_t ns[] = {150, 400, 160, 100, 90, 170};

    cell->part[RECORD_PRODUCT] =
        (struct record_part_times){.work = 800, .rows = DEVICES, .n = 3, .ns = ns};
}

/* Makes launches unusable: the words of example_change, a run that differs, or a failure. */
struct change {
    const char *cell;
    enum { SAME_RUN, OTHER_MODEL, SEVERAL_MODELS, SIMULATED } run;
    bool fails;
};
static const struct change unchanged = {.cell = ""}, failed = {.cell = "", .fails = true};

static void rates_change(struct bench *bench, struct report_row *row, const struct change *change)
{
    struct record_run *other = &bench->other_run;

    example_change(last(bench), change->cell);
    if (change->fails)
        bench_fail(row);
    if (change->run == SAME_RUN)
        return;
    row->run = other;
    *other = bench->run;
    if (change->run == SIMULATED)
        snprintf(other->source, sizeof other->source, "simulated");
    if (change->run == OTHER_MODEL)
        other->n_slots = 1;
    if (change->run != SIMULATED)
        snprintf(other->slot[other->n_slots - 1].model, sizeof other->slot[0].model, "Other GPU");
}

/* Adds six launches of the language model and six of a workload with parts, which are changed: by
 * another math, and so on. */
static struct bench *open_with_parts(const struct change *change)
{
    struct bench *bench = bench_open("strong");

    for (int l = 0; l < 6; ++l)
        rates_add(bench, l);
    for (int l = 0; l < 6; ++l) {
        struct report_row *row = rates_add(bench, l);

        snprintf(last(bench)->key.workload, sizeof last(bench)->key.workload, "mlp:8,8");
        last(bench)->tokens_per_row = 0;
        add_parts(last(bench));
        rates_change(bench, row, change);
    }
    bench_make(bench);
    report_rates_make(&bench->report);
    return bench;
}

/* Returns the point of the language model. */
static struct report_point *point_of(struct bench *bench)
{
    size_t i = 0;

    while (i < bench->report.n_points && bench->point[i].row->cell->tokens_per_row == 0)
        ++i;
    cr_assert(i < bench->report.n_points);
    return &bench->point[i];
}

static const char *words(struct bench *bench, const char *column)
{
    static char text[REPORT_CELL_TEXT];

    bench_cell(&bench->report, REPORT_TABLE_TOKENS, 0, column, 0, text);
    return text;
}

static void state_peak(struct bench *bench, double peak)
{
    bench->report.peak = peak;
    report_rates_make(&bench->report);
}

static const char RATE_COLUMN[] = "Of the product rate", PEAK_COLUMN[] = "Of the peak";

Test(rates, the_fastest_device_of_a_launch_counts)
{
    struct bench *bench = bench_open("strong");
    uint64_t ns[2][6] = {{300, 300, 300, 100, 90, 170}, {50, 900, 40, 700, 700, 700}};

    for (int l = 0; l < 2; ++l) {
        rates_add(bench, l);
        add_parts(last(bench));
        last(bench)->part[RECORD_PRODUCT].ns = ns[l];
    }
    bench_make(bench);
    /* 800 operations take 100 ns, and 50 ns. */
    bench_value(&bench->point[0].value[REPORT_IN_PARTS], 12e9, 8e9, 16e9, REPORT_LAUNCHES, 2);
    bench_close(bench);
}

/* The first device takes 150, 400, 160 ns and the second 100, 90, 170: 800 operations in 100 ns. */
Test(rates, steps_that_do_not_tell_take_the_rate_of_parts)
{
    struct bench *bench = open_with_parts(&unchanged);
    const struct report_point *point = point_of(bench);

    cr_assert(bench_near(point->product_rate.most, 8e9) && point->product_rate.in_parts, "%g",
              point->product_rate.most);
    cr_assert(bench_near(report_tokens_share(point), NEEDED / 8e9));
    cr_assert_str_eq(words(bench, RATE_COLUMN), "20\u00a0%\u00a0(parts)");
    bench_close(bench);
}

Test(rates, steps_that_tell_have_a_rate_of_their_own)
{
    struct bench *bench = open_with_parts(&unchanged);

    /* Both have 6400 operations in 1000 ns, half of that time in products. */
    for (int l = 0; l < 6; ++l) {
        bench->cell[l].flops_per_step = 6400;
        bench->cell[l].outside_frac = 0.5;
    }
    bench_make(bench);
    report_rates_make(&bench->report);
    cr_assert(bench_near(point_of(bench)->product_rate.most, 6.4e9) &&
              !point_of(bench)->product_rate.in_parts);
    cr_assert_str_eq(words(bench, RATE_COLUMN), "25\u00a0%");
    bench_close(bench);
}

Test(rates, parts_of_others_are_no_rate)
{
    static const struct change changes[] = {
        {.cell = "dtype=tf32"},           {.cell = "backend=other"},
        {.cell = "", .run = OTHER_MODEL}, {.cell = "", .run = SEVERAL_MODELS},
        {.cell = "", .run = SIMULATED},   {.cell = "oversubscribed=true"},
        {.cell = "", .fails = true},
    };

    for (size_t i = 0; i < sizeof changes / sizeof changes[0]; ++i) {
        struct bench *bench = open_with_parts(&changes[i]);
        char note[REPORT_CELL_TEXT];

        cr_assert(isnan(point_of(bench)->product_rate.most), "row %zu: %g", i,
                  point_of(bench)->product_rate.most);
        cr_assert_str_eq(words(bench, RATE_COLUMN), "no rate", "row %zu", i);
        report_rates_note(&bench->report, note);
        cr_assert(strstr(note, " No rate: ") && strstr(note, "a sweep with --parts measures it") &&
                      strstr(note, "A report with --peak") && !strstr(note, "(parts)"),
                  "row %zu: %s", i, note);
        bench_close(bench);
    }
}

Test(rates, a_simulated_time_has_no_share)
{
    struct bench *bench = open_with_parts(&unchanged);
    char text[REPORT_CELL_TEXT];

    snprintf(bench->run.source, sizeof bench->run.source, "simulated");
    state_peak(bench, 6.4e9);
    cr_assert_str_eq(words(bench, RATE_COLUMN), "simulated");
    cr_assert_str_eq(words(bench, PEAK_COLUMN), "simulated");
    state_peak(bench, 1);
    report_peak_caution(&bench->report, text);
    cr_assert_str_eq(text, "");
    bench_close(bench);
}

Test(rates, a_stated_peak_has_a_column_and_a_share)
{
    struct bench *bench = open_with_parts(&unchanged);
    char *note = bench_table(&bench->report, REPORT_TABLE_TOKENS);

    cr_assert(!strstr(note, "Of the peak") && isnan(report_peak_share(point_of(bench))));
    free(note);
    state_peak(bench, 6.4e9);
    cr_assert(bench_near(report_peak_share(point_of(bench)), NEEDED / 6.4e9));
    cr_assert_str_eq(words(bench, PEAK_COLUMN), "25\u00a0%");
    note = bench_table(&bench->report, REPORT_TABLE_TOKENS);
    cr_assert(strstr(note, "| Of the product rate | Of the peak |"), "%s", note);
    cr_assert(strstr(note, " (parts): ") &&
                  strstr(note,
                         " Peak: 6.4 GFLOP/s, which --peak states of one device (Example GPU) "
                         "in bf16. It was not measured.") &&
                  !strstr(note, "No rate"),
              "%s", note);
    free(note);
    bench_close(bench);
}

/* A device needs 1.6e9 operations per second, and reached 8e9 in parts. */
Test(rates, a_peak_below_what_was_measured_is_spoken_of)
{
    static const struct {
        double peak;
        const char *share, *says;
    } rows[] = {
        {9e9, "18\u00a0%", ""},
        {7e9, "23\u00a0%",
         "7 GFLOP/s is too low: a device reached 8.00\u00a0GFLOP/s in "
         "the matrix products of --parts."},
        {1e9, "160\u00a0%", "1 GFLOP/s is too low: a device reached 8.00\u00a0GFLOP/s in "}};
    char text[REPORT_CELL_TEXT];

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
        struct bench *bench = open_with_parts(&unchanged);

        state_peak(bench, rows[i].peak);
        cr_assert_str_eq(words(bench, PEAK_COLUMN), rows[i].share);
        report_peak_caution(&bench->report, text);
        cr_assert((text[0] == '\0') == (rows[i].says[0] == '\0') && strstr(text, rows[i].says),
                  "row %zu: %s", i, text);
        bench_close(bench);
    }
    /* Without parts the rate comes from the steps. */
    struct bench *bench = open_with_parts(&failed);

    state_peak(bench, 1.5e9);
    report_peak_caution(&bench->report, text);
    cr_assert(
        strstr(text, "a device reached 1.60\u00a0GFLOP/s in gpt-tiny, dp, cuda:0-1, 4 rows. "),
        "%s", text);
    bench_close(bench);
}

Test(rates, one_peak_is_of_one_math_and_one_model)
{
#define TOKENS_TOO "workload=gpt-small tokens_per_row=8 "
    static const struct {
        struct change change;
        const char *why; /* "": it fits */
    } rows[] = {
        {{.cell = ""}, ""},
        {{.cell = "dtype=tf32"}, ""}, /* not a language model */
        {{.cell = "", .run = OTHER_MODEL}, ""},
        {{.cell = TOKENS_TOO "dtype=tf32"},
         "are in tf32 on Example GPU and in bf16 on Example GPU"},
        {{.cell = "workload=gpt-small dtype=tf32", .fails = true},
         "are in tf32 on Example GPU and in bf16 on Example GPU"},
        {{.cell = TOKENS_TOO, .run = OTHER_MODEL},
         "are in bf16 on Other GPU and in bf16 on Example GPU"},
        {{.cell = TOKENS_TOO, .run = SEVERAL_MODELS},
         "of one model of device, and cuda:0-1 are several"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
        struct bench *bench = open_with_parts(&rows[i].change);
        char why[REPORT_CELL_TEXT];

        snprintf(bench->other_run.devices, sizeof bench->other_run.devices, "cuda:0-1");
        cr_assert(report_peak_fits(&bench->report, why) == (rows[i].why[0] == '\0'), "row %zu: %s",
                  i, why);
        cr_assert(strstr(why, rows[i].why), "row %zu: %s", i, why);
        bench_close(bench);
    }
}

Test(rates, a_peak_is_for_language_models)
{
    struct bench *bench = bench_open("strong");
    char why[REPORT_CELL_TEXT];

    bench_add(bench, "dp", 2, 30, 0, 1000);
    bench_make(bench);
    cr_assert(!report_peak_fits(&bench->report, why));
    cr_assert(strstr(why, "no cell is of one"), "%s", why);
    bench_close(bench);
}
