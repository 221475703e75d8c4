/* sweep/numbers.h: the numbers of a sweep for other programs. */
#ifndef HARNESS_SWEEP_NUMBERS_H
#define HARNESS_SWEEP_NUMBERS_H

#include "report/export_report.h"

/* Prints what `lockstep report --format` prints of the file. 0, or EXIT_MISUSE after one line. */
int sweep_print_numbers(const char *command, const char *path, size_t format);

#endif
