/* golden_cases.c: the golden data over every K with every N, gradients and two steps of training,
 * in memory that held NaN before. */
#include "golden.h"
#include "list.h"

static void begin(struct context *c, struct golden *g, int i)
{
    const struct golden_cell cell = golden_grid(i);
    case_release(c);
    case_note(c, "K=%d N=%zu", cell.k, cell.n);
    golden_open(c, g, cell.k);
}

static void distinct_rows(struct context *c)
{
    for (int i = 0; i < GOLDEN_ROWS; ++i) {
        struct golden g;
        begin(c, &g, i);
        const size_t n = golden_grid(i).n;
        golden_poison(c, &g, n);
        const struct dp_tensor x = golden_rows(c, g.ids[0], n, 1.0);
        const struct dp_tensor upstream = golden_rows(c, g.ids[0], n, 1.0);
        (void)forward(c, g.wrapper, g.run, &x);
        const struct dp_tensor dx = backward(c, g.wrapper, g.run, &upstream);
        golden_expect_grads(c, &g, golden_squares(n), golden_sum(n));
        expect_matrix(c, "input gradient", &dx, g.ids[0], n, 1, sequence(c, n, 2.0, 2.0));
    }
}

/* One step of least squares on t = 3x - 2 with lr = 1/512, as the model of the test knows it. */
struct squares {
    double weight, bias, loss, d_weight, d_bias;
};

static void squares_step(struct squares *s, size_t n, bool zero)
{
    s->loss = 0.0;
    s->d_weight = zero ? 0.0 : s->d_weight;
    s->d_bias = zero ? 0.0 : s->d_bias;
    for (size_t i = 1; i <= n; ++i) {
        const double x = (double)i;
        const double e = s->weight * x + s->bias - (3.0 * x - 2.0);
        s->loss += 0.5 * e * e;
        s->d_weight += e * x;
        s->d_bias += e;
    }
    s->weight -= s->d_weight / 512.0;
    s->bias -= s->d_bias / 512.0;
}

static void train_step(struct context *c, const struct golden *g, struct dp_sgd *sgd,
                       const struct dp_tensor *x, const struct dp_tensor *target,
                       const struct squares *want)
{
    struct dp_error err = {0};
    struct dp_tensor out[DP_MAX_IO], dy = {.slot = NULL};
    int n_out = 0;
    struct dp_module *loss = make_loss(c, g->group, DP_LOSS_MSE, 0.5f, false);
    struct dp_tensor in[2] = {forward(c, g->wrapper, g->run, x), *target};
    in[0].needs_grad = true;
    expect_ok(c, dp_forward(loss, g->run, in, 2, out, &n_out, &err), &err, "loss");
    expect_scalar(c, "loss", &out[0], g->ids[0], want->loss);
    struct dp_tensor grad_in[2];
    expect_ok(c, dp_backward(loss, g->run, NULL, 0, grad_in, 2, &err), &err, "loss backward");
    dy = grad_in[0];
    (void)backward(c, g->wrapper, g->run, &dy);
    golden_expect_grads(c, g, want->d_weight, want->d_bias);
    expect_ok(c, dp_sgd_step(sgd, &err), &err, "dp_sgd_step");
    golden_expect_params(c, g, want->weight, want->bias);
}

/* Two steps; every number of both must be exactly right. */
static void train(struct context *c, int i, bool zero)
{
    struct golden g;
    begin(c, &g, i);
    const size_t n = golden_grid(i).n;
    golden_poison(c, &g, n);
    struct dp_sgd *sgd = open_sgd(c, g.linear, 1.0f / 512.0f, 0.0f, 0.0f);
    const struct dp_tensor x = golden_rows(c, g.ids[0], n, 1.0);
    const struct dp_tensor target = make_matrix(c, g.ids[0], n, 1, sequence(c, n, 1.0, 3.0));
    struct squares want = {.weight = 2.0, .bias = 1.0};
    for (int step = 0; step < 2; ++step) {
        squares_step(&want, n, zero);
        dp_run_reset(g.run);
        if (zero) {
            dp_zero_grad(g.linear);
        }
        train_step(c, &g, sgd, &x, &target, &want);
    }
}

static void two_steps(struct context *c)
{
    for (int i = 0; i < GOLDEN_ROWS; ++i) {
        if (golden_grid(i).n <= 10) {
            train(c, i, true);
        }
    }
}

static void two_steps_not_zeroed(struct context *c)
{
    for (int i = 0; i < GOLDEN_ROWS; ++i) {
        if (golden_grid(i).n <= 10) {
            train(c, i, false);
        }
    }
}

/* The published numbers for N = 10, so that the model above is itself checked. */
static void published_numbers(struct context *c)
{
    struct squares s = {.weight = 2.0, .bias = 1.0};
    squares_step(&s, 10, true);
    expect(c, s.loss == 72.5 && s.d_weight == -220.0 && s.d_bias == -25.0, "first step");
    expect(c, s.weight == 2.4296875 && s.bias == 1.048828125, "after the first step");
    squares_step(&s, 10, true);
    expect(c, s.loss == 3527265.0 / 262144.0, "loss of the second step");
    expect(c, s.d_weight == -51.884765625 && s.d_bias == -0.87890625, "second step");
    expect(c, s.weight == 663493.0 / 262144.0 && s.bias == 137697.0 / 131072.0,
           "after the second step");
    struct squares piled = {.weight = 2.0, .bias = 1.0};
    squares_step(&piled, 10, false);
    squares_step(&piled, 10, false);
    expect(c, (float)piled.weight == 2.960712432861328f && (float)piled.bias == 1.0993728637695312f,
           "not zeroed");
    expect(c, golden_sum(10) == 55.0 && golden_squares(10) == 385.0, "sums");
}

static const struct test_case cases[] = {
    {"golden/distinct-rows", "GRAD-02 GRAD-07", distinct_rows},
    {"golden/two-steps", "REPL-01 GRAD-02 GRAD-05", two_steps},
    {"golden/two-steps-not-zeroed", "GRAD-04 GRAD-05", two_steps_not_zeroed},
    {"golden/published-numbers", "GRAD-02", published_numbers},
};
const struct case_table golden_cases = {cases, sizeof cases / sizeof cases[0]};
