/* compare/pairs_sum.c: from launches to what is judged: a launch as its numbers, the reasons why a
 * cell is INVALID, costs, and what is counted. */
#include "compare/pairs.h"

#include "numbers/rank.h"
#include "numbers/stats.h"
#include "record/machine.h"

#include <math.h>
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

    if (machine_instance("", now) == 0 && now[0] != '\0' && strcmp(now, pairs->instance) == 0)
        return;
    snprintf(pairs->invalid.text[pairs->invalid.n++], sizeof pairs->invalid.text[0], "%s",
             now[0] == '\0' ? "the start of the machine is unknown"
                            : "the machine was started again meanwhile");
}

/* "3 of 12 pairs: new: crashed, the worker ended with status 1" */
static void check_pairs(const struct pairs *pairs, size_t cell, struct pairs_judged *judged)
{
    static const char *const arms[PAIRS_ARMS] = {"OLD", "NEW"};
    const struct pairs_pair *pair = &pairs->pair[cell * pairs->n];
    size_t bad = 0, crowded = 0, uneven = 0;
    char first[COMPARE_TEXT - 64] = "";

    for (size_t i = 0; i < pairs->n; ++i) {
        const struct pairs_launch *launch = pair[i].launch;
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
    judged->verdict = PAIRS_INVALID;
    if (pairs->invalid.n > 0)
        snprintf(judged->reason, sizeof judged->reason, "%s", pairs->invalid.text[0]);
    else if (bad > 0)
        snprintf(judged->reason, sizeof judged->reason, "not verified: %zu of %zu pairs; %s", bad,
                 pairs->n, first);
    else if (crowded > 0)
        snprintf(judged->reason, sizeof judged->reason,
                 "oversubscribed: more devices than cores, or several slots on one GPU");
    else if (uneven > 0)
        snprintf(judged->reason, sizeof judged->reason,
                 "other steps in both arms: %zu of %zu pairs", uneven, pairs->n);
    else if (!pairs_too_disturbed(pairs, cell, judged->reason))
        judged->verdict = PAIRS_INCONCLUSIVE;
}

/* Ratios of means, of a cell and of all. */
static void find_costs(struct pairs *pairs, double work[], double cost[])
{
    size_t n = 0;

    for (size_t c = 0; c < pairs->cells; ++c) {
        pairs->judged[c].cost = NAN;
        for (size_t i = 0; i < pairs->n; ++i) {
            const struct pairs_launch *launch = pairs->pair[c * pairs->n + i].launch;

            work[i] = launch[PAIRS_NEW].cost_ns / launch[PAIRS_OLD].cost_ns;
        }
        if (pairs->judged[c].verdict == PAIRS_INVALID)
            continue;
        pairs->judged[c].cost = cost[n++] = stats_median(work, pairs->n);
    }
    pairs->all.cost = stats_median(cost, n);
}

int pairs_sum_up(struct pairs *pairs)
{
    double *d = calloc(pairs->cells * pairs->n + 1, sizeof d[0]);
    double *cost = calloc(pairs->cells + 1, sizeof cost[0]), work[RANK_MOST];
    const struct pairs_data data = {d, pairs->cells, pairs->n, NULL};
    int status = -1;

    check_machine(pairs);
    for (size_t c = 0; c < pairs->cells; ++c)
        check_pairs(pairs, c, &pairs->judged[c]);
    for (size_t i = 0; d && i < pairs->cells * pairs->n; ++i)
        d[i] = log(pairs->pair[i].launch[PAIRS_NEW].floor_ns /
                   pairs->pair[i].launch[PAIRS_OLD].floor_ns);
    if (d && cost)
        status = pairs_judge_twice(pairs, &data, pairs->judged, &pairs->all);
    if (status == 0)
        status = pairs_power(&data, pairs->judged, &pairs->all);
    pairs->changes = exact_room(pairs->cells);
    if (!pairs->changes)
        status = -1;
    for (size_t c = 0; c < pairs->cells && status == 0; ++c)
        exact_compare(&pairs->side[c * PAIRS_ARMS], c, pairs->changes);
    if (status == 0)
        find_costs(pairs, work, cost);
    if (pairs->invalid.n > 0)
        memcpy(pairs->all.reason, pairs->invalid.text[0], sizeof pairs->all.reason);
    for (size_t c = 0; c < pairs->cells; ++c)
        ++pairs->count[pairs->judged[c].verdict];
    free(d);
    free(cost);
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

int pairs_exit(const struct pairs *pairs)
{
    if (pairs->exact && pairs->changes->n > 0)
        return COMPARE_EXIT_CHANGED;
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
