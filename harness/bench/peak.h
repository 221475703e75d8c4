/* bench/peak.h: what a core can do at most: loops that only multiply and add, or only read. Whoever
 * calls one checks its result, which is known beforehand. */
#ifndef HARNESS_BENCH_PEAK_H
#define HARNESS_BENCH_PEAK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PEAK_FLOATS = 192 }; /* at most, in the registers of a core */

/* A set of instructions. run: each of so many sums becomes sum * factor + term, so many times; each
 * time that is two operations of a sum. No sum waits for another one. */
struct peak {
    const char *name;
    size_t floats;
    bool (*here)(void); /* this CPU has them */
    void (*run)(size_t times, float factor, float term, float sums[]);
};
/* The widest that this CPU has. */
const struct peak *peak_of_cpu(void);

/* The sum of n numbers, modulo 2^64. */
uint64_t peak_read(const uint64_t x[], size_t n);

#endif
