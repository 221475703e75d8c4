/* prove/main.c: the simulations of scripts/prove, a row each: verdict, what was asked, what was
 * seen, with tabs between them. The limits are here; the script only prints the rows.
 *
 *   lockstep-prove aa-sim|power-sim|coverage RUNS
 *   lockstep-prove judge    from standard input: a line of differences of pairs for each cell
 *
 * Seeds are the numbers of the runs: the same program prints the same rows. */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compare/pairs.h"
#include "numbers/rank.h"
#include "prove/simulate.h"

enum { MISUSE = 2, RUNS_MOST = 1000000, CELLS_MOST = 64, LINE_BYTES = 4096, WORDS = 400 };

static const double ERRORS = 0.05, BEYOND_MOST = 0.02;
static const double COVERED_LEAST = 0.93, COVERED_MOST = 0.99;

static int print_row(bool passed, const char *asked, const char *seen)
{
    printf("%s\t%s\t%s\n", passed ? "PASS" : "FAIL", asked, seen);
    return passed ? 0 : EXIT_FAILURE;
}

/* Prints a row without a limit: nothing is promised about it. */
static int show_row(const char *asked, const char *seen)
{
    printf("SHOWN\t%s\t%s\n", asked, seen);
    return 0;
}

static int main_fail(const char *why)
{
    fprintf(stderr, "lockstep-prove: %s\n", why);
    return MISUSE;
}

/* Compares a program with itself: how often it alarms, for each kind of noise. */
static int prove_alarms(size_t runs)
{
    static const size_t cells[] = {12, 42, SIMULATE_CELLS_MOST};
    const double most = ERRORS + 3 * sqrt(ERRORS * (1 - ERRORS) / (double)runs);
    int status = 0;

    for (int model = SIMULATE_GAUSS; model <= SIMULATE_DRIFT; ++model) {
        char asked[WORDS], seen[WORDS] = "";
        bool passed = true;
        int used = 0;

        for (size_t i = 0; i < sizeof cells / sizeof cells[0]; ++i) {
            struct simulate_alarms found;

            if (simulate_alarms((enum simulate_noise)model, cells[i], runs, &found) != 0)
                return main_fail("no memory");
            const double without = (double)found.without / (double)runs;
            const double beyond = (double)found.beyond / (double)runs;

            passed = passed && without <= most && beyond <= BEYOND_MOST;
            used += snprintf(seen + used, sizeof seen - (size_t)used, "%s%zu cells: %.4f and %.4f",
                             i > 0 ? "; " : "", cells[i], without, beyond);
        }
        snprintf(asked, sizeof asked,
                 "%zu A/A, %s: false alarms at most %.3f without a margin, at most %.2f at +1 %%",
                 runs, simulate_noise_names[model], most, BEYOND_MOST);
        status |= print_row(passed, asked, seen);
    }
    return status;
}

static int prove_power(size_t runs)
{
    struct simulate_power slow, fast;
    const double cells = (double)runs * SIMULATE_CELLS, n = (double)runs;
    char asked[WORDS], seen[WORDS];

    if (simulate_power(1.05, runs, &slow) != 0 || simulate_power(1 / 1.05, runs, &fast) != 0)
        return main_fail("no memory");
    snprintf(asked, sizeof asked,
             "%zu comparisons, +5 %% and -5 %% at 2 %% noise: at least 0.85 of cells, all "
             "comparisons globally, none the wrong way or EQUIVALENT",
             runs);
    snprintf(
        seen, sizeof seen,
        "REGRESSED %.3f of cells, %zu of %zu globally; IMPROVED %.3f, %zu of %zu; wrong way or "
        "EQUIVALENT %zu; estimate near and in its interval %.3f",
        (double)slow.slower / cells, slow.global_slower, runs, (double)fast.faster / cells,
        fast.global_faster, runs, slow.faster + slow.alike + fast.slower + fast.alike,
        (double)slow.near / n);
    return print_row((double)slow.slower >= 0.85 * cells && (double)fast.faster >= 0.85 * cells &&
                         slow.global_slower == runs && fast.global_faster == runs &&
                         slow.faster + slow.alike + fast.slower + fast.alike == 0,
                     asked, seen);
}

static bool is_covered(double covered)
{
    return covered >= COVERED_LEAST && covered <= COVERED_MOST;
}

/* Tries one kind of noise; false: an interval contains the truth too rarely, or too often. */
static bool cover(enum simulate_noise model, size_t runs, char seen[WORDS])
{
    static const size_t launches[] = {6, 10, 20};
    const double pairs = (double)simulate_shift_covered(model, SIMULATE_PAIRS, runs) / (double)runs;
    bool passed = is_covered(pairs);
    int used = snprintf(seen, WORDS, "%d pairs: %.4f; launches", SIMULATE_PAIRS, pairs);

    for (size_t k = 0; k < sizeof launches / sizeof launches[0]; ++k) {
        const double covered =
            (double)simulate_median_covered(model, launches[k], runs) / (double)runs;

        passed = passed && is_covered(covered);
        used += snprintf(seen + used, WORDS - (size_t)used, "%s %zu: %.4f", k > 0 ? "," : "",
                         launches[k], covered);
    }
    return passed;
}

/* Independent launches are judged; dependent launches are only shown. */
static int prove_coverage(size_t runs)
{
    static const enum simulate_noise models[] = {SIMULATE_GAUSS, SIMULATE_T2, SIMULATE_CONTAMINATED,
                                                 SIMULATE_AR5};
    int status = 0;

    for (size_t i = 0; i < sizeof models / sizeof models[0]; ++i) {
        const bool judged = models[i] != SIMULATE_AR5;
        char asked[WORDS], seen[WORDS];
        const bool passed = cover(models[i], runs, seen);

        snprintf(asked, sizeof asked, "%zu intervals of 95 %%, %s: %s", runs,
                 simulate_noise_names[models[i]],
                 judged ? "0.93 to 0.99 have the median" : "not judged");
        status |= judged ? print_row(passed, asked, seen) : show_row(asked, seen);
    }
    return status;
}

/* Reads the numbers of a line, as many as the cells before have. */
static bool read_cell(char *line, double d[], size_t *pairs)
{
    char *end = line;
    size_t n = 0;

    for (double x = strtod(line, &end); end != line && n < RANK_MOST; x = strtod(line, &end)) {
        d[n++] = x;
        line = end;
    }
    line += strspn(line, " \n");
    if (n == 0 || *line != '\0' || (*pairs > 0 && *pairs != n))
        return false;
    *pairs = n;
    return true;
}

/* Prints a line for each cell, and one for all: verdict, ratio, and for all an interval of 95 %. */
static int main_judge(void)
{
    static double read[CELLS_MOST * RANK_MOST], d[CELLS_MOST * RANK_MOST];
    struct pairs_judged cell[CELLS_MOST] = {{.reason = ""}}, all;
    size_t cells = 0, pairs = 0;
    char line[LINE_BYTES];

    for (; fgets(line, sizeof line, stdin); ++cells)
        if (cells == CELLS_MOST || !read_cell(line, read + cells * RANK_MOST, &pairs))
            return main_fail("standard input is no table of differences");
    if (cells == 0)
        return main_fail("standard input is empty");
    for (size_t c = 0; c < cells; ++c)
        memcpy(d + c * pairs, read + c * RANK_MOST, pairs * sizeof d[0]);
    pairs_judge(&(struct pairs_data){d, cells, pairs, NULL, 1}, cell, &all);
    for (size_t c = 0; c < cells; ++c) {
        const struct rank_estimate shift = rank_signed_estimate(d + c * pairs, pairs, 0.95);

        printf("%s %.6f %.6f %.6f\n", pairs_verdict_words[cell[c].verdict], cell[c].ratio,
               exp(shift.lo), exp(shift.hi));
    }
    printf("%s %.6f %.6f %.6f\n", pairs_verdict_words[all.verdict], all.ratio, all.lo, all.hi);
    return 0;
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        int (*prove)(size_t runs);
    } experiments[] = {
        {"aa-sim", prove_alarms}, {"power-sim", prove_power}, {"coverage", prove_coverage}};
    char *end = NULL;

    if (argc == 2 && strcmp(argv[1], "judge") == 0)
        return main_judge();
    const unsigned long runs = argc == 3 ? strtoul(argv[2], &end, 10) : 0;

    if (runs < 1 || runs > RUNS_MOST || *end != '\0')
        return main_fail("usage: lockstep-prove aa-sim|power-sim|coverage RUNS, or judge");
    for (size_t i = 0; i < sizeof experiments / sizeof experiments[0]; ++i)
        if (strcmp(argv[1], experiments[i].name) == 0)
            return experiments[i].prove(runs);
    return main_fail("known are aa-sim, power-sim, coverage and judge");
}
