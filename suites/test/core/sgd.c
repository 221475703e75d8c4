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

/* The gradients are constant, 55 and 10; all numbers are dyadic and short. */
static void steps(struct context *c)
{
    static const struct {
        float lr, momentum, decay;
    } table[] = {
        {0.5f, 0.0f, 0.0f}, {0.125f, 0.5f, 0.0f}, {0.25f, 0.0f, 0.5f}, {0.25f, 0.5f, 0.25f}};
    for (size_t i = 0; i < sizeof table / sizeof table[0]; ++i) {
        for (int k = 1; k <= 4; ++k) {
            case_release(c);
            case_note(c, "row %zu K=%d", i, k);
            struct golden g;
            golden_open(c, &g, k);
            struct dp_sgd *sgd =
                open_sgd(c, g.wrapper, table[i].lr, table[i].momentum, table[i].decay);
            const struct dp_tensor x = golden_rows(c, g.ids[0], 10, 1.0);
            struct scalar weight = {.value = 2.0}, bias = {.value = 1.0};
            for (int step = 0; step < 3; ++step) {
                dp_run_reset(g.run);
                dp_zero_grad(g.linear);
                (void)forward(c, g.wrapper, g.run, &x);
                (void)backward(c, g.wrapper, g.run, NULL);
                expect_ok(c, dp_sgd_step(sgd, &c->err), "dp_sgd_step");
                scalar_step(&weight, 55.0, (double)table[i].lr, (double)table[i].momentum,
                            (double)table[i].decay);
                scalar_step(&bias, 10.0, (double)table[i].lr, (double)table[i].momentum,
                            (double)table[i].decay);
                golden_expect_params(c, &g, weight.value, bias.value);
                golden_expect_grads(c, &g, 55.0, 10.0);
            }
        }
    }
}

/* The first lr is 55, then 82.5 with momentum 0.5. */
static void published_numbers(struct context *c)
{
    struct scalar s = {.value = 0.0};
    scalar_step(&s, 55.0, 1.0, 0.5, 0.0);
    expect(c, s.value == -55.0, "first step to %g", s.value);
    scalar_step(&s, 55.0, 1.0, 0.5, 0.0);
    expect(c, s.value == -55.0 - 82.5, "second step to %g", s.value);
}

/* Each step has another learning rate: the velocity is kept, and a rate that was set before the
 * first step counts. */
static void rates(struct context *c)
{
    static const double rate[] = {0.25, 0.25, 0.125, 0.5, 0.125, 0.125, 1.0, 0.0};
    for (int k = 1; k <= 4; ++k) {
        case_release(c);
        struct golden g;
        golden_open(c, &g, k);
        struct dp_sgd *sgd = open_sgd(c, g.wrapper, 77.0f, 0.5f, 0.0f);
        const struct dp_tensor x = golden_rows(c, g.ids[0], 10, 1.0);
        struct scalar weight = {.value = 2.0}, bias = {.value = 1.0};
        for (int step = 0; step < 8; ++step) {
            case_note(c, "K=%d step %d", k, step);
            dp_run_reset(g.run);
            dp_zero_grad(g.linear);
            (void)forward(c, g.wrapper, g.run, &x);
            (void)backward(c, g.wrapper, g.run, NULL);
            dp_sgd_set_rate(sgd, (float)rate[step]);
            expect_ok(c, dp_sgd_step(sgd, &c->err), "dp_sgd_step");
            scalar_step(&weight, 55.0, rate[step], 0.5, 0.0);
            scalar_step(&bias, 10.0, rate[step], 0.5, 0.0);
            golden_expect_params(c, &g, weight.value, bias.value);
        }
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
    {"sgd/published-numbers", "GRAD-17", published_numbers},
    {"sgd/without-gradient", "GRAD-11 GRAD-17 REPL-13", without_gradient},
};
const struct case_table sgd_cases = {cases, sizeof cases / sizeof cases[0]};
