/* measure/measure.c: one cell: its devices, the measurement on them, and what was observed of the
 * machine during it. */
#include "measure/measure.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "command/device_list.h"
#include "dp_mpi.h"
#include "machine/node.h"
#include "record/record.h"

/* The name that opens a group. A plan has the name that the group reports. */
static const char *asked(const char *planned)
{
    struct dp_communicator_row row;

    return dp_communicator_of(planned, &row) ? row.name : planned;
}

void cell_measure(const struct cell_config *config, FILE *trace, struct dp_mpi *mpi,
                  struct record_cell *cell)
{
    char own[sizeof config->devices];
    struct dp_group_config group_config = {.devices = mpi ? own : config->devices,
                                           .world = mpi ? dp_mpi_world(mpi) : NULL,
                                           .backend = config->backend,
                                           .communicator = asked(config->communicator),
                                           .math = config->math,
                                           .lag_seed = config->seed,
                                           .bind = config->bind,
                                           .wide_blas = config->mode == CELL_PLAIN_MT,
                                           .no_graphs = config->no_graphs};
    const int here = config->per_process > 0 ? (int)config->per_process : config->n_devices;
    struct dp_group *group = NULL;
    struct node_watch *gpus;
    struct dp_error err = {0}, faulty = {0};
    const uint64_t start_ns = watch_clock_ns();
    struct timespec now;
    struct watch watch;
    char why[160];

    clock_gettime(CLOCK_REALTIME, &now);
    watch_start(&watch);
    device_list_first(config->devices, config->per_process, own, sizeof own);
    if (mpi)
        share_cores(mpi, (int)config->per_process, &group_config);
    gpus = node_watch_open(config->devices, NULL);
    cell_identify(config, cell);
    cell->start_epoch_ns = (uint64_t)now.tv_sec * 1000000000U + (uint64_t)now.tv_nsec;
    if (dp_group_open(&group_config, &group, &err) ||
        share_oversubscribed(group, &cell->oversubscribed, &err))
        cell_error(cell, &err, RECORD_BROKEN, err.text);
    /* The devices and the communicator are those of the whole list, or of the part of it that
     * belongs to this process. If some GPUs of a list need staging, the first few of them may still
     * not need it. */
    else if (dp_group_size(group) != here || dp_group_world(group) != config->n_devices ||
             (strcmp(dp_group_communicator(group), config->communicator) != 0 &&
              strcmp(dp_group_communicator(group), asked(config->communicator)) != 0))
        cell_fail(cell, RECORD_BROKEN, "the devices are not those of the plan");
    else {
        const uint64_t opened_ns = watch_clock_ns();

        node_watch_choose(gpus, group);
        if (config->mode == CELL_COLLECTIVE)
            measure_collective(config, group, gpus, start_ns, cell);
        else
            measure_model(config, trace, group, gpus, start_ns, cell);
        if (cell->setup_ns > 0) /* opening the devices is a part of the setup */
            cell->devices_ns = opened_ns - start_ns;
    }
    node_watch_note(gpus, cell);
    node_watch_close(gpus);
    /* A cell on devices with +fault is never ok; and a failure there is never one of the harness.
     */
    if (dp_group_faulty(group, &faulty)) {
        cell->validated = false;
        if (cell->status == RECORD_OK)
            cell_fail(cell, RECORD_FAILED, faulty.text);
        if (cell->status == RECORD_BROKEN)
            cell->status = RECORD_FAILED;
    }
    cell->wall_ns = watch_clock_ns() - start_ns;
    cell->clock_ratio = (double)NAN;
    if (watch.timer < 0) {
        snprintf(why, sizeof why, "no timer to compare the clock with: %s", strerror(errno));
    } else {
        const struct watch_reading end = watch_read(&watch);

        watch_close(&watch);
        cell->clock_ratio = watch_ratio(&watch.begin, &end);
        snprintf(why, sizeof why,
                 "the clock cannot be believed: %g s passed by CLOCK_MONOTONIC_RAW, %.4g times as "
                 "many as by a timer",
                 (double)(end.clock_ns - watch.begin.clock_ns) / 1e9, cell->clock_ratio);
    }
    if (!record_clock_holds(cell->clock_ratio) &&
        (cell->status == RECORD_OK || cell->status == RECORD_FAILED)) {
        cell->validated = false;
        cell_fail(cell, RECORD_FAILED, why);
    }
    /* The other processes must not wait for this one. */
    if (mpi && cell->status != RECORD_OK)
        dp_mpi_abort(mpi);
    dp_group_close(group);
}
