/* gradient_unused.c: a parameter that no replica uses. */
#include "golden.h"

/* Parameter 0 is the unused one. */
static const char layers[] = "{\"kind\":\"unused\",\"size\":3,\"weight\":[5,6,7]}," GOLDEN_AFFINE;
static const size_t three = 3;
static const double weights[] = {5, 6, 7};

static void pass(struct check *c, struct impl_model *model, size_t n)
{
    golden_is_counted(c, "output", check_forward(c, model, golden_rows(c, n)), n, 3, 2);
    check_backward(c, model, golden_rows(c, n));
}

static void prefilled_stays(struct check *c, struct impl_model *model)
{
    static const double before[] = {123, -45, 6};

    check_zero_grad(c, model);
    check_set(c, model, IMPL_GRAD, 0, before);
    pass(c, model, 10);
    golden_is_vector(c, "gradient that was there before", check_get(c, model, IMPL_GRAD, 0), three,
                     before);
    check_grad_is(c, model, 1, 385);
    check_grad_is(c, model, 2, 55);
}

/* With one device there is no gradient, so a step does not change the parameter. */
static void grad_unused_one(struct check *c)
{
    struct impl_model *model = golden_parallel(c, 1, "", layers);

    pass(c, model, 10);
    check_grad_none(c, model, 0);
    check_grad_is(c, model, 1, 385);
    check_step(c, model, 0.5f, 0);
    golden_is_vector(c, "unused parameter after a step", check_get(c, model, IMPL_VALUE, 0), three,
                     weights);
    check_set(c, model, IMPL_VALUE, 1, (double[]){2});
    check_set(c, model, IMPL_VALUE, 2, (double[]){1});
    prefilled_stays(c, model);
}

/* With two or more devices: the gradient is zeros, or absent, as declared, and nothing is added to
 * one that is there. */
static void grad_unused(struct check *c, int k)
{
    static const double zeros[3];
    static const size_t batches[] = {10, 3, 1};
    const bool absent = check_choice(c, IMPL_UNUSED) == IMPL_ABSENT;
    struct impl_model *model = golden_parallel(c, k, "", layers);

    for (int j = 0; j < 3; ++j) {
        check_note(c, "K=%d N=%zu: ", k, batches[j]);
        check_zero_grad(c, model);
        if (!absent)
            check_grad_none(c, model, 0);
        pass(c, model, batches[j]);
        if (absent)
            check_grad_none(c, model, 0);
        else
            golden_is_vector(c, "gradient of the unused parameter",
                             check_get(c, model, IMPL_GRAD, 0), three, zeros);
    }
    prefilled_stays(c, model);
}

/* Zeros are a gradient, so the momentum of an earlier step still has an effect. */
static void grad_unused_momentum(struct check *c, int k)
{
    static const double before[] = {64, -32, 16}, first[] = {4, 6.5, 6.75},
                        second[] = {3.5, 6.75, 6.625};
    struct impl_model *model = golden_parallel(c, k, "", layers);

    check_set(c, model, IMPL_GRAD, 0, before);
    check_step(c, model, 1.0f / 64, 0.5f);
    golden_is_vector(c, "parameter after step 0", check_get(c, model, IMPL_VALUE, 0), three, first);
    check_zero_grad(c, model);
    pass(c, model, 10);
    check_step(c, model, 1.0f / 64, 0.5f);
    golden_is_vector(c, "parameter after step 1", check_get(c, model, IMPL_VALUE, 0), three,
                     second);
}

static const struct check_case cases[] = {
    {"GRAD-11.one_device", "GRAD-11", MUST, OBSERVED, DP, PARALLEL, 1, grad_unused_one},
    {"GRAD-11.zero", "GRAD-11", MUST, OBSERVED, DP, PARALLEL, 2, .each = grad_unused,
     .dialect = IMPL_UNUSED, .choice = IMPL_ZERO},
    {"GRAD-11.zero_momentum", "GRAD-11", MUST, OBSERVED, DP, PARALLEL, 2,
     .each = grad_unused_momentum, .dialect = IMPL_UNUSED, .choice = IMPL_ZERO},
    {"GRAD-11.absent", "GRAD-11", MUST, OBSERVED, DP, PARALLEL, 2, .each = grad_unused,
     .dialect = IMPL_UNUSED, .choice = IMPL_ABSENT},
};
const struct check_table gradient_unused_table = CHECK_TABLE(cases);
