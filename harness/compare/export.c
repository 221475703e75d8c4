/* compare/export.c: comparisons for other programs: what their sets have in common, and two files.
 */
#include "compare/export.h"

#include "command/command.h"

#include <math.h>
#include <stdlib.h>

static const char NAME[] = "lockstep compare";

static const struct export_metric metrics[COMPARE_METRICS] = {
    [COMPARE_TIME] = {"time", "ratio", "time-ratio", 1, false},
    [COMPARE_COST] = {"cost", "ratio", "cost-ratio", 1, false},
    [COMPARE_DETECTABLE] = {"detectable", "ratio", "detectable-ratio", 1, false},
};

const char *compare_format_name(size_t format)
{
    static const char *const forms[COMPARE_FORMS] = {"text", "json", "md"};

    return format < COMPARE_FORMS ? forms[format] : export_name(format - COMPARE_FORMS);
}

int compare_export_begin(struct export_set *set, const char *const *verdicts, size_t n_verdicts,
                         size_t cells, const struct exact_changes *changes)
{
    *set = (struct export_set){
        .title = NAME,
        .launches = true,
        .prefix = "lockstep_compare_",
        .flag = "judged",
        .flag_help = "1: all launches of the cell were verified, and it has a verdict.",
        .verdicts = verdicts,
        .n_verdicts = n_verdicts,
        .parts = &export_record_parts,
        .metric = metrics,
        .n_metrics = COMPARE_METRICS,
        .github_unit = "ratio",
        .in_github = 1,
        .counted = "changed",
        .count = changes->n,
        .keys = calloc(cells + 1, sizeof(struct record_key)),
    };
    return export_open(set, cells + 2 + changes->n) == 0 && set->keys ? 0 : -1;
}

void compare_export_judge(struct export_cell *cell, enum export_state state, size_t verdict)
{
    cell->state = state;
    cell->verdict = verdict;
    cell->has_numbers = state != EXPORT_BROKEN;
    text_clean(cell->why, ' ');
}

void compare_export_changes(struct export_set *set, const struct exact_changes *changes,
                            const struct exact_names *names, bool exact)
{
    char cell[COMPARE_TEXT], name[EXPORT_NAME_BYTES];

    for (size_t i = 0; i < changes->n; ++i) {
        const struct exact_change *change = &changes->change[i];
        struct export_cell *entry;

        names->words(names->of, change->cell, cell);
        snprintf(name, sizeof name, "%s%s of %s", change->metric->name, change->where, cell);
        entry = export_add(set, name);
        entry->state = exact ? EXPORT_FAILED : EXPORT_DOUBTFUL;
        snprintf(entry->why, sizeof entry->why, "CHANGED: %s%s: %s -> %s %s, of %s",
                 change->metric->name, change->where, change->value[COMPARE_A],
                 change->value[COMPARE_B], change->metric->unit, cell);
        text_clean(entry->why, ' ');
    }
}

/* ---- two files ------------------------------------------------------------------------------- */

int compare_export(const struct compare *compare, struct export_set *set)
{
    static const enum export_state states[COMPARE_VERDICTS] = {[COMPARE_NO_EVIDENCE] = EXPORT_OPEN,
                                                               [COMPARE_SUSPECT] = EXPORT_DOUBTFUL,
                                                               [COMPARE_INVALID] = EXPORT_BROKEN,
                                                               [COMPARE_UNMEASURED] =
                                                                   EXPORT_BROKEN};
    const struct exact_names names = compare_exact_names(compare);
    const size_t *count = compare->count;

    if (compare_export_begin(set, compare_verdict_words, COMPARE_VERDICTS, compare->n_cells,
                             compare->changes))
        return -1;
    for (size_t c = 0; c < compare->n_cells; ++c) {
        const struct compare_cell *of = &compare->cell[c];
        struct export_cell *cell = export_add_record(set, of->key);

        cell->launches = of->n[COMPARE_B];
        cell->value[COMPARE_TIME] =
            (struct export_value){of->floor.ratio, of->floor.lo, of->floor.hi};
        cell->value[COMPARE_COST] = (struct export_value){of->cost.ratio, of->cost.lo, of->cost.hi};
        compare_verdict_text(of, cell->why);
        compare_export_judge(cell, states[of->verdict], of->verdict);
    }
    compare_export_changes(set, compare->changes, &names, compare->exact);
    snprintf(
        set->summary, sizeof set->summary,
        "%zu SUSPECT, %zu NO EVIDENCE, %zu INVALID, %zu measured in neither, %zu changed. Only "
        "in A: %zu, only in B: %zu. Two files are no gate",
        count[COMPARE_SUSPECT], count[COMPARE_NO_EVIDENCE], count[COMPARE_INVALID],
        count[COMPARE_UNMEASURED], compare->changes->n, compare->only[COMPARE_A],
        compare->only[COMPARE_B]);
    return 0;
}

int compare_export_write(FILE *to, size_t format, int made, struct export_set *set)
{
    struct text_error err = {"no memory for the result"};
    const int status = made == 0 ? export_write(to, format - COMPARE_FORMS, set, &err) : -1;

    export_close(set);
    if (status != 0)
        command_complain(NAME, "%s", err.text);
    return status;
}
