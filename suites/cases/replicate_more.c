/* replicate_more.c: area REPL: wrappers that run twice, weights that are used inside and outside of
 * one, and biases. */
#include "golden.h"

/* ---- REPL-02 --------------------------------------------------------------------------------- */

/* A weight of the second of two wrappers is written between two forwards. */
static void replicate_second_wrapper(struct check *c, int k)
{
    const size_t n = 10;
    const double five = 5;
    const char *ids = check_list(c, golden_ids(c, k), k);
    struct impl_model *model =
        check_model(c,
                    "{\"layers\":[{\"kind\":\"parallel\",\"device_ids\":%s,\"layers\":[%s]},"
                    "{\"kind\":\"parallel\",\"device_ids\":%s,\"layers\":[%s]}]}",
                    ids, GOLDEN_AFFINE, ids, GOLDEN_AFFINE);

    golden_is_counted(c, "output", check_forward(c, model, golden_rows(c, n)), n, 7, 4);
    check_set(c, model, IMPL_VALUE, 2, &five);
    golden_is_counted(c, "output with the new weight", check_forward(c, model, golden_rows(c, n)),
                      n, 16, 10);
}

/* ---- REPL-09: one weight, two uses ----------------------------------------------------------- */

/* Computes 2 * (2x + 1) + 1 on x = 1..10 with one weight and one bias: 4x + 3. */
static void used_twice(struct check *c, const char *what, int k, const char *layers)
{
    const size_t n = 10;
    struct impl_model *model =
        check_model(c, "{\"device\":%d,\"layers\":[%s]}", golden_ids(c, k)[0], layers);

    check_note(c, "K=%d, %s: ", k, what);
    check_int(c, "number of parameters", check_params(c, model), 2);
    golden_is_counted(c, "output",
                      check_forward(c, model, check_on(golden_rows(c, n), golden_ids(c, k)[0])), n,
                      7, 4);
    golden_is_counted(c, "input gradient", check_backward(c, model, golden_rows(c, n)), n, 4, 4);
    check_grads_are(c, model, 2 * 385 + 2 * 385 + 55, 3 * 55);
    check_model_close(c, model);
}

/* The wrapper itself runs twice in a forward. */
static void replicate_wrapper_twice(struct check *c, int k)
{
    used_twice(
        c, "the wrapper twice", k,
        check_text(c,
                   "{\"kind\":\"parallel\",\"name\":\"p\",\"device_ids\":%s,\"layers\":[%s]},"
                   "{\"kind\":\"again\",\"of\":\"p\"}",
                   check_list(c, golden_ids(c, k), k), GOLDEN_AFFINE));
}

/* The layer is used inside the wrapper and outside, after it or before it. */
static void replicate_used_outside(struct check *c, int k)
{
    static const char named[] = "{\"kind\":\"affine\",\"name\":\"a\",\"weight\":[2],\"bias\":[1]}";
    static const char again[] = "{\"kind\":\"again\",\"of\":\"a\"}";
    const char *ids = check_list(c, golden_ids(c, k), k);

    used_twice(c, "again behind the wrapper", k,
               check_text(c, "{\"kind\":\"parallel\",\"device_ids\":%s,\"layers\":[%s]},%s", ids,
                          named, again));
    used_twice(c, "again inside the wrapper", k,
               check_text(c, "%s,{\"kind\":\"parallel\",\"device_ids\":%s,\"layers\":[%s]}", named,
                          ids, again));
}

/* ---- REPL-13 --------------------------------------------------------------------------------- */

/* A frozen bias does not change the gradient of its layer's weight. If nothing is trained, the
 * input gets its gradient nevertheless. */
static void replicate_frozen_bias(struct check *c, int k)
{
    const size_t n = 10;

    for (int all = 0; all < 2; ++all) {
        struct impl_model *model = golden_parallel(
            c, k, "",
            check_text(c, "{\"kind\":\"affine\",\"weight\":[2],\"bias\":[1],\"frozen\":%s}",
                       all ? "true" : "[\"bias\"]"));

        check_note(c, "K=%d, %s: ", k, all ? "all is frozen" : "the bias is frozen");
        check_forward(c, model, golden_rows(c, n));
        golden_is_counted(c, "input gradient", check_backward(c, model, golden_rows(c, n)), n, 2,
                          2);
        if (all)
            check_grad_none(c, model, 0);
        else
            check_grad_is(c, model, 0, 385);
        check_grad_none(c, model, 1);
        check_model_close(c, model);
    }
}

static const struct check_case cases[] = {
    {"REPL-02.second_wrapper", "REPL-02", MUST, OBSERVED, DP, PARALLEL, 1,
     .each = replicate_second_wrapper},
    {"REPL-09.wrapper_twice", "REPL-09", MUST, OBSERVED, DP, PARALLEL, 1,
     .each = replicate_wrapper_twice},
    {"REPL-09.outside", "REPL-09", MUST, OBSERVED, DP, PARALLEL, 1, .each = replicate_used_outside},
    {"REPL-13.bias", "REPL-13", MUST, OBSERVED, DP, PARALLEL, 1, .each = replicate_frozen_bias},
};
const struct check_table replicate_more_table = CHECK_TABLE(cases);
