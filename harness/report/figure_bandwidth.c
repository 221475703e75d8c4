/* report/figure_bandwidth.c: draws the bus bandwidth of collectives by size. There is a panel for
 * each collective with its type, communicator and place, and a line for each number of devices. */
#include "report/figure.h"
#include "report/page.h"

#include <math.h>

/* All lines have the colour of ranks, and each has a different marker. */
enum { FIRST_STYLE = 3, NEXT_STYLE = 4, MOST_LINES = 6 };

static void write_bandwidth_panel(struct plot_table *table, const struct report_group *group)
{
    const struct report_point *points =
        figure_report(table->plot)->collectives->point + group->first;
    const struct record_key *key = &points->row->cell->key;
    char title[PLOT_TEXT] = "", setting[PLOT_TEXT] = "", note[PLOT_TEXT] = "";
    size_t verified = 0, line = 0;
    bool hollow = false, begun = false;

    for (size_t i = 0; i < group->n; ++i) {
        verified += points[i].verified > 0;
        hollow = hollow || (points[i].verified > 0 && figure_hollow(&points[i]));
    }
    if (verified == 0)
        return;
    report_add(title, "%s%s", key->workload, key->out_of_place ? ", out of place" : "");
    report_add(setting, "%s, %s/%s on %s", key->dtype, key->backend, key->communicator,
               points->row->kind);
    if (report_simulated(points->row))
        report_add(note, "SIMULATED, not measured (hollow)");
    else if (hollow)
        report_add(note, "hollow: %s", report_crowding(points->row));
    if (!plot_table_panel(table, title, setting, note))
        return;
    /* Points on the same number of devices are a line; they follow each other, ordered by size. */
    for (size_t i = 0; i < group->n && line < MOST_LINES; ++i) {
        const struct figure_value speed = figure_value(&points[i].value[REPORT_BUSBW], 1e-9);
        const int devices = points[i].row->cell->key.n_devices;
        char label[PLOT_TEXT] = "";

        report_add(label, "%d devices", devices);
        if (points[i].verified > 0 && !begun &&
            !plot_table_series(table, FIRST_STYLE + NEXT_STYLE * line, label))
            return;
        begun = begun || points[i].verified > 0;
        if (points[i].verified > 0)
            plot_table_row(table,
                           (const double[]){(double)points[i].row->cell->key.size_bytes,
                                            speed.middle, speed.lo, speed.hi,
                                            figure_hollow(&points[i])},
                           5);
        if (i + 1 == group->n || points[i + 1].row->cell->key.n_devices != devices) {
            begun = false;
            ++line;
        }
    }
}

int figure_bandwidth(struct plot *plot)
{
    static const struct plot_grid grid = {.least = 350, .height = 220, .room = 84};
    const struct report *own = figure_report(plot)->collectives;

    return figure_of_groups(plot, own, &grid, own->n_all > 0 ? "no collective is verified" : "",
                            "bytes, bus bandwidth in GB/s, low, high, hollow",
                            write_bandwidth_panel);
}
