/* structure.c: area STRUCT: several inputs, several outputs, and inputs that do not fit together.
 * The interface has flat lists of tensors; rules that need dicts, tuples or objects are excused. */
#include "check.h"
#include "golden.h"

enum { N = 10, COLUMNS = 3, ROOM = 8192 };

/* Makes two inputs of one forward; copies of the structs share the guarded data. */
static const struct impl_array *pair(struct check *c, const struct impl_array *a,
                                     const struct impl_array *b)
{
    struct impl_array *both = check_memory(c, 2 * sizeof *both);

    both[0] = *a;
    both[1] = *b;
    return both;
}

static struct impl_array *forward_pair(struct check *c, struct impl_model *model,
                                       const struct impl_array *inputs)
{
    struct impl_array *out = check_output(c, IMPL_MAX_IO, ROOM);
    struct impl_forward op = {.in = inputs, .n_in = 2, .out = out, .grad = true, .train = true};

    check_forward_op(c, model, &op);
    check_int(c, "outputs", op.n_out, 1);
    return out;
}

static const char multiply[] = "{\"kind\":\"multiply\",\"factor\":2}";
static const char multiply_tagged[] =
    "{\"kind\":\"multiply\",\"factor\":2},{\"kind\":\"tag_device\"},{\"kind\":\"tag_replica\"}";

/* ---- STRUCT-01: every tensor of the list is scattered ---------------------------------------- */

static void list_is_cut(struct check *c, int k)
{
    static const size_t rows[] = {10, 7, 1};
    const double *a = check_integers(c, N * COLUMNS, 61), *b = check_integers(c, N * COLUMNS, 62);
    const double *g = check_integers(c, N * COLUMNS, 63);

    for (size_t form = 0; form < sizeof rows / sizeof rows[0]; ++form) {
        const size_t dim[] = {rows[form], COLUMNS}, n = rows[form] * COLUMNS;
        const int *ids = mixed_ids(k);
        struct impl_model *model = check_parallel(c, k, ids, "", multiply_tagged);
        struct impl_array *dx = check_output(c, 2, ROOM), *g_at;
        struct impl_backward back = {.n_grad_out = 1, .grad_in = dx, .n_in = 2};
        double y[N * COLUMNS], da[N * COLUMNS], db[N * COLUMNS];
        size_t size[IMPL_MAX_DEVICES], e = 0;
        const int m = check_shards(rows[form], k, size);
        check_note(c, "K=%d N=%zu: ", k, rows[form]);
        for (int s = 0; s < m; ++s)
            for (size_t in = 0; in < size[s] * COLUMNS; ++in, ++e) {
                y[e] = 2 * a[e] * b[e] + 1000 * (ids[s] + 1) + 1000 * (s + 1);
                da[e] = 2 * g[e] * b[e];
                db[e] = 2 * g[e] * a[e];
            }
        check_values(c, "output",
                     forward_pair(c, model,
                                  pair(c, check_needs_grad(check_array(c, 2, dim, a)),
                                       check_needs_grad(check_array(c, 2, dim, b)))),
                     n, y);
        g_at = check_on(check_array(c, 2, dim, g), ids[0]);
        back.grad_out = g_at;
        check_backward_op(c, model, &back);
        check_values(c, "gradient of the first input", &dx[0], n, da);
        check_values(c, "gradient of the second input", &dx[1], n, db);
    }
}

/* ---- STRUCT-03: an empty argument ------------------------------------------------------------ */

/* The argument is passed to every replica unchanged, and the rows are cut nevertheless. */
static void empty_argument(struct check *c, int k)
{
    const size_t none = 0;
    const double three[] = {-3, 5, 9};
    struct impl_model *model = check_parallel(
        c, k, NULL, "", "{\"kind\":\"argument\",\"index\":1},{\"kind\":\"tag_dim\",\"dim\":0}");
    struct impl_array *args = check_memory(c, 2 * sizeof *args);
    struct impl_array *out = check_output(c, IMPL_MAX_IO, ROOM);
    struct impl_forward op = {
        .n_in = 1, .args = args, .n_args = 2, .out = out, .grad = true, .train = true};
    size_t size[IMPL_MAX_DEVICES], r = 0;
    const int m = check_shards(N, k, size);
    double want[N];
    args[0] = *check_array(c, 1, &none, NULL);
    args[1] = *check_vector(c, 3, three);
    for (int s = 0; s < m; ++s)
        for (size_t row = 0; row < size[s]; ++row, ++r)
            want[r] = -3 * (double)(r + 1) + 3000 + 1000 * (double)size[s];
    op.in = check_counted(c, N, 1, 1);
    check_forward_op(c, model, &op);
    check_int(c, "outputs", op.n_out, 1);
    check_values(c, "output", out, N, want);
}

/* ---- STRUCT-04: the number of replicas ------------------------------------------------------- */

/* The length of the argument is K, and the rows make m <= K shards: m replicas run, with the
 * argument. */
static void fewest_shards(struct check *c, int k)
{
    static const size_t rows[] = {10, 9, 6, 5, 4, 3, 1};
    const double factor = -3;

    for (size_t form = 0; form < sizeof rows / sizeof rows[0]; ++form) {
        struct impl_model *model = check_parallel(
            c, k, NULL, "",
            "{\"kind\":\"argument\"},{\"kind\":\"sum_rows\"},{\"kind\":\"tag_replica\"}");
        struct impl_array *out = check_output(c, IMPL_MAX_IO, ROOM);
        struct impl_forward op = {.n_in = 1, .n_args = 1, .out = out, .grad = true, .train = true};
        size_t size[IMPL_MAX_DEVICES], r = 0;
        const int m = check_shards(rows[form], k, size);
        double want[IMPL_MAX_DEVICES];
        check_note(c, "K=%d N=%zu: ", k, rows[form]);
        for (int s = 0; s < m; ++s) { /* one row from each replica: its sum */
            want[s] = 1000 * (s + 1);
            for (size_t row = 0; row < size[s]; ++row, ++r)
                want[s] += -3 * (double)(r + 1) + 1000;
        }
        op.in = check_counted(c, rows[form], 1, 1);
        op.args = check_vector(c, 1, &factor);
        check_forward_op(c, model, &op);
        check_int(c, "outputs", op.n_out, 1);
        check_values(c, "one row of each replica", out, (size_t)m, want);
    }
}

/* ---- STRUCT-05, -06: inputs of different rows ------------------------------------------------ */

static int structure_try_rows(struct check *c, struct impl_model *model, size_t first,
                              size_t second)
{
    struct impl_forward op = {.n_in = 2, .grad = true, .train = true};

    op.in = pair(c, check_needs_grad(check_counted(c, first, 1, 1)),
                 check_needs_grad(check_counted(c, second, 3, 2)));
    op.out = check_output(c, IMPL_MAX_IO, ROOM);
    return check_try_forward(c, model, &op);
}

/* The model still works, and its next step is right. */
static void structure_still_works(struct check *c, struct impl_model *model, int device)
{
    const size_t n = 5;
    const double *a = check_sequence(c, n, 1, 1), *b = check_sequence(c, n, 3, 2);
    struct impl_array *dx = check_output(c, 2, ROOM);
    struct impl_backward back = {.n_grad_out = 1, .grad_in = dx, .n_in = 2};
    double y[5], da[5];

    for (size_t r = 0; r < n; ++r) {
        y[r] = 2 * a[r] * b[r];
        da[r] = 2 * (double)(r + 7) * b[r];
    }
    check_values(c, "output of a later forward",
                 forward_pair(c, model,
                              pair(c, check_needs_grad(check_column(c, n, a)),
                                   check_needs_grad(check_column(c, n, b)))),
                 n, y);
    back.grad_out = check_on(check_counted(c, n, 7, 1), device);
    check_backward_op(c, model, &back);
    check_values(c, "gradient of a later forward", &dx[0], n, da);
}

static void refuse_rows(struct check *c, const size_t rows[][2], size_t n)
{
    for (int i = 0, k; (k = check_count(c, i)) != 0; ++i) {
        struct impl_model *model;
        if (k == 1) /* one device has no shards to pair */
            continue;
        model = check_parallel(c, k, mixed_ids(k), "", multiply);
        for (size_t form = 0; form < n; ++form) {
            const size_t *at = rows[form];
            check_note(c, "K=%d, inputs of %zu and %zu rows: ", k, at[0], at[1]);
            check_refused(c, "inputs of different rows", structure_try_rows(c, model, at[0], at[1]),
                          ALLOW(IMPL_ESHAPE) | ALLOW(IMPL_EINVAL));
        }
        structure_still_works(c, model, mixed_ids(k)[0]);
    }
}

/* The pairs make different numbers of shards on some device count. */
static void unequal_refused(struct check *c)
{
    static const size_t rows[][2] = {{10, 1}, {1, 10}, {5, 1}, {2, 1}, {8, 6}, {6, 8}, {6, 4}};

    refuse_rows(c, rows, sizeof rows / sizeof rows[0]);
}

/* The pairs make the same number of shards on some device count, so that no shard is left over. */
static void mispaired_refused(struct check *c)
{
    static const size_t rows[][2] = {{10, 4}, {4, 10}, {10, 9}, {9, 10}, {8, 7}, {3, 4}};

    refuse_rows(c, rows, sizeof rows / sizeof rows[0]);
}

/* Inputs of 2K and 2K - 2 rows make K and K - 1 shards of two rows (for K = 2: of 2 and 1 rows):
 * the last rows of the longer one are never computed, and their gradient is 0. */
static void unequal_truncated(struct check *c, int k)
{
    for (int swapped = 0; swapped < 2; ++swapped) {
        const size_t longer = k == 2 ? 2 : 2 * (size_t)k, shorter = longer - (k == 2 ? 1 : 2);
        const double *a = check_sequence(c, longer, 1, 1), *b = check_sequence(c, shorter, 3, 2);
        struct impl_array *in_a = check_needs_grad(check_column(c, longer, a));
        struct impl_array *in_b = check_needs_grad(check_column(c, shorter, b));
        struct impl_model *model = check_parallel(c, k, NULL, "", multiply);
        struct impl_array *dx = check_output(c, 2, ROOM);
        struct impl_backward back = {.n_grad_out = 1, .grad_in = dx, .n_in = 2};
        double y[IMPL_MAX_DEVICES], da[IMPL_MAX_DEVICES] = {0}, db[IMPL_MAX_DEVICES];
        check_note(c, "K=%d: ", k);
        for (size_t r = 0; r < shorter; ++r) {
            y[r] = 2 * a[r] * b[r];
            da[r] = 2 * (double)(r + 7) * b[r];
            db[r] = 2 * (double)(r + 7) * a[r];
        }
        check_values(c, "output",
                     forward_pair(c, model, swapped ? pair(c, in_b, in_a) : pair(c, in_a, in_b)),
                     shorter, y);
        back.grad_out = check_on(check_counted(c, shorter, 7, 1), 0);
        check_backward_op(c, model, &back);
        check_values(c, "gradient of the longer input", &dx[swapped], longer, da);
        check_values(c, "gradient of the shorter input", &dx[1 - swapped], shorter, db);
    }
}

/* ---- STRUCT-07, -08 -------------------------------------------------------------------------- */

/* There are as many inputs as devices: each is cut, and none is sent to one device as a whole. */
static void items_are_cut(struct check *c, int k)
{
    const size_t dim[] = {3, 4};
    const double *a = check_integers(c, 12, 66), *b = check_integers(c, 12, 67);
    struct impl_model *model =
        check_parallel(c, k, NULL, "", "{\"kind\":\"multiply\"},{\"kind\":\"tag_dim\",\"dim\":0}");
    size_t size[IMPL_MAX_DEVICES], e = 0;
    const int m = check_shards(3, k, size);
    double y[12];
    for (int s = 0; s < m; ++s)
        for (size_t in = 0; in < size[s] * 4; ++in, ++e)
            y[e] = a[e] * b[e] + 1000 * (double)size[s];
    check_values(
        c, "output",
        forward_pair(c, model, pair(c, check_array(c, 2, dim, a), check_array(c, 2, dim, b))), 12,
        y);
}

/* A list of 10 numbers is passed with 10 rows: every replica gets all 10 numbers. */
static void numbers_are_not_cut(struct check *c, int k)
{
    for (size_t rows = 1; rows <= N; rows += 3) {
        struct impl_array *out = check_output(c, IMPL_MAX_IO, ROOM);
        struct impl_forward op = {.n_in = 1, .n_args = 1, .out = out, .grad = true, .train = true};
        check_note(c, "K=%d N=%zu: ", k, rows);
        op.in = check_counted(c, rows, 1, 1);
        op.args = check_vector(c, N, check_sequence(c, N, 5, 3));
        check_forward_op(c, check_parallel(c, k, NULL, "", "{\"kind\":\"argument\"}"), &op);
        check_int(c, "outputs", op.n_out, 1);
        check_values(c, "output", out, rows, check_sequence(c, rows, 10000 + 5, 5));
    }
}

/* ---- STRUCT-10, -13: lists of outputs -------------------------------------------------------- */

/* Output 0 is x, output 1 is x with every row twice; both are tagged with their replica. */
static void outputs_gathered(struct check *c, int k)
{
    const int *ids = mixed_ids(k);
    struct impl_array *out = check_output(c, IMPL_MAX_IO, ROOM);
    struct impl_forward op = {.n_in = 1, .out = out, .grad = true, .train = true};
    size_t size[IMPL_MAX_DEVICES], r = 0;
    const int m = check_shards(N, k, size);
    const size_t once[] = {N, 1}, twice[] = {2 * N, 1};
    double first[N], second[2 * N];
    for (int s = 0; s < m; ++s)
        for (size_t row = 0; row < size[s]; ++row, ++r)
            first[r] = second[2 * r] = second[2 * r + 1] = (double)(r + 1) + 1000 * (s + 1);
    op.in = check_counted(c, N, 1, 1);
    check_forward_op(
        c, check_parallel(c, k, ids, "", "{\"kind\":\"tag_replica\"},{\"kind\":\"fork\"}"), &op);
    check_int(c, "outputs", op.n_out, 2);
    check_shape(c, "first output", &out[0], 2, once);
    check_shape(c, "second output", &out[1], 2, twice);
    check_values(c, "first output", &out[0], N, first);
    check_values(c, "second output", &out[1], 2 * N, second);
    check_device(c, "first output", &out[0], ids[0]);
    check_device(c, "second output", &out[1], ids[0]);
}

/* There is a gradient for both outputs, for the first alone and for the second alone. */
static void outputs_backward(struct check *c, int k)
{
    for (unsigned given = 1; given < 4; ++given) {
        struct impl_model *model = check_parallel(
            c, k, NULL, "", "{\"kind\":\"affine\",\"weight\":[3]},{\"kind\":\"fork\"}");
        struct impl_array *out = check_output(c, IMPL_MAX_IO, ROOM);
        struct impl_array *dx = check_output(c, 1, ROOM), *g = check_memory(c, 2 * sizeof *g);
        struct impl_forward op = {.n_in = 1, .out = out, .grad = true, .train = true};
        struct impl_backward back = {.grad_out = g, .n_grad_out = 2, .grad_in = dx, .n_in = 1};
        double want[N], dw = 0, db = 0;
        check_note(c, "K=%d, gradients of the outputs %#x: ", k, given);
        g[0] = (given & 1) != 0 ? *check_on(check_counted(c, N, 1, 2), 0) : *check_none(c);
        g[1] = (given & 2) != 0 ? *check_on(check_counted(c, 2 * N, 100, 3), 0) : *check_none(c);
        for (size_t r = 0; r < N; ++r) {
            const double first = 1 + 2 * (double)r, second = 2 * (100 + 6 * (double)r) + 3;
            const double sum = ((given & 1) != 0 ? first : 0) + ((given & 2) != 0 ? second : 0);
            want[r] = 3 * sum;
            dw += sum * (double)(r + 1);
            db += sum;
        }
        op.in = check_needs_grad(check_counted(c, N, 1, 1));
        check_forward_op(c, model, &op);
        check_int(c, "outputs", op.n_out, 2);
        check_backward_op(c, model, &back);
        check_values(c, "input gradient", dx, N, want);
        check_grads_are(c, model, dw, db);
    }
}

/* ---- STRUCT-01: lists of four, through a wrapper without layers ------------------------------ */

/* Four inputs are returned unchanged, row by row, and so are their gradients. */
static void structure_four(struct check *c, int k)
{
    const size_t n = 10;

    for (int form = 0; form < 2; ++form) {
        struct impl_model *model =
            golden_parallel(c, k, "", form == 0 ? "" : "{\"kind\":\"sequence\",\"layers\":[]}");
        struct golden_call call = {.in = {golden_rows(c, n), golden_vector(c, n, 30, 1),
                                          golden_vector(c, n, 50, 3), golden_vector(c, n, 90, 2)},
                                   .n_in = 4};
        const struct impl_array *g[] = {golden_vector(c, n, 7, 2), golden_vector(c, n, 3, 1),
                                        golden_vector(c, n, 5, 4), golden_vector(c, n, 2, 6)};
        const struct impl_array *dx;

        check_note(c, "K=%d, %s: ", k, form == 0 ? "no layer" : "an empty sequence");
        golden_forward(c, model, &call);
        check_int(c, "outputs", call.n_out, 4);
        golden_is_counted(c, "output 0", &call.out[0], n, 1, 1);
        golden_is_counted(c, "output 1", &call.out[1], n, 30, 1);
        golden_is_counted(c, "output 2", &call.out[2], n, 50, 3);
        golden_is_counted(c, "output 3", &call.out[3], n, 90, 2);
        dx = golden_backward(c, model, &call, g);
        golden_is_counted(c, "gradient of input 0", &dx[0], n, 7, 2);
        golden_is_counted(c, "gradient of input 1", &dx[1], n, 3, 1);
        golden_is_counted(c, "gradient of input 2", &dx[2], n, 5, 4);
        golden_is_counted(c, "gradient of input 3", &dx[3], n, 2, 6);
        check_model_close(c, model);
    }
}

static const struct check_case cases[] = {
    {"STRUCT-01.list", "STRUCT-01", MUST, OBSERVED, DP, PARALLEL, 1, .each = list_is_cut},
    {"STRUCT-03.empty_argument", "STRUCT-03", MUST, OBSERVED, DP, PARALLEL | IMPL_CAP_ARGUMENTS, 1,
     .each = empty_argument},
    {"STRUCT-04.fewest", "STRUCT-04", MUST, OBSERVED, DP, PARALLEL | IMPL_CAP_ARGUMENTS, 1,
     .each = fewest_shards},
    {"STRUCT-05.refused", "STRUCT-05", MUST_REFUSE, OBSERVED, DP, PARALLEL, 2, unequal_refused, 0,
     IMPL_UNEQUAL_ROWS, IMPL_REFUSE},
    {"STRUCT-05.truncated", "STRUCT-05", MUST, OBSERVED, DP, PARALLEL, 2, .each = unequal_truncated,
     .dialect = IMPL_UNEQUAL_ROWS, .choice = IMPL_TRUNCATE},
    {"STRUCT-06.refused", "STRUCT-06", MUST_REFUSE, OBSERVED, DP, PARALLEL, 2, mispaired_refused, 0,
     IMPL_UNEQUAL_ROWS, IMPL_REFUSE},
    {"STRUCT-07.items", "STRUCT-07", MUST, OBSERVED, DP, PARALLEL, 1, .each = items_are_cut},
    {"STRUCT-08.numbers", "STRUCT-08", MUST, OBSERVED, DP, PARALLEL | IMPL_CAP_ARGUMENTS, 1,
     .each = numbers_are_not_cut},
    {"STRUCT-10.elements", "STRUCT-10", MUST, OBSERVED, DP, PARALLEL, 1, .each = outputs_gathered},
    {"STRUCT-13.backward", "STRUCT-13", MUST, OBSERVED, DP, PARALLEL, 1, .each = outputs_backward},
    {"STRUCT-01.four", "STRUCT-01", MUST, OBSERVED, DP, PARALLEL, 1, .each = structure_four},
};
const struct check_table structure_table = CHECK_TABLE(cases);
