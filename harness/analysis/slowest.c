/* analysis/slowest.c: which rank of DistributedDataParallel is the slowest, on which host, and
 * whether that is more than chance.
 *
 * In the reduction all ranks wait for the slowest. So only the work of a rank itself counts:
 * forward, loss and backward. Only ranks with as many rows as the largest shard are compared.
 * Within a launch every step counts once; but successive steps are similar, so the test is over
 * launches. */
#include <math.h>
#include <stdlib.h>

#include "analysis/analysis.h"
#include "numbers/stats.h"

/* The comparison of the ranks in one launch. */
struct race {
    int n;                         /* ranks that are compared */
    int rank[RECORD_MAX_RANKS];    /* their numbers */
    size_t lost[RECORD_MAX_RANKS]; /* steps in which only this rank was the slowest */
    double work[RECORD_MAX_RANKS]; /* ns over all steps */
    size_t steps;
};

static const enum record_phase own_phases[] = {RECORD_FORWARD, RECORD_LOSS, RECORD_BACKWARD};
enum { OWN_PHASES = sizeof own_phases / sizeof own_phases[0] };

/* Chooses the ranks with as many rows as the largest shard, if all of their phases are known. */
static void choose_ranks(const struct record_cell *cell, struct race *race)
{
    const int ranks = cell->n_shards < cell->n_ranks ? cell->n_shards : cell->n_ranks;
    size_t most = 0;

    *race = (struct race){.n = 0};
    for (int r = 0; r < ranks; ++r)
        most = cell->shard[r] > most ? cell->shard[r] : most;
    for (int r = 0; r < ranks; ++r)
        if (most > 0 && cell->shard[r] == most)
            race->rank[race->n++] = r;
    for (int p = 0; p < OWN_PHASES; ++p)
        if (!cell->phase_ns[own_phases[p]])
            race->n = 0;
}

/* The rank that was the slowest in most steps, as an index of race; -1: none. A step in which two
 * ranks took equally long has no slowest. */
static int loser_of_launch(const struct record_cell *cell, struct race *race)
{
    int loser = -1;

    choose_ranks(cell, race);
    for (size_t step = 0; race->n > 1 && step < cell->n_samples; ++step) {
        double most = -1;
        int slowest = -1;

        if ((cell->flags[step] & (RECORD_WARMUP | RECORD_BAD_VALUES)) != 0)
            continue;
        for (int i = 0; i < race->n; ++i) {
            const size_t at = (size_t)race->rank[i] * cell->n_samples + step;
            double ns = 0;

            for (int p = 0; p < OWN_PHASES; ++p)
                ns += (double)cell->phase_ns[own_phases[p]][at];
            race->work[i] += ns;
            slowest = ns > most ? i : ns == most ? -1 : slowest;
            most = fmax(ns, most);
        }
        if (slowest >= 0)
            ++race->lost[slowest];
        ++race->steps;
    }
    for (int i = 0; i < race->n; ++i)
        if (race->lost[i] > 0 && (loser < 0 || race->lost[i] > race->lost[loser]))
            loser = i;
    return loser;
}

/* All launches have the same shards. The result has the numbers of the rank that lost most
 * launches. Any rank could have been that one, so p is the chance that any of them loses as many.
 */
static struct report_slowest slowest_of(const struct report_point *point)
{
    const struct report_row *row = point->row;
    struct report_slowest slowest = {.rank = -1, .p = NAN};
    size_t lost[RECORD_MAX_RANKS] = {0}, steps[RECORD_MAX_RANKS] = {0}, all[RECORD_MAX_RANKS] = {0};
    double more[RECORD_MAX_RANKS] = {0};
    struct race race;

    for (size_t l = 0; l < point->n; ++l) {
        const int loser = row[l].verified ? loser_of_launch(row[l].cell, &race) : -1;

        if (loser < 0)
            continue;
        const int rank = race.rank[loser];
        double others = 0; /* their mean work */

        for (int i = 0; i < race.n; ++i)
            others += i != loser ? race.work[i] / (race.n - 1) : 0;

        ++slowest.launches;
        slowest.ranks = race.n;
        ++lost[rank];
        steps[rank] += race.lost[loser];
        all[rank] += race.steps;
        more[rank] += others > 0 ? race.work[loser] / others - 1 : (double)NAN;
    }
    for (int r = 0; r < RECORD_MAX_RANKS; ++r)
        if (lost[r] > 0 && (slowest.rank < 0 || lost[r] > lost[slowest.rank]))
            slowest.rank = r;
    if (slowest.rank < 0)
        return slowest;
    slowest.lost = lost[slowest.rank];
    slowest.steps = (double)steps[slowest.rank] / (double)all[slowest.rank];
    slowest.more = more[slowest.rank] / (double)slowest.lost;
    if (slowest.launches > 1)
        slowest.p = fmin(1, slowest.ranks * stats_binomial_tail(slowest.lost, slowest.launches,
                                                                1.0 / slowest.ranks));
    return slowest;
}

void report_slowest_make(struct report *report)
{
    for (size_t p = 0; p < report->n_points; ++p)
        if (report_is_ddp(&report->point[p]))
            report->point[p].slowest = slowest_of(&report->point[p]);
}
