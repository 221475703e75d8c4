/* memory.c: tensors, runs and references, and how long each lives. */
#include "golden.h"
#include "list.h"

#include <stdint.h>
#include <string.h>

static void round_trip(struct context *c)
{
    static const enum dp_dtype list[] = {DP_F32, DP_F64, DP_I32, DP_I64};
    static const size_t bytes[] = {4, 8, 4, 8};
    for (int place = -1; place < 2; ++place) {
        for (int i = 0; i < 4; ++i) {
            case_release(c);
            case_note(c, "slot %d dtype %d", place, (int)list[i]);
            struct dp_group *group = open_group(c, 2);
            struct dp_slot *slot = place < 0 ? dp_group_host(group) : dp_group_slot(group, place);
            const struct dp_tensor a =
                make_tensor(c, slot, list[i], 3, (size_t[]){2, 3, 4}, sequence(c, 24, -5.0, 1.0));
            expect(c, dp_tensor_count(&a) == 24, "%zu elements", dp_tensor_count(&a));
            expect(c, dp_tensor_bytes(&a) == 24 * bytes[i], "%zu bytes", dp_tensor_bytes(&a));
            expect(c, dp_dtype_bytes(list[i]) == bytes[i], "dtype of %zu bytes",
                   dp_dtype_bytes(list[i]));
            expect_values(c, "read back", &a, sequence(c, 24, -5.0, 1.0));
            const struct dp_tensor b = make_tensor(c, dp_group_slot(group, 1), list[i], 1,
                                                   (size_t[]){24}, sequence(c, 24, 0.0, 0.0));
            expect_ok(c, dp_tensor_copy(&b, &a, &c->err), "dp_tensor_copy");
            expect_values(c, "copy", &b, sequence(c, 24, -5.0, 1.0));
        }
    }
}

/* The source may change as soon as the copy is queued after the work that wrote it. */
static void copies_in_order(struct context *c)
{
    struct dp_group *group = open_group(c, 3);
    struct dp_tensor t[3];
    for (int i = 0; i < 3; ++i) {
        t[i] = make_tensor(c, dp_group_slot(group, i), DP_F32, 1, (size_t[]){5},
                           sequence(c, 5, 10.0 * i, 1.0));
    }
    for (int round = 0; round < 6; ++round)
        expect_ok(c, dp_tensor_copy(&t[(round + 1) % 3], &t[round % 3], &c->err), "copy");
    expect_ok(c, dp_group_wait(group, &c->err), "dp_group_wait");
    for (int i = 0; i < 3; ++i)
        expect_values(c, "everywhere the first", &t[i], sequence(c, 5, 0.0, 1.0));
}

static void memory_refused(struct context *c)
{
    struct dp_group *group = open_group(c, 2);
    struct dp_slot *slot = dp_group_slot(group, 0);
    const struct dp_tensor t = make_matrix(c, slot, 4, 2, sequence(c, 8, 1.0, 1.0));
    const struct dp_tensor small = make_matrix(c, slot, 3, 2, sequence(c, 6, 1.0, 1.0));
    const struct dp_tensor one = make_tensor(c, slot, DP_F32, 0, NULL, sequence(c, 1, 1.0, 1.0));
    struct dp_tensor view = {.ndim = -7};
    static const size_t rows[][2] = {{0, 5}, {5, 0}, {4, 1}, {SIZE_MAX, 2}, {1, SIZE_MAX}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
        expect_error(c, dp_tensor_rows(&t, rows[i][0], rows[i][1], &view, &c->err), DP_EINVAL, "4",
                     NULL);
    }
    expect_error(c, dp_tensor_rows(&one, 0, 1, &view, &c->err), DP_EINVAL, NULL, NULL);
    expect(c, view.ndim == -7, "a failing call set its output");
    expect(c, dp_tensor_copy(&t, &small, NULL) != DP_OK, "sizes differ, copied all the same");
    struct dp_tensor huge;
    const size_t dim[2] = {SIZE_MAX / 2, 8};
    expect(c, dp_tensor_alloc(slot, DP_F32, 2, dim, &huge, NULL) != DP_OK, "allocated %s", "2^66");
    expect_error(c, dp_tensor_alloc(slot, DP_F32, 6, (size_t[6]){1, 1, 1, 1, 1, 1}, &huge, &c->err),
                 DP_EINVAL, "5", NULL);
}

static void views(struct context *c)
{
    struct dp_group *group = open_group(c, 1);
    const struct dp_tensor t =
        make_matrix(c, dp_group_slot(group, 0), 5, 2, sequence(c, 10, 1.0, 1.0));
    struct dp_tensor view;
    expect_ok(c, dp_tensor_rows(&t, 1, 3, &view, &c->err), "dp_tensor_rows");
    expect_matrix(c, "view", &view, t.slot, 3, 2, sequence(c, 6, 3.0, 1.0));
    write_values(c, &view, sequence(c, 6, 0.0, 0.0));
    expect_values(c, "whole", &t, (double[]){1, 2, 0, 0, 0, 0, 0, 0, 9, 10});
    expect_ok(c, dp_tensor_rows(&t, 5, 0, &view, &c->err), "no rows at the end");
    expect_shape(c, "empty view", &view, 2, (size_t[]){0, 2});
}

/* Outputs live until the run is reset: after ten forwards all outputs are still right. */
static void outputs_live(struct context *c)
{
    struct golden g;
    golden_open(c, &g, 3);
    for (int round = 0; round < 3; ++round) {
        struct dp_tensor y[10];
        dp_run_reset(g.run);
        for (int i = 0; i < 10; ++i) {
            const struct dp_tensor x = golden_rows(c, g.ids[0], 10, 100.0 * i);
            y[i] = forward(c, g.wrapper, g.run, &x);
        }
        for (int i = 0; i < 10; ++i) {
            case_note(c, "round %d output %d", round, i);
            expect_values(c, "output", &y[i], sequence(c, 10, 200.0 * i + 1.0, 2.0));
        }
    }
}

/* Batches of every size use one wrapper and one run, and some forwards have no backward: memory
 * that is used again holds nothing of the step before. */
static void changing_batches(struct context *c)
{
    struct golden g;
    golden_open(c, &g, 4);
    for (size_t i = 0; i < 150; ++i) {
        const size_t n = i * 37 % 61;
        case_note(c, "step %zu N=%zu", i, n);
        const struct dp_tensor x = golden_rows(c, g.ids[0], n, 1.0);
        dp_run_reset(g.run);
        dp_zero_grad(g.linear);
        if (i % 3 == 0) {
            (void)forward(c, g.wrapper, g.run, &x);
            dp_run_reset(g.run);
        }
        const struct dp_tensor y = forward(c, g.wrapper, g.run, &x);
        const struct dp_tensor dx = backward(c, g.wrapper, g.run, &x);
        expect_matrix(c, "output", &y, g.ids[0], n, 1, sequence(c, n, 3.0, 2.0));
        expect_matrix(c, "input gradient", &dx, g.ids[0], n, 1, sequence(c, n, 2.0, 2.0));
        golden_expect_grads(c, &g, golden_squares(n), golden_sum(n));
    }
}

static void count_close(void *self)
{
    ++*(int *)self;
}

/* Modules are counted references: parents keep children, wrappers keep modules. */
static void references(struct context *c)
{
    static const struct dp_module_ops ops = {"counted", NULL, NULL, count_close};
    struct dp_group *group = open_group(c, 2);
    struct dp_module *leaf = NULL, *parent = NULL, *wrapper = NULL;
    int *count = case_memory(c, sizeof *count);
    expect_ok(c, dp_module_open(group, &ops, count, NULL, 0, &leaf, &c->err), "leaf");
    expect(c, dp_module_self(leaf) == count && strcmp(dp_module_kind(leaf), "counted") == 0,
           "self or kind");
    struct dp_module *children[2] = {leaf, leaf};
    expect_ok(c, dp_sequential(group, children, 2, &parent, &c->err), "sequential");
    expect(c, dp_module_children(parent) == 2 && dp_module_child(parent, 1) == leaf, "children");
    expect_ok(c, dp_parallel(parent, &(struct dp_parallel_config){0}, &wrapper, &c->err),
              "wrapper");
    dp_module_close(leaf);
    expect(c, *count == 0, "closed %d times with its parent open", *count);
    dp_module_close(parent);
    expect(c, *count == 0, "closed %d times with its wrapper open", *count);
    struct dp_module *again = dp_module_retain(wrapper);
    dp_module_close(wrapper);
    expect(c, again == wrapper && *count == 0, "closed %d times with a reference left", *count);
    dp_module_close(again);
    expect(c, *count == 1, "closed %d times", *count);
    dp_module_close(NULL);
}

static uint64_t peak_of(struct dp_group *group, int i)
{
    struct dp_slot_info info;
    dp_slot_describe(dp_group_slot(group, i), &info);
    return info.peak_bytes;
}

/* The peak is the most that a device held, not what it holds now; each device has its own. */
static void peak(struct context *c)
{
    struct dp_group *group = open_group(c, 2);
    struct dp_slot *slot = dp_group_slot(group, 1);
    struct dp_tensor a, b;
    const uint64_t before = peak_of(group, 1);
    expect_ok(c, dp_tensor_alloc(slot, DP_F32, 1, (size_t[]){1000}, &a, &c->err), "a");
    expect(c, peak_of(group, 1) == before + 4000, "one tensor: peak %zu",
           (size_t)peak_of(group, 1));
    expect_ok(c, dp_tensor_alloc(slot, DP_F32, 1, (size_t[]){500}, &b, &c->err), "b");
    dp_tensor_free(&a);
    expect_ok(c, dp_tensor_alloc(slot, DP_F32, 1, (size_t[]){900}, &a, &c->err), "a again");
    dp_tensor_free(&b);
    dp_tensor_free(&a);
    expect(c, peak_of(group, 1) == before + 6000, "two at a time: peak %zu",
           (size_t)peak_of(group, 1));
    expect(c, peak_of(group, 0) == 0, "the other device: peak %zu", (size_t)peak_of(group, 0));
}

/* A reset forgets a forward that had no backward: its tensors are gone. */
static void reset_forgets(struct context *c)
{
    for (int wrapped = 0; wrapped < 2; ++wrapped) {
        case_release(c);
        case_note(c, "wrapped %d", wrapped);
        struct golden g;
        golden_open(c, &g, 3);
        struct dp_module *module = wrapped ? g.wrapper : g.linear;
        const struct dp_tensor x = golden_rows(c, g.ids[0], 10, 1.0);
        (void)forward(c, module, g.run, &x);
        dp_run_reset(g.run);
        expect_error(c, dp_backward(module, g.run, NULL, 0, NULL, 0, &c->err), DP_EINVAL,
                     "without a forward", NULL);
        expect_no_grad(c, "after the refusal", g.weight);
    }
}

static const struct test_case cases[] = {
    {"memory/peak", "COMP-12", peak},
    {"memory/round-trip", "GATH-12", round_trip},
    {"memory/copies-in-order", "GATH-13", copies_in_order},
    {"memory/refused", "ERR-03", memory_refused},
    {"memory/views", "SPLIT-12", views},
    {"memory/outputs-live", "GATH-13", outputs_live},
    {"memory/changing-batches", "COMP-12 REPL-01", changing_batches},
    {"memory/references", "COMP-12", references},
    {"memory/reset-forgets", "COMP-10 COMP-12", reset_forgets},
};
const struct case_table memory_cases = {cases, sizeof cases / sizeof cases[0]};
