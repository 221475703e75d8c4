/* report/export_report.h: cells of records in a set for other programs. */
#ifndef HARNESS_REPORT_EXPORT_REPORT_H
#define HARNESS_REPORT_EXPORT_REPORT_H

#include "export/export.h"
#include "report/report.h"

/* The parts of a record_key. */
extern const struct export_parts export_record_parts;
/* One more cell: "mlp:8,4/dp/virt:2/batch 64/..." of its key, which stays the caller's. */
struct export_cell *export_add_record(struct export_set *set, const struct record_key *key);

/* The cells of records. One has numbers if all its planned launches are verified: medians over
 * launches, and their intervals. Any other is FAILED. As export_open. */
int export_report(const struct report *report, struct export_set *set);

/* What report and sweep print of records by --format: those sets, and the summary of a job. */
enum { REPORT_SUMMARY = EXPORT_FORMATS, REPORT_FORMATS };
#define REPORT_FORMAT_NAMES "csv|bmf|github|openmetrics|annotations|junit|md"
const char *report_format_name(size_t format);
/* Prints it on standard output. 0 and how many cells have numbers, or EXIT_MISUSE after one line.
 */
int report_print(const char *command, const struct report *report, size_t format,
                 size_t *with_numbers);

#endif
