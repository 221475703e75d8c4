/* report/report.h: `lockstep report`, which makes a page, figures and tables from record files. */
#ifndef HARNESS_REPORT_H
#define HARNESS_REPORT_H

#include "analysis/analysis.h"

/* Runs the subcommand; argv[0] is "lockstep report". Returns the exit status, see --help. */
int report_main(int argc, char **argv);
/* Prints the numbers on standard output. Returns 0 and how many cells have numbers, or EXIT_MISUSE
 * after it has printed one line. */
int report_print(const char *command, const struct report *report, size_t format,
                 size_t *with_numbers);

#endif
