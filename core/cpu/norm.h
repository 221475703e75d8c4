/* norm.h: how kernels of normalisation use their sums; for batch normalisation, those of a channel.
 */
#ifndef DP_NORM_H
#define DP_NORM_H

#include "../kernels.h"

#include <math.h>

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
