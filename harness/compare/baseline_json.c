/* compare/baseline_json.c: a sitting against a baseline, and a baseline, for programs.
 *
 * What jansson cannot add for want of memory shows at the end (record/memory.h). */
#include "compare/baseline.h"

#include <jansson.h>
#include <math.h>

#include "record/document.h"

static json_t *sittings(const struct baseline *baseline)
{
    json_t *array = json_array();

    for (size_t s = 0; s < baseline->sittings; ++s) {
        const struct baseline_line *line = &baseline->lines.line[s * baseline->cells];

        json_array_append_new(array,
                              json_pack("{s:o, s:o, s:o, s:o}", "run_id", value_text(line->run_id),
                                        "created_utc", value_text(line->created_utc), "git_sha",
                                        value_text(line->git_sha), "machine_instance",
                                        value_text(line->machine_instance)));
    }
    return array;
}

static json_t *spread_of(const struct baseline *baseline, const struct baseline_judged *judged,
                         size_t cell)
{
    return json_pack("{s:o, s:o, s:o, s:o, s:o}", "cell",
                     value_key(&baseline->lines.line[cell].key), "floor_ns",
                     value_real(exp(judged->mean)), "sitting_sd_log", value_real(judged->sd),
                     "detectable", value_real(judged->detectable), "sittings_for_5_percent",
                     judged->needed > 0 ? value_count(judged->needed) : json_null());
}

static json_t *head(const char *schema, const struct baseline *baseline)
{
    return json_pack("{s:s, s:o, s:o, s:o, s:b, s:o}", "schema", schema, "baseline",
                     value_text(baseline->path), "machine_class",
                     value_text(baseline->lines.line[0].machine_class), "blas",
                     value_text(baseline->lines.line[0].blas), "gate", baseline_is_gate(baseline),
                     "sittings", sittings(baseline));
}

int baseline_show_json(FILE *stream, const struct baseline *baseline,
                       const struct baseline_judged judged[])
{
    json_t *root = head(BASELINE_SCHEMA, baseline), *cells = json_array();

    for (size_t c = 0; c < baseline->cells; ++c)
        json_array_append_new(cells, spread_of(baseline, &judged[c], c));
    json_object_set_new(root, "cells", cells);
    return document_print(stream, root);
}

static json_t *cell_of(const struct baseline_compare *compare, size_t cell)
{
    const struct baseline_judged *judged = &compare->judged[cell];
    json_t *object = spread_of(&compare->baseline, judged, cell);

    json_object_update_new(object,
                           json_pack("{s:s, s:o, s:o, s:o, s:o, s:o}", "verdict",
                                     pairs_verdict_words[judged->verdict], "reason",
                                     value_text(judged->reason), "ratio", value_real(judged->ratio),
                                     "lo", value_real(judged->lo), "hi", value_real(judged->hi),
                                     "cost", value_real(judged->cost)));
    return object;
}

static void cell_words(const void *of, size_t cell, char text[COMPARE_TEXT])
{
    compare_cell_words(&((const struct baseline_compare *)of)->baseline.lines.line[cell].key, text);
}

static json_t *cell_key(const void *of, size_t cell)
{
    return value_key(&((const struct baseline_compare *)of)->baseline.lines.line[cell].key);
}

struct exact_names baseline_names(const struct baseline_compare *compare)
{
    return (struct exact_names){compare, cell_words, cell_key, {"last sitting", "NEW"}};
}

int baseline_json(FILE *stream, const struct baseline_compare *compare)
{
    const struct record_run *run = &compare->source.file.run;
    const struct exact_names names = baseline_names(compare);
    json_t *root = head("lockstep/compare/1.0", &compare->baseline), *cells = json_array();

    for (size_t c = 0; c < compare->baseline.cells; ++c)
        json_array_append_new(cells, cell_of(compare, c));
    json_object_update_new(
        root,
        json_pack("{s:s, s:{s:o, s:o, s:o, s:o}, s:o, s:{s:f, s:f, s:f, s:f}, s:o, s:o, s:o, s:o, "
                  "s:i}",
                  "class", "II", "new", "path", value_text(compare->source.path), "run_id",
                  value_text(run->run_id), "created_utc", value_text(run->created_utc), "git_sha",
                  value_text(run->git_sha), "invalid",
                  compare->invalid[0] != '\0' ? value_text(compare->invalid) : json_null(), "rule",
                  "alpha", BASELINE_ALPHA, "margin", PAIRS_MARGIN, "delta", PAIRS_DELTA, "alike",
                  PAIRS_ALIKE, "cells", cells, "changes", exact_json(compare->changes, &names),
                  "only_new", value_count(compare->only_new), "oversubscribed",
                  value_count(compare->source.crowded), "exit", baseline_exit(compare)));
    return document_print(stream, root);
}
