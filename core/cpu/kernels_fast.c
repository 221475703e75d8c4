/* kernels_fast.c: kernels without a library, written so that compilers vectorise them. Every
 * element comes from the operations of its reference in the same order, so the bits are the same.
 * No load depends on a value, and conditions that a loop does not change are tested before it. */
#include "kernels_fast.h"
#include "lanes.h"

#include <string.h>

/* A row with so few columns is shorter than what the CPU adds at a time. */
enum { NARROW = 8 };

/* Consecutive rows are one long row, and so are their biases. */
static void add_narrow_bias(const struct dp_add_bias *g)
{
    const size_t length = NARROW * g->cols, n = g->rows * g->cols;
    float bias[NARROW * NARROW], *y = g->y;
    size_t at = 0;
    for (size_t i = 0; i < length; ++i)
        bias[i] = i < g->cols ? g->bias[i] : bias[i - g->cols];
    for (; n - at >= length; at += length)
        for (size_t i = 0; i < length; ++i)
            y[at + i] += bias[i];
    for (size_t i = 0; at + i < n; ++i)
        y[at + i] += bias[i];
}

DP_WIDE static void add_row(float *restrict to, const float *restrict x, size_t cols)
{
    for (size_t c = 0; c < cols; ++c)
        to[c] += x[c];
}

void dp_fast_add_bias(const void *args)
{
    const struct dp_add_bias *g = args;
    if (g->cols > 0 && g->cols < NARROW && g->rows >= NARROW) {
        add_narrow_bias(g);
        return;
    }
    for (size_t r = 0; r < g->rows; ++r)
        add_row(g->y + r * g->cols, g->bias, g->cols);
}

DP_WIDE static void add_four_rows(float *restrict to, const float *restrict x, size_t cols)
{
    for (size_t c = 0; c < cols; ++c)
        to[c] = to[c] + x[c] + x[cols + c] + x[2 * cols + c] + x[3 * cols + c];
}

/* Adds four rows at a time: the sum of a column is loaded and stored once for four additions. */
void dp_fast_sum_rows(const void *args)
{
    const struct dp_sum_rows *g = args;
    const size_t cols = g->cols;
    size_t r = 0;
    if (!g->accumulate && cols > 0)
        memset(g->out, 0, cols * sizeof *g->out);
    for (; g->rows - r >= 4; r += 4)
        add_four_rows(g->out, g->x + r * cols, cols);
    for (; r < g->rows; ++r)
        add_row(g->out, g->x + r * cols, cols);
}

void dp_fast_relu_grad(const void *args)
{
    const struct dp_activation_grad *g = args;
    const size_t n = g->n;
    const float *dy = g->dy, *y = g->y;
    float *dx = g->dx;
    for (size_t i = 0; i < n; ++i) {
        const float passed = dy[i];
        dx[i] = y[i] <= 0.0f ? 0.0f : passed;
    }
}

DP_WIDE static double sum_products(const float *y, const float *t, size_t n)
{
    dp_lanes sums = {0.0}, a, b;
    double s[DP_SUM_LANES];
    size_t i = 0;
    for (; n - i >= DP_SUM_LANES; i += DP_SUM_LANES) {
        dp_lanes_load(&a, y + i);
        dp_lanes_load(&b, t + i);
        sums += a * b;
    }
    memcpy(s, &sums, sizeof s);
    for (size_t l = 0; i + l < n; ++l)
        s[l] += (double)y[i + l] * (double)t[i + l];
    return dp_sum_of_lanes(s);
}

DP_WIDE static double sum_squares(const float *y, const float *t, size_t n)
{
    dp_lanes sums = {0.0}, a, b;
    double s[DP_SUM_LANES];
    size_t i = 0;
    for (; n - i >= DP_SUM_LANES; i += DP_SUM_LANES) {
        dp_lanes_load(&a, y + i);
        dp_lanes_load(&b, t + i);
        a -= b;
        sums += a * a;
    }
    memcpy(s, &sums, sizeof s);
    for (size_t l = 0; i + l < n; ++l) {
        const double difference = (double)y[i + l] - (double)t[i + l];
        s[l] += difference * difference;
    }
    return dp_sum_of_lanes(s);
}

void dp_fast_loss(const void *args)
{
    const struct dp_loss_args *g = args;
    const size_t n = g->rows * g->cols;
    if (g->kind == DP_LOSS_XENT) {
        dp_fast_xent(g);
        return;
    }
    if (!g->target) {
        dp_ref_loss(args);
        return;
    }
    const double sum =
        g->kind == DP_LOSS_MSE ? sum_squares(g->y, g->target, n) : sum_products(g->y, g->target, n);
    *g->out = (float)(g->scale * sum);
}

/* Later steps with momentum. Compilers vectorise the other forms as they are. */
void dp_fast_sgd(const void *args)
{
    const struct dp_sgd_args *g = args;
    const float lr = *g->lr, momentum = g->momentum, decay = g->decay;
    const size_t n = g->n;
    const float *grad = g->grad;
    float *value = g->value, *velocity = g->velocity;
    if (!velocity || g->first) {
        dp_ref_sgd(args);
        return;
    }
    for (size_t i = 0; i < n; ++i) {
        const float step = grad[i] + decay * value[i];
        const float moved = momentum * velocity[i] + step;
        velocity[i] = moved;
        value[i] -= lr * moved;
    }
}

#define BLOCK 1024

static void fast_add(float *to, const float *a, const float *b, size_t n)
{
    for (size_t i = 0; i < n; ++i)
        to[i] = a[i] + b[i];
}

/* The running total of a block stays in the nearest cache. The last addition goes to dst. */
static void reduce_block(const struct dp_reduce_args *g, size_t first, size_t n)
{
    float sum[BLOCK], *dst = (float *)g->dst + first;
    const float *total = (const float *)g->src[0] + first;
    for (int s = 1; s < g->n_src; ++s) {
        float *to = s + 1 == g->n_src && !g->accumulate ? dst : sum;
        fast_add(to, total, (const float *)g->src[s] + first, n);
        total = to;
    }
    if (g->accumulate)
        fast_add(dst, dst, total, n);
    else if (g->n_src == 1)
        memcpy(dst, total, n * sizeof *dst);
}

void dp_fast_reduce(const void *args)
{
    const struct dp_reduce_args *g = args;
    if (g->dtype != DP_F32) {
        dp_ref_reduce(args);
        return;
    }
    for (size_t first = 0; first < g->n; first += BLOCK)
        reduce_block(g, first, g->n - first < BLOCK ? g->n - first : BLOCK);
}

/* As in reduce_block, the products of a block are added to a total in the nearest cache. */
static void mean_block(const struct dp_mean_args *g, size_t first, size_t n)
{
    float sum[BLOCK];
    const float scale = g->scale;
    for (int s = 0; s < g->n_src; ++s) {
        const float *src = g->src[s] + first;
        for (size_t i = 0; s == 0 && i < n; ++i)
            sum[i] = scale * src[i];
        for (size_t i = 0; s > 0 && i < n; ++i)
            sum[i] += scale * src[i];
    }
    memcpy(g->dst + first, sum, n * sizeof *sum);
}

void dp_fast_mean(const void *args)
{
    const struct dp_mean_args *g = args;
    for (size_t first = 0; first < g->n; first += BLOCK)
        mean_block(g, first, g->n - first < BLOCK ? g->n - first : BLOCK);
}
