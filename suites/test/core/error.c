/* error.c: a replica fails: which error is returned, which values stay as they were, and that later
 * steps are right. */
#include "golden.h"
#include "list.h"
#include "probes.h"

#include <stdio.h>
#include <string.h>

/* y = w x + b on K slots, between two probes. Forward fails in the probe after the layer, backward
 * in the probe before it: the layer has done its part already. */
struct fragile {
    struct dp_group *group;
    struct dp_slot *slot;
    struct dp_module *linear, *wrapper;
    struct probe *before, *after;
    struct dp_run *run;
    struct dp_sgd *sgd;
    struct dp_tensor x;
};

static void open_fragile(struct context *c, struct fragile *f, int k)
{
    f->group = open_group(c, k);
    f->slot = dp_group_slot(f->group, 0);
    f->linear = make_linear(c, f->group, 1, 1, true);
    struct dp_module *parts[] = {make_probe(c, f->group, &f->before), f->linear,
                                 make_probe(c, f->group, &f->after)};
    struct dp_module *model = make_sequential(c, f->group, parts, 3);
    move_module(c, model, f->slot);
    write_values(c, &param_at(c, f->linear, 0)->value, (double[]){2.0});
    write_values(c, &param_at(c, f->linear, 1)->value, (double[]){1.0});
    f->wrapper = make_parallel(c, model, &(struct dp_parallel_config){0});
    f->run = open_run(c, f->group);
    f->sgd = open_sgd(c, f->linear, 1.0f / 512.0f, 0.0f, 0.0f);
    f->x = golden_rows(c, f->slot, 10, 1.0);
}

static void expect_replica(struct context *c, const struct fragile *f, int status,
                           const struct dp_error *err, int replica, const char *pass)
{
    char where[64], text[64];
    (void)snprintf(where, sizeof where, "replica %d on %s: ", replica,
                   dp_slot_name(dp_group_slot(f->group, replica)));
    (void)snprintf(text, sizeof text, "probe %d refuses %s", replica, pass);
    expect_error(c, status, f->after->fail_status, err, where, text);
    expect(c, err->has_replica && err->replica == replica, "the error names replica %d",
           err->replica);
}

static const struct failing {
    uint32_t set;
    int lowest;
} failing[] = {{1, 0}, {2, 1}, {8, 3}, {10, 1}, {12, 2}, {15, 0}};

/* A forward fails: gradients stay as they were, and the next step is right. */
static void in_forward(struct context *c)
{
    for (size_t i = 0; i < sizeof failing / sizeof failing[0]; ++i) {
        case_release(c);
        case_note(c, "failing %#x", (unsigned)failing[i].set);
        struct fragile f;
        open_fragile(c, &f, 4);
        (void)forward(c, f.wrapper, f.run, &f.x);
        (void)backward(c, f.wrapper, f.run, NULL);
        f.after->fail_forward = failing[i].set;
        f.after->forward_ms[failing[i].lowest] = 3;
        struct dp_tensor out[DP_MAX_IO];
        int n_out = -1;
        struct dp_error err = {0};
        const int status = dp_forward(f.wrapper, f.run, &f.x, 1, out, &n_out, &err);
        expect_replica(c, &f, status, &err, failing[i].lowest, "forward");
        expect(c, n_out == -1, "a failing forward set %d outputs", n_out);
        expect_grad(c, "weight", param_at(c, f.linear, 0), (double[]){55.0});
        expect_grad(c, "bias", param_at(c, f.linear, 1), (double[]){10.0});
        f.after->fail_forward = 0;
        const struct dp_tensor y = forward(c, f.wrapper, f.run, &f.x);
        expect_matrix(c, "output", &y, f.slot, 10, 1, sequence(c, 10, 3.0, 2.0));
        (void)backward(c, f.wrapper, f.run, &f.x);
        expect_grad(c, "weight", param_at(c, f.linear, 0), (double[]){55.0 + 385.0});
        expect_grad(c, "bias", param_at(c, f.linear, 1), (double[]){10.0 + 55.0});
    }
}

/* A backward fails: no gradient of a replica reaches the base, not even of those that succeeded. */
static void in_backward(struct context *c)
{
    for (size_t i = 0; i < sizeof failing / sizeof failing[0]; ++i) {
        for (int prefilled = 0; prefilled < 2; ++prefilled) {
            case_release(c);
            case_note(c, "failing %#x prefilled %d", (unsigned)failing[i].set, prefilled);
            struct fragile f;
            open_fragile(c, &f, 4);
            if (prefilled != 0) {
                (void)forward(c, f.wrapper, f.run, &f.x);
                (void)backward(c, f.wrapper, f.run, NULL);
                fill_grad(c, param_at(c, f.linear, 0), 1000.0);
                fill_grad(c, param_at(c, f.linear, 1), 1000.0);
            }
            f.before->fail_backward = failing[i].set;
            f.before->backward_ms[failing[i].lowest] = 3;
            (void)forward(c, f.wrapper, f.run, &f.x);
            struct dp_error err = {0};
            const int status = dp_backward(f.wrapper, f.run, NULL, 0, NULL, 0, &err);
            expect_replica(c, &f, status, &err, failing[i].lowest, "backward");
            const double base = prefilled != 0 ? 1000.0 : 0.0;
            if (prefilled != 0) {
                expect_grad(c, "weight", param_at(c, f.linear, 0), &base);
                expect_grad(c, "bias", param_at(c, f.linear, 1), &base);
            } else {
                expect_no_grad(c, "weight", param_at(c, f.linear, 0));
                expect_no_grad(c, "bias", param_at(c, f.linear, 1));
            }
            f.before->fail_backward = 0;
            dp_run_reset(f.run);
            (void)forward(c, f.wrapper, f.run, &f.x);
            (void)backward(c, f.wrapper, f.run, NULL);
            expect_grad(c, "weight", param_at(c, f.linear, 0), (double[]){base + 55.0});
            expect_grad(c, "bias", param_at(c, f.linear, 1), (double[]){base + 10.0});
        }
    }
}

static int try_step(struct fragile *f, struct dp_error *err)
{
    struct dp_tensor out[DP_MAX_IO];
    int n_out = 0;
    dp_run_reset(f->run);
    dp_zero_grad(f->linear);
    int status = dp_forward(f->wrapper, f->run, &f->x, 1, out, &n_out, err);
    if (status == DP_OK) {
        status = dp_backward(f->wrapper, f->run, &out[0], 1, NULL, 0, err);
    }
    return status == DP_OK ? dp_sgd_step(f->sgd, err) : status;
}

/* Five steps. The third fails at first, in forward or backward, and is tried again: the weights are
 * those of a run without a failure, bit for bit. */
static void in_training(struct context *c)
{
    const float *want[2] = {NULL, NULL};
    for (int k = 1; k <= 3; ++k) {
        struct fragile f[3];
        case_release(c);
        for (int run = 0; run < 3; ++run) {
            case_note(c, "K=%d run %d", k, run);
            open_fragile(c, &f[run], k);
            for (int step = 0; step < 5; ++step) {
                struct dp_error err = {0};
                if (run > 0 && step == 2) {
                    uint32_t *bits =
                        run == 1 ? &f[run].after->fail_forward : &f[run].before->fail_backward;
                    *bits = 1U << (k - 1);
                    expect(c, try_step(&f[run], &err) == DP_EFAULT, "the third step: %s", err.text);
                    *bits = 0;
                    err = (struct dp_error){0};
                }
                expect_ok(c, try_step(&f[run], &err), &err, "step");
            }
            for (int p = 0; p < 2; ++p) {
                const struct dp_tensor *value = &param_at(c, f[run].linear, p)->value;
                want[p] = run == 0 ? read_floats(c, value) : want[p];
                expect_bits(c, "weights", value, want[p]);
            }
        }
    }
}

/* Buffers that replica 0 wrote before the failure may have changed; nothing else has. */
static void buffers_may_change(struct context *c)
{
    struct dp_group *group = open_group(c, 3);
    struct dp_slot *slot = dp_group_slot(group, 0);
    struct probe *probe;
    struct dp_module *counter = make_counter(c, group);
    struct dp_module *parts[] = {counter, make_probe(c, group, &probe)};
    struct dp_module *model = make_sequential(c, group, parts, 2);
    move_module(c, model, slot);
    struct dp_module *wrapper = make_parallel(c, model, &(struct dp_parallel_config){0});
    struct dp_run *run = open_run(c, group);
    const struct dp_tensor x = golden_rows(c, slot, 9, 1.0);
    struct dp_tensor out[DP_MAX_IO];
    int n_out = 0;
    struct dp_error err = {0};
    probe->fail_forward = 1U << 2;
    expect(c, dp_forward(wrapper, run, &x, 1, out, &n_out, &err) == DP_EFAULT, "no error");
    probe->fail_forward = 0;
    const float before = read_floats(c, &param_at(c, counter, 0)->value)[0];
    expect(c, before == 0.0f || before == 1.0f, "the count is %g", (double)before);
    (void)forward(c, wrapper, run, &x);
    expect_values(c, "count", &param_at(c, counter, 0)->value, (double[]){(double)before + 1.0});
}

/* A caller may ignore errors; the first one is kept; statuses have names. */
static void records(struct context *c)
{
    struct dp_error err = {0};
    expect(c, dp_fail(NULL, DP_ESHAPE, "nobody reads %d", 1) == DP_ESHAPE, "status of dp_fail");
    (void)dp_fail(&err, DP_ESHAPE, "the first, %d", 1);
    expect(c, dp_fail(&err, DP_ENOMEM, "the second") == DP_ENOMEM, "status of the second");
    expect_error(c, DP_ESHAPE, DP_ESHAPE, &err, "the first, 1", NULL);
    struct dp_error longest = {0};
    (void)dp_fail(&longest, DP_EINVAL, "%0500d", 7);
    expect(c, memchr(longest.text, '\0', sizeof longest.text) != NULL, "text has no end");
    static const char *const names[] = {"OK",      "EINVAL", "ENOMEM",  "ENODEV",
                                        "EDEVICE", "ESHAPE", "ENOTSUP", "EFAULT"};
    for (int i = 0; i < 8; ++i) {
        expect(c, strstr(dp_status_name(-i), names[i]) != NULL, "status %d is called %s", -i,
               dp_status_name(-i));
    }
    expect(c, strcmp(dp_status_name(1), "unknown") == 0, "status 1 has a name");
    expect(c, strcmp(dp_status_name(-8), "unknown") == 0, "status -8 has a name");
    struct dp_group *group = NULL;
    const struct dp_group_config config = {.devices = "nonsense"};
    expect(c, dp_group_open(&config, &group, NULL) == DP_EINVAL, "without an err");
}

/* A forward that succeeds in the wrapped block and fails after it leaves nothing: the backward of
 * an earlier forward gives the same as without it. */
static void failed_second_forward(struct context *c)
{
    for (int k = 1; k <= 3; ++k) {
        for (size_t n = 1; n <= 9; n += 4) {
            case_release(c);
            case_note(c, "K=%d second forward of %zu rows", k, n);
            struct golden g;
            struct probe *probe;
            golden_open(c, &g, k);
            struct dp_module *parts[] = {g.wrapper, make_probe(c, g.group, &probe)};
            struct dp_module *model = make_sequential(c, g.group, parts, 2);
            const struct dp_tensor x = golden_rows(c, g.ids[0], 10, 1.0);
            const struct dp_tensor other = golden_rows(c, g.ids[0], n, 50.0);
            struct dp_tensor out[DP_MAX_IO];
            struct dp_error err = {0};
            int n_out = 0;
            forward(c, model, g.run, &x);
            probe->fail_forward = 1;
            const int status = dp_forward(model, g.run, &other, 1, out, &n_out, &err);
            expect_error(c, status, DP_EFAULT, &err, "probe 0 refuses forward", NULL);
            backward(c, model, g.run, NULL);
            golden_expect_grads(c, &g, golden_sum(10), 10.0);
        }
    }
}

/* A replica must not start parallel work; this module does. */
static int nested_forward(struct dp_module *module, struct dp_run *run, const struct dp_tensor in[],
                          int n_in, struct dp_tensor out[], int *n_out, struct dp_error *err)
{
    (void)module;
    (void)n_in;
    const struct dp_tensor parts[2] = {in[0], in[0]};
    *n_out = 1;
    return dp_gather(run, parts, 2, 0, in[0].slot, &out[0], err);
}

static void parallel_work_in_replica(struct context *c)
{
    static const struct dp_module_ops ops = {"nested", nested_forward, NULL, NULL};
    struct dp_group *group = open_group(c, 3);
    struct dp_module *wrapper =
        make_parallel(c, make_module(c, group, &ops, NULL), &(struct dp_parallel_config){0});
    const struct dp_tensor x = golden_rows(c, dp_group_slot(group, 0), 7, 1.0);
    struct dp_tensor out[DP_MAX_IO];
    struct dp_error err = {0};
    int n_out = 0;
    const int status = dp_forward(wrapper, open_run(c, group), &x, 1, out, &n_out, &err);
    char name[32], where[64];
    slot_name(&c->settings, 0, name);
    (void)snprintf(where, sizeof where, "replica 0 on %s", name);
    expect_error(c, status, DP_EINVAL, &err, where, "inside a replica");
}

/* Tensors of another group are refused, not misread. */
static void other_group(struct context *c)
{
    struct dp_group *group = open_group(c, 2), *foreign = open_group(c, 3);
    struct dp_run *run = open_run(c, group);
    const struct dp_tensor mine = golden_rows(c, dp_group_slot(group, 0), 3, 1.0);
    for (int i = 0; i < 3; ++i) {
        const struct dp_tensor theirs = golden_rows(c, dp_group_slot(foreign, i), 3, 1.0);
        struct dp_tensor out;
        struct dp_error err = {0};
        int status = dp_gather(run, &theirs, 1, 0, dp_group_slot(group, 0), &out, &err);
        expect_error(c, status, DP_EINVAL, &err, "of another group", NULL);
        err = (struct dp_error){0};
        status = dp_gather(run, &mine, 1, 0, dp_group_slot(foreign, i), &out, &err);
        expect_error(c, status, DP_EINVAL, &err, "of another group", NULL);
        err = (struct dp_error){0};
        status = dp_tensor_copy(&mine, &theirs, &err);
        expect_error(c, status, DP_EINVAL, &err, "of another group", NULL);
        err = (struct dp_error){0};
        status = dp_tensor_copy(&theirs, &mine, &err);
        expect_error(c, status, DP_EINVAL, &err, "of another group", NULL);
        err = (struct dp_error){0};
        status =
            dp_reduce_add_coalesced(run, &theirs, 1, 1, dp_group_slot(group, 0), 100, &out, &err);
        expect_error(c, status, DP_EINVAL, &err, "of another group", NULL);
    }
    struct dp_module *linear = make_linear(c, group, 1, 1, true);
    for (int i = 0; i < 3; ++i) {
        struct dp_slot *slots[2] = {dp_group_slot(group, 0), dp_group_slot(foreign, i)};
        struct dp_replicas *replicas = NULL;
        struct dp_tensor out[2][DP_MAX_IO];
        struct dp_error err = {0};
        int status = dp_replicas_open(linear, slots, 2, &replicas, &err);
        dp_replicas_close(replicas);
        expect_error(c, status, DP_EINVAL, &err, "of another group", NULL);
        struct dp_replicas *theirs =
            open_replicas(c, make_linear(c, foreign, 1, 1, true), &slots[1], 1);
        struct dp_call calls[2] = {{linear, run, &mine, 1, out[0], 0},
                                   {linear, dp_replicas_run(theirs, 0), &mine, 1, out[1], 0}};
        err = (struct dp_error){0};
        status = dp_apply(calls, 2, &err);
        expect_error(c, status, DP_EINVAL, &err, "of another group", NULL);
    }
}

/* A parameter that is added to a module after it was wrapped exists in no replica. */
static void added_later(struct context *c)
{
    for (int k = 1; k <= 3; ++k) {
        case_release(c);
        case_note(c, "K=%d", k);
        struct golden g;
        golden_open(c, &g, k);
        struct dp_param *later = NULL;
        struct dp_error err = {0};
        expect_ok(c, dp_module_add_param(g.linear, "later", DP_F32, 1, (size_t[]){2}, &later, &err),
                  &err, "dp_module_add_param");
        move_module(c, g.linear, g.ids[0]);
        const struct dp_tensor x = golden_rows(c, g.ids[0], 10, 1.0);
        struct dp_tensor out[DP_MAX_IO];
        int n_out = 0;
        expect_error(c, dp_forward(g.wrapper, g.run, &x, 1, out, &n_out, &err), DP_EINVAL, &err,
                     "after it was wrapped", NULL);
    }
}

static const struct test_case cases[] = {
    {"error/in-forward", "APPLY-08 APPLY-09 APPLY-10 APPLY-12 ERR-02 ERR-08", in_forward},
    {"error/in-backward", "APPLY-12 ERR-02 ERR-08", in_backward},
    {"error/in-training", "APPLY-12", in_training},
    {"error/buffers-may-change", "ERR-08 BUF-01", buffers_may_change},
    {"error/records", "ERR-01", records},
    {"error/failed-second-forward", "APPLY-12 ERR-08 COMP-10", failed_second_forward},
    {"error/parallel-work-in-replica", "NEST-06", parallel_work_in_replica},
    {"error/other-group", "ERR-01", other_group},
    {"error/added-later", "ERR-01", added_later},
};
const struct case_table error_cases = {cases, sizeof cases / sizeof cases[0]};
