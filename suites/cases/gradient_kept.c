/* gradient_kept.c: area GRAD: gradients that go where the model goes, and none that stays none. */
#include "golden.h"
#include "gradient.h"

/* A model that is moved takes its gradients along: values, and which of them is none. */
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
            check_note(c, "turn %d, on %d: ", turn, place);
            check_to(c, model, place);
            check_device(c, "gradient 0", check_get(c, model, IMPL_GRAD, 0), place);
            check_grad_is(c, model, 0, first);
            check_grad_is(c, model, 1, second);
            check_grad_is(c, model, 2, third);
            check_grad_none(c, model, 3);
        }
}

/* A parameter whose gradient is none is left alone, whatever its momentum; when it has one again
 * the momentum goes on from where it was. */
static void grad_momentum_none(struct check *c)
{
    const double eight = 8, sixteen = 16, four = 4, two = 2;

    for (int i = 0, k; (k = check_count(c, i)) != 0; ++i) {
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
        check_model_close(c, model);
    }
}

/* ---- the table ------------------------------------------------------------------------------- */

enum { DP = PROFILE_DATAPARALLEL, PARALLEL = IMPL_CAP_PARALLEL };

/* id, rule, obligation, evidence, profiles, needs, devices, run, limit, dialect, choice */
static const struct check_case cases[] = {
    {"GRAD-06.moved", "GRAD-06", MUST, REPORTED, DP, PARALLEL, 1, grad_moved, 0, 0, 0},
    {"GRAD-17.none", "GRAD-17", MUST, OBSERVED, DP, PARALLEL, 1, grad_momentum_none, 0, 0, 0},
};
const struct check_table gradient_kept_table = CHECK_TABLE(cases);
