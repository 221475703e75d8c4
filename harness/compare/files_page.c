/* compare/files_page.c: the results for two files, for people and for programs. */
#include "compare/compare.h"

#include "record/json.h"
#include "text/quantity.h"

#include <jansson.h>
#include <math.h>

static const char *const verdict_words[COMPARE_VERDICTS] = {"NO EVIDENCE", "SUSPECT", "INVALID",
                                                            "UNMEASURED"};

static void say_notes(struct compare_page *page, const char *before,
                      const struct compare_notes *notes)
{
    for (size_t i = 0; i < notes->n; ++i)
        compare_say(page, COMPARE_HEAD, "%s%s", before, notes->text[i]);
}

static void describe_files(const void *of, struct compare_page *page)
{
    static const enum export_state states[COMPARE_VERDICTS] = {[COMPARE_NO_EVIDENCE] = EXPORT_OPEN,
                                                               [COMPARE_SUSPECT] = EXPORT_DOUBTFUL,
                                                               [COMPARE_INVALID] = EXPORT_BROKEN,
                                                               [COMPARE_UNMEASURED] =
                                                                   EXPORT_BROKEN};
    const struct compare *compare = of;
    const size_t *count = compare->count;
    char a[UNITS_BYTES], b[UNITS_BYTES], worst[COMPARE_TEXT];

    page->ratio = "B/A";
    page->side[COMPARE_A] = "A";
    page->side[COMPARE_B] = "B";
    page->verdicts = verdict_words;
    page->n_verdicts = COMPARE_VERDICTS;
    page->changes = compare->changes;
    page->exact = compare->options->exact;
    for (int side = 0; side < COMPARE_SIDES; ++side) {
        const struct record_run *run = &compare->file[side].run;

        compare_say(page, COMPARE_FOOT, "%s: %s: run %s of %s, commit %.12s, %d launch%s",
                    page->side[side], compare->options->path[side], run->run_id, run->created_utc,
                    run->git_sha, run->launches, run->launches == 1 ? "" : "es");
    }
    say_notes(page, "Differs: ", &compare->differs);
    say_notes(page, "Note: ", &compare->remarks);
    say_notes(page, "INVALID: ", &compare->invalid);
    compare_say(page, COMPARE_FOOT,
                "Evidence class III, two files: two sessions, which differ for reasons of the "
                "machine, too. No verdict is a pass, and none is a gate.");
    for (size_t c = 0; c < compare->n_cells; ++c) {
        const struct compare_cell *cell = &compare->cell[c];
        const struct compare_ratio *floor = &cell->floor, *cost = &cell->cost;
        struct compare_point *point =
            compare_add_point(page, cell->key, cell->verdict, states[cell->verdict]);

        /* If a comparison is INVALID as a whole, the reasons are given once, and no cell has
         * another one. */
        point->hidden = compare->invalid.n > 0 && cell->verdict == COMPARE_INVALID;
        point->brief = cell->verdict == COMPARE_NO_EVIDENCE;
        point->launches = cell->n[COMPARE_B];
        point->value[COMPARE_TIME] = (struct export_value){floor->ratio, floor->lo, floor->hi};
        point->value[COMPARE_COST] = (struct export_value){cost->ratio, cost->lo, cost->hi};
        snprintf(point->verdict, sizeof point->verdict, "%s", verdict_words[cell->verdict]);
        snprintf(point->rest, sizeof point->rest, "%s",
                 cell->verdict == COMPARE_UNMEASURED ? "verified in neither file" : cell->reason);
        if (isnan(floor->ratio))
            continue;
        snprintf(point->ratio, sizeof point->ratio, "%.3f [%.3f, %.3f], p %.2g", floor->ratio,
                 floor->lo, floor->hi, cell->adjusted);
        snprintf(point->cost, sizeof point->cost, "%.3f", cost->ratio);
        snprintf(point->more, sizeof point->more, "; floor %s -> %s",
                 units_time(floor->ns[COMPARE_A], a), units_time(floor->ns[COMPARE_B], b));
        if (cell->rule == COMPARE_LEAST)
            text_add(point->more, sizeof point->more, " (few: the minimum of %zu steps)",
                     cell->steps);
    }
    compare_worst_words(page, COMPARE_SUSPECT, worst);
    if (compare->invalid.n > 0)
        compare_say(page, COMPARE_TITLE, "INVALID: no time can be compared.");
    else if (worst[0] != '\0')
        compare_say(page, COMPARE_TITLE,
                    "%s. Not sure: measure both again, in turns (--ab), before you believe it.",
                    worst);
    else
        compare_say(
            page, COMPARE_TITLE,
            "NO EVIDENCE of a difference in %zu of %zu cells, which is not evidence of none.",
            count[COMPARE_NO_EVIDENCE], compare->n_cells);
    compare_say(page, COMPARE_TITLE,
                "Cells in both files: %zu: %zu SUSPECT, %zu NO EVIDENCE, %zu INVALID, %zu measured "
                "in neither. Only in A: %zu, only in B: %zu. Exact numbers that changed: %zu.",
                compare->n_cells, count[COMPARE_SUSPECT], count[COMPARE_NO_EVIDENCE],
                count[COMPARE_INVALID], count[COMPARE_UNMEASURED], compare->only[COMPARE_A],
                compare->only[COMPARE_B], compare->changes->n);
    if (!isnan(compare->half_width))
        compare_say(page, COMPARE_FOOT,
                    "The median of the ratios is %.3f, which the machine alone can do from one "
                    "session to another. The median half-width of their intervals (%.0f %% or "
                    "more, of independent launches) is %.1f %%.",
                    compare->common, 100 * COMPARE_LEVEL, 100 * compare->half_width);
    snprintf(page->summary, sizeof page->summary,
             "%zu SUSPECT, %zu NO EVIDENCE, %zu INVALID, %zu measured in neither, %zu changed. "
             "Only in A: %zu, only in B: %zu. Two files are no gate",
             count[COMPARE_SUSPECT], count[COMPARE_NO_EVIDENCE], count[COMPARE_INVALID],
             count[COMPARE_UNMEASURED], compare->changes->n, compare->only[COMPARE_A],
             compare->only[COMPARE_B]);
}

static json_t *notes_json(const struct compare_notes *notes)
{
    json_t *array = json_array();

    for (size_t i = 0; i < notes->n; ++i)
        json_array_append_new(array, value_text(notes->text[i]));
    return array;
}

static json_t *ratio_json(const struct compare_ratio *ratio)
{
    return value_object("a_ns:r b_ns:r ratio:r lo:r hi:r coverage:r p:r", ratio->ns[COMPARE_A],
                        ratio->ns[COMPARE_B], ratio->ratio, ratio->lo, ratio->hi, ratio->coverage,
                        ratio->p);
}

/* lockstep/compare/1.0 */
static json_t *files_json(const void *of)
{
    const struct compare *compare = of;
    const size_t *count = compare->count;
    json_t *files = json_array(), *cells = json_array();

    for (int side = 0; side < COMPARE_SIDES; ++side) {
        const struct record_run *run = &compare->file[side].run;

        json_array_append_new(
            files,
            value_object("path:t run_id:t created_utc:t git_sha:t machine_class:t "
                         "machine_instance:t cells_only_here:n",
                         compare->options->path[side], run->run_id, run->created_utc, run->git_sha,
                         run->machine_class, run->machine_instance, compare->only[side]));
    }
    for (size_t c = 0; c < compare->n_cells; ++c) {
        const struct compare_cell *cell = &compare->cell[c];
        const bool measured = !isnan(cell->floor.ratio);

        json_array_append_new(
            cells, value_object("cell:o launches:o floor_statistic:t floor:o cost:o least_steps:o "
                                "p_adjusted:r verdict:t reason:t",
                                value_key(cell->key),
                                json_pack("[o, o]", value_count(cell->n[COMPARE_A]),
                                          value_count(cell->n[COMPARE_B])),
                                measured ? compare_floor_words[cell->rule] : NULL,
                                ratio_json(&cell->floor), ratio_json(&cell->cost),
                                measured ? value_count(cell->steps) : json_null(), cell->adjusted,
                                verdict_words[cell->verdict], cell->reason));
    }
    return value_object(
        "schema:t class:t gate:b files:o invalid:o differs:o remarks:o "
        "rule:{alpha:r beyond:r level:r} medians:{ratio:r half_width:r} cells:o changes:o "
        "counts:{suspect:n no_evidence:n invalid:n unmeasured:n tested:n changed:n exit:i}",
        "lockstep/compare/1.0", "III", false, files, notes_json(&compare->invalid),
        notes_json(&compare->differs), notes_json(&compare->remarks), COMPARE_ALPHA, COMPARE_BEYOND,
        COMPARE_LEVEL, compare->common, compare->half_width, cells,
        exact_changes_json(compare->changes), count[COMPARE_SUSPECT], count[COMPARE_NO_EVIDENCE],
        count[COMPARE_INVALID], count[COMPARE_UNMEASURED], compare->tested, compare->changes->n,
        compare_exit(compare));
}

const struct compare_judge compare_files_judge = {describe_files, files_json};
