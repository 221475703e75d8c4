/* record/collective.c: checks that what the record of a collective says about it is consistent:
 * name, type, size, and the factor of its bus bandwidth. */
#include "record/json.h"

#include "plan/cell.h"
#include "verify/collective.h"

#include <math.h>
#include <string.h>

bool record_is_collective(const struct record_key *key)
{
    return strcmp(key->mode, cell_mode_names[CELL_COLLECTIVE]) == 0;
}

double record_collective_values(const struct record_cell *cell)
{
    const struct collective_type *type = collective_type_find(cell->key.dtype);
    const struct collective *collective = collective_find(cell->key.workload);
    const size_t count = type ? cell->key.size_bytes / type->bytes : 0;
    /* In a reduce-scatter each rank gets only one block. */
    const bool one = collective && collective->in_blocks && !collective->out_blocks;

    return type ? (double)count * (one ? 1.0 : (double)cell->key.n_devices) : (double)NAN;
}

/* Also checks that the record has nothing that only training has. */
int record_check_collective(const struct record_cell *cell, struct text_error *err)
{
    const struct record_key *key = &cell->key;
    const struct collective_type *type = collective_type_find(key->dtype);
    const struct collective *collective = collective_find(key->workload);
    char names[COLLECTIVE_NAMES];

    if (!record_is_collective(key))
        return 0;
    if (!collective) {
        collective_names(names);
        return record_fail(err, "\"workload\" is \"%.40s\", no collective: %s", key->workload,
                           names);
    }
    if (!type)
        return record_fail(err, "\"dtype\" is \"%s\", no type of a collective", key->dtype);
    if (!collective_takes(collective, type))
        return record_fail(err, "\"dtype\" is \"%s\", which %s does not add", key->dtype,
                           key->workload);
    if (key->n_devices < 2 || key->global_batch != 0)
        return record_fail(err, "a collective of %d device%s with %zu rows", key->n_devices,
                           key->n_devices == 1 ? "" : "s", key->global_batch);

    const size_t unit = collective_unit(collective, type, key->n_devices);

    if (key->size_bytes == 0 || key->size_bytes % unit != 0)
        return record_fail(err, "\"size_bytes\" is %zu, no multiple of the %zu bytes of %s",
                           key->size_bytes, unit,
                           collective_has_blocks(collective) ? "its blocks" : type->name);
    if (key->out_of_place > 1 || (collective->out_of_place && key->out_of_place == 0))
        return record_fail(err, "\"out_of_place\" is %zu, which %s is never", key->out_of_place,
                           key->workload);

    const double factor = collective->factor(key->n_devices);
    const struct record_bound rows[] = {
        {"bus_factor", cell->bus_factor, factor, factor},
        {"model_params", (double)cell->model_params, 0, 0},
        {"flops_per_step", cell->flops_per_step, 0, 0},
        {"tokens_per_row", (double)cell->tokens_per_row, 0, 0},
        {"probe_values", (double)cell->probe_values, 0, 0},
        {"probe_ns", (double)cell->probe_ns, 0, 0},
        {"reference_ns", (double)cell->reference_ns, 0, 0},
        {"verify_ns", (double)cell->verify_ns, 0, 0},
        {"exact_bits", cell->exact_bits, 0, 0},
        {"shard_rows", cell->n_shards, 0, 0},
    };

    return record_check_bounds(rows, sizeof rows / sizeof rows[0], err);
}
