/* image.c: convolution of more rows than one chunk, without rows, with frozen parameters and as a
 * wrapped layer, against plain loops in double on integers; and the errors of the layers for
 * images. */
#include "list.h"

#include <math.h>

#define C_IN  2
#define C_OUT 3
#define SIDE  8
#define PLANE (SIDE * SIDE)

/* 3 x 3 windows, stride 1, padding 1: output planes are like those of the input. */
struct truth {
    double *y, *dx, weight[C_OUT * C_IN * 9], bias[C_OUT];
};

static void one_tap(struct truth *t, const double *x, const double *w, const double *dy, size_t n,
                    size_t o, size_t tap)
{
    const size_t c = tap / 9, kh = tap % 9 / 3, kw = tap % 3;
    for (size_t h = 0; h < SIDE; ++h) {
        for (size_t v = 0; v < SIDE; ++v) {
            const size_t from_h = h + kh - 1, from_v = v + kw - 1;
            if (from_h >= SIDE || from_v >= SIDE)
                continue;
            const size_t in = (n * C_IN + c) * PLANE + from_h * SIDE + from_v;
            const size_t out = (n * C_OUT + o) * PLANE + h * SIDE + v;
            t->y[out] += w[o * C_IN * 9 + tap] * x[in];
            t->dx[in] += w[o * C_IN * 9 + tap] * dy[out];
            t->weight[o * C_IN * 9 + tap] += x[in] * dy[out];
        }
    }
}

static struct truth find_truth(struct context *c, const double *x, const double *w, const double *b,
                               const double *dy, size_t rows)
{
    struct truth t = {.y = case_memory(c, rows * C_OUT * PLANE * sizeof(double)),
                      .dx = case_memory(c, rows * C_IN * PLANE * sizeof(double))};
    for (size_t i = 0; i < rows * C_OUT * PLANE; ++i) {
        t.y[i] = b[i / PLANE % C_OUT];
        t.bias[i / PLANE % C_OUT] += dy[i];
    }
    for (size_t n = 0; n < rows; ++n) {
        for (size_t o = 0; o < C_OUT; ++o)
            for (size_t tap = 0; tap < C_IN * 9; ++tap)
                one_tap(&t, x, w, dy, n, o, tap);
    }
    return t;
}

static struct dp_module *make_conv(struct context *c, struct dp_group *group)
{
    const struct dp_window window = {.kernel = {3, 3}, .padding = {1, 1}};
    struct dp_module *conv = NULL;
    (void)opened_module(c, dp_conv2d(group, C_IN, C_OUT, &window, true, &conv, &c->err), &conv);
    write_values(c, &param_at(c, conv, 0)->value, integers(c, C_OUT * C_IN * 9, 2));
    write_values(c, &param_at(c, conv, 1)->value, integers(c, C_OUT, 3));
    return conv;
}

/* frozen: bit 0 is the weight, bit 1 the bias. */
static void one_size(struct context *c, int k, size_t rows, unsigned frozen)
{
    struct dp_group *group = open_group(c, k);
    struct dp_slot *slot = dp_group_slot(group, 0);
    struct dp_module *conv = make_conv(c, group);
    struct dp_param *weight = param_at(c, conv, 0), *bias = param_at(c, conv, 1);
    const double *data = integers(c, rows * C_IN * PLANE, 1);
    const double *up = integers(c, rows * C_OUT * PLANE, 4);
    const struct truth t =
        find_truth(c, data, integers(c, C_OUT * C_IN * 9, 2), integers(c, C_OUT, 3), up, rows);
    weight->frozen = (frozen & 1) != 0;
    bias->frozen = (frozen & 2) != 0;
    move_module(c, conv, slot);
    struct dp_module *top = k > 1 ? make_parallel(c, conv, &(struct dp_parallel_config){0}) : conv;
    struct dp_run *run = open_run(c, group);
    const size_t in_dim[] = {rows, C_IN, SIDE, SIDE}, out_dim[] = {rows, C_OUT, SIDE, SIDE};
    struct dp_tensor x = make_tensor(c, slot, DP_F32, 4, in_dim, data);
    const struct dp_tensor dy = make_tensor(c, slot, DP_F32, 4, out_dim, up);
    x.needs_grad = true;
    for (int round = 1; round <= 2; ++round) {
        double twice[C_OUT * C_IN * 9];
        const struct dp_tensor y = forward(c, top, run, &x);
        expect_shape(c, "y", &y, 4, out_dim);
        expect_values(c, "y", &y, t.y);
        const struct dp_tensor dx = backward(c, top, run, &dy);
        expect_values(c, "dx", &dx, t.dx);
        for (size_t i = 0; i < C_OUT * C_IN * 9; ++i)
            twice[i] = round * t.weight[i];
        if (!weight->frozen)
            expect_grad(c, "weight", weight, twice);
        for (size_t i = 0; i < C_OUT; ++i)
            twice[i] = round * t.bias[i];
        if (!bias->frozen)
            expect_grad(c, "bias", bias, twice);
        expect(c, weight->has_grad == !weight->frozen && bias->has_grad == !bias->frozen, "frozen");
    }
}

/* An image has 18 rows of columns and 64 windows: a chunk is 113 images. */
static void chunks(struct context *c)
{
    static const size_t rows[] = {0, 1, 113, 114, 240};
    for (size_t i = 0; i < 5; ++i) {
        for (int k = 1; k <= 3; k += 2) {
            case_release(c);
            case_note(c, "K=%d N=%zu", k, rows[i]);
            one_size(c, k, rows[i], (unsigned)i % 4);
        }
    }
}

static void image_refused(struct context *c)
{
    struct dp_group *group = open_group(c, 1);
    struct dp_slot *slot = dp_group_slot(group, 0);
    struct dp_module *conv = make_conv(c, group), *none = NULL;
    struct dp_run *run = open_run(c, group);
    static const size_t shapes[][4] = {{1, 3, 8, 8}, {1, 2, 0, 8}, {1, 2, 8, 0}};
    move_module(c, conv, slot);
    for (int i = 0; i < 3; ++i) {
        const struct dp_tensor x = make_tensor(c, slot, DP_F32, 4, shapes[i], integers(c, 192, 1));
        struct dp_tensor out[DP_MAX_IO];
        int n = 0;
        expect_error(c, dp_forward(conv, run, &x, 1, out, &n, &c->err), DP_ESHAPE, "conv2d",
                     "(1, ");
    }
    const struct dp_window empty = {.kernel = {0, 3}}, deep = {.kernel = {3, 3}, .padding = {2, 0}};
    expect_error(c, dp_conv2d(group, 1, 1, &empty, true, &none, &c->err), DP_EINVAL, "(0, 3)",
                 NULL);
    expect_error(c, dp_conv2d(group, 0, 1, &deep, true, &none, &c->err), DP_EINVAL, "channel",
                 NULL);
    expect_error(c, dp_max_pool2d(group, &deep, &none, &c->err), DP_EINVAL, "padding of 2", "3");
    expect_error(c, dp_embedding(group, 0, 4, &none, &c->err), DP_EINVAL, "(0, 4)", NULL);
    expect(c, none == NULL, "a module was set by a failure");
}

/* Pooling has 2 x 2 windows over rows of any width, also of many windows and with a remainder. The
 * first of equal numbers counts as the largest, or the last NaN; it gets the gradient. */
static void pool_widths(struct context *c)
{
    enum { HEIGHT = 4, WIDEST = 15 };
    const struct dp_window window = {.kernel = {2, 2}, .stride = {2, 2}};
    struct dp_group *group = open_group(c, 1);
    struct dp_slot *slot = dp_group_slot(group, 0);
    struct dp_run *run = open_run(c, group);
    struct dp_module *pool = NULL;
    (void)opened_module(c, dp_max_pool2d(group, &window, &pool, &c->err), &pool);
    for (size_t width = 2; width <= WIDEST; ++width) {
        const size_t outs = width / 2, windows = HEIGHT / 2 * outs;
        double x[HEIGHT * WIDEST], dx[HEIGHT * WIDEST] = {0.0};
        float y[HEIGHT * WIDEST];
        const double *dy = sequence(c, windows, 1.0, 1.0);
        for (size_t i = 0; i < HEIGHT * width; ++i)
            x[i] = i % 11 == 5 ? (double)NAN : (double)((i * i / 3 + i) % 4);
        for (size_t o = 0; o < windows; ++o) {
            const size_t first = o / outs * 2 * width + o % outs * 2;
            const size_t at[] = {first, first + 1, first + width, first + width + 1};
            size_t best = first;
            for (int k = 1; k < 4; ++k)
                best = x[at[k]] > x[best] || isnan(x[at[k]]) ? at[k] : best;
            y[o] = (float)x[best];
            dx[best] = dy[o];
        }
        case_note(c, "rows of %zu", width);
        struct dp_tensor in = make_tensor(c, slot, DP_F32, 4, (size_t[]){1, 1, HEIGHT, width}, x);
        in.needs_grad = true;
        const struct dp_tensor up =
            make_tensor(c, slot, DP_F32, 4, (size_t[]){1, 1, HEIGHT / 2, outs}, dy);
        const struct dp_tensor out = forward(c, pool, run, &in);
        const float *got = read_floats(c, &out);
        for (size_t o = 0; o < windows; ++o)
            expect(c, isnan(y[o]) ? isnan(got[o]) : got[o] == y[o], "window %zu has %g, not %g", o,
                   (double)got[o], (double)y[o]);
        const struct dp_tensor grad = backward(c, pool, run, &up);
        expect_values(c, "gradient", &grad, dx);
    }
}

/* A view has other dimensions for the same numbers. It must have as many, and it has a gradient
 * only if one is wanted. */
static void views(struct context *c)
{
    static const size_t rows_of[] = {2, 3};
    struct dp_group *group = open_group(c, 1);
    struct dp_slot *slot = dp_group_slot(group, 0);
    struct dp_module *to_rows = NULL, *flat = NULL;
    (void)opened_module(c, dp_unflatten(group, 2, rows_of, &to_rows, &c->err), &to_rows);
    (void)opened_module(c, dp_flatten(group, &flat, &c->err), &flat);
    struct dp_run *run = open_run(c, group);
    for (size_t width = 5; width <= 7; width += 2) {
        struct dp_tensor out[DP_MAX_IO];
        int n = 0;
        const struct dp_tensor x = make_matrix(c, slot, 4, width, NULL);
        expect_error(c, dp_forward(to_rows, run, &x, 1, out, &n, &c->err), DP_ESHAPE,
                     "rows of 6 elements", NULL);
    }
    for (int wanted = 0; wanted < 2; ++wanted) {
        case_note(c, "gradient %s", wanted ? "wanted" : "not wanted");
        struct dp_tensor x = make_matrix(c, slot, 4, 6, sequence(c, 24, 1.0, 1.0));
        x.needs_grad = wanted != 0;
        const struct dp_tensor y = forward(c, to_rows, run, &x);
        expect_shape(c, "unflattened", &y, 3, (size_t[]){4, 2, 3});
        expect_values(c, "unflattened", &y, sequence(c, 24, 1.0, 1.0));
        const struct dp_tensor z = forward(c, flat, run, &y);
        expect_matrix(c, "flattened", &z, slot, 4, 6, sequence(c, 24, 1.0, 1.0));
        expect(c, y.needs_grad == x.needs_grad && z.needs_grad == x.needs_grad,
               "outputs want a gradient: %d and %d", y.needs_grad, z.needs_grad);
    }
}

/* An index that is not in the table gives NaN, never another row, and no gradient. */
static void outside(struct context *c)
{
    struct dp_group *group = open_group(c, 1);
    struct dp_slot *host = dp_group_host(group);
    struct dp_module *table = NULL;
    (void)opened_module(c, dp_embedding(group, 3, 2, &table, &c->err), &table);
    struct dp_run *run = open_run(c, group);
    write_values(c, &param_at(c, table, 0)->value, sequence(c, 6, 1.0, 1.0));
    const struct dp_tensor x =
        make_tensor(c, host, DP_I32, 1, (size_t[]){4}, (double[]){-1, 2, 3, 2147483647});
    const struct dp_tensor dy = make_matrix(c, host, 4, 2, sequence(c, 8, 1.0, 1.0));
    const struct dp_tensor y = forward(c, table, run, &x);
    const float *got = read_floats(c, &y);
    for (int i = 0; i < 8; ++i) {
        const bool known = i / 2 == 1;
        expect(c, known ? got[i] == (float)(3 + i) : !(got[i] == got[i]), "element %d is %g", i,
               (double)got[i]);
    }
    (void)backward(c, table, run, &dy);
    expect_grad(c, "weight", param_at(c, table, 0), (double[]){0, 0, 0, 0, 3, 4});
    for (int time = 0; time < 2; ++time) {
        const double n = time == 0 ? 1 : 2; /* the first is not added to what was there before */
        if (time == 0)
            dp_zero_grad(table);
        (void)forward(c, table, run, &x);
        (void)backward(c, table, run, &dy);
        expect_grad(c, time == 0 ? "after zero_grad" : "twice", param_at(c, table, 0),
                    (double[]){0, 0, 0, 0, 3 * n, 4 * n});
    }
}

/* Sizes that no memory can hold, also products that would wrap around to 0, and 0 itself. */
static void too_large(struct context *c)
{
    static const size_t bad[][2] = {{0, 3}, {3, 0}, {SIZE_MAX / 2 + 1, 4}, {SIZE_MAX / 4 + 1, 4}};
    struct dp_group *group = open_group(c, 1);
    struct dp_module *none = NULL;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; ++i) {
        const size_t hidden = bad[i][0] > 3 ? bad[i][0] : 0;
        case_note(c, "row %zu", i);
        expect_error(c, dp_unflatten(group, 2, bad[i], &none, &c->err), DP_EINVAL, "unflatten",
                     NULL);
        expect_error(c, dp_lstm(group, 1, hidden, true, &none, &c->err), DP_EINVAL, "lstm(1, ",
                     "hidden unit");
    }
    expect(c, none == NULL, "a module came of it");
    /* 2^32 by 2^32 windows. */
    const struct dp_window wide = {.kernel = {1, 1}, .padding = {2147483647, 2147483647}};
    const struct dp_tensor x =
        make_tensor(c, dp_group_host(group), DP_F32, 4, (size_t[]){1, 1, 2, 2}, integers(c, 4, 1));
    struct dp_tensor out[DP_MAX_IO];
    int n = 0;
    (void)opened_module(c, dp_conv2d(group, 1, 1, &wide, true, &none, &c->err), &none);
    expect_error(c, dp_forward(none, open_run(c, group), &x, 1, out, &n, &c->err), DP_ENOMEM,
                 "conv2d", "windows");
}

static const struct test_case cases[] = {
    {"image/views", "", views},
    {"image/chunks", "GRAD-01 GRAD-04 REPL-13 COMP-01 SPLIT-05", chunks},
    {"image/refused", "ERR-01", image_refused},
    {"image/pool-widths", "", pool_widths},
    {"image/too-large", "ERR-01", too_large},
    {"image/table-outside", "", outside},
};
const struct case_table image_cases = {cases, sizeof cases / sizeof *cases};
