/* compare/export.h: internal to this room: what comparisons print, by the name of --format. First
 * come the forms that each comparison has of its own, then those of other programs, for which it
 * makes a set (export/export.h): two files here, the others in pairs_export.c and
 * baseline_export.c.
 *
 * It fails closed: what is INVALID has no numbers and is an error; what decides nothing is never a
 * test that passed. */
#ifndef HARNESS_COMPARE_EXPORT_H
#define HARNESS_COMPARE_EXPORT_H

#include "analysis/analysis.h"
#include "compare/exact.h"

enum { COMPARE_FORMATS = COMPARE_FORMS + EXPORT_FORMATS };
const char *compare_format_name(size_t format);

/* Numbers of a cell: ratios. */
enum { COMPARE_TIME, COMPARE_COST, COMPARE_DETECTABLE, COMPARE_METRICS };

/* A set with room for the cells, what all of them show, what the machine is worth, and all that
 * changed. 0, or -1 when memory
 * is short; close it in any case. */
int compare_export_begin(struct export_set *set, const char *const *verdicts, size_t n_verdicts,
                         size_t cells, const struct exact_changes *changes);
/* What came of a cell that has all else. */
void compare_export_judge(struct export_cell *cell, enum export_state state, size_t verdict);
/* Without --exact they are said, and fail nothing. */
void compare_export_changes(struct export_set *set, const struct exact_changes *changes,
                            const struct exact_names *names, bool exact);
/* Two files, likewise. */
int compare_export(const struct compare *compare, struct export_set *set);
/* Writes in the format and closes; made: what making the set gave. 0, or -1 after one line. */
int compare_export_write(FILE *to, size_t format, int made, struct export_set *set);

#endif
