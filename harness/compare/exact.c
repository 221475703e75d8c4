/* compare/exact.c: numbers that have to be the same in both files, on any machine: they are
 * counted, not timed. One more is a change. */
#include "compare/compare.h"

#include <math.h>
#include <stdlib.h>

static double bytes_moved(const struct record_cell *cell, size_t i)
{
    (void)i;
    return cell->bytes_per_step;
}

static double flops(const struct record_cell *cell, size_t i)
{
    (void)i;
    return cell->flops_per_step;
}

static double params(const struct record_cell *cell, size_t i)
{
    (void)i;
    return (double)cell->model_params;
}

static double peak(const struct record_cell *cell, size_t i)
{
    return i < (size_t)cell->n_peaks ? (double)cell->peak_bytes[i] : (double)NAN;
}

static double shard(const struct record_cell *cell, size_t i)
{
    return i < (size_t)cell->n_shards ? (double)cell->shard[i] : 0;
}

/* of: element i; NaN: unknown. part: what an element is of, "": there is one. */
static const struct {
    const char *name, *unit, *part;
    double (*of)(const struct record_cell *cell, size_t i);
} metrics[] = {{"bytes_per_step", "bytes", "", bytes_moved},
               {"peak_bytes", "bytes", "device", peak},
               {"flops_per_step", "operations", "", flops},
               {"shard_rows", "rows", "replica", shard},
               {"model_params", "values", "", params}};

enum { METRICS = sizeof metrics / sizeof metrics[0] };

/* Over the verified launches of a side. */
struct range {
    bool known;
    double lo, hi;
};

static struct range range_of(const struct compare *compare, const struct compare_cell *cell,
                             int side, size_t metric, size_t i)
{
    const size_t first = cell->first + (side == COMPARE_B ? cell->n[COMPARE_A] : 0);
    struct range range = {.known = true, .lo = INFINITY, .hi = -INFINITY};

    for (size_t l = first; l < first + cell->n[side]; ++l) {
        const struct report_row *row = compare->launch[l].row;
        const double value = row->verified ? metrics[metric].of(row->cell, i) : range.lo;

        range.known = range.known && !isnan(value);
        range.lo = fmin(range.lo, value);
        range.hi = row->verified ? fmax(range.hi, value) : range.hi;
    }
    return range;
}

static bool same(const struct range *a, const struct range *b)
{
    if (!a->known || !b->known)
        return a->known == b->known;
    return !(a->lo < b->lo || a->lo > b->lo || a->hi < b->hi || a->hi > b->hi);
}

static void show(const struct range *range, char text[64])
{
    if (!range->known)
        snprintf(text, 64, "unknown");
    else if (range->lo < range->hi)
        snprintf(text, 64, "%.17g to %.17g", range->lo, range->hi);
    else
        snprintf(text, 64, "%.17g", range->lo);
}

/* The first element that is not the same. */
static void find_change(struct compare *compare, const struct compare_cell *cell, size_t metric)
{
    const size_t n = metrics[metric].part[0] != '\0' ? RECORD_MAX_RANKS : 1;

    for (size_t i = 0; i < n; ++i) {
        struct compare_change *change = &compare->change[compare->n_changes];
        const struct range a = range_of(compare, cell, COMPARE_A, metric, i);
        const struct range b = range_of(compare, cell, COMPARE_B, metric, i);

        if (same(&a, &b))
            continue;
        *change = (struct compare_change){
            .cell = cell, .metric = metrics[metric].name, .unit = metrics[metric].unit};
        if (n > 1)
            snprintf(change->where, sizeof change->where, " of %s %zu", metrics[metric].part, i);
        show(&a, change->value[COMPARE_A]);
        show(&b, change->value[COMPARE_B]);
        ++compare->n_changes;
        return;
    }
}

int compare_exact(struct compare *compare)
{
    compare->change = calloc(METRICS * compare->n_cells + 1, sizeof compare->change[0]);
    if (!compare->change)
        return -1;
    for (size_t c = 0; c < compare->n_cells; ++c) {
        const struct compare_cell *cell = &compare->cell[c];

        for (size_t m = 0; m < METRICS; ++m)
            if (cell->verified[COMPARE_A] > 0 && cell->verified[COMPARE_B] > 0)
                find_change(compare, cell, m);
    }
    return 0;
}
