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
/* Prints it on standard output. 0 and how many cells have numbers, or EXIT_MISUSE after one line.
 */
int export_print_report(const char *command, const struct report *report, enum export_format format,
                        size_t *with_numbers);

#endif
