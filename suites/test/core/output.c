/* output.c: an output on another device than the target of the loss. */
#include "golden.h"
#include "list.h"

static struct dp_module *wrap_to(struct context *c, const struct golden *g, struct dp_slot *output)
{
    return make_parallel(c, g->linear,
                         &(struct dp_parallel_config){
                             .device_ids = g->ids, .n_device_ids = g->k, .output_device = output});
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
    {"output/target-elsewhere", "OUT-05 ERR-01", target_elsewhere},
};
const struct case_table output_cases = {cases, sizeof cases / sizeof cases[0]};
