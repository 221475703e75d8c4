/* argument.c: area NONT: arguments that are not tensors of the batch. In the interface they are
 * impl_forward.args, and the layer `argument` shows what a replica got: y = x*a[0] +
 * 1000*length. */
#include "check.h"

enum { N = 10, ROOM = 8192 };

static struct impl_array *forward_with(struct check *c, struct impl_model *model,
                                       const struct impl_array *x, const struct impl_array *args,
                                       int n_args, struct impl_trace *trace)
{
    struct impl_array *out = check_output(c, IMPL_MAX_IO, ROOM);
    struct impl_forward op = {.in = x,
                              .n_in = 1,
                              .args = args,
                              .n_args = n_args,
                              .out = out,
                              .grad = true,
                              .train = true,
                              .trace = trace};

    check_forward_op(c, model, &op);
    check_int(c, "outputs", op.n_out, 1);
    return out;
}

/* There are two arguments, with lengths that an implementation might cut: the rows, the devices,
 * one shard. Every replica gets both whole. */
static void argument_whole(struct check *c, int k)
{
    const double *x = check_sequence(c, N, 1, 1), *g = check_sequence(c, N, 4, 3);
    const int *ids = mixed_ids(k);
    const size_t lengths[] = {N, (size_t)k, (N + (size_t)k - 1) / (size_t)k, 1};
    struct impl_model *model =
        check_parallel(c, k, ids, "",
                       "{\"kind\":\"argument\",\"index\":0},"
                       "{\"kind\":\"argument\",\"index\":1},{\"kind\":\"tag_replica\"}");
    for (size_t form = 0; form < sizeof lengths / sizeof lengths[0]; ++form) {
        const size_t length = lengths[form];
        struct impl_array *args = check_memory(c, 2 * sizeof *args);
        size_t size[IMPL_MAX_DEVICES], r = 0;
        const int m = check_shards(N, k, size);
        double y[N], dx[N];
        check_note(c, "K=%d, an argument of %zu: ", k, length);
        args[0] = *check_vector(c, 3, check_sequence(c, 3, -3, 8));
        args[1] = *check_vector(c, length, check_sequence(c, length, 5, 2));
        for (int s = 0; s < m; ++s)
            for (size_t row = 0; row < size[s]; ++row, ++r) {
                y[r] = (-3 * x[r] + 3000) * 5 + 1000 * (double)length + 1000 * (s + 1);
                dx[r] = -15 * g[r];
            }
        check_values(c, "output",
                     forward_with(c, model, check_needs_grad(check_column(c, N, x)), args, 2, NULL),
                     N, y);
        check_values(c, "input gradient",
                     check_backward(c, model, check_on(check_column(c, N, g), ids[0])), N, dx);
    }
}

/* A replica gets the value of this call, never that of an earlier one. */
static void fresh(struct check *c, int k)
{
    struct impl_model *model = check_parallel(c, k, mixed_ids(k), "", "{\"kind\":\"argument\"}");
    for (int turn = 1; turn <= 3; ++turn) {
        const size_t length = (size_t)(4 - turn);
        check_note(c, "K=%d, call %d: ", k, turn);
        check_values(c, "output",
                     forward_with(c, model, check_counted(c, N, 1, 1),
                                  check_vector(c, length, check_sequence(c, length, 7 * turn, 1)),
                                  1, NULL),
                     N, check_sequence(c, N, 1000 * (double)length + 7 * turn, 7 * turn));
    }
}

/* The batch is cut along dimension 1. The argument has no such dimension, and is passed whole. */
static void other_dimension(struct check *c, int k)
{
    const size_t dim[] = {2, N};
    const double *x = check_integers(c, (size_t)2 * N, 73);
    struct impl_model *model =
        check_parallel(c, k, mixed_ids(k), "\"dim\":1,", "{\"kind\":\"argument\"}");
    double want[2 * N];
    struct impl_array *y;
    for (size_t e = 0; e < sizeof want / sizeof want[0]; ++e)
        want[e] = 6 * x[e] + 2000;
    y = forward_with(c, model, check_array(c, 2, dim, x),
                     check_vector(c, 2, check_sequence(c, 2, 6, 1)), 1, NULL);
    check_shape(c, "output", y, 2, dim);
    check_values(c, "output", y, (size_t)2 * N, want);
}

/* The shapes of the rule, and others that make fewer shards than devices for the counts in use. */
static const struct {
    int k;
    size_t rows;
} surplus[] = {{2, 1}, {3, 1}, {3, 2}, {3, 4}, {4, 1},  {4, 3}, {4, 5},
               {4, 6}, {4, 9}, {8, 1}, {8, 9}, {8, 10}, {8, 17}};

/* Devices without rows get no call, with or without an argument for them. */
static void surplus_devices(struct check *c)
{
    const double factor = 5;

    for (size_t form = 0; form < sizeof surplus / sizeof surplus[0]; ++form) {
        const int k = surplus[form].k;
        const size_t n = surplus[form].rows;
        struct impl_model *model;
        size_t size[IMPL_MAX_DEVICES], r = 0;
        const int m = check_shards(n, k, size);
        double y[IMPL_MAX_DEVICES];
        struct impl_array *got;
        if (k > check_devices(c))
            continue;
        check_note(c, "K=%d N=%zu: ", k, n);
        model = check_parallel(
            c, k, mixed_ids(k), "",
            "{\"kind\":\"argument\"},{\"kind\":\"tag_dim\",\"dim\":0},{\"kind\":\"affine\","
            "\"weight\":[2],\"bias\":[1]}");
        for (int s = 0; s < m; ++s)
            for (size_t row = 0; row < size[s]; ++row, ++r)
                y[r] = 2 * (5 * (double)(r + 1) + 1000 + 1000 * (double)size[s]) + 1;
        got = forward_with(c, model, check_needs_grad(check_counted(c, n, 1, 1)),
                           check_vector(c, 1, &factor), 1, NULL);
        check_values(c, "output", got, n, y);
        check_values(c, "input gradient",
                     check_backward(c, model, check_on(check_counted(c, n, 3, 1), mixed_ids(k)[0])),
                     n, check_sequence(c, n, 30, 10));
    }
}

static void surplus_calls(struct check *c)
{
    const double factor = 5;

    for (size_t form = 0; form < sizeof surplus / sizeof surplus[0]; ++form) {
        const int k = surplus[form].k;
        const size_t n = surplus[form].rows;
        struct impl_trace *trace = check_memory(c, sizeof *trace);
        size_t size[IMPL_MAX_DEVICES];
        const int m = check_shards(n, k, size);
        if (k > check_devices(c))
            continue;
        check_note(c, "K=%d N=%zu: ", k, n);
        forward_with(c, check_parallel(c, k, NULL, "", "{\"kind\":\"argument\"}"),
                     check_counted(c, n, 1, 1), check_vector(c, 1, &factor), 1, trace);
        check_int(c, "replicas", trace->replicas, m);
        for (int s = 0; s < m; ++s)
            check_int(c, "calls of a replica", (long long)trace->replica[s].calls, 1);
        for (int s = m; s < k; ++s)
            check_int(c, "calls of a device without rows", (long long)trace->replica[s].calls, 0);
    }
}

/* The factor 0.1 is not exact: it is rounded in the same way on all shards. */
static void same_factor(struct check *c, int k)
{
    enum { ROWS = 33 };
    const float factor = 0.1F;
    const double as_double = (double)factor;
    const double *x = check_randoms(c, ROWS, 77), *g = check_randoms(c, ROWS, 78);
    double y[ROWS], dx[ROWS];
    for (size_t r = 0; r < ROWS; ++r) {
        const float product = (float)x[r] * factor, gradient = (float)g[r] * factor;
        y[r] = (double)(product + 1000.0F);
        dx[r] = (double)gradient;
    }

    const int *ids = mixed_ids(k);
    struct impl_model *model = check_parallel(c, k, ids, "", "{\"kind\":\"argument\"}");
    check_values(c, "output",
                 forward_with(c, model, check_needs_grad(check_column(c, ROWS, x)),
                              check_vector(c, 1, &as_double), 1, NULL),
                 ROWS, y);
    check_values(c, "input gradient",
                 check_backward(c, model, check_on(check_column(c, ROWS, g), ids[0])), ROWS, dx);
}

/* ---- the table ------------------------------------------------------------------------------- */

enum { NEEDS = PARALLEL | IMPL_CAP_ARGUMENTS };

static const struct check_case cases[] = {
    {"NONT-01.whole", "NONT-01", MUST, OBSERVED, DP, NEEDS, 1, .each = argument_whole},
    {"NONT-01.fresh", "NONT-01", MUST, OBSERVED, DP, NEEDS, 1, .each = fresh},
    {"NONT-01.other_dimension", "NONT-01", MUST, OBSERVED, DP, NEEDS, 1, .each = other_dimension},
    {"NONT-03.surplus", "NONT-03", MUST, OBSERVED, DP, NEEDS, 2, surplus_devices},
    {"NONT-03.calls", "NONT-03", MUST, REPORTED, DP, NEEDS | IMPL_CAP_TRACE, 2, surplus_calls},
    {"NONT-06.factor", "NONT-06", MUST, OBSERVED, DP, NEEDS, 1, .each = same_factor},
};
const struct check_table argument_table = CHECK_TABLE(cases);
