/* values_gradient.c: gradients that are infinite, NaN or denormal arrive unchanged. Code that
 * scales a loss for mixed precision looks for the first two in the gradients, and would lose the
 * last without notice. */
#include "ddp.h"
#include "golden.h"

#include <math.h>

enum { N = 10 };

/* ---- GRAD-18: DataParallel ------------------------------------------------------------------- */

static const double infinite = (double)INFINITY, nan_value = (double)NAN;

/* The model is y = 2x + 1, and a parameter whose gradient is 3 from each replica: x = 1..10,
 * upstream g. */
static void gradients_are(struct check *c, struct impl_model *model, int k, const double g[])
{
    const size_t n = N;
    size_t size[IMPL_MAX_DEVICES];
    double dx[N], dw = 1000, db = 123;

    for (int r = 0; r < N; ++r) {
        dx[r] = 2 * g[r];
        dw += g[r] * (r + 1);
        db += g[r];
    }
    check_zero_grad(c, model);
    golden_prefill(c, model);
    golden_is_counted(c, "output", check_forward(c, model, golden_rows(c, n)), n, 3, 2);
    check_bits(c, "input gradient", check_backward(c, model, check_vector(c, n, g)), n, dx);
    check_bits(c, "gradient of the weight", check_get(c, model, IMPL_GRAD, 0), 1, &dw);
    check_bits(c, "gradient of the bias", check_get(c, model, IMPL_GRAD, 1), 1, &db);
    check_grad_is(c, model, 2, 3 * check_shards(n, k, size));
}

/* Every third row in turn has such a gradient, in the first replica, the last, and between; the
 * next step is an ordinary one. */
static void values_not_finite(struct check *c, int k)
{
    struct impl_model *model =
        golden_parallel(c, k, "", GOLDEN_AFFINE ",{\"kind\":\"grad\",\"values\":[3]}");
    const double kinds[] = {infinite, -infinite, nan_value};

    for (int r = 0; r < N; r += 3) {
        double g[N];

        for (int e = 0; e < N; ++e)
            g[e] = e - 4;
        check_note(c, "K=%d, row %d: ", k, r);
        g[r] = kinds[r / 3 % 3];
        gradients_are(c, model, k, g);
        check_note(c, "K=%d, rows %d and %d: ", k, r, N - 1 - r);
        g[r] = infinite;
        g[N - 1 - r] = -infinite;
        gradients_are(c, model, k, g);
        check_note(c, "K=%d, the step after row %d: ", k, r);
        g[r] = 5;
        g[N - 1 - r] = -2;
        gradients_are(c, model, k, g);
    }
}

/* The gradients are multiples of 2^-140: exact, and far below the normal numbers. */
static void values_small(struct check *c, int k)
{
    const size_t n = N;
    struct impl_model *model = golden_affine(c, k);
    double g[N], dx[N], dw = 0, db = 0;

    for (int r = 0; r < N; ++r) {
        g[r] = ldexp(r - 3, -140);
        dx[r] = 2 * g[r];
        dw += g[r] * (r + 1);
        db += g[r];
    }
    for (int turn = 1; turn <= 2; ++turn) {
        const double sums[] = {turn * dw, turn * db};

        golden_is_counted(c, "output", check_forward(c, model, golden_rows(c, n)), n, 3, 2);
        check_bits(c, "input gradient", check_backward(c, model, check_vector(c, n, g)), n, dx);
        check_bits(c, "gradient of the weight", check_get(c, model, IMPL_GRAD, 0), 1, &sums[0]);
        check_bits(c, "gradient of the bias", check_get(c, model, IMPL_GRAD, 1), 1, &sums[1]);
    }
}

/* ---- DDP-05: ranks --------------------------------------------------------------------------- */

static const char unit[] = DDP_MODEL("{\"kind\":\"affine\",\"weight\":[1],\"bias\":[0]}");

/* Checks the gradient of the weight on all ranks, if their inputs are x. */
static void weight_is(struct check *c, struct impl_model *model, int ranks, const double x[],
                      double want)
{
    struct ddp_call call = ddp_rows(c, ranks, x);

    ddp_fresh_pass(c, model, &call);
    for (int r = 0; r < ranks; ++r) {
        check_bits(c, check_text(c, "output of rank %d", r), call.out[r][0], 1, &x[r]);
        check_bits(c, check_text(c, "rank %d: gradient of the weight", r),
                   check_get_rank(c, model, r, IMPL_GRAD, 0), 1, &want);
    }
    ddp_all_is(c, model, ranks, IMPL_GRAD, 1, 1);
}

static void values_ranks_nan(struct check *c, int ranks)
{
    struct impl_model *model = check_ddp_model(c, ranks, unit);

    for (int turn = 0; turn < ranks; ++turn) {
        double x[DDP_MOST] = {1, 10, -4, 6}, mean = 0;

        check_note(c, "R=%d, rank %d has NaN: ", ranks, turn);
        x[turn] = nan_value;
        weight_is(c, model, ranks, x, nan_value);
        check_note(c, "R=%d, rank %d has infinity, another its opposite: ", ranks, turn);
        x[turn] = infinite;
        x[(turn + 1) % ranks] = -infinite;
        weight_is(c, model, ranks, x, nan_value);
        check_note(c, "R=%d, the step after it: ", ranks);
        x[turn] = 3;
        x[(turn + 1) % ranks] = 5;
        for (int r = 0; r < ranks; ++r)
            mean += x[r] / ranks;
        weight_is(c, model, ranks, x, mean);
    }
}

static void values_ranks_small(struct check *c, int ranks)
{
    struct impl_model *model = check_ddp_model(c, ranks, unit);
    double x[DDP_MOST], mean = 0;

    for (int r = 0; r < ranks; ++r) {
        x[r] = ldexp(3 - 5 * r, -140);
        mean += x[r] / ranks;
    }
    for (int turn = 0; turn < 2; ++turn)
        weight_is(c, model, ranks, x, mean);
}

static const struct check_case ddp_cases[] = {
    {"DDP-05.nan", "DDP-05", MUST, OBSERVED, DDP, IMPL_CAP_DDP, 0, .ranks = values_ranks_nan},
    {"DDP-05.small", "DDP-05", MUST, OBSERVED, DDP, IMPL_CAP_DDP, 0, .ranks = values_ranks_small},
};
const struct check_table values_gradient_ddp_table = CHECK_TABLE(ddp_cases);

static const struct check_case gradient_cases[] = {
    {"GRAD-18.not_finite", "GRAD-18", MUST, OBSERVED, DP, PARALLEL, 1, .each = values_not_finite,
     .limit_ms = 30000},
    {"GRAD-18.small", "GRAD-18", MUST, OBSERVED, DP, PARALLEL, 1, .each = values_small},
};
const struct check_table values_gradient_gradient_table = CHECK_TABLE(gradient_cases);
