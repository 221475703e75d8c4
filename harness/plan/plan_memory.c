/* plan/plan_memory.c: whether there is enough memory for language models. A plan is refused only if
 * it cannot fit, however little memory a step needs in addition. */
#include "plan/plan.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* Several processes may be on separate hosts, so the memory is that for one device. */
int plan_check_cell(const struct cell_config *cell, const struct plan_room *room,
                    struct text_error *why)
{
    const struct workload_use use = {cell_is_alone(cell->mode) ? WORKLOAD_ALONE
                                     : cell->mode == CELL_DDP  ? WORKLOAD_RANKS
                                                               : WORKLOAD_REPLICAS,
                                     (size_t)cell->n_devices, cell->math};
    const bool shared = room->cores && cell->per_process == 0;
    const double gibi = 1 << 30;
    const struct workload_memory planned =
        workload_memory(&cell->workload, &use, shared, cell->rows);
    const double need = planned.least - room->unused;
    char fits[40] = "not even one row";

    if (!(need > room->bytes))
        return 0;
    const size_t most = workload_fits(&cell->workload, &use, shared, room->bytes + room->unused);

    if (most > 0)
        snprintf(fits, sizeof fits, "a batch of %zu", most);
    return text_fail(
        why,
        "%.60s, mode %s, %zu device%s, %zu row%s: that takes at least %.4g GiB of memory, and "
        "%s has %.4g; %s fits by estimate",
        cell->workload.name, cell_mode_names[cell->mode], use.devices, text_s(use.devices),
        cell->rows, text_s(cell->rows), need / gibi, room->cores ? "this machine" : "a GPU",
        room->bytes / gibi, fits);
}

int plan_check_models(const struct plan_options *options, const struct record_run *run,
                      struct text_error *why)
{
    struct plan_options one = *options;
    struct dp_kind_row kind;
    const bool cores = dp_kind_of(options->devices, &kind) && kind.flags & DP_KIND_CORES;
    struct plan_room room = {.cores = cores, .bytes = NAN}; /* NaN: not known */
    int status = 0;

    if (options->mode[CELL_COLLECTIVE])
        return 0;
    /* The memory of the host if it is shared, else that of the GPU with the least memory. */
    if (cores && run->mem_bytes > 0)
        room.bytes = (double)run->mem_bytes;
    for (int i = 0; i < run->node.n_gpus && !cores; ++i)
        room.bytes = fmin(room.bytes, run->node.gpu[i].memory_bytes);
    one.launches = 1;
    struct cell_config *const cell = plan_make(&one, run->communicator, run->run_id);

    for (size_t i = 0; i < plan_cells(&one) && status == 0; ++i)
        status = plan_check_cell(&cell[i], &room, why);
    free(cell);
    return status;
}
