/* report/copies_table.c: the table of copies. A column is an end that they go to, so that eight
 * devices take nine lines and not eighty. */
#include "report/copies.h"
#include "report/html_table.h"

#include <math.h>
#include <string.h>

enum { FROM, TEXTS }; /* behind them a column for each end */
enum { SUMMARY_LINES = 60 };

static const char title[] = "Copies, GB/s";
static const char note[] =
    "From the end that a row names to that of a column, in 10^9 bytes copied per second: of each "
    "launch the median copy, and of all launches the median. Each copy is timed by itself, from "
    "its call until it is done, by --parts. Where row and column are the same device it is within "
    "that device's memory: its bytes count once, though they are read and written.";
/* ---- words ----------------------------------------------------------------------------------- */

static int columns_of(const struct copies_set *set)
{
    return TEXTS + COPIES_DEVICE + set->devices;
}

static size_t count_lines(const struct report *report)
{
    size_t n = 0;

    for (size_t s = 0; s < report->n_copies; ++s)
        n += (size_t)(COPIES_DEVICE + report->copies[s].devices);
    return n;
}

static const char *class_of(int column)
{
    return column < TEXTS ? "text" : "number";
}

/* What all numbers of a set share. */
static void set_words(const struct report *report, const struct copies_set *set,
                      char text[REPORT_CELL_TEXT])
{
    const struct report_row *row = set->row;
    const struct record_key *key = &row->cell->key;

    text[0] = '\0';
    report_add(text, "%s, %s/%s, %zu launch%s", key->devices, key->backend, key->communicator,
               set->launches, set->launches == 1 ? "" : "es");
    if (report->many_variants)
        report_add(text, ", as run %.8s", row->run->run_id);
    if (row->cell->oversubscribed)
        report_add(text, ", oversubscribed: %s", report_crowding(row));
    if (report_simulated(row))
        report_add(text, ", SIMULATED");
    text_clean(text, ' ');
}

static void heading(int column, char text[REPORT_CELL_TEXT])
{
    const int to = column - TEXTS;

    text[0] = '\0';
    if (column == FROM)
        report_add(text, "From");
    else if (to == COPIES_HOST)
        report_add(text, "to host");
    else
        report_add(text, "to %d", to - COPIES_DEVICE);
}

/* "2 (cuda:5)": its place in the list, and its name. */
static void add_end(char text[REPORT_CELL_TEXT], const struct copies_set *set, int end)
{
    const struct record_run *run = set->row->run;
    const int device = end - COPIES_DEVICE;

    if (end == COPIES_HOST)
        report_add(text, "host");
    else if (device < run->n_slots)
        report_add(text, "%d (%s)", device, run->slot[device].name);
    else
        report_add(text, "%d", device);
}

/* All numbers of the table have one unit. */
static void add_speed(char text[REPORT_CELL_TEXT], double speed)
{
    if (isfinite(speed))
        report_add(text, "%.*f",
                   speed < 0.0995  ? 4
                   : speed < 9.995 ? 2
                   : speed < 99.95 ? 1
                                   : 0,
                   speed);
    else
        report_add(text, "-");
}

static void words(const struct copies_set *set, int from, int column, char text[REPORT_CELL_TEXT])
{
    const int to = column - TEXTS;

    text[0] = '\0';
    if (column == FROM)
        add_end(text, set, from);
    else if (to < COPIES_DEVICE + set->devices && (from != COPIES_HOST || to != COPIES_HOST))
        add_speed(text, copies_rate(set, from, to) / 1e9);
    text_clean(text, ' ');
}

/* ---- tables ---------------------------------------------------------------------------------- */

static void html_set(struct html_table *table, const struct report *report,
                     const struct copies_set *set)
{
    char text[REPORT_CELL_TEXT];

    set_words(report, set, text);
    html_table_group(table, text);
    for (int from = 0; from < COPIES_DEVICE + set->devices; ++from) {
        html_table_row(table, "");
        for (int c = 0; c < columns_of(report->copies); ++c) {
            words(set, from, c, text);
            html_table_cell(table, class_of(c), text);
        }
        html_table_row_end(table);
    }
}

int report_copies_table(struct text_out *out, const struct report *report)
{
    struct html_table table;
    char text[REPORT_CELL_TEXT];

    if (report->n_copies == 0)
        return 0;
    snprintf(text, sizeof text, "%zu matri%s", report->n_copies,
             report->n_copies == 1 ? "x" : "ces");
    html_table_begin(&table, out, HTML_FOLDED, "copies", title, text);
    for (int c = 0; c < columns_of(report->copies); ++c) {
        heading(c, text);
        html_table_heading(&table, class_of(c), text);
    }
    for (size_t s = 0; s < report->n_copies; ++s)
        html_set(&table, report, &report->copies[s]);
    return html_table_end(&table, note);
}

static void summary_line(struct text_out *out, const struct copies_set *set, int from)
{
    char text[REPORT_CELL_TEXT];

    fputs("|", out->file);
    for (int c = 0; c < columns_of(set); ++c) {
        words(set, from, c, text);
        text_print(out, " %s |", text);
    }
    fputs("\n", out->file);
}

static void summary_heading(struct text_out *out, const struct report *report,
                            const struct copies_set *set)
{
    char text[REPORT_CELL_TEXT];

    set_words(report, set, text);
    text_print(out, "\n**%s**\n\n|", text);
    for (int c = 0; c < columns_of(set); ++c) {
        heading(c, text);
        text_print(out, " %s |", text);
    }
    fputs("\n|", out->file);
    for (int c = 0; c < columns_of(set); ++c)
        fputs(c < TEXTS ? " :--- |" : " ---: |", out->file);
    fputs("\n", out->file);
}

/* A table for each set, as long as there is room for a line of it. */
static void summary_set(struct text_out *out, const struct report *report,
                        const struct copies_set *set, size_t *shown)
{
    if (*shown < SUMMARY_LINES)
        summary_heading(out, report, set);
    for (int from = 0; from < COPIES_DEVICE + set->devices && *shown < SUMMARY_LINES; ++from) {
        summary_line(out, set, from);
        ++*shown;
    }
}

void report_copies_summary(struct text_out *out, const struct report *report)
{
    size_t shown = 0;

    if (report->n_copies == 0)
        return;
    text_print(out, "\n## %s\n", title);
    for (size_t s = 0; s < report->n_copies; ++s)
        summary_set(out, report, &report->copies[s], &shown);
    report_left(out, count_lines(report), shown, "lines");
    text_print(out, "\n%s\n", note);
}
