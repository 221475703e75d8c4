/* report/figure_trust.c: draws whether the launches can be trusted, in three panels: each launch
 * over the median of its cell, in the order of time; the cells whose launches are farthest apart;
 * and the first steps of launches, drawn over each other.
 *
 * If a cell has fewer than 3 launches, the median says nothing about them; they are in the last
 * panel only. The text above a panel counts what it has no space for. */
#include "report/figure.h"
#include "report/page.h"

#include <math.h>
#include <stdlib.h>

#include "text/alloc.h"

enum { MOST_LAUNCHES = 1500, MOST_CELLS = 12, FIRST_STEPS = 60, MOST_LINES = 60 };
enum { RUN_CHART = 1, STRIP, FIRST }; /* the kinds of panels, as in plots/trust.gp */

/* A launch, and the median of its cell; 0: the cell has too few launches. */
struct launch {
    const struct report_row *row;
    double of_cell;
};

struct launches {
    /* Verified launches; those in cells with enough launches first; each part by time. */
    struct launch *list;
    size_t n, charted;
    double *scratch; /* capacity for one number per launch */
};

static int compare_launches(const void *left, const void *right)
{
    const struct launch *a = left, *b = right;
    const struct record_cell *c = a->row->cell, *d = b->row->cell;

    if ((a->of_cell > 0) != (b->of_cell > 0))
        return a->of_cell > 0 ? -1 : 1;
    if (c->start_epoch_ns != d->start_epoch_ns)
        return c->start_epoch_ns < d->start_epoch_ns ? -1 : 1;
    return (c->order_index > d->order_index) - (c->order_index < d->order_index);
}

static bool trust_panel(struct plot_table *table, int kind, const char *title, const char *note)
{
    const struct report *report = figure_report(table->plot);
    const bool simulated = report->n_points > 0 && report_simulated(report->point[0].row);

    if (!plot_table_panel(table, title, note, simulated ? "SIMULATED, not measured" : ""))
        return false;
    plot_number(table->plot, "kind", kind);
    return true;
}

static void write_run_chart(struct plot_table *table, const struct launches *all)
{
    const size_t stride = 1 + (all->charted - 1) / MOST_LAUNCHES;
    const size_t drawn = (all->charted + stride - 1) / stride;
    const struct launch *before = NULL;
    char note[PLOT_TEXT] = "";

    if (drawn < all->charted)
        report_add(note, "%zu of %zu launches are drawn; ", drawn, all->charted);
    report_add(note, "vertical lines: blocks, each of which visits every cell once");
    if (!trust_panel(table, RUN_CHART, "Launches in the order of time", note) ||
        !plot_table_series(table, 1, ""))
        return;
    plot_number(table->plot, "last", (double)all->charted);
    for (size_t i = 0; i < all->charted; ++i) {
        const struct launch *launch = &all->list[i];
        const struct record_cell *cell = launch->row->cell;
        const bool begins = !before || launch->row->run != before->row->run ||
                            cell->key.launch != before->row->cell->key.launch ||
                            cell->sitting != before->row->cell->sitting;

        before = launch;
        /* A table cannot have NaN: an unknown share is -1. */
        if (i % stride == 0 || begins)
            PLOT_ROW(table, (double)i + 1, cell->median_ns / launch->of_cell,
                     isfinite(cell->foreign_frac) ? cell->foreign_frac : -1,
                     isfinite(cell->steal_frac) ? cell->steal_frac : -1, i > 0 && begins);
    }
}

static double apart(const struct report_point *point)
{
    const struct report_value *step = &point->value[REPORT_STEP];

    return point->verified >= REPORT_LEAST_OF_CELL ? step->hi / step->lo : 0;
}

/* Writes a row for each of these cells: the range of the median, the floor, and a dot for each
 * launch. */
static void write_strip(struct plot_table *table, const struct report *report, double scratch[])
{
    const struct report_point *chosen[MOST_CELLS + 1];
    char note[PLOT_TEXT] = "", words[PLOT_TEXT];
    size_t cells = 0, n = 0;

    /* The cells whose launches are farthest apart, these first. Equal ones keep their order. */
    for (size_t i = 0; i < report->n_points; ++i) {
        const struct report_point *point = &report->point[i];
        size_t at = n;

        if (!(apart(point) > 0))
            continue;
        for (; at > 0 && apart(chosen[at - 1]) < apart(point); --at)
            chosen[at] = chosen[at - 1];
        chosen[at] = point;
        n = n < MOST_CELLS ? n + 1 : n;
        ++cells;
    }
    report_add(note, "dots: launches; bars: what the median is shown to be in; ticks: floor");
    if (n < cells)
        report_add(note, "; %zu cell%s nearer together %s not drawn", cells - n, text_s(cells - n),
                   text_are(cells - n));
    if (!trust_panel(table, STRIP, "Cells that scatter most", note))
        return;
    for (size_t c = 0; c < n; ++c) {
        const struct report_point *point = chosen[c];
        const struct report_value *step = &point->value[REPORT_STEP];
        const struct record_key *key = point->key;
        const double row = (double)c + 1;
        size_t launches = 0;

        figure_style_words(table->plot, figure_style(point), words);
        if (!report_is_plain(point))
            report_add(words, " on %d", key->n_devices);
        report_add(words, ", %zu row%s, %s", key->global_batch, text_s(key->global_batch),
                   key->workload);
        if (!plot_table_series(table, figure_style(point), words))
            continue;
        for (size_t i = 0; i < point->n; ++i)
            if (point->row[i].verified)
                scratch[launches++] = point->row[i].cell->p05_ns;
        PLOT_ROW(table, row, stats_median(scratch, launches) / step->middle,
                 step->lo / step->middle, step->hi / step->middle, 0);
        for (size_t i = 0; i < point->n; ++i)
            if (point->row[i].verified)
                PLOT_ROW(table, row, point->row[i].cell->median_ns / step->middle, 1, 1, 1);
    }
}

/* Step i of a launch over the median of the launch. */
static double relative(const struct launch *launch, size_t i)
{
    const struct record_cell *cell = launch->row->cell;

    return i < cell->n_samples ? (double)cell->t_step_ns[i] / cell->median_ns : NAN;
}

static void write_first(struct plot_table *table, const struct launches *all)
{
    const size_t stride = 1 + (all->n - 1) / MOST_LINES, drawn = (all->n + stride - 1) / stride;
    char note[PLOT_TEXT] = "";
    double warmup, median = 0;

    for (size_t i = 0; i < all->n; ++i)
        all->scratch[i] = (double)all->list[i].row->cell->warmup_steps;
    warmup = stats_median(all->scratch, all->n);
    report_add(note, "thick: median of %s; shaded: warm-up, %.0f step%s in the middle",
               all->n == 1 ? "the launch" : "all launches", warmup, warmup == 1 ? "" : "s");
    if (drawn < all->n)
        report_add(note, "; %zu of %zu drawn", drawn, all->n);
    if (!trust_panel(table, FIRST, "The first steps of launches", note))
        return;
    plot_number(table->plot, "warmup", warmup);
    if (plot_table_series(table, 1, ""))
        for (size_t s = 0; s < FIRST_STEPS && isfinite(median); ++s) {
            size_t n = 0;

            for (size_t i = 0; i < all->n; ++i)
                if (isfinite(relative(&all->list[i], s)))
                    all->scratch[n++] = relative(&all->list[i], s);
            median = stats_median(all->scratch, n);
            if (isfinite(median))
                PLOT_ROW(table, (double)s + 1, median);
        }
    if (!plot_table_series(table, 1, ""))
        return;
    for (size_t i = 0; i < all->n; i += stride) {
        if (i > 0)
            plot_table_gap(table);
        for (size_t s = 0; s < FIRST_STEPS && isfinite(relative(&all->list[i], s)); ++s)
            PLOT_ROW(table, (double)s + 1, relative(&all->list[i], s));
    }
}

static void write_trust(struct plot_table *table)
{
    const struct report *report = figure_report(table->plot);
    struct launches all = {.list = cli_alloc(report->n_rows, sizeof all.list[0]),
                           .scratch = cli_alloc(report->n_rows, sizeof *all.scratch)};

    for (size_t i = 0; i < report->n_points; ++i) {
        const struct report_point *point = &report->point[i];
        const bool charted = point->verified >= REPORT_LEAST_OF_CELL;

        for (size_t l = 0; l < point->n; ++l)
            if (point->row[l].verified)
                all.list[all.n++] = (struct launch){
                    &point->row[l], charted ? report_middle(point, REPORT_STEP) : 0};
        all.charted += charted ? point->verified : 0;
    }
    if (all.n > 0)
        qsort(all.list, all.n, sizeof all.list[0], compare_launches);
    if (all.charted > 0) {
        write_run_chart(table, &all);
        write_strip(table, report, all.scratch);
    }
    if (all.n > 0)
        write_first(table, &all);
    free(all.list);
    free(all.scratch);
}

const struct figure_row figure_trust = {
    .grid = {.least = 1000, .height = 170, .room = 14, .columns = 1},
    .why = "no cell is verified, so there are no launches",
    .columns = "see plots/trust.gp",
    .write_panels = write_trust};
