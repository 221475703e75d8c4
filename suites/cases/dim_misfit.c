/* dim_misfit.c: inputs and outputs that do not have the dimension, or whose batch is on another. */
#include "dim.h"
#include "golden.h"

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
static void shapes_refused(struct check *c, int k, const struct dim_shape shapes[], int n,
                           const char *layers, const char *what)
{
    for (int j = 0; j < n; ++j) {
        const struct dim_shape *shape = &shapes[j];
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
const struct check_table dim_misfit_table = CHECK_TABLE(cases);
