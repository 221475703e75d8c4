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
#include "measure/probe_step.h"
#include "measure/session.h"
#include "measure/share.h"
#include "measure/steps.h"
#include "verify/collective.h"

struct iterations {
    const struct cell_config *config;
    struct record_cell *cell;
    struct dp_group *group;
    struct collective_data data;
    struct dp_tensor whole[DP_MAX_SLOTS];                 /* with the guards */
    struct dp_tensor in[DP_MAX_SLOTS], out[DP_MAX_SLOTS]; /* parts of whole */
    int n, first;                                         /* local ranks, from that one on */
    uint64_t kernels;                                     /* in the last iteration */
    /* With several processes, by the clock of the first one: the end of the iteration, and a time
     * after it. */
    uint64_t end_ns, now_ns;
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

/* In place, a broadcast and an allreduce of float32 are those that training uses. */
static int run(struct iterations *it, struct dp_error *err)
{
    const enum collective_id id = (enum collective_id)(it->data.collective - collectives);

    if (!it->data.out_of_place && id == COLLECTIVE_BROADCAST)
        return dp_broadcast(it->group, it->out, 0, err);
    if (!it->data.out_of_place && id == COLLECTIVE_ALLREDUCE && it->data.type->dtype == DP_F32)
        return dp_allreduce(it->group, it->out, err);
    return dp_collective_run(it->group, kinds[id], 0, it->in, it->out, err);
}

/* ---- an iteration ---------------------------------------------------------------------------- */

static int bring(struct iterations *it, struct dp_error *err)
{
    int status = 0;

    for (int r = 0; status == 0 && r < it->n; ++r) {
        collective_input(&it->data, it->first + r, it->steps.n);
        status = dp_tensor_write(&it->whole[r], it->data.host, err);
    }
    return status ? status : dp_group_wait(it->group, err);
}

/* Runs the collective; ns has its start and its end. */
static int run_one(struct iterations *it, uint64_t ns[2], struct dp_error *err)
{
    const uint64_t before = dp_group_kernels(it->group);
    int status;

    dp_group_barrier(it->group);
    ns[0] = session_clock_ns();
    status = run(it, err);
    if (status == 0)
        status = dp_group_wait(it->group, err);
    ns[1] = session_clock_ns();
    it->kernels = dp_group_kernels(it->group) - before;
    return status;
}

/* The message of a rank about an iteration. */
struct said_of_iteration {
    uint64_t start_ns, ns, kernels;
};

static bool is_shared(const struct iterations *it)
{
    return it->data.ranks > it->n;
}

/* Waits until all processes are here, so that they begin together. */
static int align(struct iterations *it, struct dp_error *err)
{
    int32_t mine[DP_MAX_SLOTS] = {0}, all[DP_MAX_SLOTS];

    return is_shared(it) ? share_gather(it->group, mine, sizeof mine[0], all, err) : 0;
}

/* Exchanges the times. The clock of the first process, read after all times were exchanged, then
 * counts for all processes, so that they stop at the same iteration. */
static int share_times(struct iterations *it, uint64_t ns[2], struct dp_error *err)
{
    const struct said_of_iteration own = {ns[0], ns[1] - ns[0], it->kernels};
    struct said_of_iteration mine[DP_MAX_SLOTS], all[DP_MAX_SLOTS];
    uint64_t most = 0, clock[DP_MAX_SLOTS], clocks[DP_MAX_SLOTS];
    int status;

    if (!is_shared(it))
        return 0;
    for (int r = 0; r < it->n; ++r) {
        mine[r] = own;
        mine[r].kernels = r == 0 ? own.kernels : 0;
    }
    if ((status = share_gather(it->group, mine, sizeof mine[0], all, err)))
        return status;
    for (int r = 0; r < it->n; ++r)
        clock[r] = session_clock_ns();
    if ((status = share_gather(it->group, clock, sizeof clock[0], clocks, err)))
        return status;
    it->kernels = 0;
    for (int r = 0; r < it->data.ranks; ++r) {
        most = all[r].ns > most ? all[r].ns : most;
        it->kernels += all[r].kernels;
    }
    ns[0] = share_start(all[0].start_ns, most, it->end_ns, clocks[0]);
    ns[1] = it->end_ns = ns[0] + most;
    it->now_ns = clocks[0] > it->end_ns ? clocks[0] : it->end_ns;
    return 0;
}

static uint64_t clock_of(const void *self)
{
    const struct iterations *it = self;

    return is_shared(it) ? it->now_ns : session_clock_ns();
}

static int differs(struct iterations *it, int rank, const struct collective_mismatch *found)
{
    const size_t step = it->steps.n - 1;
    const int digits = 2 * (int)it->data.type->bytes;
    char reason[sizeof it->cell->reason];

    snprintf(reason, sizeof reason,
             "iteration %zu, rank %d (%s), index %lld: expected 0x%0*" PRIx64
             ", actual 0x%0*" PRIx64 ", XOR 0x%0*" PRIx64 "; %zu of %zu numbers differ there",
             step, rank, dp_slot_name(dp_group_slot(it->group, rank - it->first)), found->index,
             digits, found->expected, digits, found->actual, digits,
             found->expected ^ found->actual, found->wrong, collective_out(&it->data, rank).n);
    it->cell->first_bad_step = (long)step;
    it->cell->flags[step] |= RECORD_BAD_VALUES;
    return cell_fail(it->cell, RECORD_FAILED, reason);
}

/* Verifies the results. The error names the lowest rank whose numbers are wrong. */
static int verify(struct iterations *it, struct dp_error *err)
{
    struct collective_mismatch found;

    for (int r = 0; r < it->n; ++r) {
        const int rank = it->first + r;

        collective_expect(&it->data, rank, it->steps.n - 1);
        collective_forget(&it->data);
        if (dp_tensor_read(it->data.host, &it->whole[r], err))
            return 0; /* err has the failure */
        if (collective_differs(&it->data, rank, &found))
            return differs(it, rank, &found);
        it->cell->values_checked += collective_out(&it->data, rank).n;
    }
    ++it->cell->steps_checked;
    return 0;
}

static int iterate(void *self, bool warmup)
{
    struct iterations *it = self;
    const size_t step = it->steps.n;
    struct dp_error err = {0};
    char reason[sizeof it->cell->reason];
    uint64_t ns[2] = {0};
    int status = 0;

    if (bring(it, &err) == 0 && align(it, &err) == 0 && run_one(it, ns, &err) == 0 &&
        share_times(it, ns, &err) == 0) {
        steps_note(&it->steps, ns[0], ns[1] - ns[0], warmup);
        status = verify(it, &err);
    }
    if (err.status == 0)
        return status;
    snprintf(reason, sizeof reason, "iteration %zu: %s", step, err.text);
    it->cell->first_bad_step = (long)step;
    return cell_fail(it->cell, cell_status(&err, RECORD_FAILED), reason);
}

/* ---- after the iterations ------------------------------------------------------------------ */

/* Runs one more iteration, in which the bytes that cross devices are counted: counting takes
 * time. */
static int count_bytes(struct iterations *it, struct dp_error *err)
{
    struct dp_trace *trace = calloc(1, sizeof *trace);
    uint64_t ns[2];
    double bytes = 0;
    int status;

    if (!trace)
        return dp_fail(err, DP_ENOMEM, "no memory to count bytes");
    dp_group_trace(it->group, trace);
    status = run_one(it, ns, err);
    if (status == 0)
        status = dp_trace_read(it->group, err);
    dp_group_trace(it->group, NULL);
    for (int r = 0; r < it->n; ++r)
        for (int phase = 0; phase < DP_PHASES; ++phase)
            bytes += (double)trace->replica[r].bytes[phase];
    it->cell->bytes_per_step = bytes;
    free(trace);
    return status;
}

/* The counts of a rank. */
struct said_at_end {
    uint64_t peak_bytes, values;
    double bytes;
};

/* Adds the counts of all processes, which are those of the cell. */
static int share_counts(struct iterations *it, struct dp_error *err)
{
    struct record_cell *cell = it->cell;
    struct said_at_end mine[DP_MAX_SLOTS] = {{0}}, all[DP_MAX_SLOTS];
    struct dp_slot_info info;
    int status = 0;

    for (int r = 0; r < it->n; ++r) {
        dp_slot_describe(dp_group_slot(it->group, r), &info);
        mine[r].peak_bytes = info.peak_bytes;
    }
    mine[0].values = cell->values_checked;
    mine[0].bytes = cell->bytes_per_step;
    if (is_shared(it))
        status = share_gather(it->group, mine, sizeof mine[0], all, err);
    else
        memcpy(all, mine, (size_t)it->n * sizeof mine[0]);
    if (status)
        return status;
    cell->values_checked = 0;
    cell->bytes_per_step = 0;
    for (int r = 0; r < it->data.ranks; ++r) {
        cell->values_checked += all[r].values;
        cell->bytes_per_step += all[r].bytes;
        cell->peak_bytes[cell->n_peaks++] = all[r].peak_bytes;
    }
    return 0;
}

static int measure_beside(struct iterations *it)
{
    struct record_cell *cell = it->cell;
    struct dp_error err = {0};

    /* The kernels of a library are not counted; then the number of launches is not 0, but
     * unknown. */
    cell->kernels_per_step = it->kernels > 0 ? (double)it->kernels : (double)NAN;
    return count_bytes(it, &err) || share_counts(it, &err)
               ? cell_fail(cell, cell_status(&err, RECORD_FAILED), err.text)
               : 0;
}

/* ---- opening --------------------------------------------------------------------------------- */

static int part_of(struct iterations *it, int rank, struct collective_range range,
                   struct dp_tensor *part, struct dp_error *err)
{
    return dp_tensor_rows(&it->whole[rank], range.first, range.n, part, err);
}

static int open_tensors(struct iterations *it, struct dp_error *err)
{
    const size_t elements = collective_elements(&it->data);
    int status = 0;

    for (int r = 0; status == 0 && r < it->n; ++r) {
        status = dp_tensor_alloc(dp_group_slot(it->group, r), it->data.type->dtype, 1, &elements,
                                 &it->whole[r], err);
        if (status == 0)
            status = part_of(it, r, collective_in(&it->data, it->first + r), &it->in[r], err);
        if (status == 0)
            status = part_of(it, r, collective_out(&it->data, it->first + r), &it->out[r], err);
    }
    return status;
}

static int open_iterations(struct iterations *it, struct dp_error *err)
{
    const struct cell_config *config = it->config;
    struct collective_data *data = &it->data;

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
    return open_tensors(it, err);
}

static void close_iterations(struct iterations *it)
{
    for (int r = 0; r < it->n; ++r)
        dp_tensor_free(&it->whole[r]);
    collective_close(&it->data);
}

/* ---- the cell -------------------------------------------------------------------------------- */

static void judge(struct record_cell *cell)
{
    struct text_error why = {""};

    cell->status = RECORD_OK;
    cell->validated = true;
    cell->reason[0] = '\0';
    if (record_check_ok(cell, &why) == 0)
        return;
    cell->validated = false;
    cell_fail(cell, RECORD_FAILED, why.text);
}

static int measure_all(struct iterations *it, uint64_t start_ns)
{
    struct record_cell *cell = it->cell;
    struct dp_error err = {0};

    if (open_iterations(it, &err))
        return cell_fail(cell, cell_status(&err, RECORD_BROKEN), err.text);
    cell->setup_ns = session_clock_ns() - start_ns;
    return steps_run(&it->steps) || measure_beside(it) ? -1 : 0;
}

void measure_collective(const struct cell_config *config, struct dp_group *group,
                        struct node_watch *gpus, uint64_t start_ns, struct record_cell *cell)
{
    struct iterations *it = calloc(1, sizeof *it);
    const int ranks = cell->n_ranks;

    if (!it || record_cell_alloc(cell, CELL_WARMUP_MAX + config->limits.max_steps, 0)) {
        cell_fail(cell, RECORD_BROKEN, "out of memory for the samples");
        free(it);
        return;
    }
    *it = (struct iterations){.config = config, .cell = cell, .group = group};
    it->steps = (struct steps){&config->limits, group, cell, 0, iterate, it, NULL, gpus, clock_of};
    cell->n_ranks = ranks;

    int status = measure_all(it, start_ns);

    if (status != 0 && cell->warmup_steps == 0)
        cell->warmup_steps = it->steps.n;
    close_iterations(it);
    steps_trim(&it->steps);
    free(it);
    if (record_derive(cell) != 0 && status == 0)
        status = cell_fail(cell, RECORD_BROKEN, "out of memory for the statistics");
    if (status == 0)
        judge(cell);
}
