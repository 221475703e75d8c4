/* lanes.h: sums in double, in an order that lets a CPU add several numbers at a time; see
 * kernels.h. */
#ifndef DP_LANES_H
#define DP_LANES_H

#include <math.h>
#include <stddef.h>
#include <string.h>

#include "../kernels.h"

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

/* ---- how kernels of normalisation use their sums; of batch normalisation, of a channel ---- */

/* y = (x - mean) * factor + bias */
struct dp_norm_line {
    double mean, factor, bias;
};

/* It also saves the numbers that the gradient reads. */
static inline struct dp_norm_line dp_norm_line(const struct dp_batch_norm_args *g, size_t c,
                                               double mean, double var)
{
    const double invstd = 1.0 / sqrt(var + g->eps);
    g->mean[c] = (float)mean;
    g->invstd[c] = (float)invstd;
    return (struct dp_norm_line){mean, invstd * (double)g->weight[c], (double)g->bias[c]};
}

static inline void dp_norm_move(float *running, double momentum, double value)
{
    *running = (float)((1.0 - momentum) * (double)*running + momentum * value);
}

/* dx = factor * (dy - shift - xhat * slope), xhat = (x - mean) * invstd */
struct dp_norm_slope {
    double mean, invstd, factor, shift, slope;
};

static inline struct dp_norm_slope dp_norm_slope(const struct dp_batch_norm_args *g, size_t c,
                                                 double sum, double product)
{
    const double n = (double)(g->rows * g->inner), invstd = (double)g->invstd[c];
    return (struct dp_norm_slope){.mean = (double)g->mean[c],
                                  .invstd = invstd,
                                  .factor = (double)g->weight[c] * invstd,
                                  .shift = g->training ? sum / n : 0.0,
                                  .slope = g->training ? product / n : 0.0};
}

/* grad may be NULL: not wanted. */
static inline void dp_norm_add(float *grad, size_t c, double value, bool accumulate)
{
    if (grad)
        grad[c] = (float)(accumulate ? (double)grad[c] + value : value);
}

#endif
