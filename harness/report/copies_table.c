/* report/copies_table.c: the table of copies, with the results of nvbandwidth. Each end that copies
 * go to is a column, so that eight devices take nine lines and not eighty. */
#include "report/page.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SUMMARY_LINES = 60 };

static const char title[] = "Copies, GB/s";
static const char note_here[] =
    "From the end that a row names to that of a column, in 10^9 bytes copied per second: of each "
    "launch the median copy, and of all launches the median. Each copy is timed by itself, from "
    "its call until it is done, by --parts. Where row and column are the same device it is within "
    "that device's memory: its bytes count once, though they are read and written.";
static const char note_there[] =
    " What nvbandwidth says was not measured by Lockstep, and whether it ran on this machine is "
    "not known. It times copies of a GPU's copy engine one after the other, with host memory "
    "that is locked for the GPU, and here a copy is one call of the program's own path, timed "
    "until it is done, with plain host memory. Between devices, that which sends starts its copies "
    "(write_ce), or that which receives (read). A ratio is ours over nvbandwidth's.";

/* ---- what nvbandwidth says ---------------------------------------------------------------- */

/* NO_NUMBER is less than any end that nvbandwidth has. */
enum { NO_NUMBER = NVBANDWIDTH_HOST - 1, NUMBER_MOST = 1 << 20 };

/* The number of an end in nvbandwidth: 5 for "cuda:5", because it numbers devices as CUDA does. */
static int number_of_end(const struct copies_set *set, int end)
{
    const struct record_run *run = set->row->run;
    const int device = end - COPIES_DEVICE;
    const char *colon;
    char *rest;
    long number;

    if (end == COPIES_HOST)
        return NVBANDWIDTH_HOST;
    colon = device < run->n_slots ? strchr(run->slot[device].name, ':') : NULL;
    if (!colon || !isdigit((unsigned char)colon[1]))
        return NO_NUMBER;
    number = strtol(colon + 1, &rest, 10);
    return number <= NUMBER_MOST && (*rest == '\0' || *rest == '+') ? (int)number : NO_NUMBER;
}

/* Finds the end with that number in nvbandwidth; -1: none. */
static int end_of_number(const struct copies_set *set, int number)
{
    int end = COPIES_DEVICE + set->devices - 1;

    while (end >= 0 && number_of_end(set, end) != number)
        --end;
    return end;
}

/* The results of nvbandwidth that no copy here is shown with. */
static size_t count_unmatched(const struct report *report)
{
    const struct nvbandwidth *there = report->nvbandwidth;
    size_t n = there->others;

    for (int read = 0; read < 2; ++read)
        for (int from = NVBANDWIDTH_HOST; from < there->devices; ++from)
            for (int to = NVBANDWIDTH_HOST; to < there->devices; ++to) {
                bool shown = !isfinite(nvbandwidth_rate(there, from, to, read));

                for (size_t s = 0; s < report->n_copies && !shown; ++s) {
                    const struct copies_set *set = &report->copies[s];
                    const int a = end_of_number(set, from), b = end_of_number(set, to);

                    shown = a >= 0 && b >= 0 && isfinite(copies_rate(set, a, b));
                }
                n += !shown;
            }
    return n;
}

void report_copies_remarks(const struct report *report, char text[REPORT_CELL_TEXT])
{
    const struct nvbandwidth *there = report->nvbandwidth;
    bool another = false;
    size_t unmatched;

    text[0] = '\0';
    if (!there)
        return;
    if (there->stopped)
        report_add(text, "nvbandwidth ended with an error: %s. ", there->error);
    if (there->failed > 0)
        report_add(text, "%zu test%s of nvbandwidth ended with an error, the first is %s. ",
                   there->failed, text_s(there->failed), there->first);
    if (there->running[0] != '\0')
        report_add(text, "%s of nvbandwidth did not come to its end. ", there->running);
    if (there->idle > 0)
        report_add(text, "%zu test%s of nvbandwidth %s not run there. ", there->idle,
                   text_s(there->idle), text_were(there->idle));
    /* Numbers of other GPUs must not be compared with ours, and the two programs may number GPUs
     * differently. The first GPU is named whose address differs from that of the GPU with the same
     * number in nvbandwidth, as far as both addresses are known. */
    for (size_t s = 0; s < report->n_copies && !another; ++s)
        for (int d = 0; d < report->copies[s].devices && !another; ++d) {
            const struct copies_set *set = &report->copies[s];
            const struct record_slot *slot = &set->row->run->slot[d];
            const int number = number_of_end(set, COPIES_DEVICE + d);
            unsigned domain, bus, device;

            if (number < 0 || number >= NVBANDWIDTH_DEVICES)
                continue;
            const struct nvbandwidth_place *place = &there->place[number];

            another = place->known &&
                      sscanf(slot->bus, "%8x:%2x:%2x", &domain, &bus, &device) == 3 &&
                      (domain != place->domain || bus != place->bus || device != place->device);
            if (another)
                report_add(text,
                           "%s is the GPU at %s here, and that at %04x:%02x:%02x in nvbandwidth's "
                           "file: its numbers are of another GPU. ",
                           slot->name, slot->bus, place->domain, place->bus, place->device);
        }
    if ((unmatched = count_unmatched(report)) > 0)
        report_add(text, "%zu result%s of nvbandwidth %s no counterpart here. ", unmatched,
                   text_s(unmatched), unmatched == 1 ? "has" : "have");
}

/* ---- table -------------------------------------------------------------------------------- */

/* The lines of one end. */
enum of { HERE, THERE, RATIO, READ, READ_RATIO, OFS };
static const char *const of_names[OFS] = {[HERE] = "here",
                                          [THERE] = "nvbandwidth",
                                          [RATIO] = "ratio",
                                          [READ] = "nvbandwidth, read",
                                          [READ_RATIO] = "ratio, read"};

/* The number in GB/s, or a ratio. NaN: there is no such copy, or it has no number. */
static double number_of_copy(const struct report *report, const struct copies_set *set, int from,
                             int to, enum of of)
{
    const double here = copies_rate(set, from, to);
    /* Started by the receiving device (read) or by the sending one. NaN: nvbandwidth has no rate of
     * this copy, or it was not measured here. */
    const double there =
        report->nvbandwidth && isfinite(here)
            ? nvbandwidth_rate(report->nvbandwidth, number_of_end(set, from),
                               number_of_end(set, to), of == READ || of == READ_RATIO)
            : (double)NAN;

    return of == HERE ? here / 1e9 : of == THERE || of == READ ? there / 1e9 : here / there;
}

/* All numbers of the table that are no ratio have one unit. */
static void cell_of_copy(struct grid *grid, double speed, enum of of)
{
    if (of == RATIO || of == READ_RATIO)
        report_cell_number(grid, speed, report_ratio);
    else if (isfinite(speed))
        grid_cell(grid, "number", "%.*f",
                  speed < 0.0995  ? 4
                  : speed < 9.995 ? 2
                  : speed < 99.95 ? 1
                                  : 0,
                  speed);
    else
        grid_cell(grid, "number", "-");
}

static void add_set(struct grid *grid, const struct report *report, const struct copies_set *set,
                    int devices)
{
    const int ends = COPIES_DEVICE + set->devices;

    for (int from = 0; from < ends; ++from) {
        if (from > 0 && report->nvbandwidth)
            grid_line(grid);
        for (enum of of = HERE; of < OFS; ++of) {
            bool any = of == HERE; /* the line of this program is always there */

            for (int to = 0; to < ends; ++to)
                any |= isfinite(number_of_copy(report, set, from, to, of)) != 0;
            if (!any)
                continue;
            grid_row(grid, "");
            if (from == COPIES_HOST)
                grid_cell(grid, "text", "host");
            else if (from - COPIES_DEVICE < set->row->run->n_slots)
                grid_cell(grid, "text", "%d (%s)", from - COPIES_DEVICE,
                          set->row->run->slot[from - COPIES_DEVICE].name);
            else
                grid_cell(grid, "text", "%d", from - COPIES_DEVICE);
            if (report->nvbandwidth)
                grid_cell(grid, "text", "%s", of_names[of]);
            for (int to = 0; to < COPIES_DEVICE + devices; ++to)
                if (to >= ends || (from == COPIES_HOST && to == COPIES_HOST))
                    grid_cell(grid, "number", "%s", ""); /* there is no such copy */
                else
                    cell_of_copy(grid, number_of_copy(report, set, from, to, of), of);
        }
    }
}

/* A page has one table of all sets. A summary has a table for each, as long as it has space for a
 * line of it. */
void report_copies_table(struct text_out *out, const struct report *report)
{
    const bool brief = out->form == TEXT_MARKDOWN;
    char text[REPORT_CELL_TEXT];
    struct grid grid;
    size_t all = 0, shown = 0;

    if (report->n_copies == 0)
        return;
    if (brief)
        text_print(out, "\n## %s\n", title);
    grid_open(&grid, out, "copies", title);
    for (size_t s = 0; s < report->n_copies; ++s) {
        const struct copies_set *set = &report->copies[s];
        const struct record_key *key = &set->row->cell->key;
        const int devices = brief ? set->devices : report->copies[0].devices;

        /* All sets on a page have as many columns as the largest one. */
        if (s == 0 || brief) {
            grid_headings(&grid, "text", report->nvbandwidth ? "From|Number" : "From");
            grid_headings(&grid, "number", "to host");
            for (int d = 0; d < devices; ++d) {
                snprintf(text, sizeof text, "to %d", d);
                grid_heading(&grid, "number", text);
            }
        }
        /* The words that all numbers of a set share. */
        snprintf(text, REPORT_CELL_TEXT, "%s, %s/%s, %zu launch%s", key->devices, key->backend,
                 key->communicator, set->launches, set->launches == 1 ? "" : "es");
        if (report->many_variants)
            report_add(text, ", as run %.8s", set->row->run->run_id);
        if (set->row->cell->oversubscribed)
            report_add(text, ", oversubscribed: %s", report_crowding(set->row));
        if (report_simulated(set->row))
            report_add(text, ", SIMULATED");
        grid_group(&grid, text);
        add_set(&grid, report, set, devices);
        if (!brief)
            continue;
        if (shown < SUMMARY_LINES) {
            text_print(out, "\n**%s**\n\n", text);
            grid_markdown(&grid, SUMMARY_LINES - shown);
        }
        all += grid.rows;
        shown += grid.shown;
        grid_close(&grid);
        grid_open(&grid, out, "copies", title);
    }
    report_left(out, all, shown, "lines");
    report_copies_remarks(report, text);
    snprintf(grid.contents, sizeof grid.contents, "%zu matri%s", report->n_copies,
             report->n_copies == 1 ? "x" : "ces");
    snprintf(grid.note, sizeof grid.note, "%s%s%s", text, note_here,
             report->nvbandwidth ? note_there : "");
    if (brief)
        text_print(out, "\n%s\n", grid.note);
    else
        grid_html(&grid);
    grid_close(&grid);
}
