/* text/quantity.h: numbers with their unit, "4.1 ms", "475 GB/s": read, and written as they were
 * meant. A number without its unit is refused: a limit in another unit is one that never fails. */
#ifndef HARNESS_QUANTITY_H
#define HARNESS_QUANTITY_H

#include <stddef.h>

#include "text/text.h"

enum quantity_kind {
    QUANTITY_TIME,  /* ns; s, ms, us, ns */
    QUANTITY_RATE,  /* samples/s; with k, M, G before it */
    QUANTITY_BYTES, /* B; with k, M, G, T, or Ki, Mi, Gi, Ti */
    QUANTITY_RATIO, /* 1; x, or % */
    QUANTITY_SPEED, /* B/s; with k, M, G, T before it */
    QUANTITY_WORK,  /* FLOP/s; with G, T, P before it */
    QUANTITY_KINDS
};

/* "ns", "samples/s", "B", "1", "B/s" or "FLOP/s". */
const char *quantity_base_unit(enum quantity_kind kind);

/* 0, and *number is in base units; or -1, and why names the value and the units that are known. */
int quantity_read(const char *text, enum quantity_kind kind, double *number,
                  struct text_error *why);
/* "4.1 ms": three digits. Returns text. */
enum { QUANTITY_TEXT = 48 };
const char *quantity_words(double number, enum quantity_kind kind, char text[QUANTITY_TEXT]);
/* Adds "26 % lower than", of a time "26 % longer than", "3.1 times as high as". */
void quantity_add_difference(double value, double from, enum quantity_kind kind, char text[],
                             size_t bytes);

/* ---- times and rates as people read them: three digits, and a unit that keeps them short ---- */

enum { UNITS_BYTES = 32 };

/* "2.5 us", "1 ms", "1234 s": what three digits round to 1000 has the next unit. Returns text. */
const char *units_time(double ns, char text[UNITS_BYTES]);
/* Per second: "980", "1.5k", "3.2M", "1G". */
const char *units_rate(double rate, char text[UNITS_BYTES]);
/* A number above 0 with the largest unit that it is a multiple of: "300", "256Ki", "25Mi", "1Gi".
 */
const char *units_binary(size_t number, char text[UNITS_BYTES]);

#endif
