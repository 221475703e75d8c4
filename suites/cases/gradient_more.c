/* gradient_more.c: area GRAD: many and large parameters, those outside the wrapper, momentum, and
 * inputs that lie on different devices. */
#include "golden.h"

/* ---- GRAD-03 --------------------------------------------------------------------------------- */

enum { IN = 200, OUT = 150, N = 5, WEIGHTS = IN * OUT };

/* y = W x for N rows, and dW for the output gradient g; all numbers are small integers, and all
 * sums are exact. */
struct product {
    const double *x, *g, *w;
    double *y, *dw;
};

/* A weight has 120000 bytes: all of it must reach the replicas, and all of its gradient must come
 * back. */
static void grad_large(struct check *c, int k)
{
    const size_t in[] = {N, IN}, out[] = {N, OUT};
    struct product p;
    p.x = check_integers(c, (size_t)N * IN, check_seed(c) + 1);
    p.g = check_integers(c, (size_t)N * OUT, check_seed(c) + 2);
    p.w = check_integers(c, WEIGHTS, check_seed(c) + 3);
    p.y = check_memory(c, (size_t)N * OUT * sizeof *p.y);
    p.dw = check_memory(c, WEIGHTS * sizeof *p.dw);
    for (int row = 0; row < N; ++row)
        for (int o = 0; o < OUT; ++o)
            for (int i = 0; i < IN; ++i) {
                p.y[row * OUT + o] += p.w[o * IN + i] * p.x[row * IN + i];
                p.dw[o * IN + i] += p.g[row * OUT + o] * p.x[row * IN + i];
            }
    struct impl_model *model =
        golden_parallel(c, k, "", "{\"kind\":\"linear\",\"in\":200,\"out\":150}");
    struct impl_forward op = {.n_in = 1, .grad = true, .train = true};

    check_set(c, model, IMPL_VALUE, 0, p.w);
    op.in = check_needs_grad(check_array(c, 2, in, p.x));
    op.out = check_output(c, IMPL_MAX_IO, (size_t)N * OUT * sizeof(float) + 64);
    check_forward_op(c, model, &op);
    check_values(c, "output", op.out, (size_t)N * OUT, p.y);
    check_backward(c, model, check_array(c, 2, out, p.g));
    check_values(c, "gradient", check_get(c, model, IMPL_GRAD, 0), WEIGHTS, p.dw);
}

/* The model has forty layers: 2x + 1, and 39 times 1 * x + 0. */
static void grad_many(struct check *c, int k)
{
    enum { LAYERS = 40 };
    const char *layers = GOLDEN_AFFINE;
    for (int layer = 1; layer < LAYERS; ++layer)
        layers = check_text(c, "%s,{\"kind\":\"affine\",\"weight\":[1]}", layers);

    struct impl_model *model = golden_parallel(c, k, "", layers);

    check_forward(c, model, golden_rows(c, 10));
    check_backward(c, model, golden_rows(c, 10));
    check_grads_are(c, model, 385, 55);
    for (int layer = 1; layer < LAYERS; ++layer) {
        check_grad_is(c, model, 2 * layer, 2 * 385 + 55);
        check_grad_is(c, model, 2 * layer + 1, 55);
    }
}

/* ---- GRAD-05 --------------------------------------------------------------------------------- */

/* Parameters are before the wrapper, in it and after it, and the last one is frozen: all gradients
 * are cleared, and a frozen parameter does not change. */
static void grad_cleared_outside(struct check *c, int k)
{
    const double before = 5;
    struct impl_model *model =
        check_model(c,
                    "{\"layers\":[%s,{\"kind\":\"parallel\",\"device_ids\":%s,\"output_device\":0,"
                    "\"layers\":[%s]},{\"kind\":\"affine\",\"weight\":[3],\"frozen\":true}]}",
                    GOLDEN_AFFINE, check_list(c, golden_ids(c, k), k), GOLDEN_AFFINE);

    check_set(c, model, IMPL_GRAD, 4, &before);
    check_forward(c, model, check_on(golden_rows(c, 10), 0));
    check_backward(c, model, NULL);
    check_grad_is(c, model, 4, before);
    check_step(c, model, 1.0F / 4, 0);
    check_value_is(c, model, 4, 3);
    check_zero_grad(c, model);
    for (int p = 0; p < 6; ++p)
        check_grad_none(c, model, p);
}

/* ---- GRAD-07 --------------------------------------------------------------------------------- */

/* Two inputs are on different devices: each gradient goes to the device of its input. */
static void grad_inputs_apart(struct check *c, int k)
{
    for (int first = IMPL_HOST; first < 2; ++first) {
        const int second = first == 1 ? 0 : 1;
        struct impl_model *model = golden_parallel(c, k, "", "{\"kind\":\"multiply\"}");
        struct golden_call call = {
            .in = {check_on(golden_rows(c, 10), first), check_on(golden_rows(c, 10), second)},
            .n_in = 2};
        const struct impl_array *g[] = {golden_rows(c, 10)};
        const struct impl_array *dx;

        check_note(c, "K=%d, inputs on %d and %d: ", k, first, second);
        golden_forward(c, model, &call);
        dx = golden_backward(c, model, &call, g);
        check_device(c, "gradient of the first input", &dx[0], first);
        check_device(c, "gradient of the second input", &dx[1], second);
        check_model_close(c, model);
    }
}

/* ---- GRAD-17 --------------------------------------------------------------------------------- */

enum between { NOTHING, MOVES, INFERS, CHOICES };
static const char *const between_text[CHOICES] = {"nothing", "the model moves",
                                                  "a forward without gradients"};

static void three_steps(struct check *c, int k, enum between between)
{
    const int *ids = golden_ids(c, k);
    struct impl_model *model = golden_affine(c, k);
    double weight = 2, velocity = 0;

    for (int step = 1; step <= 3; ++step) {
        check_note(c, "K=%d, between the steps %s, step %d: ", k, between_text[between], step);
        check_forward(c, model, golden_rows(c, 10));
        check_backward(c, model, NULL);
        check_step(c, model, 1.0F / 512, 0.5F);
        velocity = 0.5 * velocity + 55;
        weight -= velocity / 512;
        check_value_is(c, model, 0, weight);
        check_zero_grad(c, model);
        if (between == MOVES) {
            check_to(c, model, ids[1]);
            check_to(c, model, ids[0]);
        }
        if (between == INFERS)
            check_infer(c, model, golden_rows(c, 7));
    }
    check_model_close(c, model);
}

/* No call between the steps changes the momentum. */
static void grad_momentum_between(struct check *c, int k)
{
    for (int between = 0; between < CHOICES; ++between)
        three_steps(c, k, (enum between)between);
}

/* Two models of one shape are trained in turn: each has its own momentum. */
static void grad_momentum_two(struct check *c, int k)
{
    struct impl_model *model[] = {golden_affine(c, k), golden_affine(c, k)};
    double weight[] = {2, 2}, velocity[] = {0, 0};

    for (int step = 0; step < 6; ++step) {
        const int m = step % 2;
        const double g = m == 0 ? 1 : -3;

        check_note(c, "K=%d, model %d, step %d: ", k, m, step / 2);
        check_zero_grad(c, model[m]);
        check_forward(c, model[m], golden_rows(c, 10));
        check_backward(c, model[m], golden_vector(c, 10, g, 0));
        check_step(c, model[m], 1.0F / 512, 0.5F);
        velocity[m] = 0.5 * velocity[m] + 55 * g;
        weight[m] -= velocity[m] / 512;
        for (int i = 0; i < 2; ++i)
            check_value_is(c, model[i], 0, weight[i]);
    }
}

static const struct check_case cases[] = {
    {"GRAD-03.large", "GRAD-03", MUST, OBSERVED, DP, PARALLEL, 1, .each = grad_large},
    {"GRAD-03.many", "GRAD-03", MUST, OBSERVED, DP, PARALLEL, 1, .each = grad_many},
    {"GRAD-05.outside", "GRAD-05", MUST, OBSERVED, DP, PARALLEL, 2, .each = grad_cleared_outside},
    {"GRAD-07.apart", "GRAD-07", MUST, REPORTED, DP, PARALLEL, 2, .each = grad_inputs_apart},
    {"GRAD-17.between", "GRAD-17", MUST, OBSERVED, DP, PARALLEL, 2, .each = grad_momentum_between},
    {"GRAD-17.two_models", "GRAD-17", MUST, OBSERVED, DP, PARALLEL, 1, .each = grad_momentum_two},
};
const struct check_table gradient_more_table = CHECK_TABLE(cases);
