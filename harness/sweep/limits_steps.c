/* sweep/limits_steps.c: steps of a workload, verified, with times of all their kernels. */
#include "sweep/limits.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "measure/measure.h"
#include "text/alloc.h"

enum { SEED = 1 };

/* ---- one step ------------------------------------------------------------------------------- */

int limits_find(const struct limits_steps *s, const struct dp_kernel_row *row, enum dp_lane lane)
{
    for (int i = 0; i < s->n_parts; ++i) {
        const struct dp_kernel_row *a = &s->part[i];

        if (s->lane[i] == lane && strcmp(a->name, row->name) == 0 && a->phase == row->phase &&
            a->m == row->m && a->n == row->n && a->k == row->k && a->many == row->many &&
            a->multiplies == row->multiplies && a->transpose_a == row->transpose_a &&
            a->transpose_b == row->transpose_b)
            return i;
    }
    return -1;
}

/* Every step has the same launches: what the first one had is the list. */
static int note_kernels(struct limits_steps *s, size_t at, struct dp_error *err)
{
    s->ns[LIMITS_LOST][at] = 0;
    for (int lane = 0; lane < DP_LANES; ++lane) {
        const struct dp_kernel_rows *rows = &s->log->lane[0][lane];

        s->ns[LIMITS_LOST][at] += (double)rows->lost_ns;
        for (int r = 0; r < rows->n; ++r) {
            int i = limits_find(s, &rows->row[r], (enum dp_lane)lane);

            if (i < 0 && at == 0) {
                i = s->n_parts++;
                s->part[i] = rows->row[r];
                s->lane[i] = (enum dp_lane)lane;
                s->count[i] = rows->row[r].count;
            }
            if (i < 0 || s->count[i] != rows->row[r].count)
                return dp_fail(err, DP_EFAULT, "step %zu of %s launches other kernels: %s", at,
                               s->config.workload.name, rows->row[r].words);
            s->ns[LIMITS_PART + i][at] = (double)rows->row[r].ns;
        }
    }
    return 0;
}

/* Runs a step of set k until its results are on the host. */
static int timed_step(struct limits_steps *s, int k, bool keep, struct dp_error *err)
{
    struct session *session = &s->session;
    struct session_times times = {0};
    int status;

    memset(s->log, 0, sizeof *s->log);
    session_set_traced(session, true);
    if ((status = session_prepare(session, k, err)) ||
        (status = dp_group_log(session->group, s->log, err)))
        return status;
    status = session_step(session, k, &times, err);
    (void)dp_group_log(session->group, NULL, NULL);
    if (status || (status = session_trace(session, err)) || (status = session_read(session, err)))
        return status;
    if (session_digest(session) != s->digest[k])
        return dp_fail(err, DP_EFAULT, "step %zu of %s, set %d: not what the verified step left",
                       s->n, s->config.workload.name, k);
    if (!keep || s->n == s->room)
        return 0;
    s->ns[LIMITS_STEP][s->n] = (double)times.step_ns;
    for (int p = 0; p < DP_PHASES; ++p) {
        double longest = 0, bytes = 0;

        for (int r = 0; r < dp_group_size(session->group); ++r) {
            const double ns = (double)session->trace.replica[r].ns[p];

            longest = ns > longest ? ns : longest;
            bytes += (double)session->trace.replica[r].bytes[p];
        }
        s->ns[LIMITS_PHASE + p][s->n] = longest;
        s->phase_bytes[p] = bytes;
    }
    status = note_kernels(s, s->n, err);
    ++s->n;
    return status;
}

int limits_steps_round(struct limits_steps *s, struct dp_error *err)
{
    int status = timed_step(s, 1, false, err);

    for (int i = 0; status == 0 && i < LIMITS_STEPS; ++i)
        status = timed_step(s, i % WORKLOAD_SETS, true, err);
    return status;
}

/* ---- opening -------------------------------------------------------------------------------- */

int limits_steps_open(struct limits_steps *s, struct dp_group *group,
                      const struct cell_config *config, size_t room, struct dp_error *err)
{
    int status;

    s->config = *config;
    s->config.seed = SEED;
    s->room = room;
    s->log = cli_alloc(1, sizeof *s->log);
    s->ns[0] = cli_alloc(LIMITS_KINDS * room, sizeof *s->ns[0]);
    s->order = cli_alloc(room, sizeof *s->order);
    for (int i = 1; i < LIMITS_KINDS; ++i)
        s->ns[i] = s->ns[0] + (size_t)i * room;
    status = session_open(&s->session, group, &s->config, NULL, err);
    for (int k = 0; status == 0 && k < WORKLOAD_SETS; ++k) {
        struct text_error why = {""};
        size_t values;

        if ((status = measure_exact(&s->config, k, &s->session, &values, &why, err)))
            return status;
        if (values == 0)
            return dp_fail(err, DP_EINVAL, "%s: %.180s", s->config.workload.name, why.text);
        s->digest[k] = session_digest(&s->session);
        s->values += values;
    }
    return status;
}

void limits_steps_close(struct limits_steps *s)
{
    session_close(&s->session);
    free(s->ns[0]);
    free(s->order);
    free(s->log);
}

/* ---- what comes of them --------------------------------------------------------------------- */

static int by_value(const void *a, const void *b)
{
    return stats_order(**(const double *const *)a, **(const double *const *)b);
}

void limits_steps_summarise(struct limits_steps *s)
{
    const size_t first = s->n / 4, last = s->n - s->n / 4;

    for (size_t i = 0; i < s->n; ++i)
        s->order[i] = &s->ns[LIMITS_STEP][i];
    qsort(s->order, s->n, sizeof s->order[0], by_value);
    for (int kind = 0; kind < LIMITS_PART + s->n_parts; ++kind) {
        double sum = 0;

        for (size_t i = first; i < last; ++i)
            sum += s->ns[kind][s->order[i] - s->ns[LIMITS_STEP]];
        s->mean[kind] = sum / (double)(last - first);
    }
    for (int kind = 0; kind < LIMITS_PART + s->n_parts; ++kind) {
        /* The mean is of other steps, so it may lie outside. */
        const size_t skipped = s->n / 20;

        for (size_t i = 0; i < s->n; ++i)
            s->order[i] = &s->ns[kind][i];
        qsort(s->order, s->n, sizeof s->order[0], by_value);
        s->lo[kind] = fmin(*s->order[skipped], s->mean[kind]);
        s->hi[kind] = fmax(*s->order[s->n - 1 - skipped], s->mean[kind]);
    }
}

/* Launches without a row may be anything: they are other kernels. */
double limits_share(const struct limits_steps *s, enum limits_share share)
{
    double sum[LIMITS_SHARES] = {[LIMITS_OTHERS] = s->mean[LIMITS_LOST]};

    for (int i = 0; i < s->n_parts; ++i) {
        const enum limits_share of = s->lane[i] == DP_LANE_TRANSFER ? LIMITS_TRANSFERS
                                     : s->part[i].product           ? LIMITS_PRODUCTS
                                                                    : LIMITS_OTHERS;

        sum[of] += s->mean[LIMITS_PART + i];
    }
    sum[LIMITS_REST] =
        s->mean[LIMITS_STEP] - sum[LIMITS_PRODUCTS] - sum[LIMITS_OTHERS] - sum[LIMITS_TRANSFERS];
    return sum[share];
}
