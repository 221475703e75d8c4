/* torch_transformer.c: the layers of a transformer compared with PyTorch's, as torch_cases.c does
 * for the others; and a loss of rows in several dimensions. */
#include "list.h"
#include "torch_one.h"

TORCH_LAYER(gelu)
{
    struct torch_one o;
    torch_open(c, &o);
    (void)opened_module(c, dp_gelu(o.group, layer->number[0] > 0.0, &o.module, &c->err), &o.module);
    torch_run_both_ways(c, &o, layer, NULL, 0, true);
}

TORCH_LAYER(layer_norm)
{
    struct torch_one o;
    torch_open(c, &o);
    (void)opened_module(
        c, dp_layer_norm(o.group, (size_t)layer->number[0], layer->number[1], &o.module, &c->err),
        &o.module);
    torch_set_params(c, &o, layer, torch_weight_bias, 2);
    torch_run_both_ways(c, &o, layer, torch_weight_bias, 2, true);
    torch_run_both_ways(c, &o, layer, torch_weight_bias, 2, false);
}

TORCH_LAYER(positions)
{
    struct torch_one o;
    torch_open(c, &o);
    (void)opened_module(c,
                        dp_positions(o.group, (size_t)layer->number[0], (size_t)layer->number[1],
                                     &o.module, &c->err),
                        &o.module);
    torch_set_params(c, &o, layer, torch_weight_bias, 1);
    torch_run_both_ways(c, &o, layer, torch_weight_bias, 1, true);
    torch_run_both_ways(c, &o, layer, torch_weight_bias, 1, false);
}

TORCH_LAYER(attention)
{
    struct torch_one o;
    torch_open(c, &o);
    (void)opened_module(
        c, dp_attention(o.group, (size_t)layer->number[0], 0.0, 1, &o.module, &c->err), &o.module);
    torch_run_both_ways(c, &o, layer, NULL, 0, true);
}

/* An embedding and an output that share a table, opened in either order. */
TORCH_LAYER(tied)
{
    struct torch_one o;
    struct dp_module *parts[2];
    torch_open(c, &o);
    (void)opened_module(c,
                        dp_embedding(o.group, (size_t)layer->number[0], (size_t)layer->number[1],
                                     &parts[0], &c->err),
                        &parts[0]);
    (void)opened_module(c, dp_linear_tied(o.group, param_at(c, parts[0], 0), &parts[1], &c->err),
                        &parts[1]);
    o.module = make_sequential(c, o.group, parts, 2);
    expect(c, dp_module_params(o.module, NULL, 0) == 1, "more than one parameter");
    torch_set_params(c, &o, layer, torch_weight_bias, 1);
    const struct dp_tensor x = torch_put(c, &o, DP_I32, torch_find(c, layer, "x"));
    const struct dp_tensor dy = torch_put(c, &o, DP_F32, torch_find(c, layer, "dy"));
    for (int round = 0; round < 2; ++round) {
        dp_run_reset(o.run);
        dp_zero_grad(o.module);
        const struct dp_tensor y = forward(c, o.module, o.run, &x);
        torch_expect(c, torch_find(c, layer, "y"), &y);
        (void)backward(c, o.module, o.run, &dy);
        torch_expect_grads(c, &o, layer, torch_weight_bias, 1);
    }
}

TORCH_LAYER(cross_entropy)
{
    struct torch_one o;
    struct dp_tensor out[DP_MAX_IO], grad[2];
    int n_out = 0;
    torch_open(c, &o);
    o.module = make_loss(c, o.group, DP_LOSS_XENT, 1.0f, layer->number[0] > 0.0);
    struct dp_tensor in[] = {torch_put(c, &o, DP_F32, torch_find(c, layer, "x")),
                             torch_put(c, &o, DP_I32, torch_find(c, layer, "target"))};
    in[0].needs_grad = true;
    expect_ok(c, dp_forward(o.module, o.run, in, 2, out, &n_out, &c->err), "forward");
    torch_expect(c, torch_find(c, layer, "y"), &out[0]);
    expect_ok(c, dp_backward(o.module, o.run, NULL, 0, grad, 2, &c->err), "backward");
    torch_expect(c, torch_find(c, layer, "dx"), &grad[0]);
}

static const struct test_case cases[] = {
    {"torch/gelu", "", torch_gelu},
    {"torch/layer-norm", "", torch_layer_norm},
    {"torch/positions", "", torch_positions},
    {"torch/attention", "", torch_attention},
    {"torch/tied", "REPL-09", torch_tied},
    {"torch/cross-entropy", "LOSS-01", torch_cross_entropy},
};
const struct case_table torch_transformer_cases = {cases, sizeof cases / sizeof *cases};
