/* equal.c: tests of the comparator: NaN and infinity never pass; and of the digest. */
#include <criterion/criterion.h>
#include <float.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "numbers/equal.h"

#define NAN_F ((float)NAN)
#define INF_F ((float)INFINITY)

Test(equal, bits)
{
    const float x[] = {1, -2.5F, 0, FLT_MIN / 2, FLT_MAX};
    struct equal_report r;
    cr_assert(equal_bits(x, x, 5, &r) == 0 && r.compared == 5 && r.different == 0);
    cr_assert(equal_bits(x, x, 5, NULL) == 0);
    const float y[] = {1, -2.5F, -0.0F, FLT_MIN / 2, FLT_MAX};
    cr_assert(equal_bits(x, y, 5, &r) == 1 && r.first == 2, "0 and -0 differ");
    cr_assert(equal_bits(x, y, 0, &r) == 0 && r.compared == 0);
    const float one_bit[] = {nextafterf(1, 2)};
    cr_assert(equal_bits(x, one_bit, 1, &r) == 1, "one bit in the last place");
}

Test(equal, bits_never_pass_what_is_not_finite)
{
    const float bad[] = {NAN_F, INF_F, -INF_F};
    const float good[] = {1, 1, 1};
    cr_assert(equal_bits(bad, bad, 3, NULL) == 3, "the same NaN or infinity on both sides");
    cr_assert(equal_bits(bad, good, 3, NULL) == 3);
    cr_assert(equal_bits(good, bad, 3, NULL) == 3);
}

/* Wherever it is: numbers are compared in blocks of 1024. */
Test(equal, bits_in_any_block)
{
    enum { N = 2 * 1024 + 7 };
    static const size_t places[] = {0, 1023, 1024, 2047, 2048, N - 1};
    static const float bad[] = {1.5F, NAN, INFINITY};
    static float got[N], want[N];
    struct equal_report r;

    for (size_t i = 0; i < N; ++i)
        got[i] = want[i] = (float)i;
    cr_assert(equal_bits(got, want, N, &r) == 0 && r.compared == N);
    for (size_t p = 0; p < sizeof places / sizeof places[0]; ++p)
        for (size_t b = 0; b < sizeof bad / sizeof bad[0]; ++b) {
            const size_t i = places[p];

            got[i] = want[i] = bad[b];
            if (b == 0)
                want[i] = -1.5F;
            cr_expect(equal_bits(got, want, N, &r) == 1 && r.first == i, "%zu, %zu", p, b);
            got[i] = want[i] = (float)i;
        }
    got[1] = got[1024] = -1;
    cr_assert(equal_bits(got, want, N, &r) == 2 && r.first == 1 && r.compared == N);
}

Test(equal, exact)
{
    const float got[] = {1, -0.0F, 0, 0.1F};
    const double want[] = {1, 0, -0.0, 0.1};
    cr_assert(equal_exact(got, want, 4, NULL) == 0, "zeros are one number, 0.1 is rounded");
    const double off[] = {1 + 1e-7, 0, 0, 0.1};
    struct equal_report r;
    cr_assert(equal_exact(got, off, 4, &r) == 1 && r.first == 0, "next to 1");
    const double tiny[] = {1, DBL_MIN, 0, 0.1};
    cr_assert(equal_exact(got, tiny, 4, NULL) == 0, "rounds to zero");
    const float bad[] = {NAN_F, INF_F, FLT_MAX, INF_F};
    const double same[] = {(double)NAN, (double)INFINITY, (double)INFINITY, 1e300};
    cr_assert(equal_exact(bad, same, 4, NULL) == 4, "nothing that is not finite passes");
}

Test(equal, within)
{
    const float got[] = {1, 2, 3};
    const double want[] = {1.25, 2, 3.5}, bound[] = {0.25, 0, 0.25};
    struct equal_report r;
    cr_assert(equal_within(got, want, bound, 3, &r) == 1 && r.first == 2);
    const float finite[] = {1, 1, 1, 1, 1, NAN_F, INF_F};
    const double wants[] = {(double)NAN, (double)INFINITY, 1, 1, 1, 1, (double)INFINITY};
    const double bounds[] = {1, 1, (double)NAN, (double)INFINITY, -1, 1, 1};
    cr_assert(equal_within(finite, wants, bounds, 7, NULL) == 7);
}

Test(equal, text)
{
    const float got[] = {1, 3, 5}, want[] = {1, 4, 6};
    struct equal_report r;
    char text[200];
    cr_assert(equal_bits(got, want, 3, &r) == 2);
    equal_text(&r, text, sizeof text);
    cr_assert(strcmp(text, "index 1: got 3 (0x40400000), want 4 (0x40800000); 2 of 3 differ") == 0,
              "%s", text);
    cr_assert(equal_bits(got, got, 3, &r) == 0);
    equal_text(&r, text, sizeof text);
    cr_assert(strcmp(text, "all 3 equal") == 0, "%s", text);
    char small[8] = "zzzzzzz";
    equal_text(&r, small, 5);
    cr_assert(strcmp(small, "all ") == 0 && small[5] == 'z', "wrote beyond the room given");
}

/* Every bit of inputs of 0 to 80 bytes, at every alignment of the last word. */
Test(equal, digest_sees_every_bit)
{
    unsigned char data[80];
    for (size_t i = 0; i < sizeof data; ++i)
        data[i] = (unsigned char)(i * 37);
    for (size_t bytes = 1; bytes <= sizeof data; ++bytes) {
        const uint64_t want = equal_digest(5, data, bytes);
        cr_assert(equal_digest(5, data, bytes) == want, "%zu bytes: not a function", bytes);
        for (size_t bit = 0; bit < 8 * bytes; ++bit) {
            data[bit / 8] ^= (unsigned char)(1U << bit % 8);
            cr_assert(equal_digest(5, data, bytes) != want, "%zu bytes, bit %zu", bytes, bit);
            data[bit / 8] ^= (unsigned char)(1U << bit % 8);
        }
    }
}

Test(equal, digest_sees_length_order_and_history)
{
    const unsigned char zeros[64] = {0};
    const uint64_t words[] = {1, 2, 3, 4, 5, 6, 7, 8}, swapped[] = {2, 1, 3, 4, 5, 6, 7, 8};
    cr_assert(equal_digest(0, zeros, 32) != equal_digest(0, zeros, 33), "trailing zeros");
    cr_assert(equal_digest(0, zeros, 33) != equal_digest(0, zeros, 34), "zeros in one word");
    cr_assert(equal_digest(0, zeros, 0) != equal_digest(0, zeros, 8), "zeros after nothing");
    cr_assert(equal_digest(0, words, 64) != equal_digest(0, swapped, 64), "lanes are ordered");
    cr_assert(equal_digest(1, words, 64) != equal_digest(2, words, 64), "history is lost");
    cr_assert(equal_digest(0, NULL, 0) == equal_digest(0, zeros, 0));
}

/* Two large inputs that differ in one bit in the middle, continued by equal data. */
Test(equal, digest_keeps_a_difference)
{
    static unsigned char a[100003], b[100003];
    memset(a, 7, sizeof a);
    memcpy(b, a, sizeof b);
    for (size_t at = 11; at < sizeof b; at += 4999) {
        b[at] ^= 0x10;
        uint64_t one = equal_digest(0, a, sizeof a), two = equal_digest(0, b, sizeof b);
        cr_assert(one != two, "byte %zu", at);
        for (int i = 0; i < 20; ++i) {
            one = equal_digest(one, a, 40);
            two = equal_digest(two, a, 40);
        }
        cr_assert(one != two, "byte %zu: forgotten", at);
        b[at] ^= 0x10;
    }
}

Test(equal, significant_bits)
{
    static const struct {
        float value;
        int bits;
    } table[] = {{0.0f, 0},       {-0.0f, 0},          {1.0f, 1},          {-1024.0f, 1},
                 {3.0f, 2},       {-2.5f, 3},          {16777215.0f, 24},  {16777214.0f, 23},
                 {0x1.8p-20f, 2}, {0x1.000002p0f, 24}, {0x1.000004p9f, 23}};
    float all[sizeof table / sizeof table[0]];

    for (size_t i = 0; i < sizeof table / sizeof table[0]; ++i) {
        all[i] = table[i].value;
        cr_assert(equal_significant(&table[i].value, 1) == table[i].bits, "%g",
                  (double)table[i].value);
    }
    cr_assert(equal_significant(all, sizeof all / sizeof all[0]) == 24);
    cr_assert(equal_significant(all, 6) == 3 && equal_significant(all, 0) == 0);
}
