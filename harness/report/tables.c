/* report/tables.c: the tables of a report, each filled in one place for the page, which has all
 * rows, and for summary.md, which is short. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/beside.h"
#include "report/page.h"
#include "report/roof.h"

/* Failures that are short stay open on the page; cells in summary.md. */
enum { LONG_TABLE = 12, MAX_POINTS = 30 };

static bool same_devices(const struct report_point *a, const struct report_point *b)
{
    const struct record_key *x = &a->row->cell->key, *y = &b->row->cell->key;

    return x->n_devices == y->n_devices && strcmp(x->mode, y->mode) == 0 &&
           x->bucket_bytes == y->bucket_bytes;
}

static const char *status_class(const struct report_point *point)
{
    return report_point_failed(point) ? "failed" : "good";
}

/* On the page rows have their group as a heading, in summary.md their workload as a name. */
static void name_rows(struct grid *grid, const struct report *report, const struct report_row *row)
{
    char text[REPORT_CELL_TEXT];

    report_workload_words(report, row, text);
    grid_name(grid, text);
}

void report_table_group(struct grid *grid, const struct report *report,
                        const struct report_group *group)
{
    char text[REPORT_CELL_TEXT];

    report_group_words(report, group, text);
    grid_group(grid, text);
    name_rows(grid, report, report->point[group->first].row);
}

/* ---- runs --------------------------------------------------------------------------------- */

static void run_name(const struct report_run *run, char name[64])
{
    snprintf(name, 64, "%.8s, %.20s", run->run->run_id, run->run->created_utc);
    text_clean(name, ' ');
}

/* The last cell: the share of a run's time that was timed, which several runs do not have. */
static void count_row(struct grid *grid, const char *name, const struct report_counts *counts,
                      const struct report_run *run)
{
    const size_t numbers[] = {counts->planned, counts->measured, counts->verified,
                              counts->failed,  counts->skipped,  counts->missing};

    grid_row(grid, counts->failed + counts->missing > 0 ? "failed" : "good");
    grid_cell(grid, "text", "%s", name);
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; ++i)
        grid_cell(grid, "number", "%zu", numbers[i]);
    if (run && isfinite(run->seconds))
        grid_cell(grid, "number", "%.0f %% of %.1f s",
                  100 * (run->timed.steps + run->timed.beside) / run->seconds, run->seconds);
    else
        grid_cell(grid, "number", "-");
}

static void fill_counts(struct grid *grid, const struct report *report)
{
    static const char *const columns[] = {"planned", "measured", "verified", "failed",
                                          "skipped", "missing",  "timed"};
    char name[64];

    grid->title = report_repeated(report) ? "Launches of each run" : "Cells of each run";
    snprintf(grid->contents, sizeof grid->contents, "%zu run%s", report->n_runs,
             report->n_runs == 1 ? "" : "s");
    grid_heading(grid, "text", "Run");
    for (size_t i = 0; i < sizeof columns / sizeof columns[0]; ++i)
        grid_heading(grid, "number", columns[i]);
    for (size_t r = 0; r < report->n_runs; ++r) {
        run_name(&report->run[r], name);
        count_row(grid, name, &report->run[r].counts, &report->run[r]);
    }
    if (report->n_runs > 1) {
        grid_line(grid);
        count_row(grid, "all", &report->counts, NULL);
    }
}

static void cost_row(struct grid *grid, const struct report_run *run)
{
    const double n = (double)run->costs.launches;
    char name[64], time[32];

    grid_row(grid, "");
    run_name(run, name);
    grid_cell(grid, "text", "%s", name);
    for (int c = 0; c <= RECORD_COSTS + 1; ++c) {
        const double ms = c < RECORD_COSTS    ? record_cost_ms(&run->costs, (enum record_cost)c)
                          : c == RECORD_COSTS ? 1e3 * run->writing / n
                                              : record_costs_ms(&run->costs, run->writing);

        report_time(1e6 * ms, time);
        grid_cell(grid, "number", "%s", time);
    }
}

/* A launch takes time outside its measured steps, too. */
static void fill_costs(struct grid *grid, const struct report *report)
{
    grid_heading(grid, "text", "Run");
    for (int c = 0; c < RECORD_COSTS; ++c)
        grid_heading(grid, "number", record_cost_names[c]);
    grid_heading(grid, "number", "writing");
    grid_heading(grid, "number", "all");
    for (size_t r = 0; r < report->n_runs; ++r)
        if (isfinite(record_costs_ms(&report->run[r].costs, 0)))
            cost_row(grid, &report->run[r]);
    snprintf(grid->contents, sizeof grid->contents, "%zu run%s", grid->rows,
             grid->rows == 1 ? "" : "s");
}

/* ---- cells -------------------------------------------------------------------------------- */

static void base_row(struct grid *grid, const struct report_base *base,
                     const bool used[REPORT_BASE_COLUMNS])
{
    char text[REPORT_CELL_TEXT];

    grid_row(grid, "");
    for (enum report_base_column c = REPORT_BASE_BATCH; c < REPORT_BASE_COLUMNS; ++c) {
        if (!used[c])
            continue;
        report_base_words(base, c, text);
        grid_cell(grid, "number", "%s", text);
    }
}

static void fill_bases(struct grid *grid, const struct report *report)
{
    bool used[REPORT_BASE_COLUMNS];

    for (enum report_base_column c = REPORT_BASE_BATCH; c < REPORT_BASE_COLUMNS; ++c) {
        used[c] = report_base_column_used(report, c);
        if (used[c])
            grid_heading(grid, "number", report_base_column_name(report, c));
    }
    for (size_t g = 0; g < report->n_groups; ++g) {
        struct report_base base;
        bool begun = false;

        for (size_t at[3] = {0}; report_base_next(report, &report->group[g], at, &base);) {
            if (!begun)
                report_table_group(grid, report, &report->group[g]);
            begun = true;
            base_row(grid, &base, used);
        }
    }
}

static void fill_failures(struct grid *grid, const struct report *report)
{
    static const char *const columns[] = {"Workload", "Mode", "Devices",      "Batch or size",
                                          "Launch",   "Run",  "What happened"};
    char text[REPORT_CELL_TEXT], amount[RECORD_AMOUNT_TEXT];

    for (size_t i = 0; i < sizeof columns / sizeof columns[0]; ++i)
        grid_heading(grid, i < 2 || i > 4 ? "text" : "number", columns[i]);
    for (size_t i = 0; i < report->n_all; ++i) {
        const struct report_row *row = &report->row[i];
        const struct record_key *key = &row->cell->key;

        if (row->verified)
            continue;
        record_amount_words(key, amount);
        text[0] = '\0';
        report_failure_words(row, text);
        text_clean(text, ' ');
        grid_row(grid, row->cell->status == RECORD_SKIPPED ? "good" : "failed");
        grid_cell(grid, "text name", "%s", key->workload);
        grid_cell(grid, "text", "%s", key->mode);
        grid_cell(grid, "number", "%d", key->n_devices);
        grid_cell(grid, "number", "%s", amount);
        grid_cell(grid, "number", "%d", key->launch);
        grid_cell(grid, "text", "%s", row->run->run_id);
        grid_cell(grid, "text reason", "%s", text);
    }
    grid->fold = grid->rows > LONG_TABLE ? GRID_FOLDED : GRID_OPEN;
}

/* A short table shows these first: 0 the batch that the scaling sentence is about, 1 the smallest
 * batch, 2 the others. */
static int rank_of(const struct report *report, const struct report_group *group,
                   const struct report_point *point)
{
    const struct report_point *best = report_group_best(report, group);
    const size_t batch = point->row->cell->key.global_batch;
    const struct report_point *first = &report->point[group->first];

    if (best && (point->base == best->base || batch == best->row->cell->key.global_batch))
        return 0;
    return batch == first->row->cell->key.global_batch ? 1 : 2;
}

/* Marks at most MAX_POINTS of them. */
static void choose(const struct report *report, bool shown[])
{
    size_t n = 0;

    for (int rank = 0; rank < 3; ++rank)
        for (size_t g = 0; g < report->n_groups; ++g) {
            const struct report_group *group = &report->group[g];
            const size_t end = group->first + group->n + group->n_cores;

            for (size_t i = group->first; i < end && n < MAX_POINTS; ++i)
                if (report->n_points <= MAX_POINTS ||
                    rank_of(report, group, &report->point[i]) == rank) {
                    n += !shown[i];
                    shown[i] = true;
                }
        }
}

static void point_row(struct grid *grid, const struct report *report,
                      const struct report_point *point, const bool used[REPORT_COLUMNS])
{
    char text[REPORT_CELL_TEXT];

    name_rows(grid, report, point->row);
    grid_row(grid, status_class(point));
    for (int c = 0; c < REPORT_COLUMNS; ++c) {
        if (!used[c])
            continue;
        report_point_words(report, point, c, text);
        grid_cell(grid, report_column_class(c), "%s", text);
    }
}

static void point_rows(struct grid *grid, const struct report *report, const bool shown[],
                       const bool used[REPORT_COLUMNS])
{
    for (size_t g = 0; g < report->n_groups; ++g) {
        const struct report_group *group = &report->group[g];

        report_table_group(grid, report, group);
        for (size_t i = group->first; i < group->first + group->n + group->n_cores; ++i) {
            const struct report_point *point = &report->point[i];

            if (i > group->first && !same_devices(point - 1, point))
                grid_line(grid);
            if (shown[i])
                point_row(grid, report, point, used);
        }
    }
}

static void fill_points(struct grid *grid, const struct report *report)
{
    bool *shown = calloc(report->n_points + 1, sizeof *shown), used[REPORT_COLUMNS];

    for (int c = 0; c < REPORT_COLUMNS; ++c) {
        used[c] = report_column_used(report, c);
        if (used[c])
            grid_heading(grid, report_column_is_text(c) ? "text" : "number",
                         report_column_name(report, c));
    }
    grid->pieces.failed |= !shown;
    if (shown) {
        if (grid->brief)
            choose(report, shown);
        else
            memset(shown, true, report->n_points);
        point_rows(grid, report, shown, used);
    }
    grid->rows = report->n_points;
    free(shown);
}

static void fill_ranks(struct grid *grid, const struct report *report, enum report_ranks which)
{
    const int columns = report_ranks_columns(report, which);
    char text[REPORT_CELL_TEXT];

    for (int c = 0; c < columns; ++c) {
        report_ranks_name(which, c, text);
        grid_heading(grid, "number", text);
    }
    for (size_t g = 0; g < report->n_groups; ++g) {
        const struct report_group *group = &report->group[g];
        bool begun = false;

        for (size_t i = group->first; i < group->first + group->n; ++i) {
            if (!report_ranks_has(which, &report->point[i]))
                continue;
            if (!begun)
                report_table_group(grid, report, group);
            begun = true;
            grid_row(grid, "");
            for (int c = 0; c < columns; ++c) {
                report_ranks_words(which, &report->point[i], c, text);
                grid_cell(grid, "number", "%s", text);
            }
        }
    }
    report_ranks_note(report, which, grid->note);
}

/* ---- collectives -------------------------------------------------------------------------- */

static void fill_collectives(struct grid *grid, const struct report *report)
{
    const struct report *own = report->collectives;
    char text[REPORT_CELL_TEXT];

    /* Without a model it is what the page is about. */
    grid->fold = report->n_points > 0 ? GRID_FOLDED : GRID_OPEN;
    snprintf(grid->contents, sizeof grid->contents, "%zu cells", own->n_points);
    for (int c = 0; c < REPORT_COLLECTIVES_COLUMNS; ++c)
        grid_heading(grid, c < 4 ? "text" : "number", report_collectives_names[c]);
    for (size_t i = 0; i < own->n_points; ++i) {
        const struct report_point *point = &own->point[i];

        if (i > 0 && !same_devices(point - 1, point))
            grid_line(grid);
        grid_row(grid, status_class(point));
        for (int c = 0; c < REPORT_COLLECTIVES_COLUMNS; ++c) {
            report_collectives_words(point, c, text);
            grid_cell(grid, c < 4 ? "text" : "number", "%s", text);
        }
    }
    if (grid->brief)
        snprintf(grid->note, sizeof grid->note, "%s",
                 "Algorithm bandwidth: bytes of each device over the median time of an iteration, "
                 "until all devices are idle. Bus bandwidth: that times the factor of nccl-tests. "
                 "Every iteration is verified.");
}

static const char *fits_class(int column)
{
    return column < REPORT_FITS_TEXTS || column == REPORT_FITS_COLUMNS - 1 ? "text" : "number";
}

static void fill_fits(struct grid *grid, const struct report *report)
{
    const struct report *own = report->collectives;
    char text[REPORT_CELL_TEXT];

    for (int c = 0; c < REPORT_FITS_COLUMNS; ++c)
        grid_heading(grid, fits_class(c), report_fits_names[c]);
    for (size_t i = 0; i < own->n_fits; ++i) {
        grid_row(grid, "");
        for (int c = 0; c < REPORT_FITS_COLUMNS; ++c) {
            report_fits_words(&own->fit[i], c, text);
            grid_cell(grid, fits_class(c), "%s", text);
        }
    }
    snprintf(grid->note, sizeof grid->note, "%s", report_fits_note);
}

static const char *beside_class(int column)
{
    return column < BESIDE_TEXTS ? "text" : "number";
}

static void fill_beside(struct grid *grid, const struct report *report)
{
    const struct report *own = report->collectives;
    char text[REPORT_CELL_TEXT];

    for (int c = 0; c < BESIDE_COLUMNS; ++c)
        grid_heading(grid, beside_class(c), beside_names[c]);
    for (size_t i = 0; i < report->n_beside * own->n_points; ++i) {
        const struct report_point *point = &own->point[i % own->n_points];
        const struct beside_line *line = beside_find(report->beside[i / own->n_points], point);

        if (!line)
            continue;
        grid_row(grid, line->wrong > 0 || point->verified < point->n ? "failed" : "good");
        for (int c = 0; c < BESIDE_COLUMNS; ++c) {
            beside_words(point, line, c, text);
            grid_cell(grid, beside_class(c), "%s", text);
        }
    }
    beside_remarks(report, text);
    snprintf(grid->note, sizeof grid->note, "%s%s", text, beside_note);
}

/* ---- all of them -------------------------------------------------------------------------- */

enum which { COUNTS, COSTS, COLLECTIVES, FITS, BESIDE, BASES, MEMORY, ROOF, FAILURES, CELLS };

static const struct table {
    const char *id, *title, *rows; /* rows: what they are */
    size_t most;                   /* of them in summary.md */
    const char *names;             /* see struct grid */
    void (*fill)(struct grid *grid, const struct report *report);
} tables[] = {
    [COUNTS] = {"counts", NULL, "runs", 0, NULL, fill_counts},
    [COSTS] = {"costs", "Outside the measured steps, a launch on the average", "runs", 0, NULL,
               fill_costs},
    [COLLECTIVES] = {"collectives", "Collectives", "cells of collectives", 100, NULL,
                     fill_collectives},
    [FITS] = {"fits", report_fits_title, "lines", 30, NULL, fill_fits},
    [BESIDE] = {"beside", beside_title, "cells", 100, NULL, fill_beside},
    [BASES] = {"bases", "Base cases", "base cases", 12, "Workload", fill_bases},
    [MEMORY] = {"memory", "Memory and the largest batch", "lines through two batches", 0, NULL,
                report_memory},
    [ROOF] = {"limits", roof_title, "phases and products", 80, "Workload, batch", roof_table},
    [FAILURES] = {"failures", "Failed and skipped", "launches without a result", 0, NULL,
                  fill_failures},
    [CELLS] = {"cells", "Cells", "cells", MAX_POINTS, "Workload", fill_points},
};

/* On the page or in summary.md. */
static int put(struct grid *grid, const struct table *table)
{
    if (!grid->brief) {
        if (grid->contents[0] == '\0')
            snprintf(grid->contents, sizeof grid->contents, "%zu %s", grid->rows, table->rows);
        return grid_html(grid);
    }
    text_print(grid->out, "\n## %s\n\n", grid->title);
    if (grid_markdown(grid, table->most) != 0)
        return -1;
    report_left(grid->out, grid->rows, grid->shown, table->rows);
    if (grid->note[0] != '\0')
        text_print(grid->out, "\n%s\n", grid->note);
    return 0;
}

static int table(struct text_out *out, const struct report *report, enum which which)
{
    const struct table *of = &tables[which];
    struct grid grid;
    int status = 0;

    grid_open(&grid, out, of->id, of->title);
    grid.names = of->names;
    grid.right = which == COLLECTIVES || which == FITS || which == BESIDE;
    of->fill(&grid, report);
    if (grid.rows > 0 || which == CELLS || (which == BESIDE && report->n_beside > 0))
        status = put(&grid, of);
    grid_close(&grid);
    return status;
}

static int rank_tables(struct text_out *out, const struct report *report)
{
    int status = 0;

    for (enum report_ranks which = REPORT_RANKS_TOKENS; which < REPORT_RANKS_TABLES; ++which) {
        const struct report_ranks_table *ranks = &report_ranks_tables[which];
        const struct table of = {.rows = ranks->rows, .most = 16};
        struct grid grid;

        grid_open(&grid, out, ranks->id, ranks->title);
        grid.names = "Workload";
        fill_ranks(&grid, report, which);
        if (grid.rows > 0)
            status |= put(&grid, &of);
        grid_close(&grid);
    }
    return status;
}

/* Whether there is more than collectives. */
static bool has_models(const struct report *report)
{
    return report->n_points > 0 || report->collectives->n_points == 0;
}

int report_tables(struct text_out *out, const struct report *report)
{
    int status = table(out, report, COUNTS);

    status |= table(out, report, COSTS);
    status |= report_copies_table(out, report);
    status |= table(out, report, COLLECTIVES);
    status |= table(out, report, FITS);
    status |= table(out, report, BESIDE);
    if (!has_models(report))
        return status | table(out, report, FAILURES);
    status |= table(out, report, BASES);
    status |= rank_tables(out, report);
    status |= table(out, report, MEMORY);
    status |= table(out, report, ROOF);
    status |= table(out, report, FAILURES);
    return status | table(out, report, CELLS);
}

int report_brief_tables(struct text_out *out, const struct report *report)
{
    int status = table(out, report, BASES);

    status |= rank_tables(out, report);
    status |= report_copies_table(out, report);
    status |= table(out, report, ROOF);
    status |= table(out, report, COLLECTIVES);
    status |= table(out, report, FITS);
    status |= table(out, report, BESIDE);
    return has_models(report) ? status | table(out, report, CELLS) : status;
}
