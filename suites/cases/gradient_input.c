/* gradient_input.c: gradients of inputs: each row gets its gradient from the shard that used it. */
#include "golden.h"

static void grad_input_rows(struct check *c)
{
    const int k = golden_most(c, 8);
    struct impl_model *model = golden_affine(c, k);

    for (size_t n = 1; n <= 25; ++n) {
        check_note(c, "K=%d N=%zu: ", k, n);
        check_forward(c, model, golden_rows(c, n));
        golden_is_counted(c, "input gradient",
                          check_backward(c, model, golden_vector(c, n, -30, 7)), n, -60, 14);
    }
}

/* The first replica is the last to finish. */
static void grad_input_delay(struct check *c)
{
    const int k = golden_most(c, 4);
    const size_t n = 10;
    struct impl_model *model =
        golden_parallel(c, k, "", GOLDEN_AFFINE ",{\"kind\":\"sleep\",\"backward_ms\":[9,6,3,0]}");

    check_note(c, "K=%d: ", k);
    check_forward(c, model, golden_rows(c, n));
    golden_is_counted(c, "input gradient", check_backward(c, model, golden_rows(c, n)), n, 2, 2);
    check_grads_are(c, model, 385, 55);
}

static void grad_input_shape(struct check *c, int k)
{
    static const size_t shapes[][3] = {{10, 2, 3}, {9, 1, 2}, {1, 3, 2}, {3, 2, 1}};
    struct impl_model *model = golden_affine(c, k);

    for (int j = 0; j < 4; ++j) {
        const size_t *shape = shapes[j], count = shape[0] * shape[1] * shape[2];
        const struct impl_array *x, *g;

        check_note(c, "K=%d N=%zu: ", k, shape[0]);
        x = check_needs_grad(check_array(c, 3, shape, check_sequence(c, count, 1, 1)));
        g = check_array(c, 3, shape, check_sequence(c, count, 5, -3));
        golden_is_sequence(c, "output", check_forward(c, model, x), 3, shape, 3, 2);
        golden_is_sequence(c, "input gradient", check_backward(c, model, g), 3, shape, 10, -6);
    }
}

/* The gradient is on the device of the input, wherever the gradient of the output was. */
static void grad_input_device(struct check *c, int k)
{
    const size_t n = 9;
    struct impl_model *model = golden_affine(c, k);

    for (int from = IMPL_HOST; from < golden_places(c); ++from) {
        const struct impl_array *dx;

        check_note(c, "K=%d, input on %d: ", k, from);
        check_forward(c, model, check_on(golden_rows(c, n), from));
        dx = check_backward(c, model, check_on(golden_rows(c, n), golden_ids(c, k)[0]));
        golden_is_counted(c, "input gradient", dx, n, 2, 2);
        check_device(c, "input gradient", dx, from);
    }
}

/* The gradient does not have the shape of the output. */
static void grad_input_misfit(struct check *c, int k)
{
    static const size_t shapes[][2] = {{9, 0}, {11, 0}, {2, 5}, {1, 10}};
    struct impl_model *model = golden_affine(c, k);

    for (int j = 0; j < 4; ++j) {
        const size_t *shape = shapes[j], count = shape[0] * (j < 2 ? 1 : shape[1]);
        const struct impl_array *g =
            check_array(c, j < 2 ? 1 : 2, shape, check_sequence(c, count, 1, 1));

        check_note(c, "K=%d, gradient %d: ", k, j);
        golden_prefill(c, model);
        check_forward(c, model, golden_rows(c, 10));
        check_refused(c, "a gradient of another shape than the output",
                      golden_try_backward(c, model, g), GOLDEN_UNFIT);
        golden_unharmed(c, model);
    }
}

/* ---- rows that have no part in the loss ------------------------------------------------------ */

/* Replica r uses its first taken[r] rows; the other rows get 0, and not an earlier gradient. */
static void input_cut(struct check *c, int k, const double taken[], const char *list)
{
    struct impl_model *model = golden_parallel(
        c, k, "", check_text(c, "{\"kind\":\"take\",\"rows\":%s}," GOLDEN_AFFINE, list));
    const size_t n = k < 10 ? 10 : 2 * (size_t)k; /* two rows in the first shards */
    size_t size[IMPL_MAX_DEVICES], row = 0, out = 0;
    const int m = check_shards(n, k, size);
    double y[2 * IMPL_MAX_DEVICES], g[2 * IMPL_MAX_DEVICES], dx[2 * IMPL_MAX_DEVICES] = {0};
    double dw = 0, db = 0;

    check_note(c, "K=%d, rows used %s: ", k, list);
    for (int s = 0; s < m; row += size[s++]) {
        for (size_t i = row; i < row + (size_t)taken[s < 8 ? s : 7]; ++i, ++out) {
            y[out] = 2 * (double)(i + 1) + 1;
            g[out] = 11 - 3 * (double)out;
            dx[i] = 2 * g[out];
            dw += g[out] * (double)(i + 1);
            db += g[out];
        }
    }
    golden_is_vector(c, "output", check_forward(c, model, golden_rows(c, n)), out, y);
    golden_is_vector(c, "input gradient", check_backward(c, model, check_vector(c, out, g)), n, dx);
    check_grads_are(c, model, dw, db);
    check_model_close(c, model);
}

static void grad_input_cut(struct check *c, int k)
{
    static const double some[] = {2, 1, 2, 1, 1, 1, 1, 1}, none[] = {1, 0, 2, 0, 1, 1, 1, 1};

    input_cut(c, k, some, "[2,1,2,1]");
    input_cut(c, k, none, "[1,0,2,0,1]");
}

/* One of two outputs has no gradient: it counts as zeros. */
static void grad_input_missing(struct check *c, int k)
{
    struct impl_model *model = golden_parallel(c, k, "", GOLDEN_AFFINE ",{\"kind\":\"fork\"}");

    for (int with = 0; with < 2; ++with) {
        check_note(c, "K=%d, gradient of output %d only: ", k, with);
        /* Runs x = 1..9 through 2x + 1 and a fork; only output `with` has a gradient, 1, 2, .. */
        const size_t n = 9, twice = 18;
        struct golden_call call = {.in = {golden_rows(c, n)}, .n_in = 1};
        const struct impl_array *g[2] = {NULL, NULL};

        g[with] = golden_rows(c, with == 0 ? n : twice);
        check_zero_grad(c, model);
        golden_forward(c, model, &call);
        check_int(c, "outputs", call.n_out, 2);
        /* row i of the second one is rows 2i and 2i + 1: 4i - 1 from i = 1 on */
        golden_is_counted(c, "input gradient", golden_backward(c, model, &call, g), n,
                          with == 0 ? 2 : 6, with == 0 ? 2 : 8);
        check_grads_are(c, model, with == 0 ? 285 : 4 * 285 - 45, with == 0 ? 45 : 4 * 45 - 9);
    }
}

/* ---- several inputs -------------------------------------------------------------------------- */

/* Computes y = 3ab with a = 1..n, b = 20, 18, ..; g = i. */
static void input_product(struct check *c, struct impl_model *model, size_t n, const bool needs[2],
                          const int device[2])
{
    struct impl_array *a = check_on(golden_rows(c, n), device[0]);
    struct impl_array *b = check_on(golden_vector(c, n, 20, -2), device[1]);
    struct golden_call call = {.in = {a, b}, .n_in = 2};
    const struct impl_array *const g[] = {golden_rows(c, n)};
    double *y = check_memory(c, n * sizeof *y), *da = check_memory(c, n * sizeof *da);
    double *db = check_memory(c, n * sizeof *db);
    struct impl_array *dx;

    for (size_t i = 0; i < n; ++i) {
        const double first = (double)(i + 1), second = 20 - 2 * (double)i;

        y[i] = 3 * first * second;
        da[i] = 3 * first * second;
        db[i] = 3 * first * first;
    }
    a->needs_grad = needs[0];
    b->needs_grad = needs[1];
    golden_forward(c, model, &call);
    golden_is_vector(c, "output", call.out, n, y);
    dx = golden_backward(c, model, &call, g);
    if (needs[0])
        golden_is_vector(c, "gradient of the first input", &dx[0], n, da);
    else
        check_is_none(c, "gradient of the first input", &dx[0]);
    if (needs[1])
        golden_is_vector(c, "gradient of the second input", &dx[1], n, db);
    else
        check_is_none(c, "gradient of the second input", &dx[1]);
}

static const char multiply[] = "{\"kind\":\"multiply\",\"factor\":3}";

static void grad_inputs_both(struct check *c, int k)
{
    static const bool both[] = {true, true};
    struct impl_model *model = golden_parallel(c, k, "", multiply);
    const int near[] = {IMPL_HOST, IMPL_HOST}, apart[] = {check_devices(c) - 1, IMPL_HOST};

    input_product(c, model, 5, both, near);
    input_product(c, model, 10, both, apart);
    input_product(c, model, 1, both, near);
}

static void grad_inputs_one(struct check *c, int k)
{
    static const bool first[] = {true, false}, second[] = {false, true};
    struct impl_model *model = golden_parallel(c, k, "", multiply);
    const int place[] = {IMPL_HOST, 0};

    check_note(c, "K=%d, only the first needs one: ", k);
    input_product(c, model, 5, first, place);
    check_note(c, "K=%d, only the second needs one: ", k);
    input_product(c, model, 10, second, place);
}

/* No input needs a gradient: there is none, and the parameters get theirs. */
static void grad_input_none(struct check *c, int k)
{
    struct impl_model *model = golden_affine(c, k);
    const struct impl_array *x = check_vector(c, 10, check_sequence(c, 10, 1, 1));

    check_forward(c, model, x);
    check_is_none(c, "gradient of an input that needs none",
                  check_backward(c, model, golden_rows(c, 10)));
    check_grads_are(c, model, 385, 55);
}

/* A table that was meant for all replicas is cut like a batch. Each replica sums its rows of the
 * table, and the gradient of a row is that of the only replica that had it. */
static void grad_table(struct check *c, int k)
{
    const size_t n = 21, columns = 2, shape[] = {21, 2};
    struct impl_model *model = golden_parallel(c, k, "", "{\"kind\":\"sum_rows\"}");
    size_t size[IMPL_MAX_DEVICES], row = 0;
    const int m = check_shards(n, k, size);
    const size_t out[] = {(size_t)m, columns};
    double y[2 * IMPL_MAX_DEVICES] = {0}, g[2 * IMPL_MAX_DEVICES], dx[42];

    for (int s = 0; s < m; row += size[s++])
        for (size_t j = row * columns; j < (row + size[s]) * columns; ++j) {
            const size_t at = (size_t)s * columns + j % columns;

            g[at] = 10.0 * s + (double)(j % columns) + 3;
            y[at] += 1 + (double)j;
            dx[j] = g[at];
        }
    check_note(c, "K=%d, 21 rows: ", k);
    golden_is(c, "output", check_forward(c, model, golden_matrix(c, n, columns, 1, 1)), 2, out, y);
    golden_is(c, "input gradient", check_backward(c, model, check_array(c, 2, out, g)), 2, shape,
              dx);
}

static const struct check_case cases[] = {
    {"GRAD-07.rows", "GRAD-07", MUST, OBSERVED, DP, PARALLEL, 1, grad_input_rows},
    {"GRAD-07.delay", "GRAD-07", MUST, OBSERVED, DP, PARALLEL, 2, grad_input_delay},
    {"GRAD-07.shape", "GRAD-07", MUST, OBSERVED, DP, PARALLEL, 1, .each = grad_input_shape},
    {"GRAD-07.device", "GRAD-07", MUST, REPORTED, DP, PARALLEL, 1, .each = grad_input_device},
    {"GRAD-07.misfit", "GRAD-07", MUST_REFUSE, OBSERVED, DP, PARALLEL, 1,
     .each = grad_input_misfit},
    {"GRAD-08.rows", "GRAD-08", MUST, OBSERVED, DP, PARALLEL, 1, .each = grad_input_cut},
    {"GRAD-08.output", "GRAD-08", MUST, OBSERVED, DP, PARALLEL, 1, .each = grad_input_missing},
    {"GRAD-09.both", "GRAD-09", MUST, OBSERVED, DP, PARALLEL, 1, .each = grad_inputs_both},
    {"GRAD-09.one", "GRAD-09", MUST, OBSERVED, DP, PARALLEL, 1, .each = grad_inputs_one},
    {"GRAD-09.none", "GRAD-09", MUST, OBSERVED, DP, PARALLEL, 1, .each = grad_input_none},
    {"GRAD-10.table", "GRAD-10", MUST, OBSERVED, DP, PARALLEL, 1, .each = grad_table},
};
const struct check_table gradient_input_table = CHECK_TABLE(cases);
