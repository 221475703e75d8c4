/* error.c: what an error records, and what a forward leaves that fails after a wrapped block. */
#include "golden.h"
#include "list.h"
#include "probes.h"

#include <string.h>

/* A caller may ignore errors; the first one is kept; statuses have names. */
static void records(struct context *c)
{
    expect(c, dp_fail(NULL, DP_ESHAPE, "nobody reads %d", 1) == DP_ESHAPE, "status of dp_fail");
    (void)dp_fail(&c->err, DP_ESHAPE, "the first, %d", 1);
    expect(c, dp_fail(&c->err, DP_ENOMEM, "the second") == DP_ENOMEM, "status of the second");
    expect_error(c, DP_ESHAPE, DP_ESHAPE, "the first, 1", NULL);
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
            int n_out = 0;
            forward(c, model, g.run, &x);
            probe->fail_forward = 1;
            const int status = dp_forward(model, g.run, &other, 1, out, &n_out, &c->err);
            expect_error(c, status, DP_EFAULT, "probe 0 refuses forward", NULL);
            backward(c, model, g.run, NULL);
            golden_expect_grads(c, &g, golden_sum(10), 10.0);
        }
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
    {"error/records", "ERR-01", records},
    {"error/failed-second-forward", "APPLY-12 ERR-08 COMP-10", failed_second_forward},
    {"error/failing-between", "COMP-10 APPLY-12", failing_between},
};
const struct case_table error_cases = {cases, sizeof cases / sizeof cases[0]};
