/* record_read.c: JSON to records. The input is untrusted: every length is checked before it is
 * used, and memory is taken only for elements that are there. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "record_json.h"

/* The array of that name, of exactly n elements. */
static const json_t *find_array(const json_t *object, const char *name, size_t n,
                                struct record_error *err)
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

static const json_t *find_object(const json_t *object, const char *name, struct record_error *err)
{
    const json_t *found = json_object_get(object, name);
    if (!json_is_object(found)) {
        record_fail(err, "\"%s\" is missing or no object", name);
        return NULL;
    }
    return found;
}

/* The elements of an array of nanoseconds; to has room for all of them. */
static int read_u64s(const json_t *array, const char *name, uint64_t *to, struct record_error *err)
{
    for (size_t i = 0; i < json_array_size(array); ++i) {
        json_int_t number = 0;
        if (record_json_integer(json_array_get(array, i), name, 0, RECORD_EXACT_MAX, &number,
                                err) != 0) {
            return -1;
        }
        to[i] = (uint64_t)number;
    }
    return 0;
}

static int read_times(const json_t *raw, const char *name, size_t n, uint64_t *to,
                      struct record_error *err)
{
    const json_t *array = find_array(raw, name, n, err);
    return array == NULL ? -1 : read_u64s(array, name, to, err);
}

static int read_flags(const json_t *raw, struct record_cell *cell, struct record_error *err)
{
    const json_t *array = find_array(raw, "flags", cell->n_samples, err);
    for (size_t i = 0; array != NULL && i < cell->n_samples; ++i) {
        json_int_t number = 0;
        if (record_json_integer(json_array_get(array, i), "flags", 0, UINT16_MAX, &number, err) !=
            0) {
            return -1;
        }
        cell->flags[i] = (unsigned)number;
    }
    return array == NULL ? -1 : 0;
}

/* Null, or n_ranks arrays of n_samples. Lengths first, then memory. */
static int read_ranks(const json_t *phases, const char *name, const struct record_cell *cell,
                      uint64_t **times, struct record_error *err)
{
    if (json_is_null(json_object_get(phases, name))) {
        return 0;
    }
    const size_t n_ranks = (size_t)cell->n_ranks, n_samples = cell->n_samples;
    const json_t *ranks = find_array(phases, name, n_ranks, err);
    for (size_t rank = 0; ranks != NULL && rank < n_ranks; ++rank) {
        const json_t *steps = json_array_get(ranks, rank);
        if (!json_is_array(steps) || json_array_size(steps) != n_samples) {
            return record_fail(err, "\"%s\" of rank %zu is no array of %zu times", name, rank,
                               n_samples);
        }
    }
    if (ranks == NULL) {
        return -1;
    }
    /* Cannot overflow: the elements were counted. One more, because NULL means not measured. */
    *times = calloc(n_ranks * n_samples + 1, sizeof **times);
    if (*times == NULL) {
        return record_fail(err, "no memory for %zu times", n_ranks * n_samples);
    }
    for (size_t rank = 0; rank < n_ranks; ++rank) {
        if (read_u64s(json_array_get(ranks, rank), name, *times + rank * n_samples, err) != 0) {
            return -1;
        }
    }
    return 0;
}

static int read_raw(const json_t *root, struct record_cell *cell, struct record_error *err)
{
    const size_t n = cell->n_samples;
    const int n_ranks = cell->n_ranks;
    const json_t *raw = find_object(root, "raw", err);
    const json_t *phases = raw == NULL ? NULL : find_object(raw, "phase_ns", err);
    if (phases == NULL || find_array(raw, "t_step_ns", n, err) == NULL) {
        return -1;
    }
    /* Without ranks: phase arrays are allocated only for phases that are there. */
    if (record_cell_alloc(cell, n, 0) != 0) {
        return record_fail(err, "no memory for %zu samples", n);
    }
    cell->n_ranks = n_ranks;
    if (read_times(raw, "t_step_ns", n, cell->t_step_ns, err) != 0 ||
        read_times(raw, "t_start_ns", n, cell->t_start_ns, err) != 0 ||
        read_flags(raw, cell, err) != 0) {
        return -1;
    }
    for (int p = 0; p < RECORD_PHASES; ++p) {
        if (read_ranks(phases, record_phase_names[p], cell, &cell->phase_ns[p], err) != 0) {
            return -1;
        }
    }
    return json_object_get(raw, "matmul_ns") == NULL
               ? 0
               : read_ranks(raw, "matmul_ns", cell, &cell->matmul_ns, err);
}

static int read_shards(const json_t *root, struct record_cell *cell, struct record_error *err)
{
    const json_t *rows = json_object_get(root, "shard_rows");
    if (!json_is_array(rows) || json_array_size(rows) > RECORD_MAX_RANKS) {
        return record_fail(err, "\"shard_rows\" is missing or no array of at most %d",
                           RECORD_MAX_RANKS);
    }
    cell->n_shards = (int)json_array_size(rows);
    for (size_t i = 0; i < json_array_size(rows); ++i) {
        json_int_t number = 0;
        if (record_json_integer(json_array_get(rows, i), "shard_rows", 0, RECORD_EXACT_MAX, &number,
                                err) != 0) {
            return -1;
        }
        cell->shard[i] = (size_t)number;
    }
    return 0;
}

static int read_status(const json_t *root, struct record_cell *cell, struct record_error *err)
{
    const char *name = json_string_value(json_object_get(root, "status"));
    for (int i = 0; name != NULL && i < RECORD_STATUSES; ++i) {
        if (strcmp(name, record_status_names[i]) == 0) {
            cell->status = (enum record_status)i;
            return 0;
        }
    }
    return record_fail(err, "\"status\" is %.40s, not one of the known ones",
                       name == NULL ? "missing or no string" : name);
}

/* What types cannot say. The last rule is the promise of no false pass. */
static int check_cell(const struct record_cell *cell, struct record_error *err)
{
    char id[17];
    record_cell_id(&cell->key, id);
    if (strcmp(id, cell->cell_id) != 0) {
        return record_fail(err, "\"cell_id\" is %s, but the key in \"cell\" gives %s",
                           cell->cell_id, id);
    }
    if (cell->n_valid > cell->n_samples || cell->warmup_steps > cell->n_samples) {
        return record_fail(err, "%zu valid and %zu warm-up steps of %zu samples", cell->n_valid,
                           cell->warmup_steps, cell->n_samples);
    }
    if (cell->status != RECORD_OK && cell->validated) {
        return record_fail(err, "\"validated\" is true, but \"status\" is %s",
                           record_status_names[cell->status]);
    }
    return cell->status == RECORD_OK ? record_check_ok(cell, err) : 0;
}

int record_cell_from_json(const json_t *root, struct record_cell *cell, struct record_error *err)
{
    memset(cell, 0, sizeof *cell);
    cell->outside_frac = NAN;
    const json_t *key = find_object(root, "cell", err);
    const json_t *medians = key == NULL ? NULL : find_object(root, "phase_median_ns", err);
    int status = medians == NULL ? -1 : record_json_fields(key, record_key_fields, &cell->key, err);
    for (int p = 0; status == 0 && p < RECORD_PHASES; ++p) {
        const char *name = record_phase_names[p];
        status =
            record_json_real(json_object_get(medians, name), name, &cell->phase_median_ns[p], err);
    }
    if (status != 0 || read_status(root, cell, err) != 0 ||
        record_json_fields(root, record_cell_fields, cell, err) != 0 ||
        read_shards(root, cell, err) != 0 || read_raw(root, cell, err) != 0 ||
        check_cell(cell, err) != 0) {
        record_cell_free(cell);
        return -1;
    }
    return 0;
}

static int read_slots(const json_t *root, struct record_run *run, struct record_error *err)
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

int record_run_from_json(const json_t *root, struct record_run *run, struct record_error *err)
{
    memset(run, 0, sizeof *run);
    snprintf(run->scaling, sizeof run->scaling, "strong");
    run->launches = 1;
    if (record_json_fields(root, record_run_fields, run, err) != 0 ||
        read_slots(root, run, err) != 0) {
        return -1;
    }
    const json_t *load = find_array(root, "load_avg", 3, err);
    for (size_t i = 0; load != NULL && i < 3; ++i) {
        if (record_json_real(json_array_get(load, i), "load_avg", &run->load_avg[i], err) != 0) {
            return -1;
        }
    }
    if (strcmp(run->scaling, "strong") != 0 && strcmp(run->scaling, "weak") != 0) {
        return record_fail(err, "\"scaling\" is \"%s\", neither strong nor weak", run->scaling);
    }
    if (load != NULL && strcmp(run->source, "measured") != 0 &&
        strcmp(run->source, "simulated") != 0) {
        return record_fail(err, "\"source\" is \"%s\", neither measured nor simulated",
                           run->source);
    }
    return load == NULL ? -1 : 0;
}

int record_end_from_json(const json_t *root, struct record_end *end, struct record_error *err)
{
    memset(end, 0, sizeof *end);
    return record_json_fields(root, record_end_fields, end, err);
}
