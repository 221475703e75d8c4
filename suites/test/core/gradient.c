/* gradient.c: replicas without a gradient for their input, backwards that are refused, and layers
 * that add to the gradient of the pass before. */
#include "golden.h"
#include "list.h"
#include "probes.h"

#include <math.h>

/* Replicas return no gradient for their input: its rows are zero, not what memory held. */
static void some_take_part(struct context *c)
{
    for (uint32_t silent = 0; silent < 16; ++silent) {
        case_release(c);
        case_note(c, "without gradient: %#x", (unsigned)silent);
        struct dp_group *group = open_group(c, 4);
        struct dp_slot *slot = dp_group_slot(group, 0);
        struct probe *probe;
        struct dp_module *module = make_probe(c, group, &probe);
        struct dp_module *wrapper = make_parallel(c, module, &(struct dp_parallel_config){0});
        struct dp_run *run = open_run(c, group);
        const struct dp_tensor x = golden_rows(c, slot, 10, 1.0);
        const struct dp_tensor nan = make_matrix(c, slot, 10, 1, sequence(c, 10, 0.0 / 0.0, 0.0));
        (void)forward(c, wrapper, run, &x);
        (void)backward(c, wrapper, run, &nan);
        dp_run_reset(run);
        probe->no_input_grad = silent;
        (void)forward(c, wrapper, run, &x);
        const struct dp_tensor dx = backward(c, wrapper, run, &x);
        double want[10];
        for (int i = 0; i < 10; ++i)
            want[i] = (silent >> i / 3 & 1) != 0 ? 0.0 : 1.0 + i;
        if (silent != 15 || dx.slot)
            expect_matrix(c, "input gradient", &dx, slot, 10, 1, want);
    }
}

/* A backward that is refused, because it is of another layer or its gradient has another shape,
 * leaves the forward for the right one. */
static void refused_first(struct context *c)
{
    struct dp_group *group = open_group(c, 1);
    struct dp_slot *slot = dp_group_slot(group, 0);
    struct dp_module *layer = make_linear(c, group, 1, 1, false);
    struct dp_module *other = make_linear(c, group, 1, 1, false);
    struct dp_run *run = open_run(c, group);
    for (int i = 0; i < 2; ++i) {
        struct dp_module *module = i == 0 ? layer : other;
        move_module(c, module, slot);
        write_values(c, &param_at(c, module, 0)->value, (double[]){2.0});
    }
    const struct dp_tensor x = golden_rows(c, slot, 10, 1.0);
    const struct dp_tensor long_one = golden_rows(c, slot, 11, 1.0);
    const struct dp_tensor y = forward(c, layer, run, &x);
    expect_matrix(c, "output", &y, slot, 10, 1, sequence(c, 10, 2.0, 2.0));
    expect_error(c, dp_backward(other, run, NULL, 0, NULL, 0, &c->err), DP_EINVAL,
                 "the last forward was one of", NULL);
    expect_error(c, dp_backward(layer, run, &long_one, 1, NULL, 0, &c->err), DP_ESHAPE,
                 "gradient 0", NULL);
    expect_no_grad(c, "the other layer", param_at(c, other, 0));
    const struct dp_tensor dx = backward(c, layer, run, NULL);
    expect_grad(c, "weight", param_at(c, layer, 0), (double[]){55.0});
    expect_matrix(c, "input gradient", &dx, slot, 10, 1, sequence(c, 10, 2.0, 0.0));
}

/* The frozen parameters of a layer get no gradient; the other parameters and the input get theirs.
 */
static void frozen_parts(struct context *c)
{
    for (int parts = 0; parts < 4; ++parts) {
        case_release(c);
        case_note(c, "frozen%s%s", parts & 1 ? " weight" : "", parts & 2 ? " bias" : "");
        struct dp_group *group = open_group(c, 1);
        struct dp_slot *slot = dp_group_slot(group, 0);
        struct dp_module *layer = make_linear(c, group, 1, 1, true);
        move_module(c, layer, slot);
        const double want[2] = {55.0, 10.0};
        for (int i = 0; i < 2; ++i) {
            write_values(c, &param_at(c, layer, i)->value, (double[]){2.0});
            param_at(c, layer, i)->frozen = (parts & 1 << i) != 0;
        }
        struct dp_run *run = open_run(c, group);
        const struct dp_tensor x = golden_rows(c, slot, 10, 1.0);
        (void)forward(c, layer, run, &x);
        const struct dp_tensor dx = backward(c, layer, run, NULL);
        for (int i = 0; i < 2; ++i)
            if (parts & 1 << i)
                expect_no_grad(c, i == 0 ? "weight" : "bias", param_at(c, layer, i));
            else
                expect_grad(c, i == 0 ? "weight" : "bias", param_at(c, layer, i), &want[i]);
        expect_matrix(c, "input gradient", &dx, slot, 10, 1, sequence(c, 10, 2.0, 0.0));
    }
}

enum { ROWS = 6, CHANNELS = 3, SIDE = 4, CAPSULES = 3, LAYER_NORM, POSITIONS, LAYERS };

/* Returns how many parameters a layer has; at most 2 of them are compared. */
static int params_of(int which)
{
    return which == CAPSULES || which == POSITIONS ? 1 : 2;
}

/* Opens a layer with parameters, and its input; both hold integers. */
static struct dp_module *open_layer(struct context *c, struct dp_group *group, int which,
                                    struct dp_tensor *x)
{
    const struct dp_window window = {{3, 3}, {1, 1}, {1, 1}};
    const struct dp_capsule_config capsules = {CHANNELS, 2, SIDE * SIDE, 4, 2};
    const size_t shape[] = {ROWS, CHANNELS, SIDE, SIDE}, n = ROWS * CHANNELS * SIDE * SIDE;
    const size_t flat[] = {ROWS, CHANNELS, SIDE * SIDE};
    struct dp_slot *slot = dp_group_slot(group, 0);
    struct dp_module *layer = NULL;
    const int status = which == 0
                           ? dp_linear(group, CHANNELS * SIDE * SIDE, 2, true, &layer, &c->err)
                       : which == 1 ? dp_conv2d(group, CHANNELS, 2, &window, true, &layer, &c->err)
                       : which == 2 ? dp_batch_norm(group, CHANNELS, 1e-5, 0.1, &layer, &c->err)
                       : which == CAPSULES   ? dp_capsule(group, &capsules, &layer, &c->err)
                       : which == LAYER_NORM ? dp_layer_norm(group, SIDE, 1e-5, &layer, &c->err)
                                             : dp_positions(group, 4, SIDE * SIDE, &layer, &c->err);
    (void)opened_module(c, status, &layer);
    move_module(c, layer, slot);
    for (int i = 0; i < params_of(which); ++i) {
        const struct dp_tensor *value = &param_at(c, layer, i)->value;
        write_values(c, value, integers(c, dp_tensor_count(value), 7 + (uint64_t)i));
    }
    const double *numbers = integers(c, n, 5);
    *x = which == 0 ? make_matrix(c, slot, ROWS, n / ROWS, numbers)
         : which == CAPSULES || which == POSITIONS
             ? make_tensor(c, slot, DP_F32, 3, flat, numbers)
             : make_tensor(c, slot, DP_F32, 4, shape, numbers);
    return layer;
}

/* The gradients of two passes accumulate, for weights and for biases. Capsules add row by row, so
 * that their last bits may differ: for them the result of two passes must be nearer to twice than
 * to once the result of one. */
static void added_up(struct context *c)
{
    static const char *const names[LAYERS] = {"linear",   "conv",       "batch norm",
                                              "capsules", "layer norm", "positions"};
    for (int l = 0; l < LAYERS; ++l) {
        case_release(c);
        case_note(c, "%s", names[l]);
        struct dp_group *group = open_group(c, 1);
        struct dp_tensor x;
        struct dp_module *layer = open_layer(c, group, l, &x);
        struct dp_run *run = open_run(c, group);
        const float *once[2] = {NULL, NULL};
        for (int pass = 0; pass < 2; ++pass) {
            const struct dp_tensor y = forward(c, layer, run, &x);
            const struct dp_tensor dy =
                make_tensor(c, y.slot, DP_F32, y.ndim, y.dim, integers(c, dp_tensor_count(&y), 9));
            (void)backward(c, layer, run, &dy);
            for (int i = 0; i < params_of(l); ++i) {
                const struct dp_param *param = param_at(c, layer, i);
                const float *grad = read_floats(c, &param->grad);
                for (size_t e = 0; pass == 1 && e < dp_tensor_count(&param->grad); ++e)
                    expect(c,
                           fabsf(grad[e] - 2 * once[i][e]) <=
                               (l == CAPSULES ? 0.25f * fabsf(once[i][e]) : 0.0f),
                           "%s[%zu] is %.9g, of one pass %.9g", param->name, e, (double)grad[e],
                           (double)once[i][e]);
                once[i] = grad;
            }
        }
    }
}

static const struct test_case cases[] = {
    {"gradient/some-take-part", "GRAD-08", some_take_part},
    {"gradient/refused-first", "ERR-08 GRAD-01", refused_first},
    {"gradient/frozen-parts", "REPL-13", frozen_parts},
    {"gradient/added-up", "GRAD-04", added_up},
};
const struct case_table gradient_cases = {cases, sizeof cases / sizeof cases[0]};
