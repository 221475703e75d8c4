/* compare/pairs_page.c: the results of pairs: first for all cells together, then for the cells from
 * the slowest on, then the ratios that could not have been found; and their figure. */
#include "compare/pairs.h"

#include "analysis/analysis.h"
#include "command/command.h"
#include "plot/plot.h"
#include "record/record.h"

#include <math.h>
#include <string.h>

enum { NUMBERS = sizeof((struct compare_point *)0)->ratio };

const enum export_state pairs_export_states[PAIRS_VERDICTS] = {[PAIRS_EQUIVALENT] = EXPORT_PASSED,
                                                               [PAIRS_IMPROVED] = EXPORT_PASSED,
                                                               [PAIRS_REGRESSED] = EXPORT_FAILED,
                                                               [PAIRS_INCONCLUSIVE] =
                                                                   EXPORT_DOUBTFUL,
                                                               [PAIRS_INVALID] = EXPORT_BROKEN};

void pairs_cell_words(const struct pairs *pairs, size_t cell, int arm, char text[COMPARE_TEXT])
{
    struct record_cell planned;

    cell_identify(&pairs->arm[arm].plan[cell], &planned);
    compare_cell_words(&planned.key, text);
}

void pairs_counts(const size_t count[PAIRS_VERDICTS], char text[REPORT_CELL_TEXT])
{
    report_add(text, "%zu REGRESSED, %zu INCONCLUSIVE, %zu EQUIVALENT, %zu IMPROVED, %zu INVALID",
               count[PAIRS_REGRESSED], count[PAIRS_INCONCLUSIVE], count[PAIRS_EQUIVALENT],
               count[PAIRS_IMPROVED], count[PAIRS_INVALID]);
}

/* Writes "1.050 [1.041, 1.060], p 0.0024", with the p of the side on which it lies. */
static void number_words(const struct pairs_judged *judged, char text[NUMBERS])
{
    snprintf(text, NUMBERS, "%.3f", judged->ratio);
    if (isnan(judged->lo))
        text_add(text, NUMBERS, " [no interval]");
    else
        text_add(text, NUMBERS, " [%.3f, %.3f]", judged->lo, judged->hi);
    text_add(text, NUMBERS, ", p %.2g", fmin(judged->p_slower, judged->p_faster));
}

/* Adds a point with its numbers. The cost is that of means: "1.051 [1.040, 1.062], p 0.0024,
 * REGRESSED". */
static struct compare_point *add_pairs_point(const struct pairs *pairs,
                                             const struct record_key *key,
                                             const struct pairs_judged *judged,
                                             const struct pairs_judged *cost,
                                             struct compare_page *page)
{
    struct compare_point *point = compare_add_point(
        page, key, judged->verdict,
        pairs_false_alarm(pairs, judged) ? EXPORT_BROKEN : pairs_export_states[judged->verdict]);

    point->launches = pairs->n;
    point->value[COMPARE_TIME] = (struct export_value){judged->ratio, judged->lo, judged->hi};
    point->value[COMPARE_COST] = (struct export_value){cost->ratio, cost->lo, cost->hi};
    point->value[COMPARE_DETECTABLE].middle = judged->detectable;
    snprintf(point->verdict, sizeof point->verdict, "%s%s", pairs->same ? "A/A " : "",
             pairs_verdict_words[judged->verdict]);
    return point;
}

static void describe_pairs_cell(const struct pairs *pairs, size_t cell, struct compare_page *page)
{
    const struct pairs_judged *judged = &pairs->judged[cell], *cost = &pairs->cost[cell];
    const struct pairs_launch *old = &pairs->pair[cell].launch[PAIRS_OLD];
    const struct pairs_disturbed disturbed = pairs_disturbed_of(pairs, cell);
    struct record_cell planned;
    struct compare_point *point;
    char *rest;

    cell_identify(&pairs->arm[PAIRS_NEW].plan[cell], &planned);
    point = add_pairs_point(pairs, &planned.key, judged, cost, page);
    rest = point->rest;
    if (pairs->arm[PAIRS_NEW].options)
        memcpy(point->against, point->name, sizeof point->against);
    pairs_cell_words(pairs, cell, PAIRS_OLD, point->name);
    if (judged->verdict == PAIRS_INVALID) {
        report_add(rest, "%s", judged->reason);
        return;
    }
    number_words(judged, point->ratio);
    number_words(cost, point->cost);
    text_add(point->cost, NUMBERS, ", %s", pairs_verdict_words[cost->verdict]);
    report_add(rest, "finds %.1f %%", 100 * (judged->detectable - 1));
    if (judged->needed > 0)
        report_add(rest, "; %.0f %% takes %zu pairs", 100 * (PAIRS_ASKED - 1), judged->needed);
    if (disturbed.pairs > 0)
        report_add(rest, "; disturbed: %zu of %zu pairs", disturbed.pairs, pairs->n);
    if (pairs_false_alarm(pairs, judged))
        report_add(rest, "; a false alarm");
    if (judged->reason[0] != '\0')
        report_add(rest, "; %s", judged->reason);
    if (old->rule == COMPARE_LEAST)
        snprintf(point->more, sizeof point->more, " (few: the minimum of %zu steps)", old->steps);
}

static void describe_sums(const struct pairs *pairs, struct compare_page *page)
{
    const struct pairs_disturbed disturbed = pairs_disturbed_of(pairs, pairs->cells);
    char counts[REPORT_CELL_TEXT] = "", costs[REPORT_CELL_TEXT] = "", look[128] = "";
    char by[COMPARE_TEXT] = "";

    pairs_counts(pairs->count, counts);
    pairs_counts(pairs->count_cost, costs);
    if (pairs->looks > 1)
        snprintf(look, sizeof look, "Interim analysis %zu of %zu%s. They share the errors evenly. ",
                 pairs->look, pairs->looks, pairs->look < pairs->looks ? ": it was settled" : "");
    report_add(page->summary,
               "%s%s%s, %zu changed. Disturbed: %zu of %zu pairs. Cost, which is no gate: %s", look,
               pairs->same ? "A/A: " : "", counts, pairs->changes->n, disturbed.pairs,
               pairs->cells * pairs->n, costs);
    compare_say(page, COMPARE_HEAD,
                "%sCells: %zu: %s. Pairs of each: %zu. Exact numbers that changed: %zu.", look,
                pairs->cells, counts, pairs->n, pairs->changes->n);
    compare_say(page, COMPARE_FOOT, "Cost of the cells: %s.", costs);
    for (size_t i = 0; i < REPORT_STEAL_SOURCES; ++i)
        text_add(by, sizeof by, "%sby %s: %zu", i == 0 ? "" : ", ", report_steal_sources[i].to,
                 disturbed.by[i]);
    compare_say(page, COMPARE_FOOT, "Disturbed: %zu of %zu pairs (%s; not known: %zu)%s.",
                disturbed.pairs, pairs->cells * pairs->n, by, disturbed.unknown,
                pairs->options.allow_disturbed ? ". They count like all others (--allow-disturbed)"
                : disturbed.pairs == 0
                    ? ""
                    : ". Measure again while nothing else runs here, or on another machine; "
                      "--allow-disturbed judges all pairs");
    if (pairs_false_alarms(pairs) > 0)
        compare_say(page, COMPARE_HEAD,
                    "False alarms: %zu of %zu verdicts. Nothing is slower or faster than itself. "
                    "Chance does this in at most 1 of 10 comparisons of a program with itself, and "
                    "a machine that is not fit for this in more: compare them again, and believe "
                    "no other comparison of this machine until there is none.",
                    pairs_false_alarms(pairs), pairs->cells + 1);
    if (pairs->count[PAIRS_INVALID] < pairs->cells)
        compare_say(page, COMPARE_FOOT,
                    "In about 80 of 100 comparisons, %zu pairs find a change of %.1f %% in a cell "
                    "(the median of the cells), and of %.1f %% in all cells together.",
                    pairs->n, 100 * (pairs->detectable - 1), 100 * (pairs->all.detectable - 1));
}

static void describe_pairs(const void *of, struct compare_page *page)
{
    static const char *const same_words[PAIRS_VERDICTS] = {
        "A/A EQUIVALENT", "A/A IMPROVED", "A/A REGRESSED", "A/A INCONCLUSIVE", "INVALID"};
    static const char *const meaning[PAIRS_VERDICTS] = {
        [PAIRS_EQUIVALENT] = "alike within 3 %, and that is shown",
        [PAIRS_IMPROVED] = "faster, and that is shown",
        [PAIRS_REGRESSED] = "slower, and that is shown",
        [PAIRS_INCONCLUSIVE] = "not sure: neither a difference nor its absence is shown"};
    const struct pairs *pairs = of;
    const struct pairs_judged *all = &pairs->all, *cost = &pairs->all_cost;
    char change[COMPARE_CHANGE], words[COMPARE_TEXT], cells[2 * COMPARE_TEXT] = "";

    page->ratio = "NEW/OLD";
    page->side[PAIRS_OLD] = "OLD";
    page->side[PAIRS_NEW] = "NEW";
    page->verdicts = pairs->same ? same_words : pairs_verdict_words;
    page->n_verdicts = PAIRS_VERDICTS;
    page->changes = pairs->changes;
    page->exact = pairs->options.exact;
    for (size_t c = 0; c < pairs->cells; ++c) {
        describe_pairs_cell(pairs, c, page);
        page->order[c] = &page->point[pairs->sorted[c] - pairs->judged];
    }
    /* All cells together: rest is the verdict in words. */
    struct compare_point *together = add_pairs_point(pairs, NULL, all, cost, page);

    snprintf(together->name, sizeof together->name, "all cells together");
    report_add(together->rest, "%s", together->verdict);
    if (all->verdict != PAIRS_INVALID) {
        compare_change_words(&together->value[COMPARE_TIME], change);
        report_add(together->rest, ", all cells together: NEW takes %s: %s", change,
                   pairs_false_alarm(pairs, all)
                       ? "a false alarm of this machine, as both are the same program"
                       : meaning[all->verdict]);
    }
    report_add(together->rest, "%s%.200s", all->reason[0] != '\0' ? ": " : "", all->reason);
    for (enum pairs_verdict verdict = 0; verdict < PAIRS_VERDICTS; ++verdict)
        if (verdict != all->verdict && (verdict == PAIRS_REGRESSED || verdict == PAIRS_INVALID)) {
            compare_worst_words(page, verdict, words);
            text_add(cells, sizeof cells, "%s%s", words, words[0] != '\0' ? ". " : "");
        }
    if (pairs->options.aa) { /* how fit the machine is: this is no cell, and has no numbers */
        static const enum export_state states[PAIRS_FITNESSES] = {[PAIRS_FIT] = EXPORT_PASSED,
                                                                  [PAIRS_NOISY] = EXPORT_DOUBTFUL,
                                                                  [PAIRS_UNFIT] = EXPORT_BROKEN};
        const enum pairs_fitness fitness = pairs_fit(pairs, words);
        struct compare_point *point = compare_add_point(page, NULL, 0, states[fitness]);

        snprintf(point->name, sizeof point->name, "this machine");
        report_add(point->rest, "%s for comparisons of these cells: %s",
                   pairs_fitness_words[fitness], words);
        compare_say(page, COMPARE_TITLE, "%s.", point->rest);
    }
    compare_say(page, COMPARE_TITLE, "%s%s.", cells, together->rest);
    for (int i = 0; i < PAIRS_ARMS; ++i) {
        const struct pairs_arm *arm = &pairs->arm[i];

        compare_say(page, COMPARE_FOOT, "%s: %s%s%s: %s, SHA-256 %.12s", page->side[i],
                    arm->program ? arm->program : "this program", arm->options ? " " : "",
                    arm->options ? arm->options : "", arm->version, arm->sha256);
    }
    if (pairs->same)
        compare_say(page, COMPARE_HEAD,
                    "A/A: both are the same program with the same options: what is found here is "
                    "the comparison's own error.");
    compare_say(page, COMPARE_FOOT,
                "Evidence class I, interleaved pairs: two launches next to each other, their order "
                "drawn.");
    describe_sums(pairs, page);
}

const struct compare_judge pairs_page = {describe_pairs, pairs_json};

/* ---- the figure: a row for all cells together, and then a row per cell, from the slowest on ----
 */

enum { ROWS = 13, ROW_PIXELS = 30 };

struct subject {
    const struct pairs *pairs;
    size_t rows; /* of each panel at most */
};

static int write_forest(struct plot *plot)
{
    const struct subject *subject = plot->subject;
    const struct pairs *pairs = subject->pairs;
    const struct plot_grid grid = {
        .least = 561, .height = (int)subject->rows * ROW_PIXELS + 20, .room = 14, .columns = 1};
    struct plot_table table;

    plot->width = 760;
    snprintf(plot->footer, sizeof plot->footer, "OLD: %.100s; NEW: %.100s; %zu pairs of each",
             pairs->arm[PAIRS_OLD].version, pairs->arm[PAIRS_NEW].version, pairs->n);
    if (plot_table_open(&table, plot, &grid, "row, ratio, low, high, verdict") != 0)
        return -1;
    /* Row 0 is that of all cells together. */
    for (size_t row = 0; row <= pairs->cells; ++row) {
        const struct pairs_judged *judged = row == 0 ? &pairs->all : pairs->sorted[row - 1];
        const bool shown = judged->verdict != PAIRS_INVALID, spread = isfinite(judged->lo);
        const double ratio = shown ? judged->ratio : 1;
        char name[COMPARE_TEXT] = "all cells together", words[REPORT_CELL_TEXT] = "";

        if (row % subject->rows == 0 &&
            !plot_table_panel(&table, row == 0 ? "NEW / OLD" : "NEW / OLD, more cells",
                              "floor of a step, simultaneous intervals",
                              "right of 1: NEW is slower"))
            break;
        if (row > 0)
            pairs_cell_words(pairs, (size_t)(judged - pairs->judged), PAIRS_NEW, name);
        /* "REGRESSED 1.050: mlp:8,6,4 dp virt:2, 64 rows, f32, cpu/threads". */
        report_add(words, "%s%s", pairs->same ? "A/A " : "", pairs_verdict_words[judged->verdict]);
        if (shown)
            report_add(words, " %.3f", judged->ratio);
        report_add(words, ": %s", name);
        if (plot_table_series(&table, (size_t)judged->verdict + 1, words))
            plot_table_row(&table,
                           (const double[]){(double)table.series + 1, ratio,
                                            spread ? judged->lo : ratio,
                                            spread ? judged->hi : ratio, judged->verdict},
                           5);
    }
    return plot_table_close(&table);
}

int pairs_forest(const struct pairs *pairs, const char *directory)
{
    const size_t panels = (pairs->cells + ROWS) / ROWS; /* all panels have the same height */
    const struct subject subject = {pairs, (pairs->cells + panels) / panels};
    struct text_error err = {""};

    if (plot_alone(directory, "forest", figure_asset_forest, write_forest, &subject, &err) ==
        PLOT_OK)
        return 0;
    command_complain("lockstep compare", "no figure: %s", err.text);
    return -1;
}
