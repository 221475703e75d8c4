/* report/html_tables.c: the tables of the page: counts, base cases, failed launches, all points. */
#include "report/report.h"

#include <string.h>

/* A longer table is folded up and scrolls in a box of its own, below a heading that stays. */
enum { LONG_TABLE = 60 };

/* A table of more rows than that is folded up; what it has is said in its title. */
static void begin_table(struct text_out *out, const char *id, const char *title, size_t rows,
                        const char *unit)
{
    const bool folded = rows > LONG_TABLE;

    text_print(out, "<section class=\"tables\" id=\"%s\">\n<h2>%s</h2>\n", id, title);
    if (folded)
        text_print(out, "<details>\n<summary>%zu %s</summary>\n", rows, unit);
    text_print(out, "<div class=\"scroll%s\" tabindex=\"0\">\n<table>\n<thead><tr>",
               folded ? " long" : "");
}

static void end_table(struct text_out *out, size_t rows)
{
    fputs("</table>\n</div>\n", out->file);
    fputs(rows > LONG_TABLE ? "</details>\n</section>\n" : "</section>\n", out->file);
}

static void heading(struct text_out *out, bool text, const char *name)
{
    text_print(out, "<th scope=\"col\" class=\"%s\">%s</th>", text ? "text" : "number", name);
}

static void group_row(struct text_out *out, const struct report *report,
                      const struct report_group *group, int columns)
{
    char text[REPORT_CELL_TEXT];

    report_group_words(report, group, text);
    text_print(out,
               "<tbody>\n<tr><th class=\"group\" scope=\"rowgroup\" colspan=\"%d\">"
               "<span>%s</span></th></tr>\n",
               columns, text);
}

static void count_row(struct text_out *out, const char *name, const struct report_counts *counts)
{
    const size_t numbers[] = {counts->planned, counts->measured, counts->verified,
                              counts->failed,  counts->skipped,  counts->missing};

    text_print(out, "<tr class=\"%s\"><th scope=\"row\" class=\"text\">%s</th>",
               counts->failed + counts->missing > 0 ? "failed" : "good", name);
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; ++i)
        text_print(out, "<td class=\"number\">%zu</td>", numbers[i]);
    fputs("</tr>\n", out->file);
}

static void counts_table(struct text_out *out, const struct report *report)
{
    static const char *const columns[] = {"planned", "measured", "verified",
                                          "failed",  "skipped",  "missing"};
    char name[64];

    begin_table(out, "counts",
                report_repeated(report) ? "Launches of each run" : "Cells of each run", 0, "");
    heading(out, true, "Run");
    for (size_t i = 0; i < sizeof columns / sizeof columns[0]; ++i)
        heading(out, false, columns[i]);
    fputs("</tr></thead>\n<tbody>\n", out->file);
    for (size_t r = 0; r < report->n_runs; ++r) {
        snprintf(name, sizeof name, "%.8s, %.20s", report->run[r].run->run_id,
                 report->run[r].run->created_utc);
        text_clean(name, ' ');
        count_row(out, name, &report->run[r].counts);
    }
    fputs("</tbody>\n", out->file);
    if (report->n_runs > 1) {
        fputs("<tbody>\n", out->file);
        count_row(out, "all", &report->counts);
        fputs("</tbody>\n", out->file);
    }
    end_table(out, 0);
}

static size_t count_bases(const struct report *report)
{
    struct report_base base;
    size_t n = 0;

    for (size_t g = 0; g < report->n_groups; ++g)
        for (size_t at[2] = {0}; report_base_next(report, &report->group[g], at, &base);)
            ++n;
    return n;
}

static void base_rows(struct text_out *out, const struct report *report,
                      const struct report_group *group)
{
    char text[REPORT_CELL_TEXT];
    struct report_base base;

    for (size_t at[2] = {0}; report_base_next(report, group, at, &base);) {
        fputs("<tr>", out->file);
        for (int c = 0; c < REPORT_BASE_COLUMNS; ++c) {
            report_base_words(&base, (enum report_base_column)c, text);
            text_print(out, "<td class=\"number\">%s</td>", text);
        }
        fputs("</tr>\n", out->file);
    }
}

static void base_table(struct text_out *out, const struct report *report)
{
    const size_t rows = count_bases(report);

    begin_table(out, "bases", "Base cases", rows, "base cases");
    for (int c = 0; c < REPORT_BASE_COLUMNS; ++c)
        heading(out, false, report_base_column_name(report, (enum report_base_column)c));
    fputs("</tr></thead>\n", out->file);
    for (size_t g = 0; g < report->n_groups; ++g) {
        if (report->group[g].n_plain + report->group[g].n_single == 0)
            continue;
        group_row(out, report, &report->group[g], REPORT_BASE_COLUMNS);
        base_rows(out, report, &report->group[g]);
        fputs("</tbody>\n", out->file);
    }
    end_table(out, rows);
}

static void failure_row(struct text_out *out, const struct report_row *row)
{
    const struct record_key *key = &row->cell->key;
    char text[REPORT_CELL_TEXT] = "";

    report_failure_words(row, text);
    text_clean(text, ' ');
    text_print(out,
               "<tr class=\"%s\"><td class=\"text name\">%s</td><td class=\"text\">%s</td>"
               "<td class=\"number\">%d</td><td class=\"number\">%zu</td>"
               "<td class=\"number\">%d</td><td class=\"text\">%s</td>"
               "<td class=\"text reason\">%s</td></tr>\n",
               row->cell->status == RECORD_SKIPPED ? "good" : "failed", key->workload, key->mode,
               key->n_devices, key->global_batch, key->launch, row->run->run_id, text);
}

static void failures_table(struct text_out *out, const struct report *report)
{
    static const char *const columns[] = {"Workload", "Mode", "Devices",      "Batch, rows",
                                          "Launch",   "Run",  "What happened"};
    const size_t rows = report->n_rows - report->counts.verified;

    if (rows == 0)
        return;
    begin_table(out, "failures", "Failed and skipped", rows, "launches without a result");
    for (size_t i = 0; i < sizeof columns / sizeof columns[0]; ++i)
        heading(out, i < 2 || i > 4, columns[i]);
    fputs("</tr></thead>\n<tbody>\n", out->file);
    for (size_t i = 0; i < report->n_rows; ++i)
        if (!report->row[i].verified)
            failure_row(out, &report->row[i]);
    fputs("</tbody>\n", out->file);
    end_table(out, rows);
}

static void point_row(struct text_out *out, const struct report *report,
                      const struct report_point *point, const bool used[REPORT_COLUMNS])
{
    char text[REPORT_CELL_TEXT];

    text_print(out, "<tr class=\"%s\">", report_point_failed(point) ? "failed" : "good");
    for (int c = 0; c < REPORT_COLUMNS; ++c) {
        if (!used[c])
            continue;
        report_point_words(report, point, c, text);
        text_print(out, "<td class=\"%s\">%s</td>", report_column_class(c), text);
    }
    fputs("</tr>\n", out->file);
}

static bool same_devices(const struct report_point *a, const struct report_point *b)
{
    const struct record_key *x = &a->row->cell->key, *y = &b->row->cell->key;

    return x->n_devices == y->n_devices && strcmp(x->mode, y->mode) == 0 &&
           x->bucket_bytes == y->bucket_bytes;
}

static void point_rows(struct text_out *out, const struct report *report,
                       const struct report_group *group, const bool used[REPORT_COLUMNS])
{
    for (size_t i = group->first; i < group->first + group->n; ++i) {
        if (i > group->first && !same_devices(&report->point[i - 1], &report->point[i]))
            fputs("</tbody>\n<tbody>\n", out->file);
        point_row(out, report, &report->point[i], used);
    }
}

static void points_table(struct text_out *out, const struct report *report)
{
    bool used[REPORT_COLUMNS];
    int columns = 0;

    begin_table(out, "cells", "Cells", report->n_points, "cells");
    for (int c = 0; c < REPORT_COLUMNS; ++c) {
        used[c] = report_column_used(report, c);
        columns += used[c];
        if (used[c])
            heading(out, report_column_is_text(c), report_column_name(report, c));
    }
    fputs("</tr></thead>\n", out->file);
    for (size_t g = 0; g < report->n_groups; ++g) {
        group_row(out, report, &report->group[g], columns);
        point_rows(out, report, &report->group[g], used);
        fputs("</tbody>\n", out->file);
    }
    end_table(out, report->n_points);
}

static void ranks_rows(struct text_out *out, const struct report *report,
                       const struct report_group *group, enum report_ranks which)
{
    char text[REPORT_CELL_TEXT];

    for (size_t i = group->first; i < group->first + group->n; ++i) {
        if (!report_ranks_has(which, &report->point[i]))
            continue;
        fputs("<tr>", out->file);
        for (int c = 0; c < report_ranks_tables[which].n; ++c) {
            report_ranks_words(which, &report->point[i], c, text);
            text_print(out, "<td class=\"number\">%s</td>", text);
        }
        fputs("</tr>\n", out->file);
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

static void ranks_table(struct text_out *out, const struct report *report, enum report_ranks which)
{
    const struct report_ranks_table *table = &report_ranks_tables[which];
    const size_t rows = report_ranks_count(report, which);
    char text[REPORT_CELL_TEXT];

    if (rows == 0)
        return;
    begin_table(out, table->id, table->title, rows, table->rows);
    for (int c = 0; c < table->n; ++c) {
        report_ranks_name(which, c, text);
        heading(out, false, text);
    }
    fputs("</tr></thead>\n", out->file);
    for (size_t g = 0; g < report->n_groups; ++g) {
        if (!any_ranks(report, &report->group[g], which))
            continue;
        group_row(out, report, &report->group[g], table->n);
        ranks_rows(out, report, &report->group[g], which);
        fputs("</tbody>\n", out->file);
    }
    fputs("</table>\n</div>\n", out->file);
    text_print(out, "<p class=\"remark\">%s</p>\n", table->note);
    fputs(rows > LONG_TABLE ? "</details>\n</section>\n" : "</section>\n", out->file);
}

void report_tables(struct text_out *out, const struct report *report)
{
    counts_table(out, report);
    base_table(out, report);
    for (int t = 0; t < REPORT_RANKS_TABLES; ++t)
        ranks_table(out, report, (enum report_ranks)t);
    failures_table(out, report);
    points_table(out, report);
}
