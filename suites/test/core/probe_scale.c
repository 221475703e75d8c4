/* probe_scale.c: the probe with a parameter: y = w x. */
#include "probe_maths.h"

struct scale {
    struct dp_param *weight[PROBE_REPLICAS];
    int choices;
};

static struct dp_param *chosen(const struct scale *self, const struct dp_run *run)
{
    const int replica = dp_run_replica(run);
    return self->weight[replica < 0 ? 0 : replica % self->choices];
}

static void call_scale(const void *args)
{
    const struct span *s = args;
    for (size_t i = 0; i < s->rows * s->columns; ++i)
        s->y[i] = s->b[0] * s->a[i];
}

static void call_dot(const void *args)
{
    const struct span *s = args;
    float sum = s->accumulate ? s->y[0] : 0.0f;
    for (size_t i = 0; i < s->in_rows; ++i)
        sum += s->a[i] * s->b[i];
    s->y[0] = sum;
}

static int scale_forward(struct dp_module *module, struct dp_run *run, const struct dp_tensor in[],
                         int n_in, struct dp_tensor out[], int *n_out, struct dp_error *err)
{
    const struct scale *self = dp_module_self(module);
    if (n_in != 1)
        return probe_refuse(err, n_in, 1);
    int status = probe_like(run, in, &out[0], err);
    if (status == DP_OK && dp_run_has_grad(run))
        status = dp_run_save(run, module, in, sizeof *in, err);
    if (status != DP_OK)
        return status;
    const struct dp_tensor *weight = dp_run_value(run, chosen(self, run));
    probe_inherit(run, in, !chosen(self, run)->frozen, &out[0]);
    const struct span span = {.a = in->data,
                              .b = weight->data,
                              .y = out[0].data,
                              .rows = dp_tensor_count(in),
                              .columns = 1};
    *n_out = 1;
    return span_queue(run, in, call_scale, &span, (struct counts){span.rows, 1, span.rows}, err);
}

static int scale_backward(struct dp_module *module, struct dp_run *run,
                          const struct dp_tensor grad_out[], int n_out, struct dp_tensor grad_in[],
                          int n_in, struct dp_error *err)
{
    const struct scale *self = dp_module_self(module);
    struct dp_param *param = chosen(self, run);
    struct dp_tensor in, grad;
    if (n_out != 1 || n_in != 1)
        return probe_refuse(err, n_out, 1);
    int status = dp_run_restore(run, module, &in, sizeof in, err);
    if (status == DP_OK && !param->frozen) {
        struct span span = {.a = in.data, .b = grad_out->data, .in_rows = dp_tensor_count(&in)};
        dp_run_grad(run, param, &grad, &span.accumulate);
        span.y = grad.data;
        status = span_queue(run, &in, call_dot, &span,
                            (struct counts){span.in_rows, span.in_rows, 1}, err);
    }
    grad_in[0] = (struct dp_tensor){.slot = NULL};
    if (status != DP_OK || !in.needs_grad)
        return status;
    status = probe_like(run, &in, &grad_in[0], err);
    const struct span span = {.a = grad_out->data,
                              .b = dp_run_value(run, param)->data,
                              .y = grad_in[0].data,
                              .rows = dp_tensor_count(&in),
                              .columns = 1};
    return status != DP_OK ? status
                           : span_queue(run, &in, call_scale, &span,
                                        (struct counts){span.rows, 1, span.rows}, err);
}

static const struct dp_module_ops scale_ops = {"scale", scale_forward, scale_backward, NULL};

struct dp_module *make_scale(struct context *c, struct dp_group *group, int choices)
{
    static const char *const names[] = {"weight", "other"};
    struct scale *self = case_memory(c, sizeof *self);
    self->choices = choices;
    struct dp_module *module = make_module(c, group, &scale_ops, self);
    for (int i = 0; i < choices; ++i) {
        expect_ok(c,
                  dp_module_add_param(module, names[i % 2], DP_F32, 1, (size_t[]){1},
                                      &self->weight[i], &c->err),
                  "dp_module_add_param");
    }
    return module;
}

struct dp_module *make_tied_scale(struct context *c, struct dp_group *group,
                                  struct dp_param *weight)
{
    struct scale *self = case_memory(c, sizeof *self);
    self->choices = 1;
    self->weight[0] = weight;
    struct dp_module *module = make_module(c, group, &scale_ops, self);
    expect_ok(c, dp_module_tie_param(module, weight, &c->err), "dp_module_tie_param");
    return module;
}
