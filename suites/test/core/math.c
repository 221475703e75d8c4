/* math.c: how matrix products round their operands: not at all, or exactly as asked for.
 *
 * The data are integers, so that every product and sum is exact once the operands are rounded: the
 * results are compared, bit for bit, with a model that has its own arithmetic for rounding. */
#include "list.h"

#include <math.h>
#include <string.h>

static const struct row {
    enum dp_math math;
    int bits; /* significant ones that are kept */
    int slots;
    size_t rows, in, out;
    double inputs, weights, gradients; /* up to so much */
} table[] = {
    {DP_MATH_F32, 24, 1, 7, 5, 4, 4001, 3, 3},    {DP_MATH_F32, 24, 3, 7, 5, 4, 601, 601, 601},
    {DP_MATH_BF16, 8, 1, 7, 5, 4, 601, 601, 601}, {DP_MATH_BF16, 8, 3, 7, 5, 4, 601, 601, 601},
    {DP_MATH_BF16, 8, 3, 7, 5, 4, 256, 256, 256}, {DP_MATH_BF16, 8, 1, 150, 300, 130, 301, 3, 3},
    {DP_MATH_TF32, 11, 1, 7, 5, 4, 4001, 3, 3},   {DP_MATH_TF32, 11, 3, 7, 5, 4, 3, 4001, 3},
    {DP_MATH_TF32, 11, 2, 7, 5, 4, 2048, 3, 3},
};

/* Rounds to nearest, ties to even: the rounding mode of the program. */
static double math_rounded(double value, int bits)
{
    int exponent;
    (void)frexp(value, &exponent);
    return ldexp(nearbyint(ldexp(value, bits - exponent)), exponent - bits);
}

/* Returns odd and even integers of -most..most. */
static double *math_numbers(struct context *c, size_t n, double most, uint64_t seed)
{
    double *list = case_memory(c, n * sizeof *list);
    const float *random = randoms(c, n, seed);
    for (size_t i = 0; i < n; ++i)
        list[i] = nearbyint((double)random[i] * most);
    list[0] = most;
    return list;
}

struct product {
    size_t rows, cols, k;
    const double *a, *b;
    size_t a_row, a_col, b_row, b_col; /* steps of a[row, k] and b[k, col] */
};

/* Returns sums of products of rounded numbers; *changed says whether rounding has changed them. */
static double *math_multiply(struct context *c, const struct product *p, int bits, bool *changed)
{
    double *out = case_memory(c, p->rows * p->cols * sizeof *out);
    for (size_t i = 0; i < p->rows; ++i) {
        for (size_t j = 0; j < p->cols; ++j) {
            double sum = 0, plain = 0;
            for (size_t l = 0; l < p->k; ++l) {
                const double a = p->a[i * p->a_row + l * p->a_col];
                const double b = p->b[l * p->b_row + j * p->b_col];
                sum += math_rounded(a, bits) * math_rounded(b, bits);
                plain += a * b;
            }
            out[i * p->cols + j] = sum;
            *changed = *changed || sum != plain;
        }
    }
    return out;
}

struct step {
    struct dp_module *linear, *wrapper;
    struct dp_run *run;
    struct dp_slot *slot;
    const double *x, *w, *dy;
};

static void open_step(struct context *c, const struct row *row, struct step *s)
{
    struct dp_group *group = open_math_group(c, row->slots, row->math);
    expect(c, dp_group_math(group) == row->math, "the group has another math");
    s->slot = dp_group_slot(group, 0);
    s->run = open_run(c, group);
    s->linear = make_linear(c, group, row->in, row->out, true);
    s->x = math_numbers(c, row->rows * row->in, row->inputs, 1);
    s->w = math_numbers(c, row->out * row->in, row->weights, 2);
    s->dy = math_numbers(c, row->rows * row->out, row->gradients, 3);
    write_values(c, &param_at(c, s->linear, 0)->value, s->w);
    write_values(c, &param_at(c, s->linear, 1)->value, sequence(c, row->out, 257.0, 1.0));
    move_module(c, s->linear, s->slot);
    s->wrapper = make_parallel(c, s->linear, &(struct dp_parallel_config){0});
}

/* The bias is not part of the matrix product: 257 has nine bits and stays what it is. */
static void expect_forward(struct context *c, const struct row *row, const struct step *s,
                           const struct dp_tensor *y, bool *changed)
{
    const struct product p = {row->rows, row->out, row->in, s->x, s->w, row->in, 1, 1, row->in};
    double *want = math_multiply(c, &p, row->bits, changed);
    for (size_t i = 0; i < row->rows * row->out; ++i)
        want[i] += 257.0 + (double)(i % row->out);
    expect_values(c, "output", y, want);
}

static void expect_backward(struct context *c, const struct row *row, const struct step *s,
                            const struct dp_tensor *dx, bool *changed)
{
    const struct product weight = {row->out, row->in,  row->rows, s->dy, s->x,
                                   1,        row->out, row->in,   1};
    const struct product input = {row->rows, row->in, row->out, s->dy, s->w,
                                  row->out,  1,       row->in,  1};
    double *bias = case_memory(c, row->out * sizeof *bias);
    for (size_t i = 0; i < row->rows * row->out; ++i)
        bias[i % row->out] += s->dy[i];
    expect_values(c, "input gradient", dx, math_multiply(c, &input, row->bits, changed));
    expect_grad(c, "weight gradient", param_at(c, s->linear, 0),
                math_multiply(c, &weight, row->bits, changed));
    expect_grad(c, "bias gradient", param_at(c, s->linear, 1), bias);
}

/* cuBLAS does not document what it rounds to TF32, and how; the fake rounds to nearest. */
static bool can_tell(struct dp_slot *slot, const struct row *row)
{
    struct dp_slot_info info;
    dp_slot_describe(slot, &info);
    return row->math != DP_MATH_TF32 || strcmp(info.model, "Fake GPU") == 0 ||
           (row->inputs <= 2048 && row->weights <= 2048 && row->gradients <= 2048);
}

static void operands(struct context *c)
{
    for (size_t i = 0; i < sizeof table / sizeof table[0]; ++i) {
        const struct row *row = &table[i];
        struct step s;
        bool changed = false;
        case_release(c);
        case_note(c, "row %zu, %s", i, dp_math_name(row->math));
        if (row->math == DP_MATH_TF32 && c->settings.gpus == 0)
            continue;
        open_step(c, row, &s);
        if (!can_tell(s.slot, row))
            continue;
        struct dp_tensor x = make_matrix(c, s.slot, row->rows, row->in, s.x);
        x.needs_grad = true;
        const struct dp_tensor dy = make_matrix(c, s.slot, row->rows, row->out, s.dy);
        const struct dp_tensor y = forward(c, s.wrapper, s.run, &x);
        expect_forward(c, row, &s, &y, &changed);
        const struct dp_tensor dx = backward(c, s.wrapper, s.run, &dy);
        expect_backward(c, row, &s, &dx, &changed);
        const double limit = ldexp(1.0, row->bits);
        const bool must = row->inputs > limit || row->weights > limit;
        expect(c, changed == must, "%s", must ? "nothing was rounded" : "exact data were rounded");
    }
}

/* y = round(x) * 1: halves to even, up to infinity, NaN. */
static void bf16_values(struct context *c)
{
    static const float x[] = {1.0f,          0x1.01p0f,    0x1.03p0f,     0x1.010002p0f,
                              -0x1.01p0f,    -0x1.0300p0f, 0x1.00fffep0f, 0x1.fffffep127f,
                              0x1.feffp127f, -0x1.ffp127f, INFINITY,      -INFINITY,
                              0x1p-126f,     0x1.81p-100f, 0x1.83p100f,   0x1.fffp-1f};
    static const float want[] = {
        1.0f,        1.0f,      0x1.04p0f, 0x1.02p0f, -1.0f,     -0x1.04p0f,  1.0f,        INFINITY,
        0x1.fep127f, -INFINITY, INFINITY,  -INFINITY, 0x1p-126f, 0x1.8p-100f, 0x1.84p100f, 1.0f};
    enum { N = sizeof x / sizeof *x };
    struct dp_group *group = open_math_group(c, 1, DP_MATH_BF16);
    struct dp_slot *slot = dp_group_slot(group, 0);
    struct dp_run *run = open_run(c, group);
    struct dp_module *linear = make_linear(c, group, 1, 1, false);
    write_values(c, &param_at(c, linear, 0)->value, (double[]){1.0});
    move_module(c, linear, slot);
    const struct dp_tensor in = make_matrix(c, slot, N, 1, sequence(c, N, 0.0, 0.0));
    write_floats(c, &in, x);
    const struct dp_tensor out = forward(c, linear, run, &in);
    const float *first = read_floats(c, &out);
    for (int i = 0; i < N; ++i)
        expect(c, first[i] == want[i], "%a became %a, want %a", (double)x[i], (double)first[i],
               (double)want[i]);
    float nan[N];
    for (int i = 0; i < N; ++i)
        nan[i] = NAN;
    write_floats(c, &in, nan);
    const struct dp_tensor none = forward(c, linear, run, &in);
    const float *got = read_floats(c, &none);
    for (int i = 0; i < N; ++i)
        expect(c, isnan(got[i]) != 0, "NaN became %g", (double)got[i]);
}

static void math_refused(struct context *c)
{
    struct dp_group *group = NULL;
    char devices[256];
    device_list(&c->settings, 2, devices);
    struct dp_group_config config = {
        .devices = "virt:2", .backend = NULL, .math = DP_MATH_TF32, .bind = false};
    int status = dp_group_open(&config, &group, &c->err);
    expect_error(c, status, DP_EINVAL, "tf32 is for GPUs", "virt");
    config.devices = "host";
    status = dp_group_open(&config, &group, &c->err);
    expect_error(c, status, DP_EINVAL, "tf32 is for GPUs", NULL);
    config.devices = devices;
    config.math = (enum dp_math)7;
    status = dp_group_open(&config, &group, &c->err);
    expect_error(c, status, DP_EINVAL, "unknown math 7", "bf16");
    expect(c, group == NULL, "a failing call set the group");
    expect(c, strcmp(dp_math_name((enum dp_math)7), "unknown") == 0, "a name for nothing");
}

static const struct test_case cases[] = {
    {"math/operands", "COMP-01 GRAD-01", operands},
    {"math/bf16-values", "COMP-01", bf16_values},
    {"math/refused", "COMP-01", math_refused},
};

const struct case_table math_cases = {cases, sizeof cases / sizeof cases[0]};
