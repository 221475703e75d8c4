/* report/markdown.c: summary.md, for pull requests and the job pages of CI: short whatever the
 * size of the sweep, but with all that failed. */
#include "report/beside.h"
#include "report/copies.h"
#include "report/fits.h"
#include "report/page.h"
#include "report/peer_report.h"
#include "report/roof.h"

#include <stdlib.h>
#include <string.h>

/* Rows of the tables; the page has them all. */
enum {
    MAX_POINTS = 30,
    MAX_BASES = 12,
    MAX_FAILURES = 100,
    MAX_RUNS = 8,
    MAX_GROUPS = 8,
    MAX_COLLECTIVES = 100,
    MAX_FITS = 30,
    MAX_RANKS = 16
};

static void bar(struct text_out *out, const char *first, size_t columns)
{
    fputs(first, out->file);
    for (size_t c = 0; c < columns; ++c)
        fputs(" ---: |", out->file);
    fputs("\n", out->file);
}

void report_left(struct text_out *out, size_t all, size_t shown, const char *what)
{
    if (all > shown)
        text_print(out, "\n%zu of %zu %s; the other %zu are in %s.\n", shown, all, what,
                   all - shown, out->whole.path[0] != '\0' ? "index.html" : "the page of a report");
}

/* "| WORKLOAD |" */
static void begin_row(struct text_out *out, const struct report *report,
                      const struct report_row *row)
{
    char text[REPORT_CELL_TEXT];

    report_workload_words(report, row, text);
    text_print(out, "| %s |", text);
}

static void base_rows(struct text_out *out, const struct report *report,
                      const struct report_group *group, const bool used[REPORT_BASE_COLUMNS],
                      size_t *all)
{
    char text[REPORT_CELL_TEXT];
    struct report_base base;

    for (size_t at[3] = {0}; report_base_next(report, group, at, &base);) {
        if ((*all)++ >= MAX_BASES)
            continue;
        begin_row(out, report, report->point[group->first].row);
        for (int c = 0; c < REPORT_BASE_COLUMNS; ++c) {
            if (!used[c])
                continue;
            report_base_words(&base, (enum report_base_column)c, text);
            text_print(out, " %s |", text);
        }
        fputs("\n", out->file);
    }
}

static void base_table(struct text_out *out, const struct report *report)
{
    bool used[REPORT_BASE_COLUMNS];
    size_t all = 0, columns = 0;

    if (report_count_bases(report) == 0)
        return;
    fputs("\n## Base cases\n\n| Workload |", out->file);
    for (int c = 0; c < REPORT_BASE_COLUMNS; ++c) {
        const enum report_base_column column = (enum report_base_column)c;

        used[c] = report_base_column_used(report, column);
        columns += used[c];
        if (used[c])
            text_print(out, " %s |", report_base_column_name(report, column));
    }
    bar(out, "\n| :--- |", columns);
    for (size_t g = 0; g < report->n_groups; ++g)
        base_rows(out, report, &report->group[g], used, &all);
    report_left(out, all, all < MAX_BASES ? all : MAX_BASES, "base cases");
}

static void ranks_table(struct text_out *out, const struct report *report, enum report_ranks which)
{
    const struct report_ranks_table *table = &report_ranks_tables[which];
    const size_t rows = report_ranks_count(report, which);
    const int columns = report_ranks_columns(report, which);
    char text[REPORT_CELL_TEXT], note[REPORT_NOTE_TEXT];
    size_t shown = 0;

    if (rows == 0)
        return;
    text_print(out, "\n## %s\n\n| Workload |", table->title);
    for (int c = 0; c < columns; ++c) {
        report_ranks_name(which, c, text);
        text_print(out, " %s |", text);
    }
    bar(out, "\n| :--- |", (size_t)columns);
    for (size_t g = 0; g < report->n_groups; ++g) {
        const struct report_group *group = &report->group[g];

        for (size_t i = group->first; i < group->first + group->n && shown < MAX_RANKS; ++i) {
            if (!report_ranks_has(which, &report->point[i]))
                continue;
            begin_row(out, report, report->point[group->first].row);
            for (int c = 0; c < columns; ++c) {
                report_ranks_words(which, &report->point[i], c, text);
                text_print(out, " %s |", text);
            }
            fputs("\n", out->file);
            ++shown;
        }
    }
    report_left(out, rows, shown, table->rows);
    report_ranks_note(report, which, note);
    text_print(out, "\n%s\n", note);
}

/* What a short table shows first: 0 the batch that the scaling sentence is about, 1 the smallest
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

/* Marks at most MAX_POINTS of them. Returns how many. */
static size_t choose(const struct report *report, bool shown[])
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
    return n;
}

static void point_row(struct text_out *out, const struct report *report,
                      const struct report_point *point)
{
    char text[REPORT_CELL_TEXT];

    begin_row(out, report, point->row);
    for (int c = 0; c < REPORT_COLUMNS; ++c) {
        if (!report_column_used(report, c))
            continue;
        report_point_words(report, point, c, text);
        text_print(out, " %s |", text);
    }
    fputs("\n", out->file);
}

static int points_table(struct text_out *out, const struct report *report)
{
    bool *shown;
    size_t n;

    if (report->n_points == 0 && report->collectives->n_points > 0)
        return 0;
    shown = calloc(report->n_points + 1, sizeof *shown);
    if (!shown)
        return -1;
    fputs("\n## Cells\n\n| Workload |", out->file);
    for (int c = 0; c < REPORT_COLUMNS; ++c)
        if (report_column_used(report, c))
            text_print(out, " %s |", report_column_name(report, c));
    fputs("\n| :--- |", out->file);
    for (int c = 0; c < REPORT_COLUMNS; ++c)
        if (report_column_used(report, c))
            fputs(report_column_is_text(c) ? " :--- |" : " ---: |", out->file);
    fputs("\n", out->file);
    n = choose(report, shown);
    for (size_t i = 0; i < report->n_points; ++i)
        if (shown[i])
            point_row(out, report, &report->point[i]);
    report_left(out, report->n_points, n, "cells");
    free(shown);
    return 0;
}

static void collectives_table(struct text_out *out, const struct report *report)
{
    const struct report *own = report->collectives;
    const size_t n = own->n_points < MAX_COLLECTIVES ? own->n_points : MAX_COLLECTIVES;
    char text[REPORT_CELL_TEXT];

    if (n == 0)
        return;
    fputs("\n## Collectives\n\n|", out->file);
    for (int c = 0; c < REPORT_COLLECTIVES_COLUMNS; ++c)
        text_print(out, " %s |", report_collectives_names[c]);
    bar(out, "\n| :--- |", REPORT_COLLECTIVES_COLUMNS - 1);
    for (size_t i = 0; i < n; ++i) {
        fputs("|", out->file);
        for (int c = 0; c < REPORT_COLLECTIVES_COLUMNS; ++c) {
            report_collectives_words(&own->point[i], c, text);
            text_print(out, " %s |", text);
        }
        fputs("\n", out->file);
    }
    report_left(out, own->n_points, n, "cells of collectives");
    fputs("\nAlgorithm bandwidth: bytes of each device over the median time of an iteration, until "
          "all devices are idle. Bus bandwidth: that times the factor of nccl-tests. Every "
          "iteration is verified.\n",
          out->file);
}

static void fits_table(struct text_out *out, const struct report *report)
{
    const struct report *own = report->collectives;
    const size_t n = own->n_fits < MAX_FITS ? own->n_fits : MAX_FITS;
    char text[REPORT_CELL_TEXT];

    if (n == 0)
        return;
    text_print(out, "\n## %s\n\n|", report_fits_title);
    for (int c = 0; c < REPORT_FITS_COLUMNS; ++c)
        text_print(out, " %s |", report_fits_names[c]);
    bar(out, "\n| :--- |", REPORT_FITS_COLUMNS - 1);
    for (size_t i = 0; i < n; ++i) {
        fputs("|", out->file);
        for (int c = 0; c < REPORT_FITS_COLUMNS; ++c) {
            report_fits_words(&own->fit[i], c, text);
            text_print(out, " %s |", text);
        }
        fputs("\n", out->file);
    }
    report_left(out, own->n_fits, n, "lines");
    text_print(out, "\n%s\n", report_fits_note);
}

static void beside_row(struct text_out *out, const struct report_point *point,
                       const struct beside_line *line)
{
    char text[REPORT_CELL_TEXT];

    fputs("|", out->file);
    for (int c = 0; c < BESIDE_COLUMNS; ++c) {
        beside_words(point, line, c, text);
        text_print(out, " %s |", text);
    }
    fputs("\n", out->file);
}

static void beside_table(struct text_out *out, const struct report *report)
{
    const struct report *own = report->collectives;
    const size_t all = beside_rows(report);
    char remarks[REPORT_CELL_TEXT];
    size_t n = 0;

    if (report->n_beside == 0)
        return;
    text_print(out, "\n## %s\n\n|", beside_title);
    for (int c = 0; c < BESIDE_COLUMNS; ++c)
        text_print(out, " %s |", beside_names[c]);
    bar(out, "\n| :--- |", BESIDE_COLUMNS - 1);
    for (size_t b = 0; b < report->n_beside; ++b)
        for (size_t i = 0; i < own->n_points && n < MAX_COLLECTIVES; ++i) {
            const struct beside_line *line = beside_find(report->beside[b], &own->point[i]);

            if (!line)
                continue;
            beside_row(out, &own->point[i], line);
            ++n;
        }
    report_left(out, all, n, "cells");
    beside_remarks(report, remarks);
    text_print(out, "\n%s%s\n", remarks, beside_note);
}

static void failures(struct text_out *out, const struct report *report)
{
    const size_t all = report->n_all - report->counts.verified;
    char text[REPORT_CELL_TEXT], amount[RECORD_AMOUNT_TEXT];
    size_t shown = 0;

    if (all > 0)
        fputs("\n## Failed and skipped\n\n", out->file);
    for (size_t i = 0; i < report->n_all && shown < MAX_FAILURES; ++i) {
        const struct record_key *key = &report->row[i].cell->key;

        if (report->row[i].verified)
            continue;
        text[0] = '\0';
        report_failure_words(&report->row[i], text);
        text_clean(text, ' ');
        record_amount_words(key, amount);
        text_print(out, "- %s, %s, %d device%s, %s, launch %d, run %s: %s\n", key->workload,
                   key->mode, key->n_devices, key->n_devices == 1 ? "" : "s", amount, key->launch,
                   report->row[i].run->run_id, text);
        ++shown;
    }
    report_left(out, all, shown, "launches without a result");
}

static void provenance(struct text_out *out, const struct report *report)
{
    fputs("\n## Provenance\n\n", out->file);
    for (size_t r = 0; r < report->n_runs && r < MAX_RUNS; ++r) {
        const struct record_run *run = report->run[r].run;

        text_print(out, "- Run %s (%s), %s, commit %s%s, lockstep %s, %s, %s/%s on %s, %s\n",
                   run->run_id, run->created_utc, run->cpu_model,
                   run->git_sha[0] != '\0' ? run->git_sha : "unknown",
                   run->git_dirty ? " with uncommitted changes" : "", run->program_version,
                   run->blas, run->backend, run->communicator, run->devices, run->source);
        text_print(out, "  - options: %s\n", run->command);
    }
    report_left(out, report->n_runs, report->n_runs < MAX_RUNS ? report->n_runs : MAX_RUNS, "runs");
}

static void sentences(struct text_out *out, const struct report *report)
{
    static const struct report_fact_style style = {"- ", ": ", "\n"};
    char text[REPORT_CELL_TEXT];

    fputs("# Lockstep report\n\n**", out->file);
    report_verdict(out, report);
    fputs("** ", out->file);
    report_lead(out, report);
    fputs("\n\n", out->file);
    report_cautions(out, report, "- Note: ", "\n");
    report_shares(out, report, "- Note: ", "\n");
    for (size_t g = 0; g < report->n_groups && g < MAX_GROUPS; ++g) {
        report_group_words(report, &report->group[g], text);
        text_print(out, "\n**%s**\n\n", text);
        report_facts(out, &style, report, &report->group[g]);
    }
    report_left(out, report->n_groups,
                report->n_groups < MAX_GROUPS ? report->n_groups : MAX_GROUPS, "settings");
}

int report_summary(struct text_out *out, const struct report *report,
                   const struct report_figures *figures)
{
    sentences(out, report);
    if (figures && figures->status[REPORT_FIGURE_BATCH] == PLOT_OK) {
        fputs("\n![Samples/s per device against rows per device](batch.png)\n\n", out->file);
        report_caption(out, report, REPORT_FIGURE_BATCH);
        fputs("\n", out->file);
    }
    base_table(out, report);
    for (int t = 0; t < REPORT_RANKS_TABLES; ++t)
        ranks_table(out, report, (enum report_ranks)t);
    report_copies_summary(out, report);
    roof_summary(out, report);
    collectives_table(out, report);
    fits_table(out, report);
    beside_table(out, report);
    if (points_table(out, report) != 0)
        return -1;
    failures(out, report);
    if (report->n_points > 0)
        fputs("\nSpeed-up: base over step (weak scaling: times the devices), launch by launch, "
              "then the "
              "median; the base is the plain program, or else DataParallel on one device, or else "
              "for DDP itself on one rank. Efficiency: "
              "speed-up per device; its bound "
              "is that of a speed-up of N / ceil(N/K) for N rows on K devices, and of no more than "
              "there "
              "are cores for virtual devices.\n",
              out->file);
    if (report->peer)
        report_peer_markdown(out, report->peer);
    provenance(out, report);
    return 0;
}

int report_markdown(const char *directory, const struct report *report,
                    const struct report_figures *figures, struct text_error *err)
{
    struct text_out out;

    if (text_open(&out, directory, "summary.md", TEXT_MARKDOWN, err) != 0)
        return -1;
    if (report_summary(&out, report, figures) != 0) {
        text_discard(&out);
        snprintf(err->text, sizeof err->text, "no memory for the table");
        return -1;
    }
    return text_close(&out, err);
}
