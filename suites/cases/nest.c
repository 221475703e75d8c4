/* nest.c: area NEST: a wrapped block that is a part of a larger model. */
#include "check.h"

#include <string.h>

/* ---- a chain of three linear layers: 3 -> 4 -> 4 -> 2 ---------------------------------------- */

enum { BLOCKS = 3, ROWS = 10, WIDEST = 4, MOST = WIDEST * WIDEST };

static const size_t width[BLOCKS + 1] = {3, 4, 4, 2};

/* The results of the model, in double: every number is an integer below 2^24. */
struct chain {
    const double *weight[BLOCKS], *bias[BLOCKS], *x, *g;
    double hidden[BLOCKS + 1][ROWS * WIDEST], down[BLOCKS + 1][ROWS * WIDEST];
    double dweight[BLOCKS][MOST], dbias[BLOCKS][WIDEST];
};

static struct chain *chain_of(struct check *c)
{
    struct chain *t = check_memory(c, sizeof *t);

    t->x = check_integers(c, ROWS * width[0], 71);
    t->g = check_integers(c, ROWS * width[BLOCKS], 72);
    memcpy(t->hidden[0], t->x, ROWS * width[0] * sizeof(double));
    memcpy(t->down[BLOCKS], t->g, ROWS * width[BLOCKS] * sizeof(double));
    for (int i = 0; i < BLOCKS; ++i) {
        t->weight[i] = check_integers(c, width[i] * width[i + 1], 80 + (uint64_t)i);
        t->bias[i] = check_integers(c, width[i + 1], 90 + (uint64_t)i);
        for (size_t r = 0; r < ROWS; ++r)
            for (size_t o = 0; o < width[i + 1]; ++o) {
                double sum = t->bias[i][o];
                for (size_t n = 0; n < width[i]; ++n)
                    sum += t->weight[i][o * width[i] + n] * t->hidden[i][r * width[i] + n];
                t->hidden[i + 1][r * width[i + 1] + o] = sum;
            }
    }
    for (int i = BLOCKS - 1; i >= 0; --i) {
        for (size_t r = 0; r < ROWS; ++r)
            for (size_t o = 0; o < width[i + 1]; ++o) {
                const double g = t->down[i + 1][r * width[i + 1] + o];
                t->dbias[i][o] += g;
                for (size_t n = 0; n < width[i]; ++n) {
                    t->dweight[i][o * width[i] + n] += g * t->hidden[i][r * width[i] + n];
                    t->down[i][r * width[i] + n] += g * t->weight[i][o * width[i] + n];
                }
            }
    }
    return t;
}

/* Checks that got, a value or gradient of parameter i, is at + rate * (1000 + the sum of its
 * gradient). */
static void chain_param_is(struct check *c, const struct impl_array *got, const struct chain *t,
                           int i, const double at[], double rate)
{
    const int b = i / 2;
    const bool bias = i % 2 == 1;
    const double *sum = bias ? t->dbias[b] : t->dweight[b];
    const size_t n = bias ? width[b + 1] : width[b] * width[b + 1];
    double want[MOST];

    for (size_t e = 0; e < n; ++e)
        want[e] = at[e] + rate * (1000 + sum[e]);
    check_values(c, check_text(c, "block %d, parameter %d", b, i), got, n, want);
}

/* Checks the model with input and output on device 0. */
static void chain_holds(struct check *c, struct impl_model *model, const struct chain *t)
{
    const size_t in[] = {ROWS, width[0]}, out[] = {ROWS, width[BLOCKS]};
    struct impl_array *y, *dx;

    check_int(c, "parameters", check_params(c, model), 2 * BLOCKS);
    for (int i = 0; i < BLOCKS; ++i) {
        check_set(c, model, IMPL_VALUE, 2 * i, t->weight[i]);
        check_set(c, model, IMPL_VALUE, 2 * i + 1, t->bias[i]);
        check_set(c, model, IMPL_GRAD, 2 * i, check_sequence(c, MOST, 1000, 0));
        check_set(c, model, IMPL_GRAD, 2 * i + 1, check_sequence(c, MOST, 1000, 0));
    }
    y = check_forward(c, model, check_needs_grad(check_on(check_array(c, 2, in, t->x), 0)));
    check_shape(c, "output", y, 2, out);
    check_values(c, "output", y, ROWS * width[BLOCKS], t->hidden[BLOCKS]);
    dx = check_backward(c, model, check_on(check_array(c, 2, out, t->g), 0));
    check_shape(c, "input gradient", dx, 2, in);
    check_values(c, "input gradient", dx, ROWS * width[0], t->down[0]);
    /* The gradients were 1000 before; then a step of 1/2 moves every parameter. */
    const double *zeros = check_sequence(c, MOST, 0, 0);

    for (int i = 0; i < 2 * BLOCKS; ++i)
        chain_param_is(c, check_get(c, model, IMPL_GRAD, i), t, i, zeros, 1);
    check_step(c, model, 0.5F, 0);
    for (int i = 0; i < 2 * BLOCKS; ++i)
        chain_param_is(c, check_get(c, model, IMPL_VALUE, i), t, i,
                       i % 2 == 1 ? t->bias[i / 2] : t->weight[i / 2], -0.5);
}

static const char *linear_text(struct check *c, int i)
{
    return check_text(c, "{\"kind\":\"linear\",\"in\":%zu,\"out\":%zu}", width[i], width[i + 1]);
}

static void middle_block(struct check *c, int k)
{
    const struct chain *t = chain_of(c);

    chain_holds(c,
                check_model(c,
                            "{\"layers\":[%s,{\"kind\":\"parallel\",\"device_ids\":%s,"
                            "\"output_device\":0,\"layers\":[%s]},%s]}",
                            linear_text(c, 0), check_list(c, mixed_ids(k), k), linear_text(c, 1),
                            linear_text(c, 2)),
                t);
}

/* Tests every choice of blocks that are wrapped; bit i of the mask is for block i. */
static void any_block(struct check *c)
{
    const struct chain *t = chain_of(c);
    const int k = check_devices(c) < 4 ? check_devices(c) : 4;

    for (unsigned mask = 1; mask < 1U << BLOCKS; ++mask) {
        const char *text = "";
        check_note(c, "K=%d, blocks %#x wrapped: ", k, mask);
        for (int b = 0; b < BLOCKS; ++b) {
            const char *block = linear_text(c, b);
            if ((mask >> b & 1) != 0)
                block = check_text(c, "{\"kind\":\"parallel\",\"device_ids\":%s,\"layers\":[%s]}",
                                   check_ids(c, k), block);
            text = check_text(c, "%s%s%s", text, b > 0 ? "," : "", block);
        }
        chain_holds(c, check_model(c, "{\"layers\":[%s]}", text), t);
    }
}

/* ---- what surrounds the wrapped block -------------------------------------------------------- */

/* The model is y = -2*(3*(5x + 1) - 4) + 7 with the middle wrapped. It has two backwards with
 * different gradients for each row, which add up. */
static void input_gradient(struct check *c, int k)
{
    for (size_t n = 1; n <= 10; n += 3) {
        struct impl_model *model =
            check_model(c,
                        "{\"layers\":[{\"kind\":\"affine\",\"weight\":[5],\"bias\":[1]},"
                        "{\"kind\":\"parallel\",\"device_ids\":%s,\"output_device\":0,"
                        "\"layers\":[{\"kind\":\"affine\",\"weight\":[3],\"bias\":[-4]}]},"
                        "{\"kind\":\"affine\",\"weight\":[-2],\"bias\":[7]}]}",
                        check_list(c, mixed_ids(k), k));
        double sum[6] = {0};
        check_note(c, "K=%d N=%zu: ", k, n);
        for (int turn = 0; turn < 2; ++turn) {
            const double *x = check_sequence(c, n, 1 - 4 * turn, 1);
            const double *g = check_sequence(c, n, 2 + 9 * turn, 1 - 3 * turn);
            double y[10], dx[10];
            for (size_t r = 0; r < n; ++r) {
                const double first = 5 * x[r] + 1, middle = 3 * first - 4;
                const double d[] = {-6 * g[r] * x[r], -6 * g[r],     -2 * g[r] * first,
                                    -2 * g[r],        g[r] * middle, g[r]};
                y[r] = -2 * middle + 7;
                dx[r] = -30 * g[r];
                for (int p = 0; p < 6; ++p)
                    sum[p] += d[p];
            }
            check_values(
                c, "output",
                check_forward(c, model, check_needs_grad(check_on(check_column(c, n, x), 0))), n,
                y);
            check_values(c, "input gradient",
                         check_backward(c, model, check_on(check_column(c, n, g), 0)), n, dx);
            for (int p = 0; p < 6; ++p)
                check_grad_is(c, model, p, sum[p]);
        }
    }
}

/* A probe is in each block: the first and the last one see all rows, the middle one its shard. */
static void rows_seen(struct check *c, int k)
{
    const size_t n = 10;
    struct impl_model *model =
        check_model(c,
                    "{\"layers\":[{\"kind\":\"counter\"},{\"kind\":\"tag_dim\",\"dim\":0},"
                    "{\"kind\":\"parallel\",\"device_ids\":%s,\"output_device\":0,"
                    "\"layers\":[{\"kind\":\"tag_dim\",\"dim\":0},{\"kind\":\"tag_replica\"}]},"
                    "{\"kind\":\"tag_dim\",\"dim\":0},{\"kind\":\"counter\"}]}",
                    check_list(c, mixed_ids(k), k));
    size_t size[IMPL_MAX_DEVICES], r = 0;
    const int m = check_shards(n, k, size);
    double want[10];
    for (int s = 0; s < m; ++s)
        for (size_t row = 0; row < size[s]; ++row, ++r)
            want[r] = (double)(r + 1) + 20000 + 1000 * (double)size[s] + 1000 * (s + 1);
    for (int turn = 1; turn <= 2; ++turn) {
        check_values(c, "rows seen",
                     check_forward(c, model, check_on(check_counted(c, n, 1, 1), 0)), n, want);
        check_value_is(c, model, 0, turn);
        check_value_is(c, model, 1, turn);
    }
}

static void calls_told(struct check *c, int k)
{
    struct impl_model *model =
        check_model(c,
                    "{\"layers\":[{\"kind\":\"identity\"},{\"kind\":\"parallel\","
                    "\"device_ids\":%s,\"output_device\":0,"
                    "\"layers\":[{\"kind\":\"affine\",\"weight\":[2]}]}]}",
                    check_list(c, mixed_ids(k), k));
    struct impl_trace *trace = check_memory(c, sizeof *trace);
    size_t size[IMPL_MAX_DEVICES];
    const int m = check_shards(10, k, size);
    check_forward_trace(c, model, check_on(check_counted(c, 10, 1, 1), 0), trace);
    check_int(c, "replicas", trace->replicas, m);
    for (int s = 0; s < m; ++s) {
        check_int(c, "calls of a replica", (long long)trace->replica[s].calls, 1);
        check_int(c, "rows of a replica", (long long)trace->replica[s].rows, (long long)size[s]);
        check_int(c, "device of a replica", trace->replica[s].device, mixed_ids(k)[s]);
    }
}

static void one_more_level(struct check *c)
{
    static const char *const names[] = {"0.weight", "0.bias", "1.module.1.weight",
                                        "1.module.1.bias", "2.weight"};
    static const size_t sizes[] = {1, 1, 6, 3, 1};
    struct impl_model *model =
        check_model(c, "{\"layers\":[{\"kind\":\"affine\"},{\"kind\":\"parallel\",\"layers\":["
                       "{\"kind\":\"identity\"},{\"kind\":\"linear\",\"in\":2,\"out\":3}]},"
                       "{\"kind\":\"affine\",\"with_bias\":false}]}");
    const int n = (int)(sizeof names / sizeof names[0]);

    check_int(c, "parameters", check_params(c, model), n);
    for (int i = 0; i < n; ++i) {
        struct impl_param param;
        check_param(c, model, i, &param);
        check_true(c, strcmp(param.name, names[i]) == 0, "parameter %d is '%s', must be '%s'", i,
                   param.name, names[i]);
        check_set(c, model, IMPL_VALUE, i, check_sequence(c, sizes[i], 10 * (i + 1), 1));
    }
    for (int i = 0; i < n; ++i)
        check_values(c, names[i], check_get(c, model, IMPL_VALUE, i), sizes[i],
                     check_sequence(c, sizes[i], 10 * (i + 1), 1));
}

/* ---- two wrapped blocks ---------------------------------------------------------------------- */

/* Opens an encoder 2x + 1 on a mixed list of devices, and a decoder 3e - 4 on the same list in
 * reverse. */
static struct impl_model *two_blocks(struct check *c, int k, int back[])
{
    for (int i = 0; i < k; ++i)
        back[i] = mixed_ids(k)[k - 1 - i];
    return check_model(
        c,
        "{\"layers\":[{\"kind\":\"parallel\",\"device_ids\":%s,\"layers\":["
        "{\"kind\":\"affine\",\"weight\":[2],\"bias\":[1]},{\"kind\":\"tag_device\"}]},"
        "{\"kind\":\"parallel\",\"device_ids\":%s,\"layers\":["
        "{\"kind\":\"affine\",\"weight\":[3],\"bias\":[-4]},{\"kind\":\"tag_device\"}]}]}",
        check_list(c, mixed_ids(k), k), check_list(c, back, k));
}

static void two_wrapped(struct check *c, int k)
{
    const size_t n = 10;
    const double *x = check_sequence(c, n, 1, 1), *g = check_sequence(c, n, 3, 2);
    int back[IMPL_MAX_DEVICES];
    struct impl_model *model = two_blocks(c, k, back);
    size_t size[IMPL_MAX_DEVICES], r = 0;
    const int m = check_shards(n, k, size);
    double y[10], dx[10], d[4] = {1000, 1001, 1002, 1003};
    for (int p = 0; p < 4; ++p)
        check_set(c, model, IMPL_GRAD, p, &d[p]);
    for (int s = 0; s < m; ++s)
        for (size_t row = 0; row < size[s]; ++row, ++r) {
            const double e = 2 * x[r] + 1 + 1000 * (mixed_ids(k)[s] + 1);
            y[r] = 3 * e - 4 + 1000 * (back[s] + 1);
            dx[r] = 6 * g[r];
            d[0] += 3 * g[r] * x[r];
            d[1] += 3 * g[r];
            d[2] += g[r] * e;
            d[3] += g[r];
        }
    check_values(c, "output", check_forward(c, model, check_needs_grad(check_column(c, n, x))), n,
                 y);
    check_values(c, "input gradient",
                 check_backward(c, model, check_on(check_column(c, n, g), back[0])), n, dx);
    for (int p = 0; p < 4; ++p)
        check_grad_is(c, model, p, d[p]);
}

/* The 8 bytes of parameters of each block are sent once to each of its m - 1 further replicas. */
static void two_wrapped_traffic(struct check *c, int k)
{
    int back[IMPL_MAX_DEVICES];
    struct impl_model *model = two_blocks(c, k, back);
    struct impl_trace *trace = check_memory(c, sizeof *trace);
    size_t size[IMPL_MAX_DEVICES];
    const int m = check_shards(10, k, size);
    const bool clone = check_choice(c, IMPL_REPLICA_0) == IMPL_CLONE;
    uint64_t bytes = 0;
    check_forward_trace(c, model, check_counted(c, 10, 1, 1), trace);
    for (int s = clone ? 1 : 0; s < trace->replicas; ++s)
        bytes += trace->replica[s].bytes_to;
    check_int(c, "bytes of parameters sent", (long long)bytes, 16LL * (m - 1));
}

static const struct check_case cases[] = {
    {"NEST-01.middle", "NEST-01", MUST, OBSERVED, DP, PARALLEL, 1, .each = middle_block},
    {"NEST-01.any_block", "NEST-01", MUST, OBSERVED, DP, PARALLEL, 1, any_block},
    {"NEST-02.input_gradient", "NEST-02", MUST, OBSERVED, DP, PARALLEL, 1, .each = input_gradient},
    {"NEST-03.rows_seen", "NEST-03", MUST, OBSERVED, DP, PARALLEL, 1, .each = rows_seen},
    {"NEST-03.calls", "NEST-03", MUST, REPORTED, DP, PARALLEL | IMPL_CAP_TRACE, 1,
     .each = calls_told},
    {"NEST-04.names", "NEST-04", MUST, REPORTED, DP, PARALLEL, 1, one_more_level},
    {"NEST-05.two_wrapped", "NEST-05", MUST, OBSERVED, DP, PARALLEL, 1, .each = two_wrapped},
    {"NEST-05.traffic", "NEST-05", MAY, REPORTED, DP, PARALLEL | IMPL_CAP_TRACE | IMPL_CAP_TRAFFIC,
     1, .each = two_wrapped_traffic},
};
const struct check_table nest_table = CHECK_TABLE(cases);
