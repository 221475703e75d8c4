/* report/export_formats.h: internal to report/export*.c: what is exported of a point, and how each
 * format writes a report. */
#ifndef HARNESS_REPORT_EXPORT_FORMATS_H
#define HARNESS_REPORT_EXPORT_FORMATS_H

#include "report/report.h"

/* A number of a point: the value of the catalogue times scale. */
struct export_metric {
    int metric;
    const char *name, *unit; /* joined by _ they are a column of CSV and a family of OpenMetrics */
    double scale;
    const char *measure; /* Bencher's */
};
enum { EXPORT_METRICS = 6, EXPORT_STEP = 0 };
extern const struct export_metric export_metrics[EXPORT_METRICS];

enum { EXPORT_NAME_BYTES = 512 };
/* "mlp:8,4/dp/virt:2/batch 64/...": what tells a point from all others of its files. */
void export_name_of(const struct report_point *point, char name[EXPORT_NAME_BYTES]);
/* Why a point has no numbers; "": it has. */
void export_why_not(const struct report_point *point, char why[REPORT_CELL_TEXT]);
bool export_is_good(const struct report_point *point);
size_t export_count_bad(const struct report *report);
double export_value_of(const struct report_point *point, const struct export_metric *what);
/* What is no more than a range of launches is not exported as an interval. */
bool export_has_interval(const struct report_point *point, const struct export_metric *what);

/* 0, or -1: memory is short. */
int export_as_csv(FILE *to, const struct report *report);
int export_as_bmf(FILE *to, const struct report *report);
int export_as_github(FILE *to, const struct report *report);
int export_as_openmetrics(FILE *to, const struct report *report);
int export_as_annotations(FILE *to, const struct report *report);
int export_as_junit(FILE *to, const struct report *report);

#endif
