/* numbers/equal.c: the one comparator and the digest of a step's results.
 *
 * Every comparison is "is it equal, and finite", never "is it different": NaN fails. */
#include "numbers/equal.h"

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { BLOCK = 1024 }; /* numbers that are looked at together */

static void note_difference(struct equal_report *r, size_t i, float got, double want)
{
    if (r->different == 0) {
        r->first = i;
        r->got = (double)got;
        r->want = want;
        r->got_bits = equal_word(got);
        r->want_bits = equal_word((float)want);
    }
    ++r->different;
}

static size_t finish(const struct equal_report *report, struct equal_report *r)
{
    if (r)
        *r = *report;
    return report->different;
}

/* Without a branch for each number: most blocks have no difference. */
static bool block_is_same(const float got[], const float want[], size_t n)
{
    const uint32_t exponent = 0x7f800000U;
    uint32_t different = 0;
    for (size_t i = 0; i < n; ++i) {
        const uint32_t bits = equal_word(got[i]);
        different |= (bits ^ equal_word(want[i])) | (uint32_t)((bits & exponent) == exponent);
    }
    return different == 0;
}

size_t equal_bits(const float got[], const float want[], size_t n, struct equal_report *r)
{
    struct equal_report report = {.compared = n};
    for (size_t begin = 0, end; begin < n; begin = end) {
        end = n - begin < BLOCK ? n : begin + BLOCK;
        if (block_is_same(got + begin, want + begin, end - begin))
            continue;
        for (size_t i = begin; i < end; ++i) {
            const bool same = isfinite(got[i]) && equal_word(got[i]) == equal_word(want[i]);
            if (!same)
                note_difference(&report, i, got[i], (double)want[i]);
        }
    }
    return finish(&report, r);
}

size_t equal_exact(const float got[], const double want[], size_t n, struct equal_report *r)
{
    struct equal_report report = {.compared = n};
    for (size_t i = 0; i < n; ++i) {
        const float rounded = (float)want[i];
        const bool zeros = got[i] == 0 && rounded == 0;
        const bool same = zeros || equal_word(got[i]) == equal_word(rounded);
        if (!(same && isfinite(got[i]) && isfinite(want[i])))
            note_difference(&report, i, got[i], want[i]);
    }
    return finish(&report, r);
}

size_t equal_within(const float got[], const double want[], const double bound[], size_t n,
                    struct equal_report *r)
{
    struct equal_report report = {.compared = n};
    for (size_t i = 0; i < n; ++i) {
        const bool finite = isfinite(got[i]) && isfinite(want[i]) && isfinite(bound[i]);
        if (!(finite && fabs((double)got[i] - want[i]) <= bound[i]))
            note_difference(&report, i, got[i], want[i]);
    }
    return finish(&report, r);
}

double equal_ratio(const float got[], const double want[], const double bound[], size_t n)
{
    double most = 0;

    for (size_t i = 0; i < n; ++i) {
        const double away = fabs((double)got[i] - want[i]);
        if (!(away <= most * bound[i])) {
            const double ratio = away / bound[i];

            most = isfinite(ratio) ? ratio : (double)INFINITY;
        }
    }
    return most;
}

int equal_significant(const float value[], size_t n)
{
    int most = 0;

    for (size_t i = 0; i < n; ++i) {
        const uint32_t word = (equal_word(value[i]) & 0x7fffffU) | 0x800000U;
        const int bits = value[i] == 0 ? 0 : 24 - __builtin_ctz(word);

        most = bits > most ? bits : most;
    }
    return most;
}

void equal_text(const struct equal_report *r, char *text, size_t bytes)
{
    if (r->different == 0) {
        snprintf(text, bytes, "all %zu equal", r->compared);
        return;
    }
    snprintf(text, bytes,
             "index %zu: got %.9g (0x%08" PRIx32 "), want %.9g (0x%08" PRIx32
             "); %zu of %zu differ",
             r->first, r->got, r->got_bits, r->want, r->want_bits, r->different, r->compared);
}

/* A bijection of 64-bit words: an odd factor and a shift-xor can both be undone. */
static uint64_t mix(uint64_t word)
{
    word *= UINT64_C(0x9e3779b97f4a7c15);
    return word ^ (word >> 32);
}

static uint64_t load_word(const unsigned char *p)
{
    uint64_t word;
    memcpy(&word, p, sizeof word);
    return word;
}

/* Four lanes, because one would wait for its own multiplication. A change within one word changes
 * its lane for good, since each step is a bijection of the lane for given data and of the data for
 * a given lane; the end is a bijection of each lane for given others, and of the digest. */
uint64_t equal_digest(uint64_t digest, const void *data, size_t bytes)
{
    uint64_t a = UINT64_C(0x243f6a8885a308d3), b = UINT64_C(0x13198a2e03707344);
    uint64_t c = UINT64_C(0xa4093822299f31d0), d = UINT64_C(0x082efa98ec4e6c89);
    const unsigned char *p = data;
    size_t left = bytes;
    for (; left >= 32; left -= 32, p += 32) {
        a = mix(a ^ load_word(p));
        b = mix(b ^ load_word(p + 8));
        c = mix(c ^ load_word(p + 16));
        d = mix(d ^ load_word(p + 24));
    }
    for (; left >= 8; left -= 8, p += 8)
        a = mix(a ^ load_word(p));
    if (left > 0) {
        uint64_t word = 0;
        memcpy(&word, p, left);
        a = mix(a ^ word);
    }
    digest = mix(digest ^ (uint64_t)bytes);
    digest = mix(digest ^ a);
    digest = mix(digest ^ b);
    digest = mix(digest ^ c);
    return mix(digest ^ d);
}
