/* report/export.h: the numbers of a report in formats of other programs. */
#ifndef HARNESS_REPORT_EXPORT_H
#define HARNESS_REPORT_EXPORT_H

#include "report/report.h"

/* csv (RFC 4180), bmf (Bencher Metric Format), github (github-action-benchmark,
 * customSmallerIsBetter), openmetrics (OpenMetrics 1.0), annotations (workflow commands of GitHub
 * Actions), junit. */
enum { EXPORT_FORMATS = 6 };
const char *export_name(size_t format);

/* Of every cell whose planned launches are all verified: the median over launches, and its interval
 * where there is one. 0, or -1 and why; then something may have been written. Whether all of it
 * could be is for the caller to ask. */
int export_write(FILE *to, size_t format, const struct report *report, struct text_error *err);
/* Cells that have numbers. */
size_t export_count(const struct report *report);

#endif
