/* compare/judge.c: times of the cells that are in both files: ratios, tests and verdicts.
 *
 * It fails closed: a cell about which nothing can be said is INVALID and has a reason, never
 * NO EVIDENCE. Nothing is dropped: a cell with a launch that was not verified is not tested. */
#include "compare/exact.h"

#include "numbers/rank.h"
#include "numbers/stats.h"
#include "record/roles.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const compare_verdict_words[COMPARE_VERDICTS] = {"NO EVIDENCE", "SUSPECT", "INVALID",
                                                             "UNMEASURED"};

/* Numbers of the launches of a cell, and room for the steps of one. */
struct work {
    double floor[COMPARE_SIDES][RANK_MOST], cost[COMPARE_SIDES][RANK_MOST];
    double *steps;
};

static const struct record_cell *launch_of(const struct compare *compare,
                                           const struct compare_cell *cell, size_t i)
{
    return compare->launch[cell->first + i].row->cell;
}

static void choose_rule(const struct compare *compare, struct compare_cell *cell)
{
    cell->steps = SIZE_MAX;
    for (size_t i = 0; i < cell->n[COMPARE_A] + cell->n[COMPARE_B]; ++i) {
        const size_t steps = launch_of(compare, cell, i)->n_valid;

        cell->steps = steps < cell->steps ? steps : cell->steps;
    }
    cell->rule = compare_floor_rule(cell->steps);
}

/* Of launches by their logarithms: the shift of those is the logarithm of a ratio. */
static int find_ratio(double x[COMPARE_SIDES][RANK_MOST], const size_t n[COMPARE_SIDES],
                      struct compare_ratio *ratio)
{
    struct rank_estimate shift;

    for (int side = 0; side < COMPARE_SIDES; ++side) {
        ratio->ns[side] = stats_median(x[side], n[side]);
        for (size_t i = 0; i < n[side]; ++i)
            x[side][i] = log(x[side][i]);
    }
    if (rank_sum_shift(x[COMPARE_A], n[COMPARE_A], x[COMPARE_B], n[COMPARE_B], COMPARE_LEVEL,
                       &shift) != 0 ||
        rank_sum_p(x[COMPARE_A], n[COMPARE_A], x[COMPARE_B], n[COMPARE_B], &ratio->p) != 0)
        return -1;
    ratio->ratio = exp(shift.middle);
    ratio->lo = exp(shift.lo);
    ratio->hi = exp(shift.hi);
    ratio->coverage = shift.coverage;
    return 0;
}

static int measure(const struct compare *compare, struct compare_cell *cell, struct work *work)
{
    choose_rule(compare, cell);
    for (int side = 0; side < COMPARE_SIDES; ++side) {
        for (size_t i = 0; i < cell->n[side]; ++i) {
            const struct record_cell *launch =
                launch_of(compare, cell, (side == COMPARE_B ? cell->n[COMPARE_A] : 0) + i);

            work->floor[side][i] = compare_floor(launch, cell->rule, cell->steps, work->steps);
            work->cost[side][i] = launch->mean_ns;
        }
    }
    return find_ratio(work->floor, cell->n, &cell->floor) == 0
               ? find_ratio(work->cost, cell->n, &cell->cost)
               : -1;
}

/* "2 of 6 launches of A (crashed)" */
static void unverified_words(const struct compare *compare, const struct compare_cell *cell,
                             int side, char text[96])
{
    const size_t first = cell->first + (side == COMPARE_B ? cell->n[COMPARE_A] : 0);
    const char *state = "";

    for (size_t i = first + cell->n[side]; i-- > first;)
        state = compare->launch[i].row->verified ? state : compare->launch[i].row->state;
    snprintf(text, 96, "%zu of %zu launches of %s%s%s%s", cell->n[side] - cell->verified[side],
             cell->n[side], side == COMPARE_A ? "A" : "B", state[0] != '\0' ? " (" : "", state,
             state[0] != '\0' ? ")" : "");
}

static bool oversubscribed(const struct compare *compare, const struct compare_cell *cell)
{
    bool found = false;

    for (size_t i = 0; i < cell->n[COMPARE_A] + cell->n[COMPARE_B]; ++i)
        found = found || launch_of(compare, cell, i)->oversubscribed;
    return found;
}

/* Why the times of a cell cannot be compared; false: they can. */
static bool refuse(const struct compare *compare, struct compare_cell *cell)
{
    const size_t a = cell->n[COMPARE_A], b = cell->n[COMPARE_B];
    char x[96], y[96];

    if (compare->invalid.n > 0) {
        snprintf(cell->reason, sizeof cell->reason, "%s", compare->invalid.text[0]);
    } else if (cell->verified[COMPARE_A] < a || cell->verified[COMPARE_B] < b) {
        unverified_words(compare, cell, COMPARE_A, x);
        unverified_words(compare, cell, COMPARE_B, y);
        snprintf(cell->reason, sizeof cell->reason, "not verified: %s, %s", x, y);
    } else if (oversubscribed(compare, cell)) {
        snprintf(cell->reason, sizeof cell->reason, "oversubscribed: %s",
                 report_crowding(compare->launch[cell->first].row));
    } else if (a < COMPARE_LAUNCHES || b < COMPARE_LAUNCHES || a > RANK_MOST || b > RANK_MOST) {
        snprintf(cell->reason, sizeof cell->reason,
                 "launches: %zu of A and %zu of B; it takes %d to %d of each", a, b,
                 COMPARE_LAUNCHES, RANK_MOST);
    } else {
        return false;
    }
    return true;
}

static int judge_cell(struct compare *compare, struct compare_cell *cell, struct work *work)
{
    cell->adjusted = NAN;
    cell->floor = cell->cost = (struct compare_ratio){{NAN, NAN}, .ratio = NAN,    .lo = NAN,
                                                      .hi = NAN,  .coverage = NAN, .p = NAN};
    cell->verdict = COMPARE_INVALID;
    if (cell->verified[COMPARE_A] == 0 && cell->verified[COMPARE_B] == 0) {
        cell->verdict = COMPARE_UNMEASURED;
        return 0;
    }
    if (refuse(compare, cell))
        return 0;
    if (measure(compare, cell, work) != 0)
        return -1;
    if (isfinite(cell->floor.ratio) && isfinite(cell->cost.ratio)) {
        cell->verdict = COMPARE_NO_EVIDENCE;
        ++compare->tested;
    } else {
        snprintf(cell->reason, sizeof cell->reason,
                 "a time is not a number: floors %g and %g ns, costs %g and %g ns",
                 cell->floor.ns[COMPARE_A], cell->floor.ns[COMPARE_B], cell->cost.ns[COMPARE_A],
                 cell->cost.ns[COMPARE_B]);
    }
    return 0;
}

/* Launches of each side that let one cell of so many be SUSPECT alone. */
static size_t launches_for(size_t cells)
{
    size_t n = COMPARE_LAUNCHES;

    while (n < RANK_MOST && rank_sum_least_p(n, n) * (double)cells > COMPARE_ALPHA)
        ++n;
    return n;
}

/* A cell that could not be SUSPECT whatever its times are was not tested. */
static void decide(const struct compare *compare, struct compare_cell *cell)
{
    const double least = rank_sum_least_p(cell->n[COMPARE_A], cell->n[COMPARE_B]);
    const double ratio = cell->floor.ratio;

    if (least * (double)compare->tested > COMPARE_ALPHA) {
        cell->verdict = COMPARE_INVALID;
        snprintf(cell->reason, sizeof cell->reason,
                 "launches: %zu of A and %zu of B cannot show anything in one of %zu cells; that "
                 "takes %zu of each",
                 cell->n[COMPARE_A], cell->n[COMPARE_B], compare->tested,
                 launches_for(compare->tested));
    } else if (cell->adjusted <= COMPARE_ALPHA &&
               (ratio > COMPARE_BEYOND || ratio < 1 / COMPARE_BEYOND)) {
        cell->verdict = COMPARE_SUSPECT;
    }
}

/* Holm's family are the cells that were tested. */
static int adjust(struct compare *compare)
{
    double *p = calloc(compare->tested + 1, sizeof p[0]);
    double *adjusted = calloc(compare->tested + 1, sizeof adjusted[0]);
    const bool room = p && adjusted;
    size_t n = 0;

    for (size_t c = 0; room && c < compare->n_cells; ++c)
        if (compare->cell[c].verdict == COMPARE_NO_EVIDENCE)
            p[n++] = compare->cell[c].floor.p;
    const int status = room ? rank_holm(p, n, adjusted) : -1;

    n = 0;
    for (size_t c = 0; status == 0 && c < compare->n_cells; ++c)
        if (compare->cell[c].verdict == COMPARE_NO_EVIDENCE) {
            compare->cell[c].adjusted = adjusted[n++];
            decide(compare, &compare->cell[c]);
        }
    free(p);
    free(adjusted);
    return status;
}

int compare_judge(struct compare *compare)
{
    struct work work = {.steps = NULL};
    size_t most = 0;
    int status = 0;

    for (size_t i = 0; i < compare->n_launches; ++i) {
        const size_t samples = compare->launch[i].row->cell->n_samples;

        most = samples > most ? samples : most;
    }
    work.steps = calloc(most + 1, sizeof work.steps[0]);
    if (!work.steps)
        return -1;
    for (size_t c = 0; c < compare->n_cells && status == 0; ++c)
        status = judge_cell(compare, &compare->cell[c], &work);
    free(work.steps);
    if (status == 0)
        status = adjust(compare);
    for (size_t c = 0; c < compare->n_cells; ++c)
        ++compare->count[compare->cell[c].verdict];
    return status;
}

int compare_common(const struct compare *compare, double *ratio, double *half)
{
    double *ratios = calloc(compare->n_cells + 1, sizeof ratios[0]);
    double *halves = calloc(compare->n_cells + 1, sizeof halves[0]);
    const bool room = ratios && halves;
    size_t n = 0;

    for (size_t c = 0; room && c < compare->n_cells; ++c) {
        const struct compare_ratio *floor = &compare->cell[c].floor;

        if (!isnan(floor->lo)) {
            ratios[n] = floor->ratio;
            halves[n++] = sqrt(floor->hi / floor->lo) - 1;
        }
    }
    if (room) {
        *ratio = stats_median(ratios, n);
        *half = stats_median(halves, n);
    }
    free(ratios);
    free(halves);
    return room ? 0 : -1;
}

int compare_exit(const struct compare *compare)
{
    if (compare->exact && compare->changes->n > 0)
        return COMPARE_EXIT_CHANGED;
    return compare->invalid.n > 0 || compare->count[COMPARE_INVALID] > 0 ? COMPARE_EXIT_INVALID : 0;
}
