/* record/check.c: what the record of a cell must show before its "ok" is believed.
 *
 * A record comes from a worker process or from a file: it is evidence, not a claim. Every value
 * that can be recomputed from the raw samples is recomputed, and must agree. */
#include "record/json.h"

#include "command/device_list.h"
#include "numbers/stats.h"
#include "plan/plan.h"
#include "text/alloc.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double CLOCK_WITHIN = 0.005;

static int check_steps(const struct record_cell *cell, struct text_error *err)
{
    const struct record_bound rows[] = {
        {"validated", cell->validated, 1, 1},
        {"values_checked", (double)cell->values_checked, 1, INFINITY},
        {"steps_checked", (double)cell->steps_checked, (double)cell->n_samples,
         (double)cell->n_samples},
        {"first_bad_step", (double)cell->first_bad_step, -1, -1},
    };

    for (size_t i = 0; i < cell->n_samples; ++i) {
        if ((cell->flags[i] & RECORD_BAD_VALUES) != 0 || cell->t_step_ns[i] == 0) {
            return record_fail(err, "\"status\" is ok, but step %zu %s", i,
                               cell->t_step_ns[i] == 0 ? "took no time" : "has bad values");
        }
        if ((cell->flags[i] & RECORD_WARMUP) != 0 && i >= cell->warmup_steps) {
            return record_fail(err, "step %zu is left out as warm-up, which ended after %zu steps",
                               i, cell->warmup_steps);
        }
    }
    return record_check_bounds(rows, sizeof rows / sizeof rows[0], err);
}

/* Checks that the rows of the replicas are how the mode splits the batch; a collective has none.
 * Each replica gets the ceiling of rows / devices, and the last one what is left. In mode ddp all
 * ranks have equal numbers of rows, except that the first ones may have one more. */
static int check_split(const struct record_cell *cell, struct text_error *err)
{
    const struct record_key *key = &cell->key;
    const bool none = record_is_collective(key);
    const bool ddp = strcmp(key->mode, "ddp") == 0;
    const size_t n = strcmp(key->mode, "plain-mt") == 0 ? 1 : (size_t)key->n_devices;
    const size_t batch = key->global_batch;
    size_t rows = 0;
    bool split = none || (batch > 0 && key->n_devices > 0);

    for (size_t s = 0; s < (size_t)cell->n_shards; ++s) {
        const size_t part = split ? (batch + n - 1) / n : 0;
        const size_t rest = s * part < batch ? batch - s * part : 0;
        size_t share = rest < part ? rest : part;

        if (ddp && split)
            share = batch / n + (s < batch % n);
        rows = cell->shard[s] > SIZE_MAX - rows ? SIZE_MAX : rows + cell->shard[s];
        split = split && cell->shard[s] == share && share > 0;
    }
    const double values = record_collective_values(cell) * (double)cell->n_samples;
    /* A device list of an unknown kind is not judged. */
    struct dp_kind_row kind;
    const bool known = strchr(key->devices, ':') && dp_kind_of(key->devices, &kind);
    const int listed = known ? device_list_count(key->devices) : key->n_devices;
    const struct record_bound bounds[] = {
        {"n_devices", key->n_devices, 1, strcmp(key->mode, "plain") == 0 ? 1 : RECORD_MAX_RANKS},
        {"n_devices", key->n_devices, listed, listed},
        {"n_ranks", cell->n_ranks, key->n_devices, key->n_devices},
        {"shard_rows", cell->n_shards, 0, none ? 0 : key->n_devices},
        {"shard_rows", (double)rows, (double)key->global_batch, (double)key->global_batch},
        /* A collective checks every number of every rank, in every iteration. */
        {"values_checked", (double)cell->values_checked, none ? values : 0,
         none ? values : INFINITY},
    };

    if (record_check_bounds(bounds, sizeof bounds / sizeof bounds[0], err) != 0)
        return -1;
    return split
               ? 0
               : record_fail(err, "\"shard_rows\" is not how mode %s splits %zu rows on %d devices",
                             key->mode, key->global_batch, key->n_devices);
}

bool record_clock_holds(double ratio)
{
    return fabs(ratio - 1) <= CLOCK_WITHIN;
}

/* Every replica that got rows must have worked in every step that counts. In DataParallel only the
 * first one has the loss and the update; in DistributedDataParallel every rank has its own. If
 * inputs start on the host, every replica also has a scatter. The phases of a chain on GPUs are not
 * known. */
static int check_phases(const struct record_cell *cell, struct text_error *err)
{
    static const enum record_phase needed[] = {RECORD_FORWARD, RECORD_BACKWARD, RECORD_LOSS,
                                               RECORD_UPDATE, RECORD_SCATTER};
    const bool without = record_is_collective(&cell->key) ||
                         (cell->key.chain > 0 && !cell->phase_ns[RECORD_FORWARD]);
    const size_t all = sizeof needed / sizeof needed[0] - (cell->key.host_inputs == 0);

    for (size_t k = 0; k < (without ? 0 : all); ++k) {
        const enum record_phase phase = needed[k];
        const bool first = phase == RECORD_LOSS || phase == RECORD_UPDATE;
        const size_t ranks =
            first && strcmp(cell->key.mode, "ddp") != 0 ? 1 : (size_t)cell->n_shards;
        const uint64_t *ns = cell->phase_ns[phase];
        const size_t n = cell->n_samples;

        for (size_t at = 0; at < ranks * n; ++at)
            if (!ns || ((cell->flags[at % n] & RECORD_WARMUP) == 0 && ns[at] == 0))
                return record_fail(err,
                                   "step %zu has no time for %s of replica %zu: it was not "
                                   "recorded, or the clock is too coarse for it",
                                   at % n, record_phase_names[phase], at / n);
    }
    return 0;
}

static bool same_real(double a, double b)
{
    return a == b || (isnan(a) && isnan(b));
}

/* The hidden share follows from three times. It may be unknown for other reasons. */
static int check_beside(const struct record_cell *cell, struct text_error *err)
{
    const double hidden =
        stats_hidden(cell->compute_alone_ns, cell->comm_alone_ns, cell->whole_ns, 0);

    /* Programs that kept no rounds wrote 0 or 1 if noise put the hidden share outside of 0 to 1. */
    const bool cut = cell->n_rounds == 0 && ((hidden < 0 && cell->hidden_frac == 0) ||
                                             (hidden > 1 && cell->hidden_frac == 1));

    if (!isnan(cell->hidden_frac) && !same_real(cell->hidden_frac, hidden) && !cut) {
        return record_fail(err, "\"hidden_frac\" is %.17g, but its three times give %.17g",
                           cell->hidden_frac, hidden);
    }
    const double kernels = isnan(cell->kernels_per_step) ? 1 : cell->kernels_per_step;
    const double tokens = (double)cell->tokens_per_row * (double)cell->key.global_batch;
    const double of_token = cell->flops_per_token;
    const struct record_bound rows[] = {
        {"peak_bytes", cell->n_peaks, cell->n_peaks > 0 ? cell->key.n_devices : 0,
         cell->key.n_devices},
        {"kernels_per_step", kernels, 1, floor(kernels)},
        {"flops_per_token", tokens <= 0 && isnan(of_token) ? 0 : of_token, tokens > 0,
         tokens > 0 ? cell->flops_per_step / tokens : 0},
    };

    return record_check_bounds(rows, sizeof rows / sizeof rows[0], err);
}

int record_check_ok(const struct record_cell *cell, struct text_error *err)
{
    struct record_cell again = *cell;
    const size_t bytes = cell->n_samples * sizeof again.flags[0];
    const struct record_field *field;
    const char *other = NULL;

    /* Programs that had no probe, or did not compare their clock, wrote nothing about it. */
    const bool none = cell->probe_values == 0 && cell->probe_ns == 0;
    const double clock = isnan(cell->clock_ratio) ? 1 : cell->clock_ratio;
    const struct record_bound rows[] = {
        {"clock_ratio", clock, 1 - CLOCK_WITHIN, 1 + CLOCK_WITHIN},
        {"probe_values", (double)cell->probe_values, 1, INFINITY},
        {"probe_bound", cell->probe_bound, DBL_MIN, DBL_MAX},
        {"probe_ratio", cell->probe_ratio, 0, 1},
        {"probe_ns", (double)cell->probe_ns, 1, (double)cell->setup_ns},
    };

    if (check_steps(cell, err) != 0 || check_split(cell, err) != 0 ||
        record_check_bounds(rows, none ? 1 : sizeof rows / sizeof rows[0], err) != 0 ||
        check_phases(cell, err) != 0 || check_beside(cell, err) != 0)
        return -1;
    /* Derives everything again from the samples. It works on a copy of the flags, because
     * record_derive sets some of them. */
    again.flags = cli_alloc(cell->n_samples, sizeof again.flags[0]);
    memcpy(again.flags, cell->flags, bytes);
    record_derive(&again);
    if (memcmp(cell->flags, again.flags, bytes) != 0)
        other = "flags";
    free(again.flags);
    for (int p = RECORD_PHASES - 1; p >= 0; --p)
        if (!same_real(cell->phase_median_ns[p], again.phase_median_ns[p]))
            other = record_phase_names[p];
    if ((field = record_differs(record_derived_fields, RECORD_ALL_ROLES, cell, &again)))
        other = field->name;
    if (again.n_valid == 0)
        return record_fail(err, "\"status\" is ok, but no step was measured");
    return !other ? 0
                  : record_fail(err,
                                "\"%s\" does not follow from the samples, whose median is %.17g, "
                                "throughput %.17g",
                                other, again.median_ns, again.throughput_samples_per_s);
}

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
