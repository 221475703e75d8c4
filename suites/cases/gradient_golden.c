/* gradient_golden.c: the golden data set: y = 2x + 1 of x = 1..N, with three losses, bit for
 * bit. */
#include "golden.h"

#include <string.h>

static const size_t batches[] = {10, 1, 9, 3, 17};
enum { BATCHES = sizeof batches / sizeof batches[0] };

/* The loss is the sum of y: dw is the sum of x, db is N, dx is w. */
/* The gradients of the output are ones, or in variant 1 the numbers of the rows. */
static void grad_known(struct check *c, int k)
{
    const bool ones = check_variant(c) == 0;
    struct impl_model *model = golden_affine(c, k);

    for (int j = 0; j < BATCHES; ++j) {
        const size_t n = batches[j];
        const struct impl_array *dx;

        check_note(c, "K=%d N=%zu: ", k, n);
        check_zero_grad(c, model);
        check_forward(c, model, golden_rows(c, n));
        dx = check_backward(c, model, ones ? NULL : golden_rows(c, n));
        golden_is_counted(c, "input gradient", dx, n, 2, ones ? 0 : 2);
        check_grads_are(c, model, ones ? golden_sum(n) : golden_squares(n),
                        ones ? (double)n : golden_sum(n));
    }
}

/* ---- training: loss = 0.5 * sum((y - t)^2), t = 3x - 2, lr = 1/512 --------------------------- */

struct line {
    double w, b, dw, db; /* the gradients are added up until they are cleared */
};

static void must_be_exact(struct check *c, double value)
{
    if ((double)(float)value != value)
        check_broken(c, "%.17g is not exact in float32", value);
}

/* Makes one forward and backward. line: the parameters before it, to whose gradients it adds. */
static void line_pass(struct check *c, struct impl_model *model, size_t n, struct line *line)
{
    double *y = check_memory(c, n * sizeof *y), *g = check_memory(c, n * sizeof *g);
    double *dx = check_memory(c, n * sizeof *dx);

    for (size_t i = 0; i < n; ++i) {
        const double x = (double)(i + 1);

        y[i] = line->w * x + line->b;
        g[i] = y[i] - (3 * x - 2);
        dx[i] = line->w * g[i];
        line->dw += g[i] * x;
        line->db += g[i];
        must_be_exact(c, y[i]);
        must_be_exact(c, g[i]);
    }
    must_be_exact(c, line->dw);
    must_be_exact(c, line->db);
    golden_is_vector(c, "output", check_forward(c, model, golden_rows(c, n)), n, y);
    /* dx of the second step is rounded once */
    golden_is_vector(c, "input gradient", check_backward(c, model, check_vector(c, n, g)), n, dx);
    check_grads_are(c, model, line->dw, line->db);
}

static void line_step(struct check *c, struct impl_model *model, struct line *line)
{
    check_step(c, model, 1.0f / 512, 0);
    line->w -= line->dw / 512;
    line->b -= line->db / 512;
    must_be_exact(c, line->w);
    must_be_exact(c, line->b);
    check_value_is(c, model, 0, line->w);
    check_value_is(c, model, 1, line->b);
}

static void line_start(struct check *c, struct impl_model *model, struct line *line)
{
    memset(line, 0, sizeof *line);
    line->w = 2;
    line->b = 1;
    check_set(c, model, IMPL_VALUE, 0, &line->w);
    check_set(c, model, IMPL_VALUE, 1, &line->b);
    check_zero_grad(c, model);
}

/* The second step shows replicas that keep the weights before the step, gradients that are not
 * cleared, and a wrong sum. */
static void grad_two_steps(struct check *c, int k)
{
    struct impl_model *model = golden_affine(c, k);

    for (int j = 0; j < BATCHES; ++j) {
        struct line line;

        line_start(c, model, &line);
        for (int step = 0; step < 2; ++step) {
            check_note(c, "K=%d N=%zu step %d: ", k, batches[j], step);
            line.dw = line.db = 0;
            check_zero_grad(c, model);
            line_pass(c, model, batches[j], &line);
            line_step(c, model, &line);
        }
        if (batches[j] == 10) {
            check_value_is(c, model, 0, 663493.0 / 262144);
            check_value_is(c, model, 1, 137697.0 / 131072);
        }
    }
}

/* Makes a forward of x = 1..5 without gradients. */
static void line_infer(struct check *c, struct impl_model *model, const struct line *line)
{
    const size_t five = 5;

    golden_is_counted(c, "output without gradients", check_infer(c, model, golden_rows(c, five)),
                      five, line->w + line->b, line->w);
}

static void grad_two_steps_inference(struct check *c, int k)
{
    for (unsigned when = 1; when <= 4; when *= 2) {
        /* Makes the same steps with forwards without gradients in between, of another batch. They
         * must neither keep weights that the next step needs fresh, nor leave sizes that the next
         * backward uses. Bits of `when`: before the forward, before the step, after it. */
        struct impl_model *model = golden_affine(c, k);
        struct line line;

        line_start(c, model, &line);
        for (int step = 0; step < 2; ++step) {
            check_note(c, "K=%d step %d, with a forward without gradients %s it: ", k, step,
                       when & 1   ? "before"
                       : when & 2 ? "in"
                                  : "after");
            line.dw = line.db = 0;
            check_zero_grad(c, model);
            if (when & 1)
                line_infer(c, model, &line);
            line_pass(c, model, 10, &line);
            if (when & 2)
                line_infer(c, model, &line);
            line_step(c, model, &line);
            if (when & 4)
                line_infer(c, model, &line);
        }
        check_model_close(c, model);
    }
}

/* Only the caller clears gradients: those that were not cleared are still there. */
static void grad_not_zeroed(struct check *c, int k)
{
    struct impl_model *model = golden_affine(c, k);
    struct line line;

    line_start(c, model, &line);
    for (int step = 0; step < 2; ++step) {
        check_note(c, "K=%d step %d, not zeroed: ", k, step);
        line_pass(c, model, 10, &line);
        line_step(c, model, &line);
    }
    check_value_is(c, model, 0, 2.960712432861328);
    check_value_is(c, model, 1, 1.0993728637695312);
    check_note(c, "K=%d, zeroed again: ", k);
    check_zero_grad(c, model);
    check_grad_none(c, model, 0);
    check_grad_none(c, model, 1);
    line_start(c, model, &line);
    line_pass(c, model, 10, &line);
}

/* ---- the base's weights ---------------------------------------------------------------------- */

/* w falls by lr * 55, and the next forward uses the new value on every shard. */
static void grad_reaches_base(struct check *c, int k)
{
    const size_t n = 10;
    struct impl_model *model = golden_affine(c, k);
    const double w = 2 - 55.0 / 64, b = 1 - 10.0 / 64;

    check_forward(c, model, golden_rows(c, n));
    check_backward(c, model, NULL);
    check_grads_are(c, model, 55, 10);
    check_step(c, model, 1.0f / 64, 0);
    check_value_is(c, model, 0, w);
    check_value_is(c, model, 1, b);
    golden_is_counted(c, "output after the step", check_forward(c, model, golden_rows(c, n)), n,
                      w + b, w);
}

static void momentum_steps(struct check *c, int k, const size_t rows[], int steps)
{
    struct impl_model *model = golden_affine(c, k);
    double w = 2, b = 1, vw = 0, vb = 0;

    for (int step = 0; step < steps; ++step) {
        const size_t n = rows[step];

        check_note(c, "K=%d step %d N=%zu: ", k, step, n);
        check_zero_grad(c, model);
        golden_is_counted(c, "output", check_forward(c, model, golden_rows(c, n)), n, w + b, w);
        check_backward(c, model, NULL);
        check_grads_are(c, model, golden_sum(n), (double)n);
        check_step(c, model, 1.0f / 64, 0.5f);
        vw = vw / 2 + golden_sum(n);
        vb = vb / 2 + (double)n;
        w -= vw / 64;
        b -= vb / 64;
        check_value_is(c, model, 0, w);
        check_value_is(c, model, 1, b);
    }
    check_model_close(c, model);
}

/* There is one momentum, that of the base: steps of lr * 55, lr * 82.5, lr * 96.25. */
static void grad_momentum(struct check *c, int k)
{
    static const size_t rows[] = {10, 10, 10};

    momentum_steps(c, k, rows, 3);
}

/* The second step runs on fewer replicas than the first and the third. */
static void grad_momentum_ragged(struct check *c, int k)
{
    static const size_t rows[] = {10, 1, 9, 2};

    momentum_steps(c, k, rows, 4);
}

static const struct check_case cases[] = {
    {"GRAD-01.ones", "GRAD-01", MUST, OBSERVED, DP, PARALLEL, 1, .each = grad_known},
    {"GRAD-02.rows", "GRAD-02", MUST, OBSERVED, DP, PARALLEL, 1, .each = grad_known, .variant = 1},
    {"GRAD-02.two_steps", "GRAD-02", MUST, OBSERVED, DP, PARALLEL, 1, .each = grad_two_steps},
    {"GRAD-02.inference", "GRAD-02", MUST, OBSERVED, DP, PARALLEL, 1,
     .each = grad_two_steps_inference},
    {"GRAD-05.not_zeroed", "GRAD-05", MUST, OBSERVED, DP, PARALLEL, 1, .each = grad_not_zeroed},
    {"GRAD-16.base", "GRAD-16", MUST, OBSERVED, DP, PARALLEL, 1, .each = grad_reaches_base},
    {"GRAD-17.momentum", "GRAD-17", MUST, OBSERVED, DP, PARALLEL, 1, .each = grad_momentum},
    {"GRAD-17.ragged", "GRAD-17", MUST, OBSERVED, DP, PARALLEL, 1, .each = grad_momentum_ragged},
};
const struct check_table gradient_golden_table = CHECK_TABLE(cases);
