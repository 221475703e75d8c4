/* report/export_json.c: the formats that are JSON: Bencher's, and that of github-action-benchmark.
 */
#include <jansson.h>
#include <math.h>
#include <stdlib.h>

#include "report/export_formats.h"

static int print_json(FILE *to, json_t *root, int failed)
{
    char *text = failed ? NULL : json_dumps(root, JSON_INDENT(1) | JSON_REAL_PRECISION(12));
    const int status = text ? 0 : -1;

    if (text) {
        fputs(text, to);
        fputc('\n', to);
    }
    free(text);
    json_decref(root);
    return status;
}

/* Bencher's "latency" is in nanoseconds. */
static int add_measures(json_t *measures, const struct report_point *point)
{
    int failed = 0;

    for (size_t m = 0; m < EXPORT_METRICS; ++m) {
        const struct report_value *value = &point->value[export_metrics[m].metric];
        const double scale = export_metrics[m].metric == REPORT_STEP ? 1 : export_metrics[m].scale;
        json_t *measure = isfinite(value->middle) ? json_object() : NULL;

        if (!isfinite(value->middle))
            continue;
        failed |= json_object_set_new(measure, "value", json_real(value->middle * scale));
        if (export_has_interval(point, &export_metrics[m])) {
            failed |= json_object_set_new(measure, "lower_value", json_real(value->lo * scale));
            failed |= json_object_set_new(measure, "upper_value", json_real(value->hi * scale));
        }
        failed |= json_object_set_new(measures, export_metrics[m].measure, measure);
    }
    return failed;
}

int export_as_bmf(FILE *to, const struct report *report)
{
    json_t *root = json_object();
    int failed = !root;
    char name[EXPORT_NAME_BYTES];

    for (size_t i = 0; i < report->n_points; ++i) {
        const struct report_point *point = &report->point[i];
        json_t *measures = export_is_good(point) ? json_object() : NULL;

        if (!export_is_good(point))
            continue;
        export_name_of(point, name);
        failed |= add_measures(measures, point);
        failed |= json_object_set_new(root, name, measures);
    }
    return print_json(to, root, failed);
}

/* Its kind customSmallerIsBetter: step times. */
int export_as_github(FILE *to, const struct report *report)
{
    json_t *root = json_array();
    int failed = !root;
    char name[EXPORT_NAME_BYTES], range[64];

    for (size_t i = 0; i < report->n_points; ++i) {
        const struct report_point *point = &report->point[i];
        const struct report_value *step = &point->value[REPORT_STEP];

        if (!export_is_good(point))
            continue;
        export_name_of(point, name);
        snprintf(range, sizeof range, "%.6g to %.6g", step->lo / 1e6, step->hi / 1e6);

        json_t *entry =
            json_pack("{s:s, s:s, s:f}", "name", name, "unit", "ms", "value", step->middle / 1e6);

        failed |= !entry;
        if (export_has_interval(point, &export_metrics[EXPORT_STEP]))
            failed |= json_object_set_new(entry, "range", json_string(range));
        failed |= json_array_append_new(root, entry);
    }
    return print_json(to, root, failed);
}
