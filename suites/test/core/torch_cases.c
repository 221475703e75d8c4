/* torch_cases.c: every layer against PyTorch's, in its values and in every gradient, in train and
 * eval mode, on shapes with strides and paddings. PyTorch's results are in torch/layers.txt, with a
 * derived bound next to every number that is not exact; torch/make.py wrote that file. */
#include "list.h"
#include "torch_one.h"

#include <string.h>

static struct dp_window window_of(const struct torch_layer *layer, int first)
{
    struct dp_window w;
    for (int a = 0; a < 2; ++a) {
        w.kernel[a] = (size_t)layer->number[first + a];
        w.stride[a] = (size_t)layer->number[first + 2 + a];
        w.padding[a] = (size_t)layer->number[first + 4 + a];
    }
    return w;
}

TORCH_LAYER(conv2d)
{
    struct torch_one o;
    torch_open(c, &o);
    const struct dp_window window = window_of(layer, 2);
    const bool bias = layer->n_tensors == 8;
    (void)opened_module(c,
                        dp_conv2d(o.group, (size_t)layer->number[0], (size_t)layer->number[1],
                                  &window, bias, &o.module, &c->err),
                        &o.module);
    torch_set_params(c, &o, layer, torch_weight_bias, bias ? 2 : 1);
    torch_run_both_ways(c, &o, layer, torch_weight_bias, bias ? 2 : 1, true);
}

TORCH_LAYER(max_pool2d)
{
    struct torch_one o;
    torch_open(c, &o);
    const struct dp_window window = window_of(layer, 0);
    (void)opened_module(c, dp_max_pool2d(o.group, &window, &o.module, &c->err), &o.module);
    torch_run_both_ways(c, &o, layer, NULL, 0, true);
}

/* The table is on the device, and on the host. */
TORCH_LAYER(embedding)
{
    for (int host = 0; host < 2; ++host) {
        struct torch_one o;
        torch_open(c, &o);
        o.slot = host ? dp_group_host(o.group) : o.slot;
        (void)opened_module(c,
                            dp_embedding(o.group, (size_t)layer->number[0],
                                         (size_t)layer->number[1], &o.module, &c->err),
                            &o.module);
        torch_set_params(c, &o, layer, torch_weight_bias, 1);
        const struct dp_tensor x = torch_put(c, &o, DP_I32, torch_find(c, layer, "x"));
        const struct dp_tensor dy = torch_put(c, &o, DP_F32, torch_find(c, layer, "dy"));
        const struct dp_tensor y = forward(c, o.module, o.run, &x);
        expect_slot(c, "y", &y, o.slot);
        torch_expect(c, torch_find(c, layer, "y"), &y);
        (void)backward(c, o.module, o.run, &dy);
        torch_expect_grads(c, &o, layer, torch_weight_bias, 1);
    }
}

static const char *const recurrent_params[] = {"weight_ih", "weight_hh", "bias_ih", "bias_hh"};

static void one_recurrent(struct context *c, const struct torch_layer *layer)
{
    struct torch_one o;
    torch_open(c, &o);
    const size_t features = (size_t)layer->number[0], hidden = (size_t)layer->number[1];
    const bool last = layer->number[2] > 0.0;
    (void)opened_module(c,
                        strcmp(layer->name, "lstm") == 0
                            ? dp_lstm(o.group, features, hidden, last, &o.module, &c->err)
                            : dp_rnn(o.group, features, hidden, last, &o.module, &c->err),
                        &o.module);
    torch_set_params(c, &o, layer, recurrent_params, 4);
    torch_run_both_ways(c, &o, layer, recurrent_params, 4, true);
}

static void lstm(struct context *c)
{
    torch_each(c, "lstm", one_recurrent);
}

static void rnn(struct context *c)
{
    torch_each(c, "rnn", one_recurrent);
}

/* The buffers have moved twice after two steps: they are set anew before the one that is compared.
 */
TORCH_LAYER(batch_norm)
{
    static const char *const buffers[] = {"mean", "var"};
    struct torch_one o;
    torch_open(c, &o);
    (void)opened_module(c,
                        dp_batch_norm(o.group, (size_t)layer->number[0], layer->number[3],
                                      layer->number[2], &o.module, &c->err),
                        &o.module);
    const bool training = layer->number[1] > 0.0;
    dp_run_train_mode(o.run, training);
    for (int i = 0; i < 2; ++i) {
        write_values(c, &param_at(c, o.module, 2 + i)->value,
                     torch_find(c, layer, buffers[i])->value);
    }
    torch_set_params(c, &o, layer, torch_weight_bias, 2);
    torch_run_both_ways(c, &o, layer, torch_weight_bias, 2, true);
    for (int i = 0; i < 2; ++i) {
        write_values(c, &param_at(c, o.module, 2 + i)->value,
                     torch_find(c, layer, buffers[i])->value);
    }
    write_values(c, &param_at(c, o.module, 4)->value, (double[]){0});
    dp_run_reset(o.run);
    const struct dp_tensor x = torch_put(c, &o, DP_F32, torch_find(c, layer, "x"));
    (void)forward(c, o.module, o.run, &x);
    torch_expect(c, torch_find(c, layer, "running_mean"), &param_at(c, o.module, 2)->value);
    torch_expect(c, torch_find(c, layer, "running_var"), &param_at(c, o.module, 3)->value);
    expect_values(c, "count", &param_at(c, o.module, 4)->value,
                  torch_find(c, layer, "count")->value);
}

TORCH_LAYER(capsule)
{
    struct torch_one o;
    torch_open(c, &o);
    const struct dp_capsule_config config = {(size_t)layer->number[0], (size_t)layer->number[1],
                                             (size_t)layer->number[2], (size_t)layer->number[3],
                                             (int)layer->number[4]};
    (void)opened_module(c, dp_capsule(o.group, &config, &o.module, &c->err), &o.module);
    torch_set_params(c, &o, layer, torch_weight_bias, 1);
    torch_run_both_ways(c, &o, layer, torch_weight_bias, 1, true);
}

TORCH_LAYER(residual)
{
    const struct dp_window window = {.kernel = {3, 3}, .padding = {1, 1}};
    const size_t channels = (size_t)layer->number[0];
    struct dp_module *conv = NULL;
    struct torch_one o;
    torch_open(c, &o);
    (void)opened_module(c, dp_conv2d(o.group, channels, channels, &window, false, &conv, &c->err),
                        &conv);
    (void)opened_module(c, dp_residual(o.group, conv, &o.module, &c->err), &o.module);
    torch_set_params(c, &o, layer, torch_weight_bias, 1);
    torch_run_both_ways(c, &o, layer, torch_weight_bias, 1, true);
    torch_run_both_ways(c, &o, layer, torch_weight_bias, 1, false);
}

/* Only floats of one shape can be added. If the child has no gradient for its input, the skip
 * connection has one. */
static int blind_forward(struct dp_module *module, struct dp_run *run, const struct dp_tensor in[],
                         int n_in, struct dp_tensor out[], int *n_out, struct dp_error *err)
{
    (void)module, (void)run, (void)err;
    out[0] = in[0];
    *n_out = n_in;
    return 0;
}

static int blind_backward(struct dp_module *module, struct dp_run *run,
                          const struct dp_tensor grad_out[], int n_out, struct dp_tensor grad_in[],
                          int n_in, struct dp_error *err)
{
    (void)module, (void)run, (void)grad_out, (void)n_out, (void)n_in, (void)err;
    grad_in[0] = (struct dp_tensor){0};
    return 0;
}

static const struct dp_module_ops blind_ops = {"blind", blind_forward, blind_backward, NULL};

static void residual_of(struct context *c, const struct torch_one *o, int status,
                        struct dp_module **child, struct dp_module **module)
{
    (void)opened_module(c, status, child);
    (void)opened_module(c, dp_residual(o->group, *child, module, &c->err), module);
}

static void residual_edges(struct context *c)
{
    struct dp_module *child = NULL, *module = NULL;
    struct dp_tensor y;
    struct torch_one o;
    int n = 0;
    torch_open(c, &o);
    struct dp_tensor x = make_matrix(c, o.slot, 2, 3, (double[]){1, 2, 3, 4, 5, 6});
    const struct dp_tensor dy = make_matrix(c, o.slot, 2, 3, (double[]){6, 5, 4, 3, 2, 1});
    residual_of(c, &o, dp_linear(o.group, 3, 2, false, &child, &c->err), &child, &module);
    move_module(c, module, o.slot);
    expect_error(c, dp_forward(module, o.run, &x, 1, &y, &n, &c->err), DP_ESHAPE, "shape (2, 2)",
                 "input of shape (2, 3)");
    residual_of(c, &o, dp_module_open(o.group, &blind_ops, NULL, NULL, 0, &child, &c->err), &child,
                &module);
    x.needs_grad = true;
    dp_run_reset(o.run);
    y = forward(c, module, o.run, &x);
    expect_values(c, "y", &y, (double[]){2, 4, 6, 8, 10, 12});
    y = backward(c, module, o.run, &dy);
    expect_values(c, "dx", &y, (double[]){6, 5, 4, 3, 2, 1});
}

static const struct test_case cases[] = {
    {"torch/conv2d", "", torch_conv2d},
    {"torch/max-pool2d", "", torch_max_pool2d},
    {"torch/embedding", "", torch_embedding},
    {"torch/lstm", "", lstm},
    {"torch/rnn", "", rnn},
    {"torch/batch-norm", "BUF-05", torch_batch_norm},
    {"torch/capsule", "", torch_capsule},
    {"torch/residual", "", torch_residual},
    {"torch/residual-edges", "", residual_edges},
};
const struct case_table torch_cases = {cases, sizeof cases / sizeof *cases};
