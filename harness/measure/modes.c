/* measure/modes.c: what a step of each mode is: the model alone, the model in DataParallel, which
 * splits the batch over all devices, or a rank on every device in DistributedDataParallel. Every
 * rank has separate rows and a separate loss; the model that is wrapped there ends in that loss.
 *
 * If the batch starts on the host, each step copies it: DataParallel around the whole model does,
 * since it takes its input from any slot; else dp_scatter does, so that time and bytes of the
 * copies are in the phase scatter. The copies to all ranks of this process run in parallel. */
#include "descriptor.h"
#include "measure/session.h"

enum {
    OF_MODEL = 1 << RECORD_FORWARD | 1 << RECORD_LOSS | 1 << RECORD_BACKWARD | 1 << RECORD_UPDATE,
    OF_WRAPPER =
        1 << RECORD_SCATTER | 1 << RECORD_REPLICATE | 1 << RECORD_GATHER | 1 << RECORD_REDUCE
};

/* ---- opening --------------------------------------------------------------------------------- */

static int open_whole(struct session *s, struct dp_error *err)
{
    const int status = workload_open(s->workload, s->group, &s->model, err);

    return status ? status : dp_module_to(s->model, s->slot, err);
}

/* Wraps the part of the model that a user would wrap, with a probe inside; the model alone has the
 * probe only. */
static int wrap(void *user, struct dp_module *part, struct dp_module **wrapped,
                struct dp_error *err)
{
    const struct dp_parallel_config config = {0};
    struct session *s = user;
    const int status = session_observe(s, part, err);

    if (status == 0 && !s->kind->alone)
        return dp_parallel(s->probed, &config, wrapped, err);
    if (status == 0)
        *wrapped = dp_module_retain(s->probed);
    return status;
}

static int open_model(struct session *s, const struct cell_config *config, struct dp_error *err)
{
    int status;

    (void)config;
    if (!s->use.whole)
        return workload_open_wrapped(s->workload, s->group, s->slot, wrap, s, &s->top, err);
    status = open_whole(s, err);
    return status ? status : wrap(s, s->model, &s->top, err);
}

/* Opens the ranks. Each has the whole model. */
static int open_ranks(struct session *s, const struct cell_config *how, struct dp_error *err)
{
    const struct dp_ddp_config config = {.first_bucket_bytes = how->bucket_bytes,
                                         .bucket_bytes = how->bucket_bytes};
    struct dp_slot *slots[DP_MAX_SLOTS];
    int status = open_whole(s, err);

    if (status)
        return status;
    for (int r = 0; r < s->n_ranks; ++r)
        slots[r] = dp_group_slot(s->group, r);
    if (s->use.around && !s->use.inside) {
        status = pair_open(s->group, s->model, s->loss_module, &s->pair, err);
        if (status == 0)
            status = s->use.around(s->use.user, s->group, s->pair, &s->top, err);
    } else {
        status = session_observe(s, s->model, err);
        if (status == 0)
            status = pair_open(s->group, s->probed, s->loss_module, &s->top, err);
    }
    return status ? status : dp_ddp_open(s->top, slots, s->n_ranks, &config, &s->ddp, err);
}

/* ---- steps ----------------------------------------------------------------------------------- */

/* Copies one side of the batch of every rank from the host to its device. */
static int carry(struct session *s, int k, enum workload_side side, struct dp_tensor in[],
                 struct dp_error *err)
{
    struct dp_slot *slots[DP_MAX_SLOTS];
    struct dp_tensor part[DP_MAX_SLOTS];
    size_t sizes[DP_MAX_SLOTS];
    int n, status;

    for (int r = 0; r < s->n_ranks; ++r) {
        slots[r] = r == 0 ? s->slot : dp_group_slot(s->group, r);
        sizes[r] = session_rank_rows(s, dp_group_first(s->group) + r);
    }
    status = dp_scatter(s->run, &s->in[k][side], slots, s->n_ranks, 0, sizes, part, &n, err);
    for (int r = 0; status == 0 && r < s->n_ranks; ++r)
        in[2 * r + (int)side] = part[r];
    return status;
}

/* The wrapper measures its phases itself; the model alone has none. */
static struct dp_span begin_alone(const struct session *s, enum dp_phase phase)
{
    return s->kind->alone ? dp_phase_begin(s->slot, phase) : (struct dp_span){0};
}

static int step_model(struct session *s, int k, struct dp_error *err)
{
    /* The module that gets the inputs takes them from the host if it is a wrapper around the whole
     * model, or a table. */
    const bool carries =
        s->host_inputs && !s->workload->is->table && (s->kind->alone || s->workload->is->inside);
    struct dp_tensor in[2] = {s->in[k][WORKLOAD_INPUT], s->in[k][WORKLOAD_TARGET]}, terms[2];
    struct dp_tensor out[DP_MAX_IO], loss[DP_MAX_IO], grad[DP_MAX_IO] = {{0}};
    struct dp_span span;
    int n = 0, status;

    if ((carries && (status = carry(s, k, WORKLOAD_INPUT, in, err))) ||
        (s->host_inputs && (status = carry(s, k, WORKLOAD_TARGET, in, err))))
        return status;
    span = begin_alone(s, DP_PHASE_FORWARD);
    if ((status = dp_forward(s->top, s->run, in, 1, out, &n, err)))
        return status;
    dp_phase_end(&span);
    s->out[1] = terms[0] = out[0];
    terms[0].needs_grad = true;
    terms[1] = in[WORKLOAD_TARGET];
    span = dp_phase_begin(s->slot, DP_PHASE_LOSS);
    if ((status = dp_forward(s->loss_module, s->run, terms, 2, loss, &n, err)) ||
        (status = dp_backward(s->loss_module, s->run, NULL, 0, grad, 2, err)))
        return status;
    s->out[0] = loss[0];
    dp_phase_end(&span);
    span = begin_alone(s, DP_PHASE_BACKWARD);
    if ((status = dp_backward(s->top, s->run, grad, 1, NULL, 0, err)))
        return status;
    dp_phase_end(&span);
    if (s->use.frozen)
        return 0;
    span = dp_phase_begin(s->slot, DP_PHASE_UPDATE);
    if ((status = update_step(&s->update, NULL, err)))
        return status;
    dp_phase_end(&span);
    return 0;
}

static int step_ranks(struct session *s, int k, struct dp_error *err)
{
    struct dp_tensor carried[2 * DP_MAX_SLOTS];
    const struct dp_tensor *in = s->host_inputs ? carried : s->in[k];
    int n_out = 0, status;

    if (s->host_inputs && ((status = carry(s, k, WORKLOAD_INPUT, carried, err)) ||
                           (status = carry(s, k, WORKLOAD_TARGET, carried, err))))
        return status;
    if ((status = dp_ddp_forward(s->ddp, in, 2, NULL, s->out, &n_out, err)) ||
        (status = dp_ddp_backward(s->ddp, NULL, 0, NULL, 0, err)))
        return status;
    return s->use.frozen ? 0 : update_step(&s->update, s->ddp, err);
}

const struct measurable measure_modes[CELL_MODES] = {
    [CELL_PLAIN] = {.phases = OF_MODEL, .alone = true, .open = open_model, .step = step_model},
    [CELL_PLAIN_MT] = {.phases = OF_MODEL,
                       .alone = true,
                       .wide_blas = true,
                       .open = open_model,
                       .step = step_model},
    [CELL_DP] = {.phases = OF_MODEL | OF_WRAPPER,
                 .free = DP_COMM_FREE_SUMS,
                 .open = open_model,
                 .step = step_model},
    [CELL_DDP] = {.phases = OF_MODEL | 1 << RECORD_REDUCE,
                  .ranks = true,
                  .free = DP_COMM_FREE_ORDER,
                  .open = open_ranks,
                  .step = step_ranks}};
