/* compare/json.c: the comparison for programs: lockstep/compare/1.0, one object.
 *
 * What jansson cannot add for want of memory shows at the end (record/memory.h). */
#include "compare/exact.h"

#include <jansson.h>
#include <math.h>

#include "record/document.h"

static json_t *notes(const struct compare_notes *notes)
{
    json_t *array = json_array();

    for (size_t i = 0; i < notes->n; ++i)
        json_array_append_new(array, value_text(notes->text[i]));
    return array;
}

static json_t *files(const struct compare *compare)
{
    json_t *array = json_array();

    for (int side = 0; side < COMPARE_SIDES; ++side) {
        const struct record_run *run = &compare->file[side].run;

        json_array_append_new(array, json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "path",
                                               value_text(compare->path[side]), "run_id",
                                               value_text(run->run_id), "created_utc",
                                               value_text(run->created_utc), "git_sha",
                                               value_text(run->git_sha), "machine_class",
                                               value_text(run->machine_class), "machine_instance",
                                               value_text(run->machine_instance), "cells_only_here",
                                               value_count(compare->only[side])));
    }
    return array;
}

static json_t *ratio(const struct compare_ratio *ratio)
{
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "a_ns",
                     value_real(ratio->ns[COMPARE_A]), "b_ns", value_real(ratio->ns[COMPARE_B]),
                     "ratio", value_real(ratio->ratio), "lo", value_real(ratio->lo), "hi",
                     value_real(ratio->hi), "coverage", value_real(ratio->coverage), "p",
                     value_real(ratio->p));
}

static json_t *cells(const struct compare *compare)
{
    json_t *array = json_array();

    for (size_t c = 0; c < compare->n_cells; ++c) {
        const struct compare_cell *cell = &compare->cell[c];
        const bool measured = !isnan(cell->floor.ratio);

        json_array_append_new(
            array,
            json_pack("{s:o, s:[o, o], s:o, s:o, s:o, s:o, s:o, s:s, s:o}", "cell",
                      value_key(cell->key), "launches", value_count(cell->n[COMPARE_A]),
                      value_count(cell->n[COMPARE_B]), "floor_statistic",
                      measured ? value_text(compare_floor_words[cell->rule]) : json_null(), "floor",
                      ratio(&cell->floor), "cost", ratio(&cell->cost), "least_steps",
                      measured ? value_count(cell->steps) : json_null(), "p_adjusted",
                      value_real(cell->adjusted), "verdict", compare_verdict_words[cell->verdict],
                      "reason", value_text(cell->reason)));
    }
    return array;
}

static json_t *counts(const struct compare *compare)
{
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:i}", "suspect",
                     value_count(compare->count[COMPARE_SUSPECT]), "no_evidence",
                     value_count(compare->count[COMPARE_NO_EVIDENCE]), "invalid",
                     value_count(compare->count[COMPARE_INVALID]), "unmeasured",
                     value_count(compare->count[COMPARE_UNMEASURED]), "tested",
                     value_count(compare->tested), "changed", value_count(compare->changes->n),
                     "exit", compare_exit(compare));
}

static json_t *common(const struct compare *compare)
{
    double ratio, half;

    return compare_common(compare, &ratio, &half) == 0
               ? json_pack("{s:o, s:o}", "ratio", value_real(ratio), "half_width", value_real(half))
               : NULL;
}

static void cell_words(const void *of, size_t cell, char text[COMPARE_TEXT])
{
    compare_cell_words(((const struct compare *)of)->cell[cell].key, text);
}

static json_t *cell_key(const void *of, size_t cell)
{
    return value_key(((const struct compare *)of)->cell[cell].key);
}

struct exact_names compare_exact_names(const struct compare *compare)
{
    return (struct exact_names){compare, cell_words, cell_key, {"A", "B"}};
}

int compare_json(FILE *stream, const struct compare *compare)
{
    const struct exact_names names = compare_exact_names(compare);

    return document_print(
        stream,
        json_pack("{s:s, s:s, s:b, s:o, s:o, s:o, s:o, s:{s:f, s:f, s:f}, s:o, s:o, s:o, s:o}",
                  "schema", "lockstep/compare/1.0", "class", "III", "gate", 0, "files",
                  files(compare), "invalid", notes(&compare->invalid), "differs",
                  notes(&compare->differs), "remarks", notes(&compare->remarks), "rule", "alpha",
                  COMPARE_ALPHA, "beyond", COMPARE_BEYOND, "level", COMPARE_LEVEL, "medians",
                  common(compare), "cells", cells(compare), "changes",
                  exact_json(compare->changes, &names), "counts", counts(compare)));
}
