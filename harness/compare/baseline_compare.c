/* compare/baseline_compare.c: `lockstep compare --baseline`: one sitting against the history.
 *
 * It fails closed: what is no whole, verified sitting of the same machine, library and plan is
 * INVALID, and so is every comparison with fewer sittings than can judge. */
#include "compare/baseline.h"

#include "command/command.h"
#include "compare/export.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char NAME[] = "lockstep compare";

static int by_key(const void *key, const void *line)
{
    return baseline_key_order(key, &((const struct baseline_line *)line)->key);
}

/* The line of the sitting that is of the same cell; NULL: none. */
static const struct baseline_line *find(const struct baseline_source *source,
                                        const struct record_key *key)
{
    return bsearch(key, source->lines.line, source->lines.n, sizeof source->lines.line[0], by_key);
}

static const struct baseline_line *last_of(const struct baseline *baseline, size_t cell)
{
    return &baseline->lines.line[(baseline->sittings - 1) * baseline->cells + cell];
}

/* Why the comparison as a whole says nothing. */
static void find_invalid(struct baseline_compare *compare)
{
    const struct baseline *baseline = &compare->baseline;
    char why[BASELINE_WHY] = "";

    if (compare->source.refused.n > 0)
        snprintf(compare->invalid, sizeof compare->invalid, "%s", compare->source.refused.text[0]);
    else if (baseline_fits(baseline, &compare->source, false, why) != 0)
        snprintf(compare->invalid, sizeof compare->invalid, "%s", why);
    else if (baseline->sittings < BASELINE_LEAST)
        snprintf(compare->invalid, sizeof compare->invalid,
                 "%.200s has %zu sittings: it takes %zu more to judge, and %zu more for a gate",
                 baseline->path, baseline->sittings, BASELINE_LEAST - baseline->sittings,
                 BASELINE_GATE - baseline->sittings);
}

/* Why the cell cannot be judged though the others can; false: it can. */
static bool refuse(const struct baseline_compare *compare, size_t cell,
                   const struct baseline_line *fresh, struct baseline_judged *judged)
{
    const struct baseline *baseline = &compare->baseline;

    if (compare->invalid[0] != '\0' || !fresh) {
        snprintf(judged->reason, sizeof judged->reason, "%s",
                 fresh || compare->invalid[0] != '\0' ? compare->invalid
                                                      : "the new sitting does not have it");
        return true;
    }
    for (size_t s = 0; s < baseline->sittings; ++s) {
        const struct baseline_line *line = &baseline->lines.line[s * baseline->cells + cell];
        const bool few = strcmp(fresh->floor_statistic, compare_floor_words[COMPARE_LEAST]) == 0;

        if (strcmp(line->floor_statistic, fresh->floor_statistic) != 0 ||
            (few && line->steps != fresh->steps)) {
            snprintf(judged->reason, sizeof judged->reason,
                     "other floors: %s of %zu steps, and %s of %zu in %.120s:%zu",
                     fresh->floor_statistic, fresh->steps, line->floor_statistic, line->steps,
                     baseline->path, s * baseline->cells + cell + 1);
            return true;
        }
    }
    return false;
}

static void judge_cell(struct baseline_compare *compare, size_t cell, double x[])
{
    const struct baseline *baseline = &compare->baseline;
    const struct baseline_line *fresh = find(&compare->source, &baseline->lines.line[cell].key);
    struct baseline_judged *judged = &compare->judged[cell];
    double costs = 0;

    baseline_values(baseline, cell, x);
    baseline_spread(x, baseline->sittings, judged);
    baseline_power(baseline->sittings, baseline->cells, judged);
    judged->ratio = judged->lo = judged->hi = judged->cost = NAN;
    judged->verdict = PAIRS_INVALID;
    if (refuse(compare, cell, fresh, judged))
        return;
    baseline_judge(x, baseline->sittings, fresh->floor_log, baseline->cells, judged);
    if (judged->verdict == PAIRS_INVALID)
        snprintf(judged->reason, sizeof judged->reason, "a time is not a number");
    for (size_t s = 0; s < baseline->sittings; ++s)
        costs += baseline->lines.line[s * baseline->cells + cell].cost_log;
    judged->cost = exp(fresh->cost_log - costs / (double)baseline->sittings);
}

/* What one sitting counted, or the other. */
static void side_of(const struct baseline_line *line, struct exact_side *side)
{
    size_t at = 0;

    side->launches = line->launches;
    for (size_t m = 0; m < EXACT_METRICS; ++m) {
        side->n[m] = line->n[m];
        for (size_t i = 0; i < line->n[m]; ++i)
            side->lo[m][i] = side->hi[m][i] = line->exact[at++];
    }
}

static void find_changes(struct baseline_compare *compare, size_t cell,
                         const struct baseline_line *fresh)
{
    struct exact_side side[COMPARE_SIDES] = {{.launches = 0}};

    side_of(last_of(&compare->baseline, cell), &side[COMPARE_A]);
    side_of(fresh, &side[COMPARE_B]);
    exact_compare(side, cell, compare->changes);
}

/* 0, or EXIT_MISUSE after one line: nothing is in both. */
static int compare_cells_of(struct baseline_compare *compare, double x[])
{
    const struct baseline *baseline = &compare->baseline;
    size_t both = 0;

    find_invalid(compare);
    for (size_t c = 0; c < baseline->cells; ++c) {
        const struct baseline_line *fresh = find(&compare->source, &last_of(baseline, c)->key);

        both += fresh != NULL;
        judge_cell(compare, c, x);
        ++compare->count[compare->judged[c].verdict];
        if (fresh)
            find_changes(compare, c, fresh);
    }
    compare->only_new = compare->source.lines.n - both;
    if (both > 0 || compare->invalid[0] != '\0')
        return 0;
    command_complain(NAME, "nothing to compare: no cell of %s is in %s", compare->source.path,
                     baseline->path);
    return EXIT_MISUSE;
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

static int read_both(struct baseline_compare *compare)
{
    const struct baseline_options *options = compare->options;
    struct text_error err;

    if (baseline_name(options->folder, options->name, &compare->baseline, &err) != 0 ||
        baseline_read(&compare->baseline, &err) != 0) {
        command_complain(NAME, "%s", err.text);
        return EXIT_MISUSE;
    }
    if (!compare->baseline.is_there) {
        command_complain(NAME, "%s is not there: `lockstep baseline add` makes it",
                         compare->baseline.path);
        return EXIT_MISUSE;
    }
    return baseline_take(NAME, options->path, options->allow_dirty, &compare->source);
}

static int print_export(const struct baseline_compare *compare)
{
    struct export_set set;
    const int made = baseline_export(compare, &set);

    return compare_export_write(stdout, compare->options->format, made, &set);
}

static int compare_with(struct baseline_compare *compare)
{
    static int (*const forms[COMPARE_FORMS])(FILE *, const struct baseline_compare *) = {
        baseline_text, baseline_json, baseline_markdown};
    const struct baseline *baseline = &compare->baseline;
    double *x = calloc(baseline->sittings + 1, sizeof x[0]);
    int status = EXIT_MISUSE;

    compare->judged = calloc(baseline->cells + 1, sizeof compare->judged[0]);
    compare->changes = exact_room(baseline->cells);
    if (!x || !compare->judged || !compare->changes)
        command_complain(NAME, "no memory for the comparison");
    else
        status = compare_cells_of(compare, x);
    free(x);
    if (status != 0)
        return status;
    if (compare->options->format >= COMPARE_FORMS)
        return print_export(compare) == 0 ? baseline_exit(compare) : EXIT_MISUSE;
    if (forms[compare->options->format](stdout, compare) == 0)
        return baseline_exit(compare);
    command_complain(NAME, "no memory for the result");
    return EXIT_MISUSE;
}

int baseline_compare_main(const struct baseline_options *options)
{
    struct baseline_compare *compare = calloc(1, sizeof *compare);
    int status;

    if (!compare) {
        command_complain(NAME, "no memory");
        return EXIT_MISUSE;
    }
    compare->options = options;
    status = read_both(compare);
    if (status == 0)
        status = compare_with(compare);
    free(compare->judged);
    free(compare->changes);
    baseline_source_free(&compare->source);
    baseline_free(&compare->baseline);
    free(compare);
    return status;
}
