/* launch_inexact.c: twins of the kernels for which core/cuda/launch.h does not promise the portable
 * bits: they are computed on the host in the order and with the functions of the GPU's kernels.
 * emulated/, which runs the text of the kernels, tests that the bits are the same. */
#include "launch_inexact.h"

#include <math.h>

/* The kernels' text is also run with fewer blocks. */
#ifndef TWIN_LOSS_PARTS
#define TWIN_LOSS_PARTS DP_CUDA_LOSS_PARTS
#endif

extern dp_kernel_fn *const dp_kernels_ref[DP_KERNELS];

enum { THREADS = 256, WARP = 32, ROWS = THREADS / WARP, TILE = 8, LANES = THREADS / TILE };

float twin_tanhf(float x)
{
    return (float)tanh((double)x);
}

float twin_expf(float x)
{
    return (float)exp((double)x);
}

double twin_tree(double part[], size_t n)
{
    for (size_t half = n / 2; half > 0; half /= 2)
        for (size_t i = 0; i < half; ++i)
            part[i] += part[i + half];
    return part[0];
}

static float tree(float part[], size_t n)
{
    for (size_t half = n / 2; half > 0; half /= 2)
        for (size_t i = 0; i < half; ++i)
            part[i] += part[i + half];
    return part[0];
}

static void sum_rows(const void *args)
{
    const struct dp_sum_rows *g = args;
    for (size_t c = 0; c < g->cols; ++c) {
        float part[LANES] = {0.0f};
        for (size_t r = 0; r < g->rows; ++r)
            part[r % LANES] += g->x[r * g->cols + c];
        const float sum = tree(part, LANES);
        g->out[c] = g->accumulate ? g->out[c] + sum : sum;
    }
}

static void twin_add_rows(const void *args)
{
    const struct dp_add_rows *g = args;
    for (size_t r = 0; r < g->rows; ++r) {
        float part[THREADS] = {0.0f};
        for (size_t c = 0; c < g->cols; ++c)
            part[c % THREADS] += g->x[r * g->cols + c];
        const float sum = tree(part, THREADS);
        g->out[r] = g->accumulate ? g->out[r] + sum : sum;
    }
}

static double log_sum_exp(const float *y, size_t cols)
{
    double largest = -(double)INFINITY, part[WARP] = {0.0};
    for (size_t c = 0; c < cols; ++c)
        largest = (double)y[c] > largest ? (double)y[c] : largest;
    for (size_t c = 0; c < cols; ++c)
        part[c % WARP] += exp((double)y[c] - largest);
    return largest + log(twin_tree(part, WARP));
}

static bool is_class(int32_t value, size_t cols)
{
    return value >= 0 && (size_t)value < cols;
}

static double element_term(const struct dp_loss_args *g, size_t i)
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
    return is_class(class, g->cols) ? log_sum_exp(y, g->cols) - (double)y[class] : (double)NAN;
}

/* The threads of each block with every so many terms (of XENT the first thread of each row's), then
 * the tree of their sums; the blocks' sums by the threads of one block in the same way. */
static void twin_loss(const void *args)
{
    const struct dp_loss_args *g = args;
    const bool classes = g->kind == DP_LOSS_XENT;
    const size_t n = classes ? g->rows : g->rows * g->cols, each = classes ? ROWS : THREADS;
    const size_t wanted = n == 0 ? 1 : (n + each - 1) / each;
    const size_t blocks = wanted < TWIN_LOSS_PARTS ? wanted : TWIN_LOSS_PARTS;
    double all[THREADS] = {0.0};
    for (size_t b = 0; b < blocks; ++b) {
        double part[THREADS] = {0.0};
        for (size_t from = b * each; from < n; from += blocks * each) {
            for (size_t i = from; i < n && i < from + each; ++i)
                part[(i - from) * (THREADS / each)] +=
                    classes ? row_term(g, i) : element_term(g, i);
        }
        all[b % THREADS] += twin_tree(part, THREADS);
    }
    *g->out = (float)(g->scale * twin_tree(all, THREADS));
}

static void loss_grad(const void *args)
{
    const struct dp_loss_args *g = args;
    const int32_t *target = g->target;
    const double scale = g->upstream ? g->scale * (double)*g->upstream : g->scale;
    if (g->kind != DP_LOSS_XENT) {
        dp_kernels_ref[DP_KERNEL_LOSS_GRAD](args);
        return;
    }
    for (size_t r = 0; r < g->rows; ++r) {
        const float *y = g->y + r * g->cols;
        const double norm = log_sum_exp(y, g->cols);
        for (size_t c = 0; c < g->cols; ++c) {
            const double hit = target[r] == (int64_t)c ? 1.0 : 0.0;
            const double p = is_class(target[r], g->cols) ? exp((double)y[c] - norm) : (double)NAN;
            g->out[r * g->cols + c] = (float)(scale * (p - hit));
        }
    }
}

static void tanh_value(const void *args)
{
    const struct dp_activation *g = args;
    for (size_t i = 0; i < g->n; ++i)
        g->y[i] = twin_tanhf(g->x[i]);
}

static void twin_causal(const void *args)
{
    const struct dp_causal_args *g = args;
    for (size_t r = 0; r < g->n * g->time; ++r) {
        float *p = g->p + r * g->time;
        const size_t seen = r % g->time + 1;
        double largest = -(double)INFINITY, part[WARP] = {0.0};
        for (size_t s = 0; s < seen; ++s)
            largest = g->scale * (double)p[s] > largest ? g->scale * (double)p[s] : largest;
        for (size_t s = 0; s < seen; ++s)
            part[s % WARP] += exp(g->scale * (double)p[s] - largest);
        const double sum = twin_tree(part, WARP);
        for (size_t s = 0; s < g->time; ++s)
            p[s] = s < seen ? (float)(exp(g->scale * (double)p[s] - largest) / sum) : 0.0f;
    }
}

static void twin_causal_grad(const void *args)
{
    const struct dp_causal_args *g = args;
    for (size_t r = 0; r < g->n * g->time; ++r) {
        const float *p = g->p + r * g->time;
        float *d = g->d + r * g->time;
        const size_t seen = r % g->time + 1;
        double part[WARP] = {0.0};
        for (size_t s = 0; s < seen; ++s)
            part[s % WARP] += (double)p[s] * (double)d[s];
        const double sum = twin_tree(part, WARP);
        for (size_t s = 0; s < g->time; ++s)
            d[s] = s < seen ? (float)(g->scale * (double)p[s] * ((double)d[s] - sum)) : 0.0f;
    }
}

dp_kernel_fn *twin_inexact(enum dp_kernel kernel)
{
    static dp_kernel_fn *const twins[DP_KERNELS] = {
        [DP_KERNEL_SUM_ROWS] = sum_rows,
        [DP_KERNEL_TANH] = tanh_value,
        [DP_KERNEL_LOSS] = twin_loss,
        [DP_KERNEL_LOSS_GRAD] = loss_grad,
        [DP_KERNEL_ADD_ROWS] = twin_add_rows,
        [DP_KERNEL_LSTM] = twin_lstm,
        [DP_KERNEL_LSTM_GRAD] = twin_lstm_grad,
        [DP_KERNEL_BATCH_NORM] = twin_batch_norm,
        [DP_KERNEL_BATCH_NORM_GRAD] = twin_batch_norm_grad,
        [DP_KERNEL_LAYER_NORM] = twin_layer_norm,
        [DP_KERNEL_LAYER_NORM_GRAD] = twin_layer_norm_grad,
        [DP_KERNEL_CAUSAL] = twin_causal,
        [DP_KERNEL_CAUSAL_GRAD] = twin_causal_grad,
        [DP_KERNEL_CAPSULE] = twin_capsule,
        [DP_KERNEL_CAPSULE_GRAD] = twin_capsule_grad,
    };
    return twins[kernel];
}
