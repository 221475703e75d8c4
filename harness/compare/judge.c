/* compare/judge.c: the cells that are in both files, and the times of their launches: floors,
 * ratios, tests and verdicts.
 *
 * The judge fails closed: a cell about which nothing can be said is INVALID and has a reason, never
 * NO EVIDENCE. No launch is dropped: a cell with a launch that was not verified is not tested. */
#include "compare/compare.h"

#include "numbers/rank.h"
#include "numbers/stats.h"
#include "record/record.h"
#include "text/alloc.h"

#include <math.h>
#include <stdlib.h>

/* ---- floors: noise of a machine only adds to a step, so that its fast end is what the program
 * takes. How far out it can be taken depends on how many steps there are. */

const char *const compare_floor_words[COMPARE_FLOORS] = {"5th percentile", "10th percentile",
                                                         "minimum, few"};

enum compare_floor compare_floor_rule(size_t steps)
{
    return steps >= COMPARE_P05_STEPS   ? COMPARE_P05
           : steps >= COMPARE_P10_STEPS ? COMPARE_P10
                                        : COMPARE_LEAST;
}

double compare_floor(const struct record_cell *cell, enum compare_floor rule, size_t fewest,
                     double steps[])
{
    const size_t most = rule == COMPARE_LEAST ? fewest : cell->n_valid;
    size_t n = 0;

    if (rule == COMPARE_P05)
        return cell->p05_ns;
    for (size_t i = 0; i < cell->n_samples && n < most; ++i)
        if ((cell->flags[i] & (RECORD_WARMUP | RECORD_BAD_VALUES)) == 0)
            steps[n++] = (double)cell->t_step_ns[i];
    stats_sort(steps, n);
    return stats_quantile(steps, n, rule == COMPARE_P10 ? 0.10 : 0);
}

/* ---- cells: a cell is what it was told to run: all of its key but the launch ---- */

int compare_key_order(const struct record_key *a, const struct record_key *b)
{
    return record_order(record_key_fields, RECORD_APART, a, b);
}

static int order_launches(const void *left, const void *right)
{
    const struct compare_launch *a = left, *b = right;
    const int order = compare_key_order(&a->row->cell->key, &b->row->cell->key);

    if (order != 0)
        return order;
    return a->side != b->side ? a->side - b->side : report_launch_order(a->row, b->row);
}

void compare_cells(struct compare *compare)
{
    const size_t most = compare->report[COMPARE_A].n_all + compare->report[COMPARE_B].n_all;

    compare->launch = cli_alloc(most, sizeof compare->launch[0]);
    compare->cell = cli_alloc(most, sizeof compare->cell[0]);
    for (int side = 0; side < COMPARE_SIDES; ++side)
        for (size_t i = 0; i < compare->report[side].n_all; ++i)
            compare->launch[compare->n_launches++] =
                (struct compare_launch){.row = &compare->report[side].row[i], .side = side};
    qsort(compare->launch, compare->n_launches, sizeof compare->launch[0], order_launches);
    for (size_t first = 0, end; first < compare->n_launches; first = end) {
        const struct compare_launch *launch = compare->launch;
        struct compare_cell cell = {.first = first, .key = &launch[first].row->cell->key};

        for (end = first; end < compare->n_launches &&
                          compare_key_order(cell.key, &launch[end].row->cell->key) == 0;
             ++end) {
            ++cell.n[launch[end].side];
            cell.verified[launch[end].side] += launch[end].row->verified;
        }
        compare->only[COMPARE_A] += cell.n[COMPARE_B] == 0;
        compare->only[COMPARE_B] += cell.n[COMPARE_A] == 0;
        if (cell.n[COMPARE_A] > 0 && cell.n[COMPARE_B] > 0)
            compare->cell[compare->n_cells++] = cell;
    }
    compare->changes = exact_room(compare->n_cells);
    for (size_t c = 0; c < compare->n_cells; ++c) {
        const struct compare_cell *cell = &compare->cell[c];
        struct exact_side side[COMPARE_SIDES] = {{.launches = 0}};

        for (size_t i = cell->first; i < cell->first + cell->n[COMPARE_A] + cell->n[COMPARE_B]; ++i)
            if (compare->launch[i].row->verified)
                exact_add(&side[compare->launch[i].side], compare->launch[i].row->cell);
        exact_compare(side, c, cell->key, compare->changes);
    }
}

/* ---- verdicts ---- */

/* The shift between the logarithms of the launches is the logarithm of a ratio. */
static struct compare_ratio find_ratio(double x[COMPARE_SIDES][RANK_MOST],
                                       const size_t n[COMPARE_SIDES])
{
    struct compare_ratio ratio;

    for (int side = 0; side < COMPARE_SIDES; ++side) {
        ratio.ns[side] = stats_median(x[side], n[side]);
        for (size_t i = 0; i < n[side]; ++i)
            x[side][i] = log(x[side][i]);
    }
    const struct rank_estimate shift =
        rank_sum_shift(x[COMPARE_A], n[COMPARE_A], x[COMPARE_B], n[COMPARE_B], COMPARE_LEVEL);

    ratio.p = rank_sum_p(x[COMPARE_A], n[COMPARE_A], x[COMPARE_B], n[COMPARE_B]);
    ratio.ratio = exp(shift.middle);
    ratio.lo = exp(shift.lo);
    ratio.hi = exp(shift.hi);
    ratio.coverage = shift.coverage;
    return ratio;
}

/* Writes "2 of 6 launches of A (crashed)", for example. */
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

/* The verdict is NO EVIDENCE for a cell that will be tested. steps: capacity for those of a
 * launch. */
static void measure_cell(struct compare *compare, struct compare_cell *cell, double steps[])
{
    static const struct compare_ratio unknown = {{NAN, NAN}, NAN, NAN, NAN, NAN, NAN};
    const struct compare_launch *launch = &compare->launch[cell->first];
    const size_t a = cell->n[COMPARE_A], b = cell->n[COMPARE_B];
    double floor[COMPARE_SIDES][RANK_MOST], cost[COMPARE_SIDES][RANK_MOST];
    size_t n[COMPARE_SIDES] = {0};
    bool oversubscribed = false;
    char x[96], y[96];

    cell->adjusted = NAN;
    cell->floor = cell->cost = unknown;
    cell->verdict = COMPARE_INVALID;
    if (cell->verified[COMPARE_A] == 0 && cell->verified[COMPARE_B] == 0) {
        cell->verdict = COMPARE_UNMEASURED;
        return;
    }
    cell->steps = SIZE_MAX;
    for (size_t i = 0; i < a + b; ++i) {
        const struct record_cell *of = launch[i].row->cell;

        oversubscribed = oversubscribed || of->oversubscribed;
        cell->steps = of->n_valid < cell->steps ? of->n_valid : cell->steps;
    }
    /* Reasons why its times cannot be compared. */
    if (compare->invalid.n > 0) {
        snprintf(cell->reason, sizeof cell->reason, "%s", compare->invalid.text[0]);
    } else if (cell->verified[COMPARE_A] < a || cell->verified[COMPARE_B] < b) {
        unverified_words(compare, cell, COMPARE_A, x);
        unverified_words(compare, cell, COMPARE_B, y);
        snprintf(cell->reason, sizeof cell->reason, "not verified: %s, %s", x, y);
    } else if (oversubscribed) {
        snprintf(cell->reason, sizeof cell->reason, "oversubscribed: %s",
                 report_crowding(launch->row));
    } else if (a < COMPARE_LAUNCHES || b < COMPARE_LAUNCHES || a > RANK_MOST || b > RANK_MOST) {
        snprintf(cell->reason, sizeof cell->reason,
                 "launches: %zu of A and %zu of B; it takes %d to %d of each", a, b,
                 COMPARE_LAUNCHES, RANK_MOST);
    }
    if (cell->reason[0] != '\0')
        return;
    cell->rule = compare_floor_rule(cell->steps);
    for (size_t i = 0; i < a + b; ++i) {
        const struct record_cell *of = launch[i].row->cell;
        const int side = i < a ? COMPARE_A : COMPARE_B;

        floor[side][n[side]] = compare_floor(of, cell->rule, cell->steps, steps);
        cost[side][n[side]++] = of->mean_ns;
    }
    cell->floor = find_ratio(floor, n);
    cell->cost = find_ratio(cost, n);
    if (isfinite(cell->floor.ratio) && isfinite(cell->cost.ratio)) {
        cell->verdict = COMPARE_NO_EVIDENCE;
        ++compare->tested;
    } else {
        snprintf(cell->reason, sizeof cell->reason,
                 "a time is not a number: floors %g and %g ns, costs %g and %g ns",
                 cell->floor.ns[COMPARE_A], cell->floor.ns[COMPARE_B], cell->cost.ns[COMPARE_A],
                 cell->cost.ns[COMPARE_B]);
    }
}

/* Holm's family consists of the cells that were tested. A cell that could not be SUSPECT with any
 * times was not tested. x and y: capacity for a number per cell. */
static void decide_cells(struct compare *compare, double x[], double y[])
{
    const double tested = (double)compare->tested;
    size_t n = 0, enough = COMPARE_LAUNCHES;

    for (size_t c = 0; c < compare->n_cells; ++c)
        if (compare->cell[c].verdict == COMPARE_NO_EVIDENCE)
            x[n++] = compare->cell[c].floor.p;
    rank_holm(x, n, y);
    while (enough < RANK_MOST && rank_sum_least_p(enough, enough) * tested > COMPARE_ALPHA)
        ++enough;
    n = 0;
    for (size_t c = 0; c < compare->n_cells; ++c) {
        struct compare_cell *cell = &compare->cell[c];
        const size_t *launches = cell->n;
        const double ratio = cell->floor.ratio;

        if (cell->verdict != COMPARE_NO_EVIDENCE)
            continue;
        cell->adjusted = y[n++];
        if (rank_sum_least_p(launches[COMPARE_A], launches[COMPARE_B]) * tested > COMPARE_ALPHA) {
            cell->verdict = COMPARE_INVALID;
            snprintf(cell->reason, sizeof cell->reason,
                     "launches: %zu of A and %zu of B cannot show anything in one of %zu cells; "
                     "that takes %zu of each",
                     launches[COMPARE_A], launches[COMPARE_B], compare->tested, enough);
        } else if (cell->adjusted <= COMPARE_ALPHA &&
                   (ratio > COMPARE_BEYOND || ratio < 1 / COMPARE_BEYOND)) {
            cell->verdict = COMPARE_SUSPECT;
        }
    }
    n = 0;
    for (size_t c = 0; c < compare->n_cells; ++c) {
        const struct compare_ratio *floor = &compare->cell[c].floor;

        if (!isnan(floor->lo)) {
            x[n] = floor->ratio;
            y[n++] = sqrt(floor->hi / floor->lo) - 1;
        }
    }
    compare->common = stats_median(x, n);
    compare->half_width = stats_median(y, n);
}

void compare_judge(struct compare *compare)
{
    double *x = cli_alloc(compare->n_cells, sizeof x[0]);
    double *y = cli_alloc(compare->n_cells, sizeof y[0]);
    size_t most = 0;

    for (size_t i = 0; i < compare->n_launches; ++i) {
        const size_t samples = compare->launch[i].row->cell->n_samples;

        most = samples > most ? samples : most;
    }
    double *steps = cli_alloc(most, sizeof steps[0]);

    for (size_t c = 0; c < compare->n_cells; ++c)
        measure_cell(compare, &compare->cell[c], steps);
    decide_cells(compare, x, y);
    for (size_t c = 0; c < compare->n_cells; ++c)
        ++compare->count[compare->cell[c].verdict];
    free(x);
    free(y);
    free(steps);
}

int compare_exit(const struct compare *compare)
{
    if (compare->options->exact && compare->changes->n > 0)
        return COMPARE_EXIT_CHANGED;
    return compare->invalid.n > 0 || compare->count[COMPARE_INVALID] > 0 ? COMPARE_EXIT_INVALID : 0;
}
