/* soak/ranks.c: the devices as ranks that all have the same rows, which stay there; and mode dp: a
 * model in DataParallel, and a batch that has the same rows once for each device. */
#include <string.h>

#include "soak/soak.h"

/* Every device has the same rows; the factors of its loss differ. */
static void fill_devices(void *user, const struct workload_set *set, enum workload_side side,
                         void *values)
{
    const struct soak_ranks *ranks = user;
    const struct soak_answer *answer = ranks->answer;
    const size_t each = answer->rows * workload_row(&ranks->config.workload, side).width;
    float *all = values;

    workload_fill_side(&ranks->config.workload, &answer->set, side, answer->rows, all);
    for (int r = ranks->n; r-- > 0;) { /* the first one's is read until the end */
        const float factor = side == WORKLOAD_TARGET ? soak_factor(r, (uint64_t)set->index) : 1;

        for (size_t i = 0; i < each; ++i)
            all[(size_t)r * each + i] = all[i] * factor;
    }
}

int soak_ranks_open(struct soak_ranks *ranks, struct dp_group *group,
                    const struct soak_options *options, const struct soak_answer *answer,
                    struct dp_error *err)
{
    const struct session_use use = {.around = soak_meter_open,
                                    .fill = fill_devices,
                                    .user = ranks,
                                    .whole = true,
                                    .frozen = true};
    struct session *s = &ranks->session;
    int status;

    memset(ranks, 0, sizeof *ranks);
    ranks->group = group;
    ranks->n = dp_group_size(group);
    ranks->answer = answer;
    ranks->overlap = options->mode == SOAK_OVERLAP;
    /* Overlap: a bucket for each parameter, so that as much goes on at a time as can. */
    ranks->config = (struct cell_config){.workload = options->workload,
                                         .rows = (size_t)ranks->n * answer->rows,
                                         .mode = options->mode == SOAK_DP ? CELL_DP : CELL_DDP,
                                         .bucket_bytes = ranks->overlap};
    if ((status = session_open(s, group, &ranks->config, &use, err)))
        return status;
    if (ranks->overlap && !dp_ddp_overlaps(s->ddp))
        return dp_fail(err, DP_ENOTSUP,
                       "nothing to overlap: one device, or a communicator that reduces after "
                       "backward");
    for (int p = 0; p < s->n_params; ++p) {
        char *name = ranks->name[p];

        if ((status = dp_module_param_name(s->model, s->at[p], name, sizeof ranks->name[p])))
            return dp_fail(err, status,
                           status == DP_ENOMEM ? "no memory for the name of parameter %d"
                                               : "parameter %d has no name",
                           p);
    }
    for (int odd = 0; status == 0 && odd < 2; ++odd) {
        const struct workload_set set = {.index = odd};

        status = session_load(s, &set, err);
    }
    return status ? status : session_restore(s, answer->value, err);
}

void soak_ranks_close(struct soak_ranks *ranks)
{
    session_close(&ranks->session);
    memset(ranks, 0, sizeof *ranks);
}

/* ---- a step ------------------------------------------------------------------------------ */

int soak_ranks_step(struct soak_ranks *ranks, uint64_t iteration, struct dp_error *err)
{
    struct session *s = &ranks->session;
    const int k = (int)(iteration % 2);
    struct session_times times;
    int status;

    soak_meter_clear(ranks);
    if (s->ddp)
        dp_ddp_no_sync(s->ddp, !ranks->overlap);
    if ((status = session_prepare(s, k, err)) || (status = session_step(s, k, &times, err)))
        return status;
    /* Whether anything was overlapped is counted, and not believed: a bucket that is launched
     * before its rank's last one is complete overlaps some of the backward. */
    for (int r = 0; ranks->overlap && r < ranks->n; ++r) {
        const int n = dp_ddp_buckets(s->ddp);
        struct dp_ddp_bucket bucket;
        uint64_t last_ns = 0;

        for (int b = 0; b < n; ++b) {
            if ((status = dp_ddp_bucket(s->ddp, r, b, &bucket, err)))
                return status;
            last_ns = bucket.ready_ns > last_ns ? bucket.ready_ns : last_ns;
        }
        for (int b = 0; b < n; ++b) {
            if ((status = dp_ddp_bucket(s->ddp, r, b, &bucket, err)))
                return status;
            ++ranks->buckets;
            ranks->beside += bucket.launch_ns < last_ns;
        }
    }
    return session_trace(s, err);
}

int soak_ranks_reduce(struct soak_ranks *ranks, struct dp_error *err)
{
    struct dp_ddp *ddp = ranks->session.ddp;
    int status;

    if (!ddp || ranks->overlap) /* that was done by the step */
        return 0;
    dp_ddp_no_sync(ddp, false);
    if ((status = dp_ddp_reduce(ddp, err)))
        return status;
    return dp_group_wait(ranks->group, err);
}

/* In mode dp the loss is of the whole batch, and the first device computes it. */
double soak_ranks_busy(const struct soak_ranks *ranks, int r)
{
    const uint64_t *ns = ranks->session.trace.replica[r].ns;
    const uint64_t loss = ranks->session.ddp ? ns[DP_PHASE_LOSS] : 0;

    return ranks->meter[r].cpu ? (double)ranks->meter[r].busy_ns
                               : (double)(ns[DP_PHASE_FORWARD] + loss + ns[DP_PHASE_BACKWARD]);
}
