/* export/json.c: the formats that are JSON: Bencher's, and that of github-action-benchmark.
 */
#include <jansson.h>
#include <math.h>
#include <stdlib.h>

#include "export/export.h"

static void print_json(FILE *to, json_t *root)
{
    char *text = json_dumps(root, JSON_INDENT(1) | JSON_REAL_PRECISION(12) | JSON_ENSURE_ASCII);

    fprintf(to, "%s\n", text);
    free(text);
    json_decref(root);
}

void export_as_bmf(FILE *to, const struct export_set *set)
{
    json_t *root = json_object();

    for (size_t i = 0; i < set->n; ++i) {
        const struct export_cell *cell = &set->cell[i];
        json_t *measures = cell->has_numbers ? json_object() : NULL;

        for (size_t m = 0; m < set->n_metrics && cell->has_numbers; ++m) {
            const struct export_value *value = &cell->value[m];
            const double scale = set->metric[m].in_bencher;

            if (!isfinite(value->middle))
                continue;
            json_t *measure = json_pack("{s:f}", "value", value->middle * scale);

            if (isfinite(value->lo) && isfinite(value->hi)) {
                json_object_set_new(measure, "lower_value", json_real(value->lo * scale));
                json_object_set_new(measure, "upper_value", json_real(value->hi * scale));
            }
            json_object_set_new(measures, set->metric[m].measure, measure);
        }
        if (cell->has_numbers && set->judged)
            json_object_set_new(measures, "certain",
                                json_pack("{s:f}", "value", cell->doubt[0] == '\0' ? 1.0 : 0.0));
        if (cell->has_numbers)
            json_object_set_new(root, cell->name, measures);
    }
    print_json(to, root);
}

/* Its kind customSmallerIsBetter: the first metric. */
void export_as_github(FILE *to, const struct export_set *set)
{
    json_t *root = json_array();
    char range[64];

    for (size_t i = 0; i < set->n; ++i) {
        const struct export_cell *cell = &set->cell[i];
        const struct export_value *value = &cell->value[0];
        const double scale = set->in_github;

        if (!cell->has_numbers)
            continue;
        snprintf(range, sizeof range, "%.6g to %.6g", value->lo * scale, value->hi * scale);

        json_t *entry = json_pack("{s:s, s:s, s:f}", "name", cell->name, "unit", set->github_unit,
                                  "value", value->middle * scale);

        if (isfinite(value->lo) && isfinite(value->hi))
            json_object_set_new(entry, "range", json_string(range));
        if (cell->doubt[0] != '\0')
            json_object_set_new(entry, "extra", json_sprintf("not certain: %s", cell->doubt));
        json_array_append_new(root, entry);
    }
    print_json(to, root);
}
