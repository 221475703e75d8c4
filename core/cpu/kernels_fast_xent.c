/* kernels_fast_xent.c: cross-entropy with exp as a polynomial, in double as in the reference, and
 * with sums in lanes. The bits sometimes differ from those of the reference. */
#include "fast_functions.h"
#include "kernels_fast.h"
#include "lanes.h"

/* This many numbers of a row are processed together: 2 KiB of doubles. */
enum { BLOCK = 256 };

static size_t block_at(size_t first, size_t n)
{
    return n - first < BLOCK ? n - first : BLOCK;
}

DP_WIDE static float largest_of(const float *y, size_t n)
{
    return largest_number(y, n);
}

DP_WIDE static void exp_each(double *restrict e, const float *restrict y, size_t n, double largest)
{
    for (size_t i = 0; i < n; ++i)
        e[i] = exp_below_double((double)y[i] - largest);
}

DP_WIDE static double fast_xent_sum_of(const double *e, size_t n)
{
    dp_lanes sums = {0.0}, values;
    double s[DP_SUM_LANES];
    size_t i = 0;
    for (; n - i >= DP_SUM_LANES; i += DP_SUM_LANES) {
        memcpy(&values, e + i, sizeof values);
        sums += values;
    }
    memcpy(s, &sums, sizeof s);
    for (size_t l = 0; i + l < n; ++l)
        s[l] += e[i + l];
    return dp_sum_of_lanes(s);
}

/* The sum of exp(y - largest). The terms stay in e if the row is no longer than that. */
static double sum_exp(double e[BLOCK], const float *y, size_t n, double largest)
{
    double sum = 0.0;
    for (size_t first = 0; first < n; first += BLOCK) {
        const size_t size = block_at(first, n);
        exp_each(e, y + first, size, largest);
        sum += fast_xent_sum_of(e, size);
    }
    return sum;
}

static bool has_class(const struct dp_loss_args *g, size_t r)
{
    const int32_t *class = g->target;
    return class[r] >= 0 && (size_t) class[r] < g->cols;
}

static double loss_of(const struct dp_loss_args *g)
{
    const int32_t *class = g->target;
    double sum = 0.0, e[BLOCK];
    for (size_t r = 0; r < g->rows; ++r) {
        const float *y = g->y + r * g->cols;
        if (!has_class(g, r))
            return (double)NAN;
        const double largest = (double)largest_of(y, g->cols);
        sum += largest + log(sum_exp(e, y, g->cols, largest)) - (double)y[class[r]];
    }
    return sum;
}

void dp_fast_xent(const struct dp_loss_args *g)
{
    *g->out = (float)(g->scale * loss_of(g));
}

DP_WIDE static void scale_each(float *restrict out, const double *restrict e, size_t n,
                               double factor)
{
    for (size_t i = 0; i < n; ++i)
        out[i] = (float)(factor * e[i]);
}

/* The difference from the class may cancel, so it is computed from the sum in double. */
static void row_grad(float *out, const float *y, size_t n, size_t class, double scale)
{
    double e[BLOCK];
    const double largest = (double)largest_of(y, n), part = 1.0 / sum_exp(e, y, n, largest);
    for (size_t first = 0; first < n; first += BLOCK) {
        const size_t size = block_at(first, n);
        if (n > BLOCK)
            exp_each(e, y + first, size, largest);
        scale_each(out + first, e, size, scale * part);
    }
    out[class] = (float)(scale * (exp((double)y[class] - largest) * part - 1.0));
}

void dp_fast_loss_grad(const void *args)
{
    const struct dp_loss_args *g = args;
    const int32_t *class = g->target;
    const double scale = g->upstream ? g->scale * (double)*g->upstream : g->scale;
    if (g->kind != DP_LOSS_XENT) {
        dp_ref_loss_grad(args);
        return;
    }
    for (size_t r = 0; r < g->rows; ++r) {
        float *out = g->out + r * g->cols;
        if (has_class(g, r))
            row_grad(out, g->y + r * g->cols, g->cols, (size_t) class[r], scale);
        for (size_t c = 0; !has_class(g, r) && c < g->cols; ++c)
            out[c] = NAN;
    }
}
