/* analysis/copies.c: the copies that `sweep --parts` measured. */
#include "analysis/analysis.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "text/alloc.h"

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

/* Sets on most devices say most, so they come first. */
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
    /* Older records lack some parts. */
    for (int p = 0; p < PARTS && order == 0; ++p)
        order = (a->cell->part[parts[p]].ns == NULL) - (b->cell->part[parts[p]].ns == NULL);
    return order;
}

static int sort_sets(const void *left, const void *right)
{
    return compare_sets(((const struct copies_set *)left)->row,
                        ((const struct copies_set *)right)->row);
}

/* ---- numbers --------------------------------------------------------------------------------- */

/* The bytes that a launch copied per second. A copy within the memory of a device reads and writes
 * each byte; such a byte counts once. */
static double rate_of_launch(const struct record_cell *cell, int from, int to)
{
    const int devices = cell->key.n_devices, a = from - COPIES_DEVICE, b = to - COPIES_DEVICE;
    const enum record_part part = from == COPIES_HOST ? RECORD_FROM_HOST
                                  : to == COPIES_HOST ? RECORD_TO_HOST
                                  : from == to        ? RECORD_MEMORY
                                                      : RECORD_COPY;
    const struct record_part_times *times = &cell->part[part];
    /* The row of this copy among the times of the part. */
    const int line = part == RECORD_COPY ? a * devices + b : part == RECORD_FROM_HOST ? b : a;
    const double bytes = (double)times->work / (part == RECORD_MEMORY ? 2 : 1);
    double ns[RECORD_MOST_PARTS];

    if (!times->ns || (size_t)line >= times->rows)
        return (double)NAN;
    for (size_t i = 0; i < times->n; ++i)
        ns[i] = (double)times->ns[(size_t)line * times->n + i];
    return 1e9 * bytes / stats_median(ns, times->n);
}

double copies_rate(const struct copies_set *set, int from, int to)
{
    return set->rate[from * (set->devices + COPIES_DEVICE) + to];
}

void report_copies_make(struct report *report)
{
    double *launch = cli_alloc(report->n_rows, sizeof *launch);

    report->copies = cli_alloc(report->n_rows, sizeof *report->copies);
    /* Each launch is counted in the set of its devices, which may be a new one. */
    for (size_t i = 0; i < report->n_rows; ++i) {
        const struct report_row *row = &report->row[i];
        size_t s = 0;

        if (!has_copies(row))
            continue;
        while (s < report->n_copies && compare_sets(report->copies[s].row, row) != 0)
            ++s;
        if (s == report->n_copies)
            report->copies[report->n_copies++] =
                (struct copies_set){.row = row, .devices = row->cell->key.n_devices};
        ++report->copies[s].launches;
    }
    qsort(report->copies, report->n_copies, sizeof *report->copies, sort_sets);
    for (size_t s = 0; s < report->n_copies; ++s) {
        struct copies_set *set = &report->copies[s];
        const int ends = set->devices + COPIES_DEVICE;

        set->rate = cli_alloc((size_t)ends * (size_t)ends, sizeof *set->rate);
        for (int copy = 0; copy < ends * ends; ++copy) {
            size_t n = 0;

            for (size_t i = 0; i < report->n_rows && copy > 0; ++i)
                if (has_copies(&report->row[i]) && compare_sets(set->row, &report->row[i]) == 0)
                    launch[n++] = rate_of_launch(report->row[i].cell, copy / ends, copy % ends);
            /* Entry 0 would be a copy from the host to itself. */
            set->rate[copy] =
                copy > 0 && isfinite(launch[0]) ? stats_median(launch, n) : (double)NAN;
        }
    }
    free(launch);
}
