/* apply.c: dp_apply and a wrapper of one device: which thread runs a replica, and calls that are
 * refused. */
#include "list.h"
#include "probes.h"

/* A probe applied to m shards by dp_apply itself. */
struct applied {
    struct dp_group *group;
    struct dp_slot **slots;
    struct dp_module *module;
    struct probe *probe;
    struct dp_replicas *replicas;
    struct dp_call calls[PROBE_REPLICAS];
    struct dp_tensor in[PROBE_REPLICAS], out[PROBE_REPLICAS][DP_MAX_IO];
    int m;
};

/* Replica i gets i + 1 rows of three, all holding i. */
static struct applied *open_applied(struct context *c, int m, const int order[])
{
    struct applied *a = case_memory(c, sizeof *a);
    a->m = m;
    a->group = open_group(c, m);
    a->slots = slot_list(c, a->group, order, m);
    a->module = make_probe(c, a->group, &a->probe);
    a->replicas = open_replicas(c, a->module, a->slots, m);
    expect_ok(c, dp_replicate(a->replicas, m, &c->err), "dp_replicate");
    for (int i = 0; i < m; ++i) {
        const size_t rows = (size_t)i + 1;
        a->in[i] = make_matrix(c, a->slots[i], rows, 3, sequence(c, 3 * rows, i, 0.0));
        a->calls[i] = (struct dp_call){.module = a->module,
                                       .run = dp_replicas_run(a->replicas, i),
                                       .in = &a->in[i],
                                       .n_in = 1,
                                       .out = a->out[i]};
    }
    return a;
}

static void apply(struct context *c, struct applied *a)
{
    expect_ok(c, dp_apply(a->calls, a->m, &c->err), "dp_apply");
}

/* m replicas run on m threads; the caller is the worker of the first slot. */
static void threads(struct context *c)
{
    for (int m = 1; m <= 8; ++m) {
        case_release(c);
        case_note(c, "m=%d", m);
        struct applied *a = open_applied(c, m, NULL);
        apply(c, a);
        for (int i = 0; i < m; ++i) {
            expect(c, a->probe->visit[i].forwards == 1, "replica %d did not run", i);
            for (int j = 0; j < i; ++j) {
                const struct probe_visit *visit = a->probe->visit;
                expect(c, pthread_equal(visit[i].thread, visit[j].thread) == 0,
                       "replicas %d and %d ran on one thread", j, i);
            }
        }
        expect(c, pthread_equal(a->probe->visit[0].thread, pthread_self()) != 0,
               "the first slot's worker is not the calling thread");
    }
}

/* One call on a slot that is not the first still runs on the calling thread. */
static void one_call(struct context *c)
{
    struct dp_group *group = open_group(c, 3);
    struct dp_slot **slots = slot_list(c, group, (int[]){2}, 1);
    struct probe *probe;
    struct dp_module *module = make_probe(c, group, &probe);
    struct dp_replicas *replicas = open_replicas(c, module, slots, 1);
    expect_ok(c, dp_replicate(replicas, 1, &c->err), "dp_replicate");
    struct dp_tensor out[DP_MAX_IO];
    const struct dp_tensor in = make_matrix(c, slots[0], 2, 1, sequence(c, 2, 1.0, 1.0));
    struct dp_call call = {module, dp_replicas_run(replicas, 0), &in, 1, out, 0};
    expect_ok(c, dp_apply(&call, 1, &c->err), "dp_apply");
    expect(c, pthread_equal(probe->visit[0].thread, pthread_self()) != 0,
           "one call did not run on the calling thread");
    expect(c, probe->visit[0].run_slot == slots[0], "it ran on %s",
           dp_slot_name(probe->visit[0].run_slot));
}

/* K = 1 is a direct call on the caller's thread, with nothing copied around it. */
static void one_device(struct context *c)
{
    struct dp_group *group = open_group(c, 1);
    struct dp_slot *slot = dp_group_slot(group, 0);
    struct probe *probe;
    struct dp_module *module = make_probe(c, group, &probe);
    struct dp_module *wrapper = make_parallel(c, module, &(struct dp_parallel_config){0});
    const struct dp_tensor x = make_matrix(c, slot, 10, 1, sequence(c, 10, 1.0, 1.0));
    struct dp_trace *trace = case_memory(c, sizeof *trace);
    dp_group_trace(group, trace);
    const struct dp_tensor y = forward(c, wrapper, open_run(c, group), &x);
    dp_group_trace(group, NULL);
    expect_matrix(c, "output", &y, slot, 10, 1, sequence(c, 10, 1.0, 1.0));
    expect(c, probe_forwards(probe) == 1, "%d calls", probe_forwards(probe));
    expect(c, probe->visit[0].in_data == x.data, "the input was copied");
    expect(c, y.data == x.data, "the output was gathered");
    expect(c, pthread_equal(probe->visit[0].thread, pthread_self()) != 0, "another thread");
    for (int p = 0; p < DP_PHASES; ++p)
        expect(c, trace->replica[0].bytes[p] == 0, "phase %d moved bytes", p);
}

static void no_calls(struct context *c)
{
    struct applied *a = open_applied(c, 2, NULL);
    expect_error(c, dp_apply(a->calls, 0, &c->err), DP_EINVAL, NULL, NULL);
    expect(c, probe_forwards(a->probe) == 0, "something ran");
}

/* A module that calls dp_apply from inside a replica. */
static int nested_forward(struct dp_module *module, struct dp_run *run, const struct dp_tensor in[],
                          int n_in, struct dp_tensor out[], int *n_out, struct dp_error *err)
{
    (void)run;
    (void)in;
    (void)n_in;
    (void)out;
    *n_out = 0;
    struct applied *const *inner = dp_module_self(module);
    return dp_apply((*inner)->calls, 1, err);
}

static void inside_a_replica(struct context *c)
{
    static const struct dp_module_ops ops = {"nested", nested_forward, NULL, NULL};
    struct applied *a = open_applied(c, 2, NULL);
    struct applied **self = case_memory(c, sizeof *self);
    struct dp_module *nested = make_module(c, a->group, &ops, self);
    struct dp_call calls[2] = {a->calls[0], a->calls[1]};
    calls[0].module = calls[1].module = nested;
    *self = a;
    expect_error(c, dp_apply(calls, 2, &c->err), DP_EINVAL, "replica 0", NULL);
    expect(c, probe_forwards(a->probe) == 0, "the inner call ran");
    apply(c, a);
    expect(c, probe_forwards(a->probe) == 2, "dp_apply does not work any more");
}

static const struct test_case cases[] = {
    {"apply/threads", "APPLY-04", threads},
    {"apply/one-call", "APPLY-04", one_call},
    {"apply/one-device", "COMP-04 APPLY-04", one_device},
    {"apply/no-calls", "APPLY-01 ERR-04", no_calls},
    {"apply/inside-a-replica", "NEST-06", inside_a_replica},
};
const struct case_table apply_cases = {cases, sizeof cases / sizeof cases[0]};
