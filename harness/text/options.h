/* text/options.h: parsing of option values. Every failure fills text with one line that names the
 * value and what is allowed. */
#ifndef HARNESS_OPTIONS_H
#define HARNESS_OPTIONS_H

#include <stddef.h>

#include "text/text.h"

/* "4096", "64Ki", "1Mi", "2Gi": 0 on success. Rejects signs, spaces, fractions, overflow and
 * anything outside min..max. */
int option_size(const char *value, size_t min, size_t max, size_t *size, struct text_error *why);

/* "0.5", "1e-3": as above; rejects signs in front, spaces, hexadecimal, NaN and infinity. */
int option_real(const char *value, double min, double max, double *number, struct text_error *why);

/* "1,2,4" or "32:4096:x2" or "10:30:+10", mixed by commas: "10,30,32:4096:x2". Result sorted,
 * duplicates removed. A last step that passes the end is cut ("10:25:+10" is 10,20). */
int option_sizes(const char *value, size_t min, size_t max, size_t list[], size_t capacity,
                 size_t *n, struct text_error *why);

/* One of names[0..n-1]; *index is set. The message lists the known names, nearest first. */
int option_name(const char *what, const char *value, const char *const names[], size_t n,
                size_t *index, struct text_error *why);

#endif
