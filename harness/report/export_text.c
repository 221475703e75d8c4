/* report/export_text.c: the formats that are lines: CSV, OpenMetrics, annotations of a job, JUnit.
 */
#include <math.h>
#include <string.h>

#include "report/export_formats.h"

/* ---- CSV (RFC 4180) -------------------------------------------------------------------------- */

/* A spreadsheet takes what begins like a formula for one. */
static void csv_text(FILE *to, const char *text)
{
    fputc('"', to);
    if (text[0] != '\0' && strchr("=+-@", text[0]))
        fputc('\'', to);
    for (; *text != '\0'; ++text)
        fputs(*text == '"' ? "\"\"" : (char[]){*text, '\0'}, to);
    fputc('"', to);
}

int export_as_csv(FILE *to, const struct report *report)
{
    fputs("workload,mode,devices,n_devices,batch,backend,communicator,math,bucket_bytes,launches",
          to);
    for (size_t m = 0; m < EXPORT_METRICS; ++m)
        fprintf(to, ",%s_%s,%s_lower,%s_upper", export_metrics[m].name, export_metrics[m].unit,
                export_metrics[m].name, export_metrics[m].name);
    fputs("\r\n", to);
    for (size_t i = 0; i < report->n_points; ++i) {
        const struct report_point *point = &report->point[i];
        const struct record_key *key = &point->row->cell->key;
        const char *const texts[] = {key->workload, key->mode, key->devices};
        const char *const others[] = {key->backend, key->communicator, key->dtype};

        if (!export_is_good(point))
            continue;
        for (size_t t = 0; t < 3; ++t, fputc(',', to))
            csv_text(to, texts[t]);
        fprintf(to, "%d,%zu", key->n_devices, key->global_batch);
        for (size_t t = 0; t < 3; ++t) {
            fputc(',', to);
            csv_text(to, others[t]);
        }
        fprintf(to, ",%zu,%zu", key->bucket_bytes, point->n);
        for (size_t m = 0; m < EXPORT_METRICS; ++m) {
            const struct report_value *value = &point->value[export_metrics[m].metric];

            if (!isfinite(value->middle))
                fputs(",,,", to);
            else if (export_has_interval(point, &export_metrics[m]))
                fprintf(to, ",%.9g,%.9g,%.9g", export_value_of(point, &export_metrics[m]),
                        value->lo * export_metrics[m].scale, value->hi * export_metrics[m].scale);
            else
                fprintf(to, ",%.9g,,", export_value_of(point, &export_metrics[m]));
        }
        fputs("\r\n", to);
    }
    return 0;
}

/* ---- OpenMetrics 1.0 ------------------------------------------------------------------------- */

static void label(FILE *to, const char *before, const char *name, const char *value)
{
    fprintf(to, "%s%s=\"", before, name);
    for (; *value != '\0'; ++value)
        fputs(*value == '"'    ? "\\\""
              : *value == '\\' ? "\\\\"
              : *value == '\n' ? "\\n"
                               : (char[]){*value, '\0'},
              to);
    fputc('"', to);
}

static void sample(FILE *to, const char *family, const struct report_point *point, double value)
{
    const struct record_key *key = &point->row->cell->key;
    char number[32];

    fprintf(to, "lockstep_%s", family);
    label(to, "{", "workload", key->workload);
    label(to, ",", "mode", key->mode);
    label(to, ",", "devices", key->devices);
    label(to, ",", "backend", key->backend);
    label(to, ",", "communicator", key->communicator);
    label(to, ",", "math", key->dtype);
    snprintf(number, sizeof number, "%zu", key->global_batch);
    label(to, ",", "batch", number);
    snprintf(number, sizeof number, "%zu", key->bucket_bytes);
    label(to, ",", "bucket_bytes", number);
    fprintf(to, "} %.17g\n", value);
}

/* Of the value (which 0), or of the ends of its interval. */
static void family(FILE *to, const struct report *report, const struct export_metric *what,
                   int which)
{
    static const char *const ends[] = {"", "_lower", "_upper"};
    char name[96];

    snprintf(name, sizeof name, "%s%s_%s", what->name, ends[which], what->unit);
    fprintf(to, "# TYPE lockstep_%s gauge\n# UNIT lockstep_%s %s\n", name, name, what->unit);
    for (size_t i = 0; i < report->n_points; ++i) {
        const struct report_point *point = &report->point[i];
        const struct report_value *value = &point->value[what->metric];
        const double numbers[] = {value->middle, value->lo, value->hi};

        if (export_is_good(point) && isfinite(numbers[which]) &&
            (which == 0 || export_has_interval(point, what)))
            sample(to, name, point, numbers[which] * what->scale);
    }
}

int export_as_openmetrics(FILE *to, const struct report *report)
{
    fputs("# TYPE lockstep_verified gauge\n"
          "# HELP lockstep_verified 1: all launches of the cell were measured and verified.\n",
          to);
    for (size_t i = 0; i < report->n_points; ++i)
        sample(to, "verified", &report->point[i], export_is_good(&report->point[i]));
    fputs("# TYPE lockstep_missing_launches gauge\n", to);
    fprintf(to, "lockstep_missing_launches %zu\n", report->counts.missing);
    for (size_t m = 0; m < EXPORT_METRICS; ++m)
        for (int which = 0; which < 3; ++which)
            family(to, report, &export_metrics[m], which);
    fputs("# EOF\n", to);
    return 0;
}

/* ---- a job's page: annotations, JUnit -------------------------------------------------------- */

/* Of a workflow command; the text of a property has two characters more to be told. */
static void annotate(FILE *to, const char *text, bool property)
{
    for (; *text != '\0'; ++text)
        if (strchr(property ? "%\r\n:," : "%\r\n", *text))
            fprintf(to, "%%%02X", (unsigned char)*text);
        else
            fputc(*text, to);
}

int export_as_annotations(FILE *to, const struct report *report)
{
    char name[EXPORT_NAME_BYTES], why[REPORT_CELL_TEXT];
    const size_t bad = export_count_bad(report);

    for (size_t i = 0; i < report->n_points; ++i) {
        export_why_not(&report->point[i], why);
        if (why[0] == '\0')
            continue;
        export_name_of(&report->point[i], name);
        fputs("::error title=", to);
        annotate(to, name, true);
        fputs("::", to);
        annotate(to, why, false);
        fputc('\n', to);
    }
    if (report->counts.missing > 0)
        fprintf(to, "::error title=lockstep::%zu of %zu planned launches are missing\n",
                report->counts.missing, report->counts.planned);
    fprintf(to, "::notice title=lockstep::%zu of %zu cells are measured and verified\n",
            report->n_points - bad, report->n_points);
    return 0;
}

int export_as_junit(FILE *to, const struct report *report)
{
    struct text_out out = {.file = to, .form = TEXT_HTML};
    char name[EXPORT_NAME_BYTES], why[REPORT_CELL_TEXT], seconds[32];
    const size_t missing = report->counts.missing > 0;

    text_print(&out,
               "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
               "<testsuites name=\"lockstep sweep\">\n<testsuite name=\"cells\" tests=\"%zu\" "
               "failures=\"%zu\" errors=\"%zu\">\n",
               report->n_points + missing, export_count_bad(report), missing);
    for (size_t i = 0; i < report->n_points; ++i) {
        const struct report_point *point = &report->point[i];
        double wall_ns = 0;

        for (size_t l = 0; l < point->n; ++l)
            wall_ns += (double)point->row[l].cell->wall_ns;
        snprintf(seconds, sizeof seconds, "%.6f", wall_ns / 1e9);
        export_name_of(point, name);
        export_why_not(point, why);
        text_print(&out, "<testcase classname=\"lockstep.%s\" name=\"%s\" time=\"%s\">",
                   point->row->cell->key.workload, name, seconds);
        if (why[0] != '\0')
            text_print(&out, "<failure message=\"%s\"/>", why);
        text_print(&out, "</testcase>\n");
    }
    if (missing)
        text_print(&out,
                   "<testcase classname=\"lockstep\" name=\"planned launches\"><error "
                   "message=\"%zu of %zu are missing\"/></testcase>\n",
                   report->counts.missing, report->counts.planned);
    text_print(&out, "</testsuite>\n</testsuites>\n");
    return 0;
}
