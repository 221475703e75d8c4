/* report/export.c: which cells have numbers for other programs, and in which formats.
 *
 * A cell has numbers there only if every planned launch of it was measured and verified. Any other
 * cell is without, and an error where the format knows errors: nothing that draws these numbers can
 * take it for a good one. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/export.h"
#include "report/export_formats.h"

const struct export_metric export_metrics[EXPORT_METRICS] = {
    {REPORT_STEP, "step_time", "seconds", 1e-9, "latency"},
    {REPORT_THROUGHPUT, "throughput", "samples_per_second", 1, "throughput"},
    {REPORT_SPEEDUP, "speedup", "ratio", 1, "speed-up"},
    {REPORT_EFFICIENCY, "efficiency", "ratio", 1, "efficiency"},
    {REPORT_MOVED, "moved_per_step", "bytes", 1, "moved-per-step"},
    {REPORT_PEAK, "peak_memory", "bytes", 1, "peak-memory"},
};

/* ---- a point --------------------------------------------------------------------------------- */

/* What tells it from all others of its files. */
void export_name_of(const struct report_point *point, char name[EXPORT_NAME_BYTES])
{
    const struct record_key *key = &point->row->cell->key;

    snprintf(name, EXPORT_NAME_BYTES, "%s/%s/%s/batch %zu/%s/%s/%s%s%.0zu", key->workload,
             key->mode, key->devices, key->global_batch, key->backend, key->communicator,
             key->dtype, key->bucket_bytes > 0 ? "/bucket " : "", key->bucket_bytes);
}

/* Why a point has no number; "": it has. */
void export_why_not(const struct report_point *point, char why[REPORT_CELL_TEXT])
{
    const struct report_row *bad = NULL;
    const size_t planned = (size_t)point->row->run->launches;

    why[0] = '\0';
    for (size_t i = 0; i < point->n && !bad; ++i)
        bad = point->row[i].verified ? NULL : &point->row[i];
    if (bad) {
        report_add(why, "%zu of %zu launches are not verified: ", point->n - point->verified,
                   point->n);
        report_failure_words(bad, why);
    } else if (point->n < planned)
        report_add(why, "%zu of %zu planned launches are missing", planned - point->n, planned);
    else if (report_simulated(point->row))
        report_add(why, "SIMULATED, not measured");
}

bool export_is_good(const struct report_point *point)
{
    char why[REPORT_CELL_TEXT];

    export_why_not(point, why);
    return why[0] == '\0';
}

double export_value_of(const struct report_point *point, const struct export_metric *what)
{
    return report_middle(point, what->metric) * what->scale;
}

/* An interval; what is no more than a range of launches is not exported as one. */
bool export_has_interval(const struct report_point *point, const struct export_metric *what)
{
    return point->value[what->metric].range == REPORT_INTERVAL;
}

size_t export_count_bad(const struct report *report)
{
    size_t bad = 0;

    for (size_t i = 0; i < report->n_points; ++i)
        bad += !export_is_good(&report->point[i]);
    return bad;
}

/* ---- the table ------------------------------------------------------------------------------- */

static const struct {
    const char *name;
    int (*write)(FILE *to, const struct report *report);
} formats[EXPORT_FORMATS] = {
    {"csv", export_as_csv},
    {"bmf", export_as_bmf},
    {"github", export_as_github},
    {"openmetrics", export_as_openmetrics},
    {"annotations", export_as_annotations},
    {"junit", export_as_junit},
};

const char *export_name(size_t format)
{
    return formats[format].name;
}

static int by_text(const void *a, const void *b)
{
    return strcmp(a, b);
}

/* Two cells of one name, of runs that were not built or run alike, would be one to the reader. */
static int check_names(const struct report *report, struct text_error *err)
{
    char(*names)[EXPORT_NAME_BYTES] = calloc(report->n_points + 1, sizeof *names);
    int status = 0;

    if (!names) {
        snprintf(err->text, sizeof err->text, "no memory for %zu names", report->n_points);
        return -1;
    }
    for (size_t i = 0; i < report->n_points; ++i)
        export_name_of(&report->point[i], names[i]);
    qsort(names, report->n_points, sizeof *names, by_text);
    for (size_t i = 1; i < report->n_points && status == 0; ++i)
        if (strcmp(names[i - 1], names[i]) == 0) {
            snprintf(err->text, sizeof err->text,
                     "%.200s is there twice, of runs that were not built or run alike: export one "
                     "of them at a time",
                     names[i]);
            status = -1;
        }
    free(names);
    return status;
}

int export_write(FILE *to, size_t format, const struct report *report, struct text_error *err)
{
    if (check_names(report, err))
        return -1;
    if (formats[format].write(to, report) == 0)
        return 0;
    snprintf(err->text, sizeof err->text, "no memory for the numbers");
    return -1;
}

size_t export_count(const struct report *report)
{
    return report->n_points - export_count_bad(report);
}
