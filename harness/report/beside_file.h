/* report/beside_file.h: the files of --beside, by the program that wrote them. */
#ifndef HARNESS_REPORT_BESIDE_FILE_H
#define HARNESS_REPORT_BESIDE_FILE_H

#include "report/report.h"

/* Into report->beside, which has room for it, or report->nvbandwidth. 0, or -1 and why. */
int beside_file_add(const char *path, struct report *report, struct text_error *err);
/* Whether the records have what they stand beside; 0, or -1 and what is missing. */
int beside_file_check(const struct report *report, struct text_error *err);
void beside_files_free(struct report *report);

#endif
