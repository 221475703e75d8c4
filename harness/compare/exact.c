/* compare/exact.c: what is counted of a cell, and which of it is not the same on both sides. */
#include "compare/exact.h"

#include <math.h>
#include <stdlib.h>

static size_t one(const struct record_cell *cell)
{
    (void)cell;
    return 1;
}

static size_t shards(const struct record_cell *cell)
{
    return (size_t)cell->n_shards;
}

static size_t peaks(const struct record_cell *cell)
{
    return (size_t)cell->n_peaks;
}

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

static double kernels(const struct record_cell *cell, size_t i)
{
    (void)i;
    return cell->kernels_per_step;
}

static double params(const struct record_cell *cell, size_t i)
{
    (void)i;
    return (double)cell->model_params;
}

static double peak(const struct record_cell *cell, size_t i)
{
    return (double)cell->peak_bytes[i];
}

static double shard(const struct record_cell *cell, size_t i)
{
    return (double)cell->shard[i];
}

const struct exact_metric exact_metrics[EXACT_METRICS] = {
    {"bytes_per_step", "bytes", "", one, bytes_moved, false},
    {"kernels_per_step", "launches", "", one, kernels, true},
    {"peak_bytes", "bytes", "device", peaks, peak, false},
    {"flops_per_step", "operations", "", one, flops, false},
    {"shard_rows", "rows", "replica", shards, shard, false},
    {"model_params", "values", "", one, params, false}};

/* An element that a launch does not have is unknown of all of them. */
static void add_metric(struct exact_side *side, const struct record_cell *launch, size_t m)
{
    const size_t count = exact_metrics[m].count(launch);
    const bool first = side->launches == 0;
    const size_t n = count > side->n[m] ? count : side->n[m];
    double *lo = side->lo[m], *hi = side->hi[m];

    for (size_t i = 0; i < n; ++i) {
        const double value = i < count ? exact_metrics[m].of(launch, i) : (double)NAN;
        const bool unknown = isnan(value) || (!first && (i >= side->n[m] || isnan(lo[i])));

        lo[i] = unknown ? (double)NAN : first ? value : fmin(lo[i], value);
        hi[i] = unknown ? (double)NAN : first ? value : fmax(hi[i], value);
    }
    side->n[m] = n;
}

void exact_add(struct exact_side *side, const struct record_cell *launch)
{
    for (size_t m = 0; m < EXACT_METRICS; ++m)
        add_metric(side, launch, m);
    ++side->launches;
}

struct exact_changes *exact_room(size_t cells)
{
    const struct exact_changes *changes;

    return calloc(1, sizeof *changes + EXACT_METRICS * cells * sizeof changes->change[0]);
}

static bool known(const struct exact_side *side, size_t m, size_t i)
{
    return i < side->n[m] && !isnan(side->lo[m][i]);
}

static bool same(const struct exact_side side[COMPARE_SIDES], size_t m, size_t i)
{
    const struct exact_side *a = &side[COMPARE_A], *b = &side[COMPARE_B];

    if (!known(a, m, i))
        return exact_metrics[m].later || !known(b, m, i);
    if (!known(b, m, i))
        return false;
    return !(a->lo[m][i] < b->lo[m][i] || a->lo[m][i] > b->lo[m][i] || a->hi[m][i] < b->hi[m][i] ||
             a->hi[m][i] > b->hi[m][i]);
}

static void show(const struct exact_side *side, size_t m, size_t i, char text[64])
{
    if (!known(side, m, i))
        snprintf(text, 64, "%s", i < side->n[m] || side->n[m] == 0 ? "unknown" : "none");
    else if (side->lo[m][i] < side->hi[m][i])
        snprintf(text, 64, "%.17g to %.17g", side->lo[m][i], side->hi[m][i]);
    else
        snprintf(text, 64, "%.17g", side->lo[m][i]);
}

void exact_compare(const struct exact_side side[COMPARE_SIDES], size_t cell,
                   struct exact_changes *changes)
{
    if (side[COMPARE_A].launches == 0 || side[COMPARE_B].launches == 0)
        return;
    for (size_t m = 0; m < EXACT_METRICS; ++m) {
        const size_t a = side[COMPARE_A].n[m], b = side[COMPARE_B].n[m], most = a > b ? a : b;
        size_t i = 0;

        while (i < most && same(side, m, i))
            ++i;
        if (i == most)
            continue;
        struct exact_change *change = &changes->change[changes->n++];

        *change = (struct exact_change){.cell = cell, .metric = &exact_metrics[m]};
        if (exact_metrics[m].part[0] != '\0')
            snprintf(change->where, sizeof change->where, " of %s %zu", exact_metrics[m].part, i);
        for (int s = 0; s < COMPARE_SIDES; ++s)
            show(&side[s], m, i, change->value[s]);
    }
}
