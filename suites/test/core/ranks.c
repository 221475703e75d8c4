/* ranks.c: see ranks.h. */
#include "ranks.h"

#include <stdio.h>

static void close_ddp(void *object)
{
    dp_ddp_close(object);
}

void own_ddp(struct context *c, struct dp_ddp *ddp)
{
    own(c, close_ddp, ddp);
}

void ranks_open(struct context *c, struct ranks *ranks, struct dp_group *group,
                struct dp_module *module, int n, const struct dp_ddp_config *config)
{
    const struct dp_ddp_config plain = {0};
    struct dp_slot **slots = first_slots(c, group, n);
    *ranks = (struct ranks){group, module, NULL, n};
    move_module(c, module, slots[0]);
    expect_ok(c, dp_ddp_open(module, slots, n, config ? config : &plain, &ranks->ddp, &c->err),
              "dp_ddp_open");
    own_ddp(c, ranks->ddp);
}

void ranks_line(struct context *c, struct ranks *ranks, int n, const struct dp_ddp_config *config)
{
    struct dp_group *group = open_group(c, n);
    struct dp_module *linear = make_linear(c, group, 1, 1, true);
    write_values(c, &param_at(c, linear, 0)->value, (double[]){2.0});
    write_values(c, &param_at(c, linear, 1)->value, (double[]){1.0});
    ranks_open(c, ranks, group, linear, n, config);
}

void ranks_forward(struct context *c, struct ranks *ranks, const struct ranks_batch *batch,
                   const bool active[], struct dp_tensor out[])
{
    struct dp_tensor in[RANKS_MOST] = {{0}};
    int n_out = 0;
    for (int r = 0; r < ranks->n; ++r) {
        if (batch->rows[r] == 0)
            continue;
        in[r] =
            make_matrix(c, dp_group_slot(ranks->group, r), (size_t)batch->rows[r], 1, batch->x[r]);
        in[r].needs_grad = true;
    }
    expect_ok(c, dp_ddp_forward(ranks->ddp, in, 1, active, out, &n_out, &c->err), "dp_ddp_forward");
}

void ranks_backward(struct context *c, struct ranks *ranks, const struct ranks_batch *batch)
{
    struct dp_tensor grad_out[RANKS_MOST] = {{0}}, grad_in[RANKS_MOST];
    for (int r = 0; r < ranks->n; ++r) {
        if (batch->rows[r] > 0) {
            grad_out[r] = make_matrix(c, dp_group_slot(ranks->group, r), (size_t)batch->rows[r], 1,
                                      sequence(c, (size_t)batch->rows[r], batch->g[r], 0.0));
        }
    }
    expect_ok(c, dp_ddp_backward(ranks->ddp, grad_out, 1, grad_in, 1, &c->err), "dp_ddp_backward");
}

void ranks_pass(struct context *c, struct ranks *ranks, const struct ranks_batch *batch)
{
    struct dp_tensor out[RANKS_MOST * DP_MAX_IO];
    bool active[RANKS_MOST], all = true;
    for (int r = 0; r < ranks->n; ++r) {
        active[r] = batch->rows[r] > 0;
        all = all && active[r];
    }
    dp_ddp_reset(ranks->ddp);
    ranks_forward(c, ranks, batch, all ? NULL : active, out);
    ranks_backward(c, ranks, batch);
}

void ranks_step(struct context *c, struct ranks *ranks, float lr, float momentum)
{
    expect_ok(c, dp_ddp_step(ranks->ddp, lr, momentum, 0.0f, &c->err), "dp_ddp_step");
    dp_ddp_zero_grad(ranks->ddp);
}

static struct dp_ddp_param param_of(struct context *c, struct ranks *ranks, int r, int i)
{
    struct dp_ddp_param param = {.has_grad = NULL};
    expect_ok(c, dp_ddp_param(ranks->ddp, r, i, &param, &c->err), "dp_ddp_param");
    return param;
}

void ranks_expect(struct context *c, struct ranks *ranks, int r, int i, bool gradient, double want)
{
    const struct dp_ddp_param param = param_of(c, ranks, r, i);
    char what[64];
    (void)snprintf(what, sizeof what, "rank %d: %s of parameter %d", r,
                   gradient ? "gradient" : "value", i);
    expect(c, !gradient || *param.has_grad, "%s is none", what);
    expect_values(c, what, gradient ? &param.grad : &param.value, &want);
}

void ranks_expect_all(struct context *c, struct ranks *ranks, int i, bool gradient, double want)
{
    for (int r = 0; r < ranks->n; ++r)
        ranks_expect(c, ranks, r, i, gradient, want);
}

void ranks_expect_none(struct context *c, struct ranks *ranks, int r, int i)
{
    expect(c, !*param_of(c, ranks, r, i).has_grad, "rank %d has a gradient of parameter %d", r, i);
}

void ranks_write(struct context *c, struct ranks *ranks, int r, int i, bool gradient, double value)
{
    const struct dp_ddp_param param = param_of(c, ranks, r, i);
    write_values(c, gradient ? &param.grad : &param.value, &value);
    *param.has_grad = *param.has_grad || gradient;
}

void ranks_equal(struct context *c, struct ranks *ranks)
{
    const int status = dp_ddp_compare(ranks->ddp, &c->err);
    expect(c, status == DP_OK, "%s", c->err.text);
}
