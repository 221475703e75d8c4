/* measure/probe_step.c: the probe of a cell: a step on numbers that use all the bits of a float.
 *
 * Exact data do not change when the operands of a product are rounded; these do. Its reference and
 * its batch are freed before those of the timed steps are made, and it is no sample. */
#include <stdio.h>

#include "measure/measure.h"

int cell_fail(struct record_cell *cell, enum record_status status, const char *reason)
{
    cell->status = status;
    snprintf(cell->reason, sizeof cell->reason, "%s", reason);
    return -1;
}

int cell_error(struct record_cell *cell, const struct dp_error *err, enum record_status otherwise,
               const char *reason)
{
    if (err->status == DP_EFAULT && otherwise == RECORD_FAILED && cell->first_bad_step < 0)
        cell->first_bad_step = (long)cell->n_samples;
    return cell_fail(cell, err->status == DP_ENOMEM ? RECORD_OOM : otherwise, reason);
}

static int open_reference(const struct cell_config *config, const struct workload_set *set,
                          struct verify **verify, struct text_error *why)
{
    const int status = verify_open(&config->workload, set, config->rows,
                                   (size_t)cell_replicas(config), config->math, verify, why);

    return status || !measure_modes[config->mode].ranks ? status : verify_ranks(*verify, why);
}

static int read_step(struct session *session, const struct workload_set *set, struct dp_error *err)
{
    struct session_times times;
    int status;

    if ((status = session_open_set(session, set, err)) ||
        (status = session_prepare(session, set->index, err)) ||
        (status = session_step(session, set->index, &times, err)) ||
        (status = session_trace(session, err)))
        return status;
    return session_read(session, err);
}

int measure_reference(const struct cell_config *config, int k, struct workload_set *set,
                      struct verify **verify, struct text_error *why)
{
    *set = workload_batch(&config->workload, config->rows, config->math, config->seed, k);
    for (;;) {
        const int status = open_reference(config, set, verify, why);

        if (status == 0 || status == VERIFY_STARVED || set->wide == 0)
            return status;
        verify_close(*verify);
        *verify = NULL;
        workload_narrow(set);
    }
}

int measure_exact(const struct cell_config *config, int k, struct session *session, size_t *values,
                  struct text_error *why, struct dp_error *err)
{
    struct workload_set set;
    struct verify *verify = NULL;
    size_t shard[DP_MAX_SLOTS];
    int found = measure_reference(config, k, &set, &verify, why);
    int status = found == VERIFY_STARVED ? 0 : read_step(session, &set, err);

    *values = 0;
    if (found == 0 && status == 0) {
        const struct verify_step left = session_result(session, shard);

        found = verify_check(verify, &left, values, why);
    }
    if (status == 0 && (found > 0 || found == VERIFY_STARVED))
        status = dp_fail(err, found > 0 ? DP_EFAULT : DP_ENOMEM, "%.60s, set %d: %.160s",
                         config->workload.name, k, why->text);
    verify_close(verify);
    return status;
}

void step_result_place(const struct step_result *left, int k, size_t step, char reason[256])
{
    struct dp_error unread = {0};
    struct text_error why = {""};
    size_t shard[DP_MAX_SLOTS], values;

    if (session_is_shared(left->session) || session_read(left->session, &unread) != 0)
        return;
    const struct verify_step result = session_result(left->session, shard);

    if (verify_check(left->verify[k], &result, &values, &why) > 0)
        snprintf(reason, 256, "step %zu, set %d: %.200s", step, k, why.text);
}

int measure_probe(const struct cell_config *config, struct session *session,
                  struct record_cell *cell)
{
    const struct workload_set set = workload_probe(&config->workload, config->seed, config->rows,
                                                   (size_t)cell_replicas(config));
    const uint64_t start_ns = watch_clock_ns();
    struct verify *verify = NULL;
    struct verify_found found;
    struct text_error why = {""};
    struct dp_error err = {0};
    size_t shard[DP_MAX_SLOTS];
    char reason[256];
    int status = 0;

    if (open_reference(config, &set, &verify, &why))
        status = cell_fail(cell, RECORD_BROKEN, why.text);
    if (status == 0 && read_step(session, &set, &err)) {
        snprintf(reason, sizeof reason, "probe: %s", err.text);
        status = cell_error(cell, &err, RECORD_FAILED, reason);
    }
    if (status == 0) {
        const struct verify_step left = session_result(session, shard);
        const int differs = verify_measure(verify, &left, &found, &why);

        cell->probe_values = found.values;
        cell->probe_bound = verify_width(verify);
        cell->probe_ratio = found.ratio;
        snprintf(reason, sizeof reason, "probe: %.200s", why.text);
        if (differs)
            status = cell_error(cell, &(struct dp_error){.status = DP_EFAULT},
                                differs > 0 ? RECORD_FAILED : RECORD_BROKEN, reason);
    }
    verify_close(verify);
    session_close_set(session, set.index);
    cell->probe_ns = watch_clock_ns() - start_ns;
    return status;
}
