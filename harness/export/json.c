/* export/json.c: the formats that are JSON: Bencher's, and that of github-action-benchmark.
 */
#include <jansson.h>
#include <math.h>
#include <stdlib.h>

#include "export/export.h"

static int print_json(FILE *to, json_t *root, int failed)
{
    char *text =
        failed ? NULL
               : json_dumps(root, JSON_INDENT(1) | JSON_REAL_PRECISION(12) | JSON_ENSURE_ASCII);
    const int status = text ? 0 : -1;

    if (text) {
        fputs(text, to);
        fputc('\n', to);
    }
    free(text);
    json_decref(root);
    return status;
}

int export_as_bmf(FILE *to, const struct export_set *set)
{
    json_t *root = json_object();
    int failed = !root;

    for (size_t i = 0; i < set->n; ++i) {
        const struct export_cell *cell = &set->cell[i];
        json_t *measures = cell->has_numbers ? json_object() : NULL;

        for (size_t m = 0; m < set->n_metrics && cell->has_numbers; ++m) {
            const struct export_value *value = &cell->value[m];
            const double scale = set->metric[m].in_bencher;
            json_t *measure = isfinite(value->middle) ? json_object() : NULL;

            if (!isfinite(value->middle))
                continue;
            failed |= json_object_set_new(measure, "value", json_real(value->middle * scale));
            if (isfinite(value->lo) && isfinite(value->hi)) {
                failed |= json_object_set_new(measure, "lower_value", json_real(value->lo * scale));
                failed |= json_object_set_new(measure, "upper_value", json_real(value->hi * scale));
            }
            failed |= json_object_set_new(measures, set->metric[m].measure, measure);
        }
        if (cell->has_numbers)
            failed |= json_object_set_new(root, cell->name, measures);
    }
    return print_json(to, root, failed);
}

/* Its kind customSmallerIsBetter: the first metric. */
int export_as_github(FILE *to, const struct export_set *set)
{
    json_t *root = json_array();
    int failed = !root;
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

        failed |= !entry;
        if (isfinite(value->lo) && isfinite(value->hi))
            failed |= json_object_set_new(entry, "range", json_string(range));
        failed |= json_array_append_new(root, entry);
    }
    return print_json(to, root, failed);
}
