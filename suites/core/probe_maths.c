/* probe_maths.c: the probes that compute, as C functions queued on the slot of their data. Plain
 * loops over small integers: exact on every device list and backend. */
#include "probes.h"

#include <stddef.h>

/* Arguments of every queued function here; each uses what it needs. */
struct span {
    const float *a, *b;
    float *y;
    size_t rows, columns;     /* of y */
    size_t in_rows, multiple; /* of a */
    bool accumulate;
};

static size_t row_width(const struct dp_tensor *tensor)
{
    size_t width = 1;
    for (int i = 1; i < tensor->ndim; ++i) {
        width *= tensor->dim[i];
    }
    return width;
}

/* How many elements of each a function uses. */
struct counts {
    size_t a, b, y;
};

static int queue(struct dp_run *run, const struct dp_tensor *on, void (*function)(const void *),
                 const struct span *span, struct counts counts, struct dp_error *err)
{
    const struct dp_use uses[] = {
        {offsetof(struct span, a), counts.a * sizeof *span->a, DP_READS},
        {offsetof(struct span, b), counts.b * sizeof *span->b, DP_READS},
        {offsetof(struct span, y), counts.y * sizeof *span->y,
         span->accumulate ? DP_READS | DP_WRITES : DP_WRITES},
    };
    return dp_run_call(run, on->slot, function, span, sizeof *span, uses, 3, err);
}

static size_t cells(const struct span *span)
{
    return span->rows * span->columns;
}

static int make_like(struct dp_run *run, const struct dp_tensor *like, struct dp_tensor *tensor,
                     struct dp_error *err)
{
    return dp_run_tensor(run, like->slot, like->dtype, like->ndim, like->dim, tensor, err);
}

/* An output's gradient is wanted when the input's is, or when there is something to train. */
static void inherit(const struct dp_run *run, const struct dp_tensor *in, bool trained,
                    struct dp_tensor *out)
{
    out->needs_grad = dp_run_has_grad(run) && (in->needs_grad || trained);
}

static int wrong_count(struct dp_error *err, int got, int want)
{
    return dp_fail(err, DP_EINVAL, "probe: %d tensors, takes %d", got, want);
}

/* ---- scale ------------------------------------------------------------------------------ */

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
    for (size_t i = 0; i < s->rows * s->columns; ++i) {
        s->y[i] = s->b[0] * s->a[i];
    }
}

static void call_dot(const void *args)
{
    const struct span *s = args;
    float sum = s->accumulate ? s->y[0] : 0.0f;
    for (size_t i = 0; i < s->in_rows; ++i) {
        sum += s->a[i] * s->b[i];
    }
    s->y[0] = sum;
}

static int scale_forward(struct dp_module *module, struct dp_run *run, const struct dp_tensor in[],
                         int n_in, struct dp_tensor out[], int *n_out, struct dp_error *err)
{
    const struct scale *self = dp_module_self(module);
    if (n_in != 1) {
        return wrong_count(err, n_in, 1);
    }
    int status = make_like(run, in, &out[0], err);
    if (status == DP_OK && dp_run_has_grad(run)) {
        status = dp_run_save(run, module, in, sizeof *in, err);
    }
    if (status != DP_OK) {
        return status;
    }
    const struct dp_tensor *weight = dp_run_value(run, chosen(self, run));
    inherit(run, in, !chosen(self, run)->frozen, &out[0]);
    const struct span span = {.a = in->data,
                              .b = weight->data,
                              .y = out[0].data,
                              .rows = dp_tensor_count(in),
                              .columns = 1};
    *n_out = 1;
    return queue(run, in, call_scale, &span, (struct counts){span.rows, 1, span.rows}, err);
}

static int scale_backward(struct dp_module *module, struct dp_run *run,
                          const struct dp_tensor grad_out[], int n_out, struct dp_tensor grad_in[],
                          int n_in, struct dp_error *err)
{
    const struct scale *self = dp_module_self(module);
    struct dp_param *param = chosen(self, run);
    struct dp_tensor in, grad;
    if (n_out != 1 || n_in != 1) {
        return wrong_count(err, n_out, 1);
    }
    int status = dp_run_restore(run, module, &in, sizeof in, err);
    if (status == DP_OK && !param->frozen) {
        struct span span = {.a = in.data, .b = grad_out->data, .in_rows = dp_tensor_count(&in)};
        dp_run_grad(run, param, &grad, &span.accumulate);
        span.y = grad.data;
        status =
            queue(run, &in, call_dot, &span, (struct counts){span.in_rows, span.in_rows, 1}, err);
    }
    grad_in[0] = (struct dp_tensor){.slot = NULL};
    if (status != DP_OK || !in.needs_grad) {
        return status;
    }
    status = make_like(run, &in, &grad_in[0], err);
    const struct span span = {.a = grad_out->data,
                              .b = dp_run_value(run, param)->data,
                              .y = grad_in[0].data,
                              .rows = dp_tensor_count(&in),
                              .columns = 1};
    return status != DP_OK
               ? status
               : queue(run, &in, call_scale, &span, (struct counts){span.rows, 1, span.rows}, err);
}

static const struct dp_module_ops scale_ops = {"scale", scale_forward, scale_backward, NULL};

struct dp_module *make_scale(struct context *c, struct dp_group *group, int choices)
{
    static const char *const names[] = {"weight", "other"};
    struct scale *self = case_memory(c, sizeof *self);
    self->choices = choices;
    struct dp_module *module = make_module(c, group, &scale_ops, self);
    for (int i = 0; i < choices; ++i) {
        struct dp_error err = {0};
        expect_ok(c,
                  dp_module_add_param(module, names[i % 2], DP_F32, 1, (size_t[]){1},
                                      &self->weight[i], &err),
                  &err, "dp_module_add_param");
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
    struct dp_error err = {0};
    expect_ok(c, dp_module_tie_param(module, weight, &err), &err, "dp_module_tie_param");
    return module;
}

/* ---- resize ----------------------------------------------------------------------------- */

static void call_resize(const void *args)
{
    const struct span *s = args;
    for (size_t i = 0; i < s->rows * s->columns; ++i) {
        const size_t row = i / s->columns;
        const float factor = (float)(1 + row % s->multiple);
        s->y[i] = factor * s->a[row / s->multiple * s->columns + i % s->columns];
    }
}

static void call_resize_back(const void *args)
{
    const struct span *s = args;
    for (size_t i = 0; i < s->rows * s->columns; ++i) {
        s->y[i] = 0.0f;
    }
    for (size_t i = 0; i < s->in_rows * s->columns; ++i) {
        const size_t row = i / s->columns;
        const float factor = (float)(1 + row % s->multiple);
        s->y[row / s->multiple * s->columns + i % s->columns] += factor * s->a[i];
    }
}

static int resize_forward(struct dp_module *module, struct dp_run *run, const struct dp_tensor in[],
                          int n_in, struct dp_tensor out[], int *n_out, struct dp_error *err)
{
    const struct resize *plan = dp_module_self(module);
    const int replica = dp_run_replica(run);
    if (n_in != 1 || in->ndim != 2) {
        return wrong_count(err, n_in, 1);
    }
    const size_t asked = plan->rows[replica < 0 ? 0 : replica % PROBE_REPLICAS];
    const size_t rows = asked == 0 ? plan->multiple * in->dim[0] : asked;
    if (rows > plan->multiple * in->dim[0]) {
        return dp_fail(err, DP_EINVAL, "resize: %zu rows of %zu", rows, in->dim[0]);
    }
    int status =
        dp_run_tensor(run, in->slot, in->dtype, 2, (size_t[]){rows, in->dim[1]}, &out[0], err);
    if (status == DP_OK && dp_run_has_grad(run)) {
        status = dp_run_save(run, module, in, sizeof *in, err);
    }
    const struct span span = {.a = in->data,
                              .y = out[0].data,
                              .rows = rows,
                              .columns = in->dim[1],
                              .multiple = plan->multiple};
    inherit(run, in, false, &out[0]);
    *n_out = 1;
    return status != DP_OK ? status
                           : queue(run, in, call_resize, &span,
                                   (struct counts){dp_tensor_count(in), 0, cells(&span)}, err);
}

static int resize_backward(struct dp_module *module, struct dp_run *run,
                           const struct dp_tensor grad_out[], int n_out, struct dp_tensor grad_in[],
                           int n_in, struct dp_error *err)
{
    const struct resize *plan = dp_module_self(module);
    struct dp_tensor in;
    if (n_out != 1 || n_in != 1) {
        return wrong_count(err, n_out, 1);
    }
    int status = dp_run_restore(run, module, &in, sizeof in, err);
    if (status == DP_OK) {
        status = make_like(run, &in, &grad_in[0], err);
    }
    const struct span span = {.a = grad_out->data,
                              .y = grad_in[0].data,
                              .rows = status == DP_OK ? in.dim[0] : 0,
                              .columns = status == DP_OK ? in.dim[1] : 0,
                              .in_rows = grad_out->dim[0],
                              .multiple = plan->multiple};
    return status != DP_OK
               ? status
               : queue(run, &in, call_resize_back, &span,
                       (struct counts){dp_tensor_count(grad_out), 0, cells(&span)}, err);
}

struct dp_module *make_resize(struct context *c, struct dp_group *group, struct resize **plan)
{
    static const struct dp_module_ops ops = {"resize", resize_forward, resize_backward, NULL};
    *plan = case_memory(c, sizeof **plan);
    (*plan)->multiple = 1;
    return make_module(c, group, &ops, *plan);
}

/* ---- centre, transpose: their backward is their forward --------------------------------- */

static void call_centre(const void *args)
{
    const struct span *s = args;
    for (size_t j = 0; j < s->columns; ++j) {
        float sum = 0.0f;
        for (size_t i = 0; i < s->rows; ++i) {
            sum += s->a[i * s->columns + j];
        }
        for (size_t i = 0; i < s->rows; ++i) {
            s->y[i * s->columns + j] = s->a[i * s->columns + j] - sum / (float)s->rows;
        }
    }
}

static int centre_apply(struct dp_run *run, const struct dp_tensor *in, struct dp_tensor *out,
                        struct dp_error *err)
{
    const int status = make_like(run, in, out, err);
    inherit(run, in, false, out);
    const struct span span = {
        .a = in->data, .y = out->data, .rows = in->dim[0], .columns = row_width(in)};
    return status != DP_OK ? status
                           : queue(run, in, call_centre, &span,
                                   (struct counts){cells(&span), 0, cells(&span)}, err);
}

static int centre_forward(struct dp_module *module, struct dp_run *run, const struct dp_tensor in[],
                          int n_in, struct dp_tensor out[], int *n_out, struct dp_error *err)
{
    (void)module;
    *n_out = 1;
    return n_in != 1 ? wrong_count(err, n_in, 1) : centre_apply(run, in, &out[0], err);
}

static int centre_backward(struct dp_module *module, struct dp_run *run,
                           const struct dp_tensor grad_out[], int n_out, struct dp_tensor grad_in[],
                           int n_in, struct dp_error *err)
{
    (void)module;
    return n_out != 1 || n_in != 1 ? wrong_count(err, n_out, 1)
                                   : centre_apply(run, grad_out, &grad_in[0], err);
}

struct dp_module *make_centre(struct context *c, struct dp_group *group)
{
    static const struct dp_module_ops ops = {"centre", centre_forward, centre_backward, NULL};
    return make_module(c, group, &ops, NULL);
}

static void call_transpose(const void *args)
{
    const struct span *s = args;
    for (size_t i = 0; i < s->rows; ++i) {
        for (size_t j = 0; j < s->columns; ++j) {
            s->y[i * s->columns + j] = s->a[j * s->rows + i];
        }
    }
}

static int transpose_apply(struct dp_run *run, const struct dp_tensor *in, struct dp_tensor *out,
                           struct dp_error *err)
{
    const size_t dim[2] = {in->dim[1], in->dim[0]};
    const int status = dp_run_tensor(run, in->slot, in->dtype, 2, dim, out, err);
    inherit(run, in, false, out);
    const struct span span = {.a = in->data, .y = out->data, .rows = dim[0], .columns = dim[1]};
    return status != DP_OK ? status
                           : queue(run, in, call_transpose, &span,
                                   (struct counts){cells(&span), 0, cells(&span)}, err);
}

static int transpose_forward(struct dp_module *module, struct dp_run *run,
                             const struct dp_tensor in[], int n_in, struct dp_tensor out[],
                             int *n_out, struct dp_error *err)
{
    (void)module;
    *n_out = 1;
    return n_in != 1 ? wrong_count(err, n_in, 1) : transpose_apply(run, in, &out[0], err);
}

static int transpose_backward(struct dp_module *module, struct dp_run *run,
                              const struct dp_tensor grad_out[], int n_out,
                              struct dp_tensor grad_in[], int n_in, struct dp_error *err)
{
    (void)module;
    return n_out != 1 || n_in != 1 ? wrong_count(err, n_out, 1)
                                   : transpose_apply(run, grad_out, &grad_in[0], err);
}

struct dp_module *make_transpose(struct context *c, struct dp_group *group)
{
    static const struct dp_module_ops ops = {"transpose", transpose_forward, transpose_backward,
                                             NULL};
    return make_module(c, group, &ops, NULL);
}

/* ---- several inputs, several outputs ---------------------------------------------------- */

static void call_multiply(const void *args)
{
    const struct span *s = args;
    for (size_t i = 0; i < s->rows; ++i) {
        s->y[i] = s->a[i] * s->b[i];
    }
}

static int multiply_into(struct dp_run *run, const struct dp_tensor *a, const struct dp_tensor *b,
                         struct dp_tensor *y, struct dp_error *err)
{
    const int status = make_like(run, a, y, err);
    y->needs_grad = dp_run_has_grad(run) && (a->needs_grad || b->needs_grad);
    const struct span span = {.a = a->data, .b = b->data, .y = y->data, .rows = dp_tensor_count(a)};
    return status != DP_OK ? status
                           : queue(run, a, call_multiply, &span,
                                   (struct counts){span.rows, span.rows, span.rows}, err);
}

static int multiply_forward(struct dp_module *module, struct dp_run *run,
                            const struct dp_tensor in[], int n_in, struct dp_tensor out[],
                            int *n_out, struct dp_error *err)
{
    if (n_in != 2 || dp_tensor_count(&in[0]) != dp_tensor_count(&in[1])) {
        return wrong_count(err, n_in, 2);
    }
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
    if (n_out != 1 || n_in != 2) {
        return wrong_count(err, n_out, 1);
    }
    int status = dp_run_restore(run, module, in, sizeof in, err);
    for (int i = 0; status == DP_OK && i < 2; ++i) {
        grad_in[i] = (struct dp_tensor){.slot = NULL};
        if (in[i].needs_grad) {
            status = multiply_into(run, &grad_out[0], &in[1 - i], &grad_in[i], err);
        }
    }
    return status;
}

struct dp_module *make_multiply(struct context *c, struct dp_group *group)
{
    static const struct dp_module_ops ops = {"multiply", multiply_forward, multiply_backward, NULL};
    return make_module(c, group, &ops, NULL);
}

static void call_double(const void *args)
{
    const struct span *s = args;
    for (size_t i = 0; i < s->rows * s->columns; ++i) {
        s->y[i] = 2.0f * s->a[i] + (s->b != NULL && i < s->columns ? s->b[i] : 0.0f);
    }
}

static int fork_forward(struct dp_module *module, struct dp_run *run, const struct dp_tensor in[],
                        int n_in, struct dp_tensor out[], int *n_out, struct dp_error *err)
{
    (void)module;
    if (n_in != 1) {
        return wrong_count(err, n_in, 1);
    }
    int status = dp_tensor_rows(in, 0, 1, &out[1], err);
    if (status == DP_OK) {
        status = make_like(run, in, &out[0], err);
    }
    const struct span span = {
        .a = in->data, .y = out[0].data, .rows = in->dim[0], .columns = row_width(in)};
    inherit(run, in, false, &out[0]);
    inherit(run, in, false, &out[1]);
    *n_out = 2;
    return status != DP_OK ? status
                           : queue(run, in, call_double, &span,
                                   (struct counts){cells(&span), 0, cells(&span)}, err);
}

static int fork_backward(struct dp_module *module, struct dp_run *run,
                         const struct dp_tensor grad_out[], int n_out, struct dp_tensor grad_in[],
                         int n_in, struct dp_error *err)
{
    (void)module;
    if (n_out != 2 || n_in != 1) {
        return wrong_count(err, n_out, 2);
    }
    const int status = make_like(run, &grad_out[0], &grad_in[0], err);
    const struct span span = {.a = grad_out[0].data,
                              .b = grad_out[1].data,
                              .y = grad_in[0].data,
                              .rows = grad_out[0].dim[0],
                              .columns = row_width(&grad_out[0])};
    return status != DP_OK ? status
                           : queue(run, grad_out, call_double, &span,
                                   (struct counts){cells(&span), span.columns, cells(&span)}, err);
}

struct dp_module *make_fork(struct context *c, struct dp_group *group)
{
    static const struct dp_module_ops ops = {"fork", fork_forward, fork_backward, NULL};
    return make_module(c, group, &ops, NULL);
}
