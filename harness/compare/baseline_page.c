/* compare/baseline_page.c: a session against a baseline, and a baseline, for people and for
 * programs. */
#include "compare/baseline.h"

#include "analysis/analysis.h"
#include "record/json.h"
#include "text/quantity.h"

#include <jansson.h>
#include <math.h>

/* Adds the deviation of the sessions, the ratio that they find, and how many sessions find
 * PAIRS_ASKED: "sd 0.5 %; finds 6.1 %; 5 % takes 14 ..". */
static void add_power(const struct baseline_judged *judged, char text[REPORT_CELL_TEXT])
{
    if (!isnan(judged->sd))
        report_add(text, "sd %.1f %%; ", 100 * (exp(judged->sd) - 1));
    if (isnan(judged->detectable))
        report_add(text, "one session has no spread");
    else
        report_add(text, "finds %.1f %%", 100 * (judged->detectable - 1));
    if (judged->needed > 0)
        report_add(text, "; %.0f %% takes %zu sessions", 100 * (PAIRS_ASKED - 1), judged->needed);
    else if (!isnan(judged->detectable))
        report_add(text, "; %.0f %% takes a steadier machine", 100 * (PAIRS_ASKED - 1));
}

/* ---- a comparison ---- */

static void describe_compare(const void *of, struct compare_page *page)
{
    static const char *const not_a_gate[PAIRS_VERDICTS] = {
        "EQUIVALENT, not a gate", "IMPROVED, not a gate", "REGRESSED, not a gate",
        "INCONCLUSIVE, not a gate", "INVALID"};
    static const enum pairs_verdict from_worst[PAIRS_VERDICTS] = {
        PAIRS_REGRESSED, PAIRS_INVALID, PAIRS_INCONCLUSIVE, PAIRS_IMPROVED, PAIRS_EQUIVALENT};
    const struct baseline_compare *compare = of;
    const struct baseline *baseline = &compare->baseline;
    const struct record_run *run = &compare->source.file.run;
    const bool gate = baseline_is_gate(baseline);
    char counts[REPORT_CELL_TEXT] = "", worst[COMPARE_TEXT] = "";

    pairs_counts(compare->count, counts);
    page->ratio = "NEW/mean";
    page->gate = gate ? "" : ", not a gate";
    page->side[COMPARE_A] = "last session";
    page->side[COMPARE_B] = "NEW";
    page->verdicts = gate ? pairs_verdict_words : not_a_gate;
    page->n_verdicts = PAIRS_VERDICTS;
    page->changes = compare->changes;
    page->exact = compare->options->exact;
    compare_say(page, COMPARE_FOOT,
                "Baseline: %s: %zu sessions of %zu cells, commits %.12s to %.12s", baseline->path,
                baseline->sessions, baseline->cells, baseline->lines.line[0].git_sha,
                baseline->lines.line[baseline->lines.n - 1].git_sha);
    compare_say(page, COMPARE_FOOT, "NEW: %s: run %s of %s, commit %.12s, %d launch%s",
                compare->source.path, run->run_id, run->created_utc, run->git_sha, run->launches,
                run->launches == 1 ? "" : "es");
    if (compare->invalid[0] != '\0')
        compare_say(page, COMPARE_TITLE, "INVALID: %s", compare->invalid);
    compare_say(page, COMPARE_FOOT,
                "Evidence class II, history: one session against the sessions of a baseline. The "
                "unit is the session.");
    for (size_t c = 0; c < baseline->cells; ++c) {
        const struct baseline_judged *judged = &compare->judged[c];
        const bool invalid = judged->verdict == PAIRS_INVALID;
        struct compare_point *point =
            compare_add_point(page, &baseline->lines.line[c].key, judged->verdict,
                              gate || invalid ? pairs_export_states[judged->verdict]
                              : judged->verdict == PAIRS_EQUIVALENT ? EXPORT_OPEN
                                                                    : EXPORT_DOUBTFUL);

        point->hidden = compare->invalid[0] != '\0';
        point->launches = (size_t)run->launches;
        point->value[COMPARE_TIME] = (struct export_value){judged->ratio, judged->lo, judged->hi};
        point->value[COMPARE_COST].middle = judged->cost;
        point->value[COMPARE_DETECTABLE].middle = judged->detectable;
        snprintf(point->verdict, sizeof point->verdict, "%s", pairs_verdict_words[judged->verdict]);
        if (invalid) {
            snprintf(point->rest, sizeof point->rest, "%s", judged->reason);
            continue;
        }
        snprintf(point->ratio, sizeof point->ratio, "%.3f [%.3f, %.3f]", judged->ratio, judged->lo,
                 judged->hi);
        snprintf(point->cost, sizeof point->cost, "%.3f", judged->cost);
        add_power(judged, point->rest);
    }
    /* The worst verdict that a cell has is the answer. */
    for (size_t i = 0; i < PAIRS_VERDICTS && worst[0] == '\0'; ++i)
        compare_worst_words(page, from_worst[i], worst);
    if (compare->invalid[0] == '\0')
        compare_say(page, COMPARE_TITLE, "%s, against the mean of %zu sessions%s.", worst,
                    baseline->sessions, page->gate);
    compare_say(page, COMPARE_TITLE,
                "Cells: %zu: %s%s. Only in the new session: %zu; oversubscribed there: %zu. Exact "
                "numbers that changed: %zu.",
                baseline->cells, counts, page->gate, compare->only_new, compare->source.crowded,
                compare->changes->n);
    if (compare->invalid[0] == '\0' && !gate)
        compare_say(page, COMPARE_HEAD,
                    "%zu sessions make no gate: the exit status does not say REGRESSED. It takes "
                    "%zu more.",
                    baseline->sessions, BASELINE_GATE - baseline->sessions);
    report_add(page->summary, "%s, %zu changed. Only in the new session: %zu%s", counts,
               compare->changes->n, compare->only_new, gate ? "" : ". This is not a gate");
}

static json_t *head_json(const char *schema, const struct baseline *baseline)
{
    json_t *sessions = json_array();

    for (size_t s = 0; s < baseline->sessions; ++s) {
        const struct baseline_line *line = &baseline->lines.line[s * baseline->cells];

        json_array_append_new(sessions,
                              value_object("run_id:t created_utc:t git_sha:t machine_instance:t",
                                           line->run_id, line->created_utc, line->git_sha,
                                           line->machine_instance));
    }
    return value_object("schema:t baseline:t machine_class:t blas:t gate:b sittings:o", schema,
                        baseline->path, baseline->lines.line[0].machine_class,
                        baseline->lines.line[0].blas, baseline_is_gate(baseline), sessions);
}

static json_t *spread_json(const struct baseline *baseline, const struct baseline_judged *judged,
                           size_t cell)
{
    return value_object("cell:o floor_ns:r sitting_sd_log:r detectable:r sittings_for_5_percent:p",
                        value_key(&baseline->lines.line[cell].key), exp(judged->mean), judged->sd,
                        judged->detectable, judged->needed);
}

static json_t *compare_json(const void *of)
{
    const struct baseline_compare *compare = of;
    const struct baseline *baseline = &compare->baseline;
    const struct record_run *run = &compare->source.file.run;
    json_t *cells = json_array();

    for (size_t c = 0; c < baseline->cells; ++c) {
        const struct baseline_judged *judged = &compare->judged[c];
        json_array_append_new(cells,
                              value_add(spread_json(baseline, judged, c),
                                        "verdict:t reason:t ratio:r lo:r hi:r cost:r",
                                        pairs_verdict_words[judged->verdict], judged->reason,
                                        judged->ratio, judged->lo, judged->hi, judged->cost));
    }
    return value_add(
        head_json("lockstep/compare/1.0", baseline),
        "class:t new:{path:t run_id:t created_utc:t git_sha:t} invalid:t "
        "rule:{alpha:r margin:r delta:r alike:r} cells:o changes:o only_new:n oversubscribed:n "
        "exit:i",
        "II", compare->source.path, run->run_id, run->created_utc, run->git_sha,
        compare->invalid[0] != '\0' ? compare->invalid : NULL, BASELINE_ALPHA, PAIRS_MARGIN,
        PAIRS_DELTA, PAIRS_ALIKE, cells, exact_changes_json(compare->changes), compare->only_new,
        compare->source.crowded, baseline_exit(compare));
}

const struct compare_judge baseline_compare_judge = {describe_compare, compare_json};

/* ---- `lockstep compare baseline show` ---- */

static void describe_show(const void *of, struct compare_page *page)
{
    const struct baseline_compare *shown = of;
    const struct baseline *baseline = &shown->baseline;
    const struct baseline_line *first = baseline->lines.line;
    char floor[UNITS_BYTES];

    compare_say(page, COMPARE_TITLE, "%s: %zu sessions of %zu cells, class of machine %.12s",
                baseline->path, baseline->sessions, baseline->cells, first->machine_class);
    compare_say(page, COMPARE_HEAD, "library of matrix products: %s",
                first->blas[0] != '\0' ? first->blas : "not known");
    for (size_t s = 0; s < baseline->sessions; ++s) {
        const struct baseline_line *line = &first[s * baseline->cells];

        compare_say(page, COMPARE_HEAD, "%zu: %s, run %s, commit %.12s, start %.12s", s + 1,
                    line->created_utc, line->run_id, line->git_sha, line->machine_instance);
    }
    for (size_t c = 0; c < baseline->cells; ++c) {
        struct compare_point *point = compare_add_point(page, &first[c].key, 0, EXPORT_OPEN);

        report_add(point->rest, "floor %s; ", units_time(exp(shown->judged[c].mean), floor));
        add_power(&shown->judged[c], point->rest);
    }
    compare_say(page, COMPARE_FOOT,
                "sd: standard deviation of the sessions. Finds: the change that one more session "
                "shows in about 80 of 100 comparisons. A comparison takes %d sessions, a gate %d.",
                BASELINE_LEAST, BASELINE_GATE);
}

static json_t *show_json(const void *of)
{
    const struct baseline_compare *shown = of;
    json_t *cells = json_array();

    for (size_t c = 0; c < shown->baseline.cells; ++c)
        json_array_append_new(cells, spread_json(&shown->baseline, &shown->judged[c], c));
    return value_add(head_json(BASELINE_SCHEMA, &shown->baseline), "cells:o", cells);
}

const struct compare_judge baseline_show_judge = {describe_show, show_json};
