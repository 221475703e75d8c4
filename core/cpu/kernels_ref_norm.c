/* kernels_ref_norm.c: the portable kernels of batch normalisation. */
#include "kernels_ref.h"

#include <math.h>

/* Value number k of channel c. */
static size_t place(const struct dp_batch_norm_args *g, size_t c, size_t k)
{
    return (k / g->inner * g->channels + c) * g->inner + k % g->inner;
}

static void normalise(const struct dp_batch_norm_args *g, size_t c, double mean, double var)
{
    const double invstd = 1.0 / sqrt(var + g->eps);
    const double factor = invstd * (double)g->weight[c];
    g->mean[c] = (float)mean;
    g->invstd[c] = (float)invstd;
    for (size_t k = 0; k < g->rows * g->inner; ++k) {
        const size_t i = place(g, c, k);
        g->y[i] = (float)(((double)g->x[i] - mean) * factor + (double)g->bias[c]);
    }
}

static void move_to(float *running, double momentum, double value)
{
    *running = (float)((1.0 - momentum) * (double)*running + momentum * value);
}

void dp_ref_batch_norm(const void *args)
{
    const struct dp_batch_norm_args *g = args;
    const size_t n = g->rows * g->inner;
    for (size_t c = 0; c < g->channels; ++c) {
        double sum = 0.0, squares = 0.0;
        for (size_t k = 0; k < n; ++k)
            sum += (double)g->x[place(g, c, k)];
        const double mean = sum / (double)n;
        for (size_t k = 0; k < n; ++k) {
            const double d = (double)g->x[place(g, c, k)] - mean;
            squares += d * d;
        }
        normalise(g, c, mean, squares / (double)n);
        move_to(&g->running_mean[c], g->momentum, mean);
        move_to(&g->running_var[c], g->momentum, squares / ((double)n - 1.0));
    }
    *g->count += 1;
}

void dp_ref_batch_norm_eval(const void *args)
{
    const struct dp_batch_norm_args *g = args;
    for (size_t c = 0; c < g->channels; ++c)
        normalise(g, c, (double)g->running_mean[c], (double)g->running_var[c]);
}

static void add_to(float *grad, size_t c, double value, bool accumulate)
{
    if (grad)
        grad[c] = (float)(accumulate ? (double)grad[c] + value : value);
}

void dp_ref_batch_norm_grad(const void *args)
{
    const struct dp_batch_norm_args *g = args;
    const size_t n = g->rows * g->inner;
    for (size_t c = 0; c < g->channels; ++c) {
        const double mean = (double)g->mean[c], invstd = (double)g->invstd[c];
        double sum = 0.0, product = 0.0;
        for (size_t k = 0; k < n; ++k) {
            const size_t i = place(g, c, k);
            sum += (double)g->dy[i];
            product += (double)g->dy[i] * ((double)g->x[i] - mean) * invstd;
        }
        add_to(g->dweight, c, product, g->accumulate_weight);
        add_to(g->dbias, c, sum, g->accumulate_bias);
        const double factor = (double)g->weight[c] * invstd;
        const double shift = g->training ? sum / (double)n : 0.0;
        const double slope = g->training ? product / (double)n : 0.0;
        for (size_t k = 0; g->y && k < n; ++k) {
            const size_t i = place(g, c, k);
            const double xhat = ((double)g->x[i] - mean) * invstd;
            g->y[i] = (float)(factor * ((double)g->dy[i] - shift - xhat * slope));
        }
    }
}
