/* report/html_tables.c: the tables of the page: counts, base cases, failed launches, all points. */
#include "report/beside.h"
#include "report/copies.h"
#include "report/fits.h"
#include "report/html_table.h"
#include "report/page.h"
#include "report/roof.h"

#include <math.h>
#include <string.h>

/* What is short and matters stays open. */
enum { LONG_TABLE = 12 };

static void begin(struct html_table *table, struct text_out *out, const char *id, const char *title,
                  size_t rows, const char *unit)
{
    char contents[64];

    snprintf(contents, sizeof contents, "%zu %s", rows, unit);
    html_table_begin(table, out, HTML_FOLDED, id, title, contents);
}

static void group_row(struct html_table *table, const struct report *report,
                      const struct report_group *group)
{
    char text[REPORT_CELL_TEXT];

    report_group_words(report, group, text);
    html_table_group(table, text);
}

static void number_cell(struct html_table *table, size_t number)
{
    char text[32];

    snprintf(text, sizeof text, "%zu", number);
    html_table_cell(table, "number", text);
}

/* Of a run's time what its numbers are made of; without one: of several runs. */
static void timed_cell(struct html_table *table, const struct report_run *run)
{
    char text[64] = "-";

    if (run && isfinite(run->seconds))
        snprintf(text, sizeof text, "%.0f %% of %.1f s",
                 100 * (run->timed.steps + run->timed.beside) / run->seconds, run->seconds);
    html_table_cell(table, "number", text);
}

static void count_row(struct html_table *table, const char *name,
                      const struct report_counts *counts, const struct report_run *run)
{
    const size_t numbers[] = {counts->planned, counts->measured, counts->verified,
                              counts->failed,  counts->skipped,  counts->missing};

    html_table_row(table, counts->failed + counts->missing > 0 ? "failed" : "good");
    html_table_cell(table, "text", name);
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; ++i)
        number_cell(table, numbers[i]);
    timed_cell(table, run);
    html_table_row_end(table);
}

static void run_name(const struct report_run *run, char name[64])
{
    snprintf(name, 64, "%.8s, %.20s", run->run->run_id, run->run->created_utc);
    text_clean(name, ' ');
}

static int counts_table(struct text_out *out, const struct report *report)
{
    static const char *const columns[] = {"planned", "measured", "verified", "failed",
                                          "skipped", "missing",  "timed"};
    struct html_table table;
    char name[64];

    begin(&table, out, "counts",
          report_repeated(report) ? "Launches of each run" : "Cells of each run", report->n_runs,
          report->n_runs == 1 ? "run" : "runs");
    html_table_heading(&table, "text", "Run");
    for (size_t i = 0; i < sizeof columns / sizeof columns[0]; ++i)
        html_table_heading(&table, "number", columns[i]);
    for (size_t r = 0; r < report->n_runs; ++r) {
        run_name(&report->run[r], name);
        count_row(&table, name, &report->run[r].counts, &report->run[r]);
    }
    if (report->n_runs > 1) {
        html_table_line(&table);
        count_row(&table, "all", &report->counts, NULL);
    }
    return html_table_end(&table, "");
}

static void cost_row(struct html_table *table, const struct report_run *run)
{
    const double n = (double)run->costs.launches;
    char name[64], time[32];

    html_table_row(table, "");
    run_name(run, name);
    html_table_cell(table, "text", name);
    for (int c = 0; c <= RECORD_COSTS + 1; ++c) {
        const double ms = c < RECORD_COSTS    ? record_cost_ms(&run->costs, (enum record_cost)c)
                          : c == RECORD_COSTS ? 1e3 * run->writing / n
                                              : record_costs_ms(&run->costs, run->writing);

        report_time(1e6 * ms, time);
        html_table_cell(table, "number", time);
    }
    html_table_row_end(table);
}

/* What a launch takes that is no measured step. */
static int costs_table(struct text_out *out, const struct report *report)
{
    struct html_table table;
    size_t n = 0;

    for (size_t r = 0; r < report->n_runs; ++r)
        n += isfinite(record_costs_ms(&report->run[r].costs, 0)) ? 1 : 0;
    if (n == 0)
        return 0;
    begin(&table, out, "costs", "Outside the measured steps, a launch on the average", n,
          n == 1 ? "run" : "runs");
    html_table_heading(&table, "text", "Run");
    for (int c = 0; c < RECORD_COSTS; ++c)
        html_table_heading(&table, "number", record_cost_names[c]);
    html_table_heading(&table, "number", "writing");
    html_table_heading(&table, "number", "all");
    for (size_t r = 0; r < report->n_runs; ++r)
        if (isfinite(record_costs_ms(&report->run[r].costs, 0)))
            cost_row(&table, &report->run[r]);
    return html_table_end(&table, "");
}

static void base_rows(struct html_table *table, const struct report *report,
                      const struct report_group *group, const bool used[REPORT_BASE_COLUMNS])
{
    char text[REPORT_CELL_TEXT];
    struct report_base base;

    for (size_t at[3] = {0}; report_base_next(report, group, at, &base);) {
        html_table_row(table, "");
        for (int c = 0; c < REPORT_BASE_COLUMNS; ++c) {
            if (!used[c])
                continue;
            report_base_words(&base, (enum report_base_column)c, text);
            html_table_cell(table, "number", text);
        }
        html_table_row_end(table);
    }
}

static int base_table(struct text_out *out, const struct report *report)
{
    bool used[REPORT_BASE_COLUMNS];
    struct html_table table;

    if (report_count_bases(report) == 0)
        return 0;
    begin(&table, out, "bases", "Base cases", report_count_bases(report), "base cases");
    for (int c = 0; c < REPORT_BASE_COLUMNS; ++c) {
        const enum report_base_column column = (enum report_base_column)c;

        used[c] = report_base_column_used(report, column);
        if (used[c])
            html_table_heading(&table, "number", report_base_column_name(report, column));
    }
    for (size_t g = 0; g < report->n_groups; ++g) {
        struct report_base any;

        if (!report_base_next(report, &report->group[g], (size_t[3]){0}, &any))
            continue;
        group_row(&table, report, &report->group[g]);
        base_rows(&table, report, &report->group[g], used);
    }
    return html_table_end(&table, "");
}

static void failure_row(struct html_table *table, const struct report_row *row)
{
    const struct record_key *key = &row->cell->key;
    char text[REPORT_CELL_TEXT] = "", amount[RECORD_AMOUNT_TEXT];

    record_amount_words(key, amount);
    html_table_row(table, row->cell->status == RECORD_SKIPPED ? "good" : "failed");
    html_table_cell(table, "text name", key->workload);
    html_table_cell(table, "text", key->mode);
    number_cell(table, (size_t)key->n_devices);
    html_table_cell(table, "number", amount);
    number_cell(table, (size_t)key->launch);
    html_table_cell(table, "text", row->run->run_id);
    report_failure_words(row, text);
    text_clean(text, ' ');
    html_table_cell(table, "text reason", text);
    html_table_row_end(table);
}

static int failures_table(struct text_out *out, const struct report *report)
{
    static const char *const columns[] = {"Workload", "Mode", "Devices",      "Batch or size",
                                          "Launch",   "Run",  "What happened"};
    const size_t rows = report->n_all - report->counts.verified;
    struct html_table table;
    char contents[64];

    if (rows == 0)
        return 0;
    snprintf(contents, sizeof contents, "%zu launches without a result", rows);
    html_table_begin(&table, out, rows > LONG_TABLE ? HTML_FOLDED : HTML_OPEN, "failures",
                     "Failed and skipped", contents);
    for (size_t i = 0; i < sizeof columns / sizeof columns[0]; ++i)
        html_table_heading(&table, i < 2 || i > 4 ? "text" : "number", columns[i]);
    for (size_t i = 0; i < report->n_all; ++i)
        if (!report->row[i].verified)
            failure_row(&table, &report->row[i]);
    return html_table_end(&table, "");
}

static void point_row(struct html_table *table, const struct report *report,
                      const struct report_point *point, const bool used[REPORT_COLUMNS])
{
    char text[REPORT_CELL_TEXT];

    html_table_row(table, report_point_failed(point) ? "failed" : "good");
    for (int c = 0; c < REPORT_COLUMNS; ++c) {
        if (!used[c])
            continue;
        report_point_words(report, point, c, text);
        html_table_cell(table, report_column_class(c), text);
    }
    html_table_row_end(table);
}

static bool same_devices(const struct report_point *a, const struct report_point *b)
{
    const struct record_key *x = &a->row->cell->key, *y = &b->row->cell->key;

    return x->n_devices == y->n_devices && strcmp(x->mode, y->mode) == 0 &&
           x->bucket_bytes == y->bucket_bytes;
}

static void point_rows(struct html_table *table, const struct report *report,
                       const struct report_group *group, const bool used[REPORT_COLUMNS])
{
    for (size_t i = group->first; i < group->first + group->n + group->n_cores; ++i) {
        if (i > group->first && !same_devices(&report->point[i - 1], &report->point[i]))
            html_table_line(table);
        point_row(table, report, &report->point[i], used);
    }
}

static int points_table(struct text_out *out, const struct report *report)
{
    bool used[REPORT_COLUMNS];
    struct html_table table;

    begin(&table, out, "cells", "Cells", report->n_points, "cells");
    for (int c = 0; c < REPORT_COLUMNS; ++c) {
        used[c] = report_column_used(report, c);
        if (used[c])
            html_table_heading(&table, report_column_is_text(c) ? "text" : "number",
                               report_column_name(report, c));
    }
    for (size_t g = 0; g < report->n_groups; ++g) {
        group_row(&table, report, &report->group[g]);
        point_rows(&table, report, &report->group[g], used);
    }
    return html_table_end(&table, "");
}

static void ranks_rows(struct html_table *table, const struct report *report,
                       const struct report_group *group, enum report_ranks which)
{
    char text[REPORT_CELL_TEXT];

    for (size_t i = group->first; i < group->first + group->n; ++i) {
        if (!report_ranks_has(which, &report->point[i]))
            continue;
        html_table_row(table, "");
        for (int c = 0; c < report_ranks_columns(report, which); ++c) {
            report_ranks_words(which, &report->point[i], c, text);
            html_table_cell(table, "number", text);
        }
        html_table_row_end(table);
    }
}

static bool any_ranks(const struct report *report, const struct report_group *group,
                      enum report_ranks which)
{
    bool any = false;

    for (size_t i = group->first; i < group->first + group->n && !any; ++i)
        any = report_ranks_has(which, &report->point[i]);
    return any;
}

static int ranks_table(struct text_out *out, const struct report *report, enum report_ranks which)
{
    const struct report_ranks_table *ranks = &report_ranks_tables[which];
    const size_t rows = report_ranks_count(report, which);
    struct html_table table;
    char text[REPORT_CELL_TEXT], note[REPORT_NOTE_TEXT];

    if (rows == 0)
        return 0;
    begin(&table, out, ranks->id, ranks->title, rows, ranks->rows);
    for (int c = 0; c < report_ranks_columns(report, which); ++c) {
        report_ranks_name(which, c, text);
        html_table_heading(&table, "number", text);
    }
    for (size_t g = 0; g < report->n_groups; ++g) {
        if (!any_ranks(report, &report->group[g], which))
            continue;
        group_row(&table, report, &report->group[g]);
        ranks_rows(&table, report, &report->group[g], which);
    }
    report_ranks_note(report, which, note);
    return html_table_end(&table, note);
}

static int collectives_table(struct text_out *out, const struct report *report)
{
    const struct report *own = report->collectives;
    struct html_table table;
    char text[REPORT_CELL_TEXT];

    if (own->n_points == 0)
        return 0;
    snprintf(text, sizeof text, "%zu cells", own->n_points);
    /* Without a model it is what the page is about. */
    html_table_begin(&table, out, report->n_points > 0 ? HTML_FOLDED : HTML_OPEN, "collectives",
                     "Collectives", text);
    for (int c = 0; c < REPORT_COLLECTIVES_COLUMNS; ++c)
        html_table_heading(&table, c < 4 ? "text" : "number", report_collectives_names[c]);
    for (size_t i = 0; i < own->n_points; ++i) {
        if (i > 0 && !same_devices(&own->point[i - 1], &own->point[i]))
            html_table_line(&table);
        html_table_row(&table, report_point_failed(&own->point[i]) ? "failed" : "good");
        for (int c = 0; c < REPORT_COLLECTIVES_COLUMNS; ++c) {
            report_collectives_words(&own->point[i], c, text);
            html_table_cell(&table, c < 4 ? "text" : "number", text);
        }
        html_table_row_end(&table);
    }
    return html_table_end(&table, "");
}

static const char *fits_class(int column)
{
    return column < REPORT_FITS_TEXTS || column == REPORT_FITS_COLUMNS - 1 ? "text" : "number";
}

static int fits_table(struct text_out *out, const struct report *report)
{
    const struct report *own = report->collectives;
    struct html_table table;
    char text[REPORT_CELL_TEXT];

    if (own->n_fits == 0)
        return 0;
    begin(&table, out, "fits", report_fits_title, own->n_fits, "lines");
    for (int c = 0; c < REPORT_FITS_COLUMNS; ++c)
        html_table_heading(&table, fits_class(c), report_fits_names[c]);
    for (size_t i = 0; i < own->n_fits; ++i) {
        html_table_row(&table, "");
        for (int c = 0; c < REPORT_FITS_COLUMNS; ++c) {
            report_fits_words(&own->fit[i], c, text);
            html_table_cell(&table, fits_class(c), text);
        }
        html_table_row_end(&table);
    }
    return html_table_end(&table, report_fits_note);
}

static const char *beside_class(int column)
{
    return column < BESIDE_TEXTS ? "text" : "number";
}

static void beside_row(struct html_table *table, const struct report_point *point,
                       const struct beside_line *line)
{
    char text[REPORT_CELL_TEXT];

    html_table_row(table, line->wrong > 0 || point->verified < point->n ? "failed" : "good");
    for (int c = 0; c < BESIDE_COLUMNS; ++c) {
        beside_words(point, line, c, text);
        html_table_cell(table, beside_class(c), text);
    }
    html_table_row_end(table);
}

static int beside_table(struct text_out *out, const struct report *report)
{
    const struct report *own = report->collectives;
    char note[2 * REPORT_CELL_TEXT], remarks[REPORT_CELL_TEXT];
    struct html_table table;

    if (report->n_beside == 0)
        return 0;
    begin(&table, out, "beside", beside_title, beside_rows(report), "cells");
    for (int c = 0; c < BESIDE_COLUMNS; ++c)
        html_table_heading(&table, beside_class(c), beside_names[c]);
    for (size_t b = 0; b < report->n_beside; ++b)
        for (size_t i = 0; i < own->n_points; ++i) {
            const struct beside_line *line = beside_find(report->beside[b], &own->point[i]);

            if (line)
                beside_row(&table, &own->point[i], line);
        }
    beside_remarks(report, remarks);
    snprintf(note, sizeof note, "%s%s", remarks, beside_note);
    return html_table_end(&table, note);
}

int report_tables(struct text_out *out, const struct report *report)
{
    int status = counts_table(out, report);

    status |= costs_table(out, report);
    status |= report_copies_table(out, report);
    status |= collectives_table(out, report);
    status |= fits_table(out, report);
    status |= beside_table(out, report);
    if (report->n_points == 0 && report->collectives->n_points > 0)
        return status | failures_table(out, report);
    status |= base_table(out, report);
    for (int t = 0; t < REPORT_RANKS_TABLES; ++t)
        status |= ranks_table(out, report, (enum report_ranks)t);
    status |= report_memory(out, report);
    status |= roof_table(out, report);
    status |= failures_table(out, report);
    status |= points_table(out, report);
    return status;
}
