/* record/read.c: converts JSON to records. The input is untrusted: every length is checked before
 * it is used, and memory is allocated only for elements that exist. */
#include <inttypes.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "record/json.h"

/* Finds the array of that name, with exactly n elements. */
static const json_t *find_array(const json_t *object, const char *name, size_t n,
                                struct text_error *err)
{
    const json_t *array = json_object_get(object, name);
    if (!json_is_array(array)) {
        record_fail(err, "\"%s\" is missing or no array", name);
        return NULL;
    }
    if (json_array_size(array) != n) {
        record_fail(err, "\"%s\" has %zu elements, expected %zu", name, json_array_size(array), n);
        return NULL;
    }
    return array;
}

/* Reads at most one number for each rank; *n becomes their number. */
static int read_list(const json_t *list, const char *name, uint64_t *to, int *n,
                     struct text_error *err)
{
    json_int_t number = 0;
    if (!json_is_array(list) || json_array_size(list) > RECORD_MAX_RANKS) {
        return record_fail(err, "\"%s\" is missing or no array of at most %d", name,
                           RECORD_MAX_RANKS);
    }
    *n = (int)json_array_size(list);
    for (int i = 0; i < *n; ++i) {
        if (record_json_integer(json_array_get(list, (size_t)i), name, 0, RECORD_EXACT_MAX, &number,
                                err) != 0) {
            return -1;
        }
        to[i] = (uint64_t)number;
    }
    return 0;
}

/* Records from before peaks were measured have no peak_bytes. */
static int read_lists(const json_t *root, struct record_cell *cell, struct text_error *err)
{
    const json_t *peaks = json_object_get(root, "peak_bytes");
    uint64_t rows[RECORD_MAX_RANKS];
    if (read_list(json_object_get(root, "shard_rows"), "shard_rows", rows, &cell->n_shards, err)) {
        return -1;
    }
    for (int i = 0; i < cell->n_shards; ++i) {
        cell->shard[i] = (size_t)rows[i];
    }
    return peaks ? read_list(peaks, "peak_bytes", cell->peak_bytes, &cell->n_peaks, err) : 0;
}

static int read_status(const json_t *root, struct record_cell *cell, struct text_error *err)
{
    const char *name = json_string_value(json_object_get(root, "status"));
    for (int i = 0; name && i < RECORD_STATUSES; ++i) {
        if (strcmp(name, record_status_names[i]) == 0) {
            cell->status = (enum record_status)i;
            return 0;
        }
    }
    return record_fail(err, "\"status\" is %.40s, not one of the known ones",
                       name == NULL ? "missing or no string" : name);
}

/* Checks what types cannot express. The last rule is the promise that no cell passes wrongly. */
int record_cell_check(const struct record_cell *cell, struct text_error *err)
{
    char id[17];
    record_cell_id(&cell->key, id);
    if (strcmp(id, cell->cell_id) != 0) {
        return record_fail(err, "\"cell_id\" is %s, but the key in \"cell\" gives %s",
                           cell->cell_id, id);
    }
    const struct record_bound rows[] = {
        {"n_valid", (double)cell->n_valid, 0, (double)cell->n_samples},
        {"warmup_steps", (double)cell->warmup_steps, 0, (double)cell->n_samples},
    };
    if (record_check_bounds(rows, sizeof rows / sizeof rows[0], err) != 0) {
        return -1;
    }
    if (cell->status != RECORD_OK && cell->validated) {
        return record_fail(err, "\"validated\" is true, but \"status\" is %s",
                           record_status_names[cell->status]);
    }
    if (cell->status == RECORD_OK && record_check_ok(cell, err) != 0) {
        return -1;
    }
    return record_check_fields(cell, err);
}

int record_cell_from_json(const json_t *root, const struct record_raw *raw,
                          struct record_cell *cell, struct text_error *err)
{
    memset(cell, 0, sizeof *cell);
    record_unknown(record_cell_fields, cell);
    const json_t *key = record_json_object(root, "cell", err);
    const json_t *medians = !key ? NULL : record_json_object(root, "phase_median_ns", err);
    int status = !medians ? -1 : record_json_fields(key, record_key_fields, &cell->key, err);
    for (int p = 0; status == 0 && p < RECORD_PHASES; ++p) {
        const char *name = record_phase_names[p];
        status =
            record_json_real(json_object_get(medians, name), name, &cell->phase_median_ns[p], err);
    }
    if (status != 0 || read_status(root, cell, err) != 0 ||
        record_json_fields(root, record_cell_fields, cell, err) != 0 ||
        read_lists(root, cell, err) != 0 || record_watched_from_json(root, cell, err) != 0 ||
        record_samples_from_json(root, raw, cell, err) != 0 || record_cell_check(cell, err) != 0) {
        record_cell_free(cell);
        return -1;
    }
    return 0;
}

static int read_slots(const json_t *root, struct record_run *run, struct text_error *err)
{
    const json_t *slots = json_object_get(root, "slots");
    if (!json_is_array(slots) || json_array_size(slots) > RECORD_MAX_SLOTS) {
        return record_fail(err, "\"slots\" is missing or no array of at most %d", RECORD_MAX_SLOTS);
    }
    run->n_slots = (int)json_array_size(slots);
    for (int i = 0; i < run->n_slots; ++i) {
        const json_t *slot = json_array_get(slots, (size_t)i);
        if (record_json_fields(slot, record_slot_fields, &run->slot[i], err) != 0) {
            return -1;
        }
    }
    return 0;
}

static const double MOST_LOAD = 1e6;

static int check_machine(const struct record_run *run, struct text_error *err)
{
    const struct record_bound rows[] = {
        {"packages", run->packages, 0, run->pus},
        {"cores", run->cores, 0, run->pus},
        {"usable_pus", run->usable_pus, run->cores > 0, run->pus},
        {"timer_tick_ns", run->timer_tick_ns, run->cores > 0 ? 1e-3 : 0, 1e9},
        {"numa", run->node.n_numa, 0, run->numa_nodes},
    };
    return record_check_bounds(rows, sizeof rows / sizeof rows[0], err);
}

int record_run_from_json(const json_t *root, struct record_run *run, struct text_error *err)
{
    memset(run, 0, sizeof *run);
    snprintf(run->scaling, sizeof run->scaling, "strong");
    run->launches = 1;
    record_unknown(record_run_fields, run);
    if (record_json_fields(root, record_run_fields, run, err) != 0 ||
        read_slots(root, run, err) != 0 || record_node_from_json(root, &run->node, err) != 0) {
        return -1;
    }
    const char *schema = json_string_value(json_object_get(root, "schema"));
    run->clocked = schema && strtol(schema + strlen("lockstep/run/1."), NULL, 10) > 1;
    const json_t *load = find_array(root, "load_avg", 3, err);
    for (size_t i = 0; load && i < 3; ++i) {
        double *to = &run->load_avg[i];
        if (record_json_real(json_array_get(load, i), "load_avg", to, err) != 0) {
            return -1;
        }
        if (*to < 0 || *to > MOST_LOAD) {
            return record_fail(err, "\"load_avg\" is %g, outside 0 to %g", *to, MOST_LOAD);
        }
    }
    return !load ? -1 : check_machine(run, err);
}

int record_end_from_json(const json_t *root, struct record_end *end, struct text_error *err)
{
    memset(end, 0, sizeof *end);
    record_unknown(record_end_fields, end);
    return record_json_fields(root, record_end_fields, end, err);
}
