/* gradient.c: backward for data and devices that are not the plain ones of golden_cases.c. */
#include "golden.h"
#include "list.h"
#include "probes.h"

#include <math.h>

/* Devices 2, 0, 3, 1: rows run on the devices in the order of the list, and gradients are summed on
 * the first of it. */
static void permuted(struct context *c)
{
    static const int order[] = {2, 0, 3, 1};
    for (int k = 1; k <= 4; ++k) {
        case_release(c);
        case_note(c, "K=%d", k);
        struct golden g;
        golden_open_on(c, &g, 4, order, k);
        golden_poison(c, &g, 10);
        const struct dp_tensor x = golden_rows(c, g.ids[0], 10, 1.0);
        const struct dp_tensor y = forward(c, g.wrapper, g.run, &x);
        expect_matrix(c, "output", &y, dp_group_slot(g.group, 2), 10, 1, sequence(c, 10, 3.0, 2.0));
        const struct dp_tensor dx = backward(c, g.wrapper, g.run, &x);
        golden_expect_grads(c, &g, 385.0, 55.0);
        expect_matrix(c, "input gradient", &dx, dp_group_slot(g.group, 2), 10, 1,
                      sequence(c, 10, 2.0, 2.0));
    }
}

/* Replicas have different speeds, in forward and backward, on the worker and in the queue. */
static void delayed(struct context *c)
{
    static const unsigned table[][4] = {{6, 4, 2, 0}, {0, 2, 4, 6}, {0, 6, 0, 6}, {6, 0, 0, 0}};
    for (int t = 0; t < 8; ++t) {
        case_release(c);
        case_note(c, "delays %d", t);
        struct dp_group *group = open_group(c, 4);
        struct dp_slot *slot = dp_group_slot(group, 0);
        struct dp_module *linear = make_linear(c, group, 1, 1, true);
        struct probe *probe;
        struct dp_module *model = make_sequential(
            c, group, (struct dp_module *[]){linear, make_probe(c, group, &probe)}, 2);
        probe->queued = t >= 4;
        for (int i = 0; i < 4; ++i) {
            probe->forward_ms[i] = table[t % 4][i];
            probe->backward_ms[i] = table[t % 4][3 - i];
        }
        move_module(c, model, slot);
        write_values(c, &param_at(c, linear, 0)->value, (double[]){2.0});
        write_values(c, &param_at(c, linear, 1)->value, (double[]){1.0});
        struct dp_module *wrapper = make_parallel(c, model, &(struct dp_parallel_config){0});
        struct dp_run *run = open_run(c, group);
        const struct dp_tensor x = golden_rows(c, slot, 10, 1.0);
        const struct dp_tensor y = forward(c, wrapper, run, &x);
        expect_matrix(c, "output", &y, slot, 10, 1, sequence(c, 10, 3.0, 2.0));
        const struct dp_tensor dx = backward(c, wrapper, run, &x);
        expect_grad(c, "weight", param_at(c, linear, 0), (double[]){385.0});
        expect_grad(c, "bias", param_at(c, linear, 1), (double[]){55.0});
        expect_matrix(c, "input gradient", &dx, slot, 10, 1, sequence(c, 10, 2.0, 2.0));
    }
}

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
        for (int i = 0; i < 10; ++i) {
            want[i] = (silent >> i / 3 & 1) != 0 ? 0.0 : 1.0 + i;
        }
        if (silent != 15 || dx.slot) {
            expect_matrix(c, "input gradient", &dx, slot, 10, 1, want);
        }
    }
}

/* An input that wants no gradient gets none; the parameters get theirs. */
static void unwanted(struct context *c)
{
    for (int k = 1; k <= 4; ++k) {
        case_release(c);
        case_note(c, "K=%d", k);
        struct golden g;
        golden_open(c, &g, k);
        struct dp_tensor x = golden_rows(c, g.ids[0], 10, 1.0);
        x.needs_grad = false;
        (void)forward(c, g.wrapper, g.run, &x);
        const struct dp_tensor dx = backward(c, g.wrapper, g.run, &x);
        expect(c, dx.slot == NULL, "the input has a gradient");
        golden_expect_grads(c, &g, 385.0, 55.0);
    }
}

/* Replicas take different branches: each parameter gets the sum over those that used it. */
static void branches(struct context *c)
{
    for (int k = 2; k <= 8; ++k) {
        case_release(c);
        case_note(c, "K=%d", k);
        struct dp_group *group = open_group(c, k);
        struct dp_slot *slot = dp_group_slot(group, 0);
        struct dp_module *scale = make_scale(c, group, 2);
        move_module(c, scale, slot);
        write_values(c, &param_at(c, scale, 0)->value, (double[]){2.0});
        write_values(c, &param_at(c, scale, 1)->value, (double[]){-3.0});
        struct dp_module *wrapper = make_parallel(c, scale, &(struct dp_parallel_config){0});
        struct dp_run *run = open_run(c, group);
        const struct dp_tensor x = golden_rows(c, slot, 10, 1.0);
        double want[10], sum[2] = {0.0, 0.0}, want_dx[10];
        size_t row = 0;
        for (int s = 0; s < shard_count(10, k); ++s) {
            for (size_t i = 0; i < shard_rows(10, k, s); ++i, ++row) {
                const double value = (double)row + 1.0;
                const double factor = s % 2 == 0 ? 2.0 : -3.0;
                want[row] = factor * value;
                want_dx[row] = factor * value;
                sum[s % 2] += value * value;
            }
        }
        const struct dp_tensor y = forward(c, wrapper, run, &x);
        expect_matrix(c, "output", &y, slot, 10, 1, want);
        const struct dp_tensor dx = backward(c, wrapper, run, &x);
        expect_matrix(c, "input gradient", &dx, slot, 10, 1, want_dx);
        expect_grad(c, "first branch", param_at(c, scale, 0), &sum[0]);
        expect_grad(c, "second branch", param_at(c, scale, 1), &sum[1]);
    }
}

/* A no-grad forward, then training: the no-grad forward leaves nothing that backward finds. */
static void after_no_grad(struct context *c)
{
    for (int k = 1; k <= 4; ++k) {
        case_release(c);
        case_note(c, "K=%d", k);
        struct golden g;
        golden_open(c, &g, k);
        const struct dp_tensor x = golden_rows(c, g.ids[0], 10, 1.0);
        dp_run_grad_mode(g.run, false);
        struct dp_tensor y = forward(c, g.wrapper, g.run, &x);
        expect_values(c, "output without grad", &y, sequence(c, 10, 3.0, 2.0));
        struct dp_error err = {0};
        const int status = dp_backward(g.wrapper, g.run, NULL, 0, NULL, 0, &err);
        expect(c, status != DP_OK, "a backward without a forward in grad mode succeeded");
        expect_no_grad(c, "after a refused backward", g.weight);
        expect(c, !g.weight->frozen && !g.bias->frozen, "a parameter is frozen now");
        dp_run_grad_mode(g.run, true);
        y = forward(c, g.wrapper, g.run, &x);
        const struct dp_tensor dx = backward(c, g.wrapper, g.run, &x);
        golden_expect_grads(c, &g, 385.0, 55.0);
        expect_matrix(c, "input gradient", &dx, g.ids[0], 10, 1, sequence(c, 10, 2.0, 2.0));
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
    struct dp_error err = {0};
    for (int i = 0; i < 2; ++i) {
        struct dp_module *module = i == 0 ? layer : other;
        move_module(c, module, slot);
        write_values(c, &param_at(c, module, 0)->value, (double[]){2.0});
    }
    const struct dp_tensor x = golden_rows(c, slot, 10, 1.0);
    const struct dp_tensor long_one = golden_rows(c, slot, 11, 1.0);
    const struct dp_tensor y = forward(c, layer, run, &x);
    expect_matrix(c, "output", &y, slot, 10, 1, sequence(c, 10, 2.0, 2.0));
    expect_error(c, dp_backward(other, run, NULL, 0, NULL, 0, &err), DP_EINVAL, &err,
                 "the last forward was one of", NULL);
    err = (struct dp_error){0};
    expect_error(c, dp_backward(layer, run, &long_one, 1, NULL, 0, &err), DP_ESHAPE, &err,
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
        for (int i = 0; i < 2; ++i) {
            if (parts & 1 << i)
                expect_no_grad(c, i == 0 ? "weight" : "bias", param_at(c, layer, i));
            else
                expect_grad(c, i == 0 ? "weight" : "bias", param_at(c, layer, i), &want[i]);
        }
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
    struct dp_error err = {0};
    const int status = which == 0 ? dp_linear(group, CHANNELS * SIDE * SIDE, 2, true, &layer, &err)
                       : which == 1 ? dp_conv2d(group, CHANNELS, 2, &window, true, &layer, &err)
                       : which == 2 ? dp_batch_norm(group, CHANNELS, 1e-5, 0.1, &layer, &err)
                       : which == CAPSULES   ? dp_capsule(group, &capsules, &layer, &err)
                       : which == LAYER_NORM ? dp_layer_norm(group, SIDE, 1e-5, &layer, &err)
                                             : dp_positions(group, 4, SIDE * SIDE, &layer, &err);
    expect_ok(c, status, &err, "opening it");
    (void)own_module(c, layer);
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

/* Backward without an upstream gradient is backward with ones. */
static void ones(struct context *c)
{
    for (int k = 1; k <= 8; ++k) {
        case_release(c);
        case_note(c, "K=%d", k);
        struct golden g;
        golden_open(c, &g, k);
        const struct dp_tensor x = golden_rows(c, g.ids[0], 10, 1.0);
        (void)forward(c, g.wrapper, g.run, &x);
        const struct dp_tensor dx = backward(c, g.wrapper, g.run, NULL);
        golden_expect_grads(c, &g, 55.0, 10.0);
        expect_matrix(c, "input gradient", &dx, g.ids[0], 10, 1, sequence(c, 10, 2.0, 0.0));
    }
}

/* Three layers of small integers: every gradient has the same bits for every K. */
static void deep_model(struct context *c)
{
    static const size_t width[] = {5, 7, 4, 3};
    static const int counts[] = {1, 2, 3, 4, 5, 8};
    float reference[5 * 7 + 7 + 7 * 4 + 4 + 4 * 3 + 3 + 17 * 5];
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; ++i) {
        case_release(c);
        case_note(c, "K=%d", counts[i]);
        struct dp_group *group = open_group(c, counts[i]);
        struct dp_slot *slot = dp_group_slot(group, 0);
        struct dp_module *layers[5];
        for (size_t l = 0; l < 5; ++l) {
            layers[l] = l % 2 == 1 ? make_relu(c, group)
                                   : make_linear(c, group, width[l / 2], width[l / 2 + 1], true);
        }
        struct dp_module *model = make_sequential(c, group, layers, 5);
        move_module(c, model, slot);
        struct dp_param *list[6];
        expect(c, dp_module_params(model, list, 6) == 6, "parameters");
        for (size_t p = 0; p < 6; ++p) {
            write_values(c, &list[p]->value, integers(c, dp_tensor_count(&list[p]->value), 77 + p));
        }
        struct dp_module *wrapper = make_parallel(c, model, &(struct dp_parallel_config){0});
        struct dp_run *run = open_run(c, group);
        struct dp_tensor x = make_matrix(c, slot, 17, 5, integers(c, 85, 3));
        x.needs_grad = true;
        const struct dp_tensor upstream = make_matrix(c, slot, 17, 3, integers(c, 51, 4));
        (void)forward(c, wrapper, run, &x);
        const struct dp_tensor dx = backward(c, wrapper, run, &upstream);
        size_t at = 0;
        for (size_t p = 0; p <= 6; ++p) {
            const struct dp_tensor *grad = p < 6 ? &list[p]->grad : &dx;
            const size_t n = dp_tensor_count(grad);
            const float *got = read_floats(c, grad);
            if (i == 0) {
                for (size_t e = 0; e < n; ++e) {
                    reference[at + e] = got[e];
                }
            }
            expect_bits(c, p < 6 ? list[p]->name : "input gradient", grad, &reference[at]);
            at += n;
        }
    }
}

static const struct test_case cases[] = {
    {"gradient/permuted", "DEV-03 GRAD-06 OUT-01", permuted},
    {"gradient/delayed", "APPLY-02 DET-04 GRAD-07", delayed},
    {"gradient/some-take-part", "GRAD-08", some_take_part},
    {"gradient/unwanted", "GRAD-09", unwanted},
    {"gradient/branches", "GRAD-12", branches},
    {"gradient/after-no-grad", "REPL-14 APPLY-05", after_no_grad},
    {"gradient/refused-first", "ERR-08 GRAD-01", refused_first},
    {"gradient/frozen-parts", "REPL-13", frozen_parts},
    {"gradient/added-up", "GRAD-04", added_up},
    {"gradient/ones", "GRAD-01", ones},
    {"gradient/deep-model", "GRAD-02 GRAD-03 DET-05", deep_model},
};
const struct case_table gradient_cases = {cases, sizeof cases / sizeof cases[0]};
