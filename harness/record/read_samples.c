/* record/read_samples.c: reads "raw" of a cell: its samples, with an array of times for everything
 * that was timed. Lengths are checked before memory is allocated. */
#include <inttypes.h>
#include <stdint.h>
#include <stdlib.h>

#include "record/json.h"

/* An array of numbers, either in the list that was taken out of the line, or still in the JSON. */
struct series {
    const uint64_t *number; /* NULL: they are in json */
    const json_t *json;
    size_t n;
};

static bool find_series(const json_t *value, const struct record_raw *raw, struct series *series)
{
    *series = (struct series){.json = value, .n = json_array_size(value)};
    if (json_is_array(value)) {
        return true;
    }
    const json_int_t place = json_is_integer(value) ? json_integer_value(value) : -1;
    if (place < 0 || (size_t)place >= raw->n_arrays) {
        return false;
    }
    const struct record_array *array = &raw->array[place];
    *series = (struct series){.number = raw->number + array->first, .n = array->n};
    return true;
}

/* Reads the elements, none above most; to has capacity for all of them. */
static int read_series(const struct series *series, const char *name, json_int_t most, uint64_t *to,
                       struct text_error *err)
{
    for (size_t i = 0; i < series->n; ++i) {
        json_int_t number = 0;
        if (series->number && series->number[i] <= (uint64_t)most) {
            to[i] = series->number[i];
            continue;
        }
        if (series->number) {
            return record_fail(err, "\"%s\" is %" PRIu64 ", outside 0 to %" JSON_INTEGER_FORMAT,
                               name, series->number[i], most);
        }
        if (record_json_integer(json_array_get(series->json, i), name, 0, most, &number, err) !=
            0) {
            return -1;
        }
        to[i] = (uint64_t)number;
    }
    return 0;
}

/* The input from which "raw" is read. */
struct source {
    const json_t *object; /* the object "raw" */
    const struct record_raw *raw;
    size_t n; /* samples */
};

static int find_times(const struct source *source, const char *name, struct series *series,
                      struct text_error *err)
{
    if (!find_series(json_object_get(source->object, name), source->raw, series)) {
        return record_fail(err, "\"%s\" is missing or no array", name);
    }
    if (series->n != source->n) {
        return record_fail(err, "\"%s\" has %zu elements, expected %zu", name, series->n,
                           source->n);
    }
    return 0;
}

static int read_times(const struct source *source, const char *name, json_int_t most, uint64_t *to,
                      struct text_error *err)
{
    struct series series;
    return find_times(source, name, &series, err) != 0 ? -1
                                                       : read_series(&series, name, most, to, err);
}

/* Reads the flags, through the memory of the start times, which are read after them. */
static int read_flags(const struct source *source, struct record_cell *cell, struct text_error *err)
{
    if (read_times(source, "flags", UINT16_MAX, cell->t_start_ns, err) != 0) {
        return -1;
    }
    for (size_t i = 0; i < source->n; ++i) {
        cell->flags[i] = (unsigned)cell->t_start_ns[i];
    }
    return 0;
}

/* Reads null, or n_ranks arrays of n_samples numbers. It checks lengths first, and then allocates
 * memory. */
static int read_ranks(const json_t *value, const char *name, const struct source *source,
                      size_t n_ranks, uint64_t **times, struct text_error *err)
{
    struct series series[RECORD_MAX_RANKS];
    if (json_is_null(value)) {
        return 0;
    }
    if (!json_is_array(value)) {
        return record_fail(err, "\"%s\" is missing or no array", name);
    }
    if (json_array_size(value) != n_ranks) {
        return record_fail(err, "\"%s\" has %zu elements, expected %zu", name,
                           json_array_size(value), n_ranks);
    }
    for (size_t rank = 0; rank < n_ranks; ++rank) {
        if (!find_series(json_array_get(value, rank), source->raw, &series[rank]) ||
            series[rank].n != source->n) {
            return record_fail(err, "\"%s\" of rank %zu is not an array of %zu times", name, rank,
                               source->n);
        }
    }
    /* The product cannot overflow, because the elements were counted. It allocates one more,
     * because NULL means not measured. */
    *times = calloc(n_ranks * source->n + 1, sizeof **times);
    if (!*times) {
        return record_fail(err, "no memory for %zu times", n_ranks * source->n);
    }
    for (size_t rank = 0; rank < n_ranks; ++rank) {
        if (read_series(&series[rank], name, RECORD_EXACT_MAX, *times + rank * source->n, err) !=
            0) {
            return -1;
        }
    }
    return 0;
}

/* Reads null or nothing, or an array per turn, all of the same length. */
static int read_rounds(const struct source *source, struct record_cell *cell,
                       struct text_error *err)
{
    const json_t *rounds = json_object_get(source->object, "rounds_ns");
    for (int turn = 0; rounds && !json_is_null(rounds) && turn < RECORD_TURNS; ++turn) {
        const char *name = record_turn_names[turn];
        struct series series;
        if (!find_series(json_object_get(rounds, name), source->raw, &series) ||
            series.n > RECORD_MOST_ROUNDS || (turn > 0 && series.n != (size_t)cell->n_rounds)) {
            return record_fail(err,
                               "\"%s\" of \"rounds_ns\" is not an array of at most %d times, as "
                               "many as of the others",
                               name, RECORD_MOST_ROUNDS);
        }
        cell->n_rounds = (int)series.n;
        if (read_series(&series, name, RECORD_EXACT_MAX, cell->round_ns[turn], err) != 0) {
            return -1;
        }
    }
    return 0;
}

/* Reads null or nothing, or an array. */
static int read_alone(const struct source *source, struct record_cell *cell, struct text_error *err)
{
    const json_t *alone = json_object_get(source->object, "alone_ns");
    struct series series;
    if (!alone || json_is_null(alone)) {
        return 0;
    }
    if (!find_series(alone, source->raw, &series) || series.n > RECORD_MOST_ROUNDS) {
        return record_fail(err, "\"alone_ns\" is not an array of at most %d times",
                           RECORD_MOST_ROUNDS);
    }
    cell->n_alone = (int)series.n;
    return read_series(&series, "alone_ns", RECORD_EXACT_MAX, cell->alone_ns, err);
}

/* Reads null or nothing, or one number for each sample. */
static int read_phased(const struct source *source, struct record_cell *cell,
                       struct text_error *err)
{
    const json_t *phased = json_object_get(source->object, "phased_ns");
    if (!phased || json_is_null(phased)) {
        return 0;
    }
    cell->phased_ns = calloc(source->n + 1, sizeof cell->phased_ns[0]);
    if (!cell->phased_ns) {
        return record_fail(err, "no memory for %zu samples", source->n);
    }
    return read_times(source, "phased_ns", RECORD_EXACT_MAX, cell->phased_ns, err);
}

static int read_part(const json_t *object, const struct record_raw *raw, enum record_part part,
                     struct record_cell *cell, struct text_error *err)
{
    const char *name = record_part_names[part];
    const json_t *ns = json_object_get(object, "ns");
    const size_t rows = record_part_rows(part, cell->key.n_devices);
    json_int_t work = 0;
    struct series series = {.n = 0};
    if (record_json_integer(json_object_get(object, "work"), "work", 1, RECORD_EXACT_MAX, &work,
                            err) != 0) {
        return -1;
    }
    for (size_t row = 0; row < rows; ++row) {
        const size_t before = series.n;
        if (json_array_size(ns) != rows || !find_series(json_array_get(ns, row), raw, &series) ||
            series.n == 0 || series.n > RECORD_MOST_PARTS || (row > 0 && series.n != before)) {
            return record_fail(err,
                               "\"%s\" of \"parts\" is not %zu arrays of 1 to %d times, all of "
                               "one length",
                               name, rows, RECORD_MOST_PARTS);
        }
    }
    if (record_part_alloc(cell, part, series.n) != 0) {
        return record_fail(err, "no memory for the times of \"%s\"", name);
    }
    cell->part[part].work = (uint64_t)work;
    for (size_t row = 0; row < rows; ++row) {
        (void)find_series(json_array_get(ns, row), raw, &series);
        if (read_series(&series, name, RECORD_EXACT_MAX, cell->part[part].ns + row * series.n,
                        err) != 0) {
            return -1;
        }
    }
    return 0;
}

/* Reads nothing, or an object with the parts that were measured. */
static int read_parts(const struct source *source, struct record_cell *cell, struct text_error *err)
{
    const json_t *parts = json_object_get(source->object, "parts");
    for (int p = 0; parts && p < RECORD_PARTS; ++p) {
        const json_t *part = json_object_get(parts, record_part_names[p]);
        if (part && read_part(part, source->raw, (enum record_part)p, cell, err) != 0) {
            return -1;
        }
    }
    return 0;
}

int record_samples_from_json(const json_t *root, const struct record_raw *raw,
                             struct record_cell *cell, struct text_error *err)
{
    const struct source source = {record_json_object(root, "raw", err), raw, cell->n_samples};
    const json_t *phases =
        !source.object ? NULL : record_json_object(source.object, "phase_ns", err);
    const size_t n_ranks = (size_t)cell->n_ranks;
    struct series steps;
    if (!phases || find_times(&source, "t_step_ns", &steps, err) != 0) {
        return -1;
    }
    /* It allocates none for ranks: arrays of phases are allocated only for the phases that the
     * record has. */
    if (record_cell_alloc(cell, source.n, 0) != 0) {
        return record_fail(err, "no memory for %zu samples", source.n);
    }
    cell->n_ranks = (int)n_ranks;
    if (read_series(&steps, "t_step_ns", RECORD_EXACT_MAX, cell->t_step_ns, err) != 0 ||
        read_flags(&source, cell, err) != 0 ||
        read_times(&source, "t_start_ns", RECORD_EXACT_MAX, cell->t_start_ns, err) != 0) {
        return -1;
    }
    for (int p = 0; p < RECORD_PHASES; ++p) {
        const char *name = record_phase_names[p];
        if (read_ranks(json_object_get(phases, name), name, &source, n_ranks, &cell->phase_ns[p],
                       err) != 0) {
            return -1;
        }
    }
    if (read_rounds(&source, cell, err) != 0 || read_alone(&source, cell, err) != 0 ||
        read_phased(&source, cell, err) != 0 || read_parts(&source, cell, err) != 0) {
        return -1;
    }
    const json_t *matmul = json_object_get(source.object, "matmul_ns");
    return !matmul ? 0 : read_ranks(matmul, "matmul_ns", &source, n_ranks, &cell->matmul_ns, err);
}
