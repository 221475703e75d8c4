/* replicate_fresh.c: area REPL: every forward makes new replicas from the base as it is at that
 * time. */
#include "primitive.h"

#define AFFINE "{\"kind\":\"affine\",\"weight\":[2],\"bias\":[1]}"

/* Returns w*x + b for x = first, first + 1, .. */
static const double *line(struct check *c, size_t n, double first, double w, double b)
{
    return check_sequence(c, n, w * first + b, w);
}

static const struct impl_array *ascending(struct check *c, size_t n, double first)
{
    return check_counted(c, n, first, 1);
}

/* ---- REPL-01 --------------------------------------------------------------------------------- */

/* Two steps of SGD on 0.5 * sum((y - t)^2), t = 3x - 2, are exact in float32 in any order. Stale
 * replicas would give the outputs before the step. */
static void replicate_two_steps(struct check *c, int k)
{
    static const double w[] = {2, 2.4296875, 2.531024932861328};
    static const double b[] = {1, 1.048828125, 1.0505447387695312};
    static const double dw[] = {-220, -51.884765625}, db[] = {-25, -0.87890625};
    const struct impl_array *x = ascending(c, 10, 1);
    struct impl_model *model = check_parallel(c, k, primitive_order(c, k), "", AFFINE);

    for (int step = 0; step < 3; ++step) {
        const struct impl_array *y = check_forward(c, model, x);
        double g[10];

        check_note(c, "K=%d step %d: ", k, step);
        check_values(c, "output", y, 10, line(c, 10, 1, w[step], b[step]));
        for (int r = 0; r < 10; ++r)
            g[r] = w[step] * (r + 1) + b[step] - (3 * (r + 1) - 2);
        if (step == 2)
            continue;
        check_zero_grad(c, model);
        check_backward(c, model, primitive_upstream(c, y, g));
        check_grads_are(c, model, dw[step], db[step]);
        check_step(c, model, 1.0F / 512, 0);
        check_value_is(c, model, 0, w[step + 1]);
        check_value_is(c, model, 1, b[step + 1]);
    }
}

static const struct impl_array *forward_in(struct check *c, struct impl_model *model,
                                           const struct impl_array *x, bool grad, bool train)
{
    struct impl_forward op = {.in = x, .n_in = 1, .grad = grad, .train = train};

    op.out = check_output(c, IMPL_MAX_IO, 512);
    check_forward_op(c, model, &op);
    check_int(c, "number of outputs", op.n_out, 1);
    return op.out;
}

/* The weights change between any two of the four combinations of grad and train mode. */
static void replicate_modes(struct check *c, int k)
{
    static const int modes[] = {0, 0, 1, 1, 0, 2, 2, 0, 3, 3, 1, 2, 1, 3, 2, 3, 0};
    const struct impl_array *x = ascending(c, 13, -6);
    struct impl_model *model = check_parallel(c, k, primitive_order(c, k), "", AFFINE);

    for (int step = 0; step < (int)(sizeof modes / sizeof modes[0]); ++step) {
        const double w = 3 + 2 * step, b = 50 - step;

        check_set(c, model, IMPL_VALUE, 0, &w);
        check_set(c, model, IMPL_VALUE, 1, &b);
        check_note(c, "K=%d forward %d (grad %d, train %d): ", k, step, modes[step] & 1,
                   modes[step] >> 1);
        check_values(c, "output",
                     forward_in(c, model, x, (modes[step] & 1) != 0, (modes[step] & 2) != 0), 13,
                     line(c, 13, -6, w, b));
    }
}

/* Evaluations are between training steps; the constant gradients are exact. */
static void replicate_step_then_infer(struct check *c, int k)
{
    const struct impl_array *x = ascending(c, 10, 1);
    const double *g = check_sequence(c, 10, 1, 1);
    struct impl_model *model = check_parallel(c, k, primitive_order(c, k), "", AFFINE);

    for (int step = 0; step < 4; ++step) {
        const double w = 2 - 385.0 / 1024 * step, b = 1 - 55.0 / 1024 * step;
        const struct impl_array *y;

        check_note(c, "K=%d step %d: ", k, step);
        y = forward_in(c, model, x, false, false);
        check_values(c, "output before the step", y, 10, line(c, 10, 1, w, b));
        y = check_forward(c, model, x);
        check_values(c, "output in the step", y, 10, line(c, 10, 1, w, b));
        check_zero_grad(c, model);
        check_backward(c, model, primitive_upstream(c, y, g));
        check_step(c, model, 1.0F / 1024, 0);
    }
}

/* ---- REPL-02 --------------------------------------------------------------------------------- */

/* The model is y = e * (w * x + b) + d, where e and d are frozen. One of the four is overwritten at
 * a time. */
static void replicate_edits(struct check *c, int k)
{
    static const struct {
        int parameter;
        double value;
    } edits[] = {{0, 7}, {1, -4}, {2, 5}, {3, 11}, {1, 6}, {0, -3}, {2, 2}, {0, 9}};
    struct impl_model *model = check_parallel(
        c, k, primitive_order(c, k), "",
        AFFINE ",{\"kind\":\"affine\",\"weight\":[3],\"bias\":[-2],\"frozen\":true}");
    double at[] = {2, 1, 3, -2};

    for (size_t j = 0; j < sizeof edits / sizeof edits[0]; ++j) {
        const size_t n = 9 + j; /* the shards change, too */
        const int p = edits[j].parameter;
        const struct impl_array *x = ascending(c, n, -5);

        check_note(c, "K=%d, before parameter %d is overwritten with %g: ", k, p, edits[j].value);
        check_values(c, "output", check_forward(c, model, x), n,
                     line(c, n, -5, at[2] * at[0], at[2] * at[1] + at[3]));
        at[p] = edits[j].value;
        check_set(c, model, IMPL_VALUE, p, &at[p]);
        check_note(c, "K=%d, parameter %d overwritten with %g: ", k, p, at[p]);
        check_values(c, "output", check_infer(c, model, x), n,
                     line(c, n, -5, at[2] * at[0], at[2] * at[1] + at[3]));
    }
}

/* Two modules of one shape run in turn: neither may get parameters of the other. */
static void replicate_two_modules(struct check *c, int k)
{
    const double *g = check_sequence(c, 10, 1, 1);
    const struct impl_array *x = ascending(c, 10, 1);
    const int *ids = primitive_order(c, k);
    struct impl_model *model[] = {
        check_parallel(c, k, ids, "", AFFINE),
        check_parallel(c, k, ids, "", "{\"kind\":\"affine\",\"weight\":[-5],\"bias\":[9]}")};
    double w[] = {2, -5}, b[] = {1, 9};

    for (int step = 0; step < 4; ++step) {
        const int one = step % 3 == 0 ? 0 : 1, other = 1 - one;
        const struct impl_array *y = check_forward(c, model[one], x);

        check_note(c, "K=%d step %d: ", k, step);
        check_values(c, "output", y, 10, line(c, 10, 1, w[one], b[one]));
        check_values(c, "output of the other", check_forward(c, model[other], x), 10,
                     line(c, 10, 1, w[other], b[other]));
        check_backward(c, model[one], primitive_upstream(c, y, g));
        check_grad_is(c, model[one], 0, 385);
        check_grad_none(c, model[other], 1);
        check_zero_grad(c, model[one]);
        w[other] += 3;
        check_set(c, model[other], IMPL_VALUE, 0, &w[other]);
    }
}

/* ---- REPL-03, 18 ----------------------------------------------------------------------------- */

/* Checks the bytes that were copied to replica s, and that none were copied to those that did not
 * run. */
static void copied_bytes(struct check *c, const struct impl_trace *trace, int k, int m,
                         uint64_t bytes)
{
    const bool alias = check_choice(c, IMPL_REPLICA_0) == IMPL_ALIAS;

    check_int(c, "replicas", trace->replicas, m);
    for (int s = 0; s < k; ++s) {
        const uint64_t want = s >= 1 && s < m ? bytes : 0;

        if (s == 0 && k > 1 && !alias)
            continue; /* no rule says what a clone on the same device counts */
        check_int(c, check_text(c, "bytes copied to replica %d", s),
                  (long long)trace->replica[s].bytes_to, (long long)want);
    }
}

static void replicate_count(struct check *c, int k)
{
    static const size_t rows[] = {10, 9, 5, 1, 17, 2};
    struct impl_trace *trace = check_memory(c, sizeof *trace);
    struct impl_model *model =
        check_parallel(c, k, primitive_order(c, k), "",
                       AFFINE ",{\"kind\":\"counter\"},{\"kind\":\"unused\",\"size\":5}");

    for (size_t j = 0; j < sizeof rows / sizeof rows[0]; ++j) {
        size_t size[IMPL_MAX_DEVICES];
        const int m = check_shards(rows[j], k, size);

        check_forward_trace(c, model, ascending(c, rows[j], 1), trace);
        check_note(c, "K=%d N=%zu: ", k, rows[j]);
        copied_bytes(c, trace, k, m, 4 * (1 + 1 + 1 + 5));
    }
}

static void replicate_without_parameters(struct check *c, int k)
{
    struct impl_model *model =
        check_parallel(c, k, primitive_order(c, k), "",
                       "{\"kind\":\"relu\"},{\"kind\":\"identity\"},{\"kind\":\"double_rows\"}");
    const double *g = check_sequence(c, 22, 1, 1);
    double want[22], dx[11];
    const struct impl_array *y;

    check_int(c, "number of parameters", check_params(c, model), 0);
    for (int r = 0; r < 11; ++r) {
        want[2 * r] = want[2 * r + 1] = r > 5 ? r - 5 : 0;
        dx[r] = r > 5 ? g[2 * r] + g[2 * r + 1] : 0;
    }
    for (int step = 0; step < 2; ++step) {
        y = check_forward(c, model, check_needs_grad(check_counted(c, 11, -5, 1)));
        check_values(c, "output", y, 22, want);
        check_values(c, "input gradient", check_backward(c, model, primitive_upstream(c, y, g)), 11,
                     dx);
        check_step(c, model, 1, 0.5F);
    }
}

static void replicate_without_traffic(struct check *c, int k)
{
    struct impl_trace *trace = check_memory(c, sizeof *trace);
    struct impl_model *model =
        check_parallel(c, k, primitive_order(c, k), "", "{\"kind\":\"relu\"}");
    size_t size[IMPL_MAX_DEVICES];

    check_forward_trace(c, model, ascending(c, 10, 1), trace);
    copied_bytes(c, trace, k, check_shards(10, k, size), 0);
}

/* ---- REPL-10, 14 ----------------------------------------------------------------------------- */

static void train_flags(struct check *c, struct impl_model *model, int n, const bool frozen[])
{
    check_int(c, "number of parameters", check_params(c, model), n);
    for (int i = 0; i < n; ++i) {
        struct impl_param param;

        check_param(c, model, i, &param);
        check_int(c, check_text(c, "parameter %d is frozen", i), param.frozen, frozen[i]);
    }
}

static void replicate_no_grad(struct check *c, int k)
{
    static const bool frozen[] = {false, false, true, false};
    const double *g = check_sequence(c, 10, 1, 1);
    const struct impl_array *x = check_needs_grad(check_counted(c, 10, 1, 1));
    struct impl_model *model = check_parallel(
        c, k, primitive_order(c, k), "",
        AFFINE ",{\"kind\":\"affine\",\"weight\":[3],\"bias\":[-2],\"frozen\":[\"weight\"]}");

    for (int step = 0; step < 2; ++step) {
        const struct impl_array *y;

        check_note(c, "K=%d step %d: ", k, step);
        y = check_infer(c, model, x);
        check_values(c, "output without gradients", y, 10, line(c, 10, 1, 6, 1));
        train_flags(c, model, 4, frozen);
        for (int p = 0; p < 4; ++p)
            check_grad_none(c, model, p);
        y = check_forward(c, model, x);
        check_values(c, "input gradient of the next step",
                     check_backward(c, model, primitive_upstream(c, y, g)), 10,
                     check_sequence(c, 10, 6, 6));
        check_grads_are(c, model, 3 * 385, 3 * 55);
        check_grad_none(c, model, 2);
        check_grad_is(c, model, 3, 55);
        train_flags(c, model, 4, frozen);
        check_zero_grad(c, model);
    }
}

/* Only the base has gradients: replicas have none that a later step could use, also if that step
 * has fewer replicas. */
static void replicate_own_gradients(struct check *c, int k)
{
    static const size_t rows[] = {10, 1, 17, 3, 9, 10};
    static const bool frozen[] = {false, false};
    struct impl_model *model = check_parallel(c, k, primitive_order(c, k), "", AFFINE);

    for (size_t j = 0; j < sizeof rows / sizeof rows[0]; ++j) {
        const size_t n = rows[j];
        const double *g = check_sequence(c, n, 3, 2);
        const struct impl_array *y = check_forward(c, model, ascending(c, n, 2));
        double dw = 0;

        check_note(c, "K=%d N=%zu: ", k, n);
        train_flags(c, model, 2, frozen);
        check_grad_none(c, model, 0);
        check_grad_none(c, model, 1);
        for (size_t r = 0; r < n; ++r)
            dw += g[r] * (2 + (double)r);
        check_backward(c, model, primitive_upstream(c, y, g));
        check_grads_are(c, model, dw, primitive_sum(g, 0, n));
        check_zero_grad(c, model);
    }
}

static const struct check_case cases[] = {
    {"REPL-01.steps", "REPL-01", MUST, OBSERVED, DP, PARALLEL, 1, .each = replicate_two_steps},
    {"REPL-01.modes", "REPL-01", MUST, OBSERVED, DP, PARALLEL, 1, .each = replicate_modes},
    {"REPL-01.infer", "REPL-01", MUST, OBSERVED, DP, PARALLEL, 1,
     .each = replicate_step_then_infer},
    {"REPL-02.edits", "REPL-02", MUST, OBSERVED, DP, PARALLEL, 1, .each = replicate_edits},
    {"REPL-02.two_modules", "REPL-02", MUST, OBSERVED, DP, PARALLEL, 1,
     .each = replicate_two_modules},
    {"REPL-03.bytes", "REPL-03", MUST, REPORTED, DP, PARALLEL | IMPL_CAP_TRACE | IMPL_CAP_TRAFFIC,
     1, .each = replicate_count},
    {"REPL-10.gradients", "REPL-10", MUST, OBSERVED, DP, PARALLEL, 1,
     .each = replicate_own_gradients},
    {"REPL-14.no_grad", "REPL-14", MUST, OBSERVED, DP, PARALLEL, 1, .each = replicate_no_grad},
    {"REPL-18.model", "REPL-18", MUST, OBSERVED, DP, PARALLEL, 1,
     .each = replicate_without_parameters},
    {"REPL-18.traffic", "REPL-18", MUST, REPORTED, DP, PARALLEL | IMPL_CAP_TRACE | IMPL_CAP_TRAFFIC,
     1, .each = replicate_without_traffic},
};
const struct check_table replicate_fresh_table = CHECK_TABLE(cases);
