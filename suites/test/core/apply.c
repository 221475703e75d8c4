/* apply.c: dp_apply runs the replicas on the right worker, in the right mode, and returns correctly
 * when they have different speeds or some of them fail. */
#include "list.h"
#include "probes.h"

#include <stdio.h>
#include <time.h>

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
    struct dp_error err = {0};
    expect_ok(c, dp_replicate(a->replicas, m, &err), &err, "dp_replicate");
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
    struct dp_error err = {0};
    expect_ok(c, dp_apply(a->calls, a->m, &err), &err, "dp_apply");
}

/* The first replica is the slowest: results belong to their index all the same. */
static void slow_first(struct context *c)
{
    for (int queued = 0; queued < 2; ++queued) {
        case_release(c);
        case_note(c, "sleep %s", queued != 0 ? "in the queue" : "on the worker");
        struct applied *a = open_applied(c, 4, NULL);
        a->probe->queued = queued != 0;
        for (int i = 0; i < 4; ++i) {
            a->probe->forward_ms[i] = (unsigned)(9 - 3 * i);
        }
        apply(c, a);
        for (int i = 0; i < 4; ++i) {
            const size_t rows = (size_t)i + 1;
            expect(c, a->calls[i].n_out == 1, "replica %d has %d outputs", i, a->calls[i].n_out);
            expect_matrix(c, "output", &a->out[i][0], a->slots[i], rows, 3,
                          sequence(c, 3 * rows, i, 0.0));
        }
    }
}

/* A whole input arrives unchanged: rank, sizes, and the slot that it belongs to. */
static void whole_input(struct context *c)
{
    static const int order[] = {2, 0, 3, 1};
    struct applied *a = open_applied(c, 4, order);
    apply(c, a);
    for (int i = 0; i < 4; ++i) {
        const struct probe_visit *visit = &a->probe->visit[i];
        expect(c, visit->forwards == 1, "replica %d ran %d times", i, visit->forwards);
        expect(c, visit->ndim == 2 && visit->dim[0] == (size_t)i + 1 && visit->dim[1] == 3,
               "replica %d saw %d dimensions, %zu rows", i, visit->ndim, visit->dim[0]);
        expect(c, visit->run_slot == a->slots[i], "replica %d ran on %s", i,
               dp_slot_name(visit->run_slot));
        expect(c, visit->in_slot == a->slots[i], "replica %d's input is on %s", i,
               dp_slot_name(visit->in_slot));
        expect(c, visit->in_data == a->in[i].data, "replica %d's input was copied", i);
    }
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
    struct dp_error err = {0};
    expect_ok(c, dp_replicate(replicas, 1, &err), &err, "dp_replicate");
    struct dp_tensor out[DP_MAX_IO];
    const struct dp_tensor in = make_matrix(c, slots[0], 2, 1, sequence(c, 2, 1.0, 1.0));
    struct dp_call call = {module, dp_replicas_run(replicas, 0), &in, 1, out, 0};
    expect_ok(c, dp_apply(&call, 1, &err), &err, "dp_apply");
    expect(c, pthread_equal(probe->visit[0].thread, pthread_self()) != 0,
           "one call did not run on the calling thread");
    expect(c, probe->visit[0].run_slot == slots[0], "it ran on %s",
           dp_slot_name(probe->visit[0].run_slot));
}

/* The grad and train modes of the caller's run hold inside of every replica, and only for that
 * call. */
static void modes(struct context *c)
{
    for (int k = 1; k <= 4; ++k) {
        for (int mode = 0; mode < 4; ++mode) {
            case_release(c);
            case_note(c, "K=%d mode %d", k, mode);
            struct dp_group *group = open_group(c, k);
            struct probe *probe;
            struct dp_module *module = make_probe(c, group, &probe);
            struct dp_module *wrapper = make_parallel(c, module, &(struct dp_parallel_config){0});
            struct dp_run *run = open_run(c, group);
            const struct dp_tensor x =
                make_matrix(c, dp_group_slot(group, 0), 10, 1, sequence(c, 10, 1.0, 1.0));
            const bool grad = (mode & 1) != 0, train = (mode & 2) != 0;
            dp_run_grad_mode(run, grad);
            dp_run_train_mode(run, train);
            (void)forward(c, wrapper, run, &x);
            for (int i = 0; i < k; ++i) {
                expect(c, probe->visit[i].grad_mode == grad, "grad mode in replica %d", i);
                expect(c, probe->visit[i].train_mode == train, "train mode in replica %d", i);
            }
            dp_run_grad_mode(run, true);
            dp_run_train_mode(run, true);
            (void)forward(c, wrapper, run, &x);
            for (int i = 0; i < k; ++i) {
                expect(c, probe->visit[i].grad_mode && probe->visit[i].train_mode,
                       "modes of the next call in replica %d", i);
            }
        }
    }
}

static int64_t now_ms(void)
{
    struct timespec time;
    (void)clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

/* Replica 0 fails at once: the call does not return before replica 3 has ended. */
static void joined(struct context *c)
{
    struct applied *a = open_applied(c, 4, NULL);
    a->probe->fail_forward = 1U;
    a->probe->forward_ms[3] = 25;
    struct dp_error err = {0};
    const int64_t begin = now_ms();
    const int status = dp_apply(a->calls, 4, &err);
    const int64_t took = now_ms() - begin;
    expect_error(c, status, DP_EFAULT, &err, "replica 0", NULL);
    expect(c, took >= 25, "returned after %lld ms, replica 3 takes 25", (long long)took);
    for (int i = 1; i < 4; ++i) {
        expect(c, a->probe->visit[i].finished == 1, "replica %d was not joined", i);
    }
}

/* Two replicas fail, the higher one earlier: the lower one is reported. */
static void lowest_index(struct context *c)
{
    static const struct {
        uint32_t fail;
        int lowest;
    } table[] = {{0xaU, 1}, {0x8U, 3}, {0xcU, 2}, {0xfU, 0}, {0x6U, 1}};
    for (size_t t = 0; t < sizeof table / sizeof table[0]; ++t) {
        case_release(c);
        case_note(c, "failing %#x", (unsigned)table[t].fail);
        struct applied *a = open_applied(c, 4, (int[]){3, 1, 0, 2});
        a->probe->fail_forward = table[t].fail;
        a->probe->fail_status = DP_ENOTSUP;
        for (int i = 0; i < 4; ++i) {
            a->probe->forward_ms[i] = (unsigned)(6 - 2 * i);
        }
        struct dp_error err = {0};
        const int lowest = table[t].lowest;
        char replica[32], text[32];
        (void)snprintf(replica, sizeof replica, "replica %d on %s: ", lowest,
                       dp_slot_name(a->slots[lowest]));
        (void)snprintf(text, sizeof text, "probe %d refuses forward", lowest);
        expect_error(c, dp_apply(a->calls, 4, &err), DP_ENOTSUP, &err, replica, text);
        expect(c, err.has_replica && err.replica == lowest, "the error names replica %d",
               err.replica);
        a->probe->fail_forward = 0;
        apply(c, a);
        expect_values(c, "output of the next call", &a->out[3][0], sequence(c, 12, 3.0, 0.0));
    }
}

static void no_calls(struct context *c)
{
    struct applied *a = open_applied(c, 2, NULL);
    struct dp_error err = {0};
    expect_error(c, dp_apply(a->calls, 0, &err), DP_EINVAL, &err, NULL, NULL);
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
    struct dp_error err = {0};
    expect_error(c, dp_apply(calls, 2, &err), DP_EINVAL, &err, "replica 0", NULL);
    expect(c, probe_forwards(a->probe) == 0, "the inner call ran");
    apply(c, a);
    expect(c, probe_forwards(a->probe) == 2, "dp_apply does not work any more");
}

static const struct test_case cases[] = {
    {"apply/slow-first", "APPLY-02", slow_first},
    {"apply/whole-input", "APPLY-03 APPLY-06 DEV-03", whole_input},
    {"apply/threads", "APPLY-04", threads},
    {"apply/one-call", "APPLY-04", one_call},
    {"apply/modes", "APPLY-05 BUF-09 REPL-14", modes},
    {"apply/joined", "APPLY-08", joined},
    {"apply/lowest-index", "APPLY-09 APPLY-10 APPLY-12 ERR-02", lowest_index},
    {"apply/no-calls", "APPLY-01 ERR-04", no_calls},
    {"apply/inside-a-replica", "NEST-06", inside_a_replica},
};
const struct case_table apply_cases = {cases, sizeof cases / sizeof cases[0]};
