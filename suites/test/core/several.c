/* several.c: data_parallel around modules with several inputs or outputs. */
#include "list.h"
#include "probes.h"

/* Two inputs, cut at the same rows; a gradient for the one that wants it. */
static void two_inputs(struct context *c)
{
    for (int wanted = 0; wanted < 4; ++wanted) {
        for (int k = 1; k <= 3; ++k) {
            case_release(c);
            case_note(c, "K=%d wanted %d", k, wanted);
            struct dp_group *group = open_group(c, k);
            struct dp_slot *slot = dp_group_slot(group, 0);
            struct dp_module *wrapper =
                make_parallel(c, make_multiply(c, group), &(struct dp_parallel_config){0});
            struct dp_run *run = open_run(c, group);
            struct dp_tensor in[2] = {
                make_matrix(c, slot, 5, 1, sequence(c, 5, 1.0, 1.0)),
                make_matrix(c, dp_group_host(group), 5, 1, sequence(c, 5, 10.0, -3.0))};
            in[0].needs_grad = (wanted & 1) != 0;
            in[1].needs_grad = (wanted & 2) != 0;
            struct dp_tensor out[DP_MAX_IO], grad_in[2];
            int n_out = 0;
            struct dp_error err = {0};
            expect_ok(c, dp_forward(wrapper, run, in, 2, out, &n_out, &err), &err, "forward");
            expect_matrix(c, "output", &out[0], slot, 5, 1, (double[]){10, 14, 12, 4, -10});
            expect_ok(c, dp_backward(wrapper, run, &in[0], 1, grad_in, 2, &err), &err, "backward");
            expect(c, (grad_in[0].slot != NULL) == in[0].needs_grad, "first input's gradient");
            expect(c, (grad_in[1].slot != NULL) == in[1].needs_grad, "second input's gradient");
            if (in[0].needs_grad) {
                expect_matrix(c, "first gradient", &grad_in[0], slot, 5, 1,
                              (double[]){10, 14, 12, 4, -10});
            }
            if (in[1].needs_grad) {
                expect_matrix(c, "second gradient", &grad_in[1], dp_group_host(group), 5, 1,
                              (double[]){1, 4, 9, 16, 25});
            }
        }
    }
}

static void unequal_inputs(struct context *c)
{
    struct dp_group *group = open_group(c, 2);
    struct dp_slot *slot = dp_group_slot(group, 0);
    struct dp_module *wrapper =
        make_parallel(c, make_multiply(c, group), &(struct dp_parallel_config){0});
    struct dp_run *run = open_run(c, group);
    static const size_t rows[][2] = {{10, 1}, {5, 1}, {10, 4}, {3, 4}, {0, 2}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
        const struct dp_tensor in[2] = {
            make_matrix(c, slot, rows[i][0], 1, sequence(c, rows[i][0], 1.0, 1.0)),
            make_matrix(c, slot, rows[i][1], 1, sequence(c, rows[i][1], 1.0, 1.0))};
        struct dp_tensor out[DP_MAX_IO];
        int n_out = 0;
        struct dp_error err = {0};
        expect_error(c, dp_forward(wrapper, run, in, 2, out, &n_out, &err), DP_ESHAPE, &err, NULL,
                     NULL);
    }
}

/* Two outputs of different lengths are gathered each by itself: 2x, and each shard's first row. */
static void two_outputs(struct context *c)
{
    struct dp_group *group = open_group(c, 4);
    struct dp_slot *slot = dp_group_slot(group, 0);
    struct dp_module *wrapper =
        make_parallel(c, make_fork(c, group), &(struct dp_parallel_config){0});
    struct dp_run *run = open_run(c, group);
    struct dp_tensor x = make_matrix(c, slot, 10, 1, sequence(c, 10, 1.0, 1.0));
    x.needs_grad = true;
    struct dp_tensor out[DP_MAX_IO], dx;
    int n_out = 0;
    struct dp_error err = {0};
    expect_ok(c, dp_forward(wrapper, run, &x, 1, out, &n_out, &err), &err, "forward");
    expect(c, n_out == 2, "%d outputs", n_out);
    expect_matrix(c, "first output", &out[0], slot, 10, 1, sequence(c, 10, 2.0, 2.0));
    expect_matrix(c, "second output", &out[1], slot, 4, 1, (double[]){1, 4, 7, 10});
    const struct dp_tensor upstream[2] = {
        x, make_matrix(c, slot, 4, 1, (double[]){100, 200, 300, 400})};
    expect_ok(c, dp_backward(wrapper, run, upstream, 2, &dx, 1, &err), &err, "backward");
    expect_matrix(c, "input gradient", &dx, slot, 10, 1,
                  (double[]){102, 4, 6, 208, 10, 12, 314, 16, 18, 420});
}

static const struct test_case cases[] = {
    {"several/two-inputs", "GRAD-09 GRAD-07 DEV-04", two_inputs},
    {"several/unequal-inputs", "STRUCT-05 STRUCT-06", unequal_inputs},
    {"several/two-outputs", "STRUCT-13 GATH-02 GATH-04", two_outputs},
};
const struct case_table several_cases = {cases, sizeof cases / sizeof cases[0]};
