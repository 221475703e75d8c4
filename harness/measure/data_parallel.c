/* measure/data_parallel.c: the rows plain, plain_mt and dp: a batch on the first device, or on the
 * host, and either the model alone on that device, or the model in the wrapper, which splits the
 * batch over all devices.
 *
 * If the batch starts on the host, each step copies it: the wrapper does, since it takes its input
 * from any slot; else dp_scatter does, so that time and bytes of the copy are in the phase
 * scatter. */
#include <stdlib.h>

#include "descriptor.h"
#include "measure/session.h"

enum {
    OF_MODEL = 1 << RECORD_FORWARD | 1 << RECORD_LOSS | 1 << RECORD_BACKWARD | 1 << RECORD_UPDATE,
    OF_WRAPPER =
        1 << RECORD_SCATTER | 1 << RECORD_REPLICATE | 1 << RECORD_GATHER | 1 << RECORD_REDUCE
};

/* ---- opening --------------------------------------------------------------------------------- */

/* Wraps the part of the model that a user would wrap, with a probe inside. */
static int wrap(void *user, struct dp_module *part, struct dp_module **wrapped,
                struct dp_error *err)
{
    const struct dp_parallel_config config = {0};
    struct session *s = user;
    const int status = session_observe(s, part, err);

    return status ? status : dp_parallel(s->probed, &config, wrapped, err);
}

static int leave_unwrapped(void *user, struct dp_module *part, struct dp_module **wrapped,
                           struct dp_error *err)
{
    struct session *s = user;
    const int status = session_observe(s, part, err);

    if (status == 0)
        *wrapped = dp_module_retain(s->probed);
    return status;
}

static int dp_open(struct session *s, const struct cell_config *config, struct dp_error *err)
{
    int status;

    if (!s->use.whole)
        return workload_open_wrapped(&config->workload, s->group, s->slot, wrap, s, &s->top, err);
    if ((status = workload_open(&config->workload, s->group, &s->model, err)) ||
        (status = dp_module_to(s->model, s->slot, err)))
        return status;
    return wrap(s, s->model, &s->top, err);
}

static int plain_open(struct session *s, const struct cell_config *config, struct dp_error *err)
{
    return workload_open_wrapped(&config->workload, s->group, s->slot, leave_unwrapped, s, &s->top,
                                 err);
}

/* ---- batches --------------------------------------------------------------------------------- */

static int open_side(struct session *s, const struct workload_set *set, enum workload_side side,
                     bool on_host, struct dp_tensor *tensor, struct dp_error *err)
{
    const struct workload_row row = workload_row(s->workload, side);
    struct dp_slot *slot = on_host ? dp_group_host(s->group) : s->slot;
    void *values = session_side(s, set, side);
    int status;

    if (!values)
        return dp_fail(err, DP_ENOMEM, "no memory for %zu rows of %zu", s->rows, row.width);
    status = session_open_rows(slot, &row, s->rows, values, tensor, err);
    free(values);
    return status;
}

/* Loads a batch. The row numbers of a table are on the host, like the table. */
static int load(struct session *s, const struct workload_set *set, struct dp_error *err)
{
    const int k = set->index;
    const int status = open_side(s, set, WORKLOAD_INPUT, s->host_inputs || s->workload->is->table,
                                 &s->input[k], err);

    return status ? status
                  : open_side(s, set, WORKLOAD_TARGET, s->host_inputs, &s->upstream[k], err);
}

static void unload(struct session *s, int k)
{
    dp_tensor_free(&s->input[k]);
    dp_tensor_free(&s->upstream[k]);
}

/* ---- steps ----------------------------------------------------------------------------------- */

/* The wrapper measures its phases itself; the model alone has none. */
static struct dp_span begin_alone(const struct session *s, bool alone, enum dp_phase phase)
{
    return alone ? dp_phase_begin(s->slot, phase) : (struct dp_span){0};
}

static int to_first(struct session *s, const struct dp_tensor *tensor, struct dp_tensor *there,
                    struct dp_error *err)
{
    struct dp_slot *const slots[] = {s->slot};
    int n;

    return dp_scatter(s->run, tensor, slots, 1, 0, NULL, there, &n, err);
}

static int step(struct session *s, int k, struct dp_error *err)
{
    const bool alone = s->kind != &measure_dp;
    /* The module that gets the inputs takes them from the host if it is a wrapper around the whole
     * model, or a table. */
    const bool carries =
        s->host_inputs && !s->workload->is->table && (alone || s->workload->is->inside);
    struct dp_tensor in = s->input[k], terms[2] = {{0}, s->upstream[k]};
    struct dp_tensor out[DP_MAX_IO], loss[DP_MAX_IO], grad[DP_MAX_IO] = {{0}};
    struct dp_span span;
    int n = 0, status;

    if (carries && (status = to_first(s, &s->input[k], &in, err)))
        return status;
    if (s->host_inputs && (status = to_first(s, &s->upstream[k], &terms[1], err)))
        return status;
    span = begin_alone(s, alone, DP_PHASE_FORWARD);
    if ((status = dp_forward(s->top, s->run, &in, 1, out, &n, err)))
        return status;
    dp_phase_end(&span);
    s->out[1] = terms[0] = out[0];
    terms[0].needs_grad = true;
    span = dp_phase_begin(s->slot, DP_PHASE_LOSS);
    if ((status = dp_forward(s->loss_module, s->run, terms, 2, loss, &n, err)) ||
        (status = dp_backward(s->loss_module, s->run, NULL, 0, grad, 2, err)))
        return status;
    s->out[0] = loss[0];
    dp_phase_end(&span);
    span = begin_alone(s, alone, DP_PHASE_BACKWARD);
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

/* ---- results --------------------------------------------------------------------------------- */

static int read_outputs(struct session *s, struct dp_error *err)
{
    const size_t count = session_outputs(s);
    int status;

    if (dp_tensor_count(&s->out[1]) != count || dp_tensor_count(&s->out[0]) != 1)
        return dp_fail(err, DP_ESHAPE, "%zu outputs and %zu losses, must be %zu and 1",
                       dp_tensor_count(&s->out[1]), dp_tensor_count(&s->out[0]), count);
    status = dp_tensor_read(s->outputs, &s->out[1], err);
    return status ? status : dp_tensor_read(&s->loss_value, &s->out[0], err);
}

const struct measurable measure_plain = {.phases = OF_MODEL,
                                         .open = plain_open,
                                         .load = load,
                                         .unload = unload,
                                         .step = step,
                                         .read = read_outputs};

const struct measurable measure_plain_mt = {.phases = OF_MODEL,
                                            .wide_blas = true,
                                            .open = plain_open,
                                            .load = load,
                                            .unload = unload,
                                            .step = step,
                                            .read = read_outputs};

const struct measurable measure_dp = {.phases = OF_MODEL | OF_WRAPPER,
                                      .free = DP_COMM_FREE_SUMS,
                                      .open = dp_open,
                                      .load = load,
                                      .unload = unload,
                                      .step = step,
                                      .read = read_outputs};
