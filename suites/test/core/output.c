/* output.c: where the output goes, and that nothing else follows it there. */
#include "golden.h"
#include "list.h"

static struct dp_module *wrap_to(struct context *c, const struct golden *g, struct dp_slot *output)
{
    return make_parallel(c, g->linear,
                         &(struct dp_parallel_config){
                             .device_ids = g->ids, .n_device_ids = g->k, .output_device = output});
}

/* Any device, one that runs no replica among them, or the host: the output is there, the
 * gradients are where they always are. */
static void anywhere(struct context *c)
{
    for (int k = 2; k <= 3; ++k) {
        for (int place = -1; place < 5; ++place) {
            for (size_t n = 1; n <= 10; n += 9) {
                case_release(c);
                case_note(c, "K=%d N=%zu output on %d", k, n, place);
                struct golden g;
                golden_open_on(c, &g, 5, (int[]){3, 0, 2}, k);
                struct dp_slot *output =
                    place < 0 ? dp_group_host(g.group) : dp_group_slot(g.group, place);
                struct dp_module *wrapper = wrap_to(c, &g, output);
                const struct dp_tensor x = golden_rows(c, dp_group_slot(g.group, 1), n, 1.0);
                const struct dp_tensor upstream = golden_rows(c, output, n, 1.0);
                const struct dp_tensor y = forward(c, wrapper, g.run, &x);
                expect_matrix(c, "output", &y, output, n, 1, sequence(c, n, 3.0, 2.0));
                const struct dp_tensor dx = backward(c, wrapper, g.run, &upstream);
                golden_expect_grads(c, &g, golden_squares(n), golden_sum(n));
                expect_matrix(c, "input gradient", &dx, dp_group_slot(g.group, 1), n, 1,
                              sequence(c, n, 2.0, 2.0));
            }
        }
    }
}

static void first_by_default(struct context *c)
{
    struct golden g;
    golden_open_on(c, &g, 3, (int[]){1, 0}, 2);
    const struct dp_tensor x = golden_rows(c, dp_group_slot(g.group, 2), 10, 1.0);
    const struct dp_tensor y = forward(c, g.wrapper, g.run, &x);
    expect_slot(c, "output", &y, dp_group_slot(g.group, 1));
}

/* With one device the module is called directly: output_device is ignored. */
static void ignored_for_one(struct context *c)
{
    for (int place = -1; place < 3; ++place) {
        case_release(c);
        case_note(c, "output on %d", place);
        struct golden g;
        golden_open_on(c, &g, 3, (int[]){1}, 1);
        struct dp_slot *output = place < 0 ? dp_group_host(g.group) : dp_group_slot(g.group, place);
        struct dp_module *wrapper = wrap_to(c, &g, output);
        const struct dp_tensor x = golden_rows(c, dp_group_slot(g.group, 0), 10, 1.0);
        const struct dp_tensor y = forward(c, wrapper, g.run, &x);
        expect_matrix(c, "output", &y, g.ids[0], 10, 1, sequence(c, 10, 3.0, 2.0));
    }
}

/* The same for the function. */
static void of_the_function(struct context *c)
{
    for (int k = 1; k <= 3; ++k) {
        case_release(c);
        case_note(c, "K=%d", k);
        struct golden g;
        golden_open_on(c, &g, 4, NULL, k);
        struct dp_slot *output = dp_group_slot(g.group, 3);
        const struct dp_tensor x = golden_rows(c, g.ids[0], 10, 1.0);
        struct dp_tensor out[DP_MAX_IO];
        int n_out = 0;
        struct dp_module *call = NULL;
        struct dp_error err = {0};
        expect_ok(
            c,
            dp_data_parallel(g.linear, g.run, g.ids, k, output, 0, &x, 1, out, &n_out, &call, &err),
            &err, "dp_data_parallel");
        own_module(c, call);
        expect_matrix(c, "output", &out[0], k == 1 ? g.ids[0] : output, 10, 1,
                      sequence(c, 10, 3.0, 2.0));
    }
}

/* A loss whose target is not on the output device says which two devices meet. */
static void target_elsewhere(struct context *c)
{
    struct golden g;
    golden_open(c, &g, 2);
    struct dp_module *wrapper = wrap_to(c, &g, g.ids[1]);
    const struct dp_tensor x = golden_rows(c, g.ids[0], 10, 1.0);
    const struct dp_tensor in[2] = {forward(c, wrapper, g.run, &x),
                                    make_matrix(c, g.ids[0], 10, 1, sequence(c, 10, 1.0, 1.0))};
    struct dp_tensor out[DP_MAX_IO];
    int n_out = 0;
    struct dp_error err = {0};
    struct dp_module *loss = make_loss(c, g.group, DP_LOSS_MSE, 1.0f, false);
    expect_error(c, dp_forward(loss, g.run, in, 2, out, &n_out, &err), DP_EDEVICE, &err,
                 dp_slot_name(g.ids[0]), dp_slot_name(g.ids[1]));
}

static const struct test_case cases[] = {
    {"output/anywhere", "OUT-02 OUT-03 GATH-10 GRAD-06", anywhere},
    {"output/first-by-default", "OUT-01", first_by_default},
    {"output/ignored-for-one", "OUT-04", ignored_for_one},
    {"output/of-the-function", "OUT-02 OUT-04", of_the_function},
    {"output/target-elsewhere", "OUT-05 ERR-01", target_elsewhere},
};
const struct case_table output_cases = {cases, sizeof cases / sizeof cases[0]};
