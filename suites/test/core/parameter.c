/* parameter.c: parameters that are used twice, not at all, or not to be trained. */
#include "golden.h"
#include "list.h"
#include "probes.h"

#include <string.h>

struct model {
    struct dp_group *group;
    struct dp_slot *slot;
    struct dp_module *module, *wrapper;
    struct dp_run *run;
    struct dp_tensor x; /* 1..10 */
};

static void wrap(struct context *c, struct model *m, struct dp_module *module)
{
    m->module = module;
    m->slot = dp_group_slot(m->group, 0);
    move_module(c, module, m->slot);
    m->wrapper = make_parallel(c, module, &(struct dp_parallel_config){0});
    m->run = open_run(c, m->group);
    m->x = golden_rows(c, m->slot, 10, 1.0);
}

static void set(struct context *c, const struct dp_param *param, double value)
{
    write_values(c, &param->value, sequence(c, dp_tensor_count(&param->value), value, 0.0));
}

/* y = w (w x), w = 2: the gradient is the total over both uses, 4 * 55. Tied in three ways. */
static void tied(struct context *c)
{
    for (int way = 0; way < 3; ++way) {
        for (int k = 1; k <= 8; ++k) {
            case_release(c);
            case_note(c, "way %d K=%d", way, k);
            struct model m = {.group = open_group(c, k)};
            struct dp_module *first =
                way == 2 ? make_linear(c, m.group, 1, 1, false) : make_scale(c, m.group, 1);
            struct dp_module *second =
                way == 0 ? make_tied_scale(c, m.group, param_at(c, first, 0)) : first;
            wrap(c, &m, make_sequential(c, m.group, (struct dp_module *[]){first, second}, 2));
            struct dp_param *list[4];
            const int n = dp_module_params(m.module, list, 4);
            expect(c, n == 1, "%d parameters, want one", n);
            set(c, list[0], 2.0);
            const struct dp_tensor y = forward(c, m.wrapper, m.run, &m.x);
            expect_matrix(c, "output", &y, m.slot, 10, 1, sequence(c, 10, 4.0, 4.0));
            const struct dp_tensor dx = backward(c, m.wrapper, m.run, NULL);
            expect_grad(c, "tied", list[0], (double[]){220.0});
            expect_matrix(c, "input gradient", &dx, m.slot, 10, 1, sequence(c, 10, 4.0, 0.0));
        }
    }
}

/* A frozen weight: its gradient stays what it was, everything else goes on. */
static void frozen(struct context *c)
{
    for (int k = 1; k <= 8; ++k) {
        for (int prefilled = 0; prefilled < 2; ++prefilled) {
            case_release(c);
            case_note(c, "K=%d prefilled %d", k, prefilled);
            struct golden g;
            golden_open(c, &g, k);
            const struct dp_tensor x = golden_rows(c, g.ids[0], 10, 1.0);
            if (prefilled != 0) {
                (void)forward(c, g.wrapper, g.run, &x);
                (void)backward(c, g.wrapper, g.run, &x);
                fill_grad(c, g.weight, 123.0);
                fill_grad(c, g.bias, 0.0);
            }
            g.weight->frozen = true;
            const struct dp_tensor y = forward(c, g.wrapper, g.run, &x);
            expect_values(c, "output", &y, sequence(c, 10, 3.0, 2.0));
            const struct dp_tensor dx = backward(c, g.wrapper, g.run, NULL);
            if (prefilled != 0) {
                expect_grad(c, "frozen", g.weight, (double[]){123.0});
            } else {
                expect_no_grad(c, "frozen", g.weight);
            }
            expect_grad(c, "not frozen", g.bias, (double[]){10.0});
            expect_matrix(c, "input gradient", &dx, g.ids[0], 10, 1, sequence(c, 10, 2.0, 0.0));
            struct dp_error err = {0};
            struct dp_sgd *sgd = open_sgd(c, g.linear, 0.5f, 0.0f, 0.5f);
            expect_ok(c, dp_sgd_step(sgd, &err), &err, "dp_sgd_step");
            golden_expect_params(c, &g, 2.0, 1.0 - 0.5 * (10.0 + 0.5));
        }
    }
}

static struct dp_param *open_unused(struct context *c, struct model *m, int k)
{
    m->group = open_group(c, k);
    struct dp_module *linear = make_linear(c, m->group, 1, 1, true);
    struct dp_param *unused = NULL;
    struct dp_error err = {0};
    expect_ok(c, dp_module_add_param(linear, "unused", DP_F32, 2, (size_t[]){2, 2}, &unused, &err),
              &err, "dp_module_add_param");
    wrap(c, m, linear);
    set(c, unused, 2.0);
    return unused;
}

/* Unused: none with one device, zeros with more, also when only one of them runs. */
static void unused(struct context *c)
{
    for (int k = 1; k <= 8; ++k) {
        for (size_t n = 1; n <= 10; n += 9) {
            case_release(c);
            case_note(c, "K=%d N=%zu", k, n);
            struct model m;
            struct dp_param *param = open_unused(c, &m, k);
            const struct dp_tensor x = golden_rows(c, m.slot, n, 1.0);
            (void)forward(c, m.wrapper, m.run, &x);
            (void)backward(c, m.wrapper, m.run, NULL);
            expect_grad(c, "used", param_at(c, m.module, 0), (double[]){golden_sum(n)});
            if (k == 1) {
                expect_no_grad(c, "unused", param);
            } else {
                expect_grad(c, "unused", param, (double[]){0, 0, 0, 0});
            }
        }
    }
}

/* So weight decay leaves it alone on one device and acts on it on two. */
static void unused_decays(struct context *c)
{
    for (int k = 1; k <= 3; ++k) {
        case_release(c);
        case_note(c, "K=%d", k);
        struct model m;
        struct dp_param *param = open_unused(c, &m, k);
        struct dp_sgd *sgd = open_sgd(c, m.module, 1.0f, 0.0f, 0.5f);
        (void)forward(c, m.wrapper, m.run, &m.x);
        (void)backward(c, m.wrapper, m.run, NULL);
        struct dp_error err = {0};
        expect_ok(c, dp_sgd_step(sgd, &err), &err, "dp_sgd_step");
        expect_values(c, "unused parameter", &param->value,
                      sequence(c, 4, k == 1 ? 2.0 : 1.0, 0.0));
    }
}

/* dp_zero_grad makes gradients none; the next backward sets and does not add. */
static void zeroed(struct context *c)
{
    for (int k = 1; k <= 4; ++k) {
        case_release(c);
        case_note(c, "K=%d", k);
        struct golden g;
        golden_open(c, &g, k);
        const struct dp_tensor x = golden_rows(c, g.ids[0], 10, 1.0);
        expect_no_grad(c, "at first", g.weight);
        for (int step = 0; step < 3; ++step) {
            dp_run_reset(g.run);
            (void)forward(c, g.wrapper, g.run, &x);
            (void)backward(c, g.wrapper, g.run, &x);
            golden_expect_grads(c, &g, 385.0, 55.0);
            dp_zero_grad(step % 2 == 0 ? g.linear : g.wrapper);
            expect_no_grad(c, "after dp_zero_grad", g.weight);
            expect_no_grad(c, "after dp_zero_grad", g.bias);
        }
    }
}

/* Moving keeps values, gradients and whether there are any. */
static void moved(struct context *c)
{
    struct golden g;
    golden_open(c, &g, 3);
    const struct dp_tensor x = golden_rows(c, g.ids[0], 10, 1.0);
    (void)forward(c, g.wrapper, g.run, &x);
    g.weight->frozen = false;
    g.bias->frozen = true;
    (void)backward(c, g.wrapper, g.run, NULL);
    static const int places[] = {1, 2, -1, 0};
    for (int i = 0; i < 4; ++i) {
        case_note(c, "place %d", places[i]);
        struct dp_slot *slot = places[i] < 0 ? dp_group_host(g.group) : g.ids[places[i]];
        move_module(c, i % 2 == 0 ? g.wrapper : g.linear, slot);
        expect_slot(c, "weight", &g.weight->value, slot);
        expect_slot(c, "bias", &g.bias->value, slot);
        golden_expect_params(c, &g, 2.0, 1.0);
        expect_grad(c, "weight", g.weight, (double[]){55.0});
        expect_no_grad(c, "bias", g.bias);
    }
    g.bias->frozen = false;
    dp_run_reset(g.run);
    (void)forward(c, g.wrapper, g.run, &x);
    (void)backward(c, g.wrapper, g.run, NULL);
    golden_expect_grads(c, &g, 110.0, 10.0);
}

/* Layers of one shape begin with different weights; the same seed gives the same ones. */
static void drawn_apart(struct context *c)
{
    enum { COUNT = 4, ELEMENTS = 35 };
    struct dp_group *group = open_group(c, 1);
    struct dp_module *layers[COUNT];
    for (int i = 0; i < COUNT; ++i)
        layers[i] = make_linear(c, group, 5, 7, false);
    struct dp_module *model = make_sequential(c, group, layers, COUNT);
    struct dp_error err = {0};
    expect_ok(c, dp_module_init(model, 3, &err), &err, "dp_module_init");
    const float *drawn[COUNT];
    for (int i = 0; i < COUNT; ++i)
        drawn[i] = read_floats(c, &param_at(c, model, i)->value);
    for (int i = 0; i < COUNT; ++i) {
        for (int k = 0; k < i; ++k) {
            int equal = 0;
            for (int e = 0; e < ELEMENTS; ++e)
                equal += memcmp(&drawn[i][e], &drawn[k][e], sizeof drawn[i][e]) == 0;
            expect(c, equal == 0, "%d of %d weights of layers %d and %d are the same", equal,
                   ELEMENTS, k, i);
        }
    }
    expect_ok(c, dp_module_init(model, 3, &err), &err, "dp_module_init again");
    for (int i = 0; i < COUNT; ++i)
        expect_bits(c, "the same seed", &param_at(c, model, i)->value, drawn[i]);
}

static const struct test_case cases[] = {
    {"parameter/tied", "REPL-09", tied},
    {"parameter/frozen", "REPL-13", frozen},
    {"parameter/unused", "GRAD-11", unused},
    {"parameter/unused-decays", "GRAD-11 GRAD-17", unused_decays},
    {"parameter/zeroed", "GRAD-05", zeroed},
    {"parameter/moved", "DEV-02 GRAD-06", moved},
    {"parameter/drawn-apart", "DET-05", drawn_apart},
};
const struct case_table parameter_cases = {cases, sizeof cases / sizeof cases[0]};
