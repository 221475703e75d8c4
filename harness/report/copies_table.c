/* report/copies_table.c: the table of copies. A column is an end that they go to, so that eight
 * devices take nine lines and not eighty. */
#include "export/grid.h"
#include "report/page.h"

#include <math.h>
#include <string.h>

enum { FROM, OF, TEXTS }; /* behind them a column for each end */
enum { SUMMARY_LINES = 60 };

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
}

/* ---- table ----------------------------------------------------------------------------------- */

static void add_headings(struct grid *grid, const struct report *report, int columns)
{
    char text[REPORT_CELL_TEXT];

    for (int c = 0; c < columns; ++c)
        if (is_used(report, c)) {
            heading(c, text);
            grid_heading(grid, class_of(c), text);
        }
}

static void add_set(struct grid *grid, const struct report *report, const struct copies_set *set,
                    int columns)
{
    char text[REPORT_CELL_TEXT];

    for (int from = 0; from < COPIES_DEVICE + set->devices; ++from) {
        if (from > 0 && report->nvbandwidth)
            grid_line(grid);
        for (int of = 0; of < OFS; ++of) {
            if (!has_line(report, set, from, (enum of)of))
                continue;
            grid_row(grid, "");
            for (int c = 0; c < columns; ++c) {
                words(report, set, from, (enum of)of, c, text);
                if (is_used(report, c))
                    grid_cell(grid, class_of(c), "%s", text);
            }
        }
    }
}

/* The sets have as many columns as the largest one. */
static int put_page(struct grid *grid, const struct report *report)
{
    const int columns = columns_of(report->copies);
    char text[REPORT_CELL_TEXT];

    snprintf(grid->contents, sizeof grid->contents, "%zu matri%s", report->n_copies,
             report->n_copies == 1 ? "x" : "ces");
    add_headings(grid, report, columns);
    for (size_t s = 0; s < report->n_copies; ++s) {
        set_words(report, &report->copies[s], text);
        grid_group(grid, text);
        add_set(grid, report, &report->copies[s], columns);
    }
    return grid_html(grid);
}

/* A table for each set, as long as there is room for a line of it. */
static int put_summary(struct text_out *out, const struct report *report)
{
    size_t all = 0, shown = 0;
    char text[REPORT_CELL_TEXT];
    int status = 0;

    for (size_t s = 0; s < report->n_copies; ++s) {
        const struct copies_set *set = &report->copies[s];
        struct grid grid;

        grid_open(&grid, out, NULL, NULL);
        add_headings(&grid, report, columns_of(set));
        add_set(&grid, report, set, columns_of(set));
        if (shown < SUMMARY_LINES) {
            set_words(report, set, text);
            text_print(out, "\n**%s**\n\n", text);
            status |= grid_markdown(&grid, SUMMARY_LINES - shown);
        }
        all += grid.rows;
        shown += grid.shown;
        grid_close(&grid);
    }
    report_left(out, all, shown, "lines");
    return status;
}

int report_copies_table(struct text_out *out, const struct report *report)
{
    char remarks[REPORT_CELL_TEXT];
    struct grid grid;
    int status;

    if (report->n_copies == 0)
        return 0;
    grid_open(&grid, out, "copies", title);
    report_copies_remarks(report, remarks);
    snprintf(grid.note, sizeof grid.note, "%s%s%s", remarks, note_here,
             report->nvbandwidth ? note_there : "");
    if (grid.brief) {
        text_print(out, "\n## %s\n", title);
        status = put_summary(out, report);
        text_print(out, "\n%s\n", grid.note);
    } else
        status = put_page(&grid, report);
    grid_close(&grid);
    return status;
}
