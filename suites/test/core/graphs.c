/* graphs.c: steps whose launches are held back and launched as CUDA graphs. The results are those
 * of single launches, whatever was changed between two steps. On devices without graphs the same
 * steps are plain ones, and the counters stay at zero. */
#include "golden.h"
#include "list.h"

/* Returns by how much the counters of the group have grown since `before`; *before becomes the new
 * state. */
static struct dp_launches since(const struct golden *g, struct dp_launches *before)
{
    struct dp_launches now;
    dp_group_launches(g->group, &now);
    const struct dp_launches d = {
        now.single - before->single,       now.graphs - before->graphs,
        now.in_graphs - before->in_graphs, now.captured - before->captured,
        now.evicted - before->evicted,     now.refused - before->refused};
    *before = now;
    return d;
}

static bool has_graphs(const struct context *c)
{
    return c->settings.gpus > 0;
}

/* Expects the counters of some steps: on GPUs there were this many graphs and captures. */
static void expect_counts(struct context *c, const struct dp_launches *d, uint64_t graphs,
                          uint64_t captured)
{
    const bool on = has_graphs(c);
    const uint64_t want_graphs = on ? graphs : 0, want_captured = on ? captured : 0;
    expect(c, d->graphs == want_graphs && d->captured == want_captured && d->refused == 0,
           "%llu graphs, %llu captured, %llu refused; want %llu, %llu, 0",
           (unsigned long long)d->graphs, (unsigned long long)d->captured,
           (unsigned long long)d->refused, (unsigned long long)want_graphs,
           (unsigned long long)want_captured);
    expect(c, d->in_graphs >= 2 * want_graphs && (on || d->single == 0),
           "%llu operations in graphs, %llu single", (unsigned long long)d->in_graphs,
           (unsigned long long)d->single);
}

/* Forward and backward of n rows; the closed forms of output and gradients. */
static void golden_step(struct context *c, const struct golden *g, const struct dp_tensor *x,
                        double weight, double bias)
{
    const size_t n = x->dim[0];
    dp_run_reset(g->run);
    dp_zero_grad(g->linear);
    const struct dp_tensor y = forward(c, g->wrapper, g->run, x);
    expect_values(c, "y", &y, sequence(c, n, weight + bias, weight));
    const struct dp_tensor dx = backward(c, g->wrapper, g->run, NULL);
    expect_values(c, "dx", &dx, sequence(c, n, weight, 0.0));
    golden_expect_grads(c, g, golden_sum(n), (double)n);
}

/* From the third step on each replica has one graph for forward and one for backward. */
static void steady(struct context *c)
{
    for (int k = 1; k <= 4; ++k) {
        case_release(c);
        case_note(c, "K=%d", k);
        struct golden g;
        struct dp_launches before;
        golden_open(c, &g, k);
        const struct dp_tensor x = golden_rows(c, g.ids[0], 10, 1.0);
        const uint64_t m = (uint64_t)dp_split_count(10, k);
        dp_group_launches(g.group, &before);
        for (int step = 0; step < 6; ++step) {
            case_note(c, "K=%d step %d", k, step);
            golden_step(c, &g, &x, 2.0, 1.0);
            const struct dp_launches d = since(&g, &before);
            expect_counts(c, &d, step == 0 ? 0 : 2 * m, step == 1 ? 2 * m : 0);
        }
    }
}

/* A graph contains addresses: no graph of a device stays after memory is given back there. */
static void released(struct context *c)
{
    for (int k = 1; k <= 2; ++k) {
        case_release(c);
        struct golden g;
        struct dp_launches before;
        struct dp_tensor more;
        golden_open(c, &g, k);
        const struct dp_tensor x = golden_rows(c, g.ids[0], 10, 1.0);
        const uint64_t m = (uint64_t)k;
        dp_group_launches(g.group, &before);
        for (int step = 0; step < 6; ++step) {
            case_note(c, "K=%d step %d", k, step);
            if (step == 3) {
                expect_ok(c, dp_tensor_alloc(g.ids[0], DP_F32, 1, (size_t[]){64}, &more, &c->err),
                          "more memory");
                dp_tensor_free(&more);
            }
            golden_step(c, &g, &x, 2.0, 1.0);
            const struct dp_launches d = since(&g, &before);
            expect_counts(c, &d,
                          step == 0   ? 0
                          : step == 3 ? 2 * (m - 1)
                                      : 2 * m,
                          step == 1   ? 2 * m
                          : step == 4 ? 2
                                      : 0);
        }
    }
}

static void switched_off(struct context *c)
{
    struct golden g;
    struct dp_launches before;
    c->settings.no_graphs = true;
    golden_open(c, &g, 2);
    const struct dp_tensor x = golden_rows(c, g.ids[0], 10, 1.0);
    dp_group_launches(g.group, &before);
    for (int step = 0; step < 4; ++step) {
        golden_step(c, &g, &x, 2.0, 1.0);
        const struct dp_launches d = since(&g, &before);
        expect_counts(c, &d, 0, 0);
        expect(c, !has_graphs(c) || d.single > 0, "no operations were counted");
    }
}

/* Each step has other weights, which the caller writes before it and between two forwards of it. */
static void fresh_weights(struct context *c)
{
    static const size_t rows[] = {3, 30};
    for (int k = 1; k <= 4; ++k) {
        case_release(c);
        struct golden g;
        struct dp_launches before;
        golden_open(c, &g, k);
        dp_group_launches(g.group, &before);
        for (size_t i = 0; i < 2; ++i) {
            const struct dp_tensor x = golden_rows(c, g.ids[0], rows[i], 1.0);
            for (int step = 0; step < 5; ++step) {
                case_note(c, "K=%d N=%zu step %d", k, rows[i], step);
                const double weight = 3.0 + step, bias = -2.0 * step;
                golden_set(c, &g, weight, bias);
                golden_step(c, &g, &x, weight, bias);
                golden_set(c, &g, -weight, 4.0);
                const struct dp_tensor y = forward(c, g.wrapper, g.run, &x);
                expect_values(c, "again", &y, sequence(c, rows[i], 4.0 - weight, -weight));
            }
            const struct dp_launches d = since(&g, &before);
            expect(c, !has_graphs(c) || d.graphs > 0, "no graphs were used");
        }
    }
}

/* Batch sizes alternate: each is captured once. A replica has more rows, or another replica runs.
 */
static void batches(struct context *c)
{
    static const size_t rows[] = {10, 30, 10, 9};
    for (int k = 1; k <= 4; ++k) {
        case_release(c);
        struct golden g;
        struct dp_tensor x[4];
        struct dp_launches before, d = {0};
        golden_open(c, &g, k);
        for (int i = 0; i < 4; ++i)
            x[i] = golden_rows(c, g.ids[0], rows[i], 1.0);
        dp_group_launches(g.group, &before);
        for (int step = 0; step < 20; ++step) {
            case_note(c, "K=%d step %d", k, step);
            golden_step(c, &g, &x[step % 4], 2.0, 1.0);
            if (step == 11)
                (void)since(&g, &before);
        }
        d = since(&g, &before);
        uint64_t graphs = 0;
        for (int i = 0; i < 4; ++i)
            graphs += 2 * 2 * (uint64_t)dp_split_count(rows[i], k);
        expect_counts(c, &d, graphs, 0);
    }
}

/* Steps in train mode, in eval mode, and without gradients alternate. */
static void modes(struct context *c)
{
    struct golden g;
    struct dp_launches before;
    golden_open(c, &g, 3);
    const struct dp_tensor x = golden_rows(c, g.ids[0], 10, 1.0);
    for (int step = 0; step < 12; ++step) {
        case_note(c, "step %d", step);
        dp_run_grad_mode(g.run, step % 3 != 2);
        dp_run_train_mode(g.run, step % 3 == 0);
        golden_set(c, &g, 2.0 + step, 1.0);
        if (step % 3 != 2) {
            golden_step(c, &g, &x, 2.0 + step, 1.0);
        } else {
            dp_run_reset(g.run);
            const struct dp_tensor y = forward(c, g.wrapper, g.run, &x);
            expect_values(c, "y", &y, sequence(c, 10, 3.0 + step, 2.0 + step));
            expect(c, !y.needs_grad, "an output without gradients needs one");
        }
        if (step == 5)
            dp_group_launches(g.group, &before);
    }
    /* The same launches in all modes: 3 replicas, 6 forwards and 4 backwards. */
    const struct dp_launches d = since(&g, &before);
    expect_counts(c, &d, 3 * 10, 0);
}

/* The launches of a step are counted where they are issued: the count is the same at once, late and
 * in a graph. */
static void kernels(struct context *c)
{
    struct golden g;
    uint64_t first = 0;
    golden_open(c, &g, 3);
    const struct dp_tensor x = golden_rows(c, g.ids[0], 10, 1.0);
    for (int step = 0; step < 6; ++step) {
        case_note(c, "step %d", step);
        dp_run_reset(g.run);
        dp_zero_grad(g.linear);
        uint64_t before = dp_group_kernels(g.group);
        (void)forward(c, g.linear, g.run, &x);
        expect(c, dp_group_kernels(g.group) - before == 2, "%llu kernels, of a product and a bias",
               (unsigned long long)(dp_group_kernels(g.group) - before));
        dp_run_reset(g.run);
        before = dp_group_kernels(g.group);
        golden_step(c, &g, &x, 2.0, 1.0);
        const uint64_t all = dp_group_kernels(g.group) - before;
        first = step == 0 ? all : first;
        expect(c, all == first && all > 3 * 2, "%llu kernels, in the first step %llu",
               (unsigned long long)all, (unsigned long long)first);
    }
}

/* Two backwards into one gradient: the second one adds. */
static void accumulates(struct context *c)
{
    struct golden g;
    golden_open(c, &g, 1);
    const struct dp_tensor x = golden_rows(c, g.ids[0], 10, 1.0);
    for (int step = 0; step < 5; ++step) {
        dp_run_reset(g.run);
        dp_zero_grad(g.linear);
        for (int i = 1; i <= 3; ++i) {
            case_note(c, "step %d backward %d", step, i);
            (void)forward(c, g.wrapper, g.run, &x);
            (void)backward(c, g.wrapper, g.run, NULL);
            golden_expect_grads(c, &g, 55.0 * i, 10.0 * i);
        }
    }
}

/* The module is frozen and thawed, moved to another slot and back, and wrapped with one more layer.
 */
static void edits(struct context *c)
{
    struct golden g;
    struct dp_launches before;
    golden_open(c, &g, 2);
    dp_group_launches(g.group, &before);
    for (int step = 0; step < 12; ++step) {
        case_note(c, "step %d", step);
        const struct dp_tensor x = golden_rows(c, g.ids[0], 10, 1.0);
        if (step == 4 || step == 8)
            g.weight->frozen = step == 4;
        if (step == 6) {
            move_module(c, g.linear, g.ids[1]);
            move_module(c, g.linear, g.ids[0]);
        }
        dp_run_reset(g.run);
        dp_zero_grad(g.linear);
        const struct dp_tensor y = forward(c, g.wrapper, g.run, &x);
        expect_values(c, "y", &y, sequence(c, 10, 3.0, 2.0));
        (void)backward(c, g.wrapper, g.run, NULL);
        if (g.weight->frozen) {
            const double ten = 10.0;
            expect_no_grad(c, "frozen", g.weight);
            expect_grad(c, "bias", g.bias, &ten);
        } else {
            golden_expect_grads(c, &g, 55.0, 10.0);
        }
    }
    struct dp_module *layers[] = {g.linear, make_relu(c, g.group)};
    struct dp_module *longer = make_sequential(c, g.group, layers, 2);
    struct dp_module *wrapper = make_parallel(c, longer, &(struct dp_parallel_config){0});
    const struct dp_tensor x = golden_rows(c, g.ids[0], 10, -4.0);
    for (int step = 0; step < 4; ++step) {
        dp_run_reset(g.run);
        const struct dp_tensor y = forward(c, wrapper, g.run, &x);
        expect_values(c, "y", &y, (double[]){0, 0, 0, 0, 1, 3, 5, 7, 9, 11});
    }
    const struct dp_launches d = since(&g, &before);
    expect(c, !has_graphs(c) || (d.graphs > 0 && d.single > 0), "%llu graphs",
           (unsigned long long)d.graphs);
}

/* Runs batches of several sizes in turn; each size has two lists of launches. */
static void take_turns(struct context *c, struct golden *g, int sizes, int rounds)
{
    struct dp_tensor x[160];
    for (size_t i = 0; i < (size_t)sizes; ++i)
        x[i] = golden_rows(c, g->ids[0], i + 1, 1.0);
    for (int round = 0; round < rounds; ++round) {
        for (int i = 0; i < sizes; ++i) {
            case_note(c, "round %d rows %d", round, i + 1);
            golden_step(c, g, &x[i], 2.0, 1.0);
        }
    }
}

/* With as many lists of launches as there may be graphs, each graph is captured once and then used.
 */
static void many(struct context *c)
{
    enum { SIZES = 64 };
    struct golden g;
    struct dp_launches before;
    golden_open(c, &g, 1);
    dp_group_launches(g.group, &before);
    take_turns(c, &g, SIZES, 4);
    const struct dp_launches d = since(&g, &before);
    expect(c, d.evicted == 0 && d.captured == (has_graphs(c) ? 2 * SIZES : 0),
           "%llu graphs captured, %llu given up", (unsigned long long)d.captured,
           (unsigned long long)d.evicted);
}

/* With more lists of launches than there may be graphs, no graph evicts one that is needed again
 * soon. A graph that is not needed any more is evicted. */
static void too_many(struct context *c)
{
    enum { SIZES = 150, GRAPHS = 256, STEPS = 600 };
    struct golden g;
    struct dp_launches before;
    golden_open(c, &g, 1);
    dp_group_launches(g.group, &before);
    take_turns(c, &g, SIZES, 5);
    struct dp_launches d = since(&g, &before);
    expect(c, d.evicted == 0 && d.captured == (has_graphs(c) ? GRAPHS : 0),
           "%llu graphs captured, %llu given up", (unsigned long long)d.captured,
           (unsigned long long)d.evicted);
    const struct dp_tensor x = golden_rows(c, g.ids[0], SIZES + 1, 1.0);
    for (int step = 0; step < STEPS; ++step)
        golden_step(c, &g, &x, 2.0, 1.0);
    d = since(&g, &before);
    expect(c, d.evicted == (has_graphs(c) ? 2 : 0), "%llu graphs given up",
           (unsigned long long)d.evicted);
    (void)since(&g, &before);
    golden_step(c, &g, &x, 2.0, 1.0);
    d = since(&g, &before);
    expect_counts(c, &d, 2, 0);
}

/* A module that works on a tensor that lives as long as its forward. */
static int borrow_forward(struct dp_module *module, struct dp_run *run, const struct dp_tensor in[],
                          int n_in, struct dp_tensor out[], int *n_out, struct dp_error *err)
{
    static const float values[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
    struct dp_tensor own;
    int status = dp_tensor_alloc(in[0].slot, DP_F32, 2, in[0].dim, &own, err);
    if (status)
        return status;
    status = dp_tensor_write(&own, values, err);
    if (status == 0)
        status = dp_forward(dp_module_child(module, 0), run, &own, n_in, out, n_out, err);
    dp_tensor_free(&own);
    return status;
}

static void temporary(struct context *c)
{
    static const struct dp_module_ops ops = {.kind = "borrow", .forward = borrow_forward};
    for (int k = 1; k <= 4; k += 3) {
        case_release(c);
        struct golden g;
        struct dp_module *borrow = NULL;
        golden_open(c, &g, k);
        (void)opened_module(c, dp_module_open(g.group, &ops, NULL, &g.linear, 1, &borrow, &c->err),
                            &borrow);
        struct dp_module *wrapper = make_parallel(c, borrow, &(struct dp_parallel_config){0});
        const struct dp_tensor x = golden_rows(c, g.ids[0], 10, 5.0);
        double want[10];
        for (int i = 0; i < 10; ++i)
            want[i] = 3.0 + 2.0 * (i % (int)shard_rows(10, k, 0));
        dp_run_grad_mode(g.run, false);
        for (int step = 0; step < 6; ++step) {
            case_note(c, "K=%d step %d", k, step);
            dp_run_reset(g.run);
            const struct dp_tensor y = forward(c, wrapper, g.run, &x);
            expect_values(c, "y", &y, want);
        }
    }
}

static const struct test_case cases[] = {
    {"graphs/steady", "COMP-01", steady},
    {"graphs/released", "COMP-01", released},
    {"graphs/switched-off", "COMP-01", switched_off},
    {"graphs/fresh-weights", "REPL-01 REPL-02", fresh_weights},
    {"graphs/batches", "SPLIT-02 REPL-03", batches},
    {"graphs/modes", "APPLY-05 BUF-09", modes},
    {"graphs/accumulates", "GRAD-03 GRAD-04", accumulates},
    {"graphs/edits", "REPL-13 DEV-01", edits},
    {"graphs/kernels", "COMP-01", kernels},
    {"graphs/many", "COMP-01", many},
    {"graphs/too-many", "COMP-01", too_many},
    {"graphs/temporary", "COMP-01", temporary},
};
const struct case_table graphs_cases = {cases, sizeof cases / sizeof cases[0]};
