/* numbers/equal.h: the one comparator. Written so that NaN never passes. */
#ifndef HARNESS_EQUAL_H
#define HARNESS_EQUAL_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

static inline uint32_t equal_word(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

struct equal_report {
    size_t compared;
    size_t different;
    size_t first;     /* index of the first difference */
    double got, want; /* there */
    uint32_t got_bits, want_bits;
};

/* Bit for bit; a NaN or an infinity is a difference even when both sides have the same one.
 * 0 and -0 differ. Returns the number of differences; r may be NULL. */
size_t equal_bits(const float got[], const float want[], size_t n, struct equal_report *r);

/* got[i] must be want[i] rounded to float, bit for bit, except that +0 and -0 are the same
 * number (a double reference does not know the sign of an exact zero sum). */
size_t equal_exact(const float got[], const double want[], size_t n, struct equal_report *r);

/* |got - want| <= bound[i]; NaN and infinity anywhere are a difference. */
size_t equal_within(const float got[], const double want[], const double bound[], size_t n,
                    struct equal_report *r);

/* The largest |got - want| / bound; infinite where one is no number, or where a bound of 0 does not
 * hold. */
double equal_ratio(const float got[], const double want[], const double bound[], size_t n);

/* The most significant bits that one of these numbers has: up to 24, 0 where all are 0. A value
 * that is rounded to fewer is another one. */
int equal_significant(const float value[], size_t n);

/* "index 7: got 3 (0x40400000), want 4 (0x40800000); 2 of 30 differ" */
void equal_text(const struct equal_report *r, char *text, size_t bytes);

/* A 64-bit digest of the bytes; equal inputs have equal digests, a single changed bit always
 * changes it. Continue with the value returned; start with 0. */
uint64_t equal_digest(uint64_t digest, const void *data, size_t bytes);

#endif
