/* kernel.c: the kernels that a backend may write in another way than their definition, against
 * plain loops in the promised order: the same bits on random data, for odd sizes, for views that
 * begin anywhere, with NaN, infinities, denormals and zeros of both signs. GPUs add losses and the
 * gradient of a bias in another order; see core/cuda/launch.h. */
#include "cpu/fast_functions.h"
#include "list.h"

#include <math.h>
#include <string.h>

static const float specials[] = {0.0f,      -0.0f,           NAN,        INFINITY,
                                 -INFINITY, 0x1p-149f,       -0x3p-149f, 0x1p-126f,
                                 -0x1p127f, 0x1.fffffep127f, 1.0f,       -1.0f};

enum { SPECIALS = sizeof specials / sizeof specials[0] };

/* Returns floats uniform in -1..1 times 2^-20..2^20, so that every order of a sum has other bits;
 * every step-th one is special, and none if step is 0. */
static float *kernel_mixed(struct context *c, size_t n, uint64_t seed, size_t step)
{
    float *list = case_memory(c, n * sizeof *list);
    const float *values = randoms(c, n, seed);
    const double *powers = integers(c, n, seed + 1000);
    for (size_t i = 0; i < n; ++i) {
        list[i] = ldexpf(values[i], (int)(2.5 * powers[i]));
        if (step > 0 && i % step == seed % step)
            list[i] = specials[(i / step + seed) % SPECIALS];
    }
    return list;
}

/* Makes a tensor that begins shift floats after the start of the device's allocation. */
static struct dp_tensor shifted(struct context *c, struct dp_slot *slot, size_t rows, size_t cols,
                                const float values[], size_t shift)
{
    const size_t n = rows * cols + shift;
    struct dp_tensor whole = make_tensor(c, slot, DP_F32, 1, &n, NULL);
    struct dp_tensor view = whole;
    view.ndim = 2;
    view.dim[0] = rows;
    view.dim[1] = cols;
    view.data = (float *)whole.data + shift;
    write_floats(c, &view, values);
    return view;
}

static uint32_t kernel_bits(float value)
{
    uint32_t b;
    memcpy(&b, &value, sizeof b);
    return b;
}

/* It is not defined which of two NaNs an operation passes on, so any NaN equals any other. */
static void expect_same(struct context *c, const char *what, const struct dp_tensor *tensor,
                        const float want[])
{
    const size_t n = dp_tensor_count(tensor);
    const float *got = read_floats(c, tensor);
    for (size_t i = 0; i < n; ++i) {
        expect(c, kernel_bits(got[i]) == kernel_bits(want[i]) || (isnan(got[i]) && isnan(want[i])),
               "%s: index %zu of %zu: got %a, want %a", what, i, n, (double)got[i],
               (double)want[i]);
    }
}

static const size_t sizes[] = {0, 1, 2, 3, 4, 5, 7, 8, 15, 16, 17, 31, 33, 100, 1023, 1025};

enum { SIZES = sizeof sizes / sizeof sizes[0] };

struct place {
    struct dp_group *group;
    struct dp_slot *slot;
    struct dp_run *run;
    size_t n, shift;
    uint64_t seed;
};

/* Place i of a table of all sizes at all shifts, with or without special values in the data. */
enum { PLACES = SIZES * 4 };

/* All places of a case use one group: opening one takes longer than the work on it. */
static void next_place(struct context *c, struct place *p, size_t i)
{
    p->n = sizes[i / 4];
    p->shift = i % 4;
    p->seed = i;
    case_note(c, "n=%zu shift=%zu", p->n, p->shift);
    if (!p->group) {
        p->group = open_group(c, 1);
        p->slot = dp_group_slot(p->group, 0);
        p->run = open_run(c, p->group);
    }
    dp_run_reset(p->run);
}

static void relu(struct context *c)
{
    struct place p = {.group = NULL};
    for (size_t i = 0; i < PLACES; ++i) {
        next_place(c, &p, i);
        const float *x = kernel_mixed(c, p.n, p.seed, 3), *dy = kernel_mixed(c, p.n, p.seed + 7, 4);
        float *y = case_memory(c, p.n * sizeof *y), *dx = case_memory(c, p.n * sizeof *dx);
        for (size_t e = 0; e < p.n; ++e) {
            y[e] = x[e] <= 0.0f ? 0.0f : x[e];
            dx[e] = y[e] <= 0.0f ? 0.0f : dy[e];
        }
        struct dp_tensor in = shifted(c, p.slot, p.n, 1, x, p.shift);
        in.needs_grad = true;
        const struct dp_tensor upstream = shifted(c, p.slot, p.n, 1, dy, 3 - p.shift);
        struct dp_module *module = make_relu(c, p.group);
        const struct dp_tensor out = forward(c, module, p.run, &in);
        const struct dp_tensor grad = backward(c, module, p.run, &upstream);
        expect_same(c, "output", &out, y);
        expect_same(c, "input gradient", &grad, dx);
    }
}

/* Expects the bits of a sum in order, or on a GPU the bound of any order: each of two sums of n
 * terms is off by at most n 2^-24 times the total of their sizes. A sum with an infinity or a NaN
 * among its terms is never finite; whether finite terms overflow on the way depends on the order.
 */
static void expect_sums(struct context *c, const struct dp_tensor *tensor, size_t n,
                        const float want[], const double total[])
{
    const size_t count = dp_tensor_count(tensor);
    const float *got = read_floats(c, tensor);
    if (c->settings.gpus == 0)
        expect_same(c, "sums", tensor, want);
    for (size_t i = 0; i < count && c->settings.gpus > 0; ++i) {
        const double bound = (double)n * ldexp(total[i], -23);
        if (isfinite(total[i]) && total[i] >= 0x1p127)
            continue;
        expect(c,
               isfinite(total[i]) ? fabs((double)got[i] - (double)want[i]) <= bound
                                  : !isfinite(got[i]),
               "sum of %zu: index %zu: got %a, want %a within %g", n, i, (double)got[i],
               (double)want[i], bound);
    }
}

/* The input has one column and the weight is ones: the product is exact, so the bias is tested. */
static void bias(struct context *c)
{
    struct place p = {.group = NULL};
    for (size_t i = 0; i < PLACES; ++i) {
        static const size_t cols[] = {1, 2, 3, 5, 8, 17};
        next_place(c, &p, i);
        for (size_t k = 0; k < sizeof cols / sizeof cols[0]; ++k) {
            const size_t rows = p.n % 101, d = cols[k];
            const float *x = kernel_mixed(c, rows, p.seed, 0),
                        *b = kernel_mixed(c, d, p.seed + k, 2);
            const float *dy = kernel_mixed(c, rows * d, p.seed + 9, 29);
            const double *ones = sequence(c, d, 1.0, 0.0);
            float *y = case_memory(c, rows * d * sizeof *y), *db = case_memory(c, d * sizeof *db);
            double *total = case_memory(c, d * sizeof *total);
            struct dp_module *linear = make_linear(c, p.group, 1, d, true);
            struct dp_param *weight = param_at(c, linear, 0), *shift = param_at(c, linear, 1);
            write_values(c, &weight->value, ones);
            write_floats(c, &shift->value, b);
            move_module(c, linear, p.slot);
            for (int pass = 0; pass < 2; ++pass) {
                for (size_t r = 0; r < rows; ++r) {
                    for (size_t u = 0; u < d; ++u) {
                        y[r * d + u] = x[r] + b[u];
                        db[u] += dy[r * d + u];
                        total[u] += fabs((double)dy[r * d + u]);
                    }
                }
                const struct dp_tensor in = shifted(c, p.slot, rows, 1, x, p.shift);
                const struct dp_tensor upstream = shifted(c, p.slot, rows, d, dy, p.shift);
                const struct dp_tensor out = forward(c, linear, p.run, &in);
                (void)backward(c, linear, p.run, &upstream);
                expect_same(c, "output", &out, y);
                expect_sums(c, &shift->grad, rows * (size_t)(pass + 1), db, total);
            }
        }
    }
}

struct loss_row {
    enum dp_loss_kind kind;
    bool target;
    size_t step; /* of specials */
};

/* The bits show the order of the additions: the second half subtracts the first half. */
static void loss_values(struct context *c, const struct place *p, size_t step, float y[], float t[])
{
    memcpy(y, kernel_mixed(c, p->n, p->seed, step), p->n * sizeof *y);
    memcpy(t, kernel_mixed(c, p->n, p->seed + 5, step), p->n * sizeof *t);
    for (size_t e = 0; step == 0 && e < p->n / 2; ++e) {
        y[p->n - 1 - e] = y[e];
        t[p->n - 1 - e] = -t[e];
    }
}

static double term(const struct loss_row *row, float y, float t)
{
    const double difference = (double)y - (double)t;
    if (row->kind == DP_LOSS_MSE)
        return difference * difference;
    return row->target ? (double)y * (double)t : (double)y;
}

static double loss_slope(const struct loss_row *row, float y, float t)
{
    if (row->kind == DP_LOSS_MSE)
        return 0.75 * 2.0 * ((double)y - (double)t);
    return row->target ? 0.75 * (double)t : 0.75;
}

/* Adds the lanes as the definition says: term e is in lane e % 8. */
static double sum_of_lanes(const double lane[8])
{
    return ((lane[0] + lane[4]) + (lane[2] + lane[6])) +
           ((lane[1] + lane[5]) + (lane[3] + lane[7]));
}

/* Expects the bits of a sum in order, or on a GPU, which adds in another order, the bound of any
 * order: each of two sums of n terms is off by at most n 2^-53 times the total of their sizes, and
 * each is rounded to a float once. */
static void expect_loss(struct context *c, size_t n, const struct dp_tensor *got, double sum,
                        double total)
{
    const float want = (float)(0.75 * sum);
    const float *value = read_floats(c, got);
    const double bound =
        0.75 * 2.0 * (double)n * ldexp(total, -53) + ldexp(fabs((double)want), -23);
    if (c->settings.gpus == 0 || !isfinite(want) || !isfinite(value[0]))
        expect_same(c, "loss", got, &want);
    else
        expect(c, fabs((double)value[0] - (double)want) <= bound,
               "loss of %zu: got %a, want %a within %g", n, (double)value[0], (double)want, bound);
}

static void one_loss(struct context *c, const struct place *p, const struct loss_row *row)
{
    float *y = case_memory(c, p->n * sizeof *y), *t = case_memory(c, p->n * sizeof *t);
    float *slope = case_memory(c, p->n * sizeof *slope);
    double lane[8] = {0.0}, total = 0.0;
    loss_values(c, p, row->step, y, t);
    for (size_t e = 0; e < p->n; ++e) {
        lane[e % 8] += term(row, y[e], t[e]);
        total += fabs(term(row, y[e], t[e]));
        slope[e] = (float)loss_slope(row, y[e], t[e]);
    }
    struct dp_module *loss = make_loss(c, p->group, row->kind, 0.75f, false);
    struct dp_tensor in[2] = {shifted(c, p->slot, p->n, 1, y, p->shift),
                              shifted(c, p->slot, p->n, 1, t, 3 - p->shift)};
    struct dp_tensor out[DP_MAX_IO], grad[2];
    const int n_in = row->target ? 2 : 1;
    int n_out = 0;
    in[0].needs_grad = true;
    expect_ok(c, dp_forward(loss, p->run, in, n_in, out, &n_out, &c->err), "loss");
    expect_ok(c, dp_backward(loss, p->run, NULL, 0, grad, n_in, &c->err), "loss backward");
    expect_loss(c, p->n, &out[0], sum_of_lanes(lane), total);
    expect_same(c, "gradient", &grad[0], slope);
}

static void loss(struct context *c)
{
    static const struct loss_row rows[] = {
        {DP_LOSS_SUM, true, 0},  {DP_LOSS_SUM, false, 0},  {DP_LOSS_MSE, true, 0},
        {DP_LOSS_SUM, true, 11}, {DP_LOSS_SUM, false, 11}, {DP_LOSS_MSE, true, 11},
    };
    struct place p = {.group = NULL};
    for (size_t i = 0; i < PLACES; ++i) {
        next_place(c, &p, i);
        for (size_t r = 0; r < sizeof rows / sizeof rows[0]; ++r)
            one_loss(c, &p, &rows[r]);
    }
}

/* Parameters have n x 1 and n elements; every step has a new gradient. */
static void sgd_steps(struct context *c, const struct place *p, float momentum, float decay)
{
    struct dp_module *linear = make_linear(c, p->group, 1, p->n, true);
    float *value[2], *velocity[2];
    move_module(c, linear, p->slot);
    for (int q = 0; q < 2; ++q) {
        value[q] = kernel_mixed(c, p->n, p->seed + (unsigned)q, 13);
        velocity[q] = case_memory(c, p->n * sizeof *velocity[q]);
        write_floats(c, &param_at(c, linear, q)->value, value[q]);
    }
    struct dp_sgd *sgd = open_sgd(c, linear, 0.3f, momentum, decay);
    for (unsigned step = 0; step < 3; ++step) {
        for (int q = 0; q < 2; ++q) {
            struct dp_param *param = param_at(c, linear, q);
            const float *grad = kernel_mixed(c, p->n, p->seed + 2 * step + (unsigned)q, 17);
            write_floats(c, &param->grad, grad);
            param->has_grad = true;
            for (size_t e = 0; e < p->n; ++e) {
                float g = grad[e] + decay * value[q][e];
                if (momentum > 0.0f && step > 0)
                    g = momentum * velocity[q][e] + g;
                velocity[q][e] = g;
                value[q][e] -= 0.3f * g;
            }
        }
        expect_ok(c, dp_sgd_step(sgd, &c->err), "dp_sgd_step");
        expect_same(c, "weight", &param_at(c, linear, 0)->value, value[0]);
        expect_same(c, "bias", &param_at(c, linear, 1)->value, value[1]);
    }
}

static void sgd(struct context *c)
{
    struct place p = {.group = NULL};
    for (size_t i = 4; i < PLACES; ++i) {
        next_place(c, &p, i);
        sgd_steps(c, &p, i % 2 == 0 ? 0.9f : 0.0f, i % 4 < 2 ? 0.01f : 0.0f);
    }
}

/* One row of ones per replica: its weight gradient is its row of the upstream gradient. The second
 * backward adds to the gradient of the first. */
static void sums_of_replicas(struct context *c, struct dp_group *group, int k, size_t n)
{
    struct dp_module *linear = make_linear(c, group, 1, n, false);
    struct dp_param *weight = param_at(c, linear, 0);
    move_module(c, linear, dp_group_slot(group, 0));
    struct dp_module *wrapper = make_parallel(c, linear, &(struct dp_parallel_config){0});
    struct dp_run *run = open_run(c, group);
    const struct dp_tensor x =
        make_matrix(c, dp_group_slot(group, 0), (size_t)k, 1, sequence(c, (size_t)k, 1.0, 0.0));
    const struct dp_tensor upstream = make_matrix(c, dp_group_slot(group, 0), (size_t)k, n, NULL);
    float *want = case_memory(c, n * sizeof *want);
    for (unsigned pass = 0; pass < 2; ++pass) {
        const float *dy = kernel_mixed(c, (size_t)k * n, 7 * n + pass, 23);
        write_floats(c, &upstream, dy);
        for (size_t e = 0; e < n; ++e) {
            float sum = dy[e];
            for (size_t r = 1; r < (size_t)k; ++r)
                sum += dy[r * n + e];
            want[e] = pass == 0 ? sum : want[e] + sum;
        }
        (void)forward(c, wrapper, run, &x);
        (void)backward(c, wrapper, run, &upstream);
        expect_same(c, "weight gradient", &weight->grad, want);
    }
}

static void kernel_reduce(struct context *c)
{
    static const size_t lengths[] = {1, 5, 1023, 1024, 1025, 9001};
    for (int k = 2; k <= 5; ++k) {
        case_release(c);
        struct dp_group *group = open_group(c, k);
        for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; ++i) {
            case_note(c, "K=%d n=%zu", k, lengths[i]);
            if (adds_freely(group))
                case_skip(c, "the communicator adds by itself");
            sums_of_replicas(c, group, k, lengths[i]);
        }
    }
}

/* ---- marks of bits --------------------------------------------------------------------------- */

enum { LAPS = 2 * DP_FOLD_MARKS + 17 };

static void fold_all(struct context *c, const struct dp_tensor *marks, const struct dp_tensor *x,
                     uint32_t got[])
{
    static const uint32_t none[DP_FOLD_MARKS];
    expect_ok(c, dp_tensor_write(marks, none, &c->err), "marks to 0");
    for (int pass = 0; pass < 2; ++pass)
        expect_ok(c, dp_tensor_fold(marks, x, &c->err), "fold");
    expect_ok(c, dp_tensor_read(got, marks, &c->err), "marks");
}

/* One flipped bit of one element, at both ends of each lap, changes the digest of that element
 * alone. */
static void fold_flips(struct context *c, const struct dp_tensor *marks, const struct dp_tensor *x,
                       float values[], const uint32_t want[])
{
    static const size_t at[] = {0, DP_FOLD_MARKS - 1, DP_FOLD_MARKS, LAPS - 1};
    uint32_t *got = case_memory(c, DP_FOLD_MARKS * sizeof *got);
    for (size_t i = 0; i < sizeof at / sizeof at[0]; ++i) {
        for (unsigned b = 0; b < 32; b += 31) {
            const uint32_t before = kernel_bits(values[at[i]]), flipped = before ^ (uint32_t)1 << b;
            size_t differ = 0;
            memcpy(&values[at[i]], &flipped, sizeof flipped);
            write_floats(c, x, values);
            fold_all(c, marks, x, got);
            for (size_t j = 0; j < DP_FOLD_MARKS; ++j)
                differ += got[j] != want[j];
            expect(c, differ == 1 && got[at[i] % DP_FOLD_MARKS] != want[at[i] % DP_FOLD_MARKS],
                   "bit %u of element %zu: %zu marks differ", b, at[i], differ);
            memcpy(&values[at[i]], &before, sizeof before);
        }
    }
}

static void kernel_fold(struct context *c)
{
    struct dp_group *group = open_group(c, 2);
    struct dp_slot *slot = dp_group_slot(group, 1);
    const size_t n = LAPS, m = DP_FOLD_MARKS;
    float *values = kernel_mixed(c, n, 5, 7);
    uint32_t *want = case_memory(c, m * sizeof *want), *got = case_memory(c, m * sizeof *got);
    const struct dp_tensor marks = make_tensor(c, slot, DP_I32, 1, &m, NULL);
    const struct dp_tensor x = make_tensor(c, slot, DP_F32, 1, &n, NULL);
    const struct dp_tensor away = make_tensor(c, dp_group_slot(group, 0), DP_F32, 1, &n, NULL);
    struct dp_error shape = {0}, device = {0};
    memset(want, 0, m * sizeof *want);
    for (size_t i = 0; i < 2 * n; ++i) {
        uint32_t *mark = &want[i % n % m];
        *mark = (*mark ^ kernel_bits(values[i % n])) * 0x9e3779b1u;
        *mark ^= *mark >> 15;
    }
    write_floats(c, &x, values);
    fold_all(c, &marks, &x, got);
    expect(c, memcmp(got, want, m * sizeof *want) == 0, "marks are not those of the definition");
    fold_flips(c, &marks, &x, values, want);
    expect_error_of(c, dp_tensor_fold(&x, &x, &shape), DP_ESHAPE, &shape, "folded to", NULL);
    expect_error_of(c, dp_tensor_fold(&marks, &away, &device), DP_EDEVICE, &device,
                    "the marks are on", NULL);
}

/* ---- functions as polynomials ---------------------------------------------------------------- */

/* Returns the difference in units in the last place of a float. */
static double ulps(double got, double want)
{
    return fabs(got - want) / ldexp(1.0, ilogb(want) - 23);
}

/* The bounds that the header states hold on numbers that are evenly spaced and on some that are
 * not. */
static void functions(struct context *c)
{
    enum { STEPS = 40000 };
    for (int i = 1; i <= STEPS; ++i) {
        const double part = (double)i / STEPS, close = ldexp(part, -i % 24);
        const float x[] = {(float)(87.0 * part), (float)close, (float)(2.0 * part)};
        for (size_t k = 0; k < sizeof x / sizeof x[0]; ++k) {
            const double at = (double)x[k], above = 1.0 / (1.0 + exp(-at));
            const double below = exp(-at) / (1.0 + exp(-at));
            expect(c, ulps((double)exp_below(-x[k]), exp(-at)) <= 4.0, "exp of %a", -at);
            expect(c, ulps((double)sigmoid(x[k]), above) <= 4.0, "sigmoid of %a", at);
            expect(c, ulps((double)sigmoid(-x[k]), below) <= 4.0, "sigmoid of %a", -at);
            expect(c, ulps((double)tanh_fast(-x[k]), tanh(-at)) <= 4.0, "tanh of %a", -at);
        }
        const double far = -708.0 * part, want = exp(far);
        expect(c, fabs(exp_below_double(far) - want) <= 0x1p-50 * want, "exp of %a", far);
        expect(c, fabs(exp_below_double(-close) - exp(-close)) <= 0x1p-50 * exp(-close),
               "exp of %a", -close);
    }
    expect(c, exp_below_double(0.0) == 1.0 && exp_below(0.0f) == 1.0f, "exp of 0");
    expect(c, isnan(exp_below_double((double)NAN)) && isnan(exp_below(NAN)), "exp of no number");
    expect(c, exp_below_double(-(double)INFINITY) <= 0x1p-1021, "exp of -infinity");
}

/* Checks that the data can tell one order of a sum from another, which the other cases need. */
static void data(struct context *c)
{
    const size_t n = 1023, cols = 17;
    struct place p = {.n = n, .seed = 3};
    const struct loss_row row = {DP_LOSS_SUM, true, 0};
    float y[1023], t[1023];
    double forwards = 0.0, lane[8] = {0.0};
    loss_values(c, &p, 0, y, t);
    for (size_t e = 0; e < n; ++e) {
        forwards += term(&row, y[e], t[e]);
        lane[e % 8] += term(&row, y[e], t[e]);
    }
    expect(c, (float)forwards != (float)sum_of_lanes(lane), "a loss in order has the same bits");
    const float *x = kernel_mixed(c, 100 * cols, 9, 0);
    size_t differ = 0;
    for (size_t u = 0; u < cols; ++u) {
        float down = 0.0f, pairs = 0.0f;
        for (size_t r = 0; r < 100; ++r)
            down += x[r * cols + u];
        for (size_t r = 0; r < 100; r += 2)
            pairs += x[r * cols + u] + x[(r + 1) * cols + u];
        differ += down != pairs;
    }
    expect(c, differ > 0, "sums of rows in pairs have the same bits");
}

static const struct test_case cases[] = {
    {"kernel/data", "DET-01", data},        {"kernel/relu", "DET-01", relu},
    {"kernel/bias", "DET-01", bias},        {"kernel/loss", "DET-01 LOSS-01", loss},
    {"kernel/sgd", "GRAD-17", sgd},         {"kernel/reduce", "DET-01", kernel_reduce},
    {"kernel/fold", "DET-01", kernel_fold}, {"kernel/functions", "", functions},
};
const struct case_table kernel_cases = {cases, sizeof cases / sizeof cases[0]};
