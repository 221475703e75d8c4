/* fleet/outliers.c: nodes with a number that is not like that of the others.
 *
 * A series is one number of all nodes: a metric at a place, of a device position where each device
 * has its own, so that a position that is slow everywhere names no node. All comparisons of all
 * series are one family (numbers/outlier.h). A node whose own launches scatter has a wide interval:
 * only one that is outside of the band as a whole shows that the node is not like the others. */
#include "fleet/fleet.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "numbers/stats.h"
#include "text/alloc.h"

struct entry {
    struct fleet_node *node;
    const struct fleet_limit *limit;
    const struct fleet_number *number;
};

static int order_of_series(const struct entry *a, const struct entry *b)
{
    int order = a->limit == b->limit ? 0 : strcmp(a->limit->name, b->limit->name);

    order = order != 0 ? order : (int)a->limit->kind - (int)b->limit->kind;
    order = order != 0 ? order : a->limit->worse - b->limit->worse;
    return order != 0 ? order : a->number->device - b->number->device;
}

static int by_series(const void *left, const void *right)
{
    const struct entry *a = left, *b = right;
    const int order = order_of_series(a, b);

    return order != 0 ? order : strcmp(a->node->name, b->node->name);
}

static size_t end_of_series(const struct entry entry[], size_t begin, size_t n)
{
    size_t end = begin + 1;

    while (end < n && order_of_series(&entry[begin], &entry[end]) == 0)
        ++end;
    return end;
}

/* Nothing has a logarithm, too: farther from any other number than these are from each other. */
static double log_of(double value)
{
    return log(fmax(value, DBL_MIN));
}

static void judge_series(struct fleet *fleet, const struct entry entry[], size_t n, double x[],
                         double scratch[])
{
    const double none = log(DBL_MIN);
    struct outlier_band band;

    for (size_t i = 0; i < n; ++i)
        x[i] = log_of(entry[i].number->value);
    band = outlier_band(x, n, fleet->rule.comparisons, scratch);
    for (size_t i = 0; band.valid && i < n; ++i) {
        const double above = x[i] - band.middle;
        const int worse = entry[i].limit->worse;
        const double lag = worse == 0 ? fabs(above) : worse * above;
        struct fleet_node *node = entry[i].node;

        node->lag = node->compared++ == 0 ? lag : fmax(node->lag, lag);
        if (log_of(entry[i].number->hi) < band.lo || log_of(entry[i].number->lo) > band.hi) {
            const bool is_worse = worse == 0 || (worse > 0) == (above > 0);

            fleet->outlier[fleet->n_outliers++] =
                (struct fleet_outlier){.node = node,
                                       .limit = entry[i].limit,
                                       .device = entry[i].number->device,
                                       .value = entry[i].number->value,
                                       .median = band.middle <= none ? 0 : exp(band.middle),
                                       .lo = band.lo <= none ? 0 : exp(band.lo),
                                       .hi = band.hi <= none ? 0 : exp(band.hi),
                                       .nodes = n,
                                       .is_worse = is_worse};
            node->worse += is_worse;
            node->better += !is_worse;
        }
    }
}

/* The worst of a node first: how far it is from the others, in logarithms. */
static int by_node(const void *left, const void *right)
{
    const struct fleet_outlier *a = left, *b = right;
    const double far_a = fabs(log_of(a->value) - log_of(a->median));
    const double far_b = fabs(log_of(b->value) - log_of(b->median));
    int order = strcmp(a->node->name, b->node->name);

    order = order != 0 ? order : b->is_worse - a->is_worse;
    order = order != 0 ? order : (far_a < far_b) - (far_a > far_b);
    return order != 0 ? order : strcmp(a->limit->name, b->limit->name);
}

void fleet_find_outliers(struct fleet *fleet)
{
    struct fleet_rule *rule = &fleet->rule;
    double *x = cli_alloc(2 * fleet->n, sizeof *x);
    struct entry *entry = NULL;
    size_t n = 0, end;

    for (size_t i = 0; i < fleet->n; ++i) {
        struct fleet_node *node = &fleet->node[i];

        for (size_t k = 0; node->status < FLEET_BROKEN && k < node->n_numbers; ++k) {
            const struct fleet_number *number = &node->number[k];

            entry = cli_grow(entry, n, sizeof *entry);
            entry[n++] = (struct entry){node, &node->limit[number->limit], number};
        }
    }
    fleet->outlier = cli_alloc(n, sizeof *fleet->outlier);
    if (n > 0)
        qsort(entry, n, sizeof *entry, by_series);
    *rule = (struct fleet_rule){0};
    /* Comparisons have to be counted before the first is made. */
    for (size_t i = 0; i < n; i = end) {
        end = end_of_series(entry, i, n);
        ++rule->series;
        rule->small += end - i < OUTLIER_LEAST;
        rule->comparisons += end - i < OUTLIER_LEAST ? 0 : end - i;
        rule->nodes = end - i > rule->nodes ? end - i : rule->nodes;
    }
    for (size_t i = 0; i < n; i = end) {
        end = end_of_series(entry, i, n);
        judge_series(fleet, entry + i, end - i, x, x + fleet->n);
    }
    qsort(fleet->outlier, fleet->n_outliers, sizeof *fleet->outlier, by_node);
    free(entry);
    free(x);
}
