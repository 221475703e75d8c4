/* order.c: which work must wait for which. On a device that runs everything at once these cases
 * cannot fail; on a late one (+lag) each fails if one event wait or one drain is missing. */
#include "golden.h"
#include "list.h"
#include "probes.h"

#include <string.h>

static void call_mark(const void *args)
{
    ++**(int *const *)args;
}

/* Queues a note on a slot: it shows later whether the slot's work was waited for. */
static int *queue_mark(struct context *c, struct dp_run *run, struct dp_slot *slot)
{
    int *mark = case_memory(c, sizeof *mark);
    expect_ok(c, dp_run_call(run, slot, call_mark, &mark, sizeof mark, NULL, 0, &c->err),
              "dp_run_call");
    return mark;
}

static void order_copy(struct context *c, const struct dp_tensor *dst, const struct dp_tensor *src)
{
    expect_ok(c, dp_tensor_copy(dst, src, &c->err), "dp_tensor_copy");
}

/* A copy to the host is complete when it returns: the work that was queued for the tensor before is
 * done, and later work is not. */
static void pull(struct context *c, const struct dp_tensor *tensor, const double want[])
{
    const struct dp_tensor host =
        make_tensor(c, dp_group_host(dp_slot_group(tensor->slot)), DP_F32, tensor->ndim,
                    tensor->dim, sequence(c, dp_tensor_count(tensor), -99.0, 0.0));
    order_copy(c, &host, tensor);
    expect_values(c, "copied to the host", &host, want);
}

/* A transfer into a tensor waits for the work that still reads it. */
static void overwritten_input(struct context *c)
{
    struct dp_group *group = open_group(c, 2);
    struct dp_slot **slots = first_slots(c, group, 2);
    const struct dp_tensor t = make_matrix(c, slots[1], 4, 1, sequence(c, 4, 1.0, 1.0));
    const struct dp_tensor other = make_matrix(c, slots[0], 4, 1, sequence(c, 4, 50.0, 1.0));
    const struct dp_tensor y = forward(c, make_relu(c, group), open_run(c, group), &t);
    order_copy(c, &t, &other);
    pull(c, &t, sequence(c, 4, 50.0, 1.0));
    expect_values(c, "made of the old input", &y, sequence(c, 4, 1.0, 1.0));
}

/* A sum reads its inputs before later work changes them. */
static void overwritten_summand(struct context *c)
{
    struct dp_group *group = open_group(c, 4);
    struct dp_slot **slots = first_slots(c, group, 4);
    struct dp_run *run = open_run(c, group);
    for (int k = 0; k < 3; ++k) {
        const struct dp_tensor src[3] = {make_matrix(c, slots[0], 4, 1, sequence(c, 4, 1.0, 1.0)),
                                         make_matrix(c, slots[1], 4, 1, sequence(c, 4, 10.0, 0.0)),
                                         make_matrix(c, slots[2], 4, 1, sequence(c, 4, 5.0, 0.0))};
        const struct dp_tensor other = make_matrix(c, slots[3], 4, 1, sequence(c, 4, 70.0, 1.0));
        struct dp_tensor sum;
        expect_ok(c, dp_reduce_add_coalesced(run, src, 1, 3, slots[2], 100, &sum, &c->err),
                  "dp_reduce_add_coalesced");
        order_copy(c, &src[k], &other);
        pull(c, &src[k], sequence(c, 4, 70.0, 1.0));
        expect_values(c, "sum of the old values", &sum, sequence(c, 4, 16.0, 1.0));
    }
}

/* Memory that dp_run_reset gave back is not written before its last reader has ended. */
static void reused_memory(struct context *c)
{
    struct dp_group *group = open_group(c, 3);
    struct dp_slot **slots = first_slots(c, group, 3);
    struct dp_run *run = open_run(c, group), *reader = open_run(c, group);
    struct dp_module *relu = make_relu(c, group);
    struct dp_tensor y[2];
    const struct dp_tensor src[2][3] = {{make_matrix(c, slots[0], 4, 1, sequence(c, 4, 1.0, 1.0)),
                                         make_matrix(c, slots[1], 4, 1, sequence(c, 4, 10.0, 0.0)),
                                         make_matrix(c, slots[2], 4, 1, sequence(c, 4, 5.0, 0.0))},
                                        {make_matrix(c, slots[0], 4, 1, sequence(c, 4, 200.0, 1.0)),
                                         make_matrix(c, slots[1], 4, 1, sequence(c, 4, 300.0, 0.0)),
                                         make_matrix(c, slots[2], 4, 1, sequence(c, 4, 7.0, 0.0))}};
    for (int step = 0; step < 2; ++step) {
        struct dp_tensor sum;
        dp_run_reset(run);
        expect_ok(c, dp_reduce_add_coalesced(run, src[step], 1, 3, slots[2], 100, &sum, &c->err),
                  "dp_reduce_add_coalesced");
        if (step == 1)
            pull(c, &src[1][0], sequence(c, 4, 200.0, 1.0));
        y[step] = forward(c, relu, reader, &sum);
    }
    expect_values(c, "made of the first sum", &y[0], sequence(c, 4, 16.0, 1.0));
    expect_values(c, "made of the second sum", &y[1], sequence(c, 4, 507.0, 1.0));
}

/* The same if the step was so large that dp_run_reset gives its memory back for a larger piece: the
 * reader has not ended then. There are 3 x 2 MB; small steps need less than one. */
static void outgrown_memory(struct context *c)
{
    enum { n = 500000 };
    struct dp_group *group = open_group(c, 2);
    struct dp_slot *slot = dp_group_slot(group, 1);
    struct dp_run *run = open_run(c, group), *reader = open_run(c, group);
    struct dp_module *relu = make_relu(c, group);
    struct dp_tensor x[3], y[3];
    for (int step = 0; step < 3; ++step)
        x[step] = make_matrix(c, slot, n, 1, sequence(c, n, 1.0 + 100.0 * step, 1.0));
    for (int step = 0; step < 3; ++step) {
        dp_run_reset(run);
        struct dp_tensor between = x[step];
        for (int i = 0; i < 3; ++i)
            between = forward(c, relu, run, &between);
        y[step] = forward(c, relu, reader, &between);
    }
    for (int step = 0; step < 3; ++step) {
        expect_values(c, "made of a step's last tensor", &y[step],
                      sequence(c, n, 1.0 + 100.0 * step, 1.0));
    }
}

/* A plain call fails in its second module: the work of the first one has ended. */
static void failing_plain_call(struct context *c)
{
    for (int i = 0; i < 2; ++i) {
        case_release(c);
        case_note(c, "slot %d", i);
        struct dp_group *group = open_group(c, 2);
        struct probe *probe;
        struct dp_module *module = make_probe(c, group, &probe);
        struct dp_tensor out[DP_MAX_IO];
        const struct dp_tensor x = golden_rows(c, dp_group_slot(group, i), 3, 1.0);
        int n_out = 0;
        probe->mark = true;
        probe->fail_forward = 1;
        const int status = dp_forward(module, open_run(c, group), &x, 1, out, &n_out, &c->err);
        expect(c, probe->visit[0].marks == 1, "work was under way when the call returned");
        expect_error(c, status, DP_EFAULT, "probe 0 refuses forward", NULL);
        expect(c, !c->seen.has_replica, "an error outside replicas names replica %d",
               c->seen.replica);
    }
}

/* The same for a backward. */
static void failing_plain_backward(struct context *c)
{
    for (int i = 0; i < 2; ++i) {
        case_release(c);
        case_note(c, "slot %d", i);
        struct dp_group *group = open_group(c, 2);
        struct probe *probe;
        struct dp_module *module = make_probe(c, group, &probe);
        struct dp_run *run = open_run(c, group);
        const struct dp_tensor x = golden_rows(c, dp_group_slot(group, i), 3, 1.0);
        probe->fail_backward = 1;
        forward(c, module, run, &x);
        const int *mark = queue_mark(c, run, dp_group_slot(group, i));
        const int status = dp_backward(module, run, NULL, 0, NULL, 1, &c->err);
        expect(c, *mark == 1, "work was under way when the call returned");
        expect_error(c, status, DP_EFAULT, "probe 0 refuses backward", NULL);
    }
}

/* When dp_tensor_write and dp_tensor_read return, the caller may use its memory again. */
static void callers_memory(struct context *c)
{
    struct dp_group *group = open_group(c, 2);
    float *memory = case_memory(c, 4 * sizeof *memory);
    for (int i = 0; i < 2; ++i) {
        const struct dp_tensor t =
            make_tensor(c, dp_group_slot(group, i), DP_F32, 1, (size_t[]){4}, NULL);
        for (int e = 0; e < 4; ++e)
            memory[e] = (float)(10 * i + e);
        expect_ok(c, dp_tensor_write(&t, memory, &c->err), "dp_tensor_write");
        for (int e = 0; e < 4; ++e)
            memory[e] = -1.0f;
        expect_values(c, "tensor", &t, sequence(c, 4, 10.0 * i, 1.0));
        expect(c, memory[0] == -1.0f && memory[3] == -1.0f, "the memory was written");
    }
}

/* Whatever frees memory waits for the work that may use it. */
static void freeing_waits(struct context *c)
{
    for (int what = 0; what < 4; ++what) {
        for (int i = 0; i < 2; ++i) {
            case_release(c);
            case_note(c, "call %d slot %d", what, i);
            struct dp_group *group = open_group(c, 2);
            struct dp_slot *slot = dp_group_slot(group, i);
            struct dp_run *run = open_run(c, group), *closing = NULL;
            struct dp_module *linear = NULL;
            struct dp_tensor tensor;
            expect_ok(c, dp_run_open(group, &closing, &c->err), "dp_run_open");
            expect_ok(c, dp_linear(group, 1, 1, true, &linear, &c->err), "dp_linear");
            expect_ok(c, dp_module_to(linear, slot, &c->err), "dp_module_to");
            expect_ok(c, dp_tensor_alloc(slot, DP_F32, 1, (size_t[]){4}, &tensor, &c->err),
                      "dp_tensor_alloc");
            int *mark = queue_mark(c, what == 1 ? closing : run, slot);
            if (what == 0)
                dp_tensor_free(&tensor);
            else if (what == 1)
                dp_run_close(closing);
            else if (what == 2)
                dp_module_close(linear);
            else
                expect_ok(c, dp_group_wait(group, &c->err), "dp_group_wait");
            const int seen = *mark;
            if (what != 0)
                dp_tensor_free(&tensor);
            if (what != 1)
                dp_run_close(closing);
            if (what != 2)
                dp_module_close(linear);
            expect(c, seen == 1, "returned before the work that was queued");
        }
    }
}

/* dp_module_to waits on both sides: for the old and the new place of the parameters. */
static void moving_waits(struct context *c)
{
    struct dp_group *group = open_group(c, 3);
    struct dp_slot **slots = first_slots(c, group, 3);
    struct dp_run *run = open_run(c, group);
    struct dp_module *linear = make_linear(c, group, 1, 1, true);
    for (int i = 0; i < 6; ++i) {
        move_module(c, linear, slots[i % 3]);
        const int *from = queue_mark(c, run, slots[i % 3]);
        const int *to = queue_mark(c, run, slots[(i + 1) % 3]);
        move_module(c, linear, slots[(i + 1) % 3]);
        expect(c, *from == 1, "the old slot was not waited for");
        expect(c, *to == 1, "the new slot was not waited for");
    }
}

/* The owner frees the inputs as soon as a step is queued; the results of the step stay. */
static void inputs_freed(struct context *c)
{
    struct golden g;
    golden_open(c, &g, 3);
    for (int i = 0; i < 4; ++i) {
        struct dp_tensor x;
        static const float rows[5] = {1, 2, 3, 4, 5}, nothing[5] = {-1, -1, -1, -1, -1};
        expect_ok(c, dp_tensor_alloc(g.ids[i % 3], DP_F32, 2, (size_t[]){5, 1}, &x, &c->err),
                  "dp_tensor_alloc");
        expect_ok(c, dp_tensor_write(&x, rows, &c->err), "dp_tensor_write");
        const struct dp_tensor y = forward(c, g.wrapper, g.run, &x);
        expect_ok(c, dp_tensor_write(&x, nothing, &c->err), "dp_tensor_write");
        expect_values(c, "output", &y, sequence(c, 5, 3.0, 2.0));
        dp_tensor_free(&x);
        expect(c, x.slot == NULL, "a freed tensor still has a slot");
    }
}

/* A failing call leaves no work under way, neither on the replica that failed nor on the others. */
static void failing_call_drains(struct context *c)
{
    for (int i = 0; i < 4; ++i) {
        for (int direct = 0; direct < 2; ++direct) {
            case_release(c);
            case_note(c, "replica %d fails, %s", i, direct != 0 ? "dp_apply" : "data_parallel");
            struct dp_group *group = open_group(c, 4);
            struct dp_slot **slots = first_slots(c, group, 4);
            struct probe *probe;
            struct dp_module *module = make_probe(c, group, &probe);
            probe->mark = true;
            probe->fail_forward = 1U << i;
            const struct dp_tensor x = golden_rows(c, slots[0], 8, 1.0);
            struct dp_tensor in[4], out[4][DP_MAX_IO];
            int n_out, status;
            if (direct != 0) {
                struct dp_replicas *replicas = open_replicas(c, module, slots, 4);
                expect_ok(c, dp_replicate(replicas, 4, &c->err), "dp_replicate");
                struct dp_call calls[4];
                for (int r = 0; r < 4; ++r) {
                    in[r] = make_matrix(c, slots[r], 2, 1, sequence(c, 2, 1.0, 1.0));
                    calls[r] = (struct dp_call){
                        module, dp_replicas_run(replicas, r), &in[r], 1, out[r], 0};
                }
                status = dp_apply(calls, 4, &c->err);
            } else {
                struct dp_module *wrapper =
                    make_parallel(c, module, &(struct dp_parallel_config){0});
                status = dp_forward(wrapper, open_run(c, group), &x, 1, out[0], &n_out, &c->err);
            }
            for (int r = 0; r < 4; ++r)
                expect(c, probe->visit[r].marks == 1, "replica %d had work under way", r);
            expect_error(c, status, DP_EFAULT, "replica", NULL);
        }
    }
}

/* Computes y = x w^T and both gradients; the results are zeros before. */
static void plain_linear(size_t rows, size_t wide, const double x[], const double w[],
                         const double dy[], double y[], double dx[], double dw[])
{
    for (size_t r = 0; r < rows; ++r) {
        for (size_t u = 0; u < wide; ++u) {
            for (size_t i = 0; i < wide; ++i) {
                y[r * wide + u] += w[u * wide + i] * x[r * wide + i];
                dx[r * wide + i] += w[u * wide + i] * dy[r * wide + u];
                dw[u * wide + i] += x[r * wide + i] * dy[r * wide + u];
            }
        }
    }
}

/* Transfers of more bytes than the calling thread carries alone run twice, with an update between:
 * data that the workers share have the same order as data that they do not. */
static void large_transfers(struct context *c)
{
    enum { rows = 97, wide = 130 };
    for (int k = 2; k <= 4; ++k) {
        case_release(c);
        case_note(c, "K=%d", k);
        struct dp_group *group = open_group(c, k);
        struct dp_slot *slot = dp_group_slot(group, 0);
        struct dp_module *linear = make_linear(c, group, wide, wide, false);
        struct dp_param *weight = param_at(c, linear, 0);
        const double *x = integers(c, rows * wide, 1), *dy = integers(c, rows * wide, 2);
        double *w = case_memory(c, wide * wide * sizeof *w);
        memcpy(w, integers(c, wide * wide, 3), wide * wide * sizeof *w);
        write_values(c, &weight->value, w);
        move_module(c, linear, slot);
        struct dp_module *wrapper = make_parallel(c, linear, &(struct dp_parallel_config){0});
        struct dp_run *run = open_run(c, group);
        struct dp_sgd *sgd = open_sgd(c, wrapper, 0.25f, 0.0f, 0.0f);
        struct dp_tensor in = make_matrix(c, slot, rows, wide, x);
        in.needs_grad = true;
        const struct dp_tensor upstream = make_matrix(c, slot, rows, wide, dy);
        for (int step = 0; step < 2; ++step) {
            double *y = case_memory(c, rows * wide * sizeof *y);
            double *dx = case_memory(c, rows * wide * sizeof *dx);
            double *dw = case_memory(c, wide * wide * sizeof *dw);
            plain_linear(rows, wide, x, w, dy, y, dx, dw);
            dp_run_reset(run);
            dp_zero_grad(linear);
            const struct dp_tensor out = forward(c, wrapper, run, &in);
            const struct dp_tensor grad = backward(c, wrapper, run, &upstream);
            expect_ok(c, dp_sgd_step(sgd, &c->err), "dp_sgd_step");
            expect_matrix(c, "output", &out, slot, rows, wide, y);
            expect_matrix(c, "input gradient", &grad, slot, rows, wide, dx);
            expect_grad(c, "weight", weight, dw);
            for (size_t e = 0; e < (size_t)wide * wide; ++e)
                w[e] -= 0.25 * dw[e];
            expect_values(c, "updated weight", &weight->value, w);
        }
    }
}

static const struct test_case cases[] = {
    {"order/large-transfers", "DET-04 DET-01", large_transfers},
    {"order/overwritten-input", "DET-04", overwritten_input},
    {"order/overwritten-summand", "DET-04 GRAD-15", overwritten_summand},
    {"order/reused-memory", "DET-04 COMP-12", reused_memory},
    {"order/outgrown-memory", "DET-04 COMP-12", outgrown_memory},
    {"order/failing-plain-call", "APPLY-12 ERR-08", failing_plain_call},
    {"order/failing-plain-backward", "APPLY-12 ERR-08", failing_plain_backward},
    {"order/callers-memory", "DET-04", callers_memory},
    {"order/freeing-waits", "COMP-12", freeing_waits},
    {"order/moving-waits", "DEV-02", moving_waits},
    {"order/inputs-freed", "SPLIT-12", inputs_freed},
    {"order/failing-call-drains", "APPLY-08 APPLY-12", failing_call_drains},
};
const struct case_table order_cases = {cases, sizeof cases / sizeof cases[0]};
