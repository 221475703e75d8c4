/* lanes.h: sums in double whose order lets a CPU add several numbers at a time, as kernels.h says.
 */
#ifndef DP_LANES_H
#define DP_LANES_H

#include <stddef.h>
#include <string.h>

enum { DP_SUM_LANES = 8 };

/* A number for each lane. As an array they would be added one by one: compilers unroll a loop over
 * its lanes before they vectorise. */
typedef double dp_lanes __attribute__((vector_size(DP_SUM_LANES * sizeof(double))));

/* Compiled as a part of its caller, for its caller's CPU. */
#define DP_LANES_PART static inline __attribute__((always_inline))

DP_LANES_PART void dp_lanes_load(dp_lanes *to, const float *from)
{
    for (size_t l = 0; l < DP_SUM_LANES; ++l)
        (*to)[l] = (double)from[l];
}

/* Rounded. */
DP_LANES_PART void dp_lanes_store(float *to, const dp_lanes *from)
{
    for (size_t l = 0; l < DP_SUM_LANES; ++l)
        to[l] = (float)(*from)[l];
}

static inline double dp_sum_of_lanes(const double lane[DP_SUM_LANES])
{
    return ((lane[0] + lane[4]) + (lane[2] + lane[6])) +
           ((lane[1] + lane[5]) + (lane[3] + lane[7]));
}

#endif
