/* report/tables.c: the tables of a report. One function fills a table for the page, which has all
 * rows, and for summary.md, which is short. */
#include <math.h>
#include <string.h>

#include "report/page.h"

/* On the page, a table of failures with fewer rows stays open. */
enum { LONG_TABLE = 12 };

/* ---- runs --------------------------------------------------------------------------------- */

static void cell_of_run(struct grid *grid, const struct report_run *run)
{
    char name[64];

    snprintf(name, sizeof name, "%.8s, %.20s", run->run->run_id, run->run->created_utc);
    text_clean(name, ' ');
    grid_cell(grid, "text", "%s", name);
}

/* Adds the counts of a run; of the last row, which is their sum, there is no run. */
static void add_counts(struct grid *grid, const struct report_counts *counts,
                       const struct report_run *run)
{
    const size_t numbers[] = {counts->planned, counts->measured, counts->verified,
                              counts->failed,  counts->skipped,  counts->missing};

    grid_row(grid, counts->failed + counts->missing > 0 ? "failed" : "good");
    if (run)
        cell_of_run(grid, run);
    else
        grid_cell(grid, "text", "all");
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
    grid->title = report_repeated(report) ? "Launches of each run" : "Cells of each run";
    snprintf(grid->contents, sizeof grid->contents, "%zu run%s", report->n_runs,
             report->n_runs == 1 ? "" : "s");
    grid_headings(grid, "text", "Run");
    grid_headings(grid, "number", "planned|measured|verified|failed|skipped|missing|timed");
    for (size_t r = 0; r < report->n_runs; ++r)
        add_counts(grid, &report->run[r].counts, &report->run[r]);
    if (report->n_runs > 1) {
        grid_line(grid);
        add_counts(grid, &report->counts, NULL);
    }
}

/* Fills the table of the time that launches take outside their measured steps. */
static void fill_costs(struct grid *grid, const struct report *report)
{
    grid_headings(grid, "text", "Run");
    for (int c = 0; c < RECORD_COSTS; ++c)
        grid_heading(grid, "number", record_cost_names[c]);
    grid_headings(grid, "number", "writing|all");
    for (size_t r = 0; r < report->n_runs; ++r) {
        const struct report_run *run = &report->run[r];

        if (!isfinite(record_costs_ms(&run->costs, 0)))
            continue;
        grid_row(grid, "");
        cell_of_run(grid, run);
        for (int c = 0; c < RECORD_COSTS; ++c)
            report_cell_number(grid, 1e6 * record_cost_ms(&run->costs, (enum record_cost)c),
                               report_time);
        report_cell_number(grid, 1e9 * run->writing / (double)run->costs.launches, report_time);
        report_cell_number(grid, 1e6 * record_costs_ms(&run->costs, run->writing), report_time);
    }
    snprintf(grid->contents, sizeof grid->contents, "%zu run%s", grid->rows,
             grid->rows == 1 ? "" : "s");
}

static void fill_failures(struct grid *grid, const struct report *report)
{
    char text[REPORT_CELL_TEXT], amount[RECORD_AMOUNT_TEXT];

    grid_headings(grid, "text", "Workload|Mode");
    grid_headings(grid, "number", "Devices|Batch or size|Launch");
    grid_headings(grid, "text", "Run|What happened");
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

/* ---- all of them -------------------------------------------------------------------------- */

static const struct report_table {
    const char *id, *title, *rows; /* rows: the name of its rows */
    size_t most;                   /* the largest number of rows in summary.md */
    const char *names;             /* see struct grid */
    bool right;                    /* see struct grid, too */
    report_fill_fn *fill;
} tables[REPORT_TABLES] = {
    [REPORT_TABLE_COUNTS] = {"counts", NULL, "runs", 0, NULL, false, fill_counts},
    [REPORT_TABLE_COSTS] = {"costs", "Outside the measured steps, a launch on the average", "runs",
                            0, NULL, false, fill_costs},
    [REPORT_TABLE_COLLECTIVES] = {"collectives", "Collectives", "cells of collectives", 100, NULL,
                                  true, report_fill_collectives},
    [REPORT_TABLE_FITS] = {"fits", "Alpha and beta of collectives", "lines", 30, NULL, true,
                           report_fill_fits},
    [REPORT_TABLE_NCCL_TESTS] = {"beside", "Next to nccl-tests", "cells", 100, NULL, true,
                                 report_fill_nccl_tests},
    [REPORT_TABLE_BASES] = {"bases", "Base cases", "base cases", 12, "Workload", false,
                            report_fill_bases},
    [REPORT_TABLE_TOKENS] = {"tokens", "Tokens", "cells of language models", 16, "Workload", false,
                             report_fill_tokens},
    [REPORT_TABLE_HELD] = {"held", "Planned memory of a device", "cells of language models", 16,
                           "Workload", false, report_fill_held},
    [REPORT_TABLE_RANKS] = {"beside", "DataParallel and DistributedDataParallel in numbers",
                            "comparisons", 16, "Workload", false, report_fill_ranks},
    [REPORT_TABLE_OVERLAP] = {"overlap", "Communication hidden during backward",
                              "cells of several ranks", 16, "Workload", false, report_fill_overlap},
    [REPORT_TABLE_SLOWEST] = {"slowest", "The slowest rank", "cells of several ranks", 16,
                              "Workload", false, report_fill_slowest},
    [REPORT_TABLE_MEMORY] = {"memory", "Memory and the largest batch", "lines through two batches",
                             0, NULL, false, report_fill_memory},
    [REPORT_TABLE_LIMITS] = {"limits", "Each phase against its limit", "phases and products", 80,
                             "Workload, batch", false, report_fill_limits},
    [REPORT_TABLE_FAILURES] = {"failures", "Failed and skipped", "launches without a result", 0,
                               NULL, false, fill_failures},
    [REPORT_TABLE_CELLS] = {"cells", "Cells", "cells", REPORT_SUMMARY_CELLS, "Workload", false,
                            report_fill_cells},
};

int report_table(struct text_out *out, const struct report *report, enum report_table_id which)
{
    const struct report_table *table = &tables[which];
    struct grid grid;
    int status = 0;

    grid_open(&grid, out, table->id, table->title);
    grid.names = table->names;
    grid.right = table->right;
    table->fill(&grid, report);
    if (grid.contents[0] == '\0')
        snprintf(grid.contents, sizeof grid.contents, "%zu %s", grid.rows, table->rows);
    if (grid.rows == 0 && which != REPORT_TABLE_CELLS &&
        (which != REPORT_TABLE_NCCL_TESTS || report->n_external == 0)) {
        grid_close(&grid);
        return 0;
    }
    if (grid.brief) {
        text_print(out, "\n## %s\n\n", grid.title);
        status = grid_markdown(&grid, table->most);
        report_left(out, grid.rows, grid.shown, table->rows);
        if (grid.note[0] != '\0')
            text_print(out, "\n%s\n", grid.note);
    } else
        status = grid_html(&grid);
    grid_close(&grid);
    return status;
}

/* Prints the tables of a range, in their order. */
static int print_tables(struct text_out *out, const struct report *report,
                        enum report_table_id from, enum report_table_id to)
{
    int status = 0;

    for (enum report_table_id which = from; which <= to; ++which)
        status |= report_table(out, report, which);
    return status;
}

/* Whether the report has more than collectives. */
static bool has_models(const struct report *report)
{
    return report->n_points > 0 || report->collectives->n_points == 0;
}

int report_tables(struct text_out *out, const struct report *report)
{
    int status = print_tables(out, report, REPORT_TABLE_COUNTS, REPORT_TABLE_COSTS);

    status |= report_copies_table(out, report);
    status |= print_tables(out, report, REPORT_TABLE_COLLECTIVES, REPORT_TABLE_NCCL_TESTS);
    return status |
           (has_models(report) ? print_tables(out, report, REPORT_TABLE_BASES, REPORT_TABLE_CELLS)
                               : report_table(out, report, REPORT_TABLE_FAILURES));
}

int report_brief_tables(struct text_out *out, const struct report *report)
{
    int status = print_tables(out, report, REPORT_TABLE_BASES, REPORT_TABLE_SLOWEST);

    status |= report_copies_table(out, report);
    status |= report_table(out, report, REPORT_TABLE_LIMITS);
    status |= print_tables(out, report, REPORT_TABLE_COLLECTIVES, REPORT_TABLE_NCCL_TESTS);
    return has_models(report) ? status | report_table(out, report, REPORT_TABLE_CELLS) : status;
}
