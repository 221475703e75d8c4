/* text/units.h: times and rates as people read them: three digits, and a unit that keeps them
 * short. */
#ifndef HARNESS_UNITS_H
#define HARNESS_UNITS_H

#include <stddef.h>

enum { UNITS_BYTES = 32 };

/* "2.5 us", "1 ms", "1234 s": what three digits round to 1000 has the next unit. Returns text. */
const char *units_time(double ns, char text[UNITS_BYTES]);
/* Per second: "980", "1.5k", "3.2M", "1G". */
const char *units_rate(double rate, char text[UNITS_BYTES]);
/* A number above 0 with the largest unit that it is a multiple of: "300", "256Ki", "25Mi", "1Gi".
 */
const char *units_binary(size_t number, char text[UNITS_BYTES]);

#endif
