/* report/memory.c: how memory grows with the batch, and which batch would fill the machine: a row
 * per workload, mode and number of devices.
 *
 * Tensors of all devices together, from the two largest batches; the line through them, drawn on.
 * What fills a GPU is not known: records have the memory of the machine only. */
#include "report/html_table.h"
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

static void row(struct html_table *table, const struct memory *memory)
{
    const struct report_point *point = memory->point;
    char text[REPORT_CELL_TEXT] = "", number[32];

    html_table_row(table, "");
    report_add(text, "%s", report_is_plain(point) ? "plain program, " : "");
    report_add_devices(text, point);
    html_table_cell(table, "text", text);
    snprintf(number, sizeof number, "%zu", point->row->cell->key.global_batch);
    html_table_cell(table, "number", number);
    report_bytes(report_middle(point, REPORT_PEAK), number);
    html_table_cell(table, "number", number);
    report_bytes(memory->held, number);
    html_table_cell(table, "number", number);
    report_bytes(memory->per_row, number);
    html_table_cell(table, "number", number);
    report_bytes((double)point->row->run->mem_bytes, number);
    html_table_cell(table, "number", number);
    report_rate(memory->fits, number);
    html_table_cell(table, "number", number);
    html_table_row_end(table);
}

static void rows(struct html_table *table, const struct report *report,
                 const struct report_group *group)
{
    char text[REPORT_CELL_TEXT];
    struct memory memory;
    bool begun = false;

    for (size_t at = group->first; at < group->first + group->n;) {
        if (!memory_of(report, group, &at, &memory))
            continue;
        report_group_words(report, group, text);
        if (!begun)
            html_table_group(table, text);
        begun = true;
        row(table, &memory);
    }
}

static size_t count(const struct report *report)
{
    struct memory memory;
    size_t n = 0;

    for (size_t g = 0; g < report->n_groups; ++g)
        for (size_t at = report->group[g].first; at < report->group[g].first + report->group[g].n;)
            n += memory_of(report, &report->group[g], &at, &memory);
    return n;
}

bool report_has_memory(const struct report *report)
{
    return count(report) > 0;
}

int report_memory(struct text_out *out, const struct report *report)
{
    static const char *const columns[] = {
        "Largest batch, rows", "Peak memory of a device",    "Of all devices",
        "For a row more",      "Main memory of the machine", "Rows that would fill it"};
    struct html_table table;
    char contents[64];

    if (count(report) == 0)
        return 0;
    snprintf(contents, sizeof contents, "%zu lines through two batches", count(report));
    html_table_begin(&table, out, HTML_FOLDED, "memory", "Memory and the largest batch", contents);
    html_table_heading(&table, "text", "Devices");
    for (size_t c = 0; c < sizeof columns / sizeof columns[0]; ++c)
        html_table_heading(&table, "number", columns[c]);
    for (size_t g = 0; g < report->n_groups; ++g)
        rows(&table, report, &report->group[g]);
    return html_table_end(
        &table, "The most that tensors held at one time, at the largest batch, and how much more "
                "it is for each row since the batch before. The last column draws this line on to "
                "the main memory of the machine, which all virtual devices share: no such batch "
                "was run, and what libraries and the system take is not in it.");
}
