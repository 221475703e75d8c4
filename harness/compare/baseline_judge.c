/* compare/baseline_judge.c: `lockstep compare --baseline`: compares one more session with those
 * before it.
 *
 * The new session is compared with the interval in which one more session like the others would
 * lie. This takes the logarithms of sessions to be independent and normal, which six of them cannot
 * show. A few sessions therefore judge, but make no gate.
 *
 * The judge fails closed: a session that is not whole, verified, and of the same machine, library
 * and plan is INVALID, and so is every comparison with fewer sessions than can judge. */
#include "compare/baseline.h"

#include "command/command.h"
#include "numbers/stats.h"
#include "text/alloc.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char NAME[] = "lockstep compare";

/* ---- statistics ---- */

/* Returns by how much of the standard deviation of n sessions a new session differs from their
 * mean. */
static double spread_width(size_t n, double p)
{
    return stats_t_quantile(p, n - 1) * sqrt(1 + 1 / (double)n);
}

/* This is an approximation: it takes the deviation of the sessions for the true one. */
static double detectable_ratio(size_t n, double sd, size_t cells)
{
    const double found =
        log(PAIRS_MARGIN) +
        sd * (spread_width(n, 1 - BASELINE_ALPHA / (double)cells) + spread_width(n, 0.8));

    return exp(fmax(found, log(PAIRS_DELTA) + sd * spread_width(n, 0.8)));
}

void baseline_spread(const double x[], size_t sessions, struct baseline_judged *judged)
{
    double squares = 0, sum = 0;

    judged->mean = judged->sd = NAN;
    for (size_t i = 0; i < sessions; ++i)
        sum += x[i];
    if (sessions > 0)
        judged->mean = sum / (double)sessions;
    for (size_t i = 0; i < sessions; ++i)
        squares += (x[i] - judged->mean) * (x[i] - judged->mean);
    if (sessions > 1)
        judged->sd = sqrt(squares / (double)(sessions - 1));
}

void baseline_power(size_t sessions, size_t cells, struct baseline_judged *judged)
{
    size_t least = BASELINE_LEAST, most = BASELINE_MOST;

    judged->detectable = sessions > 1 ? detectable_ratio(sessions, judged->sd, cells) : NAN;
    judged->needed = 0;
    if (!(detectable_ratio(most, judged->sd, cells) <= PAIRS_ASKED))
        return;
    /* More sessions never find less, so a binary search is right. */
    while (least < most) {
        const size_t middle = (least + most) / 2;

        if (detectable_ratio(middle, judged->sd, cells) <= PAIRS_ASKED)
            most = middle;
        else
            least = middle + 1;
    }
    judged->needed = most;
}

void baseline_judge(const double x[], size_t sessions, double fresh, size_t cells,
                    struct baseline_judged *judged)
{
    baseline_spread(x, sessions, judged);
    judged->ratio = judged->lo = judged->hi = NAN;
    judged->verdict = PAIRS_INVALID;
    if (sessions < BASELINE_LEAST || !isfinite(judged->sd) || !isfinite(fresh))
        return;
    const double half = judged->sd * spread_width(sessions, 1 - BASELINE_ALPHA / (double)cells);

    judged->ratio = exp(fresh - judged->mean);
    judged->lo = exp(fresh - judged->mean - half);
    judged->hi = exp(fresh - judged->mean + half);
    judged->verdict = PAIRS_INCONCLUSIVE;
    if (judged->lo > PAIRS_MARGIN && judged->ratio >= PAIRS_DELTA)
        judged->verdict = PAIRS_REGRESSED;
    else if (judged->hi < 1 / PAIRS_MARGIN && judged->ratio <= 1 / PAIRS_DELTA)
        judged->verdict = PAIRS_IMPROVED;
    else if (judged->lo >= 1 / PAIRS_ALIKE && judged->hi <= PAIRS_ALIKE)
        judged->verdict = PAIRS_EQUIVALENT;
}

/* ---- a comparison ---- */

/* Returns the logarithms of the floors of a cell, one per session. */
static void find_floors(const struct baseline *baseline, size_t cell, double x[])
{
    for (size_t s = 0; s < baseline->sessions; ++s)
        x[s] = baseline->lines.line[s * baseline->cells + cell].floor_log;
}

int baseline_open(const char *command, const char *folder, const char *name,
                  struct baseline_compare *compare)
{
    struct baseline *baseline = &compare->baseline;
    struct text_error err;

    if (baseline_name(folder, name, baseline, &err) != 0 || baseline_read(baseline, &err) != 0)
        return command_refuse(command, "%s", err.text);
    if (!baseline->is_there)
        return command_refuse(command, "%s is not there: `lockstep compare baseline add` makes it",
                              baseline->path);
    double *x = cli_alloc(baseline->sessions, sizeof x[0]);

    compare->judged = cli_alloc(baseline->cells, sizeof compare->judged[0]);
    for (size_t c = 0; c < baseline->cells; ++c) {
        find_floors(baseline, c, x);
        baseline_spread(x, baseline->sessions, &compare->judged[c]);
        baseline_power(baseline->sessions, baseline->cells, &compare->judged[c]);
    }
    free(x);
    return 0;
}

void baseline_close(struct baseline_compare *compare)
{
    free(compare->judged);
    free(compare->changes);
    baseline_source_free(&compare->source);
    baseline_free(&compare->baseline);
}

static int order_key_and_line(const void *key, const void *line)
{
    return compare_key_order(key, &((const struct baseline_line *)line)->key);
}

/* fresh: the line of the new session; NULL: it does not have the cell. x: capacity for a number per
 * session. */
static void judge_fresh(struct baseline_compare *compare, size_t cell,
                        const struct baseline_line *fresh, double x[])
{
    const struct baseline *baseline = &compare->baseline;
    struct baseline_judged *judged = &compare->judged[cell];
    double costs = 0;

    judged->ratio = judged->lo = judged->hi = judged->cost = NAN;
    judged->verdict = PAIRS_INVALID;
    if (compare->invalid[0] != '\0' || !fresh) {
        snprintf(judged->reason, sizeof judged->reason, "%s",
                 compare->invalid[0] != '\0' ? compare->invalid
                                             : "the new session does not have it");
        return;
    }
    for (size_t s = 0; s < baseline->sessions; ++s) {
        const struct baseline_line *line = &baseline->lines.line[s * baseline->cells + cell];
        const bool few = strcmp(fresh->floor_statistic, compare_floor_words[COMPARE_LEAST]) == 0;

        costs += line->cost_log;
        if (strcmp(line->floor_statistic, fresh->floor_statistic) != 0 ||
            (few && line->steps != fresh->steps)) {
            snprintf(judged->reason, sizeof judged->reason,
                     "other floors: %s of %zu steps, and %s of %zu in %.120s:%zu",
                     fresh->floor_statistic, fresh->steps, line->floor_statistic, line->steps,
                     baseline->path, s * baseline->cells + cell + 1);
            return;
        }
    }
    find_floors(baseline, cell, x);
    baseline_judge(x, baseline->sessions, fresh->floor_log, baseline->cells, judged);
    if (judged->verdict == PAIRS_INVALID)
        snprintf(judged->reason, sizeof judged->reason, "a time is not a number");
    judged->cost = exp(fresh->cost_log - costs / (double)baseline->sessions);
}

int baseline_exit(const struct baseline_compare *compare)
{
    const bool gate = baseline_is_gate(&compare->baseline);

    if (compare->options->exact && compare->changes->n > 0)
        return COMPARE_EXIT_CHANGED;
    if (gate && compare->count[PAIRS_REGRESSED] > 0)
        return PAIRS_EXIT_REGRESSED;
    if (compare->count[PAIRS_INVALID] > 0)
        return PAIRS_EXIT_INVALID;
    if (compare->options->strict && (!gate || compare->count[PAIRS_INCONCLUSIVE] > 0))
        return PAIRS_EXIT_INCONCLUSIVE;
    return 0;
}

int baseline_compare_main(const struct compare_options *options)
{
    struct baseline_compare *compare = cli_alloc(1, sizeof *compare);
    size_t both = 0;
    int status;

    const struct baseline *const baseline = &compare->baseline;
    const struct baseline_lines *const lines = &compare->source.lines;
    char *const invalid = compare->invalid;

    compare->options = options;
    status = baseline_open(NAME, options->folder, options->baseline, compare);
    if (status == 0)
        status = baseline_take(NAME, options->path[0], options->allow_dirty, &compare->source);
    double *x = cli_alloc(baseline->sessions, sizeof x[0]);

    compare->changes = exact_room(baseline->cells);
    if (status == 0 && compare->source.refused.n > 0)
        snprintf(invalid, BASELINE_WHY, "%s", compare->source.refused.text[0]);
    else if (status == 0 && baseline_fits(baseline, &compare->source, false, invalid) == 0 &&
             baseline->sessions < BASELINE_LEAST)
        snprintf(invalid, BASELINE_WHY,
                 "%.200s has %zu sessions: it takes %zu more to judge, and %zu more for a gate",
                 baseline->path, baseline->sessions, BASELINE_LEAST - baseline->sessions,
                 BASELINE_GATE - baseline->sessions);
    for (size_t c = 0; status == 0 && c < baseline->cells; ++c) {
        const struct baseline_line *last =
            &baseline->lines.line[(baseline->sessions - 1) * baseline->cells + c];
        const struct baseline_line *fresh =
            bsearch(&last->key, lines->line, lines->n, sizeof lines->line[0], order_key_and_line);
        const struct baseline_line *const lines_of[COMPARE_SIDES] = {last, fresh};
        struct exact_side side[COMPARE_SIDES];

        judge_fresh(compare, c, fresh, x);
        ++compare->count[compare->judged[c].verdict];
        if (!fresh)
            continue;
        ++both;
        for (int s = 0; s < COMPARE_SIDES; ++s) {
            side[s].launches = lines_of[s]->launches;
            memcpy(side[s].n, lines_of[s]->n, sizeof side[s].n);
            memcpy(side[s].lo, lines_of[s]->exact, sizeof side[s].lo);
            memcpy(side[s].hi, lines_of[s]->exact, sizeof side[s].hi);
        }
        exact_compare(side, c, &baseline->lines.line[c].key, compare->changes);
    }
    compare->only_new = lines->n - both;
    if (status == 0 && both == 0 && invalid[0] == '\0')
        status = command_refuse(NAME, "nothing to compare: no cell of %s is in %s",
                                compare->source.path, baseline->path);
    if (status == 0)
        status = compare_print(&baseline_compare_judge, compare, baseline->cells, options->format,
                               options->verbose);
    if (status == 0)
        status = baseline_exit(compare);
    free(x);
    baseline_close(compare);
    free(compare);
    return status;
}
