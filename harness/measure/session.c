/* measure/session.c: sets a workload up, runs steps, reads results. Only session_step is timed. */
#include "measure/session.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "descriptor.h"
#include "dp_mpi.h"
#include "numbers/equal.h"

unsigned session_phases(const struct cell_config *config)
{
    return measure_modes[config->mode].phases |
           (config->host_inputs > 0 ? 1u << RECORD_SCATTER : 0);
}

double session_seconds_since(uint64_t start_ns)
{
    return (double)(watch_clock_ns() - start_ns) / 1e9;
}

size_t session_outputs(const struct session *s)
{
    return s->rows * workload_width(s->workload);
}

float *session_floats(size_t n)
{
    return n <= SIZE_MAX / sizeof(float) ? malloc(n * sizeof(float)) : NULL;
}

int session_observe(struct session *session, struct dp_module *part, struct dp_error *err)
{
    const struct session_use *use = &session->use;

    return use->around ? use->around(use->user, session->group, part, &session->probed, err)
                       : probe_open(session->group, part, &session->probe, &session->probed, err);
}

int session_open(struct session *session, struct dp_group *group, const struct cell_config *config,
                 const struct session_use *given, struct dp_error *err)
{
    const struct workload_end *end = workload_end(&config->workload);
    const struct session_use cell = {.loss = end->loss, .factor = 1}, *use = given ? given : &cell;
    const enum dp_loss_kind loss = use->factor > 0 ? use->loss : end->loss;
    const float factor = use->factor > 0 ? use->factor : 1;
    int status, n;

    memset(session, 0, sizeof *session);
    session->kind = &measure_modes[config->mode];
    session->workload = &config->workload;
    session->use = *use;
    session->rows = config->rows;
    session->host_inputs = config->host_inputs > 0;
    session->group = group;
    session->slot = dp_group_size(group) > 0 ? dp_group_slot(group, 0) : dp_group_host(group);
    session->update =
        (struct update){.adamw = end->adamw, .max_norm = end->max_norm, .config = end->config};
    if (!end->adamw)
        session->update.config.lr = VERIFY_LEARNING_RATE;
    if (use->update)
        session->update = *use->update;
    session->n_ranks = session->kind->ranks ? dp_group_size(group) : 1;
    session->out = calloc((size_t)session->n_ranks * DP_MAX_IO, sizeof *session->out);
    if (!session->out)
        return dp_fail(err, DP_ENOMEM, "no memory for the results of %d ranks", session->n_ranks);
    if ((status = dp_loss(group, loss, factor, loss == DP_LOSS_XENT, &session->loss_module, err)) ||
        (status = session->kind->open(session, config, err)) ||
        (status = dp_run_open(group, &session->run, err)) ||
        (status =
             use->frozen && !use->update ? 0 : update_open(&session->update, session->top, err)))
        return status;
    n = dp_module_params(session->top, session->param, SESSION_PARAMS);
    if (n < 0)
        return dp_fail(err, n, "no memory for a list of %s's parameters", session->workload->name);
    if (n > SESSION_PARAMS)
        return dp_fail(err, DP_EINVAL, "%s has %d parameters and buffers, at most %d are allowed",
                       session->workload->name, n, SESSION_PARAMS);
    for (int p = 0; p < n; ++p)
        if (!session->param[p]->buffer) {
            session->param[session->n_params] = session->param[p];
            session->at[session->n_params++] = p;
        }
    if (session->n_params != (int)workload_n_params(session->workload))
        return dp_fail(err, DP_EINVAL, "%s has %d parameters, must have %zu",
                       session->workload->name, session->n_params,
                       workload_n_params(session->workload));
    /* Host memory for the results of a step. */
    for (int p = 0; p < session->n_params; ++p) {
        const size_t count = dp_tensor_count(&session->param[p]->value);
        const size_t want = workload_param_count(session->workload, (size_t)p);

        if (count != want)
            return dp_fail(err, DP_ESHAPE, "parameter %d of %s has %zu elements, must have %zu", p,
                           session->workload->name, count, want);
        if (use->frozen)
            continue;
        session->gradient[p] = session_floats(count);
        session->updated[p] = session_floats(count);
        if (!session->gradient[p] || !session->updated[p])
            return dp_fail(err, DP_ENOMEM, "no memory to read %zu parameters", count);
    }
    if (!use->frozen && !(session->outputs = session_floats(session_outputs(session))))
        return dp_fail(err, DP_ENOMEM, "no memory to read the outputs of %zu rows", session->rows);
    session_set_traced(session, true);
    return 0;
}

/* The rows of all ranks before those of this process, which without ranks has all rows, also if
 * its group has more processes. */
static size_t first_row(const struct session *session)
{
    size_t rows = 0;

    for (int r = 0; session->kind->ranks && r < dp_group_first(session->group); ++r)
        rows += session_rank_rows(session, r);
    return rows;
}

/* Loads one side of a batch: the rows of every local rank on its device; or all of them on the
 * host, where each step copies them from. The row numbers of a table are there, like the table. */
static int load_side(struct session *session, const struct workload_set *set,
                     enum workload_side side, struct dp_error *err)
{
    const struct workload_row row = workload_row(session->workload, side);
    const size_t bytes = row.width * sizeof(float); /* a number has 4 bytes */
    const bool on_host =
        session->host_inputs || (side == WORKLOAD_INPUT && session->workload->is->table);
    const int first = dp_group_first(session->group);
    char *values = (char *)session_floats(session->rows * row.width), *from = values;
    size_t dim[DP_MAX_DIMS], local = 0;
    int status = 0;

    if (!values)
        return dp_fail(err, DP_ENOMEM, "no memory for %zu rows of %zu", session->rows, row.width);
    if (session->use.fill)
        session->use.fill(session->use.user, set, side, values);
    else
        workload_fill_side(session->workload, set, side, session->rows, values);
    memcpy(dim + 1, row.dim, sizeof row.dim);
    from += first_row(session) * bytes;
    for (int r = 0; r < session->n_ranks; ++r)
        local += session_rank_rows(session, first + r);
    for (int r = 0; status == 0 && r < (on_host ? 1 : session->n_ranks); ++r) {
        struct dp_slot *slot = on_host  ? dp_group_host(session->group)
                               : r == 0 ? session->slot
                                        : dp_group_slot(session->group, r);
        struct dp_tensor *to = &session->in[set->index][2 * r + (int)side];

        dim[0] = on_host ? local : session_rank_rows(session, first + r);
        if ((status = dp_tensor_alloc(slot, row.dtype, 1 + row.ndim, dim, to, err)) == 0)
            status = dp_tensor_write(to, from, err);
        from += dim[0] * bytes;
    }
    free(values);
    return status;
}

int session_load(struct session *session, const struct workload_set *set, struct dp_error *err)
{
    const int status = load_side(session, set, WORKLOAD_INPUT, err);

    return status ? status : load_side(session, set, WORKLOAD_TARGET, err);
}

int session_open_set(struct session *session, const struct workload_set *set, struct dp_error *err)
{
    for (int p = 0; p < session->n_params; ++p) {
        const size_t count = workload_param_count(session->workload, (size_t)p);
        float *values = session->value[set->index][p] = session_floats(count);

        if (!values)
            return dp_fail(err, DP_ENOMEM, "no memory for %zu parameters", count);
        workload_fill_param(session->workload, set, (size_t)p, values);
    }
    return session_load(session, set, err);
}

int session_open_sets(struct session *session, const struct cell_config *config,
                      struct dp_error *err)
{
    int status = 0;

    for (int k = 0; status == 0 && k < WORKLOAD_SETS; ++k) {
        const struct workload_set set =
            workload_batch(&config->workload, config->rows, config->math, config->seed, k);

        status = session_open_set(session, &set, err);
    }
    return status;
}

void session_close_set(struct session *session, int k)
{
    for (int i = 0; i < 2 * session->n_ranks && !session->use.lent; ++i)
        dp_tensor_free(&session->in[k][i]);
    for (int p = 0; p < SESSION_PARAMS; ++p) {
        free(session->value[k][p]);
        session->value[k][p] = NULL;
    }
}

int session_lend(struct session *session, const struct dp_tensor in[2], struct dp_error *err)
{
    const size_t ranks = (size_t)session->n_ranks, rows = in[0].dim[0] / ranks;
    int status = 0;

    dp_run_reset(session->run);
    if (session->ddp)
        dp_ddp_reset(session->ddp);
    if (rows == 0 || rows * ranks != in[0].dim[0])
        return dp_fail(err, DP_EINVAL, "%zu rows are not as many for each of %zu ranks",
                       in[0].dim[0], ranks);
    for (size_t r = 0; r < ranks; ++r)
        for (int side = 0; side < 2 && status == 0; ++side)
            status = dp_tensor_rows(&in[side], r * rows, rows,
                                    &session->in[0][2 * r + (size_t)side], err);
    return status;
}

void session_close(struct session *session)
{
    if (session->group)
        dp_group_trace(session->group, NULL);
    for (int k = 0; k < SESSION_SETS; ++k)
        session_close_set(session, k);
    dp_ddp_close(session->ddp);
    dp_run_close(session->run);
    update_close(&session->update);
    for (int p = 0; p < SESSION_PARAMS; ++p) {
        free(session->gradient[p]);
        free(session->updated[p]);
    }
    free(session->outputs);
    free(session->out);
    dp_module_close(session->loss_module);
    dp_module_close(session->top);
    dp_module_close(session->pair);
    dp_module_close(session->probed);
    dp_module_close(session->model);
    memset(session, 0, sizeof *session);
}

int session_param(const struct session *session, int r, int p, struct dp_tensor *value,
                  struct dp_tensor *grad, struct dp_error *err)
{
    struct dp_param *own = session->param[p];
    struct dp_ddp_param param = {own->value, own->grad, &own->has_grad};
    const int status =
        session->ddp ? dp_ddp_param(session->ddp, r, session->at[p], &param, err) : 0;

    if (status)
        return status;
    *value = param.value;
    *grad = *param.has_grad ? param.grad : (struct dp_tensor){.slot = NULL};
    return 0;
}

void session_set_traced(struct session *session, bool traced)
{
    session->untraced = !traced;
    dp_group_trace(session->group, traced ? &session->trace : NULL);
}

void session_clear(struct session *session)
{
    dp_run_reset(session->run);
    if (session->ddp) {
        dp_ddp_reset(session->ddp);
        dp_ddp_zero_grad(session->ddp);
    }
    dp_zero_grad(session->top);
    probe_clear(&session->probe);
}

int session_restore(struct session *session, float *const value[], struct dp_error *err)
{
    struct dp_tensor to, grad;
    int status = 0;

    for (int r = 0; r < session->n_ranks; ++r)
        for (int p = 0; status == 0 && p < session->n_params; ++p)
            if ((status = session_param(session, r, p, &to, &grad, err)) == 0)
                status = dp_tensor_write(&to, value[p], err);
    return status;
}

int session_prepare(struct session *session, int k, struct dp_error *err)
{
    int status;

    session_clear(session);
    if (!session->use.frozen && ((status = update_restart(&session->update, session->ddp, err)) ||
                                 (status = session_restore(session, session->value[k], err))))
        return status;
    if ((status = session_together(session, err)))
        return status;
    memset(&session->trace, 0, sizeof session->trace);
    session->launched = dp_group_kernels(session->group);
    if (!session->kind->wide_blas)
        dp_group_barrier(session->group);
    return 0;
}

int session_step(struct session *session, int k, struct session_times *times, struct dp_error *err)
{
    int status;

    times->start_ns = watch_clock_ns();
    if ((status = session->kind->step(session, k, err)) ||
        (status = dp_group_wait(session->group, err)))
        return status;
    times->step_ns = watch_clock_ns() - times->start_ns;
    session->kernels = dp_group_kernels(session->group) - session->launched;
    return 0;
}

int session_trace(struct session *session, struct dp_error *err)
{
    return dp_trace_read(session->group, err);
}

int session_read(struct session *session, struct dp_error *err)
{
    const size_t width = workload_width(session->workload);
    float *to = session->outputs + first_row(session) * width, loss[DP_MAX_SLOTS];
    struct dp_tensor value, grad;
    char who[24] = "";
    double sum = 0;
    int status;

    for (int r = 0; r < session->n_ranks; ++r) {
        const struct dp_tensor *out = &session->out[r * DP_MAX_IO];
        const size_t count = session_rank_rows(session, dp_group_first(session->group) + r) * width;

        if (session->ddp)
            snprintf(who, sizeof who, "rank %d: ", r);
        if (dp_tensor_count(&out[1]) != count || dp_tensor_count(&out[0]) != 1)
            return dp_fail(err, DP_ESHAPE, "%s%zu outputs and %zu losses, must be %zu and 1", who,
                           dp_tensor_count(&out[1]), dp_tensor_count(&out[0]), count);
        if ((status = dp_tensor_read(to, &out[1], err)) ||
            (status = dp_tensor_read(&loss[r], &out[0], err)))
            return status;
        to += count;
        sum += (double)loss[r];
    }
    session->loss_value = session->ddp ? (float)sum : loss[0];
    if (session->ddp && session_is_shared(session) &&
        (status = session_share_outputs(session, width, loss, err)))
        return status;
    /* All ranks must have the same parameters; those of rank 0 are read. */
    status = session->ddp ? dp_ddp_compare(session->ddp, err) : 0;
    for (int p = 0; status == 0 && p < session->n_params; ++p) {
        if ((status = session_param(session, 0, p, &value, &grad, err)) ||
            (status = dp_tensor_read(session->updated[p], &value, err)))
            return status;

        const size_t n = dp_tensor_count(&value);

        if (grad.slot && dp_tensor_count(&grad) != n)
            return dp_fail(err, DP_ESHAPE, "gradient %d has %zu elements, its parameter %zu", p,
                           dp_tensor_count(&grad), n);
        for (size_t i = 0; i < n && !grad.slot; ++i)
            session->gradient[p][i] = NAN;
        if (grad.slot)
            status = dp_tensor_read(session->gradient[p], &grad, err);
    }
    return status ? status : update_norm(&session->update, session->ddp, &session->norm, err);
}

struct verify_step session_result(const struct session *session, size_t shard[])
{
    struct verify_step result = {.shard = shard,
                                 .n_shards = probe_rows(&session->probe, shard),
                                 .outputs = session->outputs,
                                 .loss = session->loss_value,
                                 .norm = session->norm,
                                 .gradient = (const float *const *)session->gradient,
                                 .updated = (const float *const *)session->updated};

    /* Other processes do not know the names of these devices, and all of them say the same. */
    for (int i = 0; i < dp_group_size(session->group) && !session_is_shared(session); ++i)
        result.device[i] = dp_slot_name(dp_group_slot(session->group, i));
    return result;
}

uint64_t session_digest(const struct session *session)
{
    size_t rows[DP_MAX_SLOTS];
    const size_t shards = probe_rows(&session->probe, rows);
    uint64_t digest = equal_digest(0, rows, shards * sizeof rows[0]);

    digest = equal_digest(digest, session->outputs, session_outputs(session) * sizeof(float));

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

/* ---- several processes -------------------------------------------------------------------------
 *
 * The messages that processes which run a cell together exchange, outside of the measured time.
 * Everything that a record has, and everything that is compared, is then the same in all of them. A
 * cell of one process has nothing to exchange. */

int share_gather(struct dp_group *group, const void *mine, size_t bytes, void *all,
                 struct dp_error *err)
{
    const size_t words = bytes / sizeof(int32_t);
    const size_t all_words = words * (size_t)dp_group_world(group);
    const int n = dp_group_size(group);
    struct dp_tensor *in = calloc(2 * (size_t)n, sizeof *in), *out = in ? in + n : NULL;
    int status = 0;

    if (!in)
        return dp_fail(err, DP_ENOMEM, "no memory for the numbers of %d ranks", n);
    for (int r = 0; status == 0 && r < n; ++r) {
        struct dp_slot *slot = dp_group_slot(group, r);

        if ((status = dp_tensor_alloc(slot, DP_I32, 1, &words, &in[r], err)) == 0 &&
            (status = dp_tensor_alloc(slot, DP_I32, 1, &all_words, &out[r], err)) == 0)
            status = dp_tensor_write(&in[r], (const char *)mine + (size_t)r * bytes, err);
    }
    if (status == 0)
        status = dp_collective_run(group, DP_COLLECTIVE_ALLGATHER, 0, in, out, err);
    if (status == 0)
        status = dp_group_wait(group, err);
    if (status == 0)
        status = dp_tensor_read(all, &out[0], err);
    for (int r = 0; r < n; ++r) {
        dp_tensor_free(&in[r]);
        dp_tensor_free(&out[r]);
    }
    free(in);
    return status;
}

uint64_t share_start(uint64_t start_ns, uint64_t took_ns, uint64_t end_ns, uint64_t now_ns)
{
    const uint64_t latest = now_ns > took_ns ? now_ns - took_ns : 0;
    const uint64_t start = start_ns < latest ? start_ns : latest;

    return start > end_ns ? start : end_ns;
}

size_t session_rank_rows(const struct session *session, int rank)
{
    const size_t world = session->kind->ranks ? (size_t)dp_group_world(session->group) : 1;

    return session->rows / world + ((size_t)rank < session->rows % world);
}

bool session_is_shared(const struct session *session)
{
    return dp_group_world(session->group) > dp_group_size(session->group);
}

/* Gathers bytes, in whole words, of each local rank on all ranks; mine and all may be the same
 * memory. */
static int gather(struct session *session, const void *mine, size_t bytes, void *all,
                  struct dp_error *err)
{
    int status;

    /* The exchange is no part of a step, so it is not traced. */
    dp_group_trace(session->group, NULL);
    status = share_gather(session->group, mine, bytes, all, err);
    session_set_traced(session, !session->untraced);
    return status;
}

/* The message of a rank about its part of a step. */
struct said_of_step {
    uint64_t start_ns, step_ns, kernels, matmul_ns;
    uint64_t ns[DP_PHASES], bytes[DP_PHASES];
};

/* Combines the times of all. The clock of the first process, read after all times were exchanged,
 * then counts for all processes, so that they stop at the same step. A step takes as long as in the
 * slowest process. */
int session_share(struct session *session, struct session_times *times, struct dp_error *err)
{
    struct said_of_step messages[DP_MAX_SLOTS]; /* of the local ranks, then of all */
    uint64_t clock[DP_MAX_SLOTS], clocks[DP_MAX_SLOTS];
    struct dp_trace *trace = &session->trace;
    int status;

    if (!session_is_shared(session))
        return 0;
    for (int r = 0; r < dp_group_size(session->group); ++r) {
        messages[r] = (struct said_of_step){.start_ns = times->start_ns,
                                            .step_ns = times->step_ns,
                                            .kernels = r == 0 ? session->kernels : 0,
                                            .matmul_ns = trace->matmul_ns[r]};
        memcpy(messages[r].ns, trace->replica[r].ns, sizeof messages[r].ns);
        memcpy(messages[r].bytes, trace->replica[r].bytes, sizeof messages[r].bytes);
    }
    status = gather(session, messages, sizeof messages[0], messages, err);
    for (int r = 0; r < dp_group_size(session->group); ++r)
        clock[r] = watch_clock_ns();
    if (status || (status = gather(session, clock, sizeof clock[0], clocks, err)))
        return status;
    *times = (struct session_times){messages[0].start_ns, 0};
    session->kernels = 0;
    for (int r = 0; r < dp_group_world(session->group); ++r) {
        const struct said_of_step *said = &messages[r];

        times->step_ns = said->step_ns > times->step_ns ? said->step_ns : times->step_ns;
        session->kernels += said->kernels;
        trace->matmul_ns[r] = said->matmul_ns;
        memcpy(trace->replica[r].ns, said->ns, sizeof said->ns);
        memcpy(trace->replica[r].bytes, said->bytes, sizeof said->bytes);
    }
    times->start_ns = share_start(times->start_ns, times->step_ns, session->end_ns, clocks[0]);
    session->end_ns = times->start_ns + times->step_ns;
    session->now_ns = clocks[0] > session->end_ns ? clocks[0] : session->end_ns;
    return 0;
}

uint64_t session_now(const struct session *session)
{
    return session_is_shared(session) ? session->now_ns : watch_clock_ns();
}

int session_together(struct session *session, struct dp_error *err)
{
    int32_t mine[DP_MAX_SLOTS] = {0}, all[DP_MAX_SLOTS];

    return session_is_shared(session) ? gather(session, mine, sizeof mine[0], all, err) : 0;
}

int session_peaks(struct session *session, uint64_t peak[], struct dp_error *err)
{
    uint64_t mine[DP_MAX_SLOTS] = {0};
    const int n = dp_group_size(session->group);

    for (int r = 0; r < n; ++r) {
        struct dp_slot_info info;

        dp_slot_describe(dp_group_slot(session->group, r), &info);
        mine[r] = info.peak_bytes;
    }
    if (session_is_shared(session))
        return gather(session, mine, sizeof mine[0], peak, err);
    memcpy(peak, mine, (size_t)n * sizeof mine[0]);
    return 0;
}

int session_fingerprint(struct session *session, uint64_t digest, struct dp_error *err)
{
    uint64_t mine[DP_MAX_SLOTS], all[DP_MAX_SLOTS];
    int status;

    if (!session_is_shared(session))
        return 0;
    for (int r = 0; r < dp_group_size(session->group); ++r)
        mine[r] = digest;
    if ((status = gather(session, mine, sizeof mine[0], all, err)))
        return status;
    for (int r = 1; r < dp_group_world(session->group); ++r)
        if (all[r] != all[0])
            return dp_fail(err, DP_EFAULT,
                           "what rank %d has after the step is not what rank 0 has: fingerprints "
                           "%016llx and %016llx",
                           r, (unsigned long long)all[r], (unsigned long long)all[0]);
    return 0;
}

/* Ranks may differ by one row, so each sends its loss and then as many rows as the largest has. */
int session_share_outputs(struct session *session, size_t width, const float loss[],
                          struct dp_error *err)
{
    const size_t local = (size_t)dp_group_size(session->group);
    const size_t world = (size_t)dp_group_world(session->group);
    const size_t first = (size_t)dp_group_first(session->group);
    const size_t each = 1 + session_rank_rows(session, 0) * width;
    float *mine = calloc(local * each, sizeof *mine), *all = calloc(world * each, sizeof *all);
    float *at = session->outputs;
    struct probe_shape shape[DP_MAX_SLOTS];
    double sum = 0;
    int status = 0;

    if (!mine || !all)
        status = dp_fail(err, DP_ENOMEM, "no memory for the outputs of %zu ranks", world);
    for (size_t r = 0; status == 0 && r < first + local; ++r) {
        const size_t n = session_rank_rows(session, (int)r) * width;

        if (r >= first) {
            mine[(r - first) * each] = loss[r - first];
            memcpy(mine + (r - first) * each + 1, at, n * sizeof *mine);
        }
        at += n;
    }
    if (status == 0)
        status = gather(session, mine, each * sizeof *mine, all, err);
    if (status == 0)
        status = gather(session, session->probe.replica, sizeof shape[0], shape, err);
    at = session->outputs;
    for (size_t r = 0; status == 0 && r < world; ++r) {
        const size_t n = session_rank_rows(session, (int)r) * width;

        memcpy(at, all + r * each + 1, n * sizeof *at);
        sum += (double)all[r * each];
        at += n;
    }
    if (status == 0) {
        session->loss_value = (float)sum;
        memcpy(session->probe.replica, shape, world * sizeof shape[0]);
    }
    free(mine);
    free(all);
    return status;
}

/* ---- cores ----------------------------------------------------------------------------------- */

int share_oversubscribed(struct dp_group *group, bool *any, struct dp_error *err)
{
    int32_t mine[DP_MAX_SLOTS] = {0}, all[DP_MAX_SLOTS] = {0};
    int status = 0;

    *any = dp_group_oversubscribed(group);
    mine[0] = *any;
    if (dp_group_world(group) > dp_group_size(group))
        status = share_gather(group, mine, sizeof mine[0], all, err);
    for (int r = 0; r < dp_group_world(group); ++r)
        *any = *any || all[r] != 0;
    return status;
}

void share_cores(const struct dp_mpi *mpi, int each, struct dp_group_config *group)
{
    for (int p = 0; p < dp_mpi_size(mpi); ++p) {
        const bool meets = dp_mpi_shares_cores(mpi, p);

        group->sharing += meets ? each : 0;
        group->sharing_before += meets && p < dp_mpi_rank(mpi) ? each : 0;
        group->on_machine +=
            strcmp(dp_mpi_host(mpi, p), dp_mpi_host(mpi, dp_mpi_rank(mpi))) == 0 ? each : 0;
    }
}
