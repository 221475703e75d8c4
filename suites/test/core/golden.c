/* golden.c: the golden model and its closed forms; see golden.h. */
#include "golden.h"

#include <math.h>

const int golden_k[5] = {1, 2, 3, 4, 8};
const size_t golden_n[6] = {1, 3, 9, 10, 17, 30};

struct golden_cell golden_grid(int i)
{
    return (struct golden_cell){golden_k[i / 6], golden_n[i % 6]};
}

void golden_open_on(struct context *c, struct golden *g, int slots, const int order[], int k)
{
    g->group = open_group(c, slots);
    g->k = k;
    g->ids = slot_list(c, g->group, order, k);
    g->linear = make_linear(c, g->group, 1, 1, true);
    g->weight = param_at(c, g->linear, 0);
    g->bias = param_at(c, g->linear, 1);
    move_module(c, g->linear, g->ids[0]);
    golden_set(c, g, 2.0, 1.0);
    g->wrapper = make_parallel(
        c, g->linear, &(struct dp_parallel_config){.device_ids = g->ids, .n_device_ids = k});
    g->run = open_run(c, g->group);
}

void golden_open(struct context *c, struct golden *g, int k)
{
    golden_open_on(c, g, k, NULL, k);
}

void golden_set(struct context *c, const struct golden *g, double weight, double bias)
{
    write_values(c, &g->weight->value, &weight);
    write_values(c, &g->bias->value, &bias);
}

struct dp_tensor golden_rows(struct context *c, struct dp_slot *slot, size_t n, double first)
{
    struct dp_tensor rows = make_matrix(c, slot, n, 1, sequence(c, n, first, 1.0));
    rows.needs_grad = true;
    return rows;
}

void golden_poison(struct context *c, const struct golden *g, size_t n)
{
    struct dp_tensor nan = make_matrix(c, g->ids[0], n, 1, sequence(c, n, (double)NAN, 0.0));
    nan.needs_grad = true;
    (void)forward(c, g->wrapper, g->run, &nan);
    (void)backward(c, g->wrapper, g->run, &nan);
    dp_run_reset(g->run);
    dp_zero_grad(g->linear);
}

double golden_sum(size_t n)
{
    return (double)(n * (n + 1) / 2);
}

double golden_squares(size_t n)
{
    return (double)(n * (n + 1) * (2 * n + 1) / 6);
}

void golden_expect_grads(struct context *c, const struct golden *g, double weight, double bias)
{
    expect_grad(c, "gradient of the weight", g->weight, &weight);
    expect_grad(c, "gradient of the bias", g->bias, &bias);
    expect(c, g->weight->grad.slot == g->ids[0], "the gradient is not on the first device");
}

void golden_expect_params(struct context *c, const struct golden *g, double weight, double bias)
{
    expect_values(c, "weight", &g->weight->value, &weight);
    expect_values(c, "bias", &g->bias->value, &bias);
}
