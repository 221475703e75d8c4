/* measure/session.c: sets a workload up, runs steps, reads results. Only session_step is timed. */
#include "measure/session.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "numbers/equal.h"

uint64_t session_clock_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC_RAW, &now);
    return (uint64_t)now.tv_sec * 1000000000U + (uint64_t)now.tv_nsec;
}

static size_t output_count(const struct session *s)
{
    return s->rows * s->workload->size[s->workload->n_sizes - 1];
}

static float *floats(size_t n)
{
    return n <= SIZE_MAX / sizeof(float) ? malloc(n * sizeof(float)) : NULL;
}

/* What a user wraps of the model: with a probe inside, in the wrapper or as it is. */
static int wrap(void *user, struct dp_module *part, struct dp_module **wrapped,
                struct dp_error *err)
{
    const struct dp_parallel_config config = {0};
    struct session *s = user;
    const int status = probe_open(s->group, part, &s->probe, &s->probed, err);

    if (status == 0 && !s->plain)
        return dp_parallel(s->probed, &config, wrapped, err);
    if (status == 0)
        *wrapped = dp_module_retain(s->probed);
    return status;
}

/* Ranks have all of the model. */
static int open_ranks(struct session *s, const struct session_config *how, struct dp_error *err)
{
    int status;

    if ((status = workload_open(s->workload, s->group, &s->model, err)) ||
        (status = probe_open(s->group, s->model, &s->probe, &s->probed, err)) ||
        (status = dp_module_to(s->probed, dp_group_slot(s->group, 0), err)))
        return status;
    return session_ddp_open(s, how->bucket_bytes, err);
}

static int open_modules(struct session *s, const struct session_config *how, struct dp_error *err)
{
    int status;

    if ((status = dp_loss(s->group, DP_LOSS_SUM, 1, false, &s->loss_module, err)))
        return status;
    status = how->ddp ? open_ranks(s, how, err)
                      : workload_open_wrapped(s->workload, s->group, dp_group_slot(s->group, 0),
                                              wrap, s, &s->top, err);
    if (status || (status = dp_run_open(s->group, &s->run, err)) ||
        (status = dp_sgd_open(s->top, (float)VERIFY_LEARNING_RATE, 0, 0, &s->sgd, err)))
        return status;
    s->n_params = dp_module_params(s->top, s->param, SESSION_PARAMS);
    if (s->n_params < 0)
        return dp_fail(err, s->n_params, "no memory for a list of %s's parameters",
                       s->workload->name);
    if (s->n_params != (int)workload_n_params(s->workload))
        return dp_fail(err, DP_EINVAL, "%s has %d parameters, must have %zu", s->workload->name,
                       s->n_params, workload_n_params(s->workload));
    return 0;
}

static int open_params(struct session *s, struct dp_error *err)
{
    for (int p = 0; p < s->n_params; ++p) {
        const size_t count = dp_tensor_count(&s->param[p]->value);
        const size_t want = workload_param_count(s->workload, (size_t)p);

        if (count != want)
            return dp_fail(err, DP_ESHAPE, "parameter %d of %s has %zu elements, must have %zu", p,
                           s->workload->name, count, want);
        s->gradient[p] = floats(count);
        s->updated[p] = floats(count);
        if (!s->gradient[p] || !s->updated[p])
            return dp_fail(err, DP_ENOMEM, "no memory to read %zu parameters", count);
    }
    return 0;
}

static int open_values(struct session *s, const struct workload_set *set, struct dp_error *err)
{
    for (int p = 0; p < s->n_params; ++p) {
        const size_t count = workload_param_count(s->workload, (size_t)p);
        float *values = s->value[set->index][p] = floats(count);

        if (!values)
            return dp_fail(err, DP_ENOMEM, "no memory for %zu parameters", count);
        workload_fill_param(s->workload, set, (size_t)p, values);
    }
    return 0;
}

typedef void fill_fn(const struct workload *workload, const struct workload_set *set, size_t rows,
                     float values[]);

static int open_batch(struct session *s, const struct workload_set *set, size_t width,
                      fill_fn *fill, struct dp_tensor *tensor, struct dp_error *err)
{
    float *values = floats(s->rows * width);
    int status;

    if (!values)
        return dp_fail(err, DP_ENOMEM, "no memory for %zu rows of %zu", s->rows, width);
    status = dp_tensor_alloc(dp_group_slot(s->group, 0), DP_F32, 2, (size_t[]){s->rows, width},
                             tensor, err);
    if (status == 0) {
        fill(s->workload, set, s->rows, values);
        status = dp_tensor_write(tensor, values, err);
    }
    free(values);
    return status;
}

/* Numbers of rows of the table, where it is: on the host. */
static int open_numbers(struct session *s, const struct workload_set *set, struct dp_tensor *tensor,
                        struct dp_error *err)
{
    int32_t *values =
        s->rows <= SIZE_MAX / sizeof *values ? malloc(s->rows * sizeof *values) : NULL;
    int status;

    if (!values)
        return dp_fail(err, DP_ENOMEM, "no memory for %zu rows", s->rows);
    status = dp_tensor_alloc(dp_group_host(s->group), DP_I32, 1, &s->rows, tensor, err);
    if (status == 0) {
        workload_fill_numbers(set, s->rows, values);
        status = dp_tensor_write(tensor, values, err);
    }
    free(values);
    return status;
}

/* The same batch, every rank's rows on its device. */
static int open_dealt(struct session *s, const struct workload_set *set, int k,
                      struct dp_error *err)
{
    const struct workload *w = s->workload;
    float *inputs = floats(s->rows * w->size[0]);
    float *upstream = floats(s->rows * w->size[w->n_sizes - 1]);
    int status;

    if (!inputs || !upstream) {
        status = dp_fail(err, DP_ENOMEM, "no memory for %zu rows", s->rows);
    } else {
        workload_fill_inputs(w, set, s->rows, inputs);
        workload_fill_upstream(w, set, s->rows, upstream);
        status = session_ddp_batch(s, k, inputs, upstream, err);
    }
    free(inputs);
    free(upstream);
    return status;
}

static int open_batches(struct session *s, const struct workload_set *set, struct dp_error *err)
{
    const struct workload *w = s->workload;
    const int k = set->index;
    int status;

    if (s->ddp)
        return open_dealt(s, set, k, err);
    status = w->kind == WORKLOAD_MIXED
                 ? open_numbers(s, set, &s->input[k], err)
                 : open_batch(s, set, w->size[0], workload_fill_inputs, &s->input[k], err);
    if (status)
        return status;
    return open_batch(s, set, w->size[w->n_sizes - 1], workload_fill_upstream, &s->upstream[k],
                      err);
}

int session_open_set(struct session *session, const struct workload_set *set, struct dp_error *err)
{
    const int status = open_values(session, set, err);

    return status ? status : open_batches(session, set, err);
}

int session_open(struct session *session, struct dp_group *group,
                 const struct session_config *config, struct dp_error *err)
{
    int status;

    memset(session, 0, sizeof *session);
    session->workload = config->workload;
    session->rows = config->rows;
    session->group = group;
    session->plain = config->plain;
    if ((status = open_modules(session, config, err)) || (status = open_params(session, err)))
        return status;
    for (int k = 0; k < WORKLOAD_SETS && !config->without_sets; ++k) {
        const struct workload_set set =
            workload_batch(config->workload, config->rows, config->math, config->seed, k);

        if ((status = session_open_set(session, &set, err)))
            return status;
    }
    if (!(session->outputs = floats(output_count(session))))
        return dp_fail(err, DP_ENOMEM, "no memory to read the outputs of %zu rows", config->rows);
    dp_group_trace(group, &session->trace);
    return 0;
}

static void free_tensor(struct dp_tensor *tensor)
{
    if (tensor->slot)
        dp_tensor_free(tensor);
    *tensor = (struct dp_tensor){0};
}

void session_close_set(struct session *session, int k)
{
    session_ddp_close_set(session, k);
    free_tensor(&session->input[k]);
    free_tensor(&session->upstream[k]);
    for (int p = 0; p < SESSION_PARAMS; ++p) {
        free(session->value[k][p]);
        session->value[k][p] = NULL;
    }
}

void session_close(struct session *session)
{
    if (session->group)
        dp_group_trace(session->group, NULL);
    session_ddp_close(session);
    dp_run_close(session->run);
    if (session->sgd)
        dp_sgd_close(session->sgd);
    for (int k = 0; k < SESSION_SETS; ++k)
        session_close_set(session, k);
    for (int p = 0; p < SESSION_PARAMS; ++p) {
        free(session->gradient[p]);
        free(session->updated[p]);
    }
    free(session->outputs);
    dp_module_close(session->loss_module);
    dp_module_close(session->top);
    dp_module_close(session->probed);
    dp_module_close(session->model);
    memset(session, 0, sizeof *session);
}

int session_prepare(struct session *session, int k, struct dp_error *err)
{
    int status = session->ddp ? session_ddp_prepare(session, k, err) : 0;

    if (status)
        return status;
    dp_run_reset(session->run);
    for (int p = 0; !session->ddp && p < session->n_params; ++p) {
        status = dp_tensor_write(&session->param[p]->value, session->value[k][p], err);

        if (status)
            return status;
    }
    dp_zero_grad(session->top);
    probe_clear(&session->probe);
    memset(&session->trace, 0, sizeof session->trace);
    dp_group_barrier(session->group);
    return 0;
}

/* The wrapper has phases of its own; the model alone has none. */
static struct dp_span plain_begin(const struct session *s, enum dp_phase phase)
{
    return s->plain ? dp_phase_begin(dp_group_slot(s->group, 0), phase) : (struct dp_span){0};
}

static int step_loss(struct session *s, int k, struct dp_tensor grad[], struct dp_error *err)
{
    struct dp_tensor terms[2] = {s->output, s->upstream[k]}, loss[DP_MAX_IO];
    const struct dp_span span = dp_phase_begin(dp_group_slot(s->group, 0), DP_PHASE_LOSS);
    int n_loss = 0, status;

    terms[0].needs_grad = true;
    if ((status = dp_forward(s->loss_module, s->run, terms, 2, loss, &n_loss, err)) ||
        (status = dp_backward(s->loss_module, s->run, NULL, 0, grad, 2, err)))
        return status;
    s->loss = loss[0];
    dp_phase_end(&span);
    return 0;
}

/* Forward, loss, backward, update: queued, and on a device that works by itself not done yet. */
static int issue_step(struct session *s, int k, struct dp_error *err)
{
    struct dp_tensor out[DP_MAX_IO], grad[DP_MAX_IO] = {{0}};
    struct dp_span span = plain_begin(s, DP_PHASE_FORWARD);
    int n_out = 0, status;

    if (s->ddp)
        return session_ddp_issue(s, k, err);
    if ((status = dp_forward(s->top, s->run, &s->input[k], 1, out, &n_out, err)))
        return status;
    dp_phase_end(&span);
    s->output = out[0];
    if ((status = step_loss(s, k, grad, err)))
        return status;
    span = plain_begin(s, DP_PHASE_BACKWARD);
    if ((status = dp_backward(s->top, s->run, grad, 1, NULL, 0, err)))
        return status;
    dp_phase_end(&span);
    span = dp_phase_begin(dp_group_slot(s->group, 0), DP_PHASE_UPDATE);
    if ((status = dp_sgd_step(s->sgd, err)))
        return status;
    dp_phase_end(&span);
    return 0;
}

int session_step(struct session *session, int k, struct session_times *times, struct dp_error *err)
{
    int status;

    times->start_ns = session_clock_ns();
    if ((status = issue_step(session, k, err)) || (status = dp_group_wait(session->group, err)))
        return status;
    times->step_ns = session_clock_ns() - times->start_ns;
    return 0;
}

int session_trace(struct session *session, struct dp_error *err)
{
    return dp_trace_read(session->group, err);
}

int session_read(struct session *session, struct dp_error *err)
{
    int status;

    if (session->ddp)
        return session_ddp_read(session, err);
    if (dp_tensor_count(&session->output) != output_count(session) ||
        dp_tensor_count(&session->loss) != 1)
        return dp_fail(err, DP_ESHAPE, "%zu outputs and %zu losses, must be %zu and 1",
                       dp_tensor_count(&session->output), dp_tensor_count(&session->loss),
                       output_count(session));
    if ((status = dp_tensor_read(session->outputs, &session->output, err)) ||
        (status = dp_tensor_read(&session->loss_value, &session->loss, err)))
        return status;
    for (int p = 0; p < session->n_params; ++p) {
        const struct dp_param *param = session->param[p];
        const size_t count = dp_tensor_count(&param->value);

        if (dp_tensor_count(&param->grad) != count)
            return dp_fail(err, DP_ESHAPE, "gradient %d has %zu elements, its parameter %zu", p,
                           dp_tensor_count(&param->grad), count);
        if ((status = dp_tensor_read(session->updated[p], &param->value, err)))
            return status;
        for (size_t i = 0; i < count && !param->has_grad; ++i)
            session->gradient[p][i] = NAN;
        if (param->has_grad && (status = dp_tensor_read(session->gradient[p], &param->grad, err)))
            return status;
    }
    return 0;
}

struct verify_step session_result(const struct session *session, size_t shard[])
{
    return (struct verify_step){.shard = shard,
                                .n_shards = probe_rows(&session->probe, shard),
                                .outputs = session->outputs,
                                .loss = session->loss_value,
                                .gradient = (const float *const *)session->gradient,
                                .updated = (const float *const *)session->updated};
}

uint64_t session_digest(const struct session *session)
{
    size_t rows[DP_MAX_SLOTS];
    const size_t shards = probe_rows(&session->probe, rows);
    uint64_t digest = equal_digest(0, rows, shards * sizeof rows[0]);

    digest = equal_digest(digest, session->outputs, output_count(session) * sizeof(float));

    digest = equal_digest(digest, &session->loss_value, sizeof session->loss_value);
    for (int p = 0; p < session->n_params; ++p) {
        const size_t bytes = dp_tensor_bytes(&session->param[p]->value);

        digest = equal_digest(digest, session->gradient[p], bytes);
        digest = equal_digest(digest, session->updated[p], bytes);
    }
    return digest;
}

uint64_t session_gradients(const struct session *session)
{
    uint64_t digest = 0;

    for (int p = 0; p < session->n_params; ++p)
        digest =
            equal_digest(digest, session->gradient[p], dp_tensor_bytes(&session->param[p]->value));
    return digest;
}

double session_bytes(const struct session *session)
{
    double bytes = 0;

    for (int r = 0; r < DP_MAX_SLOTS; ++r)
        for (int phase = 0; phase < DP_PHASES; ++phase)
            bytes += (double)session->trace.replica[r].bytes[phase];
    return bytes;
}
