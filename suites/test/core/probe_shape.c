/* probe_shape.c: the probes whose output has another shape than their input: resize, transpose. */
#include "probe_maths.h"

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
        return probe_refuse(err, n_in, 1);
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
    probe_inherit(run, in, false, &out[0]);
    *n_out = 1;
    return status != DP_OK
               ? status
               : span_queue(run, in, call_resize, &span,
                            (struct counts){dp_tensor_count(in), 0, span_cells(&span)}, err);
}

static int resize_backward(struct dp_module *module, struct dp_run *run,
                           const struct dp_tensor grad_out[], int n_out, struct dp_tensor grad_in[],
                           int n_in, struct dp_error *err)
{
    const struct resize *plan = dp_module_self(module);
    struct dp_tensor in;
    if (n_out != 1 || n_in != 1) {
        return probe_refuse(err, n_out, 1);
    }
    int status = dp_run_restore(run, module, &in, sizeof in, err);
    if (status == DP_OK) {
        status = probe_like(run, &in, &grad_in[0], err);
    }
    const struct span span = {.a = grad_out->data,
                              .y = grad_in[0].data,
                              .rows = status == DP_OK ? in.dim[0] : 0,
                              .columns = status == DP_OK ? in.dim[1] : 0,
                              .in_rows = grad_out->dim[0],
                              .multiple = plan->multiple};
    return status != DP_OK
               ? status
               : span_queue(run, &in, call_resize_back, &span,
                            (struct counts){dp_tensor_count(grad_out), 0, span_cells(&span)}, err);
}

struct dp_module *make_resize(struct context *c, struct dp_group *group, struct resize **plan)
{
    static const struct dp_module_ops ops = {"resize", resize_forward, resize_backward, NULL};
    *plan = case_memory(c, sizeof **plan);
    (*plan)->multiple = 1;
    return make_module(c, group, &ops, *plan);
}

/* ---- transpose: its backward is its forward --------------------------------------------- */

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
    probe_inherit(run, in, false, out);
    const struct span span = {.a = in->data, .y = out->data, .rows = dim[0], .columns = dim[1]};
    return status != DP_OK
               ? status
               : span_queue(run, in, call_transpose, &span,
                            (struct counts){span_cells(&span), 0, span_cells(&span)}, err);
}

static int transpose_forward(struct dp_module *module, struct dp_run *run,
                             const struct dp_tensor in[], int n_in, struct dp_tensor out[],
                             int *n_out, struct dp_error *err)
{
    (void)module;
    *n_out = 1;
    return n_in != 1 ? probe_refuse(err, n_in, 1) : transpose_apply(run, in, &out[0], err);
}

static int transpose_backward(struct dp_module *module, struct dp_run *run,
                              const struct dp_tensor grad_out[], int n_out,
                              struct dp_tensor grad_in[], int n_in, struct dp_error *err)
{
    (void)module;
    return n_out != 1 || n_in != 1 ? probe_refuse(err, n_out, 1)
                                   : transpose_apply(run, grad_out, &grad_in[0], err);
}

struct dp_module *make_transpose(struct context *c, struct dp_group *group)
{
    static const struct dp_module_ops ops = {"transpose", transpose_forward, transpose_backward,
                                             NULL};
    return make_module(c, group, &ops, NULL);
}
