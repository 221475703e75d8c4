/* shape.c: area SHAPE: rules that hold for vectors and for dimension 0 hold for arrays of every
 * shape: any dimension, none of any elements, weights with as many rows as columns, several
 * inputs. */
#include "check.h"
#include "ddp.h"
#include "golden.h"
#include "primitive.h"
#include "sized.h"

/* Two square layers, whose weights are not equal to their transposes; n rows, and the results.
 * shape.c fills them. */
enum { SQUARE = 3, SQUARE_PARAMS = 4 };
#define SHAPE_SQUARES                                                                              \
    "{\"kind\":\"linear\",\"in\":3,\"out\":3,\"weight\":[1,2,-3,4,-5,6,7,-8,-2],"                  \
    "\"bias\":[1,-2,3]},{\"kind\":\"linear\",\"in\":3,\"out\":3,\"weight\":[2,-1,5,-4,3,8,-6,1,7]" \
    ","                                                                                            \
    "\"bias\":[-4,5,6]}"
struct shape_squares {
    size_t n;
    const float *x, *g;
    float *y, *dx, *grad[SQUARE_PARAMS];
};

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
static const size_t shape_square_size[SQUARE_PARAMS] = {CELLS, SQUARE, CELLS, SQUARE};
static const float first_weight[CELLS] = {1, 2, -3, 4, -5, 6, 7, -8, -2};
static const float first_bias[SQUARE] = {1, -2, 3};
static const float second_weight[CELLS] = {2, -1, 5, -4, 3, 8, -6, 1, 7};
static const float second_bias[SQUARE] = {-4, 5, 6};

static void shape_squares_make(struct check *c, struct shape_squares *s, size_t n, uint64_t seed)
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

/* ---- DistributedDataParallel: SHAPE-04 ------------------------------------------------------- */

/* The mean over 2, 3 or 4 ranks of R times a small number is exact. */
static void shape_ranks_square(struct check *c)
{
    for (int ranks = 2; ranks <= 4; ++ranks) {
        struct impl_model *model = check_ddp_model(c, ranks, DDP_MODEL(SHAPE_SQUARES));
        struct ddp_call call = {.ranks = ranks, .n_in = 1, .n_out = 1};
        struct shape_squares s[4];

        check_note(c, "R=%d: ", ranks);
        for (int r = 0; r < ranks; ++r) {
            const size_t dim[] = {2 + (size_t)r, SQUARE};
            float *up = check_memory(c, dim[0] * SQUARE * sizeof *up);

            shape_squares_make(c, &s[r], dim[0], 10 * (uint64_t)r);
            for (size_t i = 0; i < dim[0] * SQUARE; ++i)
                up[i] = (float)ranks * s[r].g[i];
            call.in[r][0] = sized_array(c, 2, dim, s[r].x);
            call.g[r][0] = sized_array(c, 2, dim, up);
        }
        ddp_pass_counted(c, model, &call);
        for (int r = 0; r < ranks; ++r)
            sized_same(c, check_text(c, "output of rank %d", r), call.out[r][0], s[r].n * SQUARE,
                       s[r].y);
        for (int p = 0; p < SQUARE_PARAMS; ++p) {
            for (int r = 1; r < ranks; ++r)
                for (size_t e = 0; e < shape_square_size[p]; ++e)
                    s[0].grad[p][e] += s[r].grad[p][e];
            for (int r = 0; r < ranks; ++r)
                sized_is(c, model, r, IMPL_GRAD, p, shape_square_size[p], s[0].grad[p]);
        }
        check_model_close(c, model);
    }
}

/* ---- SHAPE-05: all elements are sent --------------------------------------------------------- */

enum { FEATURES = 3, MEAN = 2, VARIANCE = 3 };

/* The numbers of rank r are 100 r larger when the model is opened; then each rank gets those of
 * rank 0. */
static void shape_ranks_sent(struct check *c)
{
    static const size_t size[] = {6, 2, 2, 2, 2, 2, 1, 3};
    enum { PARAMS = sizeof size / sizeof size[0] };

    for (int i = 0, ranks; (ranks = check_ranks(c, i)) != 0; ++i) {
        const char *text = "[";
        struct impl_model *model;

        for (int r = 0; r < ranks; ++r) {
            const int n = 100 * r;

            text = check_text(
                c,
                "%s%s" DDP_MODEL(
                    "{\"kind\":\"linear\",\"in\":3,\"out\":2,\"weight\":[%d,%d,%d,%d,%d,%d],"
                    "\"bias\":[%d,%d]},{\"kind\":\"batch_norm\",\"features\":2,\"momentum\":0.5,"
                    "\"eps\":1,\"weight\":[%d,%d],\"bias\":[%d,%d],\"running_mean\":[%d,%d],"
                    "\"running_var\":[%d,%d],\"batches\":[%d]},{\"kind\":\"unused\",\"size\":3,"
                    "\"frozen\":true,\"weight\":[%d,%d,%d]}"),
                text, r > 0 ? "," : "", n + 1, n + 2, n + 3, n + 4, n + 5, n + 6, n + 1, n + 2,
                n + 1, n + 2, n + 1, n + 2, n + 1, n + 2, n + 1, n + 2, n + 1, n + 1, n + 2, n + 3);
        }
        check_note(c, "R=%d: ", ranks);
        model = check_ddp_model(c, ranks, check_text(c, "%s]", text));
        for (int p = 0; p < PARAMS; ++p)
            ddp_all_are(c, model, ranks, IMPL_VALUE, p, size[p], check_sequence(c, size[p], 1, 1));
        check_model_close(c, model);
    }
}

/* Each rank has other statistics before a forward: those of rank 0 are used, for every feature. */
static void shape_ranks_buffers(struct check *c)
{
    for (int i = 0, ranks; (ranks = check_ranks(c, i)) != 0; ++i) {
        struct impl_model *model = check_ddp_model(
            c, ranks,
            DDP_MODEL("{\"kind\":\"batch_norm\",\"features\":3,\"momentum\":0.5,\"eps\":1e-24,"
                      "\"weight\":[1,1,1],\"running_var\":[1,1,1]}"));

        for (int turn = 0; turn < 2; ++turn) {
            check_note(c, "R=%d, step %d: ", ranks, turn);
            static const double variance[FEATURES] = {4, 1, 16}, deviation[FEATURES] = {2, 1, 4};
            const size_t dim[] = {1, FEATURES};
            const double mean[FEATURES] = {turn, 10 + turn, 20 - turn};
            struct ddp_call call = {.ranks = ranks, .n_in = 1, .n_out = 1, .eval = true};

            for (int r = 0; r < ranks; ++r) {
                const double first = 16 * r;

                call.in[r][0] = check_array(c, 2, dim, check_sequence(c, FEATURES, first, 4));
                call.g[r][0] = check_array(c, 2, dim, check_sequence(c, FEATURES, 1, 1));
                ddp_set(c, model, r, IMPL_VALUE, MEAN,
                        r == 0 ? mean : check_sequence(c, FEATURES, 1000 * r, 1));
                ddp_set(c, model, r, IMPL_VALUE, VARIANCE,
                        r == 0 ? variance : check_sequence(c, FEATURES, 100 * r, 1));
            }
            ddp_pass_counted(c, model, &call);
            ddp_all_are(c, model, ranks, IMPL_VALUE, MEAN, FEATURES, mean);
            ddp_all_are(c, model, ranks, IMPL_VALUE, VARIANCE, FEATURES, variance);
            for (int r = 0; r < ranks; ++r) {
                double y[FEATURES];

                for (int f = 0; f < FEATURES; ++f)
                    y[f] = (16 * r + 4 * f - mean[f]) / deviation[f];
                check_values(c, check_text(c, "output of rank %d", r), call.out[r][0], FEATURES, y);
            }
        }
        check_model_close(c, model);
    }
}

/* ---- SHAPE-06: two inputs, two outputs ------------------------------------------------------- */

enum { COLUMNS = 2, MOST_ROWS = 3, ALL = MOST_ROWS * COLUMNS };

/* The model is h = a b, p = 2h + 1; its outputs are p, and every row of p twice. */
struct several {
    size_t n; /* elements */
    double a[ALL], b[ALL], g[ALL], twice[2 * ALL], p[ALL], doubled[2 * ALL];
    double da[ALL], db[ALL], weight, bias;
};

static const struct impl_array *ranks_times(struct check *c, const double values[], size_t rows,
                                            int by)
{
    const size_t dim[] = {rows, COLUMNS};
    double scaled[2 * ALL];

    for (size_t i = 0; i < rows * COLUMNS; ++i)
        scaled[i] = by * values[i];
    return check_array(c, 2, dim, scaled);
}

static void several_turn(struct check *c, struct impl_model *model, int ranks, int turn)
{
    struct ddp_call call = {.ranks = ranks, .n_in = 2, .n_out = 2};
    struct several *s = check_memory(c, (size_t)ranks * sizeof *s);
    const bool both = turn != 1;
    double weight = 0, bias = 0;

    for (int r = 0; r < ranks; ++r) {
        const size_t rows = 1 + (size_t)(r + turn) % MOST_ROWS, dim[] = {rows, COLUMNS};

        const uint64_t seed = 100 * (uint64_t)turn + (uint64_t)r;
        const double *numbers = check_integers(c, 5 * ALL, seed);

        s[r] = (struct several){.n = rows * COLUMNS};
        for (size_t i = 0; i < s[r].n; ++i) {
            const size_t twin = i / COLUMNS * 2 * COLUMNS + i % COLUMNS;
            double h, up;

            s[r].a[i] = numbers[i];
            s[r].b[i] = numbers[ALL + i];
            s[r].g[i] = numbers[2 * ALL + i];
            s[r].twice[twin] = numbers[3 * ALL + i];
            s[r].twice[twin + COLUMNS] = numbers[4 * ALL + i];
            h = s[r].a[i] * s[r].b[i];
            up = s[r].g[i] + (both ? s[r].twice[twin] + s[r].twice[twin + COLUMNS] : 0);
            s[r].p[i] = s[r].doubled[twin] = s[r].doubled[twin + COLUMNS] = 2 * h + 1;
            s[r].da[i] = 2 * up * s[r].b[i];
            s[r].db[i] = 2 * up * s[r].a[i];
            s[r].weight += up * h;
            s[r].bias += up;
        }
        call.in[r][0] = check_needs_grad(check_array(c, 2, dim, s[r].a));
        call.in[r][1] = check_needs_grad(check_array(c, 2, dim, s[r].b));
        call.g[r][0] = ranks_times(c, s[r].g, rows, ranks);
        call.g[r][1] = both ? ranks_times(c, s[r].twice, 2 * rows, ranks) : NULL;
        weight += s[r].weight;
        bias += s[r].bias;
    }
    check_zero_grad(c, model);
    ddp_pass_counted(c, model, &call);
    for (int r = 0; r < ranks; ++r) {
        const struct several *own = &s[r];

        for (size_t i = 0; i < own->n; ++i) {
            s[r].da[i] *= ranks;
            s[r].db[i] *= ranks;
        }
        check_values(c, check_text(c, "first output of rank %d", r), call.out[r][0], own->n,
                     own->p);
        check_values(c, check_text(c, "second output of rank %d", r), call.out[r][1], 2 * own->n,
                     own->doubled);
        check_values(c, check_text(c, "gradient of rank %d's first input", r), call.grad_in[r][0],
                     own->n, own->da);
        check_values(c, check_text(c, "gradient of rank %d's second input", r), call.grad_in[r][1],
                     own->n, own->db);
    }
    ddp_all_are(c, model, ranks, IMPL_GRAD, 0, 1, &weight);
    ddp_all_are(c, model, ranks, IMPL_GRAD, 1, 1, &bias);
}

/* In turn 1 the second output has no gradient. Uses numbers of ranks for which R times an integer,
 * times 1/R, is that integer. */
static void shape_ranks_several(struct check *c)
{
    static const int counts[] = {2, 3, 5, 8};

    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; ++i) {
        struct impl_model *model =
            check_ddp_model(c, counts[i],
                            DDP_MODEL("{\"kind\":\"multiply\"},{\"kind\":\"affine\",\"weight\":[2],"
                                      "\"bias\":[1]},{\"kind\":\"fork\"}"));

        for (int turn = 0; turn < 3; ++turn) {
            check_note(c, "R=%d, step %d: ", counts[i], turn);
            several_turn(c, model, counts[i], turn);
        }
        check_model_close(c, model);
    }
}

/* ---- SHAPE-07: a weight whose elements lie in memory column by column -------------------------
 */

enum { DOWN = 2, ACROSS = 3, WEIGHTS = DOWN * ACROSS };

static const char *by_columns(struct check *c, int rank)
{
    const int n = 100 * rank;

    return check_text(c,
                      DDP_MODEL("{\"kind\":\"linear\",\"in\":3,\"out\":2,\"with_bias\":false,"
                                "\"by_columns\":true,\"weight\":[%d,%d,%d,%d,%d,%d]}"),
                      n + 1, n + 2, n + 3, n + 4, n + 5, n + 6);
}

/* Makes a backward on one row of each rank, and adds what it gives to the gradients: with sync, to
 * all the mean of all. */
static void by_columns_turn(struct check *c, struct impl_model *model, int ranks, uint64_t turn,
                            bool no_sync, double gradient[][WEIGHTS])
{
    struct ddp_call call = {.ranks = ranks, .n_in = 1, .n_out = 1, .no_sync = no_sync};
    double mean[WEIGHTS] = {0};

    for (int r = 0; r < ranks; ++r) {
        const double *numbers = check_integers(c, ACROSS + DOWN, 10 * turn + (uint64_t)r);
        const size_t in[] = {1, ACROSS}, out[] = {1, DOWN};

        call.in[r][0] = check_array(c, 2, in, numbers);
        call.g[r][0] = check_array(c, 2, out, numbers + ACROSS);
        for (int e = 0; e < WEIGHTS; ++e) {
            gradient[r][e] += numbers[ACROSS + e / ACROSS] * numbers[e % ACROSS];
            mean[e] += gradient[r][e] / ranks;
        }
    }
    ddp_pass_counted(c, model, &call);
    for (int r = 0; r < ranks; ++r) {
        for (int e = 0; !no_sync && e < WEIGHTS; ++e)
            gradient[r][e] = mean[e];
        check_values(c, check_text(c, "rank %d of %d: gradient", r, ranks),
                     check_get_rank(c, model, r, IMPL_GRAD, 0), WEIGHTS, gradient[r]);
    }
}

/* If ranks can be built one by one, each begins with another weight. */
static void shape_ranks_by_columns(struct check *c, int ranks)
{
    const char *text = by_columns(c, 0);
    double gradient[DDP_MOST][WEIGHTS] = {{0}}, value[WEIGHTS];
    struct impl_model *model;

    for (int r = 1; check_has(c, IMPL_CAP_UNLIKE_RANKS) && r < ranks; ++r)
        text = check_text(c, "%s,%s", text, by_columns(c, r));
    if (check_has(c, IMPL_CAP_UNLIKE_RANKS))
        text = check_text(c, "[%s]", text);
    model = check_ddp_model(c, ranks, text);
    ddp_all_are(c, model, ranks, IMPL_VALUE, 0, WEIGHTS, check_sequence(c, WEIGHTS, 1, 1));
    for (uint64_t turn = 0; turn < 4; ++turn) {
        check_note(c, "R=%d, step %d: ", ranks, (int)turn);
        by_columns_turn(c, model, ranks, turn, turn == 1, gradient);
    }
    for (int e = 0; e < WEIGHTS; ++e)
        value[e] = 1 + e - 0.125 * gradient[0][e];
    check_step(c, model, 0.125F, 0);
    ddp_all_are(c, model, ranks, IMPL_VALUE, 0, WEIGHTS, value);
}

/* ---- the table ------------------------------------------------------------------------------- */

enum {
    FUNCTIONAL = PARALLEL | IMPL_CAP_FUNCTIONAL,
    CUT = IMPL_CAP_SCATTER,
    GLUED = IMPL_CAP_GATHER
};
enum {
    RANKS = IMPL_CAP_DDP,
    NORM = IMPL_CAP_DDP | IMPL_CAP_BATCH_NORM,
    UNLIKE = IMPL_CAP_DDP | IMPL_CAP_BATCH_NORM | IMPL_CAP_UNLIKE_RANKS
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
    {"SHAPE-04.ranks", "SHAPE-04", MUST, OBSERVED, DDP, RANKS, 0, shape_ranks_square},
    {"SHAPE-05.sent", "SHAPE-05", MAY, OBSERVED, DDP, UNLIKE, 0, shape_ranks_sent},
    {"SHAPE-05.buffers", "SHAPE-05", MAY, OBSERVED, DDP, NORM, 0, shape_ranks_buffers},
    {"SHAPE-06.several", "SHAPE-06", MUST, OBSERVED, DDP, RANKS, 0, shape_ranks_several},
    {"SHAPE-07.by_columns", "SHAPE-07", MAY, OBSERVED, DDP, RANKS | IMPL_CAP_STRIDES, 0,
     .ranks = shape_ranks_by_columns},
};
const struct check_table shape_table = CHECK_TABLE(cases);
