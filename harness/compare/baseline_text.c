/* compare/baseline_text.c: a sitting against a baseline, and a baseline, for people. */
#include "compare/baseline.h"

#include "files/text_out.h"
#include "report/page.h"
#include "text/units.h"

#include <math.h>
#include <string.h>

enum { SHOWN = 50 };

static const char class_words[] =
    "Evidence class II, history: one sitting against the sittings of a baseline. The unit is the "
    "sitting.";

/* "not a gate: ", where the verdicts are none. */
static const char *gate_words(const struct baseline *baseline)
{
    return baseline_is_gate(baseline) ? "" : ", not a gate";
}

/* "finds 6.1 %; 5 % takes 14 sittings" */
static void power_words(const struct baseline_judged *judged, char text[96])
{
    int used = isnan(judged->detectable)
                   ? snprintf(text, 96, "one sitting has no spread")
                   : snprintf(text, 96, "finds %.1f %%", 100 * (judged->detectable - 1));

    if (judged->needed > 0)
        snprintf(text + used, 96 - (size_t)used, "; %.0f %% takes %zu sittings",
                 100 * (PAIRS_ASKED - 1), judged->needed);
    else if (!isnan(judged->detectable))
        snprintf(text + used, 96 - (size_t)used, "; %.0f %% takes a steadier machine",
                 100 * (PAIRS_ASKED - 1));
}

static void say_cell(FILE *stream, const struct baseline_compare *compare, size_t cell)
{
    const struct baseline *baseline = &compare->baseline;
    const struct baseline_judged *judged = &compare->judged[cell];
    char name[COMPARE_TEXT], power[96];

    if (compare->invalid[0] != '\0')
        return;
    compare_cell_words(&baseline->lines.line[cell].key, name);
    compare_say(stream, 4, "%-12s  %s%s", pairs_verdict_words[judged->verdict], name,
                gate_words(baseline));
    if (judged->verdict == PAIRS_INVALID) {
        compare_say(stream, 4, "  %s", judged->reason);
        return;
    }
    power_words(judged, power);
    compare_say(stream, 4, "  NEW/mean %.3f [%.3f, %.3f]; cost %.3f; sd %.1f %%; %s", judged->ratio,
                judged->lo, judged->hi, judged->cost, 100 * (exp(judged->sd) - 1), power);
}

void baseline_cell_verdict(const struct baseline_compare *compare, size_t cell,
                           char text[REPORT_CELL_TEXT])
{
    const struct baseline_judged *judged = &compare->judged[cell];
    const bool invalid = judged->verdict == PAIRS_INVALID;
    char power[96];

    report_add(text, "%s%s: ", pairs_verdict_words[judged->verdict],
               invalid ? "" : gate_words(&compare->baseline));
    if (invalid) {
        report_add(text, "%s", judged->reason);
        return;
    }
    power_words(judged, power);
    report_add(text, "NEW/mean %.3f [%.3f, %.3f]; cost %.3f; sd %.1f %%; %s", judged->ratio,
               judged->lo, judged->hi, judged->cost, 100 * (exp(judged->sd) - 1), power);
}

static void say_sums(FILE *stream, const struct baseline_compare *compare)
{
    const size_t *count = compare->count;

    compare_say(stream, 2,
                "Cells: %zu: %zu REGRESSED, %zu INCONCLUSIVE, %zu EQUIVALENT, %zu IMPROVED, %zu "
                "INVALID%s. Only in the new sitting: %zu; oversubscribed there: %zu. Exact numbers "
                "that changed: %zu.",
                compare->baseline.cells, count[PAIRS_REGRESSED], count[PAIRS_INCONCLUSIVE],
                count[PAIRS_EQUIVALENT], count[PAIRS_IMPROVED], count[PAIRS_INVALID],
                gate_words(&compare->baseline), compare->only_new, compare->source.crowded,
                compare->changes->n);
    if (compare->invalid[0] != '\0')
        return;
    compare_say(stream, 2,
                "The interval is that in which one more sitting lies (Student's t, bounds of %g / "
                "%zu each; sittings are taken to be independent and normal). REGRESSED: it lies "
                "above %.2f, and the ratio is %.2f or more. EQUIVALENT: it lies within %.0f %%. "
                "Cost: ratio of mean steps, judged by nothing. sd: standard deviation of the "
                "sittings.",
                BASELINE_ALPHA, compare->baseline.cells, PAIRS_MARGIN, PAIRS_DELTA,
                100 * (PAIRS_ALIKE - 1));
    if (!baseline_is_gate(&compare->baseline))
        compare_say(stream, 2,
                    "%zu sittings make no gate: the exit status does not say REGRESSED. It takes "
                    "%zu more.",
                    compare->baseline.sittings, BASELINE_GATE - compare->baseline.sittings);
    if (count[PAIRS_INCONCLUSIVE] > 0)
        compare_say(stream, 2,
                    "INCONCLUSIVE: a change is not shown. That is no evidence that there is none.");
}

int baseline_text(FILE *stream, const struct baseline_compare *compare)
{
    const struct baseline *baseline = &compare->baseline;
    const struct record_run *run = &compare->source.file.run;
    const struct exact_names names = baseline_names(compare);

    compare_say(stream, 2, "Baseline: %s: %zu sittings of %zu cells, commits %.12s to %.12s",
                baseline->path, baseline->sittings, baseline->cells,
                baseline->lines.line[0].git_sha,
                baseline->lines.line[baseline->lines.n - 1].git_sha);
    compare_say(stream, 2, "NEW: %s: run %s of %s, commit %.12s, %d launches", compare->source.path,
                run->run_id, run->created_utc, run->git_sha, run->launches);
    if (compare->invalid[0] != '\0')
        compare_say(stream, 2, "INVALID: %s", compare->invalid);
    compare_say(stream, 2, "%s", class_words);
    fputc('\n', stream);
    for (size_t c = 0; c < baseline->cells; ++c)
        say_cell(stream, compare, c);
    exact_text(stream, compare->changes, &names);
    if (compare->invalid[0] == '\0' || compare->changes->n > 0)
        fputc('\n', stream);
    say_sums(stream, compare);
    return 0;
}

static void cell_row(struct text_out *out, const struct baseline_compare *compare, size_t cell)
{
    const struct baseline_judged *judged = &compare->judged[cell];
    char name[COMPARE_TEXT], ratio[64] = "", cost[32] = "", power[96] = "";

    compare_cell_words(&compare->baseline.lines.line[cell].key, name);
    if (judged->verdict != PAIRS_INVALID) {
        snprintf(ratio, sizeof ratio, "%.3f [%.3f, %.3f]", judged->ratio, judged->lo, judged->hi);
        snprintf(cost, sizeof cost, "%.3f", judged->cost);
        power_words(judged, power);
    }
    text_print(out, "| %s | %s | %s | %s | %s |\n", pairs_verdict_words[judged->verdict], name,
               ratio, cost, judged->verdict == PAIRS_INVALID ? judged->reason : power);
}

int baseline_markdown(FILE *stream, const struct baseline_compare *compare)
{
    struct text_out out = {.file = stream, .form = TEXT_MARKDOWN};
    const struct baseline *baseline = &compare->baseline;
    const struct exact_names names = baseline_names(compare);
    const size_t *count = compare->count;

    text_print(&out,
               "### Against %s: %zu REGRESSED, %zu INCONCLUSIVE, %zu EQUIVALENT, %zu IMPROVED, %zu "
               "INVALID%s\n\n* %s\n* %zu sittings; new: %s\n* Exact numbers that changed: %zu\n",
               baseline->path, count[PAIRS_REGRESSED], count[PAIRS_INCONCLUSIVE],
               count[PAIRS_EQUIVALENT], count[PAIRS_IMPROVED], count[PAIRS_INVALID],
               gate_words(baseline), class_words, baseline->sittings, compare->source.path,
               compare->changes->n);
    if (compare->invalid[0] != '\0')
        text_print(&out, "* INVALID: %s\n", compare->invalid);
    else
        text_print(&out, "\n| verdict | cell | NEW/mean | cost | can find, or why not |\n"
                         "|---|---|--:|--:|---|\n");
    for (size_t c = 0; c < baseline->cells && c < SHOWN && compare->invalid[0] == '\0'; ++c)
        cell_row(&out, compare, c);
    if (baseline->cells > SHOWN && compare->invalid[0] == '\0')
        text_print(&out, "\n%zu more are not shown.\n", baseline->cells - SHOWN);
    exact_markdown(&out, compare->changes, &names);
    return 0;
}

int baseline_show_text(FILE *stream, const struct baseline *baseline,
                       const struct baseline_judged judged[])
{
    char name[COMPARE_TEXT], power[96], floor[UNITS_BYTES], spread[48] = "";

    compare_say(stream, 2, "%s: %zu sittings of %zu cells, class of machine %.12s", baseline->path,
                baseline->sittings, baseline->cells, baseline->lines.line[0].machine_class);
    compare_say(stream, 4, "  library of matrix products: %s",
                baseline->lines.line[0].blas[0] != '\0' ? baseline->lines.line[0].blas
                                                        : "not known");
    for (size_t s = 0; s < baseline->sittings; ++s) {
        const struct baseline_line *line = &baseline->lines.line[s * baseline->cells];

        compare_say(stream, 4, "  %zu: %s, run %s, commit %.12s, start %.12s", s + 1,
                    line->created_utc, line->run_id, line->git_sha, line->machine_instance);
    }
    fputc('\n', stream);
    for (size_t c = 0; c < baseline->cells; ++c) {
        compare_cell_words(&baseline->lines.line[c].key, name);
        power_words(&judged[c], power);
        if (baseline->sittings > 1)
            snprintf(spread, sizeof spread, "sd %.1f %%; ", 100 * (exp(judged[c].sd) - 1));
        compare_say(stream, 4, "%s", name);
        compare_say(stream, 4, "  floor %s; %s%s", units_time(exp(judged[c].mean), floor), spread,
                    power);
    }
    fputc('\n', stream);
    compare_say(stream, 2,
                "sd: standard deviation of the sittings. Finds: the change that one more "
                "sitting shows in about 80 of 100 comparisons. A comparison takes %d sittings, a "
                "gate %d.",
                BASELINE_LEAST, BASELINE_GATE);
    return 0;
}
