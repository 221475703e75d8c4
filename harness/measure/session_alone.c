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
#include "text/alloc.h"

enum { WARMUP = 2 };

/* Adds up the gradients of the ranks, in their order. */
static int sum_gradients(struct session *ranks, struct dp_error *err)
{
    struct dp_tensor value, grad;
    int status = 0;

    for (int p = 0; status == 0 && p < ranks->n_params; ++p) {
        const size_t n = workload_param_count(ranks->workload, (size_t)p);
        float *own = session_floats(n), *sum = ranks->gradient[p];

        if (!own)
            return dp_fail(err, DP_ENOMEM, "no memory for gradient %d", p);
        for (int r = 0; status == 0 && r < ranks->n_ranks; ++r) {
            status = session_param(ranks, r, p, &value, &grad, err);
            if (status == 0 && !grad.slot)
                status = dp_fail(err, DP_EFAULT, "rank %d has no gradient of parameter %d", r, p);
            if (status == 0)
                status = dp_tensor_read(r == 0 ? sum : own, &grad, err);
            for (size_t i = 0; status == 0 && r > 0 && i < n; ++i)
                sum[i] += own[i];
        }
        free(own);
    }
    return status;
}

/* Runs a step and checks the summed gradients. For a workload that rounds, each step must have the
 * bits of the first one: *want is 0 before it. */
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

    const uint64_t digest = session_gradients(ranks);

    *want = *want == 0 ? digest : *want;
    if (digest == *want)
        return 0;
    return dp_fail(err, DP_EFAULT,
                   "step without communication %d: the gradients of all devices have digest "
                   "%016" PRIx64 ", those of the verified step %016" PRIx64,
                   round, digest, *want);
}

int session_alone(struct session *session, const struct cell_config *config,
                  const struct workload_set *set, uint64_t gradients, struct record_cell *cell,
                  struct dp_error *err)
{
    const size_t devices = (size_t)dp_group_size(session->group);
    /* Shards of equal length are the same for ranks and the wrapper, and the whole workload must be
     * on the devices. */
    const bool possible = !session->kind->ranks && !session->kind->alone && devices > 1 &&
                          session->rows % devices == 0 && !session->workload->is->table;
    const double seconds = 0.05 * config->limits.seconds;
    struct session *ranks = possible ? cli_alloc(1, sizeof *ranks) : NULL;
    struct cell_config as_ranks = *config;
    uint64_t alone_ns[RECORD_MOST_ROUNDS], want, start, ns = 0;
    int n = 0, status;

    if (!possible)
        return 0;
    as_ranks.mode = CELL_DDP;
    as_ranks.bucket_bytes = 0;
    status = session_open(ranks, session->group, &as_ranks, NULL, err);
    if (status == 0)
        session_set_traced(ranks, !session->untraced);
    if (status == 0)
        status = session_open_set(ranks, set, err);
    want = workload_is_exact(session->workload) ? gradients : 0;
    for (int i = 0; status == 0 && i < WARMUP; ++i)
        status = one_step(ranks, i, &want, &ns, err);
    start = watch_clock_ns();
    while (status == 0 && n < RECORD_MOST_ROUNDS &&
           (n < RECORD_LEAST_ROUNDS || (double)(watch_clock_ns() - start) < seconds * 1e9)) {
        status = one_step(ranks, WARMUP + n, &want, &alone_ns[n], err);
        ++n;
    }
    if (status == 0) {
        memcpy(cell->alone_ns, alone_ns, sizeof cell->alone_ns);
        cell->n_alone = n;
    }
    session_close(ranks);
    free(ranks);
    /* There may be no memory for a second model, and a communicator may not support ranks. */
    if (status == DP_ENOMEM || status == DP_ENOTSUP) {
        *err = (struct dp_error){0};
        return 0;
    }
    return status;
}
