/* report/figure_batch.c: draws samples/s per device over rows per device. There is a panel for each
 * group, with the plain program, and with DataParallel and ranks on the most devices that have
 * separate cores.
 *
 * Because the axis has rows per device, equal step times lie on one diagonal for all numbers of
 * devices, and the distance between two lines is the cost of several devices. */
#include "report/figure.h"
#include "report/page.h"

#include <math.h>

enum { LEAST_FOR_KNEE = 4 };
/* The knee is the smallest batch whose range reaches this share of the best median of its line. */
static const double KNEE = 0.9;

static double per_device(const struct report_point *point, double of_all)
{
    return of_all / (double)point->row->cell->key.n_devices;
}

/* A line of the figure: the points of a group in one style on one number of devices. */
struct line {
    size_t style, devices, n;
    double best;
};

static bool line_make(const struct plot *plot, const struct report_group *group, size_t style,
                      struct line *line)
{
    const struct report_point *point;

    *line = (struct line){.style = style, .devices = figure_most_devices(plot, group, style)};
    for (size_t at = 0; (point = figure_next(plot, group, style, line->devices, &at)) != NULL;
         ++line->n)
        line->best = fmax(line->best, per_device(point, report_middle(point, REPORT_THROUGHPUT)));
    return line->n > 0;
}

static void write_batch_panel(struct plot_table *table, const struct report_group *group)
{
    const struct plot *plot = table->plot;
    const size_t styles = figure_styles(plot);
    struct {
        size_t list[PLOT_MAX_TICKS], n; /* ascending */
    } batches;
    struct line line;
    bool any = false, hollow = false;

    batches.n = figure_batches(plot, group, batches.list, PLOT_MAX_TICKS);
    for (size_t s = 0; s < styles; ++s) {
        const bool made = line_make(plot, group, figure_nth_style(s), &line);

        any = any || made;
        hollow = hollow || (made && figure_hollow(figure_next(plot, group, line.style, line.devices,
                                                              &(size_t){0})));
    }
    if (!any || !figure_panel(table, group, hollow,
                              batches.n < LEAST_FOR_KNEE ? "fewer than 4 batches: no knee" : ""))
        return;
    for (size_t s = 0; s < styles; ++s) {
        char label[PLOT_TEXT];

        if (!line_make(plot, group, figure_nth_style(s), &line))
            continue;
        figure_style_words(plot, line.style, label);
        if (line.style != FIGURE_PLAIN)
            report_add(label, " on %zu", line.devices);
        if (!plot_table_series(table, line.style, label))
            continue;
        const struct report_point *point;
        size_t last = batches.n;
        bool knee = line.n < LEAST_FOR_KNEE; /* found, or not looked for */

        for (size_t at = 0;
             (point = figure_next(plot, group, line.style, line.devices, &at)) != NULL;) {
            const struct figure_value rate =
                figure_value(&point->value[REPORT_THROUGHPUT], per_device(point, 1));
            const bool reaches = !knee && rate.hi >= KNEE * line.best;
            size_t place = 0;

            while (place < batches.n && batches.list[place] != figure_batch(group, point))
                ++place;
            /* A line has a gap at a batch that other lines have and it lacks. */
            if (last < batches.n && place > last + 1)
                plot_table_gap(table);
            last = place;
            plot_table_row(
                table,
                (const double[]){per_device(point, (double)point->row->cell->key.global_batch),
                                 rate.middle, rate.lo, rate.hi, figure_hollow(point), reaches},
                6);
            knee = knee || reaches;
        }
    }
}

int figure_by_batch(struct plot *plot)
{
    static const struct plot_grid grid = {.least = 330, .height = 206, .room = 136};

    return figure_of_groups(
        plot, figure_report(plot), &grid, "no cell is verified, so nothing can be plotted",
        "rows per device, samples/s per device, low, high, hollow, knee", write_batch_panel);
}
