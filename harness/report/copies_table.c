/* report/copies_table.c: the table of copies. A column is an end that they go to, so that eight
 * devices take nine lines and not eighty. */
#include "report/copies.h"
#include "report/html_table.h"
#include "report/page.h"

#include <math.h>
#include <string.h>

enum { FROM, OF, TEXTS }; /* behind them a column for each end */
enum { SUMMARY_LINES = 60, NOTE_BYTES = 2048 };

/* Lines of an end. */
enum of { HERE, THERE, RATIO, READ, READ_RATIO, OFS };
static const char *const of_names[OFS] = {[HERE] = "here",
                                          [THERE] = "nvbandwidth",
                                          [RATIO] = "ratio",
                                          [READ] = "nvbandwidth, read",
                                          [READ_RATIO] = "ratio, read"};

static const char title[] = "Copies, GB/s";
static const char note_here[] =
    "From the end that a row names to that of a column, in 10^9 bytes copied per second: of each "
    "launch the median copy, and of all launches the median. Each copy is timed by itself, from "
    "its call until it is done, by --parts. Where row and column are the same device it is within "
    "that device's memory: its bytes count once, though they are read and written.";
static const char note_there[] =
    " What nvbandwidth says was not measured by Lockstep, and whether it ran on this machine is "
    "not known. It times copies of a GPU's copy engine one behind the other, with host memory "
    "that is locked for the GPU, and here a copy is one call of the program's own path, timed "
    "until it is done, with plain host memory. Between devices, that which sends starts its copies "
    "(write_ce), or that which receives (read). A ratio is ours over nvbandwidth's.";

/* ---- words ----------------------------------------------------------------------------------- */

static int columns_of(const struct copies_set *set)
{
    return TEXTS + COPIES_DEVICE + set->devices;
}

/* Without another program all numbers are from here. */
static bool is_used(const struct report *report, int column)
{
    return column != OF || report->nvbandwidth;
}

/* In GB/s; of ratios none. NaN: there is no such copy, or no number of it. */
static double number_of(const struct report *report, const struct copies_set *set, int from, int to,
                        enum of of)
{
    const double here = copies_rate(set, from, to);
    const double there = copies_beside(report, set, from, to, of == READ || of == READ_RATIO);

    return of == HERE ? here / 1e9 : of == THERE || of == READ ? there / 1e9 : here / there;
}

/* Whether a line has numbers; those from here are always there. */
static bool has_line(const struct report *report, const struct copies_set *set, int from,
                     enum of of)
{
    bool any = of == HERE;

    for (int to = 0; to < COPIES_DEVICE + set->devices && !any; ++to)
        any = isfinite(number_of(report, set, from, to, of));
    return any;
}

static size_t count_lines(const struct report *report)
{
    size_t n = 0;

    for (size_t s = 0; s < report->n_copies; ++s)
        for (int from = 0; from < COPIES_DEVICE + report->copies[s].devices; ++from)
            for (int of = 0; of < OFS; ++of)
                n += has_line(report, &report->copies[s], from, (enum of)of);
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
    else if (column == OF)
        report_add(text, "Number");
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

static void words(const struct report *report, const struct copies_set *set, int from, enum of of,
                  int column, char text[REPORT_CELL_TEXT])
{
    const int to = column - TEXTS;

    text[0] = '\0';
    if (column == FROM)
        add_end(text, set, from);
    else if (column == OF)
        report_add(text, "%s", of_names[of]);
    else if (to >= COPIES_DEVICE + set->devices || (from == COPIES_HOST && to == COPIES_HOST))
        return; /* there is no such copy */
    else if (of == RATIO || of == READ_RATIO)
        report_add_ratio(text, number_of(report, set, from, to, of));
    else
        add_speed(text, number_of(report, set, from, to, of));
    text_clean(text, ' ');
}

static void add_note(const struct report *report, char text[NOTE_BYTES])
{
    char remarks[REPORT_CELL_TEXT];

    report_copies_remarks(report, remarks);
    snprintf(text, NOTE_BYTES, "%s%s%s", remarks, note_here, report->nvbandwidth ? note_there : "");
}

/* ---- tables ---------------------------------------------------------------------------------- */

static void html_line(struct html_table *table, const struct report *report,
                      const struct copies_set *set, int from, enum of of)
{
    char text[REPORT_CELL_TEXT];

    html_table_row(table, "");
    for (int c = 0; c < columns_of(report->copies); ++c) {
        if (!is_used(report, c))
            continue;
        words(report, set, from, of, c, text);
        html_table_cell(table, class_of(c), text);
    }
    html_table_row_end(table);
}

static void html_set(struct html_table *table, const struct report *report,
                     const struct copies_set *set)
{
    char text[REPORT_CELL_TEXT];

    set_words(report, set, text);
    html_table_group(table, text);
    for (int from = 0; from < COPIES_DEVICE + set->devices; ++from) {
        if (from > 0 && report->nvbandwidth)
            html_table_line(table);
        for (int of = 0; of < OFS; ++of)
            if (has_line(report, set, from, (enum of)of))
                html_line(table, report, set, from, (enum of)of);
    }
}

int report_copies_table(struct text_out *out, const struct report *report)
{
    struct html_table table;
    char text[REPORT_CELL_TEXT], note[NOTE_BYTES];

    if (report->n_copies == 0)
        return 0;
    snprintf(text, sizeof text, "%zu matri%s", report->n_copies,
             report->n_copies == 1 ? "x" : "ces");
    html_table_begin(&table, out, HTML_FOLDED, "copies", title, text);
    for (int c = 0; c < columns_of(report->copies); ++c) {
        if (!is_used(report, c))
            continue;
        heading(c, text);
        html_table_heading(&table, class_of(c), text);
    }
    for (size_t s = 0; s < report->n_copies; ++s)
        html_set(&table, report, &report->copies[s]);
    add_note(report, note);
    return html_table_end(&table, note);
}

static void summary_line(struct text_out *out, const struct report *report,
                         const struct copies_set *set, int from, enum of of)
{
    char text[REPORT_CELL_TEXT];

    fputs("|", out->file);
    for (int c = 0; c < columns_of(set); ++c) {
        if (!is_used(report, c))
            continue;
        words(report, set, from, of, c, text);
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
        if (is_used(report, c))
            text_print(out, " %s |", text);
    }
    fputs("\n|", out->file);
    for (int c = 0; c < columns_of(set); ++c)
        if (is_used(report, c))
            fputs(c < TEXTS ? " :--- |" : " ---: |", out->file);
    fputs("\n", out->file);
}

/* A table for each set, as long as there is room for a line of it. */
static void summary_set(struct text_out *out, const struct report *report,
                        const struct copies_set *set, size_t *shown)
{
    if (*shown < SUMMARY_LINES)
        summary_heading(out, report, set);
    for (int from = 0; from < COPIES_DEVICE + set->devices; ++from)
        for (int of = 0; of < OFS && *shown < SUMMARY_LINES; ++of)
            if (has_line(report, set, from, (enum of)of)) {
                summary_line(out, report, set, from, (enum of)of);
                ++*shown;
            }
}

void report_copies_summary(struct text_out *out, const struct report *report)
{
    char note[NOTE_BYTES];
    size_t shown = 0;

    if (report->n_copies == 0)
        return;
    text_print(out, "\n## %s\n", title);
    for (size_t s = 0; s < report->n_copies; ++s)
        summary_set(out, report, &report->copies[s], &shown);
    report_left(out, count_lines(report), shown, "lines");
    add_note(report, note);
    text_print(out, "\n%s\n", note);
}
