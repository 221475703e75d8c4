/* report/report.h: `lockstep report`, from record files to a page, figures and a table. */
#ifndef HARNESS_REPORT_H
#define HARNESS_REPORT_H

#include "analysis/analysis.h"

/* The subcommand; argv[0] is "lockstep report". Returns the exit status, see --help. */
int report_main(int argc, char **argv);
/* Prints the numbers on standard output. 0 and how many cells have numbers, or EXIT_MISUSE after
 * one line.
 */
int report_print(const char *command, const struct report *report, size_t format,
                 size_t *with_numbers);

#endif
