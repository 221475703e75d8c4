/* analysis/limits.c: what keeps a point below its bound, phase by phase.
 *
 * At its bound, a point spends in each phase its share of the base's time. The time of a phase
 * above that share is its cost; the time that no phase accounts for is between the phases. In one
 * pair of launches the parts add up to all that is missing. Their medians over the pairs need not:
 * they are scaled to the missing share that the efficiency gives, and are not reported if the
 * factor is far from 1. */
#include "analysis/analysis.h"

#include <math.h>

static double known_or_none(double ns)
{
    return isfinite(ns) ? ns : 0.0;
}

/* The time of a step and its parts: the phases, where one that is not known is 0, and last the time
 * that no phase accounts for. */
struct taken {
    double step, part[RECORD_PHASES + 1];
};

/* The times of a launch, or of the point if launch is NULL. */
static struct taken taken_by(const struct report_point *point, const struct report_row *launch)
{
    struct taken taken;

    taken.step = launch ? report_number_of(launch, REPORT_STEP) : report_middle(point, REPORT_STEP);
    taken.part[RECORD_PHASES] = taken.step;
    for (int p = 0; p < RECORD_PHASES; ++p) {
        taken.part[p] = known_or_none(launch ? report_number_of(launch, REPORT_PHASE + p)
                                             : report_middle(point, REPORT_PHASE + p));
        taken.part[RECORD_PHASES] -= taken.part[p];
    }
    return taken;
}

/* The time of a part above its share. */
static double above_share(struct taken point, struct taken base, double share, int part)
{
    return (point.part[part] - share * base.part[part]) / point.step;
}

void report_limit_parts(struct report_point *point, double scratch[])
{
    const struct report_point *base = point->base;
    const struct record_key *key = point->key;
    /* The share of the base's time that the point would take at its bound. */
    const double share = (double)key->global_batch / (double)base->key->global_batch /
                         ((double)key->n_devices * point->bound);

    for (int p = 0; p <= RECORD_PHASES; ++p) {
        struct report_pair pair;
        size_t n = 0;

        for (size_t at[2] = {0}; report_pair_next(point, base, at, &pair);)
            scratch[n++] =
                above_share(taken_by(point, pair.row), taken_by(base, pair.base), share, p);
        point->part[p] = n > 0 ? report_value_of(scratch, n).middle
                               : above_share(taken_by(point, NULL), taken_by(base, NULL), share, p);
    }
}

/* The largest factor between the sum of the medians and the missing share. */
static const double FARTHEST = 2.0;

static const enum report_loss loss_of_phase[RECORD_PHASES + 1] = {
    [RECORD_SCATTER] = REPORT_LOSS_MOVES,   [RECORD_REPLICATE] = REPORT_LOSS_MOVES,
    [RECORD_FORWARD] = REPORT_LOSS_COMPUTE, [RECORD_GATHER] = REPORT_LOSS_MOVES,
    [RECORD_LOSS] = REPORT_LOSS_ALONE,      [RECORD_BACKWARD] = REPORT_LOSS_COMPUTE,
    [RECORD_REDUCE] = REPORT_LOSS_MOVES,    [RECORD_UPDATE] = REPORT_LOSS_ALONE,
    [RECORD_PHASES] = REPORT_LOSS_BETWEEN};

bool report_limit_of(const struct report_point *point, struct report_limit *limit)
{
    double sum = 0.0, measured = 0.0, scale;

    *limit = (struct report_limit){.of_bound = report_of_bound(point)};
    limit->missing = 1.0 - limit->of_bound;
    if (!isfinite(limit->of_bound) || !point->base)
        return false;
    for (int p = 0; p < RECORD_PHASES; ++p)
        measured += known_or_none(report_middle(point, REPORT_PHASE + p));
    for (int p = 0; p <= RECORD_PHASES; ++p)
        sum += point->part[p];
    scale = limit->missing / sum;
    if (!(measured > 0.0) || !(scale >= 1.0 / FARTHEST && scale <= FARTHEST))
        return false;
    for (int p = 0; p <= RECORD_PHASES; ++p)
        limit->loss[loss_of_phase[p]] += scale * point->part[p];
    for (enum report_loss l = REPORT_LOSS_MOVES; l < REPORT_LOSSES; ++l)
        if (limit->loss[l] > limit->loss[limit->most])
            limit->most = l;
    return true;
}

const struct report_point *report_group_best(const struct report_group *group)
{
    const struct report_point *best = NULL;

    for (size_t i = 0; i < group->n; ++i) {
        const struct report_point *point = &group->point[i];
        const struct record_key *x = point->key;

        if (x->n_devices < 2 || !isfinite(report_middle(point, REPORT_SPEEDUP)))
            continue;
        const struct record_key *y = best ? best->key : x;
        const bool crowded = report_oversubscribed(point);

        /* Separate cores for all devices count first, then more devices, then the larger batch. */
        if (!best || (crowded != report_oversubscribed(best) ? !crowded
                      : x->n_devices != y->n_devices         ? x->n_devices > y->n_devices
                                                             : x->global_batch > y->global_batch))
            best = point;
    }
    return best;
}
