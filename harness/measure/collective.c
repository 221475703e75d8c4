/* measure/collective.c: iterations of one collective, each with new numbers and each verified.
 *
 * In an iteration every rank gets its numbers, all are aligned, the collective is timed until all
 * devices are idle, and every number of every rank is read back and compared. The time covers the
 * collective only. If there are several processes, each prepares and compares the data of its
 * ranks. Outside of the measured time they exchange when they began and how long it took; the time
 * of an iteration is that of the slowest. */
#include "measure/measure.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ddp.h"
#include "text/alloc.h"
#include "verify/collective.h"

struct iterations {
    const struct cell_config *config;
    struct record_cell *cell;
    struct dp_group *group;
    struct collective_data data;
    struct dp_tensor whole[DP_MAX_SLOTS];                 /* with the guards */
    struct dp_tensor in[DP_MAX_SLOTS], out[DP_MAX_SLOTS]; /* parts of whole */
    int n, first;                                         /* local ranks, from that one on */
    struct session session; /* has no model: its step is the collective */
    struct steps steps;
};

/* ---- what is run ----------------------------------------------------------------------------- */

static const enum dp_collective_kind kinds[COLLECTIVES] = {
    [COLLECTIVE_ALLREDUCE] = DP_COLLECTIVE_ALLREDUCE,
    [COLLECTIVE_BROADCAST] = DP_COLLECTIVE_BROADCAST,
    [COLLECTIVE_ALLGATHER] = DP_COLLECTIVE_ALLGATHER,
    [COLLECTIVE_REDUCESCATTER] = DP_COLLECTIVE_REDUCESCATTER,
    [COLLECTIVE_ALLTOALL] = DP_COLLECTIVE_ALLTOALL,
};

/* ---- an iteration ---------------------------------------------------------------------------- */

/* In place, a broadcast and an allreduce of float32 are those that training uses. */
static int queue_collective(struct session *session, int k, struct dp_error *err)
{
    struct iterations *it = session->use.user;
    const enum collective_id id = (enum collective_id)(it->data.collective - collectives);
    const bool in_place = !it->data.out_of_place;

    (void)k;
    if (in_place && id == COLLECTIVE_BROADCAST)
        return dp_broadcast(it->group, it->out, 0, err);
    if (in_place && id == COLLECTIVE_ALLREDUCE && it->data.type->dtype == DP_F32)
        return dp_allreduce(it->group, it->out, err);
    return dp_collective_run(it->group, kinds[id], 0, it->in, it->out, err);
}

static int run_collective(struct iterations *it, struct session_times *times, struct dp_error *err)
{
    it->session.launched = dp_group_kernels(it->group);
    dp_group_barrier(it->group);
    return session_step(&it->session, 0, times, err);
}

/* Verifies the results. The error names the lowest rank whose numbers are wrong. */
static int verify_numbers(struct iterations *it, struct dp_error *err)
{
    const size_t step = it->steps.n - 1;
    const int digits = 2 * (int)it->data.type->bytes;
    struct record_cell *cell = it->cell;
    struct collective_mismatch found;
    char reason[sizeof cell->reason];

    for (int r = 0; r < it->n; ++r) {
        const int rank = it->first + r;

        collective_expect(&it->data, rank, step);
        collective_forget(&it->data);
        if (dp_tensor_read(it->data.host, &it->whole[r], err))
            return 0; /* err has the failure */
        if (collective_differs(&it->data, rank, &found)) {
            snprintf(reason, sizeof reason,
                     "iteration %zu, rank %d (%s), index %lld: expected 0x%0*" PRIx64
                     ", actual 0x%0*" PRIx64 ", XOR 0x%0*" PRIx64
                     "; %zu of %zu numbers differ%s there",
                     step, rank, dp_slot_name(dp_group_slot(it->group, r)), found.index, digits,
                     found.expected, digits, found.actual, digits, found.expected ^ found.actual,
                     found.wrong, collective_out(&it->data, rank).n, found.wrong == 1 ? "s" : "");
            cell->first_bad_step = (long)step;
            cell->flags[step] |= RECORD_BAD_VALUES;
            return cell_fail(cell, RECORD_FAILED, reason);
        }
        cell->values_checked += collective_out(&it->data, rank).n;
    }
    ++cell->steps_checked;
    return 0;
}

/* Every rank gets its numbers; processes wait for each other, so that they begin together. */
static int iterate(void *self, bool warmup)
{
    struct iterations *it = self;
    const size_t step = it->steps.n;
    struct session_times times = {0};
    struct dp_error err = {0};
    char reason[sizeof it->cell->reason];
    int status = 0;

    for (int r = 0; err.status == 0 && r < it->n; ++r) {
        collective_input(&it->data, it->first + r, step);
        (void)dp_tensor_write(&it->whole[r], it->data.host, &err);
    }
    if (err.status == 0 && dp_group_wait(it->group, &err) == 0 &&
        session_together(&it->session, &err) == 0 && run_collective(it, &times, &err) == 0 &&
        session_share(&it->session, &times, &err) == 0) {
        steps_note(&it->steps, times.start_ns, times.step_ns, warmup);
        status = verify_numbers(it, &err);
    }
    if (err.status == 0)
        return status;
    snprintf(reason, sizeof reason, "iteration %zu: %s", step, err.text);
    it->cell->first_bad_step = (long)step;
    return cell_error(it->cell, &err, RECORD_FAILED, reason);
}

/* ---- after the iterations ------------------------------------------------------------------ */

/* Runs one more iteration, in which the bytes that cross devices are counted: counting takes time.
 * The counts of the cell are those of all processes. */
static int count_bytes(struct iterations *it, struct dp_error *err)
{
    struct record_cell *cell = it->cell;
    struct session *s = &it->session;
    struct {
        uint64_t values;
        double bytes;
    } mine[DP_MAX_SLOTS] = {{0}}, all[DP_MAX_SLOTS] = {{0}};
    struct session_times times;
    int status;

    session_set_traced(s, true);
    status = run_collective(it, &times, err);
    if (status == 0)
        status = session_trace(s, err);
    session_set_traced(s, false);
    all[0].values = mine[0].values = cell->values_checked;
    all[0].bytes = mine[0].bytes = session_bytes(s);
    if (status == 0 && session_is_shared(s))
        status = share_gather(it->group, mine, sizeof mine[0], all, err);
    if (status || (status = session_peaks(s, cell->peak_bytes, err)))
        return status;
    cell->n_peaks = it->data.ranks;
    cell->values_checked = 0;
    cell->bytes_per_step = 0;
    for (int r = 0; r < it->data.ranks; ++r) {
        cell->values_checked += all[r].values;
        cell->bytes_per_step += all[r].bytes;
    }
    return 0;
}

/* ---- opening --------------------------------------------------------------------------------- */

static int open_iterations(struct iterations *it, struct dp_error *err)
{
    const struct cell_config *config = it->config;
    struct collective_data *data = &it->data;
    int status = 0;

    data->collective = collective_find(config->collective);
    data->type = collective_type_find(config->type);
    data->ranks = config->n_devices;
    it->n = dp_group_size(it->group);
    it->first = dp_group_first(it->group);
    data->out_of_place = config->out_of_place != 0;
    if (!data->collective || !data->type ||
        config->size_bytes < collective_unit(data->collective, data->type, data->ranks))
        return dp_fail(err, DP_EINVAL, "%zu bytes of '%s' for a collective '%s'",
                       config->size_bytes, config->type, config->collective);
    data->count = config->size_bytes / data->type->bytes;
    if (collective_open(data))
        return dp_fail(err, DP_ENOMEM, "no memory for %zu numbers and their answers", data->count);
    for (int r = 0; status == 0 && r < it->n; ++r) {
        const size_t elements = collective_elements(data);
        const struct collective_range in = collective_in(data, it->first + r);
        const struct collective_range out = collective_out(data, it->first + r);
        struct dp_tensor *whole = &it->whole[r];

        if ((status = dp_tensor_alloc(dp_group_slot(it->group, r), data->type->dtype, 1, &elements,
                                      whole, err)) == 0 &&
            (status = dp_tensor_rows(whole, in.first, in.n, &it->in[r], err)) == 0)
            status = dp_tensor_rows(whole, out.first, out.n, &it->out[r], err);
    }
    return status;
}

/* ---- the cell -------------------------------------------------------------------------------- */

void measure_collective(const struct cell_config *config, struct dp_group *group,
                        struct node_watch *gpus, uint64_t start_ns, struct record_cell *cell)
{
    static const struct measurable kind = {.ranks = true, .step = queue_collective};
    struct iterations *it = cli_alloc(1, sizeof *it);
    const int ranks = cell->n_ranks;
    struct dp_error err = {0};
    int status;

    if (record_cell_alloc(cell, CELL_WARMUP_MAX + config->limits.max_steps, 0)) {
        cell_fail(cell, RECORD_BROKEN, "out of memory for the samples");
        free(it);
        return;
    }
    *it = (struct iterations){
        .config = config,
        .cell = cell,
        .group = group,
        .session = {.kind = &kind, .group = group, .use = {.user = it}, .untraced = true}};
    it->steps = (struct steps){&config->limits, &it->session, cell, 0, iterate, it, NULL, gpus};
    cell->n_ranks = ranks;
    if (open_iterations(it, &err)) {
        status = cell_error(cell, &err, RECORD_BROKEN, err.text);
    } else {
        cell->setup_ns = watch_clock_ns() - start_ns;
        status = steps_run(&it->steps);
    }
    if (status == 0) {
        /* The kernels of a library are not counted; then the number of launches is not 0, but
         * unknown. */
        cell->kernels_per_step =
            it->session.kernels > 0 ? (double)it->session.kernels : (double)NAN;
        if (count_bytes(it, &err))
            status = cell_error(cell, &err, RECORD_FAILED, err.text);
    }
    if (status != 0 && cell->warmup_steps == 0)
        cell->warmup_steps = it->steps.n;
    for (int r = 0; r < it->n; ++r)
        dp_tensor_free(&it->whole[r]);
    collective_close(&it->data);
    steps_trim(&it->steps);
    free(it);
    record_derive(cell);
    if (status == 0)
        cell_pass(cell);
}
