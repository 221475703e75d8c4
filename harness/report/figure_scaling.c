/* report/figure_scaling.c: draws the speed-up over the number of devices at the largest batch.
 * There is a panel for each group, with DataParallel, ranks, and PyTorch if a comparison has the
 * same work.
 *
 * It also draws the bound that unequal shards and shared cores set: N rows on K devices take as
 * long as ceil(N/K) rows, and virtual devices are together no faster than the cores that they have.
 * Ranks have a second bound, which is drawn if it is lower and known: a step is never shorter than
 * its reduction alone. */
#include "report/figure.h"
#include "report/peer.h"

#include <math.h>
#include <string.h>

/* A bound above this share hardly differs from the ideal, and would only hide it. */
static const double SHOWN = 0.98;

struct panel {
    const struct report_group *group;
    const struct peer_cell *peer; /* the same work in the comparison with PyTorch; NULL: none */
    size_t batch;
    size_t devices[PLOT_MAX_TICKS], n; /* numbers of devices in all series together */
    bool hollow, bounded;
};

/* Finds the first verified point in that style, on so many devices; NULL: none, or it has no
 * speed-up. */
static const struct report_point *point_at(const struct plot *plot, const struct panel *panel,
                                           size_t style, size_t devices)
{
    const struct report_point *point;

    for (size_t at = 0; (point = figure_next(plot, panel->group, style, devices, &at)) != NULL;)
        if (figure_batch(panel->group, point) == panel->batch)
            return isfinite(report_middle(point, REPORT_SPEEDUP)) ? point : NULL;
    return NULL;
}

/* Chooses the batch of a panel: of the batches with the most numbers of devices one that PyTorch
 * has on the same machine, if there is one, and of these the largest. Returns false if there are
 * fewer than two numbers of devices. */
static bool panel_make(const struct plot *plot, const struct report_group *group,
                       struct panel *panel)
{
    const struct peer_record *peers = figure_report(plot)->peer;
    const struct report_row *row = figure_report(plot)->point[group->first].row;
    const bool compared = peers && !figure_is_weak(group) &&
                          strcmp(row->cell->key.dtype, "f32") == 0 &&
                          peer_same_machine(peers, row->run);
    size_t batches[PLOT_MAX_TICKS];
    const size_t n = figure_batches(plot, group, batches, PLOT_MAX_TICKS);

    *panel = (struct panel){.group = group};
    for (size_t b = 0; b < n; ++b) {
        struct panel at = {.group = group, .batch = batches[b]};

        for (size_t i = group->first; i < group->first + group->n; ++i) {
            const struct report_point *point = &figure_report(plot)->point[i];
            const size_t devices = (size_t)point->row->cell->key.n_devices;

            if (report_is_plain(point) ||
                point_at(plot, &at, figure_style(point), devices) != point)
                continue;
            at.n = figure_insert(at.devices, at.n, PLOT_MAX_TICKS, devices);
            at.hollow = at.hollow || figure_hollow(point);
            at.bounded = at.bounded || point->bound <= SHOWN;
        }
        for (size_t c = 0; compared && c < peers->n_cells && !at.peer; ++c)
            if (strcmp(peers->cell[c].workload, row->cell->key.workload) == 0 &&
                peers->cell[c].batch == at.batch)
                at.peer = &peers->cell[c];
        if (at.n > panel->n || (at.n == panel->n && (at.peer || !panel->peer)))
            *panel = at;
    }
    return panel->n > 1;
}

static void write_speedup(struct plot_table *table, double devices,
                          const struct report_value *value, bool hollow, double bound, double roof)
{
    const struct figure_value of = figure_value(value, 1);

    plot_table_row(table, (const double[]){devices, of.middle, of.lo, of.hi, hollow, bound, roof},
                   7);
}

static void write_scaling_panel(struct plot_table *table, const struct report_group *group)
{
    const struct plot *plot = table->plot;
    char batch[64], label[PLOT_TEXT];
    struct panel panel;

    if (!panel_make(plot, group, &panel))
        return;
    snprintf(batch, sizeof batch, "%s %zu rows",
             figure_is_weak(group) ? "batch per device" : "batch", panel.batch);
    if (!figure_panel(table, group, panel.hollow, batch))
        return;
    plot_list(table->plot, "counts", panel.devices, panel.n);
    for (size_t s = 1; s < figure_styles(plot); ++s) {
        const size_t style = figure_nth_style(s);
        bool begun = false;

        figure_style_words(plot, style, label);
        for (size_t i = 0; i < panel.n; ++i) {
            const size_t devices = panel.devices[i];
            const struct report_point *point = point_at(plot, &panel, style, devices);

            if (!point || (!begun && !plot_table_series(table, style, label)))
                continue;
            begun = true;
            /* The roof is the speed-up if a step took only as long as its reduction alone; 0: it is
             * not known, or not lower than the bound. */
            const double bound = point->bound * (double)devices;
            const double roof = report_middle(point->base, REPORT_STEP) /
                                report_middle(point, REPORT_COMM) *
                                (double)point->row->cell->key.global_batch /
                                (double)point->base->row->cell->key.global_batch;

            write_speedup(table, (double)devices, &point->value[REPORT_SPEEDUP],
                          figure_hollow(point), panel.bounded ? bound : 0.0,
                          roof < bound ? roof : 0.0);
        }
    }
    if (!panel.peer)
        return;
    /* The programs of PyTorch against the plain program of lockstep in the same comparison, paired
     * by round. */
    const struct peer_record *peers = figure_report(plot)->peer;
    const struct peer_arm *arm[2] = {peer_fastest(panel.peer, PEER_PLAIN, 1),
                                     peer_fastest(panel.peer, PEER_PARALLEL, peers->devices)};
    bool begun = false;

    figure_style_words(plot, FIGURE_PYTORCH, label);
    for (int i = 0; i < 2; ++i) {
        const struct report_value value =
            peer_ratio(peer_find(panel.peer, PEER_LOCKSTEP_PLAIN, 1), arm[i]);

        if (!isfinite(value.middle))
            continue;
        if (!begun && !plot_table_series(table, FIGURE_PYTORCH, label))
            return;
        begun = true;
        write_speedup(table, arm[i]->devices, &value, peers->oversubscribed, 0.0, 0.0);
    }
}

int figure_scaling(struct plot *plot)
{
    static const struct plot_grid grid = {.least = 330, .height = 216, .room = 118};

    return figure_of_groups(plot, figure_report(plot), &grid,
                            "no workload is verified on two numbers of devices, with a base",
                            "devices, speed-up, low, high, hollow, bound, roof (0: none)",
                            write_scaling_panel);
}
