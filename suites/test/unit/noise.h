/* noise.h: numbers of fixed sequences, for tests by simulation. */
#ifndef UNIT_NOISE_H
#define UNIT_NOISE_H

#include <stdint.h>

/* Return the next number of a sequence: in (0, 1), of a 64-bit linear congruence; and of the normal
 * distribution. */
double noise_uniform(uint64_t *state);
double noise_normal(uint64_t *state);

#endif
