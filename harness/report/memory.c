/* report/memory.c: how memory grows with the batch, and which batch would fill the machine: a row
 * per workload, mode and number of devices.
 *
 * Tensors of all devices together, from the two largest batches; the line through them, drawn on.
 * What fills a GPU is not known: records have the memory of the machine only. */
#include "export/grid.h"
#include "report/page.h"

#include <math.h>
#include <string.h>

struct memory {
    const struct report_point *point; /* at the largest batch */
    double held, per_row;             /* bytes on all devices; for a row more */
    double fits;                      /* rows; NaN: it does not grow */
};

/* On all devices; NaN: unknown. */
static double held_of(const struct report_point *point)
{
    const struct record_cell *cell = point->middle ? point->middle->cell : NULL;
    double held = 0.0;

    if (!cell || cell->n_peaks == 0)
        return NAN;
    for (int i = 0; i < cell->n_peaks; ++i)
        held += (double)cell->peak_bytes[i];
    return held;
}

static bool same_line(const struct report_point *a, const struct report_point *b)
{
    const struct record_key *x = &a->row->cell->key, *y = &b->row->cell->key;

    return strcmp(x->mode, y->mode) == 0 && x->n_devices == y->n_devices && a->bucket == b->bucket;
}

static double rows_of(const struct report_point *point)
{
    return (double)point->row->cell->key.global_batch;
}

/* Of the points from *at on in one line, which come by batch; *at is behind them then. */
static bool memory_of(const struct report *report, const struct report_group *group, size_t *at,
                      struct memory *memory)
{
    const struct report_point *first = &report->point[*at], *large = NULL, *small = NULL;
    const double machine = (double)first->row->run->mem_bytes;

    for (; *at < group->first + group->n && same_line(first, &report->point[*at]); ++*at)
        if (isfinite(held_of(&report->point[*at]))) {
            small = large;
            large = &report->point[*at];
        }
    if (!small || !report_works_on_cores(first->row) || !(machine > 0.0))
        return false;
    memory->point = large;
    memory->held = held_of(large);
    memory->per_row = (memory->held - held_of(small)) / (rows_of(large) - rows_of(small));
    memory->fits = memory->per_row > 0.0
                       ? rows_of(large) + (machine - memory->held) / memory->per_row
                       : (double)NAN;
    return true;
}

static void row(struct grid *grid, const struct memory *memory)
{
    const struct report_point *point = memory->point;
    char text[REPORT_CELL_TEXT] = "", number[32];

    grid_row(grid, "");
    report_add(text, "%s", report_is_plain(point) ? "plain program, " : "");
    report_add_devices(text, point);
    grid_cell(grid, "text", "%s", text);
    grid_cell(grid, "number", "%zu", point->row->cell->key.global_batch);
    report_bytes(report_middle(point, REPORT_PEAK), number);
    grid_cell(grid, "number", "%s", number);
    report_bytes(memory->held, number);
    grid_cell(grid, "number", "%s", number);
    report_bytes(memory->per_row, number);
    grid_cell(grid, "number", "%s", number);
    report_bytes((double)point->row->run->mem_bytes, number);
    grid_cell(grid, "number", "%s", number);
    report_rate(memory->fits, number);
    grid_cell(grid, "number", "%s", number);
}

static void rows(struct grid *grid, const struct report *report, const struct report_group *group)
{
    struct memory memory;
    bool begun = false;

    for (size_t at = group->first; at < group->first + group->n;) {
        if (!memory_of(report, group, &at, &memory))
            continue;
        if (!begun)
            report_table_group(grid, report, group);
        begun = true;
        row(grid, &memory);
    }
}

void report_memory(struct grid *grid, const struct report *report)
{
    static const char *const columns[] = {
        "Largest batch, rows", "Peak memory of a device",    "Of all devices",
        "For a row more",      "Main memory of the machine", "Rows that would fill it"};

    grid_heading(grid, "text", "Devices");
    for (size_t c = 0; c < sizeof columns / sizeof columns[0]; ++c)
        grid_heading(grid, "number", columns[c]);
    for (size_t g = 0; g < report->n_groups; ++g)
        rows(grid, report, &report->group[g]);
    snprintf(grid->note, sizeof grid->note, "%s",
             "The most that tensors held at one time, at the largest batch, and how much more "
             "it is for each row since the batch before. The last column draws this line on to "
             "the main memory of the machine, which all virtual devices share: no such batch "
             "was run, and what libraries and the system take is not in it.");
}
