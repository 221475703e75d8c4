/* report/roof_read.c: reads lockstep/limits/1.x. The file is untrusted: types and ranges are
 * checked before anything is stored, and text is cleaned. */
#include "report/roof.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "record/json.h"

enum { FILE_BYTES_MOST = 16 << 20 };
/* The range of any time in ns, any rate per ns, and any number of operations or bytes of a step. It
 * is much wider than real values, and no quotient of two values in it is infinite. */
static const double LEAST = 1e-9, MOST = 1e21;

/* ---- fields --------------------------------------------------------------------------------- */

static int read_text(const json_t *object, const char *key, char *text, size_t bytes,
                     struct text_error *err)
{
    const json_t *member = json_object_get(object, key);
    const char *value = json_string_value(member);

    if (!value || json_string_length(member) >= bytes)
        return record_fail(err, "\"%s\" is missing, no text, or longer than %zu bytes", key,
                           bytes - 1);
    snprintf(text, bytes, "%s", value);
    text_clean(text, ' ');
    return 0;
}

static int read_count(const json_t *object, const char *key, json_int_t min, size_t *count,
                      struct text_error *err)
{
    json_int_t number = 0;

    if (record_json_integer(json_object_get(object, key), key, min, RECORD_EXACT_MAX, &number, err))
        return -1;
    *count = (size_t)number;
    return 0;
}

/* Reads a number that is at least least; 0 is accepted only if least is 0. */
static int read_number(const json_t *value, const char *key, double least, double *number,
                       struct text_error *err)
{
    *number = json_number_value(value);
    if (json_is_number(value) && *number >= least && *number <= MOST)
        return 0;
    return record_fail(err, "\"%s\" is missing or no number of %g to %g", key, least, MOST);
}

/* Reads [middle, lo, hi], and checks that lo <= middle <= hi. */
static int read_range(const json_t *object, const char *key, struct roof_range *range,
                      struct text_error *err)
{
    const json_t *list = json_object_get(object, key);

    if (json_array_size(list) != 3)
        return record_fail(err, "\"%s\" is missing or no list of 3 numbers", key);
    if (read_number(json_array_get(list, 0), key, LEAST, &range->middle, err) ||
        read_number(json_array_get(list, 1), key, LEAST, &range->lo, err) ||
        read_number(json_array_get(list, 2), key, LEAST, &range->hi, err))
        return -1;
    if (range->lo > range->middle || range->middle > range->hi)
        return record_fail(err, "\"%s\" is %g, outside its range %g to %g", key, range->middle,
                           range->lo, range->hi);
    return 0;
}

/* ---- lines ---------------------------------------------------------------------------------- */

static enum roof_kind kind_of(int phase)
{
    static const enum roof_kind kinds[RECORD_PHASES] = {[RECORD_SCATTER] = ROOF_CARRIES,
                                                        [RECORD_REPLICATE] = ROOF_CARRIES,
                                                        [RECORD_GATHER] = ROOF_CARRIES,
                                                        [RECORD_REDUCE] = ROOF_CARRIES,
                                                        [RECORD_UPDATE] = ROOF_UPDATES};

    return phase < RECORD_PHASES ? kinds[phase] : ROOF_COMPUTES;
}

/* Reads the phase. "" is no phase, which is valid only for a product. */
static int read_phase(const json_t *object, bool product, int *phase, struct text_error *err)
{
    char name[32];

    if (read_text(object, "phase", name, sizeof name, err))
        return -1;
    for (*phase = 0; *phase < RECORD_PHASES; ++*phase)
        if (strcmp(name, record_phase_names[*phase]) == 0)
            return 0;
    return product && name[0] == '\0' ? 0 : record_fail(err, "there is no phase \"%s\"", name);
}

static int read_line(const json_t *object, bool product, struct roof_line *line,
                     struct text_error *err)
{
    line->product = product;
    if (read_phase(object, product, &line->phase, err) ||
        read_range(object, "ns", &line->work.ns, err) ||
        read_number(json_object_get(object, "flops"), "flops", 0, &line->work.flops, err) ||
        read_number(json_object_get(object, "bytes"), "bytes", 0, &line->work.bytes, err))
        return -1;
    line->work.kind = product ? ROOF_COMPUTES : kind_of(line->phase);
    if (!product)
        snprintf(line->name, sizeof line->name, "%s", record_phase_names[line->phase]);
    else if (read_text(object, "shape", line->name, sizeof line->name, err) ||
             read_count(object, "count", 1, &line->count, err))
        return -1;
    return 0;
}

static int read_lines(const json_t *object, const char *key, struct roof_workload *w,
                      struct text_error *err)
{
    const json_t *list = json_object_get(object, key);
    const size_t n = json_array_size(list);

    if (!json_is_array(list) || w->n + n > ROOF_MOST_LINES)
        return record_fail(err, "\"%s\" is missing or no list of at most %d", key, ROOF_MOST_LINES);
    for (size_t i = 0; i < n; ++i, ++w->n)
        if (read_line(json_array_get(list, i), strcmp(key, "products") == 0, &w->line[w->n], err))
            return -1;
    return 0;
}

static int read_workload(const json_t *object, struct roof_workload *w, struct text_error *err)
{
    w->line = calloc(ROOF_MOST_LINES, sizeof *w->line);
    if (!w->line)
        return record_fail(err, "no memory for %d lines", ROOF_MOST_LINES);
    if (read_text(object, "workload", w->name, sizeof w->name, err) ||
        read_count(object, "batch", 1, &w->batch, err) ||
        read_count(object, "rows", 1, &w->rows, err) ||
        read_number(json_object_get(object, "step_ns"), "step_ns", LEAST, &w->step_ns, err) ||
        read_lines(object, "phases", w, err))
        return -1;
    return read_lines(object, "products", w, err);
}

/* ---- the file ------------------------------------------------------------------------------- */

static int read_head(const json_t *root, struct roof *roof, struct text_error *err)
{
    const json_t *oversubscribed = json_object_get(root, "oversubscribed");

    if (!json_is_boolean(oversubscribed))
        return record_fail(err, "\"oversubscribed\" is missing or neither true nor false");
    roof->oversubscribed = json_is_true(oversubscribed);
    if (read_text(root, "node_hash", roof->node_hash, sizeof roof->node_hash, err) ||
        read_text(root, "machine_class", roof->machine_class, sizeof roof->machine_class, err) ||
        read_text(root, "cpu_model", roof->cpu_model, sizeof roof->cpu_model, err) ||
        read_text(root, "blas", roof->blas, sizeof roof->blas, err) ||
        read_text(root, "created_utc", roof->created_utc, sizeof roof->created_utc, err) ||
        read_text(root, "devices", roof->devices, sizeof roof->devices, err) ||
        read_text(root, "instructions", roof->instructions, sizeof roof->instructions, err))
        return -1;
    return read_count(root, "rounds", 1, &roof->rounds, err);
}

static int read_ceilings(const json_t *root, struct roof_ceilings *c, struct text_error *err)
{
    const json_t *all = record_json_object(root, "ceilings", err);
    json_int_t devices = 0;

    if (!all || record_json_integer(json_object_get(root, "n_devices"), "n_devices", 1,
                                    RECORD_MAX_RANKS, &devices, err))
        return -1;
    c->devices = (int)devices;
    for (int r = 0; r < ROOF_RATES; ++r) {
        const json_t *rate = record_json_object(all, roof_rate_keys[r], err);

        for (int way = 0; rate && way < ROOF_WAYS; ++way)
            if (read_range(rate, roof_way_keys[way], &c->rate[r][way], err))
                return -1;
        if (!rate)
            return -1;
    }
    return 0;
}

static int read_all(const json_t *root, struct roof *roof, struct text_error *err)
{
    const json_t *list = json_object_get(root, "workloads");
    const size_t n = json_array_size(list);

    if (record_json_schema(root, "limits", err) || read_head(root, roof, err) ||
        read_ceilings(root, &roof->ceilings, err))
        return -1;
    if (n < 1 || n > ROOF_MOST_WORKLOADS)
        return record_fail(err, "\"workloads\" is missing or no list of 1 to %d",
                           ROOF_MOST_WORKLOADS);
    roof->workload = calloc(n, sizeof *roof->workload);
    if (!roof->workload)
        return record_fail(err, "no memory for %zu workloads", n);
    for (size_t i = 0; i < n; ++i) {
        ++roof->n;
        if (read_workload(json_array_get(list, i), &roof->workload[i], err))
            return -1;
    }
    return 0;
}

struct roof *roof_read(const char *path, struct text_error *err)
{
    struct text_error why = {{0}};
    json_t *root = record_json_file(path, FILE_BYTES_MOST, &why);
    struct roof *roof = root ? calloc(1, sizeof *roof) : NULL;

    if (root && !roof)
        record_fail(&why, "no memory for the limits");
    if (roof && read_all(root, roof, &why) != 0) {
        roof_free(roof);
        roof = NULL;
    }
    json_decref(root);
    if (!roof)
        record_fail(err, "%.100s: %.150s", path, why.text);
    return roof;
}
