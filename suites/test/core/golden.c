/* golden.c: the golden model and its closed forms; see golden.h. */
#include "golden.h"

void golden_open(struct context *c, struct golden *g, int k)
{
    g->group = open_group(c, k);
    g->k = k;
    g->ids = first_slots(c, g->group, k);
    g->linear = make_linear(c, g->group, 1, 1, true);
    g->weight = param_at(c, g->linear, 0);
    g->bias = param_at(c, g->linear, 1);
    move_module(c, g->linear, g->ids[0]);
    golden_set(c, g, 2.0, 1.0);
    g->wrapper = make_parallel(
        c, g->linear, &(struct dp_parallel_config){.device_ids = g->ids, .n_device_ids = k});
    g->run = open_run(c, g->group);
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
