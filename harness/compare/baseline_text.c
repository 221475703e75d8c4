/* compare/baseline_text.c: a sitting against a baseline, and a baseline, for people. */
#include "compare/baseline.h"

#include "analysis/words.h"
#include "files/text_out.h"
#include "text/units.h"

#include <math.h>

enum { POWER = sizeof((struct pairs_row *)0)->rest };

static const char class_words[] =
    "Evidence class II, history: one sitting against the sittings of a baseline. The unit is the "
    "sitting.";

/* "not a gate: ", where the verdicts are none. */
static const char *gate_words(const struct baseline *baseline)
{
    return baseline_is_gate(baseline) ? "" : ", not a gate";
}

/* "finds 6.1 %; 5 % takes 14 sittings" */
static void power_words(const struct baseline_judged *judged, char text[POWER])
{
    if (isnan(judged->detectable))
        snprintf(text, POWER, "one sitting has no spread");
    else
        snprintf(text, POWER, "finds %.1f %%", 100 * (judged->detectable - 1));
    if (judged->needed > 0)
        text_add(text, POWER, "; %.0f %% takes %zu sittings", 100 * (PAIRS_ASKED - 1),
                 judged->needed);
    else if (!isnan(judged->detectable))
        text_add(text, POWER, "; %.0f %% takes a steadier machine", 100 * (PAIRS_ASKED - 1));
}

/* "sd 0.5 %; ": of the sittings. */
static void spread_words(const struct baseline_judged *judged, char text[32])
{
    snprintf(text, 32, "sd %.1f %%; ", 100 * (exp(judged->sd) - 1));
}

static void fill_row(const void *of, size_t cell, struct pairs_row *row)
{
    const struct baseline_compare *compare = of;
    const struct baseline_judged *judged = &compare->judged[cell];

    snprintf(row->verdict, sizeof row->verdict, "%s", pairs_verdict_words[judged->verdict]);
    compare_cell_words(&compare->baseline.lines.line[cell].key, row->name);
    if (judged->verdict == PAIRS_INVALID) {
        snprintf(row->rest, sizeof row->rest, "%s", judged->reason);
        return;
    }
    snprintf(row->ratio, sizeof row->ratio, "%.3f [%.3f, %.3f]", judged->ratio, judged->lo,
             judged->hi);
    snprintf(row->cost, sizeof row->cost, "%.3f", judged->cost);
    spread_words(judged, row->spread);
    power_words(judged, row->rest);
}

struct pairs_rows baseline_rows(const struct baseline_compare *compare)
{
    return (struct pairs_rows){compare->baseline.cells,
                               "NEW/mean",
                               gate_words(&compare->baseline),
                               compare,
                               fill_row,
                               NULL};
}

static void say_sums(FILE *stream, const struct baseline_compare *compare)
{
    char counts[REPORT_CELL_TEXT] = "";

    pairs_counts(compare->count, counts);
    compare_say(stream, 2,
                "Cells: %zu: %s%s. Only in the new sitting: %zu; oversubscribed there: %zu. Exact "
                "numbers that changed: %zu.",
                compare->baseline.cells, counts, gate_words(&compare->baseline), compare->only_new,
                compare->source.crowded, compare->changes->n);
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
    pairs_say_open(stream, compare->count);
}

int baseline_text(FILE *stream, const struct baseline_compare *compare)
{
    const struct baseline *baseline = &compare->baseline;
    const struct record_run *run = &compare->source.file.run;
    const struct exact_names names = baseline_names(compare);
    const struct pairs_rows rows = baseline_rows(compare);

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
    if (compare->invalid[0] == '\0')
        pairs_rows_text(stream, &rows);
    exact_text(stream, compare->changes, &names);
    if (compare->invalid[0] == '\0' || compare->changes->n > 0)
        fputc('\n', stream);
    say_sums(stream, compare);
    return 0;
}

int baseline_markdown(FILE *stream, const struct baseline_compare *compare)
{
    struct text_out out = {.file = stream, .form = TEXT_MARKDOWN};
    const struct baseline *baseline = &compare->baseline;
    const struct exact_names names = baseline_names(compare);
    const struct pairs_rows rows = baseline_rows(compare);
    char counts[REPORT_CELL_TEXT] = "";

    pairs_counts(compare->count, counts);
    text_print(&out,
               "### Against %s: %s%s\n\n* %s\n* %zu sittings; new: %s\n"
               "* Exact numbers that changed: %zu\n",
               baseline->path, counts, gate_words(baseline), class_words, baseline->sittings,
               compare->source.path, compare->changes->n);
    if (compare->invalid[0] != '\0')
        text_print(&out, "* INVALID: %s\n", compare->invalid);
    else {
        text_print(&out, "\n");
        pairs_rows_markdown(&out, &rows);
    }
    exact_markdown(&out, compare->changes, &names);
    return 0;
}

int baseline_show_text(FILE *stream, const struct baseline *baseline,
                       const struct baseline_judged judged[])
{
    char name[COMPARE_TEXT], power[POWER], floor[UNITS_BYTES], spread[32] = "";

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
            spread_words(&judged[c], spread);
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
