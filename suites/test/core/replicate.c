/* replicate.c: the bytes that replicas take, which worker copies them, and which of their gradients
 * are summed. */
#include "golden.h"
#include "list.h"

#include <string.h>

static void replicate_replicate(struct context *c, struct dp_replicas *replicas, int m)
{
    expect_ok(c, dp_replicate(replicas, m, &c->err), "dp_replicate");
}

static uint64_t phase_bytes(const struct dp_trace *trace, enum dp_phase phase)
{
    uint64_t bytes = 0;
    for (int i = 0; i < DP_MAX_SLOTS; ++i)
        bytes += trace->replica[i].bytes[phase];
    return bytes;
}

/* (m - 1) P bytes go there and back, for the m replicas that run, not for all K. The linear layer
 * of 5 and 2 has 48 bytes, so 10 rows on 8 move 192, 30 rows move 336. */
static void traffic(struct context *c)
{
    static const struct {
        int k;
        size_t rows;
        uint64_t bytes;
    } table[] = {{8, 10, 192}, {8, 30, 336}, {4, 10, 144}, {2, 30, 48}, {8, 1, 0}, {1, 10, 0}};
    for (size_t i = 0; i < sizeof table / sizeof table[0]; ++i) {
        case_release(c);
        case_note(c, "K=%d N=%zu", table[i].k, table[i].rows);
        struct dp_group *group = open_group(c, table[i].k);
        struct dp_slot **slots = first_slots(c, group, table[i].k);
        struct dp_module *linear = make_linear(c, group, 5, 2, true);
        move_module(c, linear, slots[0]);
        struct dp_module *wrapper = make_parallel(c, linear, &(struct dp_parallel_config){0});
        struct dp_run *run = open_run(c, group);
        const struct dp_tensor x =
            make_matrix(c, slots[0], table[i].rows, 5, sequence(c, 5 * table[i].rows, 1.0, 1.0));
        struct dp_trace *trace = case_memory(c, sizeof *trace);
        dp_group_trace(group, trace);
        (void)forward(c, wrapper, run, &x);
        (void)backward(c, wrapper, run, NULL);
        dp_group_trace(group, NULL);
        const uint64_t there = phase_bytes(trace, DP_PHASE_REPLICATE);
        const uint64_t back = phase_bytes(trace, DP_PHASE_REDUCE);
        expect(c, there == table[i].bytes, "replicate moved %llu bytes, want %llu",
               (unsigned long long)there, (unsigned long long)table[i].bytes);
        expect(c, back == table[i].bytes, "reduce moved %llu bytes, want %llu",
               (unsigned long long)back, (unsigned long long)table[i].bytes);
        expect(c, trace->replica[0].bytes[DP_PHASE_REPLICATE] == 0, "replica 0 was sent a copy");
    }
}

/* The time of the slowest replica is the time of the whole transfer, no matter which worker copies.
 * If one worker copies for all, the later replicas have waited for the earlier ones. (This holds
 * for virtual slots; on a GPU copies are issued, and the times are those of issuing.) Bytes are
 * counted for the slot that they belong to, also if another worker copies them. */
static void carried(struct context *c)
{
    struct dp_group *group = open_group(c, 4);
    struct dp_slot **slots = first_slots(c, group, 4);
    struct dp_module *few = make_linear(c, group, 5, 2, false);
    struct dp_module *many = make_linear(c, group, 100, 200, false);
    struct dp_trace *trace = case_memory(c, sizeof *trace);
    move_module(c, few, slots[0]);
    move_module(c, many, slots[0]);
    struct dp_replicas *small = open_replicas(c, few, slots, 4);
    struct dp_replicas *large = open_replicas(c, many, slots, 4);
    dp_group_trace(group, trace);
    struct dp_slot_info info;
    dp_slot_describe(slots[0], &info);
    const int rounds = strcmp(info.kind, "virt") == 0 ? 200 : 0;
    for (int round = 0; round < rounds; ++round) {
        memset(trace, 0, sizeof *trace);
        expect_ok(c, dp_replicate(small, 4, &c->err), "dp_replicate");
        for (int i = 2; i < 4; ++i) {
            const uint64_t before = trace->replica[i - 1].ns[DP_PHASE_REPLICATE];
            const uint64_t ns = trace->replica[i].ns[DP_PHASE_REPLICATE];
            expect(c, before > 0 && ns >= before, "replica %d: %llu ns, the one before %llu", i,
                   (unsigned long long)ns, (unsigned long long)before);
        }
    }
    memset(trace, 0, sizeof *trace);
    expect_ok(c, dp_replicate(large, 4, &c->err), "dp_replicate");
    dp_group_trace(group, NULL);
    for (int i = 0; i < 4; ++i) {
        const uint64_t bytes = trace->replica[i].bytes[DP_PHASE_REPLICATE];
        expect(c, bytes == (i > 0 ? 80000 : 0), "replica %d: %llu bytes", i,
               (unsigned long long)bytes);
    }
}

/* Only some of the replicas have a gradient: the others count as zeros. */
static void reduce_some(struct context *c)
{
    struct golden g;
    golden_open(c, &g, 4);
    struct dp_replicas *replicas = open_replicas(c, g.linear, g.ids, 4);
    for (unsigned set = 0; set < 16; ++set) {
        case_note(c, "replicas with a gradient: %#x", set);
        dp_zero_grad(g.linear);
        replicate_replicate(c, replicas, 4);
        double want = 0.0;
        for (int i = 0; i < 4; ++i) {
            if ((set >> i & 1) != 0) {
                struct dp_tensor grad;
                bool accumulate;
                dp_run_grad(dp_replicas_run(replicas, i), g.weight, &grad, &accumulate);
                const double value = 1 << (2 * i);
                write_values(c, &grad, &value);
                want += value;
            }
        }
        expect_ok(c, dp_reduce(replicas, 4, &c->err), "dp_reduce");
        expect_grad(c, "base", g.weight, &want);
    }
}

/* Gives replica i of m the gradient first + step e + i for a parameter. */
static void fill_replicas(struct context *c, struct dp_replicas *replicas, struct dp_param *param,
                          int m, double first, double step)
{
    for (int i = 0; i < m; ++i) {
        struct dp_tensor grad;
        bool accumulate;
        dp_run_grad(dp_replicas_run(replicas, i), param, &grad, &accumulate);
        write_values(c, &grad, sequence(c, dp_tensor_count(&grad), first + i, step));
    }
}

/* Several workers sum large parameters in slices. Each element is added once, also if the base has
 * a gradient already and small parameters are in the same transfer. */
static void reduce_large(struct context *c)
{
    for (int m = 1; m <= 4; ++m) {
        case_release(c);
        case_note(c, "m=%d", m);
        struct dp_group *group = open_group(c, 4);
        struct dp_slot **slots = first_slots(c, group, 4);
        struct dp_module *parts[] = {make_linear(c, group, 1, 3, true),
                                     make_linear(c, group, 3, 20015, true)};
        struct dp_module *model = make_sequential(c, group, parts, 2);
        move_module(c, model, slots[0]);
        struct dp_replicas *replicas = open_replicas(c, model, slots, 4);
        for (int round = 1; round <= 3; ++round) {
            expect_ok(c, dp_replicate(replicas, m, &c->err), "dp_replicate");
            for (int p = 0; p < 4; ++p)
                fill_replicas(c, replicas, param_at(c, model, p), m, 5.0 * p, 1.0);
            expect_ok(c, dp_reduce(replicas, m, &c->err), "dp_reduce");
            for (int p = 0; p < 4; ++p) {
                const struct dp_param *param = param_at(c, model, p);
                const double first = round * (5.0 * p * m + m * (m - 1) / 2.0);
                expect_grad(c, "sum", param,
                            sequence(c, dp_tensor_count(&param->grad), first, round * m));
            }
        }
    }
}

/* A frozen parameter is left out, whatever its replicas hold. */
static void reduce_frozen(struct context *c)
{
    struct golden g;
    golden_open(c, &g, 3);
    struct dp_replicas *replicas = open_replicas(c, g.linear, g.ids, 3);
    for (int frozen = 0; frozen < 2; ++frozen) {
        g.weight->frozen = frozen != 0;
        expect_ok(c, dp_replicate(replicas, 3, &c->err), "dp_replicate");
        fill_replicas(c, replicas, g.weight, 3, 10.0, 0.0);
        fill_replicas(c, replicas, g.bias, 3, 20.0, 0.0);
        expect_ok(c, dp_reduce(replicas, 3, &c->err), "dp_reduce");
        golden_expect_grads(c, &g, 33.0, frozen != 0 ? 126.0 : 63.0);
    }
}

static const struct test_case cases[] = {
    {"replicate/traffic", "REPL-03 SPLIT-02 COMP-04", traffic},
    {"replicate/carried", "REPL-03", carried},
    {"replicate/reduce-some", "GRAD-11 GRAD-12", reduce_some},
    {"replicate/reduce-large", "GRAD-01 GRAD-04 COAL-02 DET-01", reduce_large},
    {"replicate/reduce-frozen", "REPL-13", reduce_frozen},
};
const struct case_table replicate_cases = {cases, sizeof cases / sizeof cases[0]};
