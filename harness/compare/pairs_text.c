/* compare/pairs_text.c: what came of the pairs, for people: what all cells together show, then
 * cells from the slowest on, then what could not have been found. */
#include "compare/pairs.h"

#include "files/text_out.h"
#include "numbers/stats.h"
#include "report/page.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SHOWN = 50, NUMBERS = 160, POWER = NUMBERS + COMPARE_TEXT, GLOBAL = 2 * COMPARE_TEXT };

static const char class_words[] =
    "Evidence class I, interleaved pairs: two launches next to each other, their order drawn.";

void pairs_cell_words(const struct pairs *pairs, size_t cell, int arm, char text[COMPARE_TEXT])
{
    struct record_cell planned;

    cell_identify(&pairs->arm[arm].plan[cell], &planned);
    compare_cell_words(&planned.key, text);
}

static const char *program_of(const struct pairs *pairs, int arm)
{
    return pairs->arm[arm].program ? pairs->arm[arm].program : "this program";
}

static const char *same_words(const struct pairs *pairs)
{
    return pairs->same ? "A/A " : "";
}

/* "1.050 [1.041, 1.060], p 0.0024": of the side that it lies on. */
static void number_words(const struct pairs_judged *judged, char text[NUMBERS])
{
    const double p = fmin(judged->p_slower, judged->p_faster);
    int used = snprintf(text, NUMBERS, "%.3f", judged->ratio);

    used += isnan(judged->lo) ? snprintf(text + used, NUMBERS - (size_t)used, " [no interval]")
                              : snprintf(text + used, NUMBERS - (size_t)used, " [%.3f, %.3f]",
                                         judged->lo, judged->hi);
    snprintf(text + used, NUMBERS - (size_t)used, ", p %.2g", p);
}

/* "1.051 [1.040, 1.062], p 0.0024, REGRESSED": what is said of means. */
static void cost_words(const struct pairs_judged *cost, char text[NUMBERS])
{
    number_words(cost, text);

    const size_t used = strlen(text);

    snprintf(text + used, NUMBERS - used, ", %s", pairs_verdict_words[cost->verdict]);
}

/* "finds 2.1 %", what it takes, and how many pairs were disturbed. */
static void power_words(const struct pairs *pairs, size_t cell, char text[POWER])
{
    const struct pairs_judged *judged = &pairs->judged[cell];
    const struct pairs_disturbed disturbed = pairs_disturbed_of(pairs, cell);
    int used = snprintf(text, POWER, "finds %.1f %%", 100 * (judged->detectable - 1));

    if (judged->needed > 0)
        used += snprintf(text + used, POWER - (size_t)used, "; %.0f %% takes %zu pairs",
                         100 * (PAIRS_ASKED - 1), judged->needed);
    if (disturbed.pairs > 0)
        used += snprintf(text + used, POWER - (size_t)used, "; disturbed: %zu of %zu pairs",
                         disturbed.pairs, pairs->n);
    if (pairs_false_alarm(pairs, judged))
        used += snprintf(text + used, POWER - (size_t)used, "; a false alarm");
    if (judged->reason[0] != '\0')
        snprintf(text + used, POWER - (size_t)used, "; %s", judged->reason);
}

/* "5 of 24 pairs, in a launch of which ..." */
static void disturbed_words(const struct pairs *pairs, char text[2 * COMPARE_TEXT])
{
    const struct pairs_disturbed disturbed = pairs_disturbed_of(pairs, pairs->cells);
    const size_t all = pairs->cells * pairs->n, most = 2 * COMPARE_TEXT;
    int used = snprintf(text, most, "%zu of %zu pairs", disturbed.pairs, all);

    if (disturbed.unknown > 0)
        used +=
            snprintf(text + used, most - (size_t)used, " (not known of %zu)", disturbed.unknown);
    used += snprintf(text + used, most - (size_t)used,
                     ". That is, of the time of the cores of a launch there went");
    for (size_t i = 0; i < REPORT_ELSEWHERE; ++i)
        used += snprintf(text + used, most - (size_t)used, "%s more than %.0f %% to %s (%zu pairs)",
                         i == 0 ? "" : ", or", 100 * report_elsewhere[i].limit,
                         report_elsewhere[i].to, disturbed.by[i]);
    if (pairs->allow_disturbed)
        snprintf(text + used, most - (size_t)used,
                 ". They count like all others (--allow-disturbed): as the order is drawn, it "
                 "happens to OLD as often as to NEW");
    else
        snprintf(text + used, most - (size_t)used,
                 ". A cell with more than %.0f %% of them is INVALID, and what is not shown "
                 "without them, too, is INCONCLUSIVE%s",
                 100 * PAIRS_DISTURBED_MOST,
                 disturbed.pairs == 0 ? ""
                                      : ". Measure again while nothing else runs here, or on "
                                        "another machine; --allow-disturbed judges all pairs");
}

static void global_words(const struct pairs *pairs, char text[GLOBAL])
{
    static const char *const said[PAIRS_VERDICTS] = {
        [PAIRS_EQUIVALENT] = "in the median they take the same time within 3 %",
        [PAIRS_IMPROVED] = "they are faster",
        [PAIRS_REGRESSED] = "they are slower",
        [PAIRS_INCONCLUSIVE] = "a difference is not shown, and neither is that there is none",
        [PAIRS_INVALID] = "nothing can be said"};
    const struct pairs_judged *all = &pairs->all;
    char numbers[NUMBERS], cost[NUMBERS];

    if (all->verdict == PAIRS_INVALID) {
        snprintf(text, GLOBAL, "%s%s: %.200s", same_words(pairs), pairs_verdict_words[all->verdict],
                 all->reason);
        return;
    }
    number_words(all, numbers);
    cost_words(&pairs->all_cost, cost);
    snprintf(text, GLOBAL, "%s%s, all cells together: %s%s%.200s. NEW/OLD %s; cost %s",
             same_words(pairs), pairs_verdict_words[all->verdict],
             pairs_false_alarm(pairs, all)
                 ? "a false alarm of this machine, as both are the same program"
                 : said[all->verdict],
             all->reason[0] != '\0' ? ": " : "", all->reason, numbers, cost);
}

/* "FIT for comparisons of these cells: why", of --aa. */
static void fit_words(const struct pairs *pairs, char text[GLOBAL])
{
    char words[COMPARE_TEXT];
    const enum pairs_fitness fitness = pairs_fit(pairs, words);

    snprintf(text, GLOBAL, "%s for comparisons of these cells: %s", pairs_fitness_words[fitness],
             words);
}

void pairs_fit_verdict(const struct pairs *pairs, char text[REPORT_CELL_TEXT])
{
    char words[GLOBAL];

    fit_words(pairs, words);
    report_add(text, "%s", words);
}

void pairs_all_verdict(const struct pairs *pairs, char text[REPORT_CELL_TEXT])
{
    char words[GLOBAL];

    global_words(pairs, words);
    report_add(text, "%s", words);
}

void pairs_cell_verdict(const struct pairs *pairs, size_t cell, char text[REPORT_CELL_TEXT])
{
    const struct pairs_judged *judged = &pairs->judged[cell];
    char numbers[NUMBERS], cost[NUMBERS], power[POWER];

    report_add(text, "%s%s: ", same_words(pairs), pairs_verdict_words[judged->verdict]);
    if (judged->verdict == PAIRS_INVALID) {
        report_add(text, "%s", judged->reason);
        return;
    }
    number_words(judged, numbers);
    cost_words(&pairs->cost[cell], cost);
    power_words(pairs, cell, power);
    report_add(text, "NEW/OLD %s; cost %s; %s", numbers, cost, power);
}

static void say_cell(FILE *stream, const struct pairs *pairs, const struct pairs_place *at)
{
    const struct pairs_judged *judged = at->judged;
    const struct pairs_launch *launch = pairs->pair[at->cell].launch;
    char name[PAIRS_ARMS][COMPARE_TEXT], numbers[NUMBERS], cost[NUMBERS], power[POWER];
    char verdict[32], few[64] = "";

    for (int arm = 0; arm < PAIRS_ARMS; ++arm)
        pairs_cell_words(pairs, at->cell, arm, name[arm]);
    snprintf(verdict, sizeof verdict, "%s%s", same_words(pairs),
             pairs_verdict_words[judged->verdict]);
    compare_say(stream, 4, "%-12s  %s", verdict, name[PAIRS_OLD]);
    if (pairs->arm[PAIRS_NEW].options)
        compare_say(stream, 4, "  against %s", name[PAIRS_NEW]);
    if (judged->verdict == PAIRS_INVALID) {
        compare_say(stream, 4, "  %s", judged->reason);
        return;
    }
    number_words(judged, numbers);
    cost_words(&pairs->cost[at->cell], cost);
    power_words(pairs, at->cell, power);
    if (launch[PAIRS_OLD].rule == COMPARE_LEAST)
        snprintf(few, sizeof few, " (few: the minimum of %zu steps)", launch[PAIRS_OLD].steps);
    compare_say(stream, 4, "  NEW/OLD %s; cost %s; %s%s", numbers, cost, power, few);
}

static void say_arms(FILE *stream, const struct pairs *pairs)
{
    static const char *const arms[PAIRS_ARMS] = {"OLD", "NEW"};

    for (int i = 0; i < PAIRS_ARMS; ++i) {
        const struct pairs_arm *arm = &pairs->arm[i];

        compare_say(stream, 2, "  %s: %s%s%s: %s, SHA-256 %.12s", arms[i], program_of(pairs, i),
                    arm->options ? " " : "", arm->options ? arm->options : "", arm->version,
                    arm->sha256);
    }
    if (pairs->same)
        compare_say(stream, 2,
                    "  A/A: both are the same program with the same options: what is found here is "
                    "the comparison's own error.");
}

/* The median over cells of what could be found; valid ones only. */
static void say_power(FILE *stream, const struct pairs *pairs, double work[])
{
    size_t n = 0;

    for (size_t c = 0; c < pairs->cells; ++c)
        if (pairs->judged[c].verdict != PAIRS_INVALID)
            work[n++] = pairs->judged[c].detectable;
    if (n == 0)
        return;
    compare_say(stream, 2,
                "In about 80 of 100 comparisons, %zu pairs find a change of %.1f %% in a cell (the "
                "median of the cells), and of %.1f %% in all cells together.",
                pairs->n, 100 * (stats_median(work, n) - 1), 100 * (pairs->all.detectable - 1));
}

/* "2 of 13 verdicts ..." */
static void alarm_words(const struct pairs *pairs, char text[COMPARE_TEXT])
{
    snprintf(
        text, COMPARE_TEXT,
        "False alarms: %zu of %zu verdicts. Nothing is slower or faster than itself. Chance "
        "does this in at most 1 of 10 comparisons of a program with itself, and a machine that "
        "is not fit for this in more: compare them again, and believe no other comparison of "
        "this machine until there is none",
        pairs_false_alarms(pairs), pairs->cells + 1);
}

void pairs_look_words(const struct pairs *pairs, char text[REPORT_CELL_TEXT])
{
    if (pairs->looks > 1)
        report_add(text, "Look %zu of %zu%s. They share the errors evenly", pairs->look,
                   pairs->looks, pairs->look < pairs->looks ? ": it was settled" : "");
}

static void say_sums(FILE *stream, const struct pairs *pairs)
{
    const size_t *count = pairs->count;
    char disturbed[2 * COMPARE_TEXT], alarms[COMPARE_TEXT], costs[REPORT_CELL_TEXT] = "";
    char look[REPORT_CELL_TEXT] = "";
    const double looks = (double)pairs->looks;

    compare_say(stream, 2,
                "Cells: %zu: %zu REGRESSED, %zu INCONCLUSIVE, %zu EQUIVALENT, %zu IMPROVED, %zu "
                "INVALID. Pairs of each: %zu. Exact numbers that changed: %zu.",
                pairs->cells, count[PAIRS_REGRESSED], count[PAIRS_INCONCLUSIVE],
                count[PAIRS_EQUIVALENT], count[PAIRS_IMPROVED], count[PAIRS_INVALID], pairs->n,
                pairs->changes->n);
    pairs_look_words(pairs, look);
    if (look[0] != '\0')
        compare_say(stream, 2, "%s.", look);
    pairs_export_counts(pairs->count_cost, costs);
    compare_say(stream, 2, "Cost of the cells: %s.", costs);
    disturbed_words(pairs, disturbed);
    compare_say(stream, 2, "Disturbed: %s.", disturbed);
    alarm_words(pairs, alarms);
    if (pairs_false_alarms(pairs) > 0)
        compare_say(stream, 2, "%s.", alarms);
    compare_say(
        stream, 2,
        "REGRESSED: shown to be more than %.0f %% slower (exact signed rank, %g shared by "
        "cells after Holm, %g for all together) and by %.0f %% or more. EQUIVALENT: the "
        "simultaneous interval lies within %.0f %%. p: against the margin, of the side "
        "that is nearer. Cost: ratio of mean steps, judged by the same rule with errors of its "
        "own. It is no gate.",
        100 * (PAIRS_MARGIN - 1), PAIRS_ALPHA_CELLS / looks, PAIRS_ALPHA_ALL / looks,
        100 * (PAIRS_DELTA - 1), 100 * (PAIRS_ALIKE - 1));
    if (count[PAIRS_INCONCLUSIVE] > 0)
        compare_say(stream, 2,
                    "INCONCLUSIVE: a change is not shown. That is no evidence that there is none.");
}

int pairs_text(FILE *stream, const struct pairs *pairs)
{
    struct pairs_place *sorted = pairs_sort(pairs);
    double *work = calloc(pairs->cells + 1, sizeof work[0]);
    const struct exact_names names = pairs_names(pairs);
    char global[GLOBAL];
    const bool room = sorted && work;

    if (room) {
        if (pairs->aa) {
            fit_words(pairs, global);
            compare_say(stream, 2, "%s.", global);
        }
        global_words(pairs, global);
        compare_say(stream, 2, "%s", global);
        say_arms(stream, pairs);
        compare_say(stream, 2, "%s", class_words);
        fputc('\n', stream);
        for (size_t c = 0; c < pairs->cells; ++c)
            say_cell(stream, pairs, &sorted[c]);
        exact_text(stream, pairs->changes, &names);
        fputc('\n', stream);
        say_power(stream, pairs, work);
        say_sums(stream, pairs);
    }
    free(sorted);
    free(work);
    return room ? 0 : -1;
}

static void cell_row(struct text_out *out, const struct pairs *pairs, const struct pairs_place *at)
{
    const struct pairs_judged *judged = at->judged;
    char name[COMPARE_TEXT], ratio[NUMBERS] = "", power[POWER] = "", cost[NUMBERS] = "";

    pairs_cell_words(pairs, at->cell, PAIRS_NEW, name);
    if (judged->verdict != PAIRS_INVALID) {
        number_words(judged, ratio);
        power_words(pairs, at->cell, power);
        cost_words(&pairs->cost[at->cell], cost);
    }
    text_print(out, "| %s%s | %s | %s | %s | %s |\n", same_words(pairs),
               pairs_verdict_words[judged->verdict], name, ratio, cost,
               judged->verdict == PAIRS_INVALID ? judged->reason : power);
}

static void list_sums(struct text_out *out, const struct pairs *pairs)
{
    const size_t *count = pairs->count;
    char disturbed[2 * COMPARE_TEXT], look[REPORT_CELL_TEXT] = "";

    text_print(
        out,
        "* %s\n* OLD: %s, %s; NEW: %s, %s\n* Cells: %zu REGRESSED, %zu INCONCLUSIVE, %zu "
        "EQUIVALENT, %zu IMPROVED, %zu INVALID; pairs of each: %zu\n* Exact numbers that changed: "
        "%zu\n",
        class_words, program_of(pairs, PAIRS_OLD), pairs->arm[PAIRS_OLD].version,
        program_of(pairs, PAIRS_NEW), pairs->arm[PAIRS_NEW].version, count[PAIRS_REGRESSED],
        count[PAIRS_INCONCLUSIVE], count[PAIRS_EQUIVALENT], count[PAIRS_IMPROVED],
        count[PAIRS_INVALID], pairs->n, pairs->changes->n);
    pairs_look_words(pairs, look);
    if (look[0] != '\0')
        text_print(out, "* %s\n", look);
    disturbed_words(pairs, disturbed);
    text_print(out, "* Disturbed: %s\n\n", disturbed);
}

int pairs_markdown(FILE *stream, const struct pairs *pairs)
{
    struct text_out out = {.file = stream, .form = TEXT_MARKDOWN};
    struct pairs_place *sorted = pairs_sort(pairs);
    const struct exact_names names = pairs_names(pairs);
    char global[GLOBAL];

    if (!sorted)
        return -1;
    if (pairs->aa) {
        fit_words(pairs, global);
        text_print(&out, "### %s\n\n", global);
    }
    global_words(pairs, global);
    text_print(&out, "### %s\n\n", global);
    list_sums(&out, pairs);
    alarm_words(pairs, global);
    if (pairs_false_alarms(pairs) > 0)
        text_print(&out, "%s.\n\n", global);
    text_print(&out, "| verdict | cell | NEW/OLD | cost | can find, or why not |\n"
                     "|---|---|--:|--:|---|\n");
    for (size_t c = 0; c < pairs->cells && c < SHOWN; ++c)
        cell_row(&out, pairs, &sorted[c]);
    if (pairs->cells > SHOWN)
        text_print(&out, "\n%zu more are not shown.\n", pairs->cells - SHOWN);
    exact_markdown(&out, pairs->changes, &names);
    free(sorted);
    return 0;
}
