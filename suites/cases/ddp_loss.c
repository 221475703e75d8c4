/* ddp_loss.c: cases of area DDP: losses of unequal batches, and models with nothing to train. */
#include "ddp.h"

#define WITH_MEAN DDP_MODEL(DDP_AFFINE ",{\"kind\":\"mean\"}")
#define WITH_SUM  DDP_MODEL(DDP_AFFINE ",{\"kind\":\"sum\"}")

/* Rows, rank by rank. All numbers of rows divide 12, so with gradients of 12 nothing is rounded. */
struct rows {
    int ranks;
    size_t n[DDP_MOST], total;
    double x[8];
    double mean, whole; /* gradients of a mean loss of the ranks, and of the whole batch */
    double sum;         /* gradient of a sum loss of the ranks; R times that of the whole batch */
};

static const struct rows unequal[] = {
    {2, {3, 1}, 4, {1, 2, 3, 10}, 6, 4, 8},
    {4, {3, 1, 2, 2}, 8, {1, 2, 3, 10, -4, 6, 5, 9}, 5, 4, 8},
};
enum { UNEQUAL = sizeof unequal / sizeof unequal[0] };

static const struct rows equal[] = {
    {2, {2, 2}, 4, {1, 2, 3, 10}, 4, 4, 8},
    {4, {2, 2, 2, 2}, 8, {1, 2, 3, 10, -4, 6, 5, 9}, 4, 4, 8},
};

static const struct impl_array *scalar(struct check *c, double value)
{
    return check_array(c, 0, NULL, &value);
}

/* The ranks have their rows, and the gradients of their losses are 12 times `scale`. */
static struct ddp_call call_of(struct check *c, const struct rows *rows, const double scale[])
{
    struct ddp_call call = {.ranks = rows->ranks, .n_in = 1, .n_out = 1};
    const double *x = rows->x;

    for (int r = 0; r < rows->ranks; x += rows->n[r++]) {
        call.in[r][0] = check_needs_grad(check_vector(c, rows->n[r], x));
        call.g[r][0] = scalar(c, 12 * scale[r]);
    }
    return call;
}

static const double unscaled[DDP_MOST] = {1, 1, 1, 1}, doubled[DDP_MOST] = {2, 2, 2, 2};

/* Runs the same model and loss on all rows, without ranks. */
static void whole_batch(struct check *c, const char *description, const struct rows *rows,
                        double gradient, double of_bias)
{
    struct impl_model *model = check_model(c, "%s", description);

    check_forward(c, model, check_vector(c, rows->total, rows->x));
    check_backward(c, model, scalar(c, 12));
    check_grads_are(c, model, 12 * gradient, 12 * of_bias);
    check_model_close(c, model);
}

/* Makes two turns, the second with gradients twice as large. */
static void ranks_give(struct check *c, const char *description, const struct rows *rows,
                       double gradient, double of_bias)
{
    struct impl_model *model = check_ddp_model(c, rows->ranks, description);

    for (int turn = 1; turn <= 2; ++turn) {
        struct ddp_call call = call_of(c, rows, turn == 1 ? unscaled : doubled);

        ddp_fresh_pass(c, model, &call);
        ddp_grads_are(c, model, rows->ranks, 12 * turn * gradient, 12 * turn * of_bias);
    }
    check_model_close(c, model);
}

/* ---- DDP-02, DDP-03: the whole batch's gradient, or not ------------------------------------- */

static void ddp_loss_mean(struct check *c)
{
    const struct rows *all = check_variant(c) == 1 ? equal : unequal;

    for (int i = 0; i < UNEQUAL; ++i) {
        check_note(c, "R=%d: ", all[i].ranks);
        ranks_give(c, WITH_MEAN, &all[i], all[i].mean, 1);
        check_note(c, "the whole batch, R=%d: ", all[i].ranks);
        whole_batch(c, WITH_MEAN, &all[i], all[i].whole, 1);
    }
}

static void ddp_loss_sum(struct check *c)
{
    for (int i = 0; i < UNEQUAL; ++i) {
        const struct rows *rows = &unequal[i];
        const double n = (double)rows->total;

        check_note(c, "R=%d: ", rows->ranks);
        ranks_give(c, WITH_SUM, rows, rows->sum, n / rows->ranks);
        check_note(c, "the whole batch, R=%d: ", rows->ranks);
        whole_batch(c, WITH_SUM, rows, rows->ranks * rows->sum, n);
    }
}

/* ---- DDP-04: scaled by R * rows of the rank / rows of all ------------------------------------ */

static void ddp_loss_scaled(struct check *c)
{
    for (int i = 0; i < UNEQUAL; ++i) {
        const struct rows *rows = &unequal[i];
        struct impl_model *model = check_ddp_model(c, rows->ranks, WITH_MEAN);
        double scale[DDP_MOST];

        check_note(c, "R=%d: ", rows->ranks);
        for (int r = 0; r < rows->ranks; ++r)
            scale[r] = rows->ranks * (double)rows->n[r] / (double)rows->total;
        for (int turn = 0; turn < 2; ++turn) {
            struct ddp_call call = call_of(c, rows, scale);

            ddp_fresh_pass(c, model, &call);
            ddp_grads_are(c, model, rows->ranks, 12 * rows->whole, 12);
        }
        check_model_close(c, model);
    }
}

/* ---- DDP-27: losses are not reduced ---------------------------------------------------------- */

/* Returns the sum of the rows of rank r, which follow those of the ranks before it in the list. */
static double loss_sum_of(const struct rows *rows, int rank)
{
    const double *x = rows->x;
    double sum = 0;

    for (int r = 0; r < rank; ++r)
        x += rows->n[r];
    for (size_t i = 0; i < rows->n[rank]; ++i)
        sum += x[i];
    return sum;
}

static void losses(struct check *c, const char *description, const struct rows *rows, bool mean)
{
    static const double weight[] = {2, 6};
    struct impl_model *model = check_ddp_model(c, rows->ranks, description);

    for (int turn = 0; turn < 2; ++turn) {
        struct ddp_call call = call_of(c, rows, unscaled);

        check_note(c, "R=%d, %s, step %d: ", rows->ranks, mean ? "mean" : "sum", turn);
        for (int r = 0; r < rows->ranks; ++r)
            ddp_set(c, model, r, IMPL_VALUE, 0, &weight[turn]);
        ddp_fresh_pass(c, model, &call);
        /* Checks loss and input gradients of every rank with this weight, bias 1 and gradients
         * of 12. */
        for (int r = 0; r < rows->ranks; ++r) {
            const double n = (double)rows->n[r], divisor = mean ? n : 1;
            const double loss = (weight[turn] * loss_sum_of(rows, r) + n) / divisor;
            const char *what = check_text(c, "loss of rank %d", r);

            check_shape(c, what, call.out[r][0], 0, NULL);
            check_values(c, what, call.out[r][0], 1, &loss);
            check_values(c, check_text(c, "input gradient of rank %d", r), call.grad_in[r][0],
                         rows->n[r], check_sequence(c, rows->n[r], 12 * weight[turn] / divisor, 0));
        }
    }
    check_model_close(c, model);
}

static void ddp_loss_own(struct check *c)
{
    for (int i = 0; i < UNEQUAL; ++i) {
        losses(c, WITH_SUM, &unequal[i], false);
        losses(c, WITH_MEAN, &unequal[i], true);
    }
}

/* ---- DDP-29: nothing to train ---------------------------------------------------------------- */

static void ddp_nothing_to_train(struct check *c)
{
    static const char *const useless[] = {
        DDP_MODEL("{\"kind\":\"relu\"}"),
        DDP_MODEL("{\"kind\":\"counter\"}"),
        DDP_MODEL("{\"kind\":\"affine\",\"weight\":[2],\"frozen\":true},{\"kind\":\"sum\"}"),
    };
    static const double x[] = {1, 10};
    struct impl_model *model =
        check_ddp_model(c, 2,
                        DDP_MODEL("{\"kind\":\"affine\",\"weight\":[2],\"bias\":[1],"
                                  "\"frozen\":[\"bias\"]}"));
    struct ddp_call call = ddp_rows(c, 2, x);

    check_note(c, "one of two parameters is frozen: ");
    ddp_pass(c, model, &call);
    ddp_all_is(c, model, 2, IMPL_GRAD, 0, 5.5);
    check_is_none(c, "gradient of the frozen one", check_get_rank(c, model, 1, IMPL_GRAD, 1));
    check_model_close(c, model);
    for (int i = 0; i < 3; ++i) {
        check_note(c, "model %d: ", i);
        check_refused(c, "a model without a parameter to train",
                      check_try_model(c, useless[i], 2, &model), DDP_REFUSALS);
    }
}

static const struct check_case cases[] = {
    {"DDP-02.unequal", "DDP-02", MUST, OBSERVED, DDP, IMPL_CAP_DDP, 0, ddp_loss_mean},
    {"DDP-02.equal", "DDP-02", MUST, OBSERVED, DDP, IMPL_CAP_DDP, 0, ddp_loss_mean, .variant = 1},
    {"DDP-03.sum", "DDP-03", MUST, OBSERVED, DDP, IMPL_CAP_DDP, 0, ddp_loss_sum},
    {"DDP-04.scaled", "DDP-04", MUST, OBSERVED, DDP, IMPL_CAP_DDP, 0, ddp_loss_scaled},
    {"DDP-27.own", "DDP-27", MUST, OBSERVED, DDP, IMPL_CAP_DDP, 0, ddp_loss_own},
    {"DDP-29.nothing", "DDP-29", MUST_REFUSE, OBSERVED, DDP, IMPL_CAP_DDP, 0, ddp_nothing_to_train},
};
const struct check_table ddp_loss_table = CHECK_TABLE(cases);
