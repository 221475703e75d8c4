/* compare/pairs_judge.c: what is shown by the differences of pairs.
 *
 * Two families share the errors that are allowed: all cells together, and each by itself. Whatever
 * is not shown is INCONCLUSIVE, and what was too noisy to be shown is told by the smallest ratio
 * that as many pairs would find. */
#include "compare/pairs.h"

#include "numbers/rank.h"
#include "numbers/stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const pairs_verdict_words[PAIRS_VERDICTS] = {"EQUIVALENT", "IMPROVED", "REGRESSED",
                                                         "INCONCLUSIVE", "INVALID"};

size_t pairs_least(size_t cells)
{
    const double least = ceil(log2((double)cells / PAIRS_ALPHA_CELLS));

    return least > PAIRS_LEAST ? (size_t)least : PAIRS_LEAST;
}

static void forget(struct pairs_judged *judged)
{
    judged->ratio = judged->lo = judged->hi = judged->level = NAN;
    judged->p_slower = judged->p_faster = judged->detectable = NAN;
    judged->needed = 0;
}

/* Everything but the verdict; the tests are of one cell alone. */
static void measure(const double d[], size_t n, double alpha, struct pairs_judged *judged)
{
    const double margin = log(PAIRS_MARGIN);
    const struct rank_estimate shift = rank_signed_estimate(d, n, 1 - alpha);
    double mirrored[RANK_MOST];

    for (size_t i = 0; i < n && i < RANK_MOST; ++i)
        mirrored[i] = -d[i];
    judged->ratio = exp(shift.middle);
    judged->lo = exp(shift.lo);
    judged->hi = exp(shift.hi);
    judged->level = shift.valid ? 1 - alpha : NAN;
    judged->p_slower = rank_signed_p(d, n, margin);
    judged->p_faster = rank_signed_p(mirrored, n, margin);
}

static void find_power(const double d[], size_t n, double alpha, struct pairs_judged *judged)
{
    const double margin = log(PAIRS_MARGIN);
    const double found = rank_detectable(d, n, margin, log(PAIRS_DELTA), alpha);

    judged->detectable = exp(found);
    judged->needed = rank_pairs_needed(found, n, margin, alpha, log(PAIRS_ASKED));
    if (judged->needed > 0 && judged->needed < PAIRS_LEAST)
        judged->needed = PAIRS_LEAST;
}

static void decide(double alpha, struct pairs_judged *judged)
{
    judged->verdict = PAIRS_INCONCLUSIVE;
    if (judged->p_slower <= alpha && judged->ratio >= PAIRS_DELTA)
        judged->verdict = PAIRS_REGRESSED;
    else if (judged->p_faster <= alpha && judged->ratio <= 1 / PAIRS_DELTA)
        judged->verdict = PAIRS_IMPROVED;
    else if (judged->lo >= 1 / PAIRS_ALIKE && judged->hi <= PAIRS_ALIKE)
        judged->verdict = PAIRS_EQUIVALENT;
}

static bool all_finite(const double d[], size_t n)
{
    bool finite = true;

    for (size_t i = 0; i < n; ++i)
        finite = finite && isfinite(d[i]);
    return finite;
}

static void judge_alone(const double d[], size_t cells, size_t pairs, struct pairs_judged *cell)
{
    forget(cell);
    if (cell->verdict == PAIRS_INVALID)
        return;
    if (pairs < pairs_least(cells) || pairs > RANK_MOST) {
        cell->verdict = PAIRS_INVALID;
        snprintf(cell->reason, sizeof cell->reason,
                 "%zu pairs; for one of %zu cells it takes %zu to %d", pairs, cells,
                 pairs_least(cells), RANK_MOST);
    } else if (!all_finite(d, pairs)) {
        cell->verdict = PAIRS_INVALID;
        snprintf(cell->reason, sizeof cell->reason, "a time is not a number");
    } else {
        measure(d, pairs, PAIRS_ALPHA_CELLS / (double)cells, cell);
        cell->verdict = PAIRS_INCONCLUSIVE;
    }
}

/* Of one side, p is p_slower or p_faster at this offset. */
static int adjust(struct pairs_judged cell[], size_t cells, size_t offset, double work[])
{
    double *p = work, *adjusted = work + cells;

    for (size_t c = 0; c < cells; ++c)
        memcpy(&p[c], (const char *)&cell[c] + offset, sizeof p[c]);
    if (rank_holm(p, cells, adjusted) != 0)
        return -1;
    for (size_t c = 0; c < cells; ++c)
        memcpy((char *)&cell[c] + offset, &adjusted[c], sizeof p[c]);
    return 0;
}

/* Per pair the median of the cells that are valid; how many these are. work: room for a number per
 * cell. */
static size_t find_middles(const double d[], size_t cells, size_t pairs,
                           const struct pairs_judged cell[], double work[],
                           double middle[RANK_MOST])
{
    size_t n = 0;

    for (size_t pair = 0; pair < pairs && pair < RANK_MOST; ++pair) {
        n = 0;
        for (size_t c = 0; c < cells; ++c)
            if (cell[c].verdict != PAIRS_INVALID)
                work[n++] = d[c * pairs + pair];
        middle[pair] = stats_median(work, n);
    }
    return n;
}

/* work: room for a number per cell. */
static void judge_all(const double d[], size_t cells, size_t pairs,
                      const struct pairs_judged cell[], double work[], struct pairs_judged *all)
{
    double middle[RANK_MOST];

    forget(all);
    all->verdict = PAIRS_INVALID;
    if (find_middles(d, cells, pairs, cell, work, middle) == 0) {
        snprintf(all->reason, sizeof all->reason, "no cell is valid");
        return;
    }
    measure(middle, pairs, PAIRS_ALPHA_ALL, all);
    decide(PAIRS_ALPHA_ALL, all);
}

int pairs_judge(const double d[], size_t cells, size_t pairs, struct pairs_judged cell[],
                struct pairs_judged *all)
{
    double *work = calloc(2 * cells + 1, sizeof work[0]);

    if (!work)
        return -1;
    for (size_t c = 0; c < cells; ++c)
        judge_alone(d + c * pairs, cells, pairs, &cell[c]);
    judge_all(d, cells, pairs, cell, work, all);

    int status = adjust(cell, cells, offsetof(struct pairs_judged, p_slower), work);

    if (status == 0)
        status = adjust(cell, cells, offsetof(struct pairs_judged, p_faster), work);
    free(work);
    for (size_t c = 0; c < cells && status == 0; ++c)
        if (cell[c].verdict != PAIRS_INVALID)
            decide(PAIRS_ALPHA_CELLS, &cell[c]);
    return status;
}

int pairs_power(const double d[], size_t cells, size_t pairs, struct pairs_judged cell[],
                struct pairs_judged *all)
{
    double *work = calloc(cells + 1, sizeof work[0]), middle[RANK_MOST];

    if (!work)
        return -1;
    for (size_t c = 0; c < cells; ++c)
        if (cell[c].verdict != PAIRS_INVALID)
            find_power(d + c * pairs, pairs, PAIRS_ALPHA_CELLS / (double)cells, &cell[c]);
    if (all->verdict != PAIRS_INVALID && find_middles(d, cells, pairs, cell, work, middle) > 0)
        find_power(middle, pairs, PAIRS_ALPHA_ALL, all);
    free(work);
    return 0;
}
