/* lanes.h: sums in double, in an order that lets a CPU add several numbers at a time; see
 * kernels.h. */
#ifndef DP_LANES_H
#define DP_LANES_H

#include <stddef.h>
#include <string.h>

enum { DP_SUM_LANES = 8 };

/* A number for each lane. With an array they would be added one by one, because compilers unroll a
 * loop over the lanes before they vectorise. */
typedef double dp_lanes __attribute__((vector_size(DP_SUM_LANES * sizeof(double))));

/* Compiled into its caller, for the CPU of its caller. */
#define DP_LANES_PART static inline __attribute__((always_inline))

DP_LANES_PART void dp_lanes_load(dp_lanes *to, const float *from)
{
    for (size_t l = 0; l < DP_SUM_LANES; ++l)
        (*to)[l] = (double)from[l];
}

/* Stores the rounded numbers. */
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
