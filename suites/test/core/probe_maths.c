/* probe_maths.c: the probe of two inputs, multiply, and what probe_scale.c shares with it. Plain
 * loops over small integers: exact on every device list and backend. */
#include "probe_maths.h"

#include <stddef.h>

int span_queue(struct dp_run *run, const struct dp_tensor *on, void (*function)(const void *),
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

int probe_like(struct dp_run *run, const struct dp_tensor *like, struct dp_tensor *tensor,
               struct dp_error *err)
{
    return dp_run_tensor(run, like->slot, like->dtype, like->ndim, like->dim, tensor, err);
}

void probe_inherit(const struct dp_run *run, const struct dp_tensor *in, bool trained,
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
