/* lanes.h: sums in double whose order lets a CPU add several numbers at a time, as kernels.h says.
 */
#ifndef DP_LANES_H
#define DP_LANES_H

enum { DP_SUM_LANES = 8 };

static inline double dp_sum_of_lanes(const double lane[DP_SUM_LANES])
{
    return ((lane[0] + lane[4]) + (lane[2] + lane[6])) +
           ((lane[1] + lane[5]) + (lane[3] + lane[7]));
}

#endif
