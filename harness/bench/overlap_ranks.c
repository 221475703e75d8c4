/* bench/overlap_ranks.c: steps and rounds of the ranks of this process, and what they must leave.
 *
 * A step of each set is verified, where its numbers can be proved exact, and is the same in all
 * processes; in every round the whole step must leave what that step left, and so must a step and
 * then its reduction. */
#include <math.h>
#include <stdio.h>

#include "bench/overlap.h"
#include "measure/probe_step.h"

enum { WIDTH_MIN = 8, SEED = 1 };

/* As wide as so many layers of that many bytes in all can be. */
int overlap_model(size_t bytes, struct workload *workload, size_t *bucket_bytes,
                  struct dp_error *err)
{
    const size_t floats = bytes / sizeof(float) / OVERLAP_LAYERS;
    size_t width = (size_t)sqrt((double)floats);
    char name[128] = "", why[200];

    while (width > 0 && width * width + width > floats)
        --width;
    if (width < WIDTH_MIN)
        return dp_fail(err, DP_EINVAL, "--bytes: %zu are too few for %d layers, at least %zu",
                       bytes, OVERLAP_LAYERS,
                       OVERLAP_LAYERS * sizeof(float) * WIDTH_MIN * (WIDTH_MIN + 1));
    *bucket_bytes = sizeof(float) * (width * width + width);
    for (int i = 0; i <= OVERLAP_LAYERS; ++i)
        text_add(name, sizeof name, "%s%zu", i > 0 ? "," : "mlp:", width);
    if (workload_parse(name, workload, why, sizeof why) == 0)
        return 0;
    return dp_fail(err, DP_EFAULT, "%s", why);
}

/* ---- the first steps ------------------------------------------------------------------------ */

/* One step of set k, which is not timed. */
static int first_step(struct overlap_ranks *ranks, int k, struct overlap_first *first,
                      struct dp_error *err)
{
    struct session *session = &ranks->session;
    struct dp_error why = {0};
    size_t values;
    const int status = measure_exact(&ranks->config, k, session, &values, &first->unverified, &why);

    if (status)
        return dp_fail(err, status, "the first step: %.230s", why.text);
    first->compared += values > 0 ? workload_params(&ranks->config.workload) : 0;
    ranks->first[k] =
        (struct session_verified){session_digest(session), session_gradients(session)};
    return session_fingerprint(session, ranks->first[k].step, err);
}

int overlap_ranks_open(struct overlap_ranks *ranks, struct dp_group *group, size_t bytes,
                       size_t rows, struct overlap_first *first, struct dp_error *err)
{
    struct cell_config *config = &ranks->config;
    int status;

    overlap_ranks_close(ranks);
    *first = (struct overlap_first){.compared = 0};
    ranks->group = group;
    *config = (struct cell_config){.seed = SEED,
                                   .rows = rows * (size_t)dp_group_world(group),
                                   .mode = CELL_DDP,
                                   .n_devices = dp_group_world(group)};
    if ((status = overlap_model(bytes, &config->workload, &config->bucket_bytes, err)) ||
        (status = session_open(&ranks->session, group, config, err)))
        return status;
    if (!dp_ddp_overlaps(ranks->session.ddp))
        return dp_fail(err, DP_EINVAL,
                       "communicator '%s' of backend '%s' reduces after backward, not during it; "
                       "use the backend cpu",
                       dp_group_communicator(group), dp_group_backend(group));
    for (int k = 0; k < WORKLOAD_SETS && status == 0; ++k)
        status = first_step(ranks, k, first, err);
    return status;
}

void overlap_ranks_close(struct overlap_ranks *ranks)
{
    session_close(&ranks->session);
}

/* ---- a round -------------------------------------------------------------------------------- */

int overlap_ranks_round(struct overlap_ranks *ranks, size_t number, struct overlap_round *round,
                        struct dp_error *err)
{
    const int k = (int)(number % WORKLOAD_SETS);
    const struct session_verified *first = &ranks->first[k];
    struct session *session = &ranks->session;
    struct session_left left = {0};
    const int status = session_apart(session, k, number % 2 == 0, &round->times, &left, err);

    if (status)
        return status;
    if (left.whole != left.parts)
        return dp_fail(err, DP_EFAULT,
                       "round %zu: the whole step's gradients are not those of a step and its "
                       "reduction",
                       number);
    if (left.step != first->step || left.parts != first->gradients)
        return dp_fail(err, DP_EFAULT, "round %zu, set %d: not what the first step left", number,
                       k);
    round->compared = 2 * (size_t)session->n_ranks * workload_params(&ranks->config.workload);
    return 0;
}
