/* measure/probe.c: modules around a model: the observing one, which passes everything through and
 * changes nothing; and a model and its loss as one module. */
#include "measure/session.h"

#include <string.h>

static int probe_forward(struct dp_module *module, struct dp_run *run, const struct dp_tensor in[],
                         int n_in, struct dp_tensor out[], int *n_out, struct dp_error *err)
{
    struct probe *probe = dp_module_self(module);
    const int replica = dp_run_replica(run);
    struct probe_shape *shape = &probe->replica[replica < 0 ? 0 : replica];
    int status = dp_forward(dp_module_child(module, 0), run, in, n_in, out, n_out, err);

    if (status)
        return status;
    ++shape->calls;
    shape->in_dims = in[0].ndim;
    shape->out_dims = out[0].ndim;
    memcpy(shape->in, in[0].dim, sizeof shape->in);
    memcpy(shape->out, out[0].dim, sizeof shape->out);
    return 0;
}

static int probe_backward(struct dp_module *module, struct dp_run *run,
                          const struct dp_tensor grad_out[], int n_out, struct dp_tensor grad_in[],
                          int n_in, struct dp_error *err)
{
    return dp_backward(dp_module_child(module, 0), run, grad_out, n_out, grad_in, n_in, err);
}

int probe_open(struct dp_group *group, struct dp_module *child, struct probe *probe,
               struct dp_module **module, struct dp_error *err)
{
    static const struct dp_module_ops ops = {
        .kind = "probe", .forward = probe_forward, .backward = probe_backward};

    probe_clear(probe);
    return dp_module_open(group, &ops, probe, &child, 1, module, err);
}

void probe_clear(struct probe *probe)
{
    memset(probe, 0, sizeof *probe);
}

size_t probe_rows(const struct probe *probe, size_t rows[DP_MAX_SLOTS])
{
    size_t n = 0;

    for (size_t i = 0; i < DP_MAX_SLOTS; ++i) {
        const struct probe_shape *shape = &probe->replica[i];

        rows[i] = shape->calls == 1 && shape->in_dims > 0 ? shape->in[0] : 0;
        if (shape->calls > 0)
            n = i + 1;
    }
    return n;
}

/* ---- a model and its loss ----------------------------------------------------------------------
 */

static struct dp_span loss_begin(struct dp_module *pair, const struct dp_run *run,
                                 enum dp_phase outer)
{
    struct dp_group *group = dp_module_self(pair);

    return dp_phase_within(dp_group_slot(group, dp_run_replica(run)), DP_PHASE_LOSS, outer);
}

static int pair_forward(struct dp_module *pair, struct dp_run *run, const struct dp_tensor in[],
                        int n_in, struct dp_tensor out[], int *n_out, struct dp_error *err)
{
    struct dp_tensor given[DP_MAX_IO], terms[2], loss[DP_MAX_IO];
    int status, n = 0;

    (void)n_in;
    if ((status = dp_forward(dp_module_child(pair, 0), run, in, 1, given, &n, err)))
        return status;
    terms[0] = given[0];
    terms[0].needs_grad = true;
    terms[1] = in[1];

    const struct dp_span span = loss_begin(pair, run, DP_PHASE_FORWARD);

    status = dp_forward(dp_module_child(pair, 1), run, terms, 2, loss, &n, err);
    dp_phase_end(&span);
    if (status)
        return status;
    out[0] = loss[0];
    out[1] = given[0];
    *n_out = 2;
    return 0;
}

static int pair_backward(struct dp_module *pair, struct dp_run *run,
                         const struct dp_tensor grad_out[], int n_out, struct dp_tensor grad_in[],
                         int n_in, struct dp_error *err)
{
    const struct dp_span span = loss_begin(pair, run, DP_PHASE_BACKWARD);
    struct dp_tensor terms[2] = {{0}};
    const int status = dp_backward(dp_module_child(pair, 1), run, grad_out, 1, terms, 2, err);

    (void)n_out, (void)n_in;
    dp_phase_end(&span);
    grad_in[0] = grad_in[1] = (struct dp_tensor){0};
    return status ? status : dp_backward(dp_module_child(pair, 0), run, terms, 1, grad_in, 1, err);
}

int pair_open(struct dp_group *group, struct dp_module *model, struct dp_module *loss,
              struct dp_module **pair, struct dp_error *err)
{
    static const struct dp_module_ops ops = {
        .kind = "model_and_loss", .forward = pair_forward, .backward = pair_backward};
    struct dp_module *children[2] = {model, loss};

    return dp_module_open(group, &ops, group, children, 2, pair, err);
}
