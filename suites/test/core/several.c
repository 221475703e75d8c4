/* several.c: inputs of different lengths. */
#include "list.h"
#include "probes.h"

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

static const struct test_case cases[] = {
    {"several/unequal-inputs", "STRUCT-05 STRUCT-06", unequal_inputs},
};
const struct case_table several_cases = {cases, sizeof cases / sizeof cases[0]};
