/* record/read.c: converts JSON to records: the tables of fields, and what types cannot express. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "record/json.h"

/* The last rule is the promise that no cell passes wrongly. */
int record_cell_check(const struct record_cell *cell, struct text_error *err)
{
    const struct record_bound rows[] = {
        {"n_valid", (double)cell->n_valid, 0, (double)cell->n_samples},
        {"warmup_steps", (double)cell->warmup_steps, 0, (double)cell->n_samples},
    };
    char id[17];

    /* Each series of a GPU has one number for each time, and the times increase. */
    for (int g = 0; g < cell->n_gpus; ++g) {
        const struct record_during *during = &cell->gpu[g].during;
        const size_t n = during->at_ns.n;

        for (const struct record_field *f = record_during_fields; f->name; ++f) {
            const struct record_series *series = (const void *)((const char *)during + f->offset);

            if (series->n != n)
                return record_fail(err, "\"%s\" of \"during\" has %zu numbers, \"at_ns\" has %zu",
                                   f->name, series->n, n);
        }
        for (size_t i = 0; i < n; ++i)
            if (!(during->at_ns.value[i] >= (i > 0 ? during->at_ns.value[i - 1] : 0)))
                return record_fail(err, "\"at_ns\" of \"during\" goes back at %zu", i);
    }
    record_cell_id(&cell->key, id);
    if (strcmp(id, cell->cell_id) != 0)
        return record_fail(err, "\"cell_id\" is %s, but the key in \"cell\" gives %s",
                           cell->cell_id, id);
    if (record_check_bounds(rows, sizeof rows / sizeof rows[0], err) != 0)
        return -1;
    if (cell->status != RECORD_OK && cell->validated)
        return record_fail(err, "\"validated\" is true, but \"status\" is %s",
                           record_status_names[cell->status]);
    if (cell->status == RECORD_OK && record_check_ok(cell, err) != 0)
        return -1;
    return record_check_fields(cell, err);
}

int record_cell_from_json(const json_t *root, struct record_cell *cell, struct text_error *err)
{
    memset(cell, 0, sizeof *cell);
    record_unknown(record_cell_fields, cell);
    if (record_json_fields(root, record_cell_fields, cell, err) == 0 &&
        record_cell_check(cell, err) == 0)
        return 0;
    record_cell_free(cell);
    return -1;
}

int record_run_from_json(const json_t *root, struct record_run *run, struct text_error *err)
{
    static const double most_load = 1e6;
    const char *schema = json_string_value(json_object_get(root, "schema"));

    memset(run, 0, sizeof *run);
    snprintf(run->scaling, sizeof run->scaling, "strong");
    run->launches = 1;
    record_unknown(record_run_fields, run);
    if (record_json_fields(root, record_run_fields, run, err) != 0)
        return -1;
    run->clocked = schema && strtol(schema + strlen("lockstep/run/1."), NULL, 10) > 1;
    for (size_t i = 0; i < 3; ++i)
        if (run->load_avg[i] < 0 || run->load_avg[i] > most_load)
            return record_fail(err, "\"load_avg\" is %g, outside 0 to %g", run->load_avg[i],
                               most_load);
    const struct record_bound rows[] = {
        {"packages", run->packages, 0, run->pus},
        {"cores", run->cores, 0, run->pus},
        {"usable_pus", run->usable_pus, run->cores > 0, run->pus},
        {"timer_tick_ns", run->timer_tick_ns, run->cores > 0 ? 1e-3 : 0, 1e9},
        {"numa", run->node.n_numa, 0, run->numa_nodes},
    };

    return record_check_bounds(rows, sizeof rows / sizeof rows[0], err);
}

int record_end_from_json(const json_t *root, struct record_end *end, struct text_error *err)
{
    memset(end, 0, sizeof *end);
    record_unknown(record_end_fields, end);
    return record_json_fields(root, record_end_fields, end, err);
}
