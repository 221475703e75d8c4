/* report/limits.c: what keeps a point from its bound, phase by phase.
 *
 * At its bound, a point does each phase of its base in its share of the time. What a phase takes
 * above that share is what it costs; what no phase accounts for lies between the phases. So the
 * parts add up to all that is missing, and none of them is a guess. */
#include "report/report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Largest first. */
static int compare_parts(const void *left, const void *right)
{
    const struct report_part *a = left, *b = right;

    return (a->share < b->share) - (a->share > b->share);
}

static double known(double ns)
{
    return isfinite(ns) ? ns : 0.0;
}

bool report_limit_of(const struct report_point *point, struct report_limit *limit)
{
    const bool weak = strcmp(point->row->run->scaling, "weak") == 0;
    const double devices = (double)point->row->cell->key.n_devices;
    const double share_of_base = weak ? 1.0 : 1.0 / (devices * point->bound);
    double explained = 0.0, measured = 0.0;

    *limit =
        (struct report_limit){.of_bound = report_middle(point, REPORT_EFFICIENCY) / point->bound};
    if (!isfinite(limit->of_bound) || !point->base)
        return false;
    limit->missing = 1.0 - report_middle(point->base, REPORT_STEP) * share_of_base /
                               report_middle(point, REPORT_STEP);
    for (int p = 0; p < RECORD_PHASES; ++p) {
        const double ns = known(report_middle(point, REPORT_PHASE + p));
        const double more =
            ns - known(report_middle(point->base, REPORT_PHASE + p)) * share_of_base;

        measured += ns;
        explained += more / report_middle(point, REPORT_STEP);
        limit->part[limit->n_parts++] =
            (struct report_part){.phase = p, .share = more / report_middle(point, REPORT_STEP)};
    }
    limit->part[limit->n_parts++] =
        (struct report_part){.phase = RECORD_PHASES, .share = limit->missing - explained};
    qsort(limit->part, limit->n_parts, sizeof limit->part[0], compare_parts);
    return measured > 0.0;
}

static enum report_loss loss_of_phase(int phase)
{
    switch (phase) {
    case RECORD_FORWARD:
    case RECORD_BACKWARD:
        return REPORT_LOSS_COMPUTE;
    case RECORD_LOSS:
    case RECORD_UPDATE:
        return REPORT_LOSS_ALONE;
    case RECORD_PHASES:
        return REPORT_LOSS_BETWEEN;
    default:
        return REPORT_LOSS_MOVES;
    }
}

double report_loss_of(const struct report_limit *limit, enum report_loss loss)
{
    double sum = 0.0;

    for (size_t i = 0; i < limit->n_parts; ++i)
        sum += loss_of_phase(limit->part[i].phase) == loss ? limit->part[i].share : 0.0;
    return sum;
}

/* Of several device counts the largest that had cores of their own, at the largest batch. */
static bool is_better(const struct report_point *a, const struct report_point *b)
{
    const bool over_a = report_oversubscribed(a), over_b = report_oversubscribed(b);
    const struct record_key *x = &a->row->cell->key, *y = &b->row->cell->key;

    if (over_a != over_b)
        return over_b;
    if (x->n_devices != y->n_devices)
        return x->n_devices > y->n_devices;
    return x->global_batch > y->global_batch;
}

size_t report_base_batch(const struct report_point *point)
{
    return point->base ? point->base->row->cell->key.global_batch : 0;
}

const struct report_point *report_group_best(const struct report *report,
                                             const struct report_group *group)
{
    const struct report_point *best = NULL;

    for (size_t i = group->first; i < group->first + group->n; ++i) {
        const struct report_point *point = &report->point[i];

        if (point->row->cell->key.n_devices > 1 && isfinite(report_middle(point, REPORT_SPEEDUP)) &&
            (!best || is_better(point, best)))
            best = point;
    }
    return best;
}
