/* record/write.c: writes records as JSON, one line each.
 *
 * Every string is data: jansson escapes it. Bytes that are not UTF-8 (a name cut in the middle of a
 * character) become "?", so that a record is never lost because of a name. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "record/json.h"
#include "record/memory.h"
#include "text/text.h"

static json_t *text_value(const char *text)
{
    char *copy = strdup(text);
    if (!copy) {
        return NULL;
    }
    for (size_t i = 0; copy[i] != '\0';) {
        uint32_t code = 0;
        const size_t n = text_decode(copy + i, &code);
        if (n == 0) {
            copy[i] = '?';
        }
        i += n > 0 ? n : 1;
    }
    json_t *value = json_string(copy);
    free(copy);
    return value;
}

static json_t *big_value(uint64_t number)
{
    char text[24];
    snprintf(text, sizeof text, "%" PRIu64, number);
    return json_string(text);
}

static json_t *count_value(uint64_t number)
{
    return number <= (uint64_t)RECORD_EXACT_MAX ? json_integer((json_int_t)number) : NULL;
}

static json_t *real_value(double number)
{
    return isfinite(number) ? json_real(number) : json_null();
}

/* Returns an array or an object, or NULL if one of its values could not be added. */
static json_t *whole(json_t *value, int status)
{
    if (status == 0)
        return value;
    json_decref(value);
    return NULL;
}

static json_t *series_value(const struct record_series *series)
{
    json_t *array = json_array();
    int status = series->n > RECORD_MOST_READINGS ? -1 : 0;
    for (size_t i = 0; status == 0 && i < series->n; ++i) {
        status = json_array_append_new(array, real_value(series->value[i]));
    }
    return whole(array, status);
}

static json_t *field_value(const struct record_field *field, const void *object)
{
    const void *member = (const char *)object + field->offset;
    switch (field->kind) {
    case RECORD_TEXT:
    case RECORD_HASH:
    case RECORD_OPTIONS:
        return text_value(member);
    case RECORD_BOOL:
        return json_boolean(*(const bool *)member);
    case RECORD_INT:
        return json_integer(*(const int *)member);
    case RECORD_LONG:
        return json_integer(*(const long *)member);
    case RECORD_COUNT:
        return count_value(*(const size_t *)member);
    case RECORD_U64:
        return count_value(*(const uint64_t *)member);
    case RECORD_BIG:
        return big_value(*(const uint64_t *)member);
    case RECORD_REAL:
        return real_value(*(const double *)member);
    case RECORD_SERIES:
        return series_value(member);
    case RECORD_NESTED:
        break;
    }
    return NULL;
}

/* If a value is NULL (no memory, or no form in JSON), setting it fails in jansson, and so does
 * this. */
static int put_fields(json_t *object, const struct record_field *field, const void *from)
{
    int status = 0;
    for (; field->name; ++field) {
        if (field->kind != RECORD_NESTED) {
            status |= json_object_set_new(object, field->name, field_value(field, from));
        }
    }
    return status;
}

json_t *record_json_of(const struct record_field *fields, const void *from)
{
    json_t *object = json_object();
    return whole(object, put_fields(object, fields, from));
}

static json_t *array_of_u64(const uint64_t *number, size_t n)
{
    json_t *array = json_array();
    int status = 0;
    for (size_t i = 0; i < n; ++i) {
        status |= json_array_append_new(array, count_value(number[i]));
    }
    return whole(array, status);
}

static json_t *array_of_flags(const unsigned *flag, size_t n)
{
    json_t *array = json_array();
    int status = 0;
    for (size_t i = 0; i < n; ++i) {
        status |= json_array_append_new(array, json_integer((json_int_t)flag[i]));
    }
    return whole(array, status);
}

/* Returns NULL if there are more than most. */
static json_t *array_of_at_most(const uint64_t *number, int n, int most)
{
    return n < 0 || n > most ? NULL : array_of_u64(number, (size_t)n);
}

/* Makes an array per rank; null if it was not measured. */
static json_t *rank_times(const struct record_cell *cell, const uint64_t *ns)
{
    if (!ns) {
        return json_null();
    }
    json_t *ranks = json_array();
    int status = 0;
    for (int rank = 0; rank < cell->n_ranks; ++rank) {
        const uint64_t *steps = ns + (size_t)rank * cell->n_samples;
        status |= json_array_append_new(ranks, array_of_u64(steps, cell->n_samples));
    }
    return whole(ranks, status);
}

static json_t *phases(const struct record_cell *cell)
{
    json_t *object = json_object();
    int status = 0;
    for (int p = 0; p < RECORD_PHASES; ++p) {
        status |=
            json_object_set_new(object, record_phase_names[p], rank_times(cell, cell->phase_ns[p]));
    }
    return whole(object, status);
}

static json_t *phase_medians(const struct record_cell *cell)
{
    json_t *object = json_object();
    int status = 0;
    for (int p = 0; p < RECORD_PHASES; ++p) {
        status |= json_object_set_new(object, record_phase_names[p],
                                      real_value(cell->phase_median_ns[p]));
    }
    return whole(object, status);
}

/* Makes an array per turn; null if there were none. */
static json_t *rounds(const struct record_cell *cell)
{
    if (cell->n_rounds == 0) {
        return json_null();
    }
    json_t *object = json_object();
    int status = cell->n_rounds < 0 || cell->n_rounds > RECORD_MOST_ROUNDS ? -1 : 0;
    for (int turn = 0; status == 0 && turn < RECORD_TURNS; ++turn) {
        status = json_object_set_new(object, record_turn_names[turn],
                                     array_of_u64(cell->round_ns[turn], (size_t)cell->n_rounds));
    }
    return whole(object, status);
}

static json_t *part_times(const struct record_part_times *times)
{
    json_t *object = json_object();
    json_t *rows = json_array();
    int status = 0;
    for (size_t row = 0; row < times->rows; ++row) {
        status |= json_array_append_new(rows, array_of_u64(times->ns + row * times->n, times->n));
    }
    status |= json_object_set_new(object, "work", json_integer((json_int_t)times->work));
    status |= json_object_set_new(object, "ns", rows);
    return whole(object, status);
}

/* Adds the parts that were measured; adds nothing if none was. */
static int add_parts(json_t *object, const struct record_cell *cell)
{
    json_t *parts = NULL;
    int status = 0;
    for (int p = 0; p < RECORD_PARTS; ++p) {
        if (!cell->part[p].ns) {
            continue;
        }
        parts = parts ? parts : json_object();
        status |= json_object_set_new(parts, record_part_names[p], part_times(&cell->part[p]));
    }
    return parts ? status | json_object_set_new(object, "parts", parts) : status;
}

static json_t *raw(const struct record_cell *cell)
{
    json_t *object = json_object();
    int status =
        json_object_set_new(object, "t_start_ns", array_of_u64(cell->t_start_ns, cell->n_samples));
    status |=
        json_object_set_new(object, "t_step_ns", array_of_u64(cell->t_step_ns, cell->n_samples));
    status |= json_object_set_new(object, "flags", array_of_flags(cell->flags, cell->n_samples));
    status |= json_object_set_new(object, "phase_ns", phases(cell));
    status |= json_object_set_new(object, "matmul_ns", rank_times(cell, cell->matmul_ns));
    status |= json_object_set_new(object, "rounds_ns", rounds(cell));
    status |= json_object_set_new(
        object, "alone_ns",
        cell->n_alone == 0 ? json_null()
                           : array_of_at_most(cell->alone_ns, cell->n_alone, RECORD_MOST_ROUNDS));
    if (cell->phased_ns) {
        status |= json_object_set_new(object, "phased_ns",
                                      array_of_u64(cell->phased_ns, cell->n_samples));
    }
    status |= add_parts(object, cell);
    return whole(object, status);
}

static json_t *begin(enum record_type type, int minor)
{
    char schema[40];
    snprintf(schema, sizeof schema, "lockstep/%s/1.%d", record_type_names[type], minor);
    json_t *root = json_object();
    if (json_object_set_new(root, "schema", json_string(schema)) != 0) {
        json_decref(root);
        return NULL;
    }
    return root;
}

static char *finish(json_t *root, int status)
{
    if (status != 0) {
        json_decref(root);
        return NULL;
    }
    return record_memory_text(root, JSON_COMPACT | JSON_REAL_PRECISION(17));
}

static json_t *slots(const struct record_run *run)
{
    json_t *array = json_array();
    int status = run->n_slots < 0 || run->n_slots > RECORD_MAX_SLOTS ? -1 : 0;
    for (int i = 0; status == 0 && i < run->n_slots; ++i) {
        status = json_array_append_new(array, record_json_of(record_slot_fields, &run->slot[i]));
    }
    return whole(array, status);
}

char *record_run_text(const struct record_run *run)
{
    json_t *root = begin(RECORD_IS_RUN, run->clocked ? 2 : 1);
    int status = put_fields(root, record_run_fields, run);
    json_t *load = json_array();
    for (int i = 0; i < 3; ++i) {
        status |= json_array_append_new(load, real_value(run->load_avg[i]));
    }
    status |= json_object_set_new(root, "load_avg", load);
    status |= json_object_set_new(root, "slots", slots(run));
    status |= record_node_to_json(root, &run->node);
    return finish(root, status);
}

char *record_cell_text(const struct record_cell *cell)
{
    const char *name =
        (unsigned)cell->status < RECORD_STATUSES ? record_status_names[cell->status] : NULL;
    uint64_t rows[RECORD_MAX_RANKS] = {0};
    for (int i = 0; i < cell->n_shards && i < RECORD_MAX_RANKS; ++i) {
        rows[i] = cell->shard[i];
    }
    json_t *root = begin(RECORD_IS_CELL, 1);
    int status = json_object_set_new(root, "cell", record_json_of(record_key_fields, &cell->key));
    status |= json_object_set_new(root, "status", json_string(name));
    status |= put_fields(root, record_cell_fields, cell);
    status |= json_object_set_new(root, "shard_rows",
                                  array_of_at_most(rows, cell->n_shards, RECORD_MAX_RANKS));
    status |= json_object_set_new(
        root, "peak_bytes", array_of_at_most(cell->peak_bytes, cell->n_peaks, RECORD_MAX_RANKS));
    status |= json_object_set_new(root, "phase_median_ns", phase_medians(cell));
    status |= record_watched_to_json(root, cell);
    status |= json_object_set_new(root, "raw", raw(cell));
    return finish(root, status);
}

char *record_end_text(const char *run_id, const struct record_end *end)
{
    struct record_end line = *end;
    snprintf(line.run_id, sizeof line.run_id, "%s", run_id);
    json_t *root = begin(RECORD_IS_END, 1);
    return finish(root, put_fields(root, record_end_fields, &line));
}
