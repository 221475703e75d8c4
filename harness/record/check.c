/* record/check.c: what a cell's record must show before its "ok" is believed.
 *
 * A record comes from a worker process or from a file: it is evidence, not a claim. Whatever can
 * be recomputed from the raw samples is recomputed and must agree. */
#include "record/json.h"

#include "command/device_list.h"
#include "numbers/stats.h"
#include "record/plan.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int check_steps(const struct record_cell *cell, struct text_error *err)
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
        if ((cell->flags[i] & RECORD_WARMUP) != 0 && i >= cell->warmup_steps) {
            return record_fail(err, "step %zu is left out as warm-up, which ended after %zu steps",
                               i, cell->warmup_steps);
        }
    }
    return 0;
}

/* Whether a list names n devices; lists of an unknown kind are not judged. */
static bool lists_devices(const char *devices, int n)
{
    struct dp_kind_row kind;
    return !strchr(devices, ':') || !dp_kind_of(devices, &kind) || device_list_count(devices) == n;
}

/* Ceiling of rows / devices, and the last what is left; of ranks: as many, or one more. */
static size_t rows_of(const struct record_key *key, size_t i)
{
    const size_t n = strcmp(key->mode, "plain-mt") == 0 ? 1 : (size_t)key->n_devices;
    const size_t rows = key->global_batch;
    const size_t part = (rows + n - 1) / n, rest = i * part < rows ? rows - i * part : 0;
    if (strcmp(key->mode, "ddp") == 0) {
        return rows / n + (i < rows % n);
    }
    return rest < part ? rest : part;
}

/* Rows of each replica are how the mode splits the batch. */
static int check_shards(const struct record_cell *cell, struct text_error *err)
{
    const struct record_key *key = &cell->key;
    size_t rows = 0;
    bool split = true;
    for (int s = 0; s < cell->n_shards; ++s) {
        rows = cell->shard[s] > SIZE_MAX - rows ? SIZE_MAX : rows + cell->shard[s];
        split = split && cell->shard[s] == rows_of(key, (size_t)s) && cell->shard[s] > 0;
    }
    if (key->global_batch == 0 || rows != key->global_batch) {
        return record_fail(err, "\"status\" is ok, but %d shards have %zu of %zu rows",
                           cell->n_shards, rows, key->global_batch);
    }
    if (cell->n_shards > key->n_devices || cell->n_ranks != key->n_devices) {
        return record_fail(err,
                           "\"status\" is ok, but there are %d ranks for %d shards on %d devices",
                           cell->n_ranks, cell->n_shards, key->n_devices);
    }
    return split
               ? 0
               : record_fail(err, "\"shard_rows\" is not how mode %s splits %zu rows on %d devices",
                             key->mode, key->global_batch, key->n_devices);
}

/* Of a collective every number of every rank, in every iteration. */
static int check_iterations(const struct record_cell *cell, struct text_error *err)
{
    const double values = record_collective_values(cell) * (double)cell->n_samples;
    if (cell->n_ranks != cell->key.n_devices || cell->n_shards != 0) {
        return record_fail(err,
                           "\"status\" is ok, but a collective of %d devices has %d ranks and %d "
                           "shards",
                           cell->key.n_devices, cell->n_ranks, cell->n_shards);
    }
    return (double)cell->values_checked == values
               ? 0
               : record_fail(err, "\"values_checked\" is %zu, but %zu iterations of %s have %.0f",
                             cell->values_checked, cell->n_samples, cell->key.workload, values);
}

static int check_devices(const struct record_cell *cell, struct text_error *err)
{
    const struct record_key *key = &cell->key;
    if (key->n_devices < 1 || !lists_devices(key->devices, key->n_devices)) {
        return record_fail(err, "\"status\" is ok, but %d devices ran on '%.40s'", key->n_devices,
                           key->devices);
    }
    if (strcmp(key->mode, "plain") == 0 && key->n_devices != 1) {
        return record_fail(err,
                           "\"status\" is ok, but the model alone, mode plain, ran on %d devices",
                           key->n_devices);
    }
    return record_is_collective(key) ? check_iterations(cell, err) : check_shards(cell, err);
}

/* Programs without a probe wrote nothing of one. */
static int check_probe(const struct record_cell *cell, struct text_error *err)
{
    const bool none = cell->probe_values == 0 && cell->probe_ns == 0;
    const bool within = cell->probe_bound > 0 && cell->probe_bound < INFINITY &&
                        cell->probe_ratio >= 0 && cell->probe_ratio <= 1;
    if (none || (within && cell->probe_values > 0 && cell->probe_ns <= cell->setup_ns)) {
        return 0;
    }
    return record_fail(err,
                       "\"status\" is ok, but its probe has %zu values, %g of %g ns, bound %g, "
                       "difference %g of it",
                       cell->probe_values, (double)cell->probe_ns, (double)cell->setup_ns,
                       cell->probe_bound, cell->probe_ratio);
}

bool record_clock_holds(double ratio)
{
    return fabs(ratio - 1) <= 0.005;
}

/* Programs that did not compare their clock wrote nothing of it. */
static int check_clock(const struct record_cell *cell, struct text_error *err)
{
    return isnan(cell->clock_ratio) || record_clock_holds(cell->clock_ratio)
               ? 0
               : record_fail(
                     err, "\"status\" is ok, but \"clock_ratio\" is %.6g, outside 0.995 to 1.005",
                     cell->clock_ratio);
}

/* The first step without a time for that phase of that replica, or the number of steps. */
static size_t step_without_time(const struct record_cell *cell, enum record_phase phase, int rank)
{
    const uint64_t *ns = cell->phase_ns[phase];
    size_t i = 0;
    while (ns && i < cell->n_samples &&
           ((cell->flags[i] & RECORD_WARMUP) != 0 || ns[(size_t)rank * cell->n_samples + i] > 0)) {
        ++i;
    }
    return i;
}

/* Every replica that got rows worked in every step that counts, and the first one had the loss and
 * the update; of ranks each had its own. Where inputs start on the host each got its own, too. Of a
 * chain on GPUs nobody knows. */
int record_check_phases(const struct record_cell *cell, struct text_error *err)
{
    static const enum record_phase needed[] = {RECORD_FORWARD, RECORD_BACKWARD, RECORD_LOSS,
                                               RECORD_UPDATE, RECORD_SCATTER};
    const bool without = record_is_collective(&cell->key) ||
                         (cell->key.chain > 0 && !cell->phase_ns[RECORD_FORWARD]);
    const size_t all = sizeof needed / sizeof needed[0] - (cell->key.host_inputs == 0);
    const size_t n = without ? 0 : all;
    for (size_t k = 0; k < n; ++k) {
        const enum record_phase phase = needed[k];
        const bool first = phase == RECORD_LOSS || phase == RECORD_UPDATE;
        const int ranks = first && strcmp(cell->key.mode, "ddp") != 0 ? 1 : cell->n_shards;
        for (int r = 0; r < ranks; ++r) {
            const size_t step = step_without_time(cell, phase, r);
            if (step < cell->n_samples) {
                return record_fail(err,
                                   "step %zu has no time for %s of replica %d: it was not "
                                   "recorded, or the clock is too coarse for it",
                                   step, record_phase_names[phase], r);
            }
        }
    }
    return 0;
}

static bool same(double a, double b)
{
    return a == b || (isnan(a) && isnan(b));
}

static bool same_summary(const struct record_cell *a, const struct record_cell *b)
{
    bool equal = !record_differs(record_derived_fields, RECORD_ALL_ROLES, a, b);
    for (int p = 0; p < RECORD_PHASES; ++p) {
        equal = equal && same(a->phase_median_ns[p], b->phase_median_ns[p]);
    }
    return equal && memcmp(a->flags, b->flags, a->n_samples * sizeof a->flags[0]) == 0;
}

/* A mode that is none has no axes. */
static bool has_axis(const struct plan_axis *axis, const char *mode)
{
    for (int i = 0; i < CELL_MODES; ++i) {
        if (axis->modes & 1u << i && strcmp(mode, cell_mode_names[i]) == 0) {
            return true;
        }
    }
    return false;
}

static int check_axes(const struct record_cell *cell, struct text_error *err)
{
    for (size_t i = 0; i < PLAN_OPTIONS; ++i) {
        const struct plan_axis *axis = &plan_option_table[i].axis;
        const size_t value =
            axis->modes != 0 ? plan_axis_number(axis, &cell->key, axis->in_key) : 0;

        if (value > 0 && !has_axis(axis, cell->key.mode)) {
            return record_fail(err, "mode %s has no %s, but \"%s\" is %zu", cell->key.mode,
                               axis->things, axis->field, value);
        }
    }
    return 0;
}

/* Programs that kept no rounds wrote 0 or 1 for what noise puts outside of 0 to 1. */
static bool is_cut(const struct record_cell *cell, double hidden)
{
    return cell->n_rounds == 0 &&
           ((hidden < 0 && cell->hidden_frac == 0) || (hidden > 1 && cell->hidden_frac == 1));
}

/* What a token takes is never more than what its step computes. */
static int check_tokens(const struct record_cell *cell, struct text_error *err)
{
    const double tokens = (double)cell->tokens_per_row * (double)cell->key.global_batch;
    if (cell->tokens_per_row == 0) {
        return isnan(cell->flops_per_token)
                   ? 0
                   : record_fail(err, "\"flops_per_token\" is %.17g, but rows have no tokens",
                                 cell->flops_per_token);
    }
    if (isnan(cell->flops_per_token))
        return record_fail(err, "\"flops_per_token\" is null, but rows have %zu tokens",
                           cell->tokens_per_row);
    return cell->flops_per_token > 0 && tokens * cell->flops_per_token <= cell->flops_per_step
               ? 0
               : record_fail(err,
                             "\"flops_per_token\" is %.17g: %zu rows of %zu tokens take more than "
                             "the %.17g of \"flops_per_step\"",
                             cell->flops_per_token, cell->key.global_batch, cell->tokens_per_row,
                             cell->flops_per_step);
}

/* What is hidden follows from three times; that it is unknown may have other reasons. */
static int check_beside(const struct record_cell *cell, struct text_error *err)
{
    const double hidden =
        stats_hidden(cell->compute_alone_ns, cell->comm_alone_ns, cell->whole_ns, 0);
    if (!isnan(cell->hidden_frac) && !same(cell->hidden_frac, hidden) && !is_cut(cell, hidden)) {
        return record_fail(err, "\"hidden_frac\" is %.17g, but its three times give %.17g",
                           cell->hidden_frac, hidden);
    }
    if (check_axes(cell, err) != 0) {
        return -1;
    }
    if (cell->n_peaks != 0 && cell->n_peaks != cell->key.n_devices) {
        return record_fail(err, "\"peak_bytes\" is of %d devices, not of %d", cell->n_peaks,
                           cell->key.n_devices);
    }
    if (cell->kernels_per_step < 1 || cell->kernels_per_step > floor(cell->kernels_per_step)) {
        return record_fail(err, "\"kernels_per_step\" is %.17g, not a number of launches",
                           cell->kernels_per_step);
    }
    return 0;
}

/* Derives everything again from the samples, with flags of its own: deriving sets some. */
static int check_summary(const struct record_cell *cell, struct text_error *err)
{
    struct record_cell again = *cell;
    again.flags = calloc(cell->n_samples + 1, sizeof again.flags[0]);
    if (!again.flags) {
        return record_fail(err, "no memory to check a record");
    }
    memcpy(again.flags, cell->flags, cell->n_samples * sizeof again.flags[0]);
    const int status = record_derive(&again);
    const bool equal = status == 0 && same_summary(cell, &again);
    free(again.flags);
    if (status != 0) {
        return record_fail(err, "no memory to check a record");
    }
    if (again.n_valid == 0) {
        return record_fail(err, "\"status\" is ok, but no step was measured");
    }
    if (!equal) {
        return record_fail(err,
                           "the summary does not follow from the samples, whose median is %.17g, "
                           "throughput %.17g",
                           again.median_ns, again.throughput_samples_per_s);
    }
    return 0;
}

int record_check_ok(const struct record_cell *cell, struct text_error *err)
{
    if (check_steps(cell, err) != 0 || check_devices(cell, err) != 0 ||
        check_probe(cell, err) != 0 || check_clock(cell, err) != 0 ||
        record_check_phases(cell, err) != 0 || check_tokens(cell, err) != 0 ||
        check_beside(cell, err) != 0) {
        return -1;
    }
    return check_summary(cell, err);
}
