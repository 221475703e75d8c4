/* analysis/words.h: prints numbers in words, alone or at the end of a text. */
#ifndef HARNESS_ANALYSIS_WORDS_H
#define HARNESS_ANALYSIS_WORDS_H

#include "analysis/analysis.h"

/* Appends to text. Text beyond its capacity is cut, but never inside a character. */
void report_add(char text[REPORT_CELL_TEXT], const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Appends "1.86", with at least two significant digits: a speed-up of 0.004 must not look like 0.
 * Appends "-" if it is not finite. */
void report_add_ratio(char text[REPORT_CELL_TEXT], double ratio);
/* Appends "93 %" or "<1 %", and "-" if it is not finite. */
void report_add_share(char text[REPORT_CELL_TEXT], double share);
/* Appends an interval as "[1.21, 1.25] ms", a range as "1.21..1.25 ms", and "-" without either. */
void report_add_range(char text[REPORT_CELL_TEXT], const struct report_value *value,
                      report_number_fn *number);
/* The first appends the median in words, the second the range. */
void report_add_metric(char text[REPORT_CELL_TEXT], const struct report_point *point, int metric);
void report_add_metric_range(char text[REPORT_CELL_TEXT], const struct report_point *point,
                             int metric);

/* The functions that follow print a number in words. Each returns text, or "-" if the number is not
 * finite. WORD is space for one number; it lasts as long as the block that it is in. */
#define WORD ((char[32]){0})
/* "12.3 ms" or "845 us", with three digits. */
const char *report_time(double ns, char text[32]);
/* "1.23 M" or "845", with three digits. */
const char *report_rate(double per_second, char text[32]);
/* "74.7 GFLOP/s". */
const char *report_flops(double per_second, char text[32]);
/* "1.23 GB/s". */
const char *report_speed(double per_second, char text[32]);
/* "1.23 MiB" or "845 B", with three digits. */
const char *report_bytes(double bytes, char text[32]);
/* "1.86", with at least two digits. */
const char *report_ratio(double ratio, char text[32]);
/* "93 %" or "<1 %"; "0 %" only for a share that is known to be 0. */
const char *report_share(double share, char text[32]);
const char *report_percent(double share, char text[32]);

#endif
