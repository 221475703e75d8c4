/* record/relations.c: what the fields of any cell say about each other, whatever its status is. A
 * record that contradicts itself was not written by a sweep. */
#include "record/json.h"

#include "dp.h"
#include "plan/cell.h"
#include "verify/collective.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* More operations, or bytes, than any device handles in a nanosecond. */
static const double MOST_RATE = 1e7;

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

static bool is_mode(const struct record_cell *cell, const char *mode)
{
    return strcmp(cell->key.mode, mode) == 0;
}

bool record_on_cores(const struct record_cell *cell)
{
    struct dp_kind_row kind;

    return dp_kind_of(cell->key.devices, &kind) && kind.flags & DP_KIND_CORES;
}

/* Checks numbers that are never more than another one. */
static int check_order(const struct record_cell *cell, struct text_error *err)
{
    /* A process that sent no record: the parent wrote it. */
    const bool silent = cell->status == RECORD_CRASHED || cell->status == RECORD_TIMEOUT ||
                        cell->status == RECORD_SKIPPED;
    const size_t n = cell->n_samples;
    const double end =
        n == 0 ? 0 : (double)cell->t_start_ns[n - 1] + (double)record_sample_ns(cell, n - 1);
    const double begin = (double)cell->setup_ns, wall = (double)cell->wall_ns;
    const struct record_bound rows[] = {
        {"steps_checked", (double)cell->steps_checked, 0, (double)n},
        {"first_bad_step", (double)cell->first_bad_step, -1, (double)n},
        {"devices_ns\", \"probe_ns\" and \"reference_ns",
         (double)cell->devices_ns + (double)cell->probe_ns + (double)cell->reference_ns, 0, begin},
        /* Ticks of the kernel are coarse. Both may be unknown. */
        {"foreign_frac\" and \"steal_frac", fmax(cell->foreign_frac + cell->steal_frac, 0), 0, 1.1},
        {"hosts", cell->hosts, 0,
         cell->key.per_process > 0 ? cell->key.n_devices / (double)cell->key.per_process : 0},
        {"setup_ns\", and the end of the last step and of rounds, in \"wall_ns",
         begin + end + 1e9 * record_timed(cell).beside, 0, wall},
        {"setup_ns\" and \"verify_ns\", in \"wall_ns", begin + (double)cell->verify_ns, 0, wall},
        {"wall_ns\" less a tenth, in \"launch_ns", cell->launch_ns == 0 ? 0 : 0.9 * wall, 0,
         (double)cell->launch_ns},
        {"start_epoch_ns", (double)cell->start_epoch_ns, n > 0, INFINITY},
        {"n_samples", (double)n, 0, silent ? 0 : INFINITY},
    };

    return record_check_bounds(rows, sizeof rows / sizeof rows[0], err);
}

/* Checks that steps do not overlap, and that their flags are known. */
static int check_starts(const struct record_cell *cell, struct text_error *err)
{
    const unsigned known = RECORD_WARMUP | RECORD_BAD_VALUES | RECORD_MILD | RECORD_SEVERE;
    uint64_t end = 0;
    long first_bad = -1;

    for (size_t i = 0; i < cell->n_samples; ++i) {
        if (i == 0 ? cell->t_start_ns[0] != 0 : cell->t_start_ns[i] < end) {
            return record_fail(err,
                               "\"t_start_ns\" of step %zu is %" PRIu64 ", but %s %" PRIu64
                               ": steps do not overlap",
                               i, cell->t_start_ns[i],
                               i == 0 ? "the first starts at" : "the one before ends at", end);
        }
        end = cell->t_start_ns[i] + record_sample_ns(cell, i);
        if ((cell->flags[i] & ~known) != 0) {
            return record_fail(err, "\"flags\" of step %zu is %u, which has an unknown bit", i,
                               cell->flags[i]);
        }
        if (first_bad < 0 && (cell->flags[i] & RECORD_BAD_VALUES) != 0)
            first_bad = (long)i;
    }
    return first_bad < 0 || first_bad == cell->first_bad_step
               ? 0
               : record_fail(err, "\"first_bad_step\" is %ld, but \"flags\" has %ld",
                             cell->first_bad_step, first_bad);
}

/* Checks that a part of a step is not longer than the step. */
static int check_part(const struct record_cell *cell, const char *name, const uint64_t *ns,
                      struct text_error *err)
{
    const size_t n = cell->n_samples;

    for (size_t rank = 0; ns && rank < (size_t)cell->n_ranks; ++rank, ns += n) {
        for (size_t i = 0; i < n; ++i) {
            if (ns[i] > record_phased_ns(cell, i)) {
                return record_fail(
                    err, "step %zu took %" PRIu64 " ns, but %s of replica %zu in it %" PRIu64, i,
                    record_phased_ns(cell, i), name, rank, ns[i]);
            }
        }
    }
    return 0;
}

/* Checks that a cell has nothing that its mode does not have. */
static int check_mode(const struct record_cell *cell, struct text_error *err)
{
    const bool dp = is_mode(cell, "dp"), ddp = is_mode(cell, "ddp");
    const bool collective = record_is_collective(&cell->key), trains = !collective;
    const bool cores = record_on_cores(cell);
    const bool carried = trains && cell->key.host_inputs > 0;
    bool parts = false;

    for (int p = 0; p < RECORD_PARTS; ++p)
        parts = parts || cell->part[p].ns != NULL;
    const struct {
        const char *name;
        bool here, allowed;
    } rows[] = {
        {"scatter", cell->phase_ns[RECORD_SCATTER] != NULL, dp || carried},
        {"replicate", cell->phase_ns[RECORD_REPLICATE] != NULL, dp},
        {"gather", cell->phase_ns[RECORD_GATHER] != NULL, dp},
        {"reduce", cell->phase_ns[RECORD_REDUCE] != NULL, dp || ddp},
        {"forward", cell->phase_ns[RECORD_FORWARD] != NULL, trains},
        {"loss", cell->phase_ns[RECORD_LOSS] != NULL, trains},
        {"backward", cell->phase_ns[RECORD_BACKWARD] != NULL, trains},
        {"update", cell->phase_ns[RECORD_UPDATE] != NULL, trains},
        {"matmul_ns", cell->matmul_ns != NULL, trains},
        {"phased_ns", cell->phased_ns != NULL, trains && cell->key.chain == 0},
        {"parts", parts, trains},
        {"size_bytes", cell->key.size_bytes > 0, collective},
        {"bus_factor", !isnan(cell->bus_factor), collective},
        {"rounds_ns", cell->n_rounds > 0, ddp},
        {"alone_ns", cell->n_alone > 0, dp && cell->key.n_devices > 1},
        {"compute_alone_ns", !isnan(cell->compute_alone_ns), ddp},
        {"comm_alone_ns", !isnan(cell->comm_alone_ns), ddp},
        {"whole_ns", !isnan(cell->whole_ns), ddp},
        {"hidden_frac", !isnan(cell->hidden_frac), ddp && cell->key.n_devices > 1},
        {"bytes_per_step", cell->bytes_per_step > 0,
         (cell->key.n_devices > 1 && (dp || ddp || collective)) || carried || !cores},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
        if (rows[i].here && !rows[i].allowed) {
            return record_fail(err, "mode %s on %d device%s has no \"%s\"", cell->key.mode,
                               cell->key.n_devices, cell->key.n_devices == 1 ? "" : "s",
                               rows[i].name);
        }
    }
    return 0;
}

/* Checks that the times of the three turns are the medians of their rounds, if these were kept. */
static int check_rounds(const struct record_cell *cell, struct text_error *err)
{
    struct record_cell again = *cell;

    record_derive_rounds(&again);
    const struct record_bound rows[] = {
        {"rounds_ns", cell->n_rounds, RECORD_LEAST_ROUNDS, RECORD_MOST_ROUNDS},
        {"compute_alone_ns", cell->compute_alone_ns, again.compute_alone_ns,
         again.compute_alone_ns},
        {"comm_alone_ns", cell->comm_alone_ns, again.comm_alone_ns, again.comm_alone_ns},
        {"whole_ns", cell->whole_ns, again.whole_ns, again.whole_ns},
    };
    const struct record_bound steps = {"alone_ns", cell->n_alone, RECORD_LEAST_ROUNDS,
                                       RECORD_MOST_ROUNDS};

    for (int i = 0; i < cell->n_alone; ++i)
        if (cell->alone_ns[i] == 0)
            return record_fail(err, "step %d of \"alone_ns\" took no time", i);
    return record_check_bounds(&steps, cell->n_alone > 0, err) ||
                   record_check_bounds(rows, cell->n_rounds > 0 ? sizeof rows / sizeof rows[0] : 0,
                                       err)
               ? -1
               : 0;
}

/* Checks that every measured part took time, except copies of a device to itself, which do not
 * exist. */
static int check_parts(const struct record_cell *cell, struct text_error *err)
{
    const size_t devices = (size_t)cell->key.n_devices;

    for (int p = 0; p < RECORD_PARTS; ++p) {
        const struct record_part_times *times = &cell->part[p];

        for (size_t i = 0; times->ns && i < times->rows * times->n; ++i) {
            const size_t row = i / times->n;
            const bool none = p == RECORD_COPY && row / devices == row % devices;

            if ((times->ns[i] == 0) != none || times->ns[i] > cell->wall_ns ||
                (!none && (double)times->work > MOST_RATE * (double)times->ns[i])) {
                return record_fail(
                    err,
                    "sample %zu of row %zu of \"%s\" took %" PRIu64 " ns for \"work\" %" PRIu64,
                    i % times->n, row, record_part_names[p], times->ns[i], times->work);
            }
        }
    }
    return 0;
}

/* Checks that the warm-up is as its rule says: it begins with the first step and ends with a step.
 * A rule of older records has another form; it depended on the times of steps. */
static int check_warmup(const struct record_cell *cell, struct text_error *err)
{
    const size_t steps = cell->warmup_steps;
    size_t least = 0, most = 0;
    double seconds = 0;

    if (cell->status != RECORD_OK || steps >= cell->n_samples ||
        sscanf(cell->warmup_rule, "at least %zu steps and %lf s, at most %zu steps", &least,
               &seconds, &most) != 3)
        return 0;
    const double passed = (double)cell->t_start_ns[steps] / 1e9;

    return cell->steady_state && steps >= least && steps <= most &&
                   (steps == most || !(passed < seconds))
               ? 0
               : record_fail(err,
                             "\"warmup_steps\" is %zu, %g s before the first measured step, and "
                             "\"steady_state\" %s, but \"warmup_rule\" is \"%.90s\"",
                             steps, passed, cell->steady_state ? "true" : "false",
                             cell->warmup_rule);
}

/* Checks that what the record of a collective says about it is consistent, and that it has nothing
 * that only training has. */
static int check_collective(const struct record_cell *cell, struct text_error *err)
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

int record_check_fields(const struct record_cell *cell, struct text_error *err)
{
    if ((cell->status == RECORD_OK) != (cell->reason[0] == '\0')) {
        return record_fail(err, "\"status\" is %s, but \"reason\" is %s",
                           record_status_names[cell->status],
                           cell->reason[0] == '\0' ? "empty" : "not empty");
    }
    if (check_starts(cell, err) != 0 || check_order(cell, err) != 0 || check_mode(cell, err) != 0 ||
        check_rounds(cell, err) != 0 || check_parts(cell, err) != 0)
        return -1;
    if (check_warmup(cell, err) != 0 || check_collective(cell, err) != 0)
        return -1;
    for (int p = 0; p < RECORD_PHASES; ++p)
        if (check_part(cell, record_phase_names[p], cell->phase_ns[p], err) != 0)
            return -1;
    return check_part(cell, "matrix products", cell->matmul_ns, err);
}
