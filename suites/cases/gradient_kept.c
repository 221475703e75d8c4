/* gradient_kept.c: area GRAD: gradients that move with the model, gradients that stay none, and
 * parameters that change between a forward and its backward. */
#include "ddp.h"
#include "golden.h"

/* A model that is moved takes its gradients along: their values, and which of them are none. */
static void grad_moved(struct check *c)
{
    struct impl_model *model = check_model(c, "{\"layers\":[%s,%s]}", GOLDEN_AFFINE, GOLDEN_AFFINE);
    const int places = golden_places(c);
    const double first = 123, second = -45, third = 6;

    check_set(c, model, IMPL_GRAD, 0, &first);
    check_set(c, model, IMPL_GRAD, 1, &second);
    check_set(c, model, IMPL_GRAD, 2, &third);
    check_set(c, model, IMPL_GRAD, 3, NULL);
    for (int turn = 0; turn < 2; ++turn)
        for (int place = places - 1; place >= IMPL_HOST; --place) {
            check_note(c, "step %d, on %d: ", turn, place);
            check_to(c, model, place);
            check_device(c, "gradient 0", check_get(c, model, IMPL_GRAD, 0), place);
            check_grads_are(c, model, first, second);
            check_grad_is(c, model, 2, third);
            check_grad_none(c, model, 3);
        }
}

/* A step does not change a parameter whose gradient is none, whatever its momentum. When it has a
 * gradient again, the momentum continues from its last value. */
static void grad_momentum_none(struct check *c, int k)
{
    const double eight = 8, sixteen = 16, four = 4, two = 2;
    struct impl_model *model = golden_affine(c, k);

    check_note(c, "K=%d, both: ", k);
    check_set(c, model, IMPL_GRAD, 0, &eight);
    check_set(c, model, IMPL_GRAD, 1, &sixteen);
    check_step(c, model, 0.5F, 0.5F);
    check_value_is(c, model, 0, 2 - 4);
    check_value_is(c, model, 1, 1 - 8);
    check_note(c, "K=%d, the weight only: ", k);
    check_zero_grad(c, model);
    check_set(c, model, IMPL_GRAD, 0, &four);
    check_step(c, model, 0.5F, 0.5F);
    check_value_is(c, model, 0, -2 - 4);
    check_value_is(c, model, 1, -7);
    check_note(c, "K=%d, the bias only: ", k);
    check_zero_grad(c, model);
    check_set(c, model, IMPL_GRAD, 1, &two);
    check_step(c, model, 0.5F, 0.5F);
    check_value_is(c, model, 0, -6);
    check_value_is(c, model, 1, -7 - 5);
}

/* ---- GRAD-20: parameters that change between a forward and its backward ---------------------- */

enum { CHANGES = 3, RANKS_CHANGES = 2, SCALE = 2 };
static const char *const change_names[CHANGES] = {"a step", "a new weight", "a new frozen weight"};
static const double step_rate = 1.0 / 64, new_weight = 5;

/* A refusal may have any of these kinds: the layer itself may notice, or the code that keeps its
 * tensors. */
static const unsigned refusals =
    ALLOW(IMPL_EINVAL) | ALLOW(IMPL_ESHAPE) | ALLOW(IMPL_EDEVICE) | ALLOW(IMPL_EFAULT);

/* Makes forward and backward of y = scale (weight x + bias), where scale is frozen. */
static void changed_pass(struct check *c, struct impl_model *model, double weight, double bias,
                         double scale)
{
    const size_t n = 10;

    golden_is_counted(c, "output", check_forward(c, model, golden_rows(c, n)), n,
                      scale * (weight + bias), scale * weight);
    golden_is_counted(c, "input gradient", check_backward(c, model, NULL), n, scale * weight, 0);
    check_grads_are(c, model, scale * 55, scale * 10);
}

static void grad_changed(struct check *c, int k)
{
    const size_t n = 10;

    for (int change = 0; change < CHANGES; ++change) {
        const bool step = change == 0;
        struct impl_model *model = golden_parallel(
            c, k, "",
            GOLDEN_AFFINE ",{\"kind\":\"affine\",\"weight\":[1],\"with_bias\":false,"
                          "\"frozen\":true}");
        struct impl_backward backward = {.grad_in = check_output(c, 1, 64), .n_in = 1};

        check_note(c, "K=%d, %s: ", k, change_names[change]);
        changed_pass(c, model, 2, 1, 1);
        check_forward(c, model, golden_rows(c, n));
        if (step)
            check_step(c, model, (float)step_rate, 0);
        else
            check_set(c, model, IMPL_VALUE, change == 1 ? 0 : SCALE, &new_weight);
        const int status = check_try_backward(c, model, &backward);

        if (status != IMPL_OK) {
            check_refused(c, "backward", status, refusals);
        } else {
            golden_is_counted(c, "input gradient at the forward's weight", &backward.grad_in[0], n,
                              2, 0);
            check_grads_are(c, model, 2 * 55, 2 * 10);
        }
        check_note(c, "K=%d, after %s: ", k, change_names[change]);
        check_zero_grad(c, model);
        changed_pass(c, model,
                     step          ? 2 - 55 * step_rate
                     : change == 1 ? new_weight
                                   : 2,
                     step ? 1 - 10 * step_rate : 1, change == 2 ? new_weight : 1);
        check_model_close(c, model);
    }
}

/* Checks the input gradients, or the refusal, of ranks that have the gradient of a first pass. */
static void changed_ranks(struct check *c, struct impl_model *model, int ranks,
                          struct ddp_call *call)
{
    const int status = ddp_try_backward(c, model, call);

    if (status != IMPL_OK) {
        check_refused(c, "backward", status, refusals);
        return;
    }
    for (int r = 0; r < ranks; ++r)
        check_values(c, check_text(c, "input gradient of rank %d", r), call->grad_in[r][0], 1,
                     (const double[]){2});
    ddp_all_is(c, model, ranks, IMPL_GRAD, 0, 2 * 3);
}

static void grad_changed_ranks(struct check *c, int ranks)
{
    static const double x[DDP_MOST] = {7, -1, 4, 2}; /* the mean is 3, of two and of four */

    for (int change = 0; change < RANKS_CHANGES; ++change) {
        struct impl_model *model = check_ddp_model(c, ranks, DDP_MODEL(DDP_AFFINE));
        struct ddp_call call = ddp_rows(c, ranks, x);

        for (int r = 0; r < ranks; ++r)
            call.in[r][0] = check_needs_grad(check_vector(c, 1, &x[r]));
        check_note(c, "R=%d, %s: ", ranks, change_names[change]);
        ddp_pass(c, model, &call);
        ddp_all_is(c, model, ranks, IMPL_GRAD, 0, 3);
        ddp_forward(c, model, &call);
        if (change == 0)
            check_step(c, model, (float)step_rate, 0);
        for (int r = 0; change != 0 && r < ranks; ++r)
            ddp_set(c, model, r, IMPL_VALUE, 0, &new_weight);
        changed_ranks(c, model, ranks, &call);
        check_model_close(c, model);
    }
}

static const struct check_case cases[] = {
    {"GRAD-06.moved", "GRAD-06", MUST, REPORTED, DP, PARALLEL, 1, grad_moved},
    {"GRAD-17.none", "GRAD-17", MUST, OBSERVED, DP, PARALLEL, 1, .each = grad_momentum_none},
    {"GRAD-20.changed", "GRAD-20", MUST, OBSERVED, DP, PARALLEL, 1, .each = grad_changed},
    {"GRAD-20.ranks", "GRAD-20", MUST, OBSERVED, DDP, IMPL_CAP_DDP, 0, .ranks = grad_changed_ranks},
};
const struct check_table gradient_kept_table = CHECK_TABLE(cases);
