/* fits.c: alpha and beta of collectives are planted in made-up launches and read back; launches
 * that fit no line get no number. */
#include "points_bench.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "numbers/stats.h"
#include "report/page.h"

/* ---- a line -------------------------------------------------------------------------------- */

enum { SIZES = 9 };
static const double ALPHA = 20e3, BETA = 0.25; /* ns; ns per byte: 4 GB/s */

/* A test with more sizes than these sets its own array. */
static double fits_size_of(int i)
{
    return ldexp(64, 3 * (i < SIZES ? i : 0));
}

static void line_is(struct line line, double alpha, double beta)
{
    cr_assert(fabs(line.alpha / alpha - 1) < 1e-9, "alpha %.12g, not %g", line.alpha, alpha);
    cr_assert(fabs(line.beta / beta - 1) < 1e-9, "beta %.12g, not %g", line.beta, beta);
}

Test(fits, a_line_is_found_through_decades)
{
    double x[SIZES], y[SIZES];
    size_t at;
    for (int i = 0; i < SIZES; ++i) {
        x[i] = fits_size_of(i);
        y[i] = ALPHA + BETA * x[i];
    }
    const struct line line = line_fit(x, y, SIZES, false);
    line_is(line, ALPHA, BETA);
    cr_assert(line_off(&line, x, y, SIZES, &at) < 1e-9);
    /* Two of three would be no majority; 4 of 9 bad sizes are none, wherever they are. */
    for (int bad = 0; bad + 3 < SIZES; ++bad) {
        for (int i = 0; i < SIZES; ++i)
            y[i] = (ALPHA + BETA * x[i]) * (i >= bad && i < bad + 2 ? 1.5 + i : 1);
        line_is(line_fit(x, y, SIZES, false), ALPHA, BETA);
        const double off = line_off(&line, x, y, SIZES, &at);
        cr_assert(at == (size_t)bad + 1 && fabs(off - (1 - 1 / (2.5 + bad))) < 1e-9, "%g at %zu",
                  off, at);
    }
}

/* If the best line would begin below 0 or fall, the fit is the best of those lines that do not. The
 * test searches for it among very many. */
Test(fits, a_rising_line_is_the_best_of_those_that_rise)
{
    static const double ys[][4] = {{1, 2, 3, 4}, {1, 2, 3, 9},    {4, 3, 2, 1},    {0.1, 2, 4, 6},
                                   {5, 5, 5, 5}, {1, 9, 9.5, 10}, {0.5, 3, 6, 1.5}};
    static const double x[] = {1, 2, 3, 4};
    for (size_t row = 0; row < sizeof ys / sizeof ys[0]; ++row) {
        const struct line line = line_fit(x, ys[row], 4, true);
        double sum = 0, least = INFINITY;
        cr_assert(line.alpha >= 0 && line.beta >= 0, "row %zu: %g, %g", row, line.alpha, line.beta);
        for (int i = 0; i < 4; ++i)
            sum += fabs(1 - (line.alpha + line.beta * x[i]) / ys[row][i]);
        for (int a = 0; a <= 500; ++a)
            for (int b = 0; b <= 500; ++b) {
                double other = 0;
                for (int i = 0; i < 4; ++i)
                    other += fabs(1 - (a / 50.0 + b / 50.0 * x[i]) / ys[row][i]);
                least = fmin(least, other);
            }
        cr_assert(sum <= least + 1e-9, "row %zu: %g, and there is one with %g", row, sum, least);
    }
    cr_assert(isnan(line_fit(x, (const double[]){1, 0, 1, 1}, 4, true).alpha));
    cr_assert(isnan(line_fit(x, ys[0], 0, true).alpha));
}

Test(fits, what_is_no_line_is_none)
{
    static const struct {
        double x[3], y[3];
        size_t n;
    } rows[] = {{{1, 2, 3}, {1, 2, 3}, 1},        {{1, 2, 3}, {1, 2, 3}, 0},
                {{5, 5, 5}, {1, 2, 3}, 3},        {{1, 2, 3}, {1, 0, 3}, 3},
                {{1, 2, 3}, {1, -2, 3}, 3},       {{1, 2, 3}, {1, NAN, 3}, 3},
                {{1, 2, 3}, {1, INFINITY, 3}, 3}, {{1, NAN, 3}, {1, 2, 3}, 3}};
    size_t at;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
        const struct line line = line_fit(rows[i].x, rows[i].y, rows[i].n, false);
        cr_assert(isnan(line.alpha) && isnan(line.beta), "row %zu: %g, %g", i, line.alpha,
                  line.beta);
        cr_assert(isnan(line_off(&line, rows[i].x, rows[i].y, rows[i].n, &at)), "row %zu", i);
    }
}

/* ---- of launches --------------------------------------------------------------------------- */

typedef double time_fn(int size, int launch);

static double on_the_line(int size, int launch)
{
    (void)launch;
    return ALPHA + BETA * fits_size_of(size);
}

/* Returns a number from 0 to 1 that depends on the launch and the size. */
static double chance(int size, int launch, unsigned salt)
{
    unsigned x = (unsigned)(size * 131 + launch * 7919) + salt * 104729u;
    for (int i = 0; i < 3; ++i)
        x = (x ^ x >> 15) * 0x2c1b3c6du;
    return (double)(x ^ x >> 16) / 4294967296.0;
}

/* Whole launches are slower or faster, there is noise of 3 %, and one time in six takes 1.5 to 4
 * times as long: with 9 sizes that hits nearly every launch. */
static double disturbed(int size, int launch)
{
    const double noise = 1 + 0.06 * (chance(size, launch, 1) - 0.5);
    const double whole = 1 + 0.04 * (chance(0, launch, 2) - 0.5);
    const double hit = chance(size, launch, 3) < 1.0 / 6 ? 1.5 + 2.5 * chance(size, launch, 4) : 1;

    return on_the_line(size, launch) * noise * whole * hit;
}

/* In the cache a size takes a third of the time. */
static double cached(int size, int launch)
{
    return on_the_line(size, launch) * (size < 4 ? 0.3 : 1);
}

static double mostly_cached(int size, int launch)
{
    return on_the_line(size, launch) * (size < 5 ? 0.3 : 1);
}

/* No half of its sizes is on a line. */
static double bent(int size, int launch)
{
    (void)launch;
    return 100 * pow(fits_size_of(size), 0.8);
}

static double flat(int size, int launch)
{
    return ALPHA * (1 + 0.02 * (chance(size, launch, 5) - 0.5));
}

static double end_is_off(int size, int launch)
{
    return on_the_line(size, launch) * (size == SIZES - 1 ? 1.3 : 1);
}

static struct bench *bench_of(int sizes, int launches, time_fn *time)
{
    struct bench *bench = bench_open("strong");
    for (int i = 0; i < sizes; ++i)
        for (int l = 0; l < launches; ++l) {
            const struct report_row *row = bench_add(bench, "collective", 2, 0, l, time(i, l));
            struct record_key *key = &bench->cell[row - bench->row].key;
            snprintf(key->workload, sizeof key->workload, "allreduce");
            snprintf(key->devices, sizeof key->devices, "virt:2");
            snprintf(key->dtype, sizeof key->dtype, "f32");
            key->size_bytes = (size_t)fits_size_of(i);
        }
    return bench;
}

static struct report_fit *fits_make(struct bench *bench)
{
    bench_make(bench);
    report_fits_make(&bench->report);
    cr_assert(bench->report.n_fits == 1, "%zu lines", bench->report.n_fits);
    return &bench->report.fit[0];
}

static void close_bench(struct bench *bench)
{
    free(bench->report.fit);
    bench_close(bench);
}

/* Returns the text that many columns after the number of sizes. */
static void words_of(struct bench *bench, int after, char text[REPORT_CELL_TEXT])
{
    const struct report all = {.collectives = &bench->report};
    bench_cell(&all, REPORT_TABLE_FITS, 0, "Sizes", after, text);
}

enum { ALPHA_COLUMN = 1, BETA_COLUMN = 3, LINE_COLUMN = 5 };

static void line_says(struct bench *bench, const char *words)
{
    char text[REPORT_CELL_TEXT];
    words_of(bench, LINE_COLUMN, text);
    cr_assert(strstr(text, words), "\"%s\" lacks \"%s\"", text, words);
}

static void within_5_percent(const struct report_fit *fit)
{
    cr_assert(fit->state == REPORT_FIT_HOLDS, "state %d, %g off at %zu", (int)fit->state, fit->off,
              fit->off_at);
    cr_assert(fabs(fit->alpha.middle / ALPHA - 1) < 0.05, "alpha %g", fit->alpha.middle);
    cr_assert(fabs(fit->beta.middle / BETA - 1) < 0.05, "beta %g", fit->beta.middle);
}

/* The points of the line, and only those, have the numbers of the fit. */
static void points_have(const struct bench *bench, const struct report_fit *fit)
{
    for (size_t i = 0; i < bench->report.n_points; ++i) {
        const struct report_point *point = &bench->point[i];
        const bool on =
            fit->state == REPORT_FIT_HOLDS && point->row->cell->key.size_bytes >= fit->from;
        cr_assert(isfinite(report_middle(point, REPORT_ALPHA)) == on, "point %zu", i);
        cr_assert(isfinite(report_middle(point, REPORT_BETA)) == (on && report_fit_grows(fit)),
                  "point %zu", i);
    }
}

static void no_numbers(struct bench *bench)
{
    char text[REPORT_CELL_TEXT];
    for (int c = ALPHA_COLUMN; c < LINE_COLUMN; ++c) {
        words_of(bench, c, text);
        cr_assert_str_eq(text, "-");
    }
    line_says(bench, "no number: ");
}

Test(fits, what_is_planted_is_found)
{
    struct bench *bench = bench_of(SIZES, 10, disturbed);
    const struct report_fit *fit = fits_make(bench);
    within_5_percent(fit);
    cr_assert(fit->sizes == SIZES && fit->used == SIZES);
    cr_assert(fit->alpha.range == REPORT_INTERVAL && fit->beta.range == REPORT_INTERVAL);
    cr_assert(fit->alpha.lo <= ALPHA && fit->alpha.hi >= ALPHA, "%g..%g", fit->alpha.lo,
              fit->alpha.hi);
    cr_assert(fit->beta.lo <= BETA && fit->beta.hi >= BETA, "%g..%g", fit->beta.lo, fit->beta.hi);
    line_says(bench, "10 launches, at most ");
    points_have(bench, fit);
    /* As a bandwidth, the ends of the interval change places. */
    const struct report_value *speed = &bench->point[0].value[REPORT_BETA];
    cr_assert(bench_near(speed->middle, 1e9 / fit->beta.middle));
    cr_assert(bench_near(speed->lo, 1e9 / fit->beta.hi) && speed->lo < speed->hi);
    close_bench(bench);
}

Test(fits, one_launch_has_no_interval)
{
    struct bench *bench = bench_of(3, 1, on_the_line);
    const struct report_fit *fit = fits_make(bench);
    char text[REPORT_CELL_TEXT];
    within_5_percent(fit);
    cr_assert(fit->alpha.range == REPORT_NONE && fit->beta.range == REPORT_NONE);
    words_of(bench, ALPHA_COLUMN, text);
    cr_assert_str_eq(text, "20.0\u00a0\u00b5s");
    words_of(bench, BETA_COLUMN, text);
    cr_assert_str_eq(text, "4.00\u00a0GB/s");
    line_says(bench, "1 launch, at most 0");
    close_bench(bench);
}

Test(fits, small_sizes_that_are_not_on_it_are_left_out)
{
    struct bench *bench = bench_of(SIZES, 6, cached);
    const struct report_fit *fit = fits_make(bench);
    char text[REPORT_CELL_TEXT];
    within_5_percent(fit);
    cr_assert(fit->used == 5 && fit->from == (size_t)fits_size_of(4), "%zu from %zu", fit->used,
              fit->from);
    words_of(bench, 0, text);
    cr_assert_str_eq(text, "5 of 9, from 262144 bytes on");
    points_have(bench, fit);
    close_bench(bench);
}

Test(fits, what_does_not_fit_has_no_number)
{
    static const struct {
        time_fn *time;
        int sizes;
        enum report_fit_state state;
        const char *words;
    } rows[] = {
        {mostly_cached, SIZES, REPORT_FIT_NO_LINE, "no line, "},
        {bent, SIZES, REPORT_FIT_NO_LINE, "no line, "},
        {end_is_off, SIZES, REPORT_FIT_NO_LINE, "no line, 23\u00a0% off at 1073741824 bytes"},
        {on_the_line, 2, REPORT_FIT_FEW, "a line takes 3 sizes"},
        {on_the_line, 1, REPORT_FIT_FEW, "a line takes 3 sizes"}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
        struct bench *bench = bench_of(rows[i].sizes, 6, rows[i].time);
        const struct report_fit *fit = fits_make(bench);
        cr_assert(fit->state == rows[i].state, "row %zu: state %d, %g off at %zu", i,
                  (int)fit->state, fit->off, fit->off_at);
        no_numbers(bench);
        line_says(bench, rows[i].words);
        points_have(bench, fit);
        close_bench(bench);
    }
}

Test(fits, time_that_does_not_grow_has_no_bandwidth)
{
    struct bench *bench = bench_of(4, 8, flat);
    const struct report_fit *fit = fits_make(bench);
    char text[REPORT_CELL_TEXT];
    cr_assert(fit->state == REPORT_FIT_HOLDS && !report_fit_grows(fit), "beta %g [%g, %g]",
              fit->beta.middle, fit->beta.lo, fit->beta.hi);
    cr_assert(fabs(fit->alpha.middle / ALPHA - 1) < 0.05);
    words_of(bench, BETA_COLUMN, text);
    cr_assert_str_eq(text, "not resolved");
    points_have(bench, fit);
    close_bench(bench);
}

/* A launch that failed at a size has no line; a size that failed in all launches does not count. */
Test(fits, only_whole_launches_count)
{
    struct bench *bench = bench_of(4, 6, on_the_line);
    bench_fail(&bench->row[0 * 6 + 2]);
    bench_fail(&bench->row[3 * 6 + 4]);
    bench->cell[1 * 6 + 2].median_ns *= 50; /* of a launch that does not count */
    const struct report_fit *fit = fits_make(bench);
    within_5_percent(fit);
    cr_assert(fit->beta.n == 4 && fit->beta.range == REPORT_LAUNCHES, "%zu", fit->beta.n);
    close_bench(bench);

    bench = bench_of(4, 3, on_the_line);
    for (int i = 0; i < 3; ++i)
        bench_fail(&bench->row[i * 3 + i]);
    fit = fits_make(bench);
    cr_assert(fit->state == REPORT_FIT_APART);
    no_numbers(bench);
    close_bench(bench);

    bench = bench_of(3, 2, on_the_line);
    bench_fail(&bench->row[0]);
    bench_fail(&bench->row[1]);
    fit = fits_make(bench);
    cr_assert(fit->state == REPORT_FIT_FEW && fit->sizes == 2);
    close_bench(bench);
}

/* Files that were put together have more sizes than a plan can have. */
Test(fits, too_many_sizes_have_no_number)
{
    struct bench *bench = bench_of(65, 1, on_the_line);
    for (int i = 0; i < 65; ++i) {
        bench->cell[i].key.size_bytes = 4 + 4 * (size_t)i;
        bench->cell[i].median_ns = ALPHA + BETA * (4 + 4 * i);
    }
    const struct report_fit *fit = fits_make(bench);
    cr_assert(fit->state == REPORT_FIT_MANY && fit->sizes == 65);
    no_numbers(bench);
    points_have(bench, fit);
    close_bench(bench);
}

/* Another collective, number of devices or device list has a separate line. */
Test(fits, each_setting_has_a_line)
{
    struct bench *bench = bench_of(SIZES, 4, on_the_line);
    for (int i = 0; i < SIZES * 4; ++i) {
        struct record_key *key = &bench->cell[i].key;
        const int size = i / 4;
        if (size >= 3)
            key->n_devices = 3;
        if (size >= 6)
            snprintf(key->devices, sizeof key->devices, "virt:1,1");
        key->size_bytes = (size_t)fits_size_of(size % 3);
        bench->cell[i].median_ns = (1 + size / 3) * (ALPHA + BETA * fits_size_of(size % 3));
    }
    bench_make(bench);
    report_fits_make(&bench->report);
    cr_assert(bench->report.n_fits == 3, "%zu lines", bench->report.n_fits);
    for (size_t f = 0; f < 3; ++f) {
        const struct report_fit *fit = &bench->report.fit[f];
        cr_assert(fit->state == REPORT_FIT_HOLDS && fit->sizes == 3 && fit->alpha.n == 4);
        cr_assert(fabs(fit->alpha.middle / ALPHA - round(fit->alpha.middle / ALPHA)) < 1e-9);
    }
    close_bench(bench);
}
