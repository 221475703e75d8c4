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

static const struct report_point *point_at(const struct plot *plot, const struct panel *panel,
                                           size_t count)
{
    const struct report_point *point = figure_find(plot, panel->group, count, panel->batch);

    return point && isfinite(report_middle(point, REPORT_SPEEDUP)) ? point : NULL;
}

static void panel_at(const struct plot *plot, const struct report_group *group, size_t batch,
                     struct panel *panel)
{
    size_t counts[PLOT_MAX_TICKS];
    const size_t n = figure_counts(plot, group, counts, PLOT_MAX_TICKS);

    *panel = (struct panel){.group = group, .batch = batch};
    for (size_t c = 0; c < n; ++c) {
        const struct report_point *point = point_at(plot, panel, counts[c]);

        if (!point)
            continue;
        panel->n =
            figure_insert(panel->devices, panel->n, PLOT_MAX_TICKS, figure_devices(counts[c]));
        panel->hollow = panel->hollow || figure_hollow(point);
        panel->bounded = panel->bounded || point->bound <= SHOWN;
    }
}

/* Finds the same work in the comparison, on the same machine; NULL: none. */
static const struct peer_cell *find_peer(const struct plot *plot, const struct panel *panel)
{
    const struct peer_record *record = figure_report(plot)->peer;
    const struct report_row *row = figure_report(plot)->point[panel->group->first].row;

    if (!record || figure_is_weak(panel->group) || strcmp(row->cell->key.dtype, "f32") != 0 ||
        !peer_same_machine(record, row->run))
        return NULL;
    for (size_t c = 0; c < record->n_cells; ++c)
        if (strcmp(record->cell[c].workload, row->cell->key.workload) == 0 &&
            record->cell[c].batch == panel->batch)
            return &record->cell[c];
    return NULL;
}

/* Chooses the batch of a panel: of the batches with the most numbers of devices one that PyTorch
 * has, if there is one, and of these the largest. Returns false if there are fewer than two numbers
 * of devices. */
static bool panel_make(const struct plot *plot, const struct report_group *group,
                       struct panel *panel)
{
    size_t batches[PLOT_MAX_TICKS];
    const size_t n = figure_batches(plot, group, batches, PLOT_MAX_TICKS);
    struct panel at;

    *panel = (struct panel){.group = group};
    for (size_t b = 0; b < n; ++b) {
        panel_at(plot, group, batches[b], &at);
        at.peer = find_peer(plot, &at);
        if (at.n > panel->n || (at.n == panel->n && (at.peer || !panel->peer)))
            *panel = at;
    }
    return panel->n > 1;
}

static void write_row(struct plot_table *table, double devices, const struct report_value *value,
                      bool hollow, double bound, double roof)
{
    const struct figure_value of = figure_value(value, 1);

    plot_table_row(table, (const double[]){devices, of.middle, of.lo, of.hi, hollow, bound, roof},
                   7);
}

/* The speed-up over the base if a step took only as long as its reduction alone; 0: it is not
 * known, or not lower than the bound. */
static double roof_of(const struct report_point *point)
{
    const double rows = (double)point->row->cell->key.global_batch;
    const double roof = report_middle(point->base, REPORT_STEP) /
                        report_middle(point, REPORT_COMM) * rows /
                        (double)point->base->row->cell->key.global_batch;
    const double bound = point->bound * (double)point->row->cell->key.n_devices;

    return roof < bound ? roof : 0.0;
}

static void write_series(struct plot_table *table, const struct panel *panel, size_t style)
{
    const struct plot *plot = table->plot;
    const size_t mode = style == FIGURE_DP ? 0 : 1 + (style - 1) / FIGURE_STYLES;
    char label[PLOT_TEXT];
    bool begun = false;

    figure_style_words(plot, style, label);
    for (size_t i = 0; i < panel->n; ++i) {
        const size_t devices = panel->devices[i];
        const struct report_point *point = point_at(plot, panel, devices + mode * FIGURE_DDP);

        if (!point || (!begun && !plot_table_series(table, style, label)))
            continue;
        begun = true;
        write_row(table, (double)devices, &point->value[REPORT_SPEEDUP], figure_hollow(point),
                  panel->bounded ? point->bound * (double)devices : 0.0, roof_of(point));
    }
}

/* Writes the programs of PyTorch against the plain program of lockstep in the same comparison,
 * paired by round. */
static void write_peer(struct plot_table *table, const struct panel *panel)
{
    const struct plot *plot = table->plot;
    const struct peer_cell *cell = panel->peer;
    const int devices = cell ? figure_report(plot)->peer->devices : 0;
    const struct peer_arm *base = cell ? peer_find(cell, PEER_LOCKSTEP_PLAIN, 1) : NULL;
    const struct peer_arm *arm[2] = {cell ? peer_fastest(cell, PEER_PLAIN, 1) : NULL,
                                     cell ? peer_fastest(cell, PEER_PARALLEL, devices) : NULL};
    char label[PLOT_TEXT];
    bool begun = false;

    for (int i = 0; i < 2; ++i) {
        const struct report_value value = peer_ratio(base, arm[i]);

        if (!isfinite(value.middle))
            continue;
        figure_style_words(plot, FIGURE_PYTORCH, label);
        if (!begun && !plot_table_series(table, FIGURE_PYTORCH, label))
            return;
        begun = true;
        write_row(table, arm[i]->devices, &value, figure_report(plot)->peer->oversubscribed, 0.0,
                  0.0);
    }
}

static void write_panel(struct plot_table *table, const struct report_group *group)
{
    const struct plot *plot = table->plot;
    struct panel panel;
    char batch[64];

    if (!panel_make(plot, group, &panel))
        return;
    snprintf(batch, sizeof batch, "%s %zu rows",
             figure_is_weak(group) ? "batch per device" : "batch", panel.batch);
    if (!figure_panel(table, group, panel.hollow, batch))
        return;
    plot_list(table->plot, "counts", panel.devices, panel.n);
    for (size_t s = 1; s < figure_styles(plot); ++s)
        write_series(table, &panel, figure_nth_style(s));
    write_peer(table, &panel);
}

int figure_scaling(struct plot *plot)
{
    static const struct plot_grid grid = {.least = 330, .height = 216, .room = 118};

    return figure_of_groups(plot, figure_report(plot), &grid,
                            "no workload is verified on two numbers of devices, with a base",
                            "devices, speed-up, low, high, hollow, bound, roof (0: none)",
                            write_panel);
}
