/* compare/pairs_forest.c: the figure of pairs: a row for all cells together, and then a row per
 * cell, from the slowest on. */
#include "compare/pairs.h"

#include "analysis/analysis.h"
#include "command/command.h"
#include "plot/plot.h"

#include <math.h>

enum { ROWS = 13, ROW_PIXELS = 30 };

struct subject {
    const struct pairs *pairs;
    size_t rows; /* of each panel at most */
};

static int write_forest(struct plot *plot)
{
    const struct subject *subject = plot->subject;
    const struct pairs *pairs = subject->pairs;
    const struct plot_grid grid = {
        .least = 561, .height = (int)subject->rows * ROW_PIXELS + 20, .room = 14, .columns = 1};
    struct plot_table table;

    plot->width = 760;
    snprintf(plot->footer, sizeof plot->footer, "OLD: %.100s; NEW: %.100s; %zu pairs of each",
             pairs->arm[PAIRS_OLD].version, pairs->arm[PAIRS_NEW].version, pairs->n);
    if (plot_table_open(&table, plot, &grid, "row, ratio, low, high, verdict") != 0)
        return -1;
    /* Row 0 is that of all cells together. */
    for (size_t row = 0; row <= pairs->cells; ++row) {
        const struct pairs_judged *judged = row == 0 ? &pairs->all : pairs->sorted[row - 1];
        const bool shown = judged->verdict != PAIRS_INVALID, spread = isfinite(judged->lo);
        const double ratio = shown ? judged->ratio : 1;
        char name[COMPARE_TEXT] = "all cells together", words[REPORT_CELL_TEXT] = "";

        if (row % subject->rows == 0 &&
            !plot_table_panel(&table, row == 0 ? "NEW / OLD" : "NEW / OLD, more cells",
                              "floor of a step, simultaneous intervals",
                              "right of 1: NEW is slower"))
            break;
        if (row > 0)
            pairs_cell_words(pairs, (size_t)(judged - pairs->judged), PAIRS_NEW, name);
        /* "REGRESSED 1.050: mlp:8,6,4 dp virt:2, 64 rows, f32, cpu/threads". */
        report_add(words, "%s%s", pairs->same ? "A/A " : "", pairs_verdict_words[judged->verdict]);
        if (shown)
            report_add(words, " %.3f", judged->ratio);
        report_add(words, ": %s", name);
        if (plot_table_series(&table, (size_t)judged->verdict + 1, words))
            plot_table_row(&table,
                           (const double[]){(double)table.series, ratio,
                                            spread ? judged->lo : ratio,
                                            spread ? judged->hi : ratio, judged->verdict},
                           5);
    }
    return plot_table_close(&table);
}

int pairs_forest(const struct pairs *pairs, const char *directory)
{
    const size_t panels = (pairs->cells + ROWS) / ROWS; /* all panels have the same height */
    const struct subject subject = {pairs, (pairs->cells + panels) / panels};
    struct text_error err = {""};

    if (plot_alone(directory, "forest", figure_asset_forest, write_forest, &subject, &err) ==
        PLOT_OK)
        return 0;
    command_complain("lockstep compare", "no figure: %s", err.text);
    return -1;
}
