/* kernel_norm.c: normalisation against plain loops in the promised order: the same bits, for planes
 * and rows that fill the lanes of a sum and for others. GPUs add in another order; see
 * core/cuda/launch.h. */
#include "list.h"

#include <math.h>

enum { ROWS = 5, CHANNELS = 3, MOST = 24, WIDEST = 130 };
static const double EPS = 1e-3, MOMENTUM = 0.1;

struct norm {
    size_t inner;
    const float *x, *dy, *weight, *bias;
};

/* Returns large numbers that cancel, in other lanes, between small ones: another assignment to
 * lanes gives other bits. */
static const float *cancelling(struct context *c, size_t n, uint64_t seed)
{
    const float *values = randoms(c, n, seed);
    float *list = case_memory(c, n * sizeof *list);
    for (size_t i = 0; i < n; ++i)
        list[i] = i % 8 == 0 ? ldexpf(values[i], 40) : i % 8 == 3 ? -list[i - 3] : values[i];
    return list;
}

static size_t kernel_norm_place(const struct norm *n, size_t c, size_t k)
{
    return (k / n->inner * CHANNELS + c) * n->inner + k % n->inner;
}

static double kernel_norm_sum_of(const double term[], size_t count)
{
    double lane[8] = {0.0};
    for (size_t k = 0; k < count; ++k)
        lane[k % 8] += term[k];
    return ((lane[0] + lane[4]) + (lane[2] + lane[6])) +
           ((lane[1] + lane[5]) + (lane[3] + lane[7]));
}

struct wanted {
    float y[ROWS * CHANNELS * WIDEST], dx[ROWS * CHANNELS * WIDEST];
    float dweight[WIDEST], dbias[WIDEST], mean[CHANNELS], var[CHANNELS];
};

/* Computes the expected gradient. It reads mean and invstd as floats. */
static void want_gradient(const struct norm *n, size_t c, double mean, double invstd,
                          struct wanted *w)
{
    const size_t count = ROWS * n->inner;
    double sums[ROWS * MOST] = {0.0}, products[ROWS * MOST] = {0.0};
    for (size_t k = 0; k < count; ++k) {
        const size_t i = kernel_norm_place(n, c, k);
        sums[k] = (double)n->dy[i];
        products[k] = (double)n->dy[i] * ((double)n->x[i] - mean) * invstd;
    }
    const double sum = kernel_norm_sum_of(sums, count),
                 product = kernel_norm_sum_of(products, count);
    w->dweight[c] = (float)product;
    w->dbias[c] = (float)sum;
    for (size_t k = 0; k < count; ++k) {
        const size_t i = kernel_norm_place(n, c, k);
        const double xhat = ((double)n->x[i] - mean) * invstd;
        w->dx[i] =
            (float)((double)n->weight[c] * invstd *
                    ((double)n->dy[i] - sum / (double)count - xhat * (product / (double)count)));
    }
}

static void want_channel(const struct norm *n, size_t c, struct wanted *w)
{
    const size_t count = ROWS * n->inner;
    double terms[ROWS * MOST] = {0.0};
    for (size_t k = 0; k < count; ++k)
        terms[k] = (double)n->x[kernel_norm_place(n, c, k)];
    const double mean = kernel_norm_sum_of(terms, count) / (double)count;
    for (size_t k = 0; k < count; ++k)
        terms[k] = (terms[k] - mean) * (terms[k] - mean);
    const double squares = kernel_norm_sum_of(terms, count);
    const double invstd = 1.0 / sqrt(squares / (double)count + EPS);
    for (size_t k = 0; k < count; ++k) {
        const size_t i = kernel_norm_place(n, c, k);
        w->y[i] = (float)(((double)n->x[i] - mean) * (invstd * (double)n->weight[c]) +
                          (double)n->bias[c]);
    }
    w->mean[c] = (float)(MOMENTUM * mean);
    w->var[c] = (float)((1.0 - MOMENTUM) + MOMENTUM * (squares / ((double)count - 1.0)));
    want_gradient(n, c, (double)(float)mean, (double)(float)invstd, w);
}

/* Runs one step of an opened layer, and compares what all layers have. */
static void kernel_norm_step_of(struct context *c, struct dp_module *module, const struct norm *n,
                                const size_t dim[3], const struct wanted *w)
{
    struct dp_group *group = dp_module_group(module);
    struct dp_slot *slot = dp_group_slot(group, 0);
    struct dp_run *run = open_run(c, group);
    move_module(c, module, slot);
    write_floats(c, &param_at(c, module, 0)->value, n->weight);
    write_floats(c, &param_at(c, module, 1)->value, n->bias);
    struct dp_tensor x = make_tensor(c, slot, DP_F32, 3, dim, NULL);
    const struct dp_tensor dy = make_tensor(c, slot, DP_F32, 3, dim, NULL);
    struct dp_tensor out[DP_MAX_IO], grad[1];
    int n_out = 0;
    write_floats(c, &x, n->x);
    write_floats(c, &dy, n->dy);
    x.needs_grad = true;
    expect_ok(c, dp_forward(module, run, &x, 1, out, &n_out, &c->err), "forward");
    expect_ok(c, dp_backward(module, run, &dy, 1, grad, 1, &c->err), "backward");
    expect_bits(c, "output", &out[0], w->y);
    expect_bits(c, "gradient of the input", &grad[0], w->dx);
    expect_bits(c, "gradient of the weight", &param_at(c, module, 0)->grad, w->dweight);
    expect_bits(c, "gradient of the bias", &param_at(c, module, 1)->grad, w->dbias);
}

static void one_norm(struct context *c, struct dp_group *group, size_t inner)
{
    const size_t dim[] = {ROWS, CHANNELS, inner}, count = ROWS * CHANNELS * inner;
    const struct norm n = {inner, cancelling(c, count, inner), cancelling(c, count, inner + 50),
                           randoms(c, CHANNELS, inner + 100), randoms(c, CHANNELS, inner + 150)};
    struct wanted *w = case_memory(c, sizeof *w);
    struct dp_module *module;
    case_note(c, "planes of %zu", inner);
    for (size_t channel = 0; channel < CHANNELS; ++channel)
        want_channel(&n, channel, w);
    (void)opened_module(c, dp_batch_norm(group, CHANNELS, EPS, MOMENTUM, &module, &c->err),
                        &module);
    kernel_norm_step_of(c, module, &n, dim, w);
    expect_bits(c, "running mean", &param_at(c, module, 2)->value, w->mean);
    expect_bits(c, "running variance", &param_at(c, module, 3)->value, w->var);
}

static void batch_norm(struct context *c)
{
    static const size_t inner[] = {1, 7, 8, 9, 16, MOST};
    struct dp_group *group = open_group(c, 1);
    if (c->settings.gpus > 0)
        case_skip(c, "GPUs add in an order of their own");
    for (size_t i = 0; i < sizeof inner / sizeof inner[0]; ++i)
        one_norm(c, group, inner[i]);
}

/* ---- of rows ------------------------------------------------------------------------------- */

/* Rows of width numbers. Number 8k + 3 of each is sign times number 8k, which is below 2^power, and
 * number 8k + 5 is least. With sign -1 they cancel, which leaves other bits in other lanes. That
 * shows where nothing else is added: in y if x and bias are 0, and in all of dx if x and weight are
 * equal where dy cancels. */
static const float *kernel_norm_rows_of(struct context *c, size_t rows, size_t width, uint64_t seed,
                                        float sign, int power, float least)
{
    const float *values = randoms(c, rows * width, seed);
    float *list = case_memory(c, rows * width * sizeof *list);
    for (size_t i = 0; i < rows * width; ++i) {
        const size_t at = i % width % 8;
        list[i] = at == 0   ? ldexpf(values[i], power)
                  : at == 3 ? sign * list[i - 3]
                  : at == 5 ? least
                            : values[i];
    }
    return list;
}

/* Computes the expected values of row r of width numbers; the gradients of the parameters add one
 * row after the other. */
static void want_row(const struct norm *n, size_t width, size_t r, double dweight[], double dbias[],
                     struct wanted *w)
{
    const float *x = n->x + r * width, *dy = n->dy + r * width;
    double terms[WIDEST], slopes[WIDEST], xhat[WIDEST];
    for (size_t i = 0; i < width; ++i)
        terms[i] = (double)x[i];
    const double mean = kernel_norm_sum_of(terms, width) / (double)width;
    for (size_t i = 0; i < width; ++i)
        terms[i] = (terms[i] - mean) * (terms[i] - mean);
    const double invstd = 1.0 / sqrt(kernel_norm_sum_of(terms, width) / (double)width + EPS);
    for (size_t i = 0; i < width; ++i) {
        w->y[r * width + i] =
            (float)(((double)x[i] - mean) * invstd * (double)n->weight[i] + (double)n->bias[i]);
        xhat[i] = ((double)x[i] - (double)(float)mean) * (double)(float)invstd;
        slopes[i] = (double)dy[i] * (double)n->weight[i];
        terms[i] = slopes[i] * xhat[i];
        dweight[i] += (double)dy[i] * xhat[i];
        dbias[i] += (double)dy[i];
    }
    const double shift = kernel_norm_sum_of(slopes, width) / (double)width;
    const double slope = kernel_norm_sum_of(terms, width) / (double)width;
    for (size_t i = 0; i < width; ++i)
        w->dx[r * width + i] =
            (float)((double)(float)invstd * (slopes[i] - shift - xhat[i] * slope));
}

/* Either x cancels or dy does. */
static void one_layer_norm(struct context *c, struct dp_group *group, size_t width, bool forward)
{
    const size_t dim[] = {ROWS, CHANNELS, width}, rows = ROWS * CHANNELS;
    const float *big = kernel_norm_rows_of(c, rows, width, width, -1.0f, 40, 0.0f);
    const float *plain = kernel_norm_rows_of(c, rows, width, width + 50, 1.0f, 0, 0.0f);
    const struct norm n = {1, forward ? big : plain, forward ? plain : big,
                           kernel_norm_rows_of(c, 1, width, width + 100, 1.0f, 0, 1.0f),
                           kernel_norm_rows_of(c, 1, width, width + 150, 1.0f, 0, 0.0f)};
    struct wanted *w = case_memory(c, sizeof *w);
    double dweight[WIDEST] = {0.0}, dbias[WIDEST] = {0.0};
    struct dp_module *module;
    case_note(c, "rows of %zu, %s cancels", width, forward ? "x" : "dy");
    for (size_t r = 0; r < rows; ++r)
        want_row(&n, width, r, dweight, dbias, w);
    for (size_t i = 0; i < width; ++i) {
        w->dweight[i] = (float)dweight[i];
        w->dbias[i] = (float)dbias[i];
    }
    (void)opened_module(c, dp_layer_norm(group, width, EPS, &module, &c->err), &module);
    kernel_norm_step_of(c, module, &n, dim, w);
}

static void kernel_layer_norm(struct context *c)
{
    static const size_t width[] = {1, 7, 8, 9, 16, 63, 64, 65, WIDEST};
    struct dp_group *group = open_group(c, 1);
    if (c->settings.gpus > 0)
        case_skip(c, "GPUs add in an order of their own");
    for (size_t i = 0; i < 2 * sizeof width / sizeof width[0]; ++i)
        one_layer_norm(c, group, width[i / 2], i % 2 == 0);
}

static const struct test_case cases[] = {
    {"kernel/batch-norm", "DET-01 BUF-01", batch_norm},
    {"kernel/layer-norm", "DET-01", kernel_layer_norm},
};
const struct case_table kernel_norm_cases = {cases, sizeof cases / sizeof cases[0]};
