/* composition_value.c: scatter, apply and gather together compute the output of the module, row by
 * row. A module that mixes rows only sees its shard. */
#include "golden.h"

#include <math.h>
#include <string.h>

static const size_t batches[] = {10, 1, 9, 3, 17};
enum { BATCHES = sizeof batches / sizeof batches[0] };

static void comp_golden(struct check *c, int k)
{
    struct impl_model *model = golden_affine(c, k);

    for (int j = 0; j < BATCHES; ++j) {
        const size_t n = batches[j];

        check_note(c, "K=%d N=%zu: ", k, n);
        golden_is_counted(c, "output", check_forward(c, model, golden_rows(c, n)), n, 3, 2);
        golden_is_counted(c, "output without gradients",
                          check_infer(c, model, golden_vector(c, n, 50, -7)), n, 101, -14);
    }
}

static void comp_network(struct check *c, int k)
{
    struct golden_net net;
    struct impl_model *model;

    golden_net_batch(c, &net, 1, check_seed(c) + 1, 0);
    model = golden_parallel(c, k, "", golden_net_layers(c, &net));
    for (int j = 0; j < BATCHES; ++j) {
        const size_t in[] = {batches[j], NET_IN}, out[] = {batches[j], NET_OUT};

        check_note(c, "K=%d N=%zu: ", k, batches[j]);
        golden_net_batch(c, &net, batches[j], check_seed(c) + 1, batches[j]);
        golden_is(c, "output", check_infer(c, model, check_array(c, 2, in, net.x)), 2, out, net.y);
    }
}

/* The sizes fall, so that data of an earlier and larger batch would show. */
static void comp_every_size(struct check *c)
{
    const int k = golden_most(c, 8);
    struct impl_model *model = golden_affine(c, k);

    for (size_t n = 50; n >= 1; --n) {
        check_note(c, "K=%d N=%zu: ", k, n);
        golden_is_counted(c, "output", check_infer(c, model, golden_vector(c, n, -20, 3)), n, -39,
                          6);
    }
}

/* The first replica is the last to be ready. */
static void comp_delay(struct check *c)
{
    const int k = golden_most(c, 4);
    const size_t n = 10;
    struct impl_model *model =
        golden_parallel(c, k, "", "{\"kind\":\"sleep\",\"forward_ms\":[9,3,6,0]}," GOLDEN_AFFINE);

    check_note(c, "K=%d: ", k);
    golden_is_counted(c, "output", check_forward(c, model, golden_rows(c, n)), n, 3, 2);
}

/* There are more rows than 16 bits can count. Three of them, in the first, a middle and the last
 * shard, have a gradient. */
static void comp_large(struct check *c)
{
    const size_t n = 70001, with[] = {3, 65536, 70000};
    struct impl_model *model = golden_affine(c, golden_most(c, 8));
    double *g = check_memory(c, n * sizeof *g), *dx = check_memory(c, n * sizeof *dx), dw = 0;

    for (int i = 0; i < 3; ++i) {
        g[with[i]] = i + 1;
        dx[with[i]] = 2 * g[with[i]];
        dw += g[with[i]] * (double)(with[i] + 1);
    }
    golden_is_counted(c, "output", check_forward(c, model, golden_rows(c, n)), n, 3, 2);
    golden_is_vector(c, "input gradient", check_backward(c, model, check_vector(c, n, g)), n, dx);
    check_grads_are(c, model, dw, 6);
}

/* There may be any number of dimensions; only the first one is cut. */
static void comp_shapes(struct check *c, int k)
{
    static const size_t shapes[][5] = {
        {10, 1, 0, 0, 0}, {7, 3, 2, 0, 0}, {9, 1, 2, 2, 0}, {5, 2, 1, 3, 2}};
    struct impl_model *model = golden_affine(c, k);

    for (int j = 0; j < 4; ++j) {
        const int ndim = j + 2;
        size_t count = 1;

        for (int d = 0; d < ndim; ++d)
            count *= shapes[j][d];
        check_note(c, "K=%d, %d dimensions: ", k, ndim);
        golden_is_sequence(
            c, "output",
            check_forward(c, model,
                          check_array(c, ndim, shapes[j], check_sequence(c, count, -9, 2))),
            ndim, shapes[j], -17, 4);
    }
}

/* ---- modules that mix rows ------------------------------------------------------------------- */

static void comp_shard_mean(struct check *c, int k)
{
    struct impl_model *model = golden_parallel(c, k, "", "{\"kind\":\"subtract_mean\"}");

    for (int j = 0; j < BATCHES; ++j) {
        check_note(c, "K=%d N=%zu: ", k, batches[j]);
        /* The two columns are i and 100 - 3i. The mean of each shard is subtracted, from the values
         * and the gradients. */
        const size_t n = batches[j];
        const size_t shape[] = {n, 2};
        double *x = check_memory(c, 2 * n * sizeof *x), *g = check_memory(c, 2 * n * sizeof *g);
        double *y = check_memory(c, 2 * n * sizeof *y), *dx = check_memory(c, 2 * n * sizeof *dx);
        size_t size[IMPL_MAX_DEVICES], row = 0;
        const int m = check_shards(n, k, size);

        for (int s = 0; s < m; row += size[s++]) {
            const double middle = (double)row + ((double)size[s] - 1) / 2;

            for (size_t i = row; i < row + size[s]; ++i) {
                const double at = (double)i, off = at - middle;

                x[2 * i] = at;
                x[2 * i + 1] = 100 - 3 * at;
                y[2 * i] = off;
                y[2 * i + 1] = -3 * off;
                g[2 * i] = 5 * at + 2;
                g[2 * i + 1] = 7 - at;
                dx[2 * i] = 5 * off;
                dx[2 * i + 1] = -off;
            }
        }
        golden_is(c, "output",
                  check_forward(c, model, check_needs_grad(check_array(c, 2, shape, x))), 2, shape,
                  y);
        golden_is(c, "input gradient", check_backward(c, model, check_array(c, 2, shape, g)), 2,
                  shape, dx);
    }
}

/* A layer that depends on the size sees n_s, not N. */
static void comp_shard_size(struct check *c, int k)
{
    struct impl_model *model = golden_parallel(c, k, "", "{\"kind\":\"tag_dim\",\"dim\":0}");

    for (int j = 0; j < BATCHES; ++j) {
        const size_t n = batches[j];
        size_t size[IMPL_MAX_DEVICES], row = 0;
        const int m = check_shards(n, k, size);
        double *y = check_memory(c, n * sizeof *y);

        for (int s = 0; s < m; ++s)
            for (size_t r = 0; r < size[s]; ++r, ++row)
                y[row] = (double)(row + 1) + 1000 * (double)size[s];
        check_note(c, "K=%d N=%zu: ", k, n);
        golden_is_vector(c, "output", check_forward(c, model, golden_rows(c, n)), n, y);
    }
}

/* ---- modules without inputs ------------------------------------------------------------------ */

static const char constant[] =
    "{\"kind\":\"constant\",\"rows\":2,\"columns\":3,\"weight\":[1,4,9,16,25,36]}";

/* The layer runs once for any number of devices, and so does its backward. */
static void comp_constant(struct check *c, int k)
{
    static const double weight[] = {1, 4, 9, 16, 25, 36}, g[] = {2, -3, 5, -7, 11, -13},
                        twice[] = {4, -6, 10, -14, 22, -26};
    const size_t shape[] = {2, 3};
    struct impl_model *model = golden_parallel(c, k, "", constant);

    for (int time = 0; time < 2; ++time) {
        struct golden_call call = {.n_in = 0};
        const struct impl_array *const upstream[] = {check_array(c, 2, shape, g)};

        check_note(c, "K=%d, forward %d: ", k, time);
        golden_forward(c, model, &call);
        check_int(c, "outputs", call.n_out, 1);
        golden_is(c, "output", call.out, 2, shape, weight);
        golden_backward(c, model, &call, upstream);
        golden_is(c, "gradient", check_get(c, model, IMPL_GRAD, 0), 2, shape,
                  time == 0 ? g : twice);
    }
}

static void comp_constant_once(struct check *c, int k)
{
    struct golden_call call = {.n_in = 0};

    golden_forward(c, golden_parallel(c, k, "", constant), &call);
    check_int(c, "replicas that ran", call.trace.replicas, 1);
    check_int(c, "calls of replica 0", (long long)call.trace.replica[0].calls, 1);
    check_int(c, "device of replica 0", call.trace.replica[0].device, golden_ids(c, k)[0]);
}

/* Runs a model without inputs and with an argument on k devices. Its output must be `times` times
 * the 3 rows of its weight, and as many gradients must be added. */
static void arguments_only(struct check *c, int k, int times)
{
    static const double argument[] = {7, 0};
    struct impl_model *model =
        golden_parallel(c, k, "",
                        "{\"kind\":\"constant\",\"rows\":3,\"columns\":1,\"weight\":[1,4,9]},"
                        "{\"kind\":\"argument\"}");
    const size_t shape[] = {3 * (size_t)times, 1}, parameter[] = {3, 1};
    struct golden_call call = {.n_in = 0, .arg = check_vector(c, 2, argument)};
    double y[3 * IMPL_MAX_DEVICES], g[3 * IMPL_MAX_DEVICES], dw[3] = {0};
    const struct impl_array *upstream[1];

    for (int j = 0; j < 3 * times; ++j) {
        const double weight = (j % 3 + 1) * (j % 3 + 1);

        y[j] = 7 * weight + 2000;
        g[j] = 2 * j - 5;
        dw[j % 3] += 7 * g[j];
    }
    check_note(c, "K=%d: ", k);
    golden_forward(c, model, &call);
    golden_is(c, "output", call.out, 2, shape, y);
    upstream[0] = check_array(c, 2, shape, g);
    golden_backward(c, model, &call, upstream);
    golden_is(c, "gradient", check_get(c, model, IMPL_GRAD, 0), 2, parameter, dw);
    check_model_close(c, model);
}

static void comp_arguments_all(struct check *c)
{
    for (int i = 0, k; (k = check_count(c, i)) != 0; ++i)
        arguments_only(c, k, k);
}

static void comp_arguments_once(struct check *c)
{
    for (int i = 0, k; (k = check_count(c, i)) != 0; ++i)
        arguments_only(c, k, 1);
}

/* Infinities, NaN, the largest and the smallest numbers keep all bits. */
static void comp_special(struct check *c, int k)
{
    static const float values[] = {INFINITY, -INFINITY, 1e-40F,   -1e-44F, NAN,
                                   3.4e38F,  -1e-40F,   INFINITY, 1e-39F};
    const void *bits = values; /* NaN is not equal to itself, but its bits are */
    const size_t n = sizeof values / sizeof values[0];
    struct impl_model *model = golden_parallel(c, k, "", "{\"kind\":\"identity\"}");
    struct impl_array *x = check_vector(c, n, check_sequence(c, n, 1, 1));
    const struct impl_array *y;

    memcpy(x->data, values, sizeof values);
    y = check_infer(c, model, x);
    check_shape(c, "output", y, 1, &n);
    check_true(c, memcmp(y->data, bits, sizeof values) == 0,
               "the bits of infinite, NaN or very small values changed");
}

/* With rows of 32 KiB a shard has more than 64 KiB, in both directions. */
static void comp_wide_rows(struct check *c)
{
    enum { ROWS = 10, COLUMNS = 8192 };
    const size_t dim[] = {ROWS, COLUMNS}, count = (size_t)ROWS * COLUMNS;

    for (int i = 0, k; (k = check_count(c, i)) != 0 && k <= 4; ++i) {
        struct impl_model *model = golden_affine(c, k);

        check_note(c, "K=%d: ", k);
        golden_is_sequence(c, "output",
                           check_forward(c, model, golden_matrix(c, ROWS, COLUMNS, 1, 1)), 2, dim,
                           3, 2);
        golden_is_sequence(
            c, "input gradient",
            check_backward(c, model, check_array(c, 2, dim, check_sequence(c, count, 5, 3))), 2,
            dim, 10, 6);
        check_model_close(c, model);
    }
}

/* ---- the table ------------------------------------------------------------------------------- */

#define TRACE     (PARALLEL | IMPL_CAP_TRACE)
#define ARGUMENTS (PARALLEL | IMPL_CAP_ARGUMENTS)

static const struct check_case cases[] = {
    {"COMP-01.golden", "COMP-01", MUST, OBSERVED, DP, PARALLEL, 1, .each = comp_golden},
    {"COMP-01.network", "COMP-01", MUST, OBSERVED, DP, PARALLEL, 1, .each = comp_network},
    {"COMP-01.every_size", "COMP-01", MUST, OBSERVED, DP, PARALLEL, 1, comp_every_size},
    {"COMP-01.delay", "COMP-01", MUST, OBSERVED, DP, PARALLEL, 2, comp_delay},
    {"COMP-01.large", "COMP-01", MUST, OBSERVED, DP, PARALLEL, 1, comp_large},
    {"COMP-01.shapes", "COMP-01", MUST, OBSERVED, DP, PARALLEL, 1, .each = comp_shapes},
    {"COMP-01.special", "COMP-01", MUST, OBSERVED, DP, PARALLEL, 1, .each = comp_special},
    {"COMP-01.wide_rows", "COMP-01", MUST, OBSERVED, DP, PARALLEL, 1, comp_wide_rows},
    {"COMP-02.mean", "COMP-02", MUST, OBSERVED, DP, PARALLEL, 1, .each = comp_shard_mean},
    {"COMP-02.size", "COMP-02", MUST, OBSERVED, DP, PARALLEL, 1, .each = comp_shard_size},
    {"COMP-08.constant", "COMP-08", MUST, OBSERVED, DP, PARALLEL, 1, .each = comp_constant},
    {"COMP-08.once", "COMP-08", MUST, REPORTED, DP, TRACE, 2, .each = comp_constant_once},
    {"COMP-09.all", "COMP-09", MUST, OBSERVED, DP, ARGUMENTS, 2, comp_arguments_all, 0,
     IMPL_ARGUMENTS_ONLY, IMPL_ALL},
    {"COMP-09.once", "COMP-09", MUST, OBSERVED, DP, ARGUMENTS, 2, comp_arguments_once, 0,
     IMPL_ARGUMENTS_ONLY, IMPL_CALL},
};
const struct check_table composition_value_table = CHECK_TABLE(cases);
