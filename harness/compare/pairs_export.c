/* compare/pairs_export.c: pairs as a set of cells for other programs. */
#include "analysis/words.h"
#include "compare/export.h"
#include "compare/pairs.h"

/* As the text says them. */
static const char *const same_words[PAIRS_VERDICTS] = {
    "A/A EQUIVALENT", "A/A IMPROVED", "A/A REGRESSED", "A/A INCONCLUSIVE", "INVALID"};

const unsigned pairs_export_states[PAIRS_VERDICTS] = {[PAIRS_EQUIVALENT] = EXPORT_PASSED,
                                                      [PAIRS_IMPROVED] = EXPORT_PASSED,
                                                      [PAIRS_REGRESSED] = EXPORT_FAILED,
                                                      [PAIRS_INCONCLUSIVE] = EXPORT_DOUBTFUL,
                                                      [PAIRS_INVALID] = EXPORT_BROKEN};

static void fill_pairs(struct export_cell *cell, const struct pairs *pairs,
                       const struct pairs_judged *judged, const struct pairs_judged *cost)
{
    cell->launches = pairs->n;
    cell->value[COMPARE_TIME] = (struct export_value){judged->ratio, judged->lo, judged->hi};
    cell->value[COMPARE_COST] = (struct export_value){cost->ratio, cost->lo, cost->hi};
    cell->value[COMPARE_DETECTABLE].middle = judged->detectable;
    compare_export_judge(cell,
                         pairs_false_alarm(pairs, judged) ? EXPORT_BROKEN
                                                          : pairs_export_states[judged->verdict],
                         judged->verdict);
}

/* What was asked for by --aa: no cell, and no numbers. */
static void add_fitness(const struct pairs *pairs, struct export_set *set)
{
    static const enum export_state states[PAIRS_FITNESSES] = {[PAIRS_FIT] = EXPORT_PASSED,
                                                              [PAIRS_NOISY] = EXPORT_DOUBTFUL,
                                                              [PAIRS_UNFIT] = EXPORT_BROKEN};
    struct export_cell *cell = export_add(set, "this machine");
    char words[COMPARE_TEXT];

    pairs_fit_verdict(pairs, cell->why);
    cell->state = states[pairs_fit(pairs, words)];
}

int pairs_export(const struct pairs *pairs, struct export_set *set)
{
    const struct exact_names names = pairs_names(pairs);
    const struct pairs_rows rows = pairs_rows_of(pairs);
    const struct pairs_disturbed disturbed = pairs_disturbed_of(pairs, pairs->cells);
    struct export_cell *cell;
    struct record_key *keys;

    if (compare_export_begin(set, pairs->same ? same_words : pairs_verdict_words, PAIRS_VERDICTS,
                             pairs->cells, pairs->changes))
        return -1;
    keys = set->keys;
    for (size_t c = 0; c < pairs->cells; ++c) {
        struct record_cell planned;

        cell_identify(&pairs->arm[PAIRS_NEW].plan[c], &planned);
        keys[c] = planned.key;
        cell = export_add_record(set, &keys[c]);
        pairs_rows_verdict(&rows, c, cell->why);
        fill_pairs(cell, pairs, &pairs->judged[c], &pairs->cost[c]);
    }
    cell = export_add(set, "all cells together");
    pairs_all_verdict(pairs, cell->why);
    fill_pairs(cell, pairs, &pairs->all, &pairs->all_cost);
    if (pairs->aa)
        add_fitness(pairs, set);
    compare_export_changes(set, pairs->changes, &names, pairs->exact);
    pairs_look_words(pairs, set->summary);
    report_add(set->summary, "%s%s", pairs->looks > 1 ? ". " : "", pairs->same ? "A/A: " : "");
    pairs_counts(pairs->count, set->summary);
    report_add(set->summary, ", %zu changed. Disturbed: %zu of %zu pairs. Cost, which is no gate: ",
               pairs->changes->n, disturbed.pairs, pairs->cells * pairs->n);
    pairs_counts(pairs->count_cost, set->summary);
    return 0;
}
