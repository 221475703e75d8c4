/* nest.c: calls that must not be nested, and a group without devices. */
#include "golden.h"
#include "list.h"
#include "probes.h"

/* data_parallel inside data_parallel is refused, and the outer one works again without it. */
static void inside_itself(struct context *c)
{
    for (int k = 2; k <= 3; ++k) {
        case_release(c);
        case_note(c, "K=%d", k);
        struct golden g;
        golden_open(c, &g, k);
        struct dp_module *wrapper = NULL;
        struct dp_error err = {0};
        int status = dp_parallel(g.wrapper, &(struct dp_parallel_config){0}, &wrapper, &err);
        if (status == DP_OK) {
            own_module(c, wrapper);
            const struct dp_tensor x = golden_rows(c, g.ids[0], 10, 1.0);
            struct dp_tensor out[DP_MAX_IO];
            int n_out = 0;
            status = dp_forward(wrapper, g.run, &x, 1, out, &n_out, &err);
        }
        expect_error(c, status, DP_EINVAL, &err, NULL, NULL);
        const struct dp_tensor x = golden_rows(c, g.ids[0], 10, 1.0);
        (void)forward(c, g.wrapper, g.run, &x);
        (void)backward(c, g.wrapper, g.run, &x);
        golden_expect_grads(c, &g, 385.0, 55.0);
    }
}

/* A group without devices: the wrapper calls the module as it is, on the tensors as they are. */
static void no_devices(struct context *c)
{
    struct dp_group *group = open_host_group(c);
    expect(c, dp_group_size(group) == 0, "%d slots", dp_group_size(group));
    struct dp_slot *host = dp_group_host(group);
    struct probe *probe;
    struct dp_module *linear = make_linear(c, group, 1, 1, true);
    write_values(c, &param_at(c, linear, 0)->value, (double[]){2.0});
    write_values(c, &param_at(c, linear, 1)->value, (double[]){1.0});
    struct dp_module *parts[] = {make_probe(c, group, &probe), linear};
    struct dp_module *model = make_sequential(c, group, parts, 2);
    struct dp_module *wrapper = make_parallel(c, model, &(struct dp_parallel_config){0});
    struct dp_run *run = open_run(c, group);
    const struct dp_tensor x = golden_rows(c, host, 10, 1.0);
    const struct dp_tensor y = forward(c, wrapper, run, &x);
    expect_matrix(c, "output", &y, host, 10, 1, sequence(c, 10, 3.0, 2.0));
    expect(c, probe_forwards(probe) == 1, "%d calls", probe_forwards(probe));
    expect(c, probe->visit[0].in_data == x.data, "the input was copied");
    const struct dp_tensor dx = backward(c, wrapper, run, &x);
    expect_matrix(c, "input gradient", &dx, host, 10, 1, sequence(c, 10, 2.0, 2.0));
    expect_grad(c, "weight", param_at(c, linear, 0), (double[]){385.0});
}

static const struct test_case cases[] = {
    {"nest/inside-itself", "NEST-06", inside_itself},
    {"nest/no-devices", "CPU-01 NEST-09", no_devices},
};
const struct case_table nest_cases = {cases, sizeof cases / sizeof cases[0]};
