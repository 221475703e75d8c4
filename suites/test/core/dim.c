/* dim.c: dimensions that a batch cannot lie on. */
#include "list.h"
#include "probes.h"

struct wrapped {
    struct dp_group *group;
    struct dp_slot *slot;
    struct dp_module *module, *wrapper;
    struct dp_run *run;
};

static void wrap(struct context *c, struct wrapped *w, struct dp_module *module, int dim)
{
    w->module = module;
    w->slot = dp_group_slot(w->group, 0);
    move_module(c, module, w->slot);
    w->wrapper = make_parallel(c, module, &(struct dp_parallel_config){.dim = dim});
    w->run = open_run(c, w->group);
}

static void out_of_range(struct context *c)
{
    static const struct {
        int dim, ndim;
    } table[] = {{2, 2}, {-3, 2}, {1, 1}, {-2, 1}, {0, 0}, {-1, 0}, {5, 2}};
    for (size_t i = 0; i < sizeof table / sizeof table[0]; ++i) {
        case_release(c);
        case_note(c, "dim=%d of %d", table[i].dim, table[i].ndim);
        struct wrapped w = {.group = open_group(c, 2)};
        struct probe *probe;
        wrap(c, &w, make_probe(c, w.group, &probe), table[i].dim);
        const struct dp_tensor x = make_tensor(c, w.slot, DP_F32, table[i].ndim, (size_t[]){4, 4},
                                               sequence(c, 16, 1.0, 1.0));
        struct dp_tensor out[DP_MAX_IO];
        int n_out = 0;
        struct dp_error err = {0};
        expect_error(c, dp_forward(w.wrapper, w.run, &x, 1, out, &n_out, &err), DP_EINVAL, &err,
                     NULL, NULL);
        expect(c, probe_forwards(probe) == 0, "something ran");
    }
}

/* Scalars become a vector for dim 0 only. */
static void scalar_outputs(struct context *c)
{
    static const int dims[] = {-1, 1, -2};
    for (int i = 0; i < 3; ++i) {
        case_release(c);
        case_note(c, "dim=%d", dims[i]);
        struct wrapped w = {.group = open_group(c, 2)};
        wrap(c, &w, make_loss(c, w.group, DP_LOSS_SUM, 1.0f, false), dims[i]);
        const struct dp_tensor x = make_matrix(c, w.slot, 4, 4, sequence(c, 16, 1.0, 1.0));
        struct dp_tensor out[DP_MAX_IO];
        int n_out = 0;
        struct dp_error err = {0};
        expect_error(c, dp_forward(w.wrapper, w.run, &x, 1, out, &n_out, &err), DP_EINVAL, &err,
                     NULL, NULL);
    }
}

static const struct test_case cases[] = {
    {"dim/out-of-range", "DIM-04 SPLIT-09", out_of_range},
    {"dim/scalar-outputs", "DIM-06 GATH-07", scalar_outputs},
};
const struct case_table dim_cases = {cases, sizeof cases / sizeof cases[0]};
