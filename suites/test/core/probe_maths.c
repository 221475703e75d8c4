/* probe_maths.c: the probes with arithmetic, queued on the slot of their data: multiply, of two
 * inputs, and scale, with a parameter: y = w x. Plain loops over small integers: exact on every
 * device list and backend. */
#include "probes.h"

#include <stddef.h>

/* Arguments of every queued function; each uses what it needs. */
struct span {
    const float *a, *b;
    float *y;
    size_t rows, columns; /* of y */
    size_t in_rows;       /* of a */
    bool accumulate;
};

/* How many elements of each array a function uses. */
struct counts {
    size_t a, b, y;
};

int probe_refuse(struct dp_error *err, int got, int want); /* so many tensors */

static int span_queue(struct dp_run *run, const struct dp_tensor *on,
                      void (*function)(const void *), const struct span *span, struct counts counts,
                      struct dp_error *err)
{
    const struct dp_use uses[] = {
        {offsetof(struct span, a), counts.a * sizeof *span->a, DP_READS},
        {offsetof(struct span, b), counts.b * sizeof *span->b, DP_READS},
        {offsetof(struct span, y), counts.y * sizeof *span->y,
         span->accumulate ? DP_READS | DP_WRITES : DP_WRITES},
    };
    return dp_run_call(run, on->slot, function, span, sizeof *span, uses, 3, err);
}

static int probe_like(struct dp_run *run, const struct dp_tensor *like, struct dp_tensor *tensor,
                      struct dp_error *err)
{
    return dp_run_tensor(run, like->slot, like->dtype, like->ndim, like->dim, tensor, err);
}

/* An output's gradient is wanted when the input's is, or when there is something to train. */
static void probe_inherit(const struct dp_run *run, const struct dp_tensor *in, bool trained,
                          struct dp_tensor *out)
{
    out->needs_grad = dp_run_has_grad(run) && (in->needs_grad || trained);
}

int probe_refuse(struct dp_error *err, int got, int want)
{
    return dp_fail(err, DP_EINVAL, "probe: %d tensors, takes %d", got, want);
}

/* ---- two inputs ------------------------------------------------------------------------- */

static void call_multiply(const void *args)
{
    const struct span *s = args;
    for (size_t i = 0; i < s->rows; ++i)
        s->y[i] = s->a[i] * s->b[i];
}

static int multiply_into(struct dp_run *run, const struct dp_tensor *a, const struct dp_tensor *b,
                         struct dp_tensor *y, struct dp_error *err)
{
    const int status = probe_like(run, a, y, err);
    y->needs_grad = dp_run_has_grad(run) && (a->needs_grad || b->needs_grad);
    const struct span span = {.a = a->data, .b = b->data, .y = y->data, .rows = dp_tensor_count(a)};
    return status != DP_OK ? status
                           : span_queue(run, a, call_multiply, &span,
                                        (struct counts){span.rows, span.rows, span.rows}, err);
}

static int multiply_forward(struct dp_module *module, struct dp_run *run,
                            const struct dp_tensor in[], int n_in, struct dp_tensor out[],
                            int *n_out, struct dp_error *err)
{
    if (n_in != 2 || dp_tensor_count(&in[0]) != dp_tensor_count(&in[1]))
        return probe_refuse(err, n_in, 2);
    const int status =
        dp_run_has_grad(run) ? dp_run_save(run, module, in, 2 * sizeof in[0], err) : DP_OK;
    *n_out = 1;
    return status != DP_OK ? status : multiply_into(run, &in[0], &in[1], &out[0], err);
}

static int multiply_backward(struct dp_module *module, struct dp_run *run,
                             const struct dp_tensor grad_out[], int n_out,
                             struct dp_tensor grad_in[], int n_in, struct dp_error *err)
{
    struct dp_tensor in[2];
    if (n_out != 1 || n_in != 2)
        return probe_refuse(err, n_out, 1);
    int status = dp_run_restore(run, module, in, sizeof in, err);
    for (int i = 0; status == DP_OK && i < 2; ++i) {
        grad_in[i] = (struct dp_tensor){.slot = NULL};
        if (in[i].needs_grad)
            status = multiply_into(run, &grad_out[0], &in[1 - i], &grad_in[i], err);
    }
    return status;
}

struct dp_module *make_multiply(struct context *c, struct dp_group *group)
{
    static const struct dp_module_ops ops = {"multiply", multiply_forward, multiply_backward, NULL};
    return make_module(c, group, &ops, NULL);
}

/* ---- a parameter ----------------------------------------------------------------------------- */

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
