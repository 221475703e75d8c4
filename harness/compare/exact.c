/* compare/exact.c: the counted numbers of a cell, and those that differ between the sides. */
#include "compare/compare.h"
#include "record/json.h"
#include "text/alloc.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>

#define OF(member) offsetof(struct record_cell, member)

const struct exact_metric exact_metrics[EXACT_METRICS] = {
    {"bytes_per_step", "bytes", "", true, OF(bytes_per_step), 0, false},
    {"kernels_per_step", "launches", "", true, OF(kernels_per_step), 0, true},
    {"peak_bytes", "bytes", "device", false, OF(peak_bytes), OF(n_peaks), false},
    {"flops_per_step", "operations", "", true, OF(flops_per_step), 0, false},
    {"shard_rows", "rows", "replica", false, OF(shard), OF(n_shards), false},
    {"model_params", "values", "", false, OF(model_params), 0, false}};

void exact_add(struct exact_side *side, const struct record_cell *launch)
{
    const bool first = side->launches == 0;

    for (size_t m = 0; m < EXACT_METRICS; ++m) {
        const struct exact_metric *metric = &exact_metrics[m];
        const void *const counted = (const char *)launch + metric->count;
        const void *const own = (const char *)launch + metric->offset;
        const size_t count = metric->count > 0 ? (size_t) * (const int *)counted : 1;
        const size_t n = count > side->n[m] ? count : side->n[m];
        double *lo = side->lo[m], *hi = side->hi[m];

        /* If one launch does not have an element, it is unknown for all of them. */
        for (size_t i = 0; i < n; ++i) {
            const double value = i >= count     ? (double)NAN
                                 : metric->real ? ((const double *)own)[i]
                                                : (double)((const uint64_t *)own)[i];

            if (isnan(value) || (!first && (i >= side->n[m] || isnan(lo[i])))) {
                lo[i] = hi[i] = NAN;
            } else {
                lo[i] = first ? value : fmin(lo[i], value);
                hi[i] = first ? value : fmax(hi[i], value);
            }
        }
        side->n[m] = n;
    }
    ++side->launches;
}

struct exact_changes *exact_room(size_t cells)
{
    const struct exact_changes *changes;

    return cli_alloc(1, sizeof *changes + EXACT_METRICS * cells * sizeof changes->change[0]);
}

static bool is_known_exact(const struct exact_side *side, size_t m, size_t i)
{
    return i < side->n[m] && !isnan(side->lo[m][i]);
}

static bool is_same_exact(const struct exact_side side[COMPARE_SIDES], size_t m, size_t i)
{
    const struct exact_side *a = &side[COMPARE_A], *b = &side[COMPARE_B];

    if (!is_known_exact(a, m, i))
        return exact_metrics[m].later || !is_known_exact(b, m, i);
    if (!is_known_exact(b, m, i))
        return false;
    return !(a->lo[m][i] < b->lo[m][i] || a->lo[m][i] > b->lo[m][i] || a->hi[m][i] < b->hi[m][i] ||
             a->hi[m][i] > b->hi[m][i]);
}

void exact_compare(const struct exact_side side[COMPARE_SIDES], size_t cell,
                   const struct record_key *key, struct exact_changes *changes)
{
    if (side[COMPARE_A].launches == 0 || side[COMPARE_B].launches == 0)
        return;
    for (size_t m = 0; m < EXACT_METRICS; ++m) {
        const size_t a = side[COMPARE_A].n[m], b = side[COMPARE_B].n[m], most = a > b ? a : b;
        size_t i = 0;

        while (i < most && is_same_exact(side, m, i))
            ++i;
        if (i == most)
            continue;
        struct exact_change *change = &changes->change[changes->n++];

        *change = (struct exact_change){.cell = cell, .key = key, .metric = &exact_metrics[m]};
        if (exact_metrics[m].part[0] != '\0')
            snprintf(change->where, sizeof change->where, " of %s %zu", exact_metrics[m].part, i);
        for (int s = 0; s < COMPARE_SIDES; ++s) {
            const double *lo = &side[s].lo[m][i], *hi = &side[s].hi[m][i];

            if (!is_known_exact(&side[s], m, i))
                snprintf(change->value[s], sizeof change->value[s], "%s",
                         i < side[s].n[m] || side[s].n[m] == 0 ? "unknown" : "none");
            else if (*lo < *hi)
                snprintf(change->value[s], sizeof change->value[s], "%.17g to %.17g", *lo, *hi);
            else
                snprintf(change->value[s], sizeof change->value[s], "%.17g", *lo);
        }
    }
}

json_t *exact_change_json(const struct exact_change *change)
{
    char name[80];

    snprintf(name, sizeof name, "%s%s", change->metric->name, change->where);
    return value_object("cell:o metric:t unit:t a:t b:t",
                        change->key ? value_key(change->key) : value_count(change->cell), name,
                        change->metric->unit, change->value[COMPARE_A], change->value[COMPARE_B]);
}

json_t *exact_changes_json(const struct exact_changes *changes)
{
    json_t *array = json_array();

    for (size_t i = 0; i < changes->n; ++i)
        json_array_append_new(array, exact_change_json(&changes->change[i]));
    return array;
}
