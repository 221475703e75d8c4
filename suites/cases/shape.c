/* shape.c: area SHAPE: rules that hold for vectors and for dimension 0 hold for arrays of every
 * shape: any dimension, none of any elements, weights with as many rows as columns, several
 * inputs. */
#include "shape.h"

#include "golden.h"
#include "primitive.h"
#include "sized.h"

#include <string.h>

/* ---- SHAPE-01: any dimension of up to five --------------------------------------------------- */

enum { LENGTH = 11 };
static const size_t beside[IMPL_MAX_DIMS] = {2, 3, 2, 3, 2};
static const enum impl_dtype types[] = {IMPL_F32, IMPL_I64, IMPL_F64, IMPL_I32};

/* Fills the dimensions of an array: LENGTH along the axis that is cut, and fixed sizes along the
 * others. Returns the number of elements. */
static size_t shape_of(int ndim, int axis, size_t dim[IMPL_MAX_DIMS])
{
    size_t n = 1;

    for (int d = 0; d < ndim; ++d) {
        dim[d] = d == axis ? LENGTH : beside[d];
        n *= dim[d];
    }
    return n;
}

/* Cuts x without sizes, or into the given sizes 2, 1, 4, 2, 1, .. with the rest for the last. */
static void shape_cut(struct check *c, const struct impl_array *x, int k, int axis, bool given)
{
    const int *ids = primitive_order(c, k);
    size_t size[IMPL_MAX_DEVICES], left = LENGTH;
    struct impl_array *shards;
    int m, status;

    for (int i = 0; i < k; left -= size[i++]) {
        const size_t wanted = i % 3 == 0   ? 2
                              : i % 3 == 1 ? 1
                                           : 4,
                     most = left - (size_t)(k - 1 - i);

        size[i] = i == k - 1 ? left : wanted < most ? wanted : most;
    }
    status = primitive_try_scatter(c, x, ids, k, axis, given ? size : NULL, &shards, &m);
    check_accepted(c, "status of scatter", status);
    check_int(c, "number of shards", m, given ? k : check_shards(LENGTH, k, size));
    primitive_check_shards(c, x, axis < 0 ? axis + x->ndim : axis, shards, m, size, ids);
}

static void cut_any_axis(struct check *c, int k)
{
    for (int ndim = 3; k <= LENGTH && ndim <= IMPL_MAX_DIMS; ++ndim)
        for (int axis = -ndim; axis < ndim; ++axis) {
            size_t dim[IMPL_MAX_DIMS];
            const size_t n = shape_of(ndim, axis < 0 ? axis + ndim : axis, dim);
            const struct impl_array *x =
                check_typed(c, types[(axis + ndim) % 4], ndim, dim, check_sequence(c, n, 1, 1));

            for (int given = 0; given < 2; ++given) {
                check_note(c, "K=%d, %d dimensions, dim %d%s: ", k, ndim, axis,
                           given ? ", sizes given" : "");
                shape_cut(c, x, k, axis, given == 1);
            }
        }
}

/* The parts are 2, 5, 1, 3, 2, .. */
static void glue_any_axis(struct check *c, int k)
{
    static const size_t sizes[] = {2, 5, 1, 3};

    for (int ndim = 3; ndim <= IMPL_MAX_DIMS; ++ndim)
        for (int axis = -ndim; axis < ndim; ++axis) {
            const int at = axis < 0 ? axis + ndim : axis;
            struct impl_array like = {.dtype = types[(at + ndim) % 4], .ndim = ndim};
            const int *ids = primitive_order(c, k);
            size_t size[IMPL_MAX_DEVICES];
            const struct impl_array *parts;

            shape_of(ndim, at, like.dim);
            for (int s = 0; s < k; ++s)
                size[s] = sizes[s % 4];
            check_note(c, "K=%d, %d dimensions, dim %d: ", k, ndim, axis);
            parts = primitive_parts(c, &like, at, k, size, ids, 1);
            primitive_check_whole(c, primitive_gather(c, parts, k, axis, ids[0]), parts, k, at,
                                  ids[0]);
        }
}

/* Checks y = 2x + 1 + 1000 * the columns of the shard, and all gradients. `options` has %d for
 * dim. */
static void train_axis(struct check *c, int k, int ndim, int axis, const char *options)
{
    const int at = axis < 0 ? axis + ndim : axis;
    size_t dim[IMPL_MAX_DIMS], inner = 1, size[IMPL_MAX_DEVICES], shard[LENGTH];
    const size_t n = shape_of(ndim, at, dim);
    struct impl_model *model =
        golden_parallel(c, k, check_text(c, "\"dim\":%d,%s", axis, options),
                        check_text(c, GOLDEN_AFFINE ",{\"kind\":\"tag_dim\",\"dim\":%d}", at));
    const double *g = check_integers(c, n, 8 * (uint64_t)ndim + (uint64_t)at);
    double *y = check_memory(c, n * sizeof *y), *dx = check_memory(c, n * sizeof *dx);
    double dw = 0, db = 0;
    const int m = check_shards(LENGTH, k, size);

    for (int d = at + 1; d < ndim; ++d)
        inner *= dim[d];
    for (int s = 0, first = 0; s < m; first += (int)size[s++])
        for (size_t e = 0; e < size[s]; ++e)
            shard[(size_t)first + e] = size[s];
    for (size_t e = 0; e < n; ++e) {
        const double x = 1 + (double)e;

        y[e] = 2 * x + 1 + 1000 * (double)shard[e / inner % LENGTH];
        dx[e] = 2 * g[e];
        dw += g[e] * x;
        db += g[e];
    }
    check_note(c, "K=%d, %d dimensions, dim %d, %s: ", k, ndim, axis, options);
    golden_is(
        c, "output",
        check_forward(c, model,
                      check_needs_grad(check_array(c, ndim, dim, check_sequence(c, n, 1, 1)))),
        ndim, dim, y);
    golden_is(c, "input gradient", check_backward(c, model, check_array(c, ndim, dim, g)), ndim,
              dim, dx);
    check_grads_are(c, model, dw, db);
    check_model_close(c, model);
}

static void every_axis(struct check *c, int k)
{
    const char *options = check_variant(c) == 1 ? "\"functional\":true," : "";

    for (int ndim = 3; ndim <= IMPL_MAX_DIMS; ++ndim)
        for (int at = 1; at < ndim; ++at)
            train_axis(c, k, ndim, (k + at) % 2 == 0 ? at : at - ndim, options);
}

/* ---- SHAPE-02: dim with what else a wrapper can have ----------------------------------------- */

/* The output device does not change the concatenated values. */
static void output_axis(struct check *c, int k)
{
    const size_t dim[] = {2, LENGTH};

    for (int device = IMPL_HOST; device < check_devices(c); device += 2) {
        struct impl_model *model = golden_parallel(
            c, k, check_text(c, "\"dim\":-1,\"output_device\":%d,", device), GOLDEN_AFFINE);
        const struct impl_array *y;

        check_note(c, "K=%d, dim -1, output on %d: ", k, device);
        y = check_forward(c, model, golden_matrix(c, 2, LENGTH, 1, 1));
        golden_is_sequence(c, "output", y, 2, dim, 3, 2);
        golden_is_sequence(c, "input gradient",
                           check_backward(c, model, golden_matrix(c, 2, LENGTH, 1, 1)), 2, dim, 2,
                           2);
        check_grad_is(c, model, 0, golden_squares(2 * LENGTH));
        check_device(c, "output", y, device);
        check_model_close(c, model);
    }
}

/* ---- SHAPE-03: rows without elements --------------------------------------------------------- */

static const size_t nothing[][3] = {{9, 0, 0}, {9, 0, 2}, {2, 0, 3}};
enum { NOTHING = sizeof nothing / sizeof nothing[0] };

/* An array [n, 0] has n rows; they are cut and concatenated, and a sum over them is 0. */
static void no_columns(struct check *c, int k)
{
    for (int row = 0; row < NOTHING; ++row)
        for (int ndim = 2; ndim < 4; ++ndim) {
            struct impl_model *model = golden_affine(c, k);
            const struct impl_array *x = check_array(c, ndim, nothing[row], NULL);

            check_note(c, "K=%d, %zu rows, %d dimensions: ", k, nothing[row][0], ndim);
            golden_prefill(c, model);
            golden_is(
                c, "output",
                check_forward(c, model, check_needs_grad(sized_array(c, ndim, nothing[row], NULL))),
                ndim, nothing[row], NULL);
            golden_is(c, "input gradient", check_backward(c, model, x), ndim, nothing[row], NULL);
            golden_unharmed(c, model);
            check_model_close(c, model);
        }
}

static void no_columns_cut(struct check *c, int k)
{
    for (int row = 0; row < NOTHING; ++row) {
        const int *ids = primitive_order(c, k);
        const struct impl_array *x = check_typed(c, types[row], 2, nothing[row], NULL), *shards;
        const size_t column[] = {nothing[row][0], 1};
        size_t size[IMPL_MAX_DEVICES];
        const int want = check_shards(nothing[row][0], k, size);
        int m;

        check_note(c, "K=%d, [%zu, 0]: ", k, nothing[row][0]);
        shards = primitive_scatter(c, x, ids, k, 0, &m);
        check_int(c, "number of shards", m, want);
        primitive_check_shards(c, x, 0, shards, m, size, ids);
        check_shape(c, "glued again", primitive_gather(c, shards, m, 0, ids[0]), 2, nothing[row]);
        x = check_typed(c, types[row], 2, column, check_sequence(c, column[0], 1, 1));
        shards = primitive_scatter(c, x, ids, k, 0, &m);
        primitive_check_shards(c, x, 0, shards, m, size, ids);
    }
}

/* ---- SHAPE-04: square weights ---------------------------------------------------------------- */

enum { CELLS = SQUARE * SQUARE };
const size_t shape_square_size[SQUARE_PARAMS] = {CELLS, SQUARE, CELLS, SQUARE};
static const float first_weight[CELLS] = {1, 2, -3, 4, -5, 6, 7, -8, -2};
static const float first_bias[SQUARE] = {1, -2, 3};
static const float second_weight[CELLS] = {2, -1, 5, -4, 3, 8, -6, 1, 7};
static const float second_bias[SQUARE] = {-4, 5, 6};

void shape_squares_make(struct check *c, struct shape_squares *s, size_t n, uint64_t seed)
{
    const size_t bytes = n * SQUARE * sizeof(float);
    float *mid = check_memory(c, bytes), *up = check_memory(c, bytes);

    *s = (struct shape_squares){.n = n,
                                .x = sized_numbers(c, n * SQUARE, seed),
                                .g = sized_numbers(c, n * SQUARE, seed + 1),
                                .y = check_memory(c, bytes),
                                .dx = check_memory(c, bytes)};
    for (int p = 0; p < SQUARE_PARAMS; ++p)
        s->grad[p] = check_memory(c, shape_square_size[p] * sizeof(float));
    sized_linear(mid, first_weight, first_bias, s->x, n, SQUARE, SQUARE);
    sized_linear(s->y, second_weight, second_bias, mid, n, SQUARE, SQUARE);
    sized_products(s->grad[2], s->grad[3], mid, s->g, n, SQUARE, SQUARE);
    sized_back(up, second_weight, s->g, n, SQUARE, SQUARE);
    sized_products(s->grad[0], s->grad[1], s->x, up, n, SQUARE, SQUARE);
    sized_back(s->dx, first_weight, up, n, SQUARE, SQUARE);
}

static void shape_squares_all(struct check *c, int k)
{
    struct impl_model *model = golden_parallel(c, k, "", SHAPE_SQUARES);

    for (int turn = 0; turn < 2; ++turn) {
        const size_t dim[] = {2 * (size_t)k + 1, SQUARE};
        struct shape_squares s;
        struct sized_pass pass;

        shape_squares_make(c, &s, dim[0], (uint64_t)k + 8 * (uint64_t)turn);
        pass = (struct sized_pass){.x = check_needs_grad(sized_array(c, 2, dim, s.x)),
                                   .g = sized_array(c, 2, dim, s.g)};
        check_note(c, "K=%d, step %d: ", k, turn);
        check_zero_grad(c, model);
        sized_run(c, model, &pass);
        sized_same(c, "output", pass.y, s.n * SQUARE, s.y);
        sized_same(c, "input gradient", pass.dx, s.n * SQUARE, s.dx);
        for (int p = 0; p < SQUARE_PARAMS; ++p)
            sized_is(c, model, 0, IMPL_GRAD, p, shape_square_size[p], s.grad[p]);
    }
}

/* ---- the table ------------------------------------------------------------------------------- */

enum {
    FUNCTIONAL = PARALLEL | IMPL_CAP_FUNCTIONAL,
    CUT = IMPL_CAP_SCATTER,
    GLUED = IMPL_CAP_GATHER
};

static const struct check_case cases[] = {
    {"SHAPE-01.cut", "SHAPE-01", MUST, OBSERVED, PRIM, CUT, 2, .each = cut_any_axis},
    {"SHAPE-01.glued", "SHAPE-01", MUST, OBSERVED, PRIM, GLUED, 2, .each = glue_any_axis},
    {"SHAPE-01.training", "SHAPE-01", MUST, OBSERVED, DP, PARALLEL, 1, .each = every_axis},
    {"SHAPE-02.functional", "SHAPE-02", MUST, OBSERVED, DP, FUNCTIONAL, 1, .each = every_axis,
     .variant = 1},
    {"SHAPE-02.output", "SHAPE-02", MUST, REPORTED, DP, PARALLEL, 2, .each = output_axis},
    {"SHAPE-03.training", "SHAPE-03", MUST, OBSERVED, DP, PARALLEL, 1, .each = no_columns},
    {"SHAPE-03.cut", "SHAPE-03", MUST, OBSERVED, PRIM, CUT | GLUED, 1, .each = no_columns_cut},
    {"SHAPE-04.replicas", "SHAPE-04", MUST, OBSERVED, DP, PARALLEL, 1, .each = shape_squares_all},
};
const struct check_table shape_table = CHECK_TABLE(cases);
