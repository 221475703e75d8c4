/* layer.c: single layers and losses, against plain loops in double, with every kernel of the
 * backend. Integer data give the same bits. Where a function is not exact (tanh, exp, log) the
 * comment derives the bound. */
#include "list.h"
#include "probes.h"

#include <math.h>

/* lead has the dimensions before the last one. */
static void linear_shape(struct context *c, const size_t lead[], int n_lead, size_t d_in,
                         size_t d_out, bool bias)
{
    size_t rows = 1, dim[4] = {0};
    case_release(c);
    const struct one o = open_one(c, 1);
    for (int d = 0; d < n_lead; ++d) {
        dim[d] = lead[d];
        rows *= lead[d];
    }
    const double *x = integers(c, rows * d_in, 1), *w = integers(c, d_in * d_out, 2);
    const double *b = integers(c, d_out, 3), *dy = integers(c, rows * d_out, 4);
    double *y = case_memory(c, rows * d_out * sizeof *y);
    double *dx = case_memory(c, rows * d_in * sizeof *dx);
    double *dw = case_memory(c, d_in * d_out * sizeof *dw);
    double *db = case_memory(c, d_out * sizeof *db);
    for (size_t r = 0; r < rows; ++r) {
        for (size_t u = 0; u < d_out; ++u) {
            y[r * d_out + u] = bias ? b[u] : 0.0;
            db[u] += dy[r * d_out + u];
            for (size_t i = 0; i < d_in; ++i) {
                y[r * d_out + u] += w[u * d_in + i] * x[r * d_in + i];
                dx[r * d_in + i] += w[u * d_in + i] * dy[r * d_out + u];
                dw[u * d_in + i] += x[r * d_in + i] * dy[r * d_out + u];
            }
        }
    }
    struct dp_module *linear = make_linear(c, o.group, d_in, d_out, bias);
    struct dp_param *list[3];
    expect(c, dp_module_params(linear, list, 3) == (bias ? 2 : 1), "parameters");
    write_values(c, &list[0]->value, w);
    if (bias)
        write_values(c, &list[1]->value, b);
    move_module(c, linear, o.slot);
    dim[n_lead] = d_in;
    struct dp_tensor in = make_tensor(c, o.slot, DP_F32, n_lead + 1, dim, x);
    in.needs_grad = true;
    const struct dp_tensor out = forward(c, linear, o.run, &in);
    dim[n_lead] = d_out;
    const struct dp_tensor upstream = make_tensor(c, o.slot, DP_F32, n_lead + 1, dim, dy);
    expect_shape(c, "output", &out, n_lead + 1, dim);
    expect_values(c, "output", &out, y);
    const struct dp_tensor grad = backward(c, linear, o.run, &upstream);
    expect_shape(c, "input gradient", &grad, in.ndim, in.dim);
    expect_values(c, "input gradient", &grad, dx);
    expect_grad(c, "weight", list[0], dw);
    if (bias)
        expect_grad(c, "bias", list[1], db);
}

static void linear(struct context *c)
{
    static const size_t rows[] = {0, 1, 2, 17, 64}, widths[] = {1, 2, 5, 33, 128};
    static const size_t lead[][3] = {{0, 3, 2}, {3, 0, 2}, {1, 1, 1}, {2, 3, 1}, {3, 2, 5}};
    for (size_t r = 0; r < 5; ++r) {
        for (size_t i = 0; i < 5; ++i) {
            const size_t d_out = widths[(i + r) % 5];
            case_note(c, "(%zu, %zu) -> %zu", rows[r], widths[i], d_out);
            linear_shape(c, &rows[r], 1, widths[i], d_out, (r + i) % 2 == 0);
        }
        case_note(c, "(%zu, %zu, %zu, 5) -> 3", lead[r][0], lead[r][1], lead[r][2]);
        linear_shape(c, lead[r], r % 2 == 0 ? 3 : 2, 5, 3, true);
    }
}

static void linear_refused(struct context *c)
{
    const struct one o = open_one(c, 1);
    struct dp_module *module = make_linear(c, o.group, 3, 2, true);
    move_module(c, module, o.slot);
    const struct dp_tensor wide = make_matrix(c, o.slot, 2, 4, sequence(c, 8, 1.0, 1.0));
    const struct dp_tensor flat =
        make_tensor(c, o.slot, DP_F32, 1, (size_t[]){3}, sequence(c, 3, 1.0, 1.0));
    const struct dp_tensor whole =
        make_tensor(c, o.slot, DP_I32, 2, (size_t[]){2, 3}, sequence(c, 6, 1.0, 1.0));
    const struct dp_tensor deep =
        make_tensor(c, o.slot, DP_F32, 3, (size_t[]){3, 3, 4}, sequence(c, 36, 1.0, 1.0));
    const struct dp_tensor *inputs[] = {&wide, &flat, &whole, &deep};
    for (int i = 0; i < 4; ++i) {
        struct dp_tensor out[DP_MAX_IO];
        int n_out = 0;
        expect_error(c, dp_forward(module, o.run, inputs[i], 1, out, &n_out, &c->err), DP_ESHAPE,
                     "3", NULL);
    }
}

/* The C library's tanhf is within 2 units in the last place (glibc's manual, x86_64 and aarch64);
 * one more for the rounding of the input's double value. dx = g (1 - y^2): an error of 3u|y| in y
 * gives 6u y^2, and three roundings of at most u each follow; u = 2^-24. */
static void tanh_layer(struct context *c)
{
    const struct one o = open_one(c, 1);
    enum { n = 400 };
    const float *x = randoms(c, n, 9);
    float wide[n];
    double y[n], y_bound[n], dx[n], dx_bound[n];
    for (int i = 0; i < n; ++i) {
        wide[i] = x[i] * (float)(1 << i % 6);
        y[i] = tanh((double)wide[i]);
        y_bound[i] = 0x1p-22 * fabs(y[i]) + 0x1p-148;
        dx[i] = 3.0 * (1.0 - y[i] * y[i]);
        dx_bound[i] = 3.0 * (0x1p-21 * y[i] * y[i] + 0x1p-22 * (1.0 - y[i] * y[i]) + 0x1p-24);
    }
    struct dp_tensor in = make_matrix(c, o.slot, n, 1, NULL);
    write_floats(c, &in, wide);
    in.needs_grad = true;
    struct dp_module *module = make_tanh(c, o.group);
    const struct dp_tensor upstream = make_matrix(c, o.slot, n, 1, sequence(c, n, 3.0, 0.0));
    const struct dp_tensor out = forward(c, module, o.run, &in);
    expect_within(c, "output", &out, y, y_bound);
    const struct dp_tensor grad = backward(c, module, o.run, &upstream);
    expect_within(c, "input gradient", &grad, dx, dx_bound);
    const struct dp_tensor edges = make_matrix(c, o.slot, 4, 1, (double[]){0, 100, -100, 1e30});
    const struct dp_tensor limits = forward(c, module, o.run, &edges);
    expect_matrix(c, "limits", &limits, o.slot, 4, 1, (double[]){0, 1, -1, 1});
}

static struct dp_tensor loss_of(struct context *c, const struct one *o, struct dp_module *loss,
                                const struct dp_tensor *y, const struct dp_tensor *other,
                                struct dp_tensor *gradient)
{
    struct dp_tensor in[2] = {*y, other == NULL ? *y : *other}, out[DP_MAX_IO], grad_in[2];
    const int n_in = !other ? 1 : 2;
    int n_out = 0;
    in[0].needs_grad = true;
    expect_ok(c, dp_forward(loss, o->run, in, n_in, out, &n_out, &c->err), "loss");
    expect_ok(c, dp_backward(loss, o->run, NULL, 0, grad_in, n_in, &c->err), "loss backward");
    expect(c, n_in == 1 || !grad_in[1].slot, "the second input has a gradient");
    *gradient = grad_in[0];
    return out[0];
}

/* scale and mean are powers of two or divide exactly, for 8 elements. */
static void sum_and_squares(struct context *c)
{
    for (int variant = 0; variant < 8; ++variant) {
        case_release(c);
        const struct one o = open_one(c, 1);
        const bool mean = (variant & 1) != 0, squares = (variant & 2) != 0;
        const float scale = (variant & 4) != 0 ? 0.5f : 3.0f;
        case_note(c, "mean %d squares %d scale %g", mean, squares, (double)scale);
        const double *y = integers(c, 8, 1), *t = integers(c, 8, 2);
        const double factor = (double)scale / (mean ? 8.0 : 1.0);
        double plain = 0.0, weighted = 0.0, plain_grad[8], weighted_grad[8];
        for (int i = 0; i < 8; ++i) {
            const double e = y[i] - t[i];
            plain += factor * y[i];
            weighted += factor * (squares ? e * e : t[i] * y[i]);
            plain_grad[i] = factor;
            weighted_grad[i] = factor * (squares ? 2.0 * e : t[i]);
        }
        struct dp_module *loss =
            make_loss(c, o.group, squares ? DP_LOSS_MSE : DP_LOSS_SUM, scale, mean);
        const struct dp_tensor in = make_matrix(c, o.slot, 4, 2, y);
        const struct dp_tensor other = make_matrix(c, o.slot, 4, 2, t);
        struct dp_tensor gradient;
        struct dp_tensor out = loss_of(c, &o, loss, &in, &other, &gradient);
        expect_scalar(c, "loss", &out, o.slot, weighted);
        expect_matrix(c, "gradient", &gradient, o.slot, 4, 2, weighted_grad);
        if (!squares) {
            out = loss_of(c, &o, loss, &in, NULL, &gradient);
            expect_scalar(c, "loss", &out, o.slot, plain);
            expect_matrix(c, "gradient", &gradient, o.slot, 4, 2, plain_grad);
        }
    }
}

/* Cross-entropy is summed in double and rounded once; exp and log in double are within 1 ulp, so
 * that all of it is far below half a float ulp: 2^-23 relative covers the rounding, also where
 * the loss is small against the logits (2^-40 of them). A gradient softmax - onehot is one
 * rounding of a number below 1, and one product. */
static void cross_entropy(struct context *c)
{
    static const int lengths[] = {1, 7, 8, 26, 300};
    for (int m = 0; m < 2 * (int)(sizeof lengths / sizeof lengths[0]); ++m) {
        case_release(c);
        const struct one o = open_one(c, 1);
        enum { rows = 16, most = 300 };
        const int mean = m % 2, classes = lengths[m / 2], n = rows * classes;
        case_note(c, "mean %d, %d classes", mean, classes);
        const float *logits = randoms(c, (size_t)n, 5);
        float scaled[rows * most];
        double label[rows], want = 0.0, largest = 0.0, grad[rows * most], bound[rows * most];
        const double factor = 2.0 / (mean != 0 ? rows : 1.0);
        for (int r = 0; r < rows; ++r) {
            double top = -INFINITY, total = 0.0;
            label[r] = r % classes;
            for (int k = 0; k < classes; ++k) {
                const int i = r * classes + k;
                scaled[i] = logits[i] * (r == 3 ? 1000.0f : 10.0f); /* row 3 overflows exp */
                top = fmax(top, (double)scaled[i]);
            }
            for (int k = 0; k < classes; ++k)
                total += exp((double)scaled[r * classes + k] - top);
            want += factor * (log(total) + top - (double)scaled[r * classes + r % classes]);
            largest = fmax(largest, fabs(top));
            for (int k = 0; k < classes; ++k) {
                const int i = r * classes + k;
                grad[i] = factor * (exp((double)scaled[i] - top) / total - (k == r % classes));
                bound[i] = factor * 0x1p-22;
            }
        }
        const double loss_bound = 0x1p-23 * want + 0x1p-40 * largest;
        const struct dp_tensor in = make_matrix(c, o.slot, rows, (size_t)classes, NULL);
        write_floats(c, &in, scaled);
        const struct dp_tensor target = make_tensor(c, o.slot, DP_I32, 1, (size_t[]){rows}, label);
        struct dp_tensor gradient;
        struct dp_module *loss = make_loss(c, o.group, DP_LOSS_XENT, 2.0f, mean != 0);
        const struct dp_tensor out = loss_of(c, &o, loss, &in, &target, &gradient);
        expect_shape(c, "loss", &out, 0, NULL);
        expect_within(c, "loss", &out, &want, &loss_bound);
        expect_shape(c, "gradient", &gradient, 2, (size_t[]){rows, (size_t)classes});
        expect_within(c, "gradient", &gradient, grad, bound);
    }
}

/* A class out of range makes the loss NaN, and never reads outside. */
static void class_out_of_range(struct context *c)
{
    static const double bad[] = {-1, 3, 2147483647, -2147483647};
    for (int i = 0; i < 4; ++i) {
        case_note(c, "class %.0f", bad[i]);
        struct dp_group *group = open_group(c, 1);
        struct dp_slot *slot = dp_group_slot(group, 0);
        struct dp_tensor in[2] = {
            make_matrix(c, slot, 2, 3, sequence(c, 6, 0.0, 1.0)),
            make_tensor(c, slot, DP_I32, 1, (size_t[]){2}, (double[]){1, bad[i]})};
        in[0].needs_grad = true;
        struct dp_run *run = open_run(c, group);
        struct dp_module *loss = make_loss(c, group, DP_LOSS_XENT, 1.0f, false);
        struct dp_tensor out[DP_MAX_IO], grad[2];
        int n_out = 0;
        expect_ok(c, dp_forward(loss, run, in, 2, out, &n_out, &c->err), "forward");
        expect(c, isnan(read_floats(c, &out[0])[0]), "the loss is a number");
        expect_ok(c, dp_backward(loss, run, NULL, 0, grad, 2, &c->err), "backward");
        expect_shape(c, "gradient", &grad[0], 2, (size_t[]){2, 3});
        const float *slope = read_floats(c, &grad[0]);
        expect(c, !isnan(slope[0] + slope[1] + slope[2]), "a row with a class has no gradient");
        expect(c, isnan(slope[3]) && isnan(slope[4]) && isnan(slope[5]), "a row without has one");
        expect(c, grad[1].slot == NULL, "classes have a gradient");
    }
}

static void sum_of_no_rows(struct context *c)
{
    const struct one o = open_one(c, 1);
    const struct dp_tensor none = make_matrix(c, o.slot, 0, 2, NULL);
    const struct dp_tensor sum =
        forward(c, make_loss(c, o.group, DP_LOSS_SUM, 1.0f, false), o.run, &none);
    expect_scalar(c, "sum of no rows", &sum, o.slot, 0.0);
}

/* Initial values are within 1/sqrt(last dimension), spread over that range, and the same for the
 * same seed. */
static void initial_values(struct context *c)
{
    const struct one o = open_one(c, 1);
    const float *first = NULL;
    for (int i = 0; i < 3; ++i) {
        struct dp_module *parts[] = {make_linear(c, o.group, 16, 20, true),
                                     make_counter(c, o.group)};
        struct dp_module *model = make_sequential(c, o.group, parts, 2);
        expect_ok(c, dp_module_init(model, i == 2 ? 8 : 7, &c->err), "dp_module_init");
        const float *weight = read_floats(c, &param_at(c, model, 0)->value);
        size_t low = 0, high = 0, different = 0;
        for (size_t e = 0; e < 320; ++e) {
            expect(c, weight[e] >= -0.25f && weight[e] <= 0.25f, "element %zu: %g", e,
                   (double)weight[e]);
            low += weight[e] < -0.125f ? 1U : 0U;
            high += weight[e] > 0.125f ? 1U : 0U;
            different += first && weight[e] != first[e] ? 1U : 0U;
        }
        expect(c, low > 40 && high > 40, "%zu low, %zu high of 320", low, high);
        expect(c, i == 1 ? different == 0 : i == 0 || different > 300, "%zu differ", different);
        expect_values(c, "buffer", &param_at(c, parts[1], 0)->value, (double[]){0.0});
        first = !first ? weight : first;
    }
}

static const struct test_case cases[] = {
    {"layer/linear", "GRAD-03", linear},
    {"layer/linear-refused", "ERR-03", linear_refused},
    {"layer/tanh", "GRAD-07", tanh_layer},
    {"layer/sum-and-squares", "LOSS-01", sum_and_squares},
    {"layer/cross-entropy", "LOSS-01", cross_entropy},
    {"layer/class-out-of-range", "LOSS-01", class_out_of_range},
    {"layer/sum-of-no-rows", "LOSS-01", sum_of_no_rows},
    {"layer/initial-values", "BUF-01", initial_values},
};
const struct case_table layer_cases = {cases, sizeof cases / sizeof cases[0]};
