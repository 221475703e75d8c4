/* compare.c: verdicts of a cell that no file can bring about quickly, or at all: the reader refuses
 * what is not a number, but nothing may rely on that. */
#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "compare/compare.h"

enum { MOST = 61 };

/* One cell, n launches of A and m of B, each with 40 steps and this floor but for the last. */
static void judge(size_t n, size_t m, double last_floor, double last_cost, struct compare *compare)
{
    static struct record_cell cell[2 * MOST];
    static struct report_row row[2 * MOST];
    static struct compare_launch launch[2 * MOST];
    static struct compare_cell one;
    static const struct compare_options options; /* none */

    for (size_t i = 0; i < n + m; ++i) {
        const bool last = i + 1 == n + m;
        const double step = 10 * (double)i + 100;

        cell[i] = (struct record_cell){.n_valid = COMPARE_P05_STEPS,
                                       .p05_ns = last ? last_floor : step,
                                       .mean_ns = last ? last_cost : step};
        row[i] = (struct report_row){.cell = &cell[i], .verified = true, .state = "verified"};
        launch[i] = (struct compare_launch){.row = &row[i], .side = i < n ? COMPARE_A : COMPARE_B};
    }
    one = (struct compare_cell){.key = &cell[0].key, .n = {n, m}, .verified = {n, m}};
    memset(compare, 0, sizeof *compare);
    compare->options = &options;
    compare->launch = launch;
    compare->n_launches = n + m;
    compare->cell = &one;
    compare->n_cells = 1;
    compare_judge(compare);
}

static struct compare compare;

Test(compare, what_is_not_a_number_is_invalid)
{
    static const double bad[] = {NAN, INFINITY, 0, -1};

    judge(4, 4, 170, 170, &compare);
    cr_assert(compare.cell->verdict == COMPARE_SUSPECT && compare_exit(&compare) == 0);
    cr_assert(compare.cell->adjusted == 2.0 / 70, "%g", compare.cell->adjusted);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; ++i) {
        for (int floor = 0; floor < 2; ++floor) {
            judge(4, 4, floor ? bad[i] : 170, floor ? 170 : bad[i], &compare);
            cr_assert(compare.cell->verdict == COMPARE_INVALID, "%g", bad[i]);
            cr_assert(strstr(compare.cell->reason, "not a number"), "%s", compare.cell->reason);
            cr_assert(compare_exit(&compare) == COMPARE_EXIT_INVALID && compare.tested == 0);
        }
    }
}

Test(compare, numbers_of_launches)
{
    static const size_t rows[][3] = {{3, 8, 0},   {8, 3, 0},  {4, 4, 1}, {4, 60, 1},
                                     {60, 60, 1}, {61, 8, 0}, {8, 61, 0}};

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
        judge(rows[i][0], rows[i][1], 2000, 2000, &compare);
        cr_assert((compare.cell->verdict != COMPARE_INVALID) == (rows[i][2] == 1),
                  "%zu and %zu: %s", rows[i][0], rows[i][1], compare.cell->reason);
        cr_assert(compare.count[COMPARE_INVALID] == 1 - rows[i][2]);
    }
}

/* The words of a change, by numbers that are made up: slower, faster, many times, equal, and
 * without an interval. */
Test(compare, words_of_a_change)
{
    static const struct {
        struct export_value value;
        const char *words;
    } rows[] = {{{1.05, 1.039, 1.061}, "5.0 % more time [+3.9 %, +6.1 %]"},
                {{0.8, 0.75, 0.85}, "20.0 % less time [-25.0 %, -15.0 %]"},
                {{1, 0.99, 1.02}, "0.0 % more time [-1.0 %, +2.0 %]"},
                {{1.1, NAN, NAN}, "10.0 % more time [no interval]"},
                {{21.757, 16.618, 1813.7}, "21.8 times the time [16.6, 1814]"},
                {{0.0459, 0.041, 0.125}, "0.046 times the time [0.041, 0.12]"},
                {{2, 1.5, 3}, "2.00 times the time [1.50, 3.00]"}};
    char words[COMPARE_CHANGE];

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
        compare_change_words(&rows[i].value, words);
        cr_assert(strcmp(words, rows[i].words) == 0, "row %zu: %s", i, words);
    }
}
