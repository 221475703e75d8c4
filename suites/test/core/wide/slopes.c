/* slopes.c: every layer's gradients against finite differences in float64. Core is compiled with
 * double for float (wide.h), so that what is checked are its own sources, layers and portable
 * kernels.
 *
 * f(h) = sum of c * layer(x, parameters), one number moved by h. D(h) = (f(h) - f(-h)) / 2h is the
 * slope but for h^2 f'''/6 + O(h^4). With h and 2h the first of these cancels in R = (4 D(h) -
 * D(2h)) / 3, and |R - D(h)| is its size: R is much nearer to the slope than that. Rounding adds at
 * most n u |terms| / h for n = 10^4 operations, u = 2^-53 and terms that add up to SIZE. The
 * gradient must be within |R - D(h)| + n u SIZE / h, which is at most 10^-7 here. */
#include "dp.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double H = 0x1p-13, ROUNDING = 1e4 * 0x1p-53 / 0x1p-13;

struct subject {
    const char *name;
    int (*open)(struct dp_group *group, struct dp_module **module, struct dp_error *err);
    int ndim;
    size_t dim[4];
    bool eval;
};

static int open_conv(struct dp_group *group, struct dp_module **module, struct dp_error *err)
{
    const struct dp_window window = {{3, 2}, {2, 1}, {1, 0}};
    return dp_conv2d(group, 2, 3, &window, true, module, err);
}

static int open_pool(struct dp_group *group, struct dp_module **module, struct dp_error *err)
{
    const struct dp_window window = {.kernel = {3, 2}, .stride = {2, 2}, .padding = {1, 0}};
    return dp_max_pool2d(group, &window, module, err);
}

static int open_linear(struct dp_group *group, struct dp_module **module, struct dp_error *err)
{
    return dp_linear(group, 5, 3, true, module, err);
}

static int open_rnn(struct dp_group *group, struct dp_module **module, struct dp_error *err)
{
    return dp_rnn(group, 3, 4, false, module, err);
}

static int open_lstm(struct dp_group *group, struct dp_module **module, struct dp_error *err)
{
    return dp_lstm(group, 3, 4, false, module, err);
}

static int open_lstm_last(struct dp_group *group, struct dp_module **module, struct dp_error *err)
{
    return dp_lstm(group, 3, 4, true, module, err);
}

static int open_norm(struct dp_group *group, struct dp_module **module, struct dp_error *err)
{
    return dp_batch_norm(group, 3, 0x1p-7, 0.1, module, err);
}

/* It has one round: with more, the gradient takes the shares as constants and is no slope. */
static int open_capsule(struct dp_group *group, struct dp_module **module, struct dp_error *err)
{
    const struct dp_capsule_config config = {4, 3, 2, 3, 1};
    return dp_capsule(group, &config, module, err);
}

static int open_gelu_tanh(struct dp_group *group, struct dp_module **module, struct dp_error *err)
{
    return dp_gelu(group, true, module, err);
}

static int open_gelu_erf(struct dp_group *group, struct dp_module **module, struct dp_error *err)
{
    return dp_gelu(group, false, module, err);
}

static int open_layer_norm(struct dp_group *group, struct dp_module **module, struct dp_error *err)
{
    return dp_layer_norm(group, 5, 0x1p-7, module, err);
}

static int open_positions(struct dp_group *group, struct dp_module **module, struct dp_error *err)
{
    return dp_positions(group, 4, 5, module, err);
}

static int open_attention(struct dp_group *group, struct dp_module **module, struct dp_error *err)
{
    return dp_attention(group, 2, 0.0, 1, module, err);
}

/* Opens one weight that is used twice. */
static int open_tied(struct dp_group *group, struct dp_module **module, struct dp_error *err)
{
    struct dp_module *parts[2] = {NULL, NULL};
    struct dp_param *weight;
    int status = dp_linear(group, 4, 4, false, &parts[0], err);
    if (status == 0 && dp_module_params(parts[0], &weight, 1) == 1)
        status = dp_linear_tied(group, weight, &parts[1], err);
    if (status == 0)
        status = dp_sequential(group, parts, 2, module, err);
    dp_module_close(parts[0]);
    dp_module_close(parts[1]);
    return status;
}

static const struct subject subjects[] = {
    {"linear", open_linear, 2, {4, 5}, false},
    {"linear, steps", open_linear, 3, {2, 3, 5}, false},
    {"linear, tied", open_tied, 3, {2, 2, 4}, false},
    {"gelu, tanh", open_gelu_tanh, 2, {4, 5}, false},
    {"gelu, erf", open_gelu_erf, 2, {4, 5}, false},
    {"layer_norm", open_layer_norm, 3, {2, 3, 5}, false},
    {"positions", open_positions, 3, {2, 3, 5}, false},
    {"attention", open_attention, 3, {2, 4, 18}, false},
    {"relu", dp_relu, 2, {4, 5}, false},
    {"tanh", dp_tanh, 2, {4, 5}, false},
    {"conv2d", open_conv, 4, {2, 2, 5, 4}, false},
    {"max_pool2d", open_pool, 4, {2, 2, 5, 4}, false},
    {"flatten", dp_flatten, 3, {2, 3, 2}, false},
    {"rnn", open_rnn, 3, {2, 4, 3}, false},
    {"lstm", open_lstm, 3, {2, 4, 3}, false},
    {"lstm, last step", open_lstm_last, 3, {2, 4, 3}, false},
    {"batch_norm", open_norm, 3, {4, 3, 2}, false},
    {"batch_norm in eval", open_norm, 3, {4, 3, 2}, true},
    {"capsule", open_capsule, 3, {2, 4, 2}, false},
};

/* The layer and the data of one trial. The numbers of x and of the parameters are moved in place.
 */
struct trial {
    struct dp_group *group;
    struct dp_module *module;
    struct dp_run *run;
    struct dp_tensor x, c;
    struct dp_param *param[8];
    int n_params;
    size_t slopes, wrong;
};

static void slopes_fill(double *values, size_t n, unsigned seed)
{
    for (size_t i = 0; i < n; ++i) {
        seed = seed * 1664525u + 1013904223u;
        /* No value is near 0, where relu has no slope, and no two are the same. */
        values[i] = ((seed >> 16 & 1) ? 1.0 : -1.0) * (0.125 + (double)(seed >> 17) / 32768.0);
    }
}

static void slopes_fail(const char *what, const struct dp_error *err)
{
    fprintf(stderr, "FAILED: %s: %s\n", what, err->text);
    exit(1);
}

static struct dp_tensor slopes_forward(struct trial *t)
{
    struct dp_tensor out[DP_MAX_IO];
    struct dp_error err = {0};
    int n = 0;
    dp_run_reset(t->run);
    if (dp_forward(t->module, t->run, &t->x, 1, out, &n, &err))
        slopes_fail("forward", &err);
    return out[0];
}

static double slopes_value(struct trial *t)
{
    const struct dp_tensor y = slopes_forward(t);
    const double *c = t->c.data, *v = y.data;
    double sum = 0.0;
    for (size_t i = 0; i < dp_tensor_count(&y); ++i)
        sum += c[i] * v[i];
    return sum;
}

static double difference(struct trial *t, double *number, double h)
{
    const double kept = *number;
    *number = kept + h;
    const double above = slopes_value(t);
    *number = kept - h;
    const double below = slopes_value(t);
    *number = kept;
    return (above - below) / (2.0 * h);
}

static void slopes_compare(struct trial *t, const char *name, const char *what, double *numbers,
                           const double *gradient, size_t n)
{
    for (size_t i = 0; i < n; ++i) {
        const double one = difference(t, &numbers[i], H), two = difference(t, &numbers[i], 2.0 * H);
        const double slope = (4.0 * one - two) / 3.0;
        const double bound = fabs(slope - one) + ROUNDING * 16.0;
        ++t->slopes;
        if (fabs(gradient[i] - slope) <= bound && bound < 1e-6)
            continue;
        fprintf(stderr, "FAILED: %s: %s, element %zu: gradient %.12g, slope %.12g, bound %.2g\n",
                name, what, i, gradient[i], slope, bound);
        ++t->wrong;
    }
}

static void open_trial(struct trial *t, const struct subject *s)
{
    const struct dp_group_config config = {.devices = "host", .backend = "cpu-ref"};
    struct dp_error err = {0};
    if (dp_group_open(&config, &t->group, &err) || s->open(t->group, &t->module, &err) ||
        dp_run_open(t->group, &t->run, &err) ||
        dp_tensor_alloc(dp_group_host(t->group), DP_F32, s->ndim, s->dim, &t->x, &err))
        slopes_fail(s->name, &err);
    t->x.needs_grad = true;
    dp_run_train_mode(t->run, !s->eval);
    slopes_fill(t->x.data, dp_tensor_count(&t->x), 7);
    t->n_params = dp_module_params(t->module, t->param, 8);
    for (int p = 0; p < t->n_params; ++p) {
        const struct dp_param *param = t->param[p];
        if (!param->buffer)
            slopes_fill(param->value.data, dp_tensor_count(&param->value), 11 + (unsigned)p);
    }
}

/* Copies a tensor whose memory the run will use again. */
static double *slopes_keep(const struct dp_tensor *tensor)
{
    const size_t bytes = dp_tensor_count(tensor) * sizeof(double);
    double *copy = malloc(bytes);
    if (!copy)
        exit(1);
    memcpy(copy, tensor->data, bytes);
    return copy;
}

static size_t try_subject(const struct subject *s, size_t *wrong)
{
    struct trial t = {.slopes = 0};
    struct dp_tensor dx = {0};
    struct dp_error err = {0};
    open_trial(&t, s);
    const struct dp_tensor y = slopes_forward(&t);
    if (dp_tensor_alloc(dp_group_host(t.group), DP_F32, y.ndim, y.dim, &t.c, &err))
        slopes_fail(s->name, &err);
    slopes_fill(t.c.data, dp_tensor_count(&t.c), 3);
    if (dp_backward(t.module, t.run, &t.c, 1, &dx, 1, &err))
        slopes_fail(s->name, &err);
    double *kept = slopes_keep(&dx);
    slopes_compare(&t, s->name, "input", t.x.data, kept, dp_tensor_count(&t.x));
    free(kept);
    for (int p = 0; p < t.n_params; ++p) {
        if (t.param[p]->buffer)
            continue;
        slopes_compare(&t, s->name, t.param[p]->name, t.param[p]->value.data, t.param[p]->grad.data,
                       dp_tensor_count(&t.param[p]->value));
    }
    *wrong += t.wrong;
    dp_tensor_free(&t.x);
    dp_tensor_free(&t.c);
    dp_run_close(t.run);
    dp_module_close(t.module);
    dp_group_close(t.group);
    return t.slopes;
}

int main(void)
{
    size_t wrong = 0;
    if (dp_dtype_bytes(DP_F32) != sizeof(double)) {
        fprintf(stderr, "FAILED: this core is not the one for double\n");
        return 1;
    }
    for (size_t i = 0; i < sizeof subjects / sizeof *subjects; ++i) {
        const size_t slopes = try_subject(&subjects[i], &wrong);
        printf("%-20s %zu slopes\n", subjects[i].name, slopes);
        wrong += slopes == 0;
    }
    return wrong != 0;
}
