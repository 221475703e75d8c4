/* record_check.c: what a cell's record must show before its "ok" is believed.
 *
 * A record comes from a worker process or from a file: it is evidence, not a claim. Whatever can
 * be recomputed from the raw samples is recomputed and must agree. */
#include "record_json.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int check_steps(const struct record_cell *cell, struct record_error *err)
{
    if (!cell->validated || cell->values_checked == 0) {
        return record_fail(err, "\"status\" is ok, but no value was checked");
    }
    if (cell->steps_checked != cell->n_samples || cell->first_bad_step != -1) {
        return record_fail(err,
                           "\"status\" is ok, but %zu of %zu steps were checked, first bad %ld",
                           cell->steps_checked, cell->n_samples, cell->first_bad_step);
    }
    for (size_t i = 0; i < cell->n_samples; ++i) {
        if ((cell->flags[i] & RECORD_BAD_VALUES) != 0 || cell->t_step_ns[i] == 0) {
            return record_fail(err, "\"status\" is ok, but step %zu %s", i,
                               cell->t_step_ns[i] == 0 ? "took no time" : "has bad values");
        }
    }
    return 0;
}

/* The devices of "virt:N" and "virt:N+lag"; -1 for lists of another kind. */
static int listed_devices(const char *devices)
{
    int n = -1;
    return sscanf(devices, "virt:%d", &n) == 1 ? n : -1;
}

static int check_devices(const struct record_cell *cell, struct record_error *err)
{
    const struct record_key *key = &cell->key;
    const int listed = listed_devices(key->devices);
    if (key->n_devices < 1 || (listed >= 0 && listed != key->n_devices)) {
        return record_fail(err, "\"status\" is ok, but %d devices ran on '%.40s'", key->n_devices,
                           key->devices);
    }
    size_t rows = 0;
    for (int s = 0; s < cell->n_shards; ++s) {
        rows = cell->shard[s] > SIZE_MAX - rows ? SIZE_MAX : rows + cell->shard[s];
    }
    if (key->global_batch == 0 || rows != key->global_batch) {
        return record_fail(err, "\"status\" is ok, but %d shards have %zu of %zu rows",
                           cell->n_shards, rows, key->global_batch);
    }
    if (cell->n_ranks < cell->n_shards || cell->n_ranks > key->n_devices) {
        return record_fail(err,
                           "\"status\" is ok, but there are %d ranks for %d shards on %d devices",
                           cell->n_ranks, cell->n_shards, key->n_devices);
    }
    return 0;
}

/* Every replica that got rows worked, and the first one had the loss and the update. */
int record_check_phases(const struct record_cell *cell, struct record_error *err)
{
    static const enum record_phase needed[] = {RECORD_FORWARD, RECORD_BACKWARD, RECORD_LOSS,
                                               RECORD_UPDATE};
    for (size_t k = 0; k < sizeof needed / sizeof needed[0]; ++k) {
        const enum record_phase phase = needed[k];
        const int ranks = phase == RECORD_LOSS || phase == RECORD_UPDATE ? 1 : cell->n_shards;
        const uint64_t *ns = cell->phase_ns[phase];
        for (int r = 0; r < ranks; ++r) {
            uint64_t longest = 0;
            for (size_t i = 0; ns != NULL && i < cell->n_samples; ++i) {
                const uint64_t time = ns[(size_t)r * cell->n_samples + i];
                longest = time > longest ? time : longest;
            }
            if (longest == 0) {
                return record_fail(err, "no step has a time for %s of replica %d",
                                   record_phase_names[phase], r);
            }
        }
    }
    return 0;
}

static bool same(double a, double b)
{
    return memcmp(&a, &b, sizeof a) == 0 || (isnan(a) && isnan(b));
}

static bool same_summary(const struct record_cell *a, const struct record_cell *b)
{
    const double pairs[][2] = {
        {a->median_ns, b->median_ns},
        {a->mean_ns, b->mean_ns},
        {a->min_ns, b->min_ns},
        {a->max_ns, b->max_ns},
        {a->p05_ns, b->p05_ns},
        {a->p25_ns, b->p25_ns},
        {a->p75_ns, b->p75_ns},
        {a->p95_ns, b->p95_ns},
        {a->ci_lo_ns, b->ci_lo_ns},
        {a->ci_hi_ns, b->ci_hi_ns},
        {a->cv, b->cv},
        {a->rho1, b->rho1},
        {a->n_eff, b->n_eff},
        {a->throughput_samples_per_s, b->throughput_samples_per_s},
        {(double)a->n_valid, (double)b->n_valid},
    };
    bool equal = true;
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; ++i) {
        equal = equal && same(pairs[i][0], pairs[i][1]);
    }
    for (int p = 0; p < RECORD_PHASES; ++p) {
        equal = equal && same(a->phase_median_ns[p], b->phase_median_ns[p]);
    }
    return equal;
}

/* Derives everything again from the samples. The flags are put back: deriving sets some. */
static int check_summary(const struct record_cell *cell, struct record_error *err)
{
    struct record_cell again = *cell;
    again.flags = calloc(cell->n_samples + 1, sizeof again.flags[0]);
    if (again.flags == NULL) {
        return record_fail(err, "no memory to check a record");
    }
    memcpy(again.flags, cell->flags, cell->n_samples * sizeof again.flags[0]);
    const int status = record_derive(&again);
    free(again.flags);
    if (status != 0) {
        return record_fail(err, "no memory to check a record");
    }
    if (again.n_valid == 0) {
        return record_fail(err, "\"status\" is ok, but no step was measured");
    }
    if (!same_summary(cell, &again)) {
        return record_fail(err, "the summary is not that of the samples: median %.17g, not %.17g",
                           cell->median_ns, again.median_ns);
    }
    return 0;
}

int record_check_ok(const struct record_cell *cell, struct record_error *err)
{
    if (check_steps(cell, err) != 0 || check_devices(cell, err) != 0 ||
        record_check_phases(cell, err) != 0) {
        return -1;
    }
    return check_summary(cell, err);
}
