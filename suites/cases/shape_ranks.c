/* shape_ranks.c: cases of area SHAPE: DistributedDataParallel of parameters and buffers with
 * several elements, and of several inputs and outputs. */
#include "ddp.h"
#include "shape.h"
#include "sized.h"

/* ---- SHAPE-04: square weights ---------------------------------------------------------------- */

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

enum { COLUMNS = 2, MOST_ROWS = 3, CELLS = MOST_ROWS * COLUMNS };

/* The model is h = a b, p = 2h + 1; its outputs are p, and every row of p twice. */
struct several {
    size_t n; /* elements */
    double a[CELLS], b[CELLS], g[CELLS], twice[2 * CELLS], p[CELLS], doubled[2 * CELLS];
    double da[CELLS], db[CELLS], weight, bias;
};

static const struct impl_array *ranks_times(struct check *c, const double values[], size_t rows,
                                            int by)
{
    const size_t dim[] = {rows, COLUMNS};
    double scaled[2 * CELLS];

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
        const double *numbers = check_integers(c, 5 * CELLS, seed);

        s[r] = (struct several){.n = rows * COLUMNS};
        for (size_t i = 0; i < s[r].n; ++i) {
            const size_t twin = i / COLUMNS * 2 * COLUMNS + i % COLUMNS;
            double h, up;

            s[r].a[i] = numbers[i];
            s[r].b[i] = numbers[CELLS + i];
            s[r].g[i] = numbers[2 * CELLS + i];
            s[r].twice[twin] = numbers[3 * CELLS + i];
            s[r].twice[twin + COLUMNS] = numbers[4 * CELLS + i];
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
    RANKS = IMPL_CAP_DDP,
    NORM = IMPL_CAP_DDP | IMPL_CAP_BATCH_NORM,
    UNLIKE = IMPL_CAP_DDP | IMPL_CAP_BATCH_NORM | IMPL_CAP_UNLIKE_RANKS
};

static const struct check_case cases[] = {
    {"SHAPE-04.ranks", "SHAPE-04", MUST, OBSERVED, DDP, RANKS, 0, shape_ranks_square},
    {"SHAPE-05.sent", "SHAPE-05", MAY, OBSERVED, DDP, UNLIKE, 0, shape_ranks_sent},
    {"SHAPE-05.buffers", "SHAPE-05", MAY, OBSERVED, DDP, NORM, 0, shape_ranks_buffers},
    {"SHAPE-06.several", "SHAPE-06", MUST, OBSERVED, DDP, RANKS, 0, shape_ranks_several},
    {"SHAPE-07.by_columns", "SHAPE-07", MAY, OBSERVED, DDP, RANKS | IMPL_CAP_STRIDES, 0,
     .ranks = shape_ranks_by_columns},
};
const struct check_table shape_ranks_table = CHECK_TABLE(cases);
