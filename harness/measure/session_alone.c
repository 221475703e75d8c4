/* measure/session_alone.c: a step of DataParallel without its communication: every device runs its
 * shard of the batch at the same time as the others, from forward to update, and nothing is moved
 * between them.
 *
 * The wrapper cannot leave its communication out. So a second set of ranks is opened that do not
 * reduce: they have the same model, shards and kernels, and start at the same barrier. Each device
 * applies its own gradients; in the step of the wrapper the first device does that for all. If the
 * data are exact, the gradients of the ranks, added up in the order of replicas, must be those of
 * the verified step. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "descriptor.h"
#include "measure/session.h"

enum { WARMUP = 2 };

/* Whether shards have equal length, so that ranks and the wrapper have the same, and the whole
 * workload is on the devices. */
static bool can_be_alone(const struct session *s)
{
    const size_t devices = (size_t)dp_group_size(s->group);

    return s->kind == &measure_dp && devices > 1 && s->rows % devices == 0 &&
           !s->workload->is->table;
}

/* Adds the gradient of a rank to the sum of those of the ranks before it. */
static int add_gradient(struct session *ranks, int r, int p, float own[], struct dp_error *err)
{
    struct dp_ddp_param param;
    const int status = dp_ddp_param(ranks->ddp, r, ranks->at[p], &param, err);

    if (status)
        return status;
    if (!*param.has_grad)
        return dp_fail(err, DP_EFAULT, "rank %d has no gradient of parameter %d", r, p);

    float *sum = ranks->gradient[p];
    const int read = dp_tensor_read(r == 0 ? sum : own, &param.grad, err);

    for (size_t i = 0; r > 0 && read == 0 && i < dp_tensor_count(&param.grad); ++i)
        sum[i] += own[i];
    return read;
}

static int sum_gradients(struct session *ranks, struct dp_error *err)
{
    int status = 0;

    for (int p = 0; status == 0 && p < ranks->n_params; ++p) {
        float *own = session_floats(workload_param_count(ranks->workload, (size_t)p));

        if (!own)
            return dp_fail(err, DP_ENOMEM, "no memory for gradient %d", p);
        for (int r = 0; status == 0 && r < ranks->n_ranks; ++r)
            status = add_gradient(ranks, r, p, own, err);
        free(own);
    }
    return status;
}

/* Checks the summed gradients. For a workload that rounds, each step must have the bits of the
 * first one: *want is 0 before it. */
static int check_gradients(const struct session *ranks, int round, uint64_t *want,
                           struct dp_error *err)
{
    const uint64_t digest = session_gradients(ranks);

    *want = *want == 0 ? digest : *want;
    if (digest == *want)
        return 0;
    return dp_fail(err, DP_EFAULT,
                   "step without communication %d: the gradients of all devices have digest "
                   "%016" PRIx64 ", those of the verified step %016" PRIx64,
                   round, digest, *want);
}

static int one_step(struct session *ranks, int round, uint64_t *want, uint64_t *ns,
                    struct dp_error *err)
{
    struct session_times times = {0};
    int status;

    dp_ddp_no_sync(ranks->ddp, true);
    if ((status = session_prepare(ranks, 0, err)) ||
        (status = session_step(ranks, 0, &times, err)) || (status = session_trace(ranks, err)) ||
        (status = sum_gradients(ranks, err)))
        return status;
    *ns = times.step_ns;
    return check_gradients(ranks, round, want, err);
}

static int run_steps(struct session *ranks, double seconds, uint64_t want, struct record_cell *cell,
                     struct dp_error *err)
{
    uint64_t alone_ns[RECORD_MOST_ROUNDS], start = 0, ns = 0;
    int n = 0, status = 0;

    for (int i = 0; status == 0 && i < WARMUP; ++i)
        status = one_step(ranks, i, &want, &ns, err);
    start = session_clock_ns();
    while (status == 0 && n < RECORD_MOST_ROUNDS &&
           (n < RECORD_LEAST_ROUNDS || (double)(session_clock_ns() - start) < seconds * 1e9)) {
        status = one_step(ranks, WARMUP + n, &want, &alone_ns[n], err);
        ++n;
    }
    if (status == 0) {
        memcpy(cell->alone_ns, alone_ns, sizeof cell->alone_ns);
        cell->n_alone = n;
    }
    return status;
}

int session_alone(struct session *session, const struct cell_config *config,
                  const struct workload_set *set, uint64_t gradients, struct record_cell *cell,
                  struct dp_error *err)
{
    struct cell_config as_ranks = *config;
    struct session *ranks = can_be_alone(session) ? calloc(1, sizeof *ranks) : NULL;
    int status;

    if (!ranks) /* there may be no memory for a second model */
        return 0;
    as_ranks.mode = CELL_DDP;
    as_ranks.bucket_bytes = 0;
    status = session_open(ranks, session->group, &as_ranks, err);
    if (status == 0)
        session_set_traced(ranks, !session->untraced);
    if (status == 0)
        status = session_open_set(ranks, set, err);
    if (status == 0)
        status = run_steps(ranks, 0.05 * config->limits.seconds,
                           workload_is_exact(session->workload) ? gradients : 0, cell, err);
    session_close(ranks);
    free(ranks);
    /* Memory may also run out later, and a communicator may not support ranks. */
    if (status == DP_ENOMEM || status == DP_ENOTSUP) {
        *err = (struct dp_error){0};
        return 0;
    }
    return status;
}
