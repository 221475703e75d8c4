/* compare/pairs_disturbed.c: pairs while which other programs or other machines had the cores.
 *
 * As the order in a pair is drawn, they fall on OLD as often as on NEW, and no test is wrong for
 * them. But what they show is of a machine that others use, and may not hold for one that they do
 * not. So few of them are taken, and nothing is shown by them alone. */
#include "compare/pairs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void pairs_disturbed_add(const struct pairs_pair *pair, struct pairs_disturbed *disturbed)
{
    bool above = false, unknown = false;

    for (size_t i = 0; i < REPORT_ELSEWHERE; ++i) {
        const double old = pair->launch[PAIRS_OLD].elsewhere[i];
        const double fresh = pair->launch[PAIRS_NEW].elsewhere[i];
        const bool found = old > report_elsewhere[i].limit || fresh > report_elsewhere[i].limit;

        disturbed->by[i] += found;
        above = above || found;
        unknown = unknown || isnan(old) || isnan(fresh);
    }
    disturbed->pairs += above;
    disturbed->unknown += unknown && !above;
}

struct pairs_disturbed pairs_disturbed_of(const struct pairs *pairs, size_t cell)
{
    const size_t first = cell < pairs->cells ? cell : 0;
    const size_t end = cell < pairs->cells ? cell + 1 : pairs->cells;
    struct pairs_disturbed disturbed = {.pairs = 0};

    for (size_t c = first; c < end; ++c)
        for (size_t number = 0; number < pairs->n; ++number)
            pairs_disturbed_add(&pairs->pair[number * pairs->cells + c], &disturbed);
    return disturbed;
}

bool pairs_too_disturbed(const struct pairs *pairs, size_t cell, char why[COMPARE_TEXT])
{
    const struct pairs_disturbed disturbed = pairs_disturbed_of(pairs, cell);

    if (pairs->allow_disturbed ||
        (double)disturbed.pairs <= PAIRS_DISTURBED_MOST * (double)pairs->n)
        return false;
    snprintf(why, COMPARE_TEXT, "disturbed: %zu of %zu pairs, and at most %.0f %% may be (",
             disturbed.pairs, pairs->n, 100 * PAIRS_DISTURBED_MOST);
    for (size_t i = 0; i < REPORT_ELSEWHERE; ++i)
        text_add(why, COMPARE_TEXT, "%sby %s: %zu", i == 0 ? "" : ", ", report_elsewhere[i].to,
                 disturbed.by[i]);
    text_add(why, COMPARE_TEXT, "). Stop what else runs, or measure on another machine");
    return true;
}

/* INCONCLUSIVE, if it is not the same without the disturbed pairs. */
static void agree(struct pairs_judged *judged, const struct pairs_judged *without)
{
    const bool open = judged->verdict == PAIRS_INCONCLUSIVE && without->verdict == PAIRS_INVALID;

    if (judged->verdict == PAIRS_INVALID || judged->verdict == without->verdict || open)
        return;
    snprintf(judged->reason, sizeof judged->reason,
             "with all pairs %s, without the disturbed ones %s%s%.200s",
             pairs_verdict_words[judged->verdict], pairs_verdict_words[without->verdict],
             without->reason[0] != '\0' ? ": " : "", without->reason);
    judged->verdict = PAIRS_INCONCLUSIVE;
}

/* Which pairs were disturbed, in the order of struct pairs_data; whether one was. */
static bool mark(const struct pairs *pairs, bool left_out[])
{
    bool one = false;

    for (size_t i = 0; i < pairs->cells * pairs->n; ++i) {
        bool *const at = &left_out[i % pairs->cells * pairs->n + i / pairs->cells];
        struct pairs_disturbed disturbed = {.pairs = 0};

        pairs_disturbed_add(&pairs->pair[i], &disturbed);
        *at = disturbed.pairs > 0;
        one = one || *at;
    }
    return one;
}

int pairs_judge_twice(const struct pairs *pairs, const struct pairs_data *data,
                      struct pairs_judged cell[], struct pairs_judged *all)
{
    bool *left_out = calloc(data->cells * data->pairs + 1, sizeof left_out[0]);
    struct pairs_judged *without = calloc(data->cells + 1, sizeof without[0]), without_all = *all;
    struct pairs_data undisturbed = *data;
    int status = -1;

    if (left_out && without) {
        memcpy(without, cell, data->cells * sizeof cell[0]);
        undisturbed.left_out = left_out;
        status = pairs_judge(data, cell, all);
        if (status == 0 && mark(pairs, left_out) && !pairs->allow_disturbed) {
            status = pairs_judge(&undisturbed, without, &without_all);
            for (size_t c = 0; c < data->cells && status == 0; ++c)
                agree(&cell[c], &without[c]);
            if (status == 0)
                agree(all, &without_all);
        }
    }
    free(left_out);
    free(without);
    return status;
}
