/* logged.c: a step's kernels are logged by shape if a log is set, and no log is written without
 * one. */
#include "list.h"

#include <string.h>

/* Some shapes differ in k alone, or in what is transposed alone. */
enum { ROWS = 5, IN = 6, HIDDEN = 7, OUT = 7 };

struct product {
    bool transpose_a, transpose_b;
    size_t m, n, k;
    enum dp_phase phase;
};
/* The products of two linear layers, y = x W^T, in the order of a step: both forwards; dW = dy^T x
 * and dx = dy W of the second layer; dW alone of the first one, because the gradient of the input
 * is not wanted. */
static const struct product products[] = {{false, true, ROWS, HIDDEN, IN, DP_PHASE_FORWARD},
                                          {false, true, ROWS, OUT, HIDDEN, DP_PHASE_FORWARD},
                                          {true, false, OUT, HIDDEN, ROWS, DP_PHASE_BACKWARD},
                                          {false, false, ROWS, HIDDEN, OUT, DP_PHASE_BACKWARD},
                                          {true, false, HIDDEN, IN, ROWS, DP_PHASE_BACKWARD}};
enum { PRODUCTS = sizeof products / sizeof products[0] };

struct net {
    struct dp_group *group;
    struct dp_module *wrapper;
    struct dp_run *run;
    struct dp_tensor x;
    struct dp_kernel_log *log;
};

/* Opens the model on k devices with ROWS rows each. Returns false for devices that have no log;
 * their error is checked. */
static bool open_net(struct context *c, struct net *net, int k)
{
    net->group = open_group(c, k);
    net->log = case_memory(c, sizeof *net->log);
    const int status = dp_group_log(net->group, net->log, &c->err);
    if (c->settings.lag || c->settings.gpus) {
        expect_error(c, status, DP_ENOTSUP, "run them at once", NULL);
        return false;
    }
    expect_ok(c, status, "dp_group_log");
    expect_ok(c, dp_group_log(net->group, NULL, &c->err), "dp_group_log");
    struct dp_module *layers[] = {make_linear(c, net->group, IN, HIDDEN, true),
                                  make_linear(c, net->group, HIDDEN, OUT, true)};
    struct dp_module *model = make_sequential(c, net->group, layers, 2);
    expect_ok(c, dp_module_init(model, 1, &c->err), "dp_module_init");
    move_module(c, model, dp_group_slot(net->group, 0));
    net->wrapper = make_parallel(c, model, &(struct dp_parallel_config){0});
    net->run = open_run(c, net->group);
    const size_t rows = (size_t)k * ROWS;
    net->x = make_matrix(c, dp_group_slot(net->group, 0), rows, IN, integers(c, rows * IN, 1));
    return true;
}

static void steps(struct context *c, struct net *net, int n)
{
    for (int i = 0; i < n; ++i) {
        dp_run_reset(net->run);
        (void)forward(c, net->wrapper, net->run, &net->x);
        (void)backward(c, net->wrapper, net->run, NULL);
    }
}

static void expect_products(struct context *c, const struct dp_kernel_rows *rows, int n,
                            bool traced)
{
    int seen = 0;
    for (int i = 0; i < rows->n; ++i) {
        const struct dp_kernel_row *r = &rows->row[i];
        expect(c, r->count > 0 && r->ns > 0, "%s: %llu launches in %llu ns", r->name,
               (unsigned long long)r->count, (unsigned long long)r->ns);
        expect(c, r->product == (strcmp(r->name, "gemm") == 0), "%s is a product: %d", r->name,
               r->product);
        if (!r->product) {
            expect(c, r->m + r->n + r->k == 0, "%s has a shape", r->name);
            continue;
        }
        const struct product *want = &products[seen++];
        expect(c, seen <= PRODUCTS, "%d products", seen);
        expect(c,
               r->m == want->m && r->n == want->n && r->k == want->k &&
                   r->transpose_a == want->transpose_a && r->transpose_b == want->transpose_b,
               "product %d is %zu x %zu x %zu, transposed %d %d", seen, r->m, r->n, r->k,
               r->transpose_a, r->transpose_b);
        expect(c, r->many == 1 && r->multiplies == want->m * want->n * want->k,
               "product %d multiplies %zu", seen, r->multiplies);
        expect(c, !traced || r->phase == want->phase, "product %d is of phase %d, not %d", seen,
               (int)r->phase, (int)want->phase);
        expect(c, traced || r->phase == DP_PHASES, "product %d is of phase %d without a trace",
               seen, (int)r->phase);
        expect(c, r->count == (uint64_t)n, "product %d ran %llu times, not %d", seen,
               (unsigned long long)r->count, n);
    }
    expect(c, seen == PRODUCTS, "%d products", seen);
}

static bool has(const struct dp_kernel_rows *rows, const char *name)
{
    for (int i = 0; i < rows->n; ++i)
        if (strcmp(rows->row[i].name, name) == 0)
            return true;
    return false;
}

/* The log has all launches of n steps on each device, and none of the step after them. */
static void expect_steps(struct context *c, struct net *net, int k, int n, bool traced)
{
    struct dp_trace *trace = traced ? case_memory(c, sizeof *trace) : NULL;
    uint64_t logged = 0;
    memset(net->log, 0, sizeof *net->log);
    expect_ok(c, dp_group_log(net->group, net->log, &c->err), "dp_group_log");
    const uint64_t before = dp_group_kernels(net->group);
    dp_group_trace(net->group, trace);
    steps(c, net, n);
    dp_group_trace(net->group, NULL);
    const uint64_t launched = dp_group_kernels(net->group) - before;
    expect_ok(c, dp_group_log(net->group, NULL, &c->err), "dp_group_log");
    steps(c, net, 1);
    for (int d = 0; d < DP_MAX_SLOTS; ++d) {
        for (int lane = 0; lane < DP_LANES; ++lane) {
            const struct dp_kernel_rows *rows = &net->log->lane[d][lane];
            expect(c, d < k || rows->n == 0, "device %d has a log", d);
            expect(c, rows->lost == 0 && rows->lost_ns == 0, "launches were lost");
            for (int i = 0; i < rows->n; ++i)
                logged += rows->row[i].count;
        }
    }
    /* The host makes staged sums. */
    const bool staged = strcmp(dp_group_communicator(net->group), "staged") == 0;
    expect(c, staged ? logged <= launched : logged == launched, "%llu of %llu are there",
           (unsigned long long)logged, (unsigned long long)launched);
    for (int d = 0; d < k; ++d)
        expect_products(c, &net->log->lane[d][DP_LANE_COMPUTE], n, traced);
    const struct dp_kernel_rows *carried = &net->log->lane[k - 1][DP_LANE_TRANSFER];
    expect(c, has(carried, "copy") == (k > 1), "%d kinds of transfers", carried->n);
}

static void list_of_step(struct context *c)
{
    for (int k = 1; k <= 3; ++k) {
        struct net net;
        case_release(c);
        case_note(c, "K=%d", k);
        if (!open_net(c, &net, k))
            return;
        steps(c, &net, 2);
        expect(c, net.log->lane[0][DP_LANE_COMPUTE].n == 0, "a log that is not set was written");
        expect_steps(c, &net, k, 1, false);
        expect_steps(c, &net, k, 3, true);
    }
}

/* There are more shapes than rows of the log: the first ones stay, the others are counted. */
static void overflow(struct context *c)
{
    enum { SHAPES = DP_KERNEL_ROWS + 6 };
    struct net net;
    if (!open_net(c, &net, 1))
        return;
    struct dp_module *linear = make_linear(c, net.group, IN, OUT, false);
    move_module(c, linear, dp_group_slot(net.group, 0));
    expect_ok(c, dp_module_init(linear, 1, &c->err), "dp_module_init");
    const struct dp_tensor x = make_matrix(c, dp_group_slot(net.group, 0), SHAPES, IN,
                                           integers(c, (size_t)SHAPES * IN, 1));
    expect_ok(c, dp_group_log(net.group, net.log, &c->err), "dp_group_log");
    for (size_t twice = 0; twice < 2; ++twice) {
        for (size_t rows = 1; rows <= SHAPES; ++rows) {
            struct dp_tensor part;
            dp_run_reset(net.run);
            expect_ok(c, dp_tensor_rows(&x, 0, rows, &part, &c->err), "dp_tensor_rows");
            (void)forward(c, linear, net.run, &part);
        }
    }
    expect_ok(c, dp_group_log(net.group, NULL, &c->err), "dp_group_log");
    const struct dp_kernel_rows *rows = &net.log->lane[0][DP_LANE_COMPUTE];
    expect(c, rows->n == DP_KERNEL_ROWS, "%d rows", rows->n);
    expect(c, rows->lost == 2 * (SHAPES - DP_KERNEL_ROWS) && rows->lost_ns > 0, "%llu lost",
           (unsigned long long)rows->lost);
    for (int i = 0; i < rows->n; ++i) {
        expect(c, rows->row[i].m == (size_t)i + 1 && rows->row[i].count == 2,
               "row %d: %zu rows, %llu times", i, rows->row[i].m,
               (unsigned long long)rows->row[i].count);
    }
}

/* The products of attention: scores, and in backward the gradient of the probabilities; output and
 * the gradient of q; gradients of k and v. Each is computed for every head, and half of each is
 * skipped because of the causal mask. */
static void heads(struct context *c)
{
    enum { N = 3, HEADS = 2, STEPS = 5, SIZE = 4, HALF = STEPS * (STEPS + 1) / 2 };
    static const struct product want[] = {{false, true, STEPS, STEPS, SIZE, DP_PHASES},
                                          {false, false, STEPS, SIZE, STEPS, DP_PHASES},
                                          {true, false, STEPS, SIZE, STEPS, DP_PHASES}};
    struct net net;
    struct dp_module *attention = NULL;
    if (!open_net(c, &net, 1))
        return;
    (void)opened_module(c, dp_attention(net.group, HEADS, 0.0, 1, &attention, &c->err), &attention);
    const size_t dim[] = {N, STEPS, 3 * HEADS * SIZE};
    struct dp_tensor x = make_tensor(c, dp_group_slot(net.group, 0), DP_F32, 3, dim, NULL);
    write_floats(c, &x, randoms(c, dp_tensor_count(&x), 1));
    x.needs_grad = true;
    expect_ok(c, dp_group_log(net.group, net.log, &c->err), "dp_group_log");
    (void)forward(c, attention, net.run, &x);
    (void)backward(c, attention, net.run, NULL);
    expect_ok(c, dp_group_log(net.group, NULL, &c->err), "dp_group_log");
    const struct dp_kernel_rows *rows = &net.log->lane[0][DP_LANE_COMPUTE];
    int seen = 0;
    for (int i = 0; i < rows->n; ++i) {
        const struct dp_kernel_row *r = &rows->row[i];
        if (!r->product)
            continue;
        expect(c, seen < 3 && strcmp(r->name, "gemm_heads") == 0, "%s is a product", r->name);
        expect(c,
               r->m == want[seen].m && r->n == want[seen].n && r->k == want[seen].k &&
                   r->transpose_a == want[seen].transpose_a &&
                   r->transpose_b == want[seen].transpose_b && r->phase == want[seen].phase &&
                   r->count == 2,
               "product %d is %zu x %zu x %zu, transposed %d %d", seen, r->m, r->n, r->k,
               r->transpose_a, r->transpose_b);
        expect(c, r->many == N * HEADS && r->multiplies == N * HEADS * HALF * SIZE,
               "%zu products of %zu multiplications", r->many, r->multiplies);
        ++seen;
    }
    expect(c, seen == 3, "%d products", seen);
}

static const struct test_case cases[] = {
    {"logged/list-of-step", "", list_of_step},
    {"logged/overflow", "", overflow},
    {"logged/heads", "", heads},
};
const struct case_table logged_cases = {cases, sizeof cases / sizeof cases[0]};
