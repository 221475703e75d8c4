/* composition.c: data_parallel as a whole: which replicas run, on which rows, and what comes out.
 */
#include "golden.h"
#include "list.h"
#include "probes.h"

struct watched {
    struct dp_group *group;
    struct dp_module *wrapper;
    struct probe *probe;
    struct dp_run *run;
    struct dp_slot *first;
};

/* Wraps a probe on K slots. */
static void open_watched(struct context *c, struct watched *w, int k)
{
    w->group = open_group(c, k);
    w->first = dp_group_slot(w->group, 0);
    struct dp_module *module = make_probe(c, w->group, &w->probe);
    w->wrapper = make_parallel(c, module, &(struct dp_parallel_config){0});
    w->run = open_run(c, w->group);
}

/* K = 1 is a direct call on the caller's thread, with nothing copied around it. */
static void one_device(struct context *c)
{
    struct watched w;
    open_watched(c, &w, 1);
    const struct dp_tensor x = make_matrix(c, w.first, 10, 1, sequence(c, 10, 1.0, 1.0));
    struct dp_trace *trace = case_memory(c, sizeof *trace);
    dp_group_trace(w.group, trace);
    const struct dp_tensor y = forward(c, w.wrapper, w.run, &x);
    dp_group_trace(w.group, NULL);
    expect_matrix(c, "output", &y, w.first, 10, 1, sequence(c, 10, 1.0, 1.0));
    expect(c, probe_forwards(w.probe) == 1, "%d calls", probe_forwards(w.probe));
    expect(c, w.probe->visit[0].in_data == x.data, "the input was copied");
    expect(c, y.data == x.data, "the output was gathered");
    expect(c, pthread_equal(w.probe->visit[0].thread, pthread_self()) != 0, "another thread");
    for (int p = 0; p < DP_PHASES; ++p) {
        expect(c, trace->replica[0].bytes[p] == 0, "phase %d moved bytes", p);
    }
}

/* One row on four slots: one replica runs, in the caller's thread, with the same values. */
static void one_row(struct context *c)
{
    struct watched w;
    open_watched(c, &w, 4);
    const struct dp_tensor x =
        make_matrix(c, dp_group_host(w.group), 1, 3, sequence(c, 3, 1.0, 1.0));
    const struct dp_tensor y = forward(c, w.wrapper, w.run, &x);
    expect_matrix(c, "output", &y, w.first, 1, 3, sequence(c, 3, 1.0, 1.0));
    expect(c, probe_forwards(w.probe) == 1, "%d calls", probe_forwards(w.probe));
    expect(c, pthread_equal(w.probe->visit[0].thread, pthread_self()) != 0, "another thread");
}

/* Without rows there are K empty shards, an output without rows, and gradients of zero. */
static void no_rows(struct context *c)
{
    for (int k = 1; k <= 8; ++k) {
        struct golden g;
        case_release(c);
        case_note(c, "K=%d", k);
        golden_open(c, &g, k);
        const struct dp_tensor x = golden_rows(c, g.ids[0], 0, 1.0);
        const struct dp_tensor y = forward(c, g.wrapper, g.run, &x);
        expect_shape(c, "output", &y, 2, (size_t[]){0, 1});
        expect_slot(c, "output", &y, g.ids[0]);
        const struct dp_tensor dx = backward(c, g.wrapper, g.run, &y);
        expect_shape(c, "input gradient", &dx, 2, (size_t[]){0, 1});
        golden_expect_grads(c, &g, 0.0, 0.0);
    }
}

/* Two forwards, then two backwards in reverse order: both gradients add, and each backward uses the
 * activations of the forward that it belongs to. */
static void two_forwards(struct context *c)
{
    for (int i = 0; i < GOLDEN_ROWS; ++i) {
        const struct golden_cell cell = golden_grid(i);
        case_release(c);
        case_note(c, "K=%d N=%zu", cell.k, cell.n);
        struct golden g;
        golden_open(c, &g, cell.k);
        const struct dp_tensor x1 = golden_rows(c, g.ids[0], cell.n, 1.0);
        const struct dp_tensor x2 = golden_rows(c, g.ids[0], 3, 101.0);
        const struct dp_tensor y1 = forward(c, g.wrapper, g.run, &x1);
        const struct dp_tensor y2 = forward(c, g.wrapper, g.run, &x2);
        expect_matrix(c, "second output", &y2, g.ids[0], 3, 1, (double[]){203, 205, 207});
        expect_values(c, "first output", &y1, sequence(c, cell.n, 3.0, 2.0));
        const struct dp_tensor ones = make_matrix(c, g.ids[0], 3, 1, (double[]){1, 1, 1});
        const struct dp_tensor dx2 = backward(c, g.wrapper, g.run, &ones);
        golden_expect_grads(c, &g, 306.0, 3.0);
        const struct dp_tensor dx1 = backward(c, g.wrapper, g.run, &x1);
        golden_expect_grads(c, &g, 306.0 + golden_squares(cell.n), 3.0 + golden_sum(cell.n));
        expect_matrix(c, "second gradient", &dx2, g.ids[0], 3, 1, (double[]){2, 2, 2});
        expect_matrix(c, "first gradient", &dx1, g.ids[0], cell.n, 1,
                      sequence(c, cell.n, 2.0, 2.0));
    }
}

/* Three forwards, and the backward of the last one fails: the gradients of the replicas that
 * succeeded must not be found again by the backwards that follow, after a reset. */
static void failing_between(struct context *c)
{
    for (int k = 1; k <= 4; ++k) {
        case_release(c);
        case_note(c, "K=%d", k);
        struct dp_group *group = open_group(c, k);
        struct dp_slot *slot = dp_group_slot(group, 0);
        struct dp_module *scale = make_scale(c, group, 1);
        struct probe *probe;
        struct dp_module *parts[] = {scale, make_probe(c, group, &probe)};
        struct dp_module *model = make_sequential(c, group, parts, 2);
        move_module(c, model, slot);
        write_values(c, &param_at(c, scale, 0)->value, (double[]){2.0});
        struct dp_module *wrapper = make_parallel(c, model, &(struct dp_parallel_config){0});
        struct dp_run *run = open_run(c, group);
        const struct dp_tensor x = golden_rows(c, slot, 10, 1.0);
        for (int i = 0; i < 3; ++i) {
            (void)forward(c, wrapper, run, &x);
        }
        struct dp_error err = {0};
        probe->fail_backward = 1U << (k - 1);
        expect(c, dp_backward(wrapper, run, NULL, 0, NULL, 0, &err) == DP_EFAULT, "no error");
        expect_no_grad(c, "after the error", param_at(c, scale, 0));
        probe->fail_backward = 0;
        dp_run_reset(run);
        (void)forward(c, wrapper, run, &x);
        (void)backward(c, wrapper, run, &x);
        expect_grad(c, "weight", param_at(c, scale, 0), (double[]){385.0});
    }
}

/* Neither form moves the module. */
static void module_elsewhere(struct context *c)
{
    for (int k = 1; k <= 3; ++k) {
        case_release(c);
        case_note(c, "K=%d", k);
        struct golden g;
        golden_open(c, &g, k);
        move_module(c, g.linear, dp_group_host(g.group));
        const struct dp_tensor x = golden_rows(c, g.ids[0], 4, 1.0);
        struct dp_tensor out[DP_MAX_IO];
        int n_out = 0;
        struct dp_module *call = NULL;
        struct dp_error err = {0};
        const int status =
            dp_data_parallel(g.linear, g.run, g.ids, k, NULL, 0, &x, 1, out, &n_out, &call, &err);
        dp_module_close(call);
        expect_error(c, status, DP_EDEVICE, &err, dp_slot_name(g.ids[0]), "host");
        err = (struct dp_error){0};
        expect_error(c, dp_forward(g.wrapper, g.run, &x, 1, out, &n_out, &err), DP_EDEVICE, &err,
                     dp_slot_name(g.ids[0]), "host");
        expect_slot(c, "weight", &g.weight->value, dp_group_host(g.group));
    }
}

static const struct test_case cases[] = {
    {"composition/one-device", "COMP-04 APPLY-04", one_device},
    {"composition/one-row", "COMP-05 SPLIT-04", one_row},
    {"composition/no-rows", "SPLIT-05", no_rows},
    {"composition/two-forwards", "COMP-10", two_forwards},
    {"composition/failing-between", "COMP-10 APPLY-12", failing_between},
    {"composition/module-elsewhere", "COMP-06 DEV-01", module_elsewhere},
};
const struct case_table composition_cases = {cases, sizeof cases / sizeof cases[0]};
