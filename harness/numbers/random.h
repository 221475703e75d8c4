/* numbers/random.h: splitmix64: evenly spread bits that are a function of a seed alone. */
#ifndef HARNESS_NUMBERS_RANDOM_H
#define HARNESS_NUMBERS_RANDOM_H

#include <stdint.h>

static inline uint64_t random_mixed(uint64_t x)
{
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

static inline uint64_t random_next(uint64_t *state)
{
    return random_mixed(*state += UINT64_C(0x9e3779b97f4a7c15));
}

#endif
