/* compare/pairs_sum.c: from launches to what is judged: a launch as its numbers, the reasons why a
 * cell is INVALID, both families of tests, and what is counted. */
#include "compare/pairs.h"

#include "numbers/stats.h"
#include "record/machine.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

int pairs_launch_of(const struct record_cell *cell, struct pairs_launch *launch)
{
    double *steps = calloc(cell->n_samples + 1, sizeof steps[0]);

    if (!steps)
        return -1;
    launch->done = true;
    launch->status = cell->status;
    memcpy(launch->reason, cell->reason, sizeof launch->reason);
    launch->oversubscribed = cell->oversubscribed;
    launch->floor_ns = launch->cost_ns = NAN;
    for (size_t i = 0; i < REPORT_ELSEWHERE; ++i)
        launch->elsewhere[i] = NAN;
    if (cell->status == RECORD_OK) {
        launch->steps = cell->n_valid;
        launch->warmup_steps = cell->warmup_steps;
        launch->rule = compare_floor_rule(cell->n_valid);
        launch->floor_ns = compare_floor(cell, launch->rule, cell->n_valid, steps);
        launch->cost_ns = cell->mean_ns;
        for (size_t i = 0; i < REPORT_ELSEWHERE; ++i)
            launch->elsewhere[i] = report_share_of(cell, &report_elsewhere[i]);
    }
    free(steps);
    return 0;
}

static void check_machine(struct pairs *pairs)
{
    char now[DIGEST_HEX];

    pairs->invalid.n = 0;
    if (machine_instance("", now) == 0 && now[0] != '\0' && strcmp(now, pairs->instance) == 0)
        return;
    compare_note(&pairs->invalid, "%s",
                 now[0] == '\0' ? "the start of the machine is unknown"
                                : "the machine was started again meanwhile");
}

/* "3 of 12 pairs: new: crashed, the worker ended with status 1" */
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

/* Logarithms of NEW / OLD, of the number of a launch that is at this offset. */
static void find_ratios(const struct pairs *pairs, size_t offset, double d[])
{
    for (size_t i = 0; i < pairs->cells * pairs->n; ++i) {
        double ns[PAIRS_ARMS];

        for (int arm = 0; arm < PAIRS_ARMS; ++arm)
            memcpy(&ns[arm], (const char *)&pairs->pair[i].launch[arm] + offset, sizeof ns[arm]);
        d[i % pairs->cells * pairs->n + i / pairs->cells] = log(ns[PAIRS_NEW] / ns[PAIRS_OLD]);
    }
}

/* Both families of tests; d: room for a number per pair. */
static int judge(struct pairs *pairs, double d[])
{
    const struct pairs_data data = {d, pairs->cells, pairs->n, NULL, pairs->looks};

    memcpy(pairs->cost, pairs->judged, pairs->cells * sizeof pairs->cost[0]);
    find_ratios(pairs, offsetof(struct pairs_launch, cost_ns), d);
    if (pairs_judge_twice(pairs, &data, pairs->cost, &pairs->all_cost) != 0)
        return -1;
    find_ratios(pairs, offsetof(struct pairs_launch, floor_ns), d);
    if (pairs_judge_twice(pairs, &data, pairs->judged, &pairs->all) != 0)
        return -1;
    return pairs_power(&data, pairs->judged, &pairs->all);
}

static int by_ratio(const void *left, const void *right)
{
    struct pairs_judged *const *a = left, *const *b = right;
    const double x = (*a)->ratio, y = (*b)->ratio;

    if (isnan(x) || isnan(y))
        return (isnan(x) != 0) - (isnan(y) != 0);
    return (x < y) - (x > y);
}

/* work: room for a number per cell. */
static int sort_cells(struct pairs *pairs, double work[])
{
    size_t n = 0;

    free(pairs->sorted); /* of the look before */
    pairs->sorted = calloc(pairs->cells + 1, sizeof pairs->sorted[0]);
    if (!pairs->sorted)
        return -1;
    for (size_t c = 0; c < pairs->cells; ++c) {
        pairs->sorted[c] = &pairs->judged[c];
        if (pairs->judged[c].verdict != PAIRS_INVALID)
            work[n++] = pairs->judged[c].detectable;
    }
    qsort(pairs->sorted, pairs->cells, sizeof pairs->sorted[0], by_ratio);
    pairs->detectable = stats_median(work, n);
    return 0;
}

int pairs_sum_up(struct pairs *pairs)
{
    double *d = calloc(pairs->cells * pairs->n + 1, sizeof d[0]);
    int status = -1;

    pairs->all = pairs->all_cost = (struct pairs_judged){.verdict = PAIRS_INVALID};
    memset(pairs->count, 0, sizeof pairs->count);
    memset(pairs->count_cost, 0, sizeof pairs->count_cost);
    check_machine(pairs);
    for (size_t c = 0; c < pairs->cells; ++c)
        check_pairs(pairs, c, &pairs->judged[c]);
    if (d)
        status = judge(pairs, d);
    if (status == 0)
        status = sort_cells(pairs, d);
    free(pairs->changes); /* of the look before */
    pairs->changes = exact_room(pairs->cells);
    if (!pairs->changes)
        status = -1;
    for (size_t c = 0; c < pairs->cells && status == 0; ++c)
        exact_compare(&pairs->side[c * PAIRS_ARMS], c, pairs->changes);
    if (pairs->invalid.n > 0)
        memcpy(pairs->all.reason, pairs->invalid.text[0], sizeof pairs->all.reason);
    for (size_t c = 0; c < pairs->cells; ++c) {
        ++pairs->count[pairs->judged[c].verdict];
        ++pairs->count_cost[pairs->cost[c].verdict];
    }
    free(d);
    return status;
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

bool pairs_settled(const struct pairs *pairs)
{
    const bool fails = pairs->count[PAIRS_REGRESSED] > 0 || pairs->all.verdict == PAIRS_REGRESSED;

    return fails || pairs_false_alarms(pairs) > 0 ||
           (pairs->count[PAIRS_INCONCLUSIVE] == 0 && pairs->all.verdict != PAIRS_INCONCLUSIVE);
}

int pairs_exit(const struct pairs *pairs)
{
    static const int statuses[PAIRS_FITNESSES] = {
        [PAIRS_NOISY] = PAIRS_EXIT_INCONCLUSIVE, [PAIRS_UNFIT] = PAIRS_EXIT_INVALID};
    char words[COMPARE_TEXT];

    if (pairs->exact && pairs->changes->n > 0)
        return COMPARE_EXIT_CHANGED;
    if (pairs->aa)
        return statuses[pairs_fit(pairs, words)];
    if (pairs_false_alarms(pairs) > 0)
        return PAIRS_EXIT_INVALID;
    if (pairs->count[PAIRS_REGRESSED] > 0 || pairs->all.verdict == PAIRS_REGRESSED)
        return PAIRS_EXIT_REGRESSED;
    if (pairs->count[PAIRS_INVALID] > 0 || pairs->all.verdict == PAIRS_INVALID)
        return PAIRS_EXIT_INVALID;
    if (pairs->strict &&
        (pairs->count[PAIRS_INCONCLUSIVE] > 0 || pairs->all.verdict == PAIRS_INCONCLUSIVE))
        return PAIRS_EXIT_INCONCLUSIVE;
    return 0;
}
