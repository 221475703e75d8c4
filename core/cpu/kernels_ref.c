/* kernels_ref.c: the portable kernels. Each defines its operation by the simplest loop that is
 * right, in a fixed order. Other backends are compared with these. */
#include "kernels_ref.h"
#include "lanes.h"

#include <math.h>
#include <string.h>
#include <time.h>

void dp_ref_gemm(const void *args)
{
    const struct dp_gemm *g = args;
    for (size_t i = 0; i < g->m; ++i) {
        for (size_t j = 0; j < g->n; ++j) {
            float sum = g->accumulate ? g->c[i * g->n + j] : 0.0f;
            for (size_t l = 0; l < g->k; ++l) {
                const float a = g->transpose_a ? g->a[l * g->m + i] : g->a[i * g->k + l];
                const float b = g->transpose_b ? g->b[j * g->k + l] : g->b[l * g->n + j];
                sum += a * b;
            }
            g->c[i * g->n + j] = sum;
        }
    }
}

void dp_ref_add_bias(const void *args)
{
    const struct dp_add_bias *g = args;
    for (size_t r = 0; r < g->rows; ++r) {
        for (size_t c = 0; c < g->cols; ++c)
            g->y[r * g->cols + c] += g->bias[c];
    }
}

void dp_ref_sum_rows(const void *args)
{
    const struct dp_sum_rows *g = args;
    if (!g->accumulate && g->cols > 0)
        memset(g->out, 0, g->cols * sizeof *g->out);
    for (size_t r = 0; r < g->rows; ++r) {
        for (size_t c = 0; c < g->cols; ++c)
            g->out[c] += g->x[r * g->cols + c];
    }
}

/* A NaN stays a NaN in this form. */
void dp_ref_relu(const void *args)
{
    const struct dp_activation *g = args;
    for (size_t i = 0; i < g->n; ++i)
        g->y[i] = g->x[i] <= 0.0f ? 0.0f : g->x[i];
}

void dp_ref_relu_grad(const void *args)
{
    const struct dp_activation_grad *g = args;
    for (size_t i = 0; i < g->n; ++i)
        g->dx[i] = g->y[i] <= 0.0f ? 0.0f : g->dy[i];
}

void dp_ref_tanh(const void *args)
{
    const struct dp_activation *g = args;
    for (size_t i = 0; i < g->n; ++i)
        g->y[i] = tanhf(g->x[i]);
}

void dp_ref_tanh_grad(const void *args)
{
    const struct dp_activation_grad *g = args;
    for (size_t i = 0; i < g->n; ++i)
        g->dx[i] = g->dy[i] * (1.0f - g->y[i] * g->y[i]);
}

/* log(sum exp(y)) of a row, in double. The largest number is subtracted, so nothing overflows. */
static double log_sum_exp(const float *y, size_t cols)
{
    double largest = y[0], sum = 0.0;
    for (size_t c = 1; c < cols; ++c)
        largest = (double)y[c] > largest ? (double)y[c] : largest;
    for (size_t c = 0; c < cols; ++c)
        sum += exp((double)y[c] - largest);
    return largest + log(sum);
}

static bool is_class(int32_t value, size_t cols)
{
    return value >= 0 && (size_t)value < cols;
}

static double xent_loss(const struct dp_loss_args *g)
{
    const int32_t *target = g->target;
    double sum = 0.0;
    for (size_t r = 0; r < g->rows; ++r) {
        const float *y = g->y + r * g->cols;
        if (!is_class(target[r], g->cols))
            return (double)NAN;
        sum += log_sum_exp(y, g->cols) - (double)y[target[r]];
    }
    return sum;
}

void dp_ref_loss(const void *args)
{
    const struct dp_loss_args *g = args;
    const float *t = g->target;
    const size_t n = g->rows * g->cols;
    double lanes[DP_SUM_LANES] = {0.0};
    switch (g->kind) {
    case DP_LOSS_SUM:
        for (size_t i = 0; i < n; ++i)
            lanes[i % DP_SUM_LANES] += t ? (double)g->y[i] * (double)t[i] : (double)g->y[i];
        break;
    case DP_LOSS_MSE:
        for (size_t i = 0; i < n; ++i) {
            const double difference = (double)g->y[i] - (double)t[i];
            lanes[i % DP_SUM_LANES] += difference * difference;
        }
        break;
    case DP_LOSS_XENT:
        break;
    }
    const double sum = g->kind == DP_LOSS_XENT ? xent_loss(g) : dp_sum_of_lanes(lanes);
    *g->out = (float)(g->scale * sum);
}

static void xent_grad(const struct dp_loss_args *g, double scale)
{
    const int32_t *target = g->target;
    for (size_t r = 0; r < g->rows; ++r) {
        const float *y = g->y + r * g->cols;
        float *out = g->out + r * g->cols;
        const double norm = log_sum_exp(y, g->cols);
        for (size_t c = 0; c < g->cols; ++c) {
            const double hit = (size_t)target[r] == c ? 1.0 : 0.0;
            const double p = is_class(target[r], g->cols) ? exp((double)y[c] - norm) : (double)NAN;
            out[c] = (float)(scale * (p - hit));
        }
    }
}

void dp_ref_loss_grad(const void *args)
{
    const struct dp_loss_args *g = args;
    const float *t = g->target;
    const size_t n = g->rows * g->cols;
    const double scale = g->upstream ? g->scale * (double)*g->upstream : g->scale;
    switch (g->kind) {
    case DP_LOSS_SUM:
        for (size_t i = 0; i < n; ++i)
            g->out[i] = (float)(t ? scale * (double)t[i] : scale);
        break;
    case DP_LOSS_MSE:
        for (size_t i = 0; i < n; ++i)
            g->out[i] = (float)(scale * 2.0 * ((double)g->y[i] - (double)t[i]));
        break;
    case DP_LOSS_XENT:
        xent_grad(g, scale);
        break;
    }
}

void dp_ref_sgd(const void *args)
{
    const struct dp_sgd_args *g = args;
    const float lr = *g->lr;
    for (size_t i = 0; i < g->n; ++i) {
        float step = g->grad[i] + g->decay * g->value[i];
        if (g->velocity) {
            step = g->first ? step : g->momentum * g->velocity[i] + step;
            g->velocity[i] = step;
        }
        g->value[i] -= lr * step;
    }
}

void dp_ref_zero(const void *args)
{
    const struct dp_zero *g = args;
    if (g->bytes > 0)
        memset(g->dst, 0, g->bytes);
}

void dp_ref_fill(const void *args)
{
    const struct dp_fill *g = args;
    for (size_t i = 0; i < g->n; ++i)
        g->dst[i] = g->value;
}

void dp_ref_copy(const void *args)
{
    const struct dp_copy *g = args;
    for (size_t r = 0; r < g->height && g->width > 0; ++r)
        memcpy((char *)g->dst + r * g->dst_pitch, (const char *)g->src + r * g->src_pitch,
               g->width);
}

void dp_ref_peer_copy(const void *args)
{
    const struct dp_peer_copy *g = args;
    dp_ref_copy(&g->copy);
}

static void reduce_f32(const struct dp_reduce_args *g)
{
    float *dst = g->dst;
    for (size_t i = 0; i < g->n; ++i) {
        float sum = ((const float *)g->src[0])[i];
        for (int s = 1; s < g->n_src; ++s)
            sum += ((const float *)g->src[s])[i];
        dst[i] = g->accumulate ? dst[i] + sum : sum;
    }
}

static void reduce_f64(const struct dp_reduce_args *g)
{
    double *dst = g->dst;
    for (size_t i = 0; i < g->n; ++i) {
        double sum = ((const double *)g->src[0])[i];
        for (int s = 1; s < g->n_src; ++s)
            sum += ((const double *)g->src[s])[i];
        dst[i] = g->accumulate ? dst[i] + sum : sum;
    }
}

/* Integer sums wrap, as on GPUs. They are unsigned because signed overflow is undefined in C. */
static void reduce_i32(const struct dp_reduce_args *g)
{
    uint32_t *dst = g->dst;
    for (size_t i = 0; i < g->n; ++i) {
        uint32_t sum = g->accumulate ? dst[i] : 0;
        for (int s = 0; s < g->n_src; ++s)
            sum += ((const uint32_t *)g->src[s])[i];
        dst[i] = sum;
    }
}

static void reduce_i64(const struct dp_reduce_args *g)
{
    uint64_t *dst = g->dst;
    for (size_t i = 0; i < g->n; ++i) {
        uint64_t sum = g->accumulate ? dst[i] : 0;
        for (int s = 0; s < g->n_src; ++s)
            sum += ((const uint64_t *)g->src[s])[i];
        dst[i] = sum;
    }
}

void dp_ref_reduce(const void *args)
{
    const struct dp_reduce_args *g = args;
    static void (*const by_dtype[])(const struct dp_reduce_args *) = {
        [DP_F32] = reduce_f32, [DP_F64] = reduce_f64, [DP_I32] = reduce_i32, [DP_I64] = reduce_i64};
    by_dtype[g->dtype](g);
}

void dp_ref_mean(const void *args)
{
    const struct dp_mean_args *g = args;
    for (size_t i = 0; i < g->n; ++i) {
        float sum = g->scale * g->src[0][i];
        for (int s = 1; s < g->n_src; ++s) {
            const float product = g->scale * g->src[s][i];
            sum += product;
        }
        g->dst[i] = sum;
    }
}

/* It costs time as a slow connection does, but no core. */
void dp_ref_delay(const void *args)
{
    const struct dp_delay_args *g = args;
    struct timespec left = {.tv_sec = (time_t)(g->ns / 1000000000u),
                            .tv_nsec = (long)(g->ns % 1000000000u)};
    while (nanosleep(&left, &left) != 0)
        ;
}

#define ROW(number, name, cpu, gpu, words, arguments) [DP_KERNEL_##number] = dp_ref_##name,
dp_kernel_fn *const dp_kernels_ref[DP_KERNELS] = {DP_KERNEL_LIST(ROW)};
