/* dim.c: area DIM: batches that do not lie on dimension 0. Every array is cut and concatenated
 * along the dimension of the description, or refused if it does not have it. */
#include "check.h"
#include "golden.h"
#include "impls/words.h"

struct dim_shape {
    int ndim;
    size_t dim[3];
    int cut; /* the dimension to cut */
};

/* Returns "dim": 1, for example. */
static const char *dim_option(struct check *c, int dim)
{
    return check_text(c, "\"dim\":%d,", dim);
}

static size_t dim_elements(const struct dim_shape *shape)
{
    size_t n = 1;

    for (int d = 0; d < shape->ndim; ++d)
        n *= shape->dim[d];
    return n;
}

/* Returns an array 1, 2, .. in this shape, which needs a gradient. */
static struct impl_array *dim_counted(struct check *c, const struct dim_shape *shape)
{
    return check_needs_grad(
        check_array(c, shape->ndim, shape->dim, check_sequence(c, dim_elements(shape), 1, 1)));
}

static const struct dim_shape shapes[] = {
    {2, {2, 10, 0}, 1}, {2, {2, 10, 0}, -1}, {2, {10, 3, 0}, -2}, {3, {2, 9, 3}, 1},
    {3, {2, 9, 3}, -2}, {3, {3, 2, 7}, 2},   {3, {3, 2, 7}, -1},  {3, {5, 2, 3}, -3},
    {2, {3, 1, 0}, 1},  {1, {9, 0, 0}, -1},
};
enum { SHAPES = sizeof shapes / sizeof shapes[0] };

/* ---- DIM-01, DIM-05 -------------------------------------------------------------------------- */

/* A shard whose first element is above 5 uses the other weight: this shows where the columns were
 * cut, and on two rows which columns are together. */
static void branch(struct check *c, int dim)
{
    const size_t shape[] = {2, 10};
    double x[20], y[20], g[20], dx[20];

    for (int i = 0, k; (k = check_count(c, i)) != 0; ++i) {
        struct impl_model *model = golden_parallel(
            c, k, dim_option(c, dim), "{\"kind\":\"branch\",\"above\":5,\"low\":[3],\"high\":[7]}");
        const size_t width = (10 + (size_t)k - 1) / (size_t)k;
        double sums[2] = {1000, 123};

        for (size_t at = 0; at < 20; ++at) {
            const size_t column = at % 10, first = column / width * width;
            const int high = first + 1 > 5;

            x[at] = (double)(column + 1) - (at < 10 ? 0 : 30);
            g[at] = 2 * (double)at - 11;
            y[at] = (high ? 7 : 3) * x[at];
            dx[at] = (high ? 7 : 3) * g[at];
            sums[high] += g[at] * x[at];
        }
        check_note(c, "K=%d dim=%d: ", k, dim);
        golden_prefill(c, model);
        golden_is(c, "output",
                  check_forward(c, model, check_needs_grad(check_array(c, 2, shape, x))), 2, shape,
                  y);
        golden_is(c, "input gradient", check_backward(c, model, check_array(c, 2, shape, g)), 2,
                  shape, dx);
        check_grads_are(c, model, sums[0], sums[1]);
        check_model_close(c, model);
    }
}

static void dim_columns(struct check *c)
{
    branch(c, 1);
    branch(c, -1);
}

/* The columns are whole, so each replica can take the mean of its columns. */
static void dim_column_means(struct check *c, int k)
{
    const size_t shape[] = {3, 10};
    double y[30];
    for (int at = 0; at < 30; ++at) {
        const int row = at / 10;
        y[at] = 10 * row - 10;
    }

    struct impl_model *model =
        golden_parallel(c, k, dim_option(c, 1), "{\"kind\":\"subtract_mean\"}");

    check_note(c, "K=%d dim=1: ", k);
    golden_is(c, "output", check_forward(c, model, golden_matrix(c, 3, 10, 1, 1)), 2, shape, y);
}

static void dim_sizes_seen(struct check *c, int k)
{
    const size_t shape[] = {2, 10};

    for (int dim = 0; dim < 2; ++dim) {
        struct impl_model *model = golden_parallel(
            c, k, dim_option(c, 1), check_text(c, "{\"kind\":\"tag_dim\",\"dim\":%d}", dim));
        size_t size[IMPL_MAX_DEVICES];
        double y[20];
        const int m = check_shards(10, k, size);

        for (int s = 0, column = 0; s < m; ++s)
            for (size_t j = 0; j < size[s]; ++j, ++column) {
                const double seen = dim == 1 ? (double)size[s] : 2;

                y[column] = column + 1 + 1000 * seen;
                y[column + 10] = column + 11 + 1000 * seen;
            }
        check_note(c, "K=%d, dimension %d seen: ", k, dim);
        golden_is(c, "output", check_forward(c, model, golden_matrix(c, 2, 10, 1, 1)), 2, shape, y);
        check_model_close(c, model);
    }
}

/* There are two inputs and two outputs, and all are cut along the same dimension. */
static void dim_all_arrays(struct check *c)
{
    const size_t in[] = {2, 9}, twice[] = {4, 9};
    double y[18], doubled[36], g[18], g2[36], da[18];

    for (int at = 0; at < 18; ++at) {
        const int row = at / 9, column = at % 9;

        y[at] = 3 * (at + 1) * (50 - 2 * at);
        doubled[(2 * row) * 9 + column] = doubled[(2 * row + 1) * 9 + column] = y[at];
        g[at] = at - 4;
        g2[(2 * row) * 9 + column] = 2 * at + 1;
        g2[(2 * row + 1) * 9 + column] = -at;
        da[at] = 3 * (50 - 2 * at) * (at - 4 + 2 * at + 1 - at);
    }
    for (int i = 0, k; (k = check_count(c, i)) != 0; ++i) {
        struct impl_model *model =
            golden_parallel(c, k, dim_option(c, i % 2 == 0 ? 1 : -1),
                            "{\"kind\":\"multiply\",\"factor\":3},{\"kind\":\"fork\"}");
        struct golden_call call = {
            .in = {golden_matrix(c, 2, 9, 1, 1), golden_matrix(c, 2, 9, 50, -2)}, .n_in = 2};
        const struct impl_array *upstream[2];

        check_note(c, "K=%d: ", k);
        golden_forward(c, model, &call);
        check_int(c, "outputs", call.n_out, 2);
        golden_is(c, "first output", &call.out[0], 2, in, y);
        golden_is(c, "second output", &call.out[1], 2, twice, doubled);
        upstream[0] = check_array(c, 2, in, g);
        upstream[1] = check_array(c, 2, twice, g2);
        golden_is(c, "gradient of the first input", golden_backward(c, model, &call, upstream), 2,
                  in, da);
        check_model_close(c, model);
    }
}

/* Checks values and gradients, as for dimension 0. */
static void dim_values(struct check *c, int k)
{
    for (int j = 0; j < SHAPES; ++j) {
        const struct dim_shape *shape = &shapes[j];
        const size_t n = dim_elements(shape);
        struct impl_model *model = golden_parallel(c, k, dim_option(c, shape->cut), GOLDEN_AFFINE);

        check_note(c, "K=%d, shape %d, dim=%d: ", k, j, shape->cut);
        golden_prefill(c, model);
        golden_is_sequence(c, "output", check_forward(c, model, dim_counted(c, shape)), shape->ndim,
                           shape->dim, 3, 2);
        golden_is_sequence(c, "input gradient", check_backward(c, model, dim_counted(c, shape)),
                           shape->ndim, shape->dim, 2, 2);
        check_grads_are(c, model, 1000 + golden_squares(n), 123 + golden_sum(n));
        check_model_close(c, model);
    }
}

/* Trains on columns: the second step, with fewer columns, uses the weights after the first. */
static void dim_training(struct check *c, int k)
{
    static const size_t widths[] = {10, 3, 9};
    struct impl_model *model = golden_parallel(c, k, dim_option(c, -1), GOLDEN_AFFINE);
    double w = 2, b = 1;

    for (int step = 0; step < 3; ++step) {
        const size_t shape[] = {2, widths[step]}, n = 2 * widths[step];

        check_note(c, "K=%d step %d, %zu columns: ", k, step, widths[step]);
        check_zero_grad(c, model);
        golden_is_sequence(c, "output",
                           check_forward(c, model, golden_matrix(c, 2, widths[step], 1, 1)), 2,
                           shape, w + b, w);
        check_backward(c, model, NULL);
        check_grad_is(c, model, 0, golden_sum(n));
        check_step(c, model, 1.0f / 256, 0);
        w -= golden_sum(n) / 256;
        b -= (double)n / 256;
    }
}

/* ---- DIM-03: a state whose first dimension is no batch --------------------------------------- */

/* The input (2 layers, 3, 2) is cut along dimension 0: the first replica gets the first layer and
 * the whole batch, the second one the second layer; no other replica runs. */
static void dim_layers_cut(struct check *c, int k)
{
    const size_t shape[] = {2, 3, 2};
    double y[12];
    for (int at = 0; at < 12; ++at)
        y[at] = (at < 6 ? 3 : 7) * (at + 1);

    struct impl_model *model =
        golden_parallel(c, k, "", "{\"kind\":\"branch\",\"above\":3,\"low\":[3],\"high\":[7]}");
    const struct impl_array *x = check_array(c, 3, shape, check_sequence(c, 12, 1, 1));

    golden_is(c, "output", check_forward(c, model, x), 3, shape, y);
}

static void dim_layers_seen(struct check *c, int k)
{
    static const double sizes[] = {1, 3, 2};
    const size_t shape[] = {2, 3, 2};

    for (int dim = 0; dim < 3; ++dim) {
        struct impl_model *model =
            golden_parallel(c, k, "", check_text(c, "{\"kind\":\"tag_dim\",\"dim\":%d}", dim));
        const struct impl_array *x = check_array(c, 3, shape, check_sequence(c, 12, 1, 1));

        check_note(c, "K=%d, dimension %d: ", k, dim);
        golden_is_sequence(c, "output", check_forward(c, model, x), 3, shape, 1 + 1000 * sizes[dim],
                           1);
        check_model_close(c, model);
    }
}

/* ---- DIM-07: negative dimensions ------------------------------------------------------------- */

/* The inputs have one rank: -1 is the last dimension of both. */
static void dim_same_rank(struct check *c, int k)
{
    const size_t shape[] = {3, 7};

    for (int dim = -2; dim < 0; ++dim) {
        struct impl_model *model =
            golden_parallel(c, k, dim_option(c, dim), "{\"kind\":\"multiply\"}");
        struct golden_call call = {
            .in = {golden_matrix(c, 3, 7, 1, 1), golden_matrix(c, 3, 7, 40, -3)}, .n_in = 2};
        const struct impl_array *upstream[1], *grads;
        double y[21];

        for (int at = 0; at < 21; ++at)
            y[at] = (at + 1) * (40 - 3 * at);
        check_note(c, "K=%d dim=%d: ", k, dim);
        golden_forward(c, model, &call);
        golden_is(c, "output", call.out, 2, shape, y);
        upstream[0] = check_array(c, 2, shape, check_sequence(c, 21, 1, 0));
        grads = golden_backward(c, model, &call, upstream);
        golden_is_sequence(c, "gradient of the first input", &grads[0], 2, shape, 40, -3);
        golden_is_sequence(c, "gradient of the second input", &grads[1], 2, shape, 1, 1);
        check_model_close(c, model);
    }
}

/* The inputs (4, 6) and (6) are cut along the last dimension of each, which have the same length;
 * the model returns them unchanged. */
static int dim_mixed(struct check *c, int k, struct golden_call *call)
{
    const struct golden_call inputs = {.in = {golden_matrix(c, 4, 6, 1, 1), golden_rows(c, 6)},
                                       .n_in = 2};

    check_note(c, "K=%d, (4, 6) and (6): ", k);
    *call = inputs;
    return golden_try_forward(c, golden_parallel(c, k, "\"dim\":-1,", ""), call);
}

static void dim_mixed_refused(struct check *c, int k)
{
    struct golden_call call;

    check_refused(c, "a negative dim with inputs of different rank", dim_mixed(c, k, &call),
                  GOLDEN_UNFIT);
    golden_works(c, k);
}

static void dim_mixed_accepted(struct check *c, int k)
{
    const size_t matrix[] = {4, 6}, vector[] = {6};
    struct golden_call call;
    const int status = dim_mixed(c, k, &call);

    check_true(c, status == IMPL_OK, "forward failed (%s): %s", impl_status_word(status),
               check_error(c)->text);
    check_int(c, "outputs", call.n_out, 2);
    golden_is_sequence(c, "first output", &call.out[0], 2, matrix, 1, 1);
    golden_is_sequence(c, "second output", &call.out[1], 1, vector, 1, 1);
}

/* Each of two wrappers cuts along another dimension: rows, then columns. */
static void dim_two_wrapped(struct check *c, int k)
{
    enum { ROWS = 4, COLUMNS = 10 };
    static const size_t shape[] = {ROWS, COLUMNS};
    const double *x = check_sequence(c, (size_t)ROWS * COLUMNS, 1, 1);
    double y[ROWS * COLUMNS];
    const int *ids = golden_ids(c, k), rows = (ROWS + k - 1) / k, columns = (COLUMNS + k - 1) / k;
    const char *list = check_list(c, ids, k);
    struct impl_model *model = check_model(
        c,
        "{\"layers\":[{\"kind\":\"parallel\",\"device_ids\":%s,\"layers\":["
        "{\"kind\":\"tag_device\"}]},{\"kind\":\"parallel\",\"device_ids\":%s,\"dim\":1,"
        "\"layers\":[{\"kind\":\"tag_device\"}]}]}",
        list, list);

    for (int at = 0; at < ROWS * COLUMNS; ++at) {
        const int first = at / COLUMNS / rows, second = at % COLUMNS / columns;

        y[at] = x[at] + 1000 * (ids[first] + ids[second] + 2);
    }
    golden_is(c, "output", check_forward(c, model, check_needs_grad(check_array(c, 2, shape, x))),
              2, shape, y);
    golden_is(c, "input gradient",
              check_backward(c, model, check_on(check_array(c, 2, shape, x), ids[0])), 2, shape, x);
}

/* ---- DIM-02: outputs whose batch lies elsewhere ---------------------------------------------- */

/* Opens a model from [n] indices to [n, 2], cut and concatenated along the last dimension of
 * each. */
static struct impl_model *embedding(struct check *c, int k)
{
    return golden_parallel(
        c, k, "\"dim\":-1,",
        "{\"kind\":\"embedding\",\"rows\":30,\"columns\":2,\"weight\":["
        "0,100,1,101,2,102,3,103,4,104,5,105,6,106,7,107,8,108,9,109,"
        "10,110,11,111,12,112,13,113,14,114,15,115,16,116,17,117,18,118,19,119,"
        "20,120,21,121,22,122,23,123,24,124,25,125,26,126,27,127,28,128,29,129]}");
}

/* The 3K indices are 29 - 1 * i. The output is concatenated along the wrong axis to (3, 2K), or
 * refused; never (3K, 2). */
static void dim_glued(struct check *c, int k)
{
    const size_t n = 3 * (size_t)k, shape[] = {3, 2 * (size_t)k};
    struct golden_call call = {
        .in = {check_typed(c, IMPL_I32, 1, &n, check_sequence(c, n, 29, -1))}, .n_in = 1};
    double y[6 * IMPL_MAX_DEVICES];
    int status;

    for (int row = 0; row < 3; ++row)
        for (int column = 0; column < 2 * k; ++column) {
            const int index = 3 * (column / 2) + row;

            y[row * 2 * k + column] = 29 - index + 100 * (column % 2);
        }
    check_note(c, "K=%d, %zu indices: ", k, n);
    status = golden_try_forward(c, embedding(c, k), &call);
    if (status == IMPL_OK)
        golden_is(c, "output", call.out, 2, shape, y);
    else
        check_refused(c, "outputs on another axis", status, GOLDEN_UNFIT);
}

static void dim_not_glued(struct check *c, int k)
{
    const size_t n = 3 * (size_t)k - 1;
    struct impl_model *model = embedding(c, k);
    const struct impl_array *x = check_typed(c, IMPL_I32, 1, &n, check_sequence(c, n, 29, -1));

    check_note(c, "K=%d, %zu indices: ", k, n);
    check_refused(c, "outputs of different rows, glued along columns", golden_try_one(c, model, x),
                  GOLDEN_UNFIT);
    check_grad_none(c, model, 0);
    check_model_close(c, model);
    golden_works(c, k);
}

/* A replica drops rows: a middle one, then the last. */
static void dim_dropped_rows(struct check *c, int k)
{
    static const char *const lists[] = {"[3,2,3]", "[2,3]"};

    for (int j = 0; j < 2; ++j) {
        struct impl_model *model = golden_parallel(
            c, k, dim_option(c, 1),
            check_text(c, "%s,{\"kind\":\"take\",\"rows\":%s}", GOLDEN_AFFINE, lists[j]));

        check_note(c, "K=%d, rows %s: ", k, lists[j]);
        golden_prefill(c, model);
        check_refused(c, "outputs of different rows, gathered along columns",
                      golden_try_one(c, model, golden_matrix(c, 3, 10, 1, 1)), GOLDEN_UNFIT);
        check_grads_are(c, model, 1000, 123);
        check_model_close(c, model);
        golden_works(c, k);
    }
}

/* ---- DIM-04: every input must have the dimension --------------------------------------------- */

/* A model of these layers refuses an input of each shape, and its gradients stay as they were. */
static void shapes_refused(struct check *c, int k, const struct dim_shape wrong[], int n,
                           const char *layers, const char *what)
{
    for (int j = 0; j < n; ++j) {
        const struct dim_shape *shape = &wrong[j];
        struct impl_model *model = golden_parallel(c, k, dim_option(c, shape->cut), layers);

        check_note(c, "K=%d, %d dimensions, dim=%d: ", k, shape->ndim, shape->cut);
        golden_prefill(c, model);
        check_refused(c, what, golden_try_one(c, model, dim_counted(c, shape)), GOLDEN_UNFIT);
        check_grads_are(c, model, 1000, 123);
        check_model_close(c, model);
        golden_works(c, k);
    }
}

static void dim_missing_dimension(struct check *c, int k)
{
    static const struct dim_shape wrong[] = {
        {1, {10, 0, 0}, 1}, {1, {10, 0, 0}, -2}, {2, {4, 10, 0}, 2}, {2, {4, 10, 0}, -3},
        {0, {0, 0, 0}, 0},  {0, {0, 0, 0}, -1},  {3, {2, 5, 2}, 3}};

    shapes_refused(c, k, wrong, 7, GOLDEN_AFFINE, "an input without the dimension");
}

/* The inputs are (2, 10) and a vector of 10, cut along dimension 1; afterwards the same model
 * accepts inputs that fit. */
static void dim_missing_in_second(struct check *c, int k)
{
    const size_t shape[] = {2, 10};
    struct impl_model *model = golden_parallel(c, k, dim_option(c, 1), "{\"kind\":\"multiply\"}");

    for (int first = 0; first < 2; ++first) {
        struct impl_array *matrix = golden_matrix(c, 2, 10, 1, 1), *vector = golden_rows(c, 10);
        struct golden_call call = {.in = {first ? vector : matrix, first ? matrix : vector},
                                   .n_in = 2};
        struct golden_call good = {
            .in = {matrix, check_array(c, 2, shape, check_sequence(c, 20, 5, 0))}, .n_in = 2};

        check_note(c, "K=%d, the vector is input %d: ", k, 1 - first);
        check_refused(c, "a vector cut on dimension 1", golden_try_forward(c, model, &call),
                      GOLDEN_UNFIT);
        golden_forward(c, model, &good);
        golden_is_sequence(c, "output after the error", good.out, 2, shape, 5, 5);
    }
}

/* ---- DIM-06: scalars ------------------------------------------------------------------------- */

static void dim_scalars_vector(struct check *c, int k)
{
    struct impl_model *model = golden_parallel(c, k, dim_option(c, 0), "{\"kind\":\"sum\"}");
    size_t size[IMPL_MAX_DEVICES], row = 0;
    const int m = check_shards(10, k, size);
    double y[IMPL_MAX_DEVICES] = {0};

    for (int s = 0; s < m; ++s)
        for (size_t j = 0; j < size[s]; ++j)
            y[s] += (double)++row;
    check_note(c, "K=%d dim=0: ", k);
    golden_is_vector(c, "sums", check_forward(c, model, golden_rows(c, 10)), (size_t)m, y);
}

static void dim_scalars_refused(struct check *c, int k)
{
    static const struct dim_shape inputs[] = {
        {2, {4, 10, 0}, 1}, {2, {4, 10, 0}, -1}, {2, {10, 2, 0}, -2}, {1, {10, 0, 0}, -1}};

    shapes_refused(c, k, inputs, 4, GOLDEN_AFFINE ",{\"kind\":\"sum\"}", "scalar outputs");
}

static const struct check_case cases[] = {
    {"DIM-01.columns", "DIM-01", MUST, OBSERVED, DP, PARALLEL, 1, dim_columns},
    {"DIM-01.means", "DIM-01", MUST, OBSERVED, DP, PARALLEL, 1, .each = dim_column_means},
    {"DIM-01.two_wrapped", "DIM-01", MUST, OBSERVED, DP, PARALLEL, 1, .each = dim_two_wrapped},
    {"DIM-01.sizes", "DIM-01", MUST, OBSERVED, DP, PARALLEL, 1, .each = dim_sizes_seen},
    {"DIM-01.all_arrays", "DIM-01", MUST, OBSERVED, DP, PARALLEL, 1, dim_all_arrays},
    {"DIM-03.layers", "DIM-03", MUST, OBSERVED, DP, PARALLEL, 2, .each = dim_layers_cut},
    {"DIM-03.sizes", "DIM-03", MUST, OBSERVED, DP, PARALLEL, 2, .each = dim_layers_seen},
    {"DIM-05.values", "DIM-05", MUST, OBSERVED, DP, PARALLEL, 1, .each = dim_values},
    {"DIM-05.training", "DIM-05", MUST, OBSERVED, DP, PARALLEL, 1, .each = dim_training},
    {"DIM-07.same_rank", "DIM-07", MUST, OBSERVED, DP, PARALLEL, 1, .each = dim_same_rank},
    {"DIM-07.refused", "DIM-07", MUST_REFUSE, OBSERVED, DP, PARALLEL, 2, .each = dim_mixed_refused,
     .dialect = IMPL_MIXED_RANKS, .choice = IMPL_REFUSE},
    {"DIM-07.accepted", "DIM-07", MUST, OBSERVED, DP, PARALLEL, 2, .each = dim_mixed_accepted,
     .dialect = IMPL_MIXED_RANKS, .choice = IMPL_ACCEPT},
    {"DIM-02.glued", "DIM-02", MUST, OBSERVED, DP, PARALLEL, 2, .each = dim_glued},
    {"DIM-02.unequal", "DIM-02", MUST_REFUSE, OBSERVED, DP, PARALLEL, 2, .each = dim_not_glued},
    {"DIM-02.dropped_rows", "DIM-02", MUST_REFUSE, OBSERVED, DP, PARALLEL, 2,
     .each = dim_dropped_rows},
    {"DIM-04.missing", "DIM-04", MUST_REFUSE, OBSERVED, DP, PARALLEL, 2,
     .each = dim_missing_dimension},
    {"DIM-04.second_input", "DIM-04", MUST_REFUSE, OBSERVED, DP, PARALLEL, 2,
     .each = dim_missing_in_second},
    {"DIM-06.vector", "DIM-06", MUST, OBSERVED, DP, PARALLEL, 2, .each = dim_scalars_vector},
    {"DIM-06.refused", "DIM-06", MUST_REFUSE, OBSERVED, DP, PARALLEL, 2,
     .each = dim_scalars_refused},
};
const struct check_table dim_table = CHECK_TABLE(cases);
