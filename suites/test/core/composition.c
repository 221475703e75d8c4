/* composition.c: one device is called directly, and a backward that fails among others. */
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
    for (int p = 0; p < DP_PHASES; ++p)
        expect(c, trace->replica[0].bytes[p] == 0, "phase %d moved bytes", p);
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
        for (int i = 0; i < 3; ++i)
            (void)forward(c, wrapper, run, &x);
        probe->fail_backward = 1U << (k - 1);
        expect_error(c, dp_backward(wrapper, run, NULL, 0, NULL, 0, &c->err), DP_EFAULT, NULL,
                     NULL);
        expect_no_grad(c, "after the error", param_at(c, scale, 0));
        probe->fail_backward = 0;
        dp_run_reset(run);
        (void)forward(c, wrapper, run, &x);
        (void)backward(c, wrapper, run, &x);
        expect_grad(c, "weight", param_at(c, scale, 0), (double[]){385.0});
    }
}

static const struct test_case cases[] = {
    {"composition/one-device", "COMP-04 APPLY-04", one_device},
    {"composition/failing-between", "COMP-10 APPLY-12", failing_between},
};
const struct case_table composition_cases = {cases, sizeof cases / sizeof cases[0]};
