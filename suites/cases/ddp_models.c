/* ddp_models.c: cases of area DDP: layers that run twice or are frozen, ranks without rows, and
 * modes other than training. */
#include "ddp.h"

static const double rows[DDP_MOST] = {1, 10, -4, 6}, other[DDP_MOST] = {7, -3, 2, 40};

static double models_mean_of(const double x[], int ranks)
{
    double sum = 0;

    for (int r = 0; r < ranks; ++r)
        sum += x[r];
    return sum / ranks;
}

/* ---- DDP-01: reduced once it is complete, and all that is trained ---------------------------- */

/* The model is h = 2x + 1, then 3h + 1, then the first layer again. The gradient of that layer is
 * complete only at the end of backward, long after that of its second run. */
static const char twice[] =
    DDP_MODEL("{\"kind\":\"affine\",\"name\":\"a\",\"weight\":[2],\"bias\":[1]},"
              "{\"kind\":\"affine\",\"weight\":[3],\"bias\":[1]},"
              "{\"kind\":\"again\",\"of\":\"a\"}");

static void ddp_mean_again(struct check *c, int ranks)
{
    struct impl_model *model = check_ddp_model(c, ranks, twice);
    const double x = models_mean_of(rows, ranks);

    for (int turn = 1; turn <= 3; ++turn) {
        struct ddp_call call = ddp_rows(c, ranks, rows);

        check_note(c, "R=%d, step %d: ", ranks, turn);
        ddp_pass(c, model, &call);
        ddp_grads_are(c, model, ranks, turn * (12 * x + 4), turn * 7);
        ddp_all_is(c, model, ranks, IMPL_GRAD, 2, turn * (4 * x + 2));
        ddp_all_is(c, model, ranks, IMPL_GRAD, 3, turn * 2);
    }
}

/* h = 2x + 1 is frozen, then 3h + 1 is not, then the weight of 2h + 1 is. */
static const char frozen[] =
    DDP_MODEL("{\"kind\":\"affine\",\"weight\":[2],\"bias\":[1],\"frozen\":true},"
              "{\"kind\":\"affine\",\"weight\":[3],\"bias\":[1]},"
              "{\"kind\":\"affine\",\"weight\":[2],\"bias\":[1],\"frozen\":[\"weight\"]}");

static void ddp_mean_frozen(struct check *c, int ranks)
{
    static const int still[] = {0, 1, 4};
    struct impl_model *model = check_ddp_model(c, ranks, frozen);
    const double x = models_mean_of(rows, ranks);

    for (int turn = 1; turn <= 3; ++turn) {
        struct ddp_call call = ddp_rows(c, ranks, rows);

        check_note(c, "R=%d, step %d: ", ranks, turn);
        ddp_pass(c, model, &call);
        ddp_all_is(c, model, ranks, IMPL_GRAD, 2, turn * (4 * x + 2));
        ddp_all_is(c, model, ranks, IMPL_GRAD, 3, turn * 2);
        ddp_all_is(c, model, ranks, IMPL_GRAD, 5, turn);
        for (int r = 0; r < ranks; ++r)
            for (int i = 0; i < 3; ++i)
                check_is_none(c, "gradient of a frozen parameter",
                              check_get_rank(c, model, r, IMPL_GRAD, still[i]));
    }
}

/* Evaluation is a mode of layers, not of gradients. */
static void ddp_mean_eval(struct check *c, int ranks)
{
    struct impl_model *model = check_ddp_model(c, ranks, DDP_MODEL(DDP_AFFINE));

    for (int turn = 0; turn < 4; ++turn) {
        const double *x = turn % 2 == 0 ? rows : other;
        struct ddp_call call = ddp_rows(c, ranks, x);

        check_note(c, "R=%d, step %d: ", ranks, turn);
        call.eval = turn != 2;
        ddp_fresh_pass(c, model, &call);
        ddp_grads_are(c, model, ranks, models_mean_of(x, ranks), 1);
    }
}

/* ---- DDP-02: a rank without rows ------------------------------------------------------------- */

/* A rank without rows gives zeros, and counts in the divisor. Each turn it is another rank. */
static void ddp_mean_no_rows(struct check *c, int ranks)
{
    struct impl_model *model = check_ddp_model(c, ranks, DDP_MODEL(DDP_AFFINE));

    for (int turn = 0; turn < ranks; ++turn) {
        struct ddp_call call = ddp_rows(c, ranks, rows);

        check_note(c, "R=%d, rank %d has no rows: ", ranks, turn);
        call.in[turn][0] = check_needs_grad(check_vector(c, 0, NULL));
        ddp_fresh_pass(c, model, &call);
        ddp_grads_are(c, model, ranks, models_mean_of(rows, ranks) - rows[turn] / ranks,
                      (ranks - 1.0) / ranks);
    }
}

/* ---- DDP-16: the mode of a backward is that of its forward ----------------------------------- */

/* A forward without grad mode comes between a forward and its backward. */
static void ddp_sync_infer(struct check *c, int ranks)
{
    struct impl_model *model = check_ddp_model(c, ranks, DDP_MODEL(DDP_AFFINE));

    for (int turn = 0; turn < 3; ++turn) {
        struct ddp_call call = ddp_rows(c, ranks, rows), between = ddp_rows(c, ranks, other);

        check_note(c, "R=%d, step %d: ", ranks, turn);
        between.infer = true;
        between.eval = turn > 0;
        check_zero_grad(c, model);
        ddp_forward(c, model, &call);
        ddp_forward(c, model, &between);
        ddp_backward(c, model, &call);
        ddp_grads_are(c, model, ranks, models_mean_of(rows, ranks), 1);
    }
}

static const struct check_case cases[] = {
    {"DDP-01.again", "DDP-01", MUST, OBSERVED, DDP, IMPL_CAP_DDP, 0, .ranks = ddp_mean_again},
    {"DDP-01.frozen", "DDP-01", MUST, OBSERVED, DDP, IMPL_CAP_DDP, 0, .ranks = ddp_mean_frozen},
    {"DDP-01.eval", "DDP-01", MUST, OBSERVED, DDP, IMPL_CAP_DDP, 0, .ranks = ddp_mean_eval},
    {"DDP-02.no_rows", "DDP-02", MUST, OBSERVED, DDP, IMPL_CAP_DDP, 0, .ranks = ddp_mean_no_rows},
    {"DDP-16.infer", "DDP-16", MUST, OBSERVED, DDP, IMPL_CAP_DDP, 0, .ranks = ddp_sync_infer},
};
const struct check_table ddp_models_table = CHECK_TABLE(cases);
