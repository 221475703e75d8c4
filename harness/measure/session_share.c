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

static void say(const struct session *s, const struct session_times *times, int r,
                struct said_of_step *messages)
{
    *messages = (struct said_of_step){.start_ns = times->start_ns,
                                      .step_ns = times->step_ns,
                                      .kernels = r == 0 ? s->kernels : 0,
                                      .matmul_ns = s->trace.matmul_ns[r]};
    memcpy(messages->ns, s->trace.replica[r].ns, sizeof messages->ns);
    memcpy(messages->bytes, s->trace.replica[r].bytes, sizeof messages->bytes);
}

/* Combines the times of all. The clock of the first process, read after all times were exchanged,
 * then counts for all processes, so that they stop at the same step. A step takes as long as in the
 * slowest process. */
static void hear(struct session *s, struct session_times *times,
                 const struct said_of_step messages[], uint64_t clock_ns)
{
    *times = (struct session_times){messages[0].start_ns, 0};
    s->kernels = 0;
    for (int r = 0; r < dp_group_world(s->group); ++r) {
        times->step_ns =
            messages[r].step_ns > times->step_ns ? messages[r].step_ns : times->step_ns;
        s->kernels += messages[r].kernels;
        s->trace.matmul_ns[r] = messages[r].matmul_ns;
        memcpy(s->trace.replica[r].ns, messages[r].ns, sizeof messages[r].ns);
        memcpy(s->trace.replica[r].bytes, messages[r].bytes, sizeof messages[r].bytes);
    }
    times->start_ns = share_start(times->start_ns, times->step_ns, s->end_ns, clock_ns);
    s->end_ns = times->start_ns + times->step_ns;
    s->now_ns = clock_ns > s->end_ns ? clock_ns : s->end_ns;
}

int session_share(struct session *session, struct session_times *times, struct dp_error *err)
{
    struct said_of_step messages[DP_MAX_SLOTS]; /* of the local ranks, then of all */
    uint64_t clock[DP_MAX_SLOTS], clocks[DP_MAX_SLOTS];
    int status;

    if (!session_is_shared(session))
        return 0;
    for (int r = 0; r < dp_group_size(session->group); ++r)
        say(session, times, r, &messages[r]);
    status = session_gather(session, messages, sizeof messages[0], messages, err);
    for (int r = 0; r < dp_group_size(session->group); ++r)
        clock[r] = session_clock_ns();
    if (status == 0)
        status = session_gather(session, clock, sizeof clock[0], clocks, err);
    if (status == 0)
        hear(session, times, messages, clocks[0]);
    return status;
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

/* The rows of a rank of the world. */
static size_t rows_of(const struct session *s, int rank)
{
    const size_t world = (size_t)dp_group_world(s->group);

    return s->rows / world + ((size_t)rank < s->rows % world);
}

/* Packs losses and outputs of the local ranks. Ranks may differ by one row, so each sends its loss
 * and then as many rows as the largest has. */
static void pack(const struct session *s, size_t width, size_t each, const float loss[],
                 float mine[])
{
    const int first = dp_group_first(s->group);
    const float *from = s->outputs;

    for (int r = 0; r < first; ++r)
        from += rows_of(s, r) * width;
    for (int r = 0; r < dp_group_size(s->group); ++r, mine += each) {
        const size_t n = rows_of(s, first + r) * width;

        mine[0] = loss[r];
        memcpy(mine + 1, from, n * sizeof *mine);
        from += n;
    }
}

static void unpack(struct session *s, size_t width, size_t each, const float all[])
{
    float *to = s->outputs;
    double sum = 0;

    for (int r = 0; r < dp_group_world(s->group); ++r, all += each) {
        const size_t n = rows_of(s, r) * width;

        memcpy(to, all + 1, n * sizeof *to);
        sum += (double)all[0];
        to += n;
    }
    s->loss_value = (float)sum;
}

int session_share_outputs(struct session *session, size_t width, const float loss[],
                          struct dp_error *err)
{
    const size_t local = (size_t)dp_group_size(session->group);
    const size_t world = (size_t)dp_group_world(session->group);
    const size_t each = 1 + rows_of(session, 0) * width;
    float *mine = calloc(local * each, sizeof *mine), *all = calloc(world * each, sizeof *all);
    struct probe_shape shape[DP_MAX_SLOTS];
    int status;

    if (!mine || !all) {
        status = dp_fail(err, DP_ENOMEM, "no memory for the outputs of %zu ranks", world);
    } else {
        pack(session, width, each, loss, mine);
        status = session_gather(session, mine, each * sizeof *mine, all, err);
        if (status == 0)
            status = session_gather(session, session->probe.replica, sizeof shape[0], shape, err);
    }
    if (status == 0) {
        unpack(session, width, each, all);
        memcpy(session->probe.replica, shape, world * sizeof shape[0]);
    }
    free(mine);
    free(all);
    return status;
}
