/* record/identify.c: fills what the records of a cell say about it before it runs, and computes its
 * id. */
#include "record/record.h"

#include "plan/plan.h"

#include "verify/collective.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* Updates an FNV-1a hash. The closing zero byte is included, so that neighbouring fields cannot run
 * together. */
static uint64_t hash_text(uint64_t hash, const char *text)
{
    const char *p = text;

    do {
        hash = (hash ^ (unsigned char)*p) * UINT64_C(0x100000001b3);
    } while (*p++ != '\0');
    return hash;
}

/* Hashes the decimal digits of a number. A reader does this for every line, and printf is slow. */
static uint64_t hash_number(uint64_t hash, uintmax_t number)
{
    char text[24] = "", *p = text + sizeof text - 1;

    do {
        *--p = (char)('0' + number % 10);
        number /= 10;
    } while (number > 0);
    return hash_text(hash, p);
}

void record_cell_id(const struct record_key *key, char id[17])
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);

    hash = hash_text(hash, key->workload);
    hash = hash_text(hash, key->mode);
    hash = hash_text(hash, key->devices);
    hash = hash_number(hash, (uintmax_t)key->n_devices);
    hash = hash_number(hash, key->global_batch);
    hash = hash_text(hash, key->dtype);
    hash = hash_text(hash, key->backend);
    hash = hash_text(hash, key->communicator);
    hash = hash_number(hash, (uintmax_t)key->launch);
    /* Only the axes that are set are hashed, so that ids from before an axis existed remain the
     * same. Axes that are names are above. */
    for (size_t i = 0; i < PLAN_OPTIONS; ++i) {
        const struct plan_axis *axis = &plan_option_table[i].axis;
        const size_t value = axis->modes != 0 ? plan_axis_number(axis, key, axis->in_key) : 0;

        if (value == 0)
            continue;
        if (!axis->nameless)
            hash = hash_text(hash, plan_option_table[i].name);
        hash = hash_number(hash, value);
    }
    for (int i = 0; i < 16; ++i)
        id[i] = "0123456789abcdef"[hash >> (60 - 4 * i) & 15];
    id[16] = '\0';
}

void record_amount_words(const struct record_key *key, char text[RECORD_AMOUNT_TEXT])
{
    const bool collective = record_is_collective(key);

    snprintf(text, RECORD_AMOUNT_TEXT, "%zu %s", collective ? key->size_bytes : key->global_batch,
             collective ? "bytes" : "rows");
}

void cell_identify(const struct cell_config *config, struct record_cell *cell)
{
    const struct collective *collective =
        config->mode == CELL_COLLECTIVE ? collective_find(config->collective) : NULL;
    struct record_key *key = &cell->key;

    memset(cell, 0, sizeof *cell);
    record_unknown(record_cell_fields, cell);
    cell->order_index = config->order_index;
    cell->status = RECORD_BROKEN;
    cell->first_bad_step = -1;
    cell->n_ranks = config->n_devices;
    /* A collective of unknown name has no factor. */
    cell->bus_factor = collective ? collective->factor(config->n_devices) : (double)NAN;
    if (config->mode != CELL_COLLECTIVE) {
        cell->model_params = workload_params(&config->workload);
        cell->flops_per_step = workload_flops(&config->workload, config->rows);
        cell->tokens_per_row = workload_tokens(&config->workload);
        cell->flops_per_token = workload_token_flops(&config->workload);
    }
    memcpy(cell->run_id, config->run_id, sizeof cell->run_id);
    memcpy(key->workload, config->workload.name, sizeof key->workload);
    memcpy(key->devices, config->devices, sizeof key->devices);
    memcpy(key->backend, config->backend, sizeof key->backend);
    memcpy(key->communicator, config->communicator, sizeof key->communicator);
    snprintf(key->mode, sizeof key->mode, "%s", cell_mode_names[config->mode]);
    snprintf(key->dtype, sizeof key->dtype, "%s", dp_math_name(config->math));
    key->n_devices = config->n_devices;
    key->launch = config->launch;
    for (size_t i = 0; i < PLAN_OPTIONS; ++i) {
        const struct plan_axis *axis = &plan_option_table[i].axis;

        if (axis->modes & 1u << config->mode)
            plan_axis_copy(axis, config, key);
    }
    key->global_batch = config->rows;
    record_cell_id(key, cell->cell_id);
}
