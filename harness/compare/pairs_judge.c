/* compare/pairs_judge.c: tests the differences of pairs.
 *
 * Two families share the errors that are allowed: all cells together, and each cell separately. A
 * result that is not shown is INCONCLUSIVE; for one that was too noisy to be shown, the smallest
 * ratio is given that as many pairs would find. */
#include "compare/pairs.h"

#include "numbers/rank.h"
#include "numbers/stats.h"
#include "text/alloc.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const pairs_verdict_words[PAIRS_VERDICTS] = {"EQUIVALENT", "IMPROVED", "REGRESSED",
                                                         "INCONCLUSIVE", "INVALID"};

size_t pairs_least(size_t cells, size_t looks)
{
    const double least = ceil(log2((double)(cells * looks) / PAIRS_ALPHA_CELLS));

    return least > PAIRS_LEAST ? (size_t)least : PAIRS_LEAST;
}

/* Returns the share of an error for one interim analysis. All have the same share, because the
 * chance that one of them is wrong is at most the sum, however they depend on each other. */
static double error_share(const struct pairs_data *data, double alpha)
{
    return alpha / (double)data->looks;
}

static void forget_numbers(struct pairs_judged *judged)
{
    judged->ratio = judged->lo = judged->hi = judged->level = NAN;
    judged->p_slower = judged->p_faster = judged->detectable = NAN;
    judged->needed = 0;
}

/* Fills all fields except the verdict; the tests are those of one cell alone. */
static void estimate_ratio(const double d[], size_t n, double alpha, struct pairs_judged *judged)
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

static void decide_pairs(double alpha, struct pairs_judged *judged)
{
    judged->verdict = PAIRS_INCONCLUSIVE;
    if (judged->p_slower <= alpha && judged->ratio >= PAIRS_DELTA)
        judged->verdict = PAIRS_REGRESSED;
    else if (judged->p_faster <= alpha && judged->ratio <= 1 / PAIRS_DELTA)
        judged->verdict = PAIRS_IMPROVED;
    else if (judged->lo >= 1 / PAIRS_ALIKE && judged->hi <= PAIRS_ALIKE)
        judged->verdict = PAIRS_EQUIVALENT;
}

static bool is_counted(const struct pairs_data *data, size_t at)
{
    return !data->left_out || !data->left_out[at];
}

/* Keeps the pairs of a cell that count; returns how many there are. */
static size_t keep_counted(const struct pairs_data *data, size_t cell, double kept[RANK_MOST])
{
    size_t n = 0;

    for (size_t at = cell * data->pairs; at < (cell + 1) * data->pairs; ++at)
        if (is_counted(data, at) && n < RANK_MOST)
            kept[n++] = data->d[at];
    return n;
}

/* Adjusts the p at this offset, p_slower or p_faster, by Holm. */
static void adjust(struct pairs_judged cell[], size_t cells, size_t offset, double work[])
{
    double *p = work, *adjusted = work + cells;

    for (size_t c = 0; c < cells; ++c)
        memcpy(&p[c], (const char *)&cell[c] + offset, sizeof p[c]);
    rank_holm(p, cells, adjusted);
    for (size_t c = 0; c < cells; ++c)
        memcpy((char *)&cell[c] + offset, &adjusted[c], sizeof p[c]);
}

/* Finds, for each pair, the median of the valid cells in which it counts; returns how many pairs
 * have one. work: capacity for a number per cell. */
static size_t find_middles(const struct pairs_data *data, const struct pairs_judged cell[],
                           double work[], double middle[RANK_MOST])
{
    size_t pairs = 0;

    for (size_t pair = 0; pair < data->pairs && pairs < RANK_MOST; ++pair) {
        size_t n = 0;

        for (size_t c = 0; c < data->cells; ++c)
            if (cell[c].verdict != PAIRS_INVALID && is_counted(data, c * data->pairs + pair))
                work[n++] = data->d[c * data->pairs + pair];
        if (n > 0)
            middle[pairs++] = stats_median(work, n);
    }
    return pairs;
}

void pairs_judge(const struct pairs_data *data, struct pairs_judged cell[],
                 struct pairs_judged *all)
{
    const size_t cells = data->cells, least = pairs_least(cells, data->looks);
    const double alpha = error_share(data, PAIRS_ALPHA_CELLS);
    const double alpha_all = error_share(data, PAIRS_ALPHA_ALL);
    double *work = cli_alloc(2 * cells, sizeof work[0]), d[RANK_MOST];

    for (size_t c = 0; c < cells; ++c) {
        struct pairs_judged *one = &cell[c];
        const size_t pairs = data->pairs > RANK_MOST ? data->pairs : keep_counted(data, c, d);
        bool finite = true;

        forget_numbers(one);
        if (one->verdict == PAIRS_INVALID)
            continue;
        for (size_t i = 0; data->pairs <= RANK_MOST && i < pairs; ++i)
            finite = finite && isfinite(d[i]);
        one->verdict = PAIRS_INVALID;
        if (pairs < least || pairs > RANK_MOST) {
            snprintf(one->reason, sizeof one->reason,
                     "%zu pairs; for one of %zu cells it takes %zu to %d", pairs, cells, least,
                     RANK_MOST);
        } else if (!finite) {
            snprintf(one->reason, sizeof one->reason, "a time is not a number");
        } else {
            estimate_ratio(d, pairs, alpha / (double)cells, one);
            one->verdict = PAIRS_INCONCLUSIVE;
        }
    }
    const size_t pairs = find_middles(data, cell, work, d);

    forget_numbers(all);
    all->verdict = PAIRS_INVALID;
    if (pairs == 0) {
        snprintf(all->reason, sizeof all->reason, "no cell is valid");
    } else {
        estimate_ratio(d, pairs, alpha_all, all);
        decide_pairs(alpha_all, all);
    }
    adjust(cell, cells, offsetof(struct pairs_judged, p_slower), work);
    adjust(cell, cells, offsetof(struct pairs_judged, p_faster), work);
    free(work);
    for (size_t c = 0; c < cells; ++c)
        if (cell[c].verdict != PAIRS_INVALID)
            decide_pairs(alpha, &cell[c]);
}

void pairs_power(const struct pairs_data *data, struct pairs_judged cell[],
                 struct pairs_judged *all)
{
    const double alpha = error_share(data, PAIRS_ALPHA_CELLS) / (double)data->cells;
    double *work = cli_alloc(data->cells, sizeof work[0]), d[RANK_MOST];

    for (size_t c = 0; c < data->cells; ++c)
        if (cell[c].verdict != PAIRS_INVALID)
            find_power(d, keep_counted(data, c, d), alpha, &cell[c]);
    if (all->verdict != PAIRS_INVALID)
        find_power(d, find_middles(data, cell, work, d), error_share(data, PAIRS_ALPHA_ALL), all);
    free(work);
}
