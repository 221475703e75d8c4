/* measure/session_overlap.c: how much of the communication of the ranks overlaps their backward: a
 * step without its reduction, the reduction alone, and the whole step, in turns. Their results are
 * compared with the verified step, outside of the measured time. */
#include <inttypes.h>
#include <math.h>

#include "measure/session.h"
#include "numbers/stats.h"
#include "record/record.h"

enum { CLOCK_READINGS = 1000, TICKS = 20 };

/* A step of ranks: its times without the reduction, of the reduction alone, and whole; and digests
 * of the results of the whole step (session_digest), of its gradients, and of those of a step
 * followed by its separate reduction. */
struct apart {
    double compute_ns, comm_ns, whole_ns;
    uint64_t step, whole, parts;
};

static int whole_step(struct session *s, int k, double *ns, struct dp_error *err)
{
    struct session_times times = {0};
    int status = session_prepare(s, k, err);

    if (status == 0)
        status = session_step(s, k, &times, err);
    if (status == 0)
        status = session_trace(s, err);
    if (status == 0)
        status = session_share(s, &times, err);
    *ns = (double)times.step_ns;
    return status;
}

/* Computes the digest of the gradients, which all ranks must have. NaN has a digest, too, but a
 * gradient that does not exist is an error. */
static int digest_gradients(struct session *s, uint64_t *digest, struct dp_error *err)
{
    struct dp_tensor value, grad;
    int status;

    for (int r = 0; r < s->n_ranks; ++r) {
        for (int p = 0; p < s->n_params; ++p) {
            if ((status = session_param(s, r, p, &value, &grad, err)))
                return status;
            if (!grad.slot)
                return dp_fail(err, DP_EFAULT, "rank %d has no gradient of parameter %d", r, p);
            if ((status = dp_tensor_read(s->gradient[p], &grad, err)))
                return status;
        }
        if (r > 0 && session_gradients(s) != *digest)
            return dp_fail(err, DP_EFAULT, "the gradients of ranks 0 and %d differ", r);
        *digest = session_gradients(s);
    }
    return 0;
}

static int digest_whole_step(struct session *s, int k, struct apart *apart, struct dp_error *err)
{
    int status = whole_step(s, k, &apart->whole_ns, err);

    if (status || (status = session_read(s, err)))
        return status;
    apart->step = session_digest(s);
    return digest_gradients(s, &apart->whole, err);
}

/* Runs a step without its reduction, then the reduction. */
static int digest_parts(struct session *s, int k, struct apart *apart, struct dp_error *err)
{
    const double max_norm = s->update.max_norm;
    struct session_times alone;
    int status;

    dp_ddp_no_sync(s->ddp, true);
    s->update.max_norm = INFINITY; /* they are not reduced yet */
    status = whole_step(s, k, &apart->compute_ns, err);
    s->update.max_norm = max_norm;
    dp_ddp_no_sync(s->ddp, false);
    if (status || (status = session_together(s, err)))
        return status;
    dp_group_barrier(s->group);
    alone.start_ns = watch_clock_ns();
    if ((status = dp_ddp_reduce(s->ddp, err)) || (status = dp_group_wait(s->group, err)))
        return status;
    alone.step_ns = watch_clock_ns() - alone.start_ns;
    if ((status = session_trace(s, err)) || (status = session_share(s, &alone, err)) ||
        (status = update_clip(&s->update, s->ddp, err)))
        return status;
    apart->comm_ns = (double)alone.step_ns;
    return digest_gradients(s, &apart->parts, err);
}

int session_overlap(struct session *session, double seconds,
                    const struct session_verified verified[WORKLOAD_SETS], struct record_cell *cell,
                    struct dp_error *err)
{
    struct apart rounds[RECORD_MOST_ROUNDS] = {{0}};
    const uint64_t start = session_now(session);
    int n = 0, status = 0;

    while (status == 0 && n < RECORD_MOST_ROUNDS &&
           (n < RECORD_LEAST_ROUNDS || (double)(session_now(session) - start) < seconds * 1e9)) {
        struct apart *apart = &rounds[n];
        const int k = n % WORKLOAD_SETS;
        const bool whole_first = n % 2 == 0;

        if ((whole_first && (status = digest_whole_step(session, k, apart, err))) ||
            (status = digest_parts(session, k, apart, err)) ||
            (!whole_first && (status = digest_whole_step(session, k, apart, err))))
            return status;

        const struct {
            const char *what;
            uint64_t got, want;
        } digests[] = {
            {"whole step", apart->step, verified[k].step},
            {"gradients of the whole step", apart->whole, verified[k].gradients},
            {"gradients of a step and its reduction", apart->parts, verified[k].gradients}};

        for (size_t i = 0; i < sizeof digests / sizeof digests[0]; ++i)
            if (digests[i].got != digests[i].want)
                return dp_fail(err, DP_EFAULT,
                               "overlap, round %d, set %d, %s: digest %016" PRIx64
                               ", the verified step's is %016" PRIx64,
                               n, k, digests[i].what, digests[i].got, digests[i].want);
        ++n;
    }
    cell->n_rounds = n;
    for (int i = 0; i < n; ++i) {
        cell->round_ns[RECORD_COMPUTE][i] = (uint64_t)rounds[i].compute_ns;
        cell->round_ns[RECORD_COMM][i] = (uint64_t)rounds[i].comm_ns;
        cell->round_ns[RECORD_WHOLE][i] = (uint64_t)rounds[i].whole_ns;
    }
    record_derive_rounds(cell);
    cell->hidden_frac = NAN;
    if (dp_group_world(session->group) < 2)
        return 0;
    /* The least time that can be told: a multiple of the smallest step of the clock that is
     * observed. */
    uint64_t last = watch_clock_ns(), least = UINT64_MAX;

    for (int i = 0; i < CLOCK_READINGS; ++i) {
        const uint64_t now = watch_clock_ns();

        if (now > last && now - last < least)
            least = now - last;
        last = now;
    }
    cell->hidden_frac = stats_hidden(cell->compute_alone_ns, cell->comm_alone_ns, cell->whole_ns,
                                     least == UINT64_MAX ? INFINITY : TICKS * (double)least);
    return 0;
}
