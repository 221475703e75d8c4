/* report/figure_overlap.c: draws the cost of communication for ranks. For each cell whose overlap
 * is resolved it has the reduction as a share of the step, the exposed part of it, and the bytes
 * that the step moves and holds. There is a panel for each workload, and a row for each cell. */
#include "report/figure.h"
#include "report/page.h"

#include <math.h>

enum { MOST_ROWS = 5 };

static bool resolved(const struct report_point *point)
{
    return report_has_overlap(point) && report_resolved(&point->value[REPORT_HIDDEN], 1.0);
}

static void write_overlap_panel(struct plot_table *table, const struct report_group *group)
{
    const struct report_point *points = figure_report(table->plot)->point + group->first;
    char more[PLOT_TEXT] = "";
    size_t can = 0, open = 0, n = 0;
    bool hollow = false;

    for (size_t i = 0; i < group->n; ++i) {
        can += resolved(&points[i]);
        open += report_has_overlap(&points[i]) && !resolved(&points[i]);
        hollow = hollow || (resolved(&points[i]) && figure_hollow(&points[i]));
    }
    if (can == 0)
        return;
    if (can > MOST_ROWS)
        report_add(more, "%zu more in the table; ", can - MOST_ROWS);
    report_add(more, "%zu not resolved", open);
    if (!figure_panel(table, group, hollow, more))
        return;
    /* The loop goes backwards, because the largest batches come last. */
    for (size_t i = group->n; i > 0 && n < MOST_ROWS; --i)
        if (resolved(&points[i - 1])) {
            const struct report_point *point = &points[i - 1];
            const struct report_value *hidden = &point->value[REPORT_HIDDEN];
            const double comm =
                report_middle(point, REPORT_COMM) / report_middle(point, REPORT_WHOLE);
            char words[REPORT_CELL_TEXT] = "";

            report_add(words, "%s on %d, %zu rows: %s moved, %s held",
                       figure_style_words(table->plot, figure_style(point), PHRASE),
                       point->row->cell->key.n_devices, point->row->cell->key.global_batch,
                       report_bytes(report_middle(point, REPORT_MOVED), WORD),
                       report_bytes(report_middle(point, REPORT_PEAK), WORD));
            ++n;
            /* The reduction over the step, its exposed part, and the range of that part. */
            if (plot_table_series(table, figure_style(point), words))
                plot_table_row(table,
                               (const double[]){(double)n, comm, comm * (1 - hidden->middle),
                                                comm * (1 - hidden->hi), comm * (1 - hidden->lo),
                                                hidden->middle},
                               6);
        }
}

int figure_overlap(struct plot *plot)
{
    static const struct plot_grid grid = {.least = 350, .height = 170, .room = 14, .columns = 3};

    return figure_of_groups(plot, figure_report(plot), &grid,
                            "of no cell is it resolved how much of its communication is hidden",
                            "row, reduction and its exposed part, low, high, as parts of the step, "
                            "hidden",
                            write_overlap_panel);
}
