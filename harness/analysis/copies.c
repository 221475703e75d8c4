/* analysis/copies.c: what --parts measured of copies. */
#include "analysis/analysis.h"

#include "numbers/stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const enum record_part parts[] = {RECORD_COPY, RECORD_FROM_HOST, RECORD_TO_HOST,
                                         RECORD_MEMORY};
enum { PARTS = sizeof parts / sizeof parts[0] };

/* ---- sets ------------------------------------------------------------------------------------ */

static bool has_copies(const struct report_row *row)
{
    bool any = false;

    for (int p = 0; p < PARTS; ++p)
        any = any || row->cell->part[parts[p]].ns;
    return any && row->verified;
}

/* Those on most devices say most: they come first. */
static int compare_sets(const struct report_row *a, const struct report_row *b)
{
    const struct record_key *x = &a->cell->key, *y = &b->cell->key;
    int order = (y->n_devices > x->n_devices) - (y->n_devices < x->n_devices);

    if (order == 0)
        order = strcmp(x->devices, y->devices);
    if (order == 0)
        order = strcmp(x->backend, y->backend);
    if (order == 0)
        order = strcmp(x->communicator, y->communicator);
    if (order == 0)
        order = (a->variant > b->variant) - (a->variant < b->variant);
    /* Older records lack some. */
    for (int p = 0; p < PARTS && order == 0; ++p)
        order = (a->cell->part[parts[p]].ns == NULL) - (b->cell->part[parts[p]].ns == NULL);
    return order;
}

static int sort_sets(const void *left, const void *right)
{
    const struct copies_set *a = left, *b = right;

    return compare_sets(a->row, b->row);
}

static void add_row(struct report *report, const struct report_row *row)
{
    size_t s = 0;

    while (s < report->n_copies && compare_sets(report->copies[s].row, row) != 0)
        ++s;
    if (s == report->n_copies)
        report->copies[report->n_copies++] =
            (struct copies_set){.row = row, .devices = row->cell->key.n_devices};
    ++report->copies[s].launches;
}

/* ---- numbers --------------------------------------------------------------------------------- */

static enum record_part part_of(int from, int to)
{
    return from == COPIES_HOST ? RECORD_FROM_HOST
           : to == COPIES_HOST ? RECORD_TO_HOST
           : from == to        ? RECORD_MEMORY
                               : RECORD_COPY;
}

/* Its row among the times of the part. */
static size_t line_of(enum record_part part, int devices, int from, int to)
{
    return part == RECORD_COPY
               ? (size_t)(from - COPIES_DEVICE) * (size_t)devices + (size_t)(to - COPIES_DEVICE)
               : (size_t)((part == RECORD_FROM_HOST ? to : from) - COPIES_DEVICE);
}

/* Of a launch, bytes copied per second: what a device reads and writes of its own memory is copied
 * once. */
static double rate_of(const struct record_cell *cell, int from, int to)
{
    const enum record_part part = part_of(from, to);
    const struct record_part_times *times = &cell->part[part];
    const size_t line = line_of(part, cell->key.n_devices, from, to);
    const double bytes = (double)times->work / (part == RECORD_MEMORY ? 2 : 1);
    double ns[RECORD_MOST_PARTS];

    if (!times->ns || line >= times->rows)
        return (double)NAN;
    for (size_t i = 0; i < times->n; ++i)
        ns[i] = (double)times->ns[line * times->n + i];
    return 1e9 * bytes / stats_median(ns, times->n);
}

/* launch: room for a number of each row. */
static double over_launches(const struct report *report, const struct copies_set *set, int from,
                            int to, double launch[])
{
    size_t n = 0;

    for (size_t i = 0; i < report->n_rows; ++i)
        if (has_copies(&report->row[i]) && compare_sets(set->row, &report->row[i]) == 0)
            launch[n++] = rate_of(report->row[i].cell, from, to);
    return isfinite(launch[0]) ? stats_median(launch, n) : (double)NAN;
}

static int fill(const struct report *report, struct copies_set *set, double launch[])
{
    const int ends = set->devices + COPIES_DEVICE;

    set->rate = calloc((size_t)ends * (size_t)ends, sizeof *set->rate);
    if (!set->rate)
        return -1;
    for (int from = 0; from < ends; ++from)
        for (int to = 0; to < ends; ++to)
            set->rate[from * ends + to] = from == COPIES_HOST && to == COPIES_HOST
                                              ? (double)NAN
                                              : over_launches(report, set, from, to, launch);
    return 0;
}

double copies_rate(const struct copies_set *set, int from, int to)
{
    return set->rate[from * (set->devices + COPIES_DEVICE) + to];
}

int report_copies_make(struct report *report)
{
    double *launch = calloc(report->n_rows + 1, sizeof *launch);
    int status = 0;

    report->copies = calloc(report->n_rows + 1, sizeof *report->copies);
    if (!launch || !report->copies) {
        free(launch);
        return -1;
    }
    for (size_t i = 0; i < report->n_rows; ++i)
        if (has_copies(&report->row[i]))
            add_row(report, &report->row[i]);
    qsort(report->copies, report->n_copies, sizeof *report->copies, sort_sets);
    for (size_t s = 0; s < report->n_copies && status == 0; ++s)
        status = fill(report, &report->copies[s], launch);
    free(launch);
    return status;
}

void report_copies_free(struct report *report)
{
    for (size_t s = 0; s < report->n_copies; ++s)
        free(report->copies[s].rate);
    free(report->copies);
    report->copies = NULL;
    report->n_copies = 0;
}
