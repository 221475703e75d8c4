/* digest.c: the digest of a message. */
#include "inside.h"

#include <string.h>

/* So many words are folded at a time: the compiler makes independent vectors of them. */
enum { DIGEST_LANES = 16, DIGEST_ROTATION = 23 };

static const uint64_t DIGEST_STEP = 0x9e3779b97f4a7c15u;

/* If the word or the old lane differs, the new lane differs. The sum carries: without it, two words
 * whose places are a whole turn apart could be swapped unseen. */
static void fold_words(uint64_t lane[DIGEST_LANES], const void *from)
{
    uint64_t word[DIGEST_LANES];
    memcpy(word, from, sizeof word);
    for (int l = 0; l < DIGEST_LANES; ++l) {
        const uint64_t x = lane[l] ^ word[l];
        lane[l] = (x << DIGEST_ROTATION | x >> (64 - DIGEST_ROTATION)) + DIGEST_STEP;
    }
}

uint64_t dp_mpi_place(int tag, size_t message)
{
    return (uint64_t)tag << 48 | message;
}

uint64_t dp_mpi_digest(uint64_t place, const void *bytes, size_t n)
{
    uint64_t lane[DIGEST_LANES], rest[DIGEST_LANES] = {0}, all = 0;
    const unsigned char *from = bytes;
    for (uint64_t l = 0; l < DIGEST_LANES; ++l)
        lane[l] = l;
    lane[0] = place;
    lane[1] = n;
    for (; n >= sizeof rest; n -= sizeof rest, from += sizeof rest)
        fold_words(lane, from);
    memcpy(rest, from, n);
    fold_words(lane, rest);
    for (int l = 0; l < DIGEST_LANES; ++l) {
        all = (all ^ lane[l]) * DIGEST_STEP;
        all ^= all >> 29;
    }
    return all;
}
