/* analysis/words.h: numbers in words, alone or at the end of a text. */
#ifndef HARNESS_ANALYSIS_WORDS_H
#define HARNESS_ANALYSIS_WORDS_H

#include "analysis/analysis.h"

/* Appends to text of that capacity; what does not fit is cut, and never inside a character. */
void report_add(char text[REPORT_CELL_TEXT], const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Appends "1.86", with two digits at least: a speed-up of 0.004 is not none. "-" when not finite.
 */
void report_add_ratio(char text[REPORT_CELL_TEXT], double ratio);
/* Appends "93 %", "<1 %"; "-" when not finite. */
void report_add_share(char text[REPORT_CELL_TEXT], double share);
/* Appends "[1.21, 1.25] ms", an interval, or "1.21..1.25 ms", a range; "-" without either. */
void report_add_range(char text[REPORT_CELL_TEXT], const struct report_value *value,
                      report_number_fn *number);
/* The middle in words, and the range. */
void report_add_metric(char text[REPORT_CELL_TEXT], const struct report_point *point, int metric);
void report_add_metric_range(char text[REPORT_CELL_TEXT], const struct report_point *point,
                             int metric);

/* A number in words: each returns text, or "-" where it is not finite. WORD: a buffer for one,
 * which lasts as long as the block. */
#define WORD ((char[32]){0})
/* "12.3 ms", "845 us": three digits. */
const char *report_time(double ns, char text[32]);
/* "1.23 M", "845": three digits. */
const char *report_rate(double per_second, char text[32]);
/* "74.7 GFLOP/s". */
const char *report_flops(double per_second, char text[32]);
/* "1.23 GB/s". */
const char *report_speed(double per_second, char text[32]);
/* "1.23 MiB", "845 B": three digits. */
const char *report_bytes(double bytes, char text[32]);
/* "1.86": two digits at least. */
const char *report_ratio(double ratio, char text[32]);
/* "93 %", "<1 %"; and "0 %" of what is known to be none. */
const char *report_share(double share, char text[32]);
const char *report_percent(double share, char text[32]);

#endif
