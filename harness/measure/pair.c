/* measure/pair.c: a model and its loss as one module. */
#include "measure/pair.h"

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
