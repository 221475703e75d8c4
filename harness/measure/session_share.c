/* measure/session_share.c: the messages that processes which run a cell together exchange, outside
 * of the measured time. Everything that a record has, and everything that is compared, is then the
 * same in all of them. A cell of one process has nothing to exchange. */
#include <stdlib.h>
#include <string.h>

#include "measure/session.h"
#include "measure/share.h"

bool session_is_shared(const struct session *session)
{
    return dp_group_world(session->group) > dp_group_size(session->group);
}

int session_gather(struct session *session, const void *mine, size_t bytes, void *all,
                   struct dp_error *err)
{
    int status;

    /* The exchange is no part of a step, so it is not traced. */
    dp_group_trace(session->group, NULL);
    status = share_gather(session->group, mine, bytes, all, err);
    session_set_traced(session, !session->untraced);
    return status;
}

/* ---- a step ---------------------------------------------------------------------------------- */

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
    status = session_gather(session, messages, sizeof messages[0], messages, err);
    for (int r = 0; r < dp_group_size(session->group); ++r)
        clock[r] = session_clock_ns();
    if (status || (status = session_gather(session, clock, sizeof clock[0], clocks, err)))
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
    return session_is_shared(session) ? session->now_ns : session_clock_ns();
}

int session_together(struct session *session, struct dp_error *err)
{
    int32_t mine[DP_MAX_SLOTS] = {0}, all[DP_MAX_SLOTS];

    return session_is_shared(session) ? session_gather(session, mine, sizeof mine[0], all, err) : 0;
}

/* ---- results --------------------------------------------------------------------------------- */

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
        return session_gather(session, mine, sizeof mine[0], peak, err);
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
    if ((status = session_gather(session, mine, sizeof mine[0], all, err)))
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
        status = session_gather(session, mine, each * sizeof *mine, all, err);
    if (status == 0)
        status = session_gather(session, session->probe.replica, sizeof shape[0], shape, err);
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
