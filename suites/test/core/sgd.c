/* sgd.c: rates, momentum and weight decay, also of parameters without a gradient. */
#include "golden.h"
#include "list.h"

/* One number and its velocity, as torch.optim.SGD has it. */
struct scalar {
    double value, velocity;
    bool started;
};

static void scalar_step(struct scalar *s, double grad, double lr, double momentum, double decay)
{
    const double g = grad + decay * s->value;
    s->velocity = s->started ? momentum * s->velocity + g : g;
    s->started = true;
    s->value -= lr * s->velocity;
}

/* Trains with K devices, in each step with the next rate. The gradients are constant, 55 and 10;
 * all numbers are dyadic and short. */
static void sgd_train(struct context *c, int k, const double rate[], int steps, float momentum,
                      float decay, bool set)
{
    struct golden g;
    golden_open(c, &g, k);
    struct dp_sgd *sgd = open_sgd(c, g.wrapper, set ? 77.0f : (float)rate[0], momentum, decay);
    const struct dp_tensor x = golden_rows(c, g.ids[0], 10, 1.0);
    struct scalar weight = {.value = 2.0}, bias = {.value = 1.0};
    for (int step = 0; step < steps; ++step) {
        dp_run_reset(g.run);
        dp_zero_grad(g.linear);
        (void)forward(c, g.wrapper, g.run, &x);
        (void)backward(c, g.wrapper, g.run, NULL);
        if (set)
            dp_sgd_set_rate(sgd, (float)rate[step]);
        expect_ok(c, dp_sgd_step(sgd, &c->err), "dp_sgd_step");
        scalar_step(&weight, 55.0, rate[step], (double)momentum, (double)decay);
        scalar_step(&bias, 10.0, rate[step], (double)momentum, (double)decay);
        golden_expect_params(c, &g, weight.value, bias.value);
        golden_expect_grads(c, &g, 55.0, 10.0);
    }
}

static void steps(struct context *c)
{
    static const struct {
        double lr[3];
        float momentum, decay;
    } table[] = {{{0.5, 0.5, 0.5}, 0.0f, 0.0f},
                 {{0.125, 0.125, 0.125}, 0.5f, 0.0f},
                 {{0.25, 0.25, 0.25}, 0.0f, 0.5f},
                 {{0.25, 0.25, 0.25}, 0.5f, 0.25f}};
    for (size_t i = 0; i < sizeof table / sizeof table[0]; ++i) {
        for (int k = 1; k <= 4; ++k) {
            case_release(c);
            case_note(c, "row %zu K=%d", i, k);
            sgd_train(c, k, table[i].lr, 3, table[i].momentum, table[i].decay, false);
        }
    }
}

/* Each step has another learning rate: the velocity is kept, and a rate that was set before the
 * first step counts. */
static void rates(struct context *c)
{
    static const double rate[] = {0.25, 0.25, 0.125, 0.5, 0.125, 0.125, 1.0, 0.0};
    for (int k = 1; k <= 4; ++k) {
        case_release(c);
        case_note(c, "K=%d", k);
        sgd_train(c, k, rate, 8, 0.5f, 0.0f, true);
    }
}

/* Without a gradient there is no decay and no momentum; momentum starts with the first gradient. */
static void without_gradient(struct context *c)
{
    struct golden g;
    golden_open(c, &g, 2);
    struct dp_sgd *sgd = open_sgd(c, g.linear, 0.5f, 0.5f, 0.5f);
    for (int i = 0; i < 3; ++i) {
        expect_ok(c, dp_sgd_step(sgd, &c->err), "dp_sgd_step");
        golden_expect_params(c, &g, 2.0, 1.0);
    }
    g.bias->frozen = true;
    const struct dp_tensor x = golden_rows(c, g.ids[0], 10, 1.0);
    (void)forward(c, g.wrapper, g.run, &x);
    (void)backward(c, g.wrapper, g.run, NULL);
    expect_ok(c, dp_sgd_step(sgd, &c->err), "dp_sgd_step");
    golden_expect_params(c, &g, 2.0 - 0.5 * (55.0 + 0.5 * 2.0), 1.0);
}

static const struct test_case cases[] = {
    {"sgd/steps", "GRAD-17 GRAD-16", steps},
    {"sgd/rates", "GRAD-17", rates},
    {"sgd/without-gradient", "GRAD-11 GRAD-17 REPL-13", without_gradient},
};
const struct case_table sgd_cases = {cases, sizeof cases / sizeof cases[0]};
