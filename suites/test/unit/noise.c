/* noise.c: see noise.h. */
#include "noise.h"

#include <math.h>

double noise_uniform(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return ((double)(*state >> 11) + 0.5) / 9007199254740992.0;
}

/* By the method of Box and Muller. */
double noise_normal(uint64_t *state)
{
    const double radius = sqrt(-2 * log(noise_uniform(state)));
    return radius * cos(2 * acos(-1) * noise_uniform(state));
}
