/* compare/baseline_export.c: a sitting against a baseline as a set of cells for other programs.
 *
 * With too few sittings for a gate no cell passes and none fails. */
#include "analysis/words.h"
#include "compare/baseline.h"
#include "compare/export.h"

static const char *const not_a_gate[PAIRS_VERDICTS] = {
    "EQUIVALENT, not a gate", "IMPROVED, not a gate", "REGRESSED, not a gate",
    "INCONCLUSIVE, not a gate", "INVALID"};

int baseline_export(const struct baseline_compare *compare, struct export_set *set)
{
    const struct baseline *baseline = &compare->baseline;
    const struct exact_names names = baseline_names(compare);
    const struct pairs_rows rows = baseline_rows(compare);
    const bool gate = baseline_is_gate(baseline);

    if (compare_export_begin(set, gate ? pairs_verdict_words : not_a_gate, PAIRS_VERDICTS,
                             baseline->cells, compare->changes))
        return -1;
    for (size_t c = 0; c < baseline->cells; ++c) {
        const struct baseline_judged *judged = &compare->judged[c];
        const bool invalid = judged->verdict == PAIRS_INVALID;
        struct export_cell *cell = export_add_record(set, &baseline->lines.line[c].key);

        cell->launches = (size_t)compare->source.file.run.launches;
        cell->value[COMPARE_TIME] = (struct export_value){judged->ratio, judged->lo, judged->hi};
        cell->value[COMPARE_COST].middle = judged->cost;
        cell->value[COMPARE_DETECTABLE].middle = judged->detectable;
        pairs_rows_verdict(&rows, c, cell->why);
        compare_export_judge(cell,
                             gate || invalid ? pairs_export_states[judged->verdict]
                             : judged->verdict == PAIRS_EQUIVALENT ? EXPORT_OPEN
                                                                   : EXPORT_DOUBTFUL,
                             judged->verdict);
    }
    compare_export_changes(set, compare->changes, &names, compare->options->exact);
    pairs_counts(compare->count, set->summary);
    report_add(set->summary, ", %zu changed. Only in the new sitting: %zu%s", compare->changes->n,
               compare->only_new, gate ? "" : ". This is not a gate");
    return 0;
}
