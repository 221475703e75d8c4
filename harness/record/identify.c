/* record/identify.c: what the records of a cell say of it before it is run. */
#include "record/cell.h"

#include "record/roles.h"

#include <stdio.h>
#include <string.h>

const char *const cell_mode_names[CELL_MODES] = {"plain", "dp", "ddp"};

void cell_identify(const struct cell_config *config, struct record_cell *cell)
{
    struct record_key *key = &cell->key;

    memset(cell, 0, sizeof *cell);
    record_unknown(record_cell_fields, cell);
    cell->order_index = config->order_index;
    cell->status = RECORD_BROKEN;
    cell->first_bad_step = -1;
    cell->n_ranks = config->n_devices;
    cell->model_params = workload_params(&config->workload);
    cell->flops_per_step = workload_flops(&config->workload, config->rows);
    memcpy(cell->run_id, config->run_id, sizeof cell->run_id);
    memcpy(key->workload, config->workload.name, sizeof key->workload);
    memcpy(key->devices, config->devices, sizeof key->devices);
    memcpy(key->backend, config->backend, sizeof key->backend);
    memcpy(key->communicator, config->communicator, sizeof key->communicator);
    snprintf(key->mode, sizeof key->mode, "%s", cell_mode_names[config->mode]);
    snprintf(key->dtype, sizeof key->dtype, "%s", dp_math_name(config->math));
    key->n_devices = config->n_devices;
    key->launch = config->launch;
    key->bucket_bytes = config->mode == CELL_DDP ? config->bucket_bytes : 0;
    key->global_batch = config->rows;
    record_cell_id(key, cell->cell_id);
}
