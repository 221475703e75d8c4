/* launch_inexact.c: twins of the kernels that core/cuda/launch.h does not promise the portable bits
 * of: computed on the host as the GPU does it. */
#include "launch_twins.h"

#include <math.h>

static double loss_term(const struct dp_loss_args *g, size_t i)
{
    const float *t = g->target;
    const double y = (double)g->y[i];
    if (g->kind == DP_LOSS_MSE)
        return (y - (double)t[i]) * (y - (double)t[i]);
    return t ? y * (double)t[i] : y;
}

static double row_term(const struct dp_loss_args *g, size_t row)
{
    const int32_t class = ((const int32_t *)g->target)[row];
    const float *y = g->y + row * g->cols;
    double largest = (double)y[0], sum = 0.0;
    if (class < 0 || (size_t) class >= g->cols)
        return (double)NAN;
    for (size_t c = 1; c < g->cols; ++c)
        largest = (double)y[c] > largest ? (double)y[c] : largest;
    for (size_t c = 0; c < g->cols; ++c)
        sum += exp((double)y[c] - largest);
    return largest + log(sum) - (double)y[class];
}

enum { THREADS = 256 };

/* The threads of one block, each with every so many terms, then the tree of their sums: what the
 * kernel does where one block is enough. */
static void loss(const void *args)
{
    const struct dp_loss_args *g = args;
    const bool classes = g->kind == DP_LOSS_XENT;
    const size_t n = classes ? g->rows : g->rows * g->cols;
    double part[THREADS] = {0.0};
    for (size_t i = 0; i < n; ++i)
        part[i % THREADS] += classes ? row_term(g, i) : loss_term(g, i);
    for (size_t half = THREADS / 2; half > 0; half /= 2) {
        for (size_t i = 0; i < half; ++i)
            part[i] += part[i + half];
    }
    *g->out = (float)(g->scale * part[0]);
}

static void tanh_value(const void *args)
{
    const struct dp_activation *g = args;
    for (size_t i = 0; i < g->n; ++i)
        g->y[i] = (float)tanh((double)g->x[i]);
}

dp_kernel_fn *twin_inexact(enum dp_kernel kernel)
{
    switch (kernel) {
    case DP_KERNEL_LOSS:
        return loss;
    case DP_KERNEL_TANH:
        return tanh_value;
    default:
        return NULL;
    }
}
