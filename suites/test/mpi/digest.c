/* digest.c: the digest of a message changes with every bit, with two words that change places, with
 * the length and with the place, also if floats differ only in their sign. */
#include "../../../core/mpi/inside.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 4096 + 40, WORDS = 1100, LENGTHS = 300 };

static int failures;

static void digest_expect(bool ok, const char *what, size_t a, size_t b)
{
    if (ok)
        return;
    ++failures;
    printf("FAIL %s: %zu, %zu\n", what, a, b);
}

static void test_bits(unsigned char *bytes, size_t n)
{
    const uint64_t digest = dp_mpi_digest(7, bytes, n);

    for (size_t i = 0; i < n; ++i)
        for (int bit = 0; bit < 8; ++bit) {
            bytes[i] ^= (unsigned char)(1 << bit);
            digest_expect(dp_mpi_digest(7, bytes, n) != digest, "a bit does not show", n, i);
            bytes[i] ^= (unsigned char)(1 << bit);
        }
}

static void test_swaps(uint64_t *words, size_t n)
{
    const uint64_t digest = dp_mpi_digest(7, words, n * sizeof *words);

    for (size_t i = 0; i < n; ++i)
        for (size_t k = i + 1; k < n; ++k) {
            const uint64_t one = words[i], two = words[k];

            words[i] = two;
            words[k] = one;
            digest_expect(one == two || dp_mpi_digest(7, words, n * sizeof *words) != digest,
                          "words that change places do not show", i, k);
            words[i] = one;
            words[k] = two;
        }
}

static void test_places(const unsigned char *zeros)
{
    uint64_t seen[2 * LENGTHS];
    size_t n = 0;

    /* The same bytes, but more of them, in another message, or in a flow of another tag. */
    for (size_t i = 0; i < LENGTHS; ++i) {
        seen[n++] = dp_mpi_digest(dp_mpi_place(WIRE_TAG_NUMBERS, 0), zeros, i);
        seen[n++] = i % 2 ? dp_mpi_digest(dp_mpi_place(WIRE_TAG_NUMBERS, i), zeros, 256)
                          : dp_mpi_digest(dp_mpi_place(WIRE_TAG_SUMS, i), zeros, 256);
    }
    for (size_t i = 0; i < n; ++i)
        for (size_t k = 0; k < i; ++k)
            digest_expect(seen[i] != seen[k], "another place or length does not show", i, k);
}

int main(void)
{
    unsigned char *bytes = calloc(1, MOST);
    uint64_t *words = calloc(WORDS, sizeof *words);

    if (!bytes || !words)
        return 2;
    test_places(bytes);
    for (size_t n = 1; n <= LENGTHS; ++n)
        test_bits(bytes, n);
    for (size_t i = 0; i < MOST; ++i)
        bytes[i] = (unsigned char)(i * 7 + i / 255);
    test_bits(bytes, LENGTHS);
    test_bits(bytes, MOST);
    /* Signs alone; one bit in each word; its complement; small whole numbers. */
    for (int kind = 0; kind < 4; ++kind) {
        for (size_t i = 0; i < WORDS; ++i) {
            const float pair[2] = {(float)(i % 5), i * i % 3 ? 1.0F : -1.0F};

            memcpy(&words[i], pair, sizeof pair);
            words[i] = kind == 0   ? (uint64_t)(i * i % 3) << 63
                       : kind == 1 ? (uint64_t)1 << i % 64
                       : kind == 2 ? 0 - (uint64_t)(i * i % 3 == 0)
                                   : words[i];
        }
        test_swaps(words, WORDS);
    }
    free(bytes);
    free(words);
    printf("%s\n", failures ? "FAIL" : "ok");
    return failures != 0;
}
