/* compare/pairs_sum.c: from launches to verdicts: the numbers of a launch, the reasons why a cell
 * is INVALID, both families of tests, the exit status, and the fitness of the machine.
 *
 * Pairs are disturbed if other programs or other machines used the cores. The order in a pair is
 * drawn, so this affects OLD as often as NEW, and no test is wrong because of it. But results of
 * such pairs hold for a machine that others use, and may not hold for one that they do not. So only
 * few of them are accepted, and no result depends on them alone. */
#include "compare/pairs.h"

#include "machine/machine.h"
#include "numbers/stats.h"
#include "text/alloc.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

const char *const pairs_fitness_words[PAIRS_FITNESSES] = {
    [PAIRS_FIT] = "FIT", [PAIRS_NOISY] = "TOO NOISY", [PAIRS_UNFIT] = "NOT FIT"};

void pairs_launch_of(const struct record_cell *cell, struct pairs_launch *launch)
{
    double *steps = cli_alloc(cell->n_samples, sizeof steps[0]);

    launch->status = cell->status;
    memcpy(launch->reason, cell->reason, sizeof launch->reason);
    launch->oversubscribed = cell->oversubscribed;
    launch->floor_ns = launch->cost_ns = NAN;
    for (size_t i = 0; i < REPORT_STEAL_SOURCES; ++i)
        launch->elsewhere[i] = NAN;
    if (cell->status == RECORD_OK) {
        launch->steps = cell->n_valid;
        launch->warmup_steps = cell->warmup_steps;
        launch->rule = compare_floor_rule(cell->n_valid);
        launch->floor_ns = compare_floor(cell, launch->rule, cell->n_valid, steps);
        launch->cost_ns = cell->mean_ns;
        for (size_t i = 0; i < REPORT_STEAL_SOURCES; ++i)
            launch->elsewhere[i] = report_share_of(cell, &report_steal_sources[i]);
    }
    free(steps);
}

/* ---- disturbed pairs ---- */

void pairs_disturbed_add(const struct pairs_pair *pair, struct pairs_disturbed *disturbed)
{
    bool above = false, unknown = false;

    for (size_t i = 0; i < REPORT_STEAL_SOURCES; ++i) {
        const double old = pair->launch[PAIRS_OLD].elsewhere[i];
        const double fresh = pair->launch[PAIRS_NEW].elsewhere[i];
        const bool found =
            old > report_steal_sources[i].limit || fresh > report_steal_sources[i].limit;

        disturbed->by[i] += found;
        above = above || found;
        unknown = unknown || isnan(old) || isnan(fresh);
    }
    disturbed->pairs += above;
    disturbed->unknown += unknown && !above;
}

struct pairs_disturbed pairs_disturbed_of(const struct pairs *pairs, size_t cell)
{
    struct pairs_disturbed disturbed = {.pairs = 0};

    for (size_t i = 0; i < pairs->cells * pairs->n; ++i)
        if (cell == pairs->cells || cell == i % pairs->cells)
            pairs_disturbed_add(&pairs->pair[i], &disturbed);
    return disturbed;
}

bool pairs_too_disturbed(const struct pairs *pairs, size_t cell, char why[COMPARE_TEXT])
{
    const struct pairs_disturbed disturbed = pairs_disturbed_of(pairs, cell);

    if (pairs->options.allow_disturbed ||
        (double)disturbed.pairs <= REPORT_DISTURBED_MOST * (double)pairs->n)
        return false;
    snprintf(why, COMPARE_TEXT, "disturbed: %zu of %zu pairs, and at most %.0f %% may be (",
             disturbed.pairs, pairs->n, 100 * REPORT_DISTURBED_MOST);
    for (size_t i = 0; i < REPORT_STEAL_SOURCES; ++i)
        text_add(why, COMPARE_TEXT, "%sby %s: %zu", i == 0 ? "" : ", ", report_steal_sources[i].to,
                 disturbed.by[i]);
    text_add(why, COMPARE_TEXT, "). Stop what else runs, or measure on another machine");
    return true;
}

/* The verdict is INCONCLUSIVE if it is not the same without the disturbed pairs. */
static void agree_without(struct pairs_judged *judged, const struct pairs_judged *without)
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

void pairs_judge_twice(const struct pairs *pairs, const struct pairs_data *data,
                       struct pairs_judged cell[], struct pairs_judged *all)
{
    bool *left_out = cli_alloc(data->cells * data->pairs, sizeof left_out[0]), one = false;
    struct pairs_judged *without = cli_alloc(data->cells, sizeof without[0]), without_all = *all;
    struct pairs_data undisturbed = *data;

    memcpy(without, cell, data->cells * sizeof cell[0]);
    undisturbed.left_out = left_out;
    pairs_judge(data, cell, all);
    for (size_t i = 0; i < pairs->cells * pairs->n; ++i) {
        struct pairs_disturbed disturbed = {.pairs = 0};

        pairs_disturbed_add(&pairs->pair[i], &disturbed);
        left_out[i % pairs->cells * pairs->n + i / pairs->cells] = disturbed.pairs > 0;
        one = one || disturbed.pairs > 0;
    }
    if (one && !pairs->options.allow_disturbed) {
        pairs_judge(&undisturbed, without, &without_all);
        for (size_t c = 0; c < data->cells; ++c)
            agree_without(&cell[c], &without[c]);
        agree_without(all, &without_all);
    }
    free(left_out);
    free(without);
}

/* ---- verdicts ---- */

/* Writes "3 of 12 pairs: new: crashed, the worker ended with status 1", for example. */
static void check_pairs(const struct pairs *pairs, size_t cell, struct pairs_judged *judged)
{
    static const char *const arms[PAIRS_ARMS] = {"OLD", "NEW"};
    size_t bad = 0, crowded = 0, uneven = 0;
    char first[COMPARE_TEXT - 64] = "";

    for (size_t i = 0; i < pairs->n; ++i) {
        const struct pairs_launch *launch = pairs->pair[i * pairs->cells + cell].launch;
        bool verified = true;

        for (int arm = 0; arm < PAIRS_ARMS; ++arm) {
            verified = verified && launch[arm].status == RECORD_OK;
            crowded += launch[arm].oversubscribed;
            if (launch[arm].status != RECORD_OK && first[0] == '\0')
                snprintf(first, sizeof first, "%s: %s: %.200s", arms[arm],
                         record_status_names[launch[arm].status], launch[arm].reason);
        }
        bad += !verified;
        uneven += launch[PAIRS_OLD].steps != launch[PAIRS_NEW].steps;
    }
    *judged = (struct pairs_judged){.verdict = PAIRS_INVALID};
    if (pairs->invalid.n > 0)
        snprintf(judged->reason, sizeof judged->reason, "%s", pairs->invalid.text[0]);
    else if (bad > 0)
        snprintf(judged->reason, sizeof judged->reason, "not verified: %zu of %zu pairs; %s", bad,
                 pairs->n, first);
    else if (crowded > 0)
        snprintf(judged->reason, sizeof judged->reason,
                 "oversubscribed: more devices than cores, or several slots on one GPU or core");
    else if (uneven > 0)
        snprintf(judged->reason, sizeof judged->reason,
                 "other steps in both arms: %zu of %zu pairs", uneven, pairs->n);
    else if (!pairs_too_disturbed(pairs, cell, judged->reason))
        judged->verdict = PAIRS_INCONCLUSIVE;
}

/* Computes the logarithms of NEW / OLD, for the number of a launch at this offset. */
static void find_ratios(const struct pairs *pairs, size_t offset, double d[])
{
    for (size_t i = 0; i < pairs->cells * pairs->n; ++i) {
        double ns[PAIRS_ARMS];

        for (int arm = 0; arm < PAIRS_ARMS; ++arm)
            memcpy(&ns[arm], (const char *)&pairs->pair[i].launch[arm] + offset, sizeof ns[arm]);
        d[i % pairs->cells * pairs->n + i / pairs->cells] = log(ns[PAIRS_NEW] / ns[PAIRS_OLD]);
    }
}

static int order_by_ratio(const void *left, const void *right)
{
    struct pairs_judged *const *a = left, *const *b = right;
    const double x = (*a)->ratio, y = (*b)->ratio;

    if (isnan(x) || isnan(y))
        return (isnan(x) != 0) - (isnan(y) != 0);
    return (x < y) - (x > y);
}

void pairs_sum_up(struct pairs *pairs)
{
    double *d = cli_alloc(pairs->cells * pairs->n, sizeof d[0]);
    const struct pairs_data data = {d, pairs->cells, pairs->n, NULL, pairs->looks};
    size_t valid = 0;
    char now[DIGEST_HEX] = "";

    pairs->all = pairs->all_cost = (struct pairs_judged){.verdict = PAIRS_INVALID};
    memset(pairs->count, 0, sizeof pairs->count);
    memset(pairs->count_cost, 0, sizeof pairs->count_cost);
    pairs->invalid.n = 0;
    if (machine_instance("", now) != 0 || strcmp(now, pairs->instance) != 0 || now[0] == '\0')
        compare_note(&pairs->invalid, "%s",
                     now[0] == '\0' ? "the start of the machine is unknown"
                                    : "the machine was started again meanwhile");
    for (size_t c = 0; c < pairs->cells; ++c)
        check_pairs(pairs, c, &pairs->judged[c]);
    free(pairs->sorted); /* those of the last interim analysis */
    free(pairs->changes);
    pairs->sorted = cli_alloc(pairs->cells, sizeof pairs->sorted[0]);
    pairs->changes = exact_room(pairs->cells);
    memcpy(pairs->cost, pairs->judged, pairs->cells * sizeof pairs->cost[0]);
    find_ratios(pairs, offsetof(struct pairs_launch, cost_ns), d);
    pairs_judge_twice(pairs, &data, pairs->cost, &pairs->all_cost);
    find_ratios(pairs, offsetof(struct pairs_launch, floor_ns), d);
    pairs_judge_twice(pairs, &data, pairs->judged, &pairs->all);
    pairs_power(&data, pairs->judged, &pairs->all);
    for (size_t c = 0; c < pairs->cells; ++c) {
        pairs->sorted[c] = &pairs->judged[c];
        if (pairs->judged[c].verdict != PAIRS_INVALID)
            d[valid++] = pairs->judged[c].detectable;
        exact_compare(&pairs->side[c * PAIRS_ARMS], c, NULL, pairs->changes);
    }
    qsort(pairs->sorted, pairs->cells, sizeof pairs->sorted[0], order_by_ratio);
    pairs->detectable = stats_median(d, valid);
    if (pairs->invalid.n > 0)
        memcpy(pairs->all.reason, pairs->invalid.text[0], sizeof pairs->all.reason);
    for (size_t c = 0; c < pairs->cells; ++c) {
        ++pairs->count[pairs->judged[c].verdict];
        ++pairs->count_cost[pairs->cost[c].verdict];
    }
    free(d);
}

bool pairs_false_alarm(const struct pairs *pairs, const struct pairs_judged *judged)
{
    return pairs->same && (judged->verdict == PAIRS_REGRESSED || judged->verdict == PAIRS_IMPROVED);
}

size_t pairs_false_alarms(const struct pairs *pairs)
{
    const size_t cells =
        pairs->same ? pairs->count[PAIRS_REGRESSED] + pairs->count[PAIRS_IMPROVED] : 0;

    return cells + pairs_false_alarm(pairs, &pairs->all);
}

/* Whether a cell, or all of them together, has the verdict. */
static bool has_verdict(const struct pairs *pairs, enum pairs_verdict verdict)
{
    return pairs->count[verdict] > 0 || pairs->all.verdict == verdict;
}

bool pairs_settled(const struct pairs *pairs)
{
    return has_verdict(pairs, PAIRS_REGRESSED) || pairs_false_alarms(pairs) > 0 ||
           !has_verdict(pairs, PAIRS_INCONCLUSIVE);
}

/* No program is slower than itself, so every difference is an error of the machine. A difference
 * that it cannot find here it finds nowhere: this is no fault of the comparison, but the machine is
 * not fit. */
enum pairs_fitness pairs_fit(const struct pairs *pairs, char words[COMPARE_TEXT])
{
    const size_t alarms = pairs_false_alarms(pairs), invalid = pairs->count[PAIRS_INVALID];
    double noisiest = pairs->judged[0].detectable;
    bool fit;

    if (alarms > 0) {
        snprintf(words, COMPARE_TEXT,
                 "%zu of %zu verdicts %s. Chance does this in at most 1 of 10 such "
                 "comparisons: measure again",
                 alarms, pairs->cells + 1, alarms == 1 ? "is a false alarm" : "are false alarms");
        return PAIRS_UNFIT;
    }
    if (has_verdict(pairs, PAIRS_INVALID)) {
        snprintf(words, COMPARE_TEXT, "%zu of %zu cells %s INVALID, for reasons that stand there",
                 invalid, pairs->cells, text_are(invalid));
        return PAIRS_UNFIT;
    }
    /* Finds the cell in which the smallest change that is found is the largest; unknown is larger
     * than all. */
    for (size_t c = 1; c < pairs->cells; ++c)
        if (!(pairs->judged[c].detectable <= noisiest))
            noisiest = pairs->judged[c].detectable;
    fit = noisiest <= PAIRS_ASKED && pairs->all.detectable <= PAIRS_ASKED;
    snprintf(words, COMPARE_TEXT,
             "no false alarm in %zu verdicts, %s %zu pairs find a change of %.1f %% in the "
             "noisiest cell, and of %.1f %% in all cells together",
             pairs->cells + 1, fit ? "and" : "but", pairs->n, 100 * (noisiest - 1),
             100 * (pairs->all.detectable - 1));
    if (!fit)
        text_add(words, COMPARE_TEXT,
                 ", where %.0f %% is asked for. Take more pairs, longer launches (--seconds) or a "
                 "quieter machine",
                 100 * (PAIRS_ASKED - 1));
    return fit ? PAIRS_FIT : PAIRS_NOISY;
}

int pairs_exit(const struct pairs *pairs)
{
    static const int statuses[PAIRS_FITNESSES] = {
        [PAIRS_NOISY] = PAIRS_EXIT_INCONCLUSIVE, [PAIRS_UNFIT] = PAIRS_EXIT_INVALID};
    char words[COMPARE_TEXT];

    if (pairs->options.exact && pairs->changes->n > 0)
        return COMPARE_EXIT_CHANGED;
    if (pairs->options.aa)
        return statuses[pairs_fit(pairs, words)];
    if (pairs_false_alarms(pairs) > 0)
        return PAIRS_EXIT_INVALID;
    if (has_verdict(pairs, PAIRS_REGRESSED))
        return PAIRS_EXIT_REGRESSED;
    if (has_verdict(pairs, PAIRS_INVALID))
        return PAIRS_EXIT_INVALID;
    return pairs->options.strict && has_verdict(pairs, PAIRS_INCONCLUSIVE) ? PAIRS_EXIT_INCONCLUSIVE
                                                                           : 0;
}
