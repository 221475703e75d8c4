/* dim.c: batches that do not lie on dimension 0. */
#include "golden.h"
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

/* (2, 10) cut along columns, 3, 3, 3, 1 of them on four: values and gradients as for rows. */
static void columns(struct context *c)
{
    static const int dims[] = {1, -1};
    for (int k = 1; k <= 8; ++k) {
        for (int d = 0; d < 2; ++d) {
            case_release(c);
            case_note(c, "K=%d dim=%d", k, dims[d]);
            struct wrapped w = {.group = open_group(c, k)};
            struct probe *probe;
            struct dp_module *scale = make_scale(c, w.group, 1);
            struct dp_module *parts[] = {make_probe(c, w.group, &probe), scale};
            wrap(c, &w, make_sequential(c, w.group, parts, 2), dims[d]);
            struct dp_param *weight = param_at(c, scale, 0);
            write_values(c, &weight->value, (double[]){2.0});
            struct dp_tensor x =
                make_matrix(c, dp_group_host(w.group), 2, 10, sequence(c, 20, 1.0, 1.0));
            x.needs_grad = true;
            const struct dp_tensor upstream =
                make_matrix(c, w.slot, 2, 10, sequence(c, 20, 1.0, 1.0));
            const struct dp_tensor y = forward(c, w.wrapper, w.run, &x);
            expect_matrix(c, "output", &y, w.slot, 2, 10, sequence(c, 20, 2.0, 2.0));
            for (int s = 0; s < shard_count(10, k); ++s) {
                expect(
                    c,
                    probe->visit[s].dim[0] == 2 && probe->visit[s].dim[1] == shard_rows(10, k, s),
                    "replica %d saw (%zu, %zu)", s, probe->visit[s].dim[0], probe->visit[s].dim[1]);
            }
            const struct dp_tensor dx = backward(c, w.wrapper, w.run, &upstream);
            expect_matrix(c, "input gradient", &dx, dp_group_host(w.group), 2, 10,
                          sequence(c, 20, 2.0, 2.0));
            expect_grad(c, "weight", weight, (double[]){golden_squares(20)});
        }
    }
}

static void negative_zero(struct context *c)
{
    for (int k = 1; k <= 4; ++k) {
        case_release(c);
        case_note(c, "K=%d", k);
        struct wrapped w = {.group = open_group(c, k)};
        struct dp_module *linear = make_linear(c, w.group, 1, 1, false);
        write_values(c, &param_at(c, linear, 0)->value, (double[]){3.0});
        wrap(c, &w, linear, -2);
        const struct dp_tensor x = golden_rows(c, w.slot, 10, 1.0);
        const struct dp_tensor y = forward(c, w.wrapper, w.run, &x);
        expect_matrix(c, "output", &y, w.slot, 10, 1, sequence(c, 10, 3.0, 3.0));
    }
}

/* The output's batch is on another dimension than dim: with equal shards it is glued on the wrong
 * axis, (3, 6) for (9, 2); with unequal ones it is an error. Both are the rule. */
static void batch_elsewhere(struct context *c)
{
    struct wrapped w = {.group = open_group(c, 3)};
    wrap(c, &w, make_transpose(c, w.group), 1);
    const struct dp_tensor nine = make_matrix(c, w.slot, 2, 9, sequence(c, 18, 0.0, 1.0));
    const struct dp_tensor y = forward(c, w.wrapper, w.run, &nine);
    expect_matrix(c, "output", &y, w.slot, 3, 6,
                  (double[]){0, 9, 3, 12, 6, 15, 1, 10, 4, 13, 7, 16, 2, 11, 5, 14, 8, 17});
    const struct dp_tensor ten = make_matrix(c, w.slot, 2, 10, sequence(c, 20, 0.0, 1.0));
    struct dp_tensor out[DP_MAX_IO];
    int n_out = 0;
    struct dp_error err = {0};
    expect_error(c, dp_forward(w.wrapper, w.run, &ten, 1, out, &n_out, &err), DP_ESHAPE, &err,
                 "(4, 2)", "(2, 2)");
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
    {"dim/columns", "DIM-01 DIM-05 GRAD-07", columns},
    {"dim/negative-zero", "DIM-01 SPLIT-10", negative_zero},
    {"dim/batch-elsewhere", "DIM-02 GATH-03", batch_elsewhere},
    {"dim/out-of-range", "DIM-04 SPLIT-09", out_of_range},
    {"dim/scalar-outputs", "DIM-06 GATH-07", scalar_outputs},
};
const struct case_table dim_cases = {cases, sizeof cases / sizeof cases[0]};
