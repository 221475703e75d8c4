/* report/figure_roofline.c: draws how fast a device computes, over the amount of work for each byte
 * that is moved between devices. There is a panel for each group, and a line for each mode. The
 * ceilings are rates that were measured here: the matrix products by themselves, and the reduction
 * alone.
 *
 * A ceiling is drawn only if the records have it. */
#include "report/figure.h"
#include "report/page.h"

#include <math.h>

static double per_byte(const struct report_point *point)
{
    const double moved = report_middle(point, REPORT_MOVED);

    return moved > 0.0 ? point->middle->cell->flops_per_step / moved : 0.0;
}

static bool is_on_roofline(const struct report_point *point)
{
    return isfinite(report_middle(point, REPORT_FLOPS)) &&
           (report_is_plain(point) || per_byte(point) > 0.0);
}

static void write_roofline_panel(struct plot_table *table, const struct report_group *group)
{
    const struct plot *plot = table->plot;
    const struct report_point *point;
    double products = 0, moves = 0; /* per second and device; 0: not known */
    char words[REPORT_CELL_TEXT] = "";
    bool any = false, hollow = false;

    for (size_t s = 1; s < figure_styles(plot); ++s) {
        const size_t style = figure_nth_style(s), most = figure_most_devices(plot, group, style);

        for (size_t at = 0; (point = figure_next(plot, group, style, most, &at)) != NULL;)
            if (is_on_roofline(point)) {
                any = true;
                hollow = hollow || figure_hollow(point);
            }
    }
    for (size_t i = group->first; i < group->first + group->n; ++i) {
        point = &figure_report(plot)->point[i];
        if (point->verified == 0 || figure_hollow(point))
            continue;
        products = fmax(products, report_middle(point, REPORT_PRODUCTS));
        moves = fmax(moves, 1e9 * report_middle(point, REPORT_MOVED) /
                                report_middle(point, REPORT_COMM) /
                                (double)point->row->cell->key.n_devices);
    }
    if (moves > 0.0)
        report_add(words, "slope: reduction alone, %sB/s", report_rate(moves, WORD));
    else
        report_add(words, "no ceiling of moves is measured");
    report_add(words, products > 0.0 ? "" : ", none of products");
    if (!any || !figure_panel(table, group, hollow, words))
        return;
    plot_number(table->plot, "products", products / 1e9);
    plot_number(table->plot, "moves", moves / 1e9);
    for (size_t s = 0; s < figure_styles(plot); ++s) {
        const size_t style = figure_nth_style(s), devices = figure_most_devices(plot, group, style);
        char label[PLOT_TEXT];
        bool begun = false;

        figure_style_words(plot, style, label);
        if (style != FIGURE_PLAIN)
            report_add(label, " on %zu", devices);
        for (size_t at = 0; (point = figure_next(plot, group, style, devices, &at)) != NULL;) {
            const struct figure_value flops = figure_value(&point->value[REPORT_FLOPS], 1e-9);

            if (!is_on_roofline(point))
                continue;
            if (!begun && !plot_table_series(table, style, label))
                break;
            begun = true;
            plot_table_row(table,
                           (const double[]){per_byte(point), flops.middle, flops.lo, flops.hi,
                                            figure_hollow(point)},
                           5);
        }
    }
}

int figure_roofline(struct plot *plot)
{
    static const struct plot_grid grid = {.least = 330, .height = 206, .room = 136};

    return figure_of_groups(
        plot, figure_report(plot), &grid,
        "no cell of several devices has its operations and its bytes",
        "operations per byte (0: no byte), GFLOP/s of a device, low, high, hollow",
        write_roofline_panel);
}
