/* parameter.c: parameters that are drawn, and moved with their gradients. */
#include "golden.h"
#include "list.h"
#include "optimizer.h"

#include <string.h>

/* Layers of one shape begin with different weights; the same seed gives the same ones. */
static void drawn_apart(struct context *c)
{
    enum { COUNT = 4, ELEMENTS = 35 };
    struct dp_group *group = open_group(c, 1);
    struct dp_module *layers[COUNT];
    for (int i = 0; i < COUNT; ++i)
        layers[i] = make_linear(c, group, 5, 7, false);
    struct dp_module *model = make_sequential(c, group, layers, COUNT);
    expect_ok(c, dp_module_init(model, 3, &c->err), "dp_module_init");
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
    expect_ok(c, dp_module_init(model, 3, &c->err), "dp_module_init again");
    for (int i = 0; i < COUNT; ++i)
        expect_bits(c, "the same seed", &param_at(c, model, i)->value, drawn[i]);
}

/* A backward is refused when a parameter has changed after its forward. */
static void changed(struct context *c)
{
    static const char *const ways[] = {"written", "copied", "drawn", "SGD", "AdamW"};
    struct golden g;
    golden_open(c, &g, 3);
    const struct dp_tensor x = golden_rows(c, g.ids[0], 10, 1.0);
    const struct dp_adamw_config config = {.lr = 0.5, .beta1 = 0.5, .beta2 = 0.5, .eps = 0.5};
    const float two = 2.0f;
    struct dp_sgd *sgd = open_sgd(c, g.wrapper, 0.5f, 0.0f, 0.0f);
    struct dp_adamw *adamw = open_adamw(c, g.wrapper, &config);
    (void)forward(c, g.wrapper, g.run, &x);
    (void)backward(c, g.wrapper, g.run, NULL);
    for (int way = 0; way < 5; ++way) {
        case_note(c, "%s", ways[way]);
        dp_run_reset(g.run);
        (void)forward(c, g.wrapper, g.run, &x);
        const struct dp_tensor *w = &g.weight->value;
        const int status = way == 0   ? dp_tensor_write(w, &two, &c->err)
                           : way == 1 ? dp_tensor_copy(w, &g.weight->grad, &c->err)
                           : way == 2 ? dp_module_init(g.linear, 3, &c->err)
                           : way == 3 ? dp_sgd_step(sgd, &c->err)
                                      : dp_adamw_step(adamw, &c->err);
        expect_ok(c, status, ways[way]);
        expect_error(c, dp_backward(g.wrapper, g.run, NULL, 0, NULL, 1, &c->err), DP_EINVAL,
                     "data_parallel", "changed after the forward");
    }
    case_note(c, "a gradient only");
    dp_run_reset(g.run);
    (void)forward(c, g.wrapper, g.run, &x);
    expect_ok(c, dp_tensor_write(&g.weight->grad, &two, &c->err), "dp_tensor_write");
    (void)backward(c, g.wrapper, g.run, NULL);
    expect_grad(c, "weight", g.weight, (double[]){57.0});
}

static const struct test_case cases[] = {
    {"parameter/changed", "GRAD-20", changed},
    {"parameter/drawn-apart", "DET-05", drawn_apart},
};
const struct case_table parameter_cases = {cases, sizeof cases / sizeof cases[0]};
