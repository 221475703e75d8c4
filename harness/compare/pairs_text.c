/* compare/pairs_text.c: what came of the pairs, for people: what all cells together show, then
 * cells from the slowest on, then what could not have been found. */
#include "compare/pairs.h"

#include "analysis/words.h"
#include "files/text_out.h"

#include <math.h>

enum {
    NUMBERS = sizeof((struct pairs_row *)0)->ratio,
    POWER = sizeof((struct pairs_row *)0)->rest,
    GLOBAL = 2 * COMPARE_TEXT
};

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
    snprintf(text, NUMBERS, "%.3f", judged->ratio);
    if (isnan(judged->lo))
        text_add(text, NUMBERS, " [no interval]");
    else
        text_add(text, NUMBERS, " [%.3f, %.3f]", judged->lo, judged->hi);
    text_add(text, NUMBERS, ", p %.2g", fmin(judged->p_slower, judged->p_faster));
}

/* "1.051 [1.040, 1.062], p 0.0024, REGRESSED": what is said of means. */
static void cost_words(const struct pairs_judged *cost, char text[NUMBERS])
{
    number_words(cost, text);
    text_add(text, NUMBERS, ", %s", pairs_verdict_words[cost->verdict]);
}

/* "finds 2.1 %", what it takes, and how many pairs were disturbed. */
static void power_words(const struct pairs *pairs, size_t cell, char text[POWER])
{
    const struct pairs_judged *judged = &pairs->judged[cell];
    const struct pairs_disturbed disturbed = pairs_disturbed_of(pairs, cell);

    snprintf(text, POWER, "finds %.1f %%", 100 * (judged->detectable - 1));
    if (judged->needed > 0)
        text_add(text, POWER, "; %.0f %% takes %zu pairs", 100 * (PAIRS_ASKED - 1), judged->needed);
    if (disturbed.pairs > 0)
        text_add(text, POWER, "; disturbed: %zu of %zu pairs", disturbed.pairs, pairs->n);
    if (pairs_false_alarm(pairs, judged))
        text_add(text, POWER, "; a false alarm");
    if (judged->reason[0] != '\0')
        text_add(text, POWER, "; %s", judged->reason);
}

/* "5 of 24 pairs, in a launch of which ..." */
static void disturbed_words(const struct pairs *pairs, char text[GLOBAL])
{
    const struct pairs_disturbed disturbed = pairs_disturbed_of(pairs, pairs->cells);

    snprintf(text, GLOBAL, "%zu of %zu pairs", disturbed.pairs, pairs->cells * pairs->n);
    if (disturbed.unknown > 0)
        text_add(text, GLOBAL, " (not known of %zu)", disturbed.unknown);
    text_add(text, GLOBAL, ". That is, of the time of the cores of a launch there went");
    for (size_t i = 0; i < REPORT_ELSEWHERE; ++i)
        text_add(text, GLOBAL, "%s more than %.0f %% to %s (%zu pairs)", i == 0 ? "" : ", or",
                 100 * report_elsewhere[i].limit, report_elsewhere[i].to, disturbed.by[i]);
    if (pairs->allow_disturbed)
        text_add(text, GLOBAL,
                 ". They count like all others (--allow-disturbed): as the order is drawn, it "
                 "happens to OLD as often as to NEW");
    else
        text_add(text, GLOBAL,
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

static void fill_row(const void *of, size_t cell, struct pairs_row *row)
{
    const struct pairs *pairs = of;
    const struct pairs_judged *judged = &pairs->judged[cell];
    const struct pairs_launch *old = &pairs->pair[cell].launch[PAIRS_OLD];

    snprintf(row->verdict, sizeof row->verdict, "%s%s", same_words(pairs),
             pairs_verdict_words[judged->verdict]);
    pairs_cell_words(pairs, cell, PAIRS_OLD, row->name);
    if (pairs->arm[PAIRS_NEW].options)
        pairs_cell_words(pairs, cell, PAIRS_NEW, row->against);
    if (judged->verdict == PAIRS_INVALID) {
        snprintf(row->rest, sizeof row->rest, "%s", judged->reason);
        return;
    }
    number_words(judged, row->ratio);
    cost_words(&pairs->cost[cell], row->cost);
    power_words(pairs, cell, row->rest);
    if (old->rule == COMPARE_LEAST)
        snprintf(row->few, sizeof row->few, " (few: the minimum of %zu steps)", old->steps);
}

struct pairs_rows pairs_rows_of(const struct pairs *pairs)
{
    return (struct pairs_rows){pairs->cells, "NEW/OLD", "", pairs, fill_row, pairs->sorted};
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
    char disturbed[GLOBAL], alarms[COMPARE_TEXT], counts[REPORT_CELL_TEXT] = "";
    char costs[REPORT_CELL_TEXT] = "", look[REPORT_CELL_TEXT] = "";
    const double looks = (double)pairs->looks;

    pairs_counts(pairs->count, counts);
    compare_say(stream, 2, "Cells: %zu: %s. Pairs of each: %zu. Exact numbers that changed: %zu.",
                pairs->cells, counts, pairs->n, pairs->changes->n);
    pairs_look_words(pairs, look);
    if (look[0] != '\0')
        compare_say(stream, 2, "%s.", look);
    pairs_counts(pairs->count_cost, costs);
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
    pairs_say_open(stream, pairs->count);
}

int pairs_text(FILE *stream, const struct pairs *pairs)
{
    const struct pairs_rows rows = pairs_rows_of(pairs);
    const struct exact_names names = pairs_names(pairs);
    char global[GLOBAL];

    if (pairs->aa) {
        fit_words(pairs, global);
        compare_say(stream, 2, "%s.", global);
    }
    global_words(pairs, global);
    compare_say(stream, 2, "%s", global);
    say_arms(stream, pairs);
    compare_say(stream, 2, "%s", class_words);
    fputc('\n', stream);
    pairs_rows_text(stream, &rows);
    exact_text(stream, pairs->changes, &names);
    fputc('\n', stream);
    if (pairs->count[PAIRS_INVALID] < pairs->cells)
        compare_say(stream, 2,
                    "In about 80 of 100 comparisons, %zu pairs find a change of %.1f %% in a cell "
                    "(the median of the cells), and of %.1f %% in all cells together.",
                    pairs->n, 100 * (pairs->detectable - 1), 100 * (pairs->all.detectable - 1));
    say_sums(stream, pairs);
    return 0;
}

static void list_sums(struct text_out *out, const struct pairs *pairs)
{
    char disturbed[GLOBAL], counts[REPORT_CELL_TEXT] = "", look[REPORT_CELL_TEXT] = "";

    pairs_counts(pairs->count, counts);
    text_print(out,
               "* %s\n* OLD: %s, %s; NEW: %s, %s\n* Cells: %s; pairs of each: %zu\n"
               "* Exact numbers that changed: %zu\n",
               class_words, program_of(pairs, PAIRS_OLD), pairs->arm[PAIRS_OLD].version,
               program_of(pairs, PAIRS_NEW), pairs->arm[PAIRS_NEW].version, counts, pairs->n,
               pairs->changes->n);
    pairs_look_words(pairs, look);
    if (look[0] != '\0')
        text_print(out, "* %s\n", look);
    disturbed_words(pairs, disturbed);
    text_print(out, "* Disturbed: %s\n\n", disturbed);
}

int pairs_markdown(FILE *stream, const struct pairs *pairs)
{
    struct text_out out = {.file = stream, .form = TEXT_MARKDOWN};
    const struct pairs_rows rows = pairs_rows_of(pairs);
    const struct exact_names names = pairs_names(pairs);
    char global[GLOBAL];

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
    pairs_rows_markdown(&out, &rows);
    exact_markdown(&out, pairs->changes, &names);
    return 0;
}
