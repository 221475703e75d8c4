/* compare/json.c: the comparison for programs: lockstep/compare/1.0, one object.
 *
 * What jansson cannot add for want of memory shows at the end (record/memory.h). */
#include "compare/exact.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>

#include "record/memory.h"
#include "record/roles.h"

/* All that comes from files was cleaned, and so were the arguments. */
static json_t *text(const char *value)
{
    json_t *string = json_string(value);

    return string ? string : json_string("?");
}

static json_t *real(double x)
{
    return isfinite(x) ? json_real(x) : json_null();
}

static json_t *count(size_t n)
{
    return json_integer((json_int_t)n);
}

static json_t *notes(const struct compare_notes *notes)
{
    json_t *array = json_array();

    for (size_t i = 0; i < notes->n; ++i)
        json_array_append_new(array, text(notes->text[i]));
    return array;
}

static json_t *files(const struct compare *compare)
{
    json_t *array = json_array();

    for (int side = 0; side < COMPARE_SIDES; ++side) {
        const struct record_run *run = &compare->file[side].run;

        json_array_append_new(
            array,
            json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "path", text(compare->path[side]),
                      "run_id", text(run->run_id), "created_utc", text(run->created_utc), "git_sha",
                      text(run->git_sha), "machine_class", text(run->machine_class),
                      "machine_instance", text(run->machine_instance), "cells_only_here",
                      count(compare->only[side])));
    }
    return array;
}

static json_t *key(const struct record_key *key)
{
    json_t *object = json_object();
    char value[128];

    for (const struct record_field *field = record_key_fields; field->name; ++field) {
        if (field->role != RECORD_IDENTITY)
            continue;
        record_show(field, key, value, sizeof value);
        json_object_set_new(object, field->name,
                            field->kind == RECORD_TEXT ? text(value)
                                                       : json_integer(strtoll(value, NULL, 10)));
    }
    return object;
}

static json_t *ratio(const struct compare_ratio *ratio)
{
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "a_ns", real(ratio->ns[COMPARE_A]),
                     "b_ns", real(ratio->ns[COMPARE_B]), "ratio", real(ratio->ratio), "lo",
                     real(ratio->lo), "hi", real(ratio->hi), "coverage", real(ratio->coverage), "p",
                     real(ratio->p));
}

static json_t *cells(const struct compare *compare)
{
    json_t *array = json_array();

    for (size_t c = 0; c < compare->n_cells; ++c) {
        const struct compare_cell *cell = &compare->cell[c];
        const bool measured = !isnan(cell->floor.ratio);

        json_array_append_new(
            array, json_pack("{s:o, s:[o, o], s:o, s:o, s:o, s:o, s:o, s:s, s:o}", "cell",
                             key(cell->key), "launches", count(cell->n[COMPARE_A]),
                             count(cell->n[COMPARE_B]), "floor_statistic",
                             measured ? text(compare_floor_words[cell->rule]) : json_null(),
                             "floor", ratio(&cell->floor), "cost", ratio(&cell->cost),
                             "least_steps", measured ? count(cell->steps) : json_null(),
                             "p_adjusted", real(cell->adjusted), "verdict",
                             compare_verdict_words[cell->verdict], "reason", text(cell->reason)));
    }
    return array;
}

static json_t *counts(const struct compare *compare)
{
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:i}", "suspect",
                     count(compare->count[COMPARE_SUSPECT]), "no_evidence",
                     count(compare->count[COMPARE_NO_EVIDENCE]), "invalid",
                     count(compare->count[COMPARE_INVALID]), "unmeasured",
                     count(compare->count[COMPARE_UNMEASURED]), "tested", count(compare->tested),
                     "changed", count(compare->changes->n), "exit", compare_exit(compare));
}

static json_t *common(const struct compare *compare)
{
    double ratio, half;

    return compare_common(compare, &ratio, &half) == 0
               ? json_pack("{s:o, s:o}", "ratio", real(ratio), "half_width", real(half))
               : NULL;
}

static void cell_words(const void *of, size_t cell, char text[COMPARE_TEXT])
{
    compare_cell_words(((const struct compare *)of)->cell[cell].key, text);
}

static json_t *cell_key(const void *of, size_t cell)
{
    return key(((const struct compare *)of)->cell[cell].key);
}

struct exact_names compare_exact_names(const struct compare *compare)
{
    return (struct exact_names){compare, cell_words, cell_key, {"A", "B"}};
}

int compare_json(FILE *stream, const struct compare *compare)
{
    const struct exact_names names = compare_exact_names(compare);
    json_t *root = json_pack(
        "{s:s, s:s, s:b, s:o, s:o, s:o, s:o, s:{s:f, s:f, s:f}, s:o, s:o, s:o, s:o}", "schema",
        "lockstep/compare/1.0", "class", "III", "gate", 0, "files", files(compare), "invalid",
        notes(&compare->invalid), "differs", notes(&compare->differs), "remarks",
        notes(&compare->remarks), "rule", "alpha", COMPARE_ALPHA, "beyond", COMPARE_BEYOND, "level",
        COMPARE_LEVEL, "medians", common(compare), "cells", cells(compare), "changes",
        exact_json(compare->changes, &names), "counts", counts(compare));
    char *document = record_memory_text(root, JSON_INDENT(1) | JSON_REAL_PRECISION(12));

    if (!document)
        return -1;
    fprintf(stream, "%s\n", document);
    free(document);
    return 0;
}
