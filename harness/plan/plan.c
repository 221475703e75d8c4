/* plan/plan.c: from the options of a sweep to its list of cells.
 *
 * The order is a function of seed and grid only, so that a resumed sweep has the same one. Launches
 * are blocks: what drifts over the time of a sweep meets all cells alike. In a block, the cells of
 * a workload and batch are neighbours. */
#include "plan/plan.h"
#include "numbers/random.h"

#include "command/device_list.h"
#include "verify/verify.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int default_counts(struct plan_options *options, int n_devices)
{
    const size_t all = (size_t)n_devices, least = options->mode[CELL_COLLECTIVE] ? 2 : 1;

    for (size_t count = least; count < all; count *= 2)
        options->count[options->n_counts++] = count;
    options->count[options->n_counts++] = all;
    return 0;
}

static void default_batches(struct plan_options *options)
{
    static const size_t batches[] = {10, 30, 32, 64, 128, 256, 512, 1024, 2048, 4096};

    memcpy(options->batch, batches, sizeof batches);
    options->n_batches = sizeof batches / sizeof batches[0];
}

static int default_workloads(struct plan_options *options)
{
    static const char *const names[] = {"tutorial", "mlp:1024,1024,1024,1024"};
    char why[200];

    for (size_t i = 0; i < sizeof names / sizeof names[0]; ++i)
        if (workload_parse(names[i], &options->workload[options->n_workloads++], why, sizeof why))
            return -1;
    return 0;
}

/* The most steps whose record is surely short enough, on so many devices. Of a step it has two
 * times and a flag, and per device a time of each phase and of matrix products; no time is longer
 * than a day. */
static size_t steps_that_fit(size_t n_devices)
{
    const size_t number = sizeof "86400000000000," - 1, others = 64 * 1024;
    const size_t step = number * (3 + (RECORD_PHASES + 1) * n_devices);

    return (RECORD_LINE_BYTES - others) / step - CELL_WARMUP_MAX;
}

static int check_steps(const struct plan_options *options, struct text_error *why)
{
    for (size_t i = 0; i < options->n_counts; ++i) {
        const size_t most = steps_that_fit(options->count[i]);

        if (options->limits.max_steps > most)
            return text_fail(
                why,
                "--steps %zu:%zu: the record of a cell with %zu device%s could be longer than "
                "%zu MiB; at most %zu steps are allowed",
                options->limits.min_steps, options->limits.max_steps, options->count[i],
                options->count[i] == 1 ? "" : "s", RECORD_LINE_BYTES >> 20, most);
    }
    return 0;
}

/* The model alone is on one device: it must not look as if more were asked for in vain. */
static int plain_counts(struct plan_options *options, struct text_error *why)
{
    if (options->n_counts == 0)
        options->count[options->n_counts++] = 1;
    if (options->n_counts == 1 && options->count[0] == 1)
        return 0;
    return text_fail(why, "--counts has %zu, but --mode plain is the model alone on one device",
                     options->count[options->n_counts - 1]);
}

static int check_counts(const struct plan_options *options, int n_devices, struct text_error *why)
{
    for (size_t i = 0; i < options->n_counts; ++i) {
        if (options->count[i] > (size_t)n_devices)
            return text_fail(why, "--counts has %zu, but --devices %s has only %d device%s",
                             options->count[i], options->devices, n_devices,
                             n_devices == 1 ? "" : "s");
    }
    return 0;
}

/* A bound on a model's rounding is one on that of float. */
static int check_math(const struct plan_options *options, struct text_error *why)
{
    for (size_t i = 0; i < options->n_workloads; ++i) {
        if (workload_has_math(&options->workload[i], options->math))
            continue;
        return text_fail(why, "--workload %s rounds, and is verified with --math f32 only, not %s",
                         options->workload[i].name, dp_math_name(options->math));
    }
    return 0;
}

/* Means over ranks are verified where they are exact, and no rank may be without rows. */
static int check_ranks(const struct plan_options *options, struct text_error *why)
{
    const size_t most = options->count[options->n_counts - 1];

    for (size_t i = 0; options->mode[CELL_DDP] && i < options->n_workloads; ++i) {
        if (verify_has_ranks(&options->workload[i]))
            continue;
        return text_fail(
            why,
            "--workload %s is partly on the host, but with --mode ddp a rank has its whole "
            "model on one device",
            options->workload[i].name);
    }
    for (size_t i = 0; options->mode[CELL_DDP] && i < options->n_counts; ++i) {
        const size_t count = options->count[i];

        if ((count & (count - 1)) == 0)
            continue;
        return text_fail(
            why,
            "--counts has %zu, but --mode ddp is verified on 1, 2, 4, 8, ... devices only: "
            "the means of other counts are not exact; name the counts, like --counts 1,2",
            count);
    }
    if (!options->mode[CELL_DDP] || options->weak || options->batch[0] >= most)
        return 0;
    return text_fail(why, "--batch has %zu, but --mode ddp needs a row for each of %zu devices",
                     options->batch[0], most);
}

/* "plain,dp"; modes is a mask. */
static void mode_names(unsigned modes, char text[64])
{
    text[0] = '\0';
    for (int mode = 0; mode < CELL_MODES; ++mode)
        if (modes & 1u << mode)
            text_list(text, 64, ",", cell_mode_names[mode]);
}

/* Whether one of a mask is asked for. */
static bool has_modes(const struct plan_options *options, unsigned modes)
{
    bool any = false;

    for (int mode = 0; mode < CELL_MODES; ++mode)
        any = any || (options->mode[mode] && modes & 1u << mode);
    return any;
}

/* Nothing that was asked for may be without effect. */
static int check_axes(const struct plan_options *options, struct text_error *why)
{
    unsigned given = 0;
    char has[64], wanted[64];

    for (int mode = 0; mode < CELL_MODES; ++mode)
        given |= (unsigned)options->mode[mode] << mode;
    for (size_t i = 0; i < PLAN_OPTIONS; ++i) {
        const struct plan_option *option = &plan_option_table[i];

        if (option->axis.modes == 0 || option->axis.modes & given ||
            !plan_option_has_values(option, options))
            continue;
        mode_names(option->axis.modes, wanted);
        mode_names(given, has);
        return text_fail(why, "--%s is of --mode %s, %s; --mode %s has none", option->name, wanted,
                         option->axis.because, has);
    }
    return 0;
}

/* Both lists are ascending. */
static int check_rows(const struct plan_options *options, struct text_error *why)
{
    const size_t rows = options->batch[options->n_batches - 1];
    const size_t count = options->count[options->n_counts - 1];

    if (!options->weak || rows * count <= PLAN_MAX_ROWS)
        return 0;
    return text_fail(
        why,
        "--batch has %zu: with --scaling weak that is %zu rows on %zu devices; at most %d "
        "are allowed",
        rows, rows * count, count, PLAN_MAX_ROWS);
}

/* A reference stands beside something, and is not mode plain under another name. */
static int check_cores(const struct plan_options *options, struct text_error *why)
{
    const bool alone = !has_modes(options, ~(1u << CELL_PLAIN_MT));

    if (!options->mode[CELL_PLAIN_MT] || (!alone && options->count[options->n_counts - 1] > 1))
        return 0;
    return text_fail(
        why, "%s",
        alone ? "--mode plain-mt is a reference: add plain, dp or ddp"
              : "--mode plain-mt uses as many cores as the most devices, and --counts has only "
                "1");
}

static int check_cells(const struct plan_options *options, struct text_error *why)
{
    if (plan_cells(options) <= PLAN_MAX_CELLS)
        return 0;
    return text_fail(why, "--launches %zu of %zu cells are %zu; at most %d are allowed",
                     options->launches, plan_block(options), plan_cells(options), PLAN_MAX_CELLS);
}

static int default_training(struct plan_options *options, struct text_error *why)
{
    if (check_math(options, why))
        return -1;
    if (options->n_workloads == 0)
        default_workloads(options);
    if (options->n_batches == 0)
        default_batches(options);
    return !has_modes(options, ~(1u << CELL_PLAIN)) ? plain_counts(options, why) : 0;
}

static int check_training(const struct plan_options *options, struct text_error *why)
{
    return check_ranks(options, why) || check_cores(options, why) || check_rows(options, why) ? -1
                                                                                              : 0;
}

int plan_defaults(struct plan_options *options, int n_devices, struct text_error *why)
{
    if (n_devices < 1)
        return text_fail(why, "--devices %s has no devices to run on in parallel; use virt:N",
                         options->devices);
    if (!has_modes(options, (1u << CELL_MODES) - 1)) {
        options->mode[CELL_COLLECTIVE] = options->n_collectives > 0;
        options->mode[CELL_PLAIN] = options->mode[CELL_DP] = options->n_collectives == 0;
    }
    if (check_axes(options, why))
        return -1;
    if (options->launches == 0)
        options->launches = 1;

    const bool trains = !options->mode[CELL_COLLECTIVE];

    if (!trains && options->n_counts == 0)
        default_counts(options, n_devices);
    if (trains ? default_training(options, why)
               : plan_defaults_collectives(options, n_devices, why))
        return -1;
    if (options->n_counts == 0)
        default_counts(options, n_devices);
    return check_counts(options, n_devices, why) || plan_check_processes(options, why) ||
                   (trains && check_training(options, why)) || check_cells(options, why) ||
                   check_steps(options, why)
               ? -1
               : 0;
}

/* Numbers of devices that a mode has, and number i of them: the model alone has one, or the cores
 * of the most; the others have all that there are. */
static size_t counts_of(const struct plan_options *options, enum cell_mode mode)
{
    return cell_is_alone(mode) ? 1 : options->n_counts;
}

static size_t count_of(const struct plan_options *options, enum cell_mode mode, size_t i)
{
    if (mode == CELL_PLAIN)
        return 1;
    return options->count[mode == CELL_PLAIN_MT ? options->n_counts - 1 : i];
}

/* Of all outer axes together that a mode has, or of all others. */
static size_t values_of(const struct plan_options *options, enum cell_mode mode, bool outer)
{
    size_t n = 1;

    for (size_t i = 0; i < PLAN_OPTIONS; ++i)
        if (plan_option_table[i].axis.outer == outer)
            n *= plan_axis_count(&plan_option_table[i], options, mode);
    return n;
}

/* Cells of one workload and batch; of one collective and size. */
static size_t groups_of(const struct plan_options *options)
{
    return options->mode[CELL_COLLECTIVE] ? values_of(options, CELL_COLLECTIVE, true)
                                          : options->n_workloads * options->n_batches;
}

/* Of one workload and batch in one mode: its numbers of devices, each with all values of the axes
 * that it has. */
static size_t settings_of(const struct plan_options *options, enum cell_mode mode)
{
    const size_t n = counts_of(options, mode) * values_of(options, mode, false);

    return options->mode[mode] ? n : 0;
}

/* In all modes. */
static size_t settings(const struct plan_options *options)
{
    size_t n = 0;

    for (int mode = 0; mode < CELL_MODES; ++mode)
        n += settings_of(options, (enum cell_mode)mode);
    return n;
}

size_t plan_block(const struct plan_options *options)
{
    return groups_of(options) * settings(options);
}

size_t plan_cells(const struct plan_options *options)
{
    return options->launches * plan_block(options);
}

/* The numbers 0 .. n-1. */
static void shuffle(size_t number[], size_t n, uint64_t seed)
{
    for (size_t i = 0; i < n; ++i)
        number[i] = i;
    for (size_t i = n; i > 1; --i) {
        const size_t j = (size_t)(random_next(&seed) % i), last = number[i - 1];

        number[i - 1] = number[j];
        number[j] = last;
    }
}

/* Setting number place of the axes of a mode, the outer ones or the others: the first one in the
 * table changes fastest. */
static void set_axes(const struct plan_options *options, enum cell_mode mode, bool outer,
                     size_t place, struct cell_config *cell)
{
    for (size_t i = 0; i < PLAN_OPTIONS; ++i) {
        const struct plan_option *option = &plan_option_table[i];
        const size_t n = plan_axis_count(option, options, mode);

        if (option->axis.outer != outer)
            continue;
        if (option->axis.modes != 0)
            plan_axis_choose(option, options, mode, place % n, cell);
        place /= n;
    }
}

/* Setting number place of a group: one workload with one batch, one collective with one size. */
static void make_cell(const struct plan_options *options, size_t group, size_t place,
                      struct cell_config *cell)
{
    enum cell_mode mode = CELL_PLAIN;

    for (; place >= settings_of(options, mode); ++mode)
        place -= settings_of(options, mode);

    const size_t counts = counts_of(options, mode);
    const size_t count = count_of(options, mode, place % counts);

    set_axes(options, mode, false, place / counts, cell);
    if (mode == CELL_COLLECTIVE) {
        set_axes(options, mode, true, group, cell);
    } else {
        cell->workload = options->workload[group / options->n_batches];
        cell->rows = options->batch[group % options->n_batches] * (options->weak ? count : 1);
    }
    cell->mode = mode;
    cell->n_devices = (int)count;
    device_list_first(options->devices, count, cell->devices, sizeof cell->devices);
    memcpy(cell->backend, options->backend, sizeof cell->backend);
    cell->math = options->math;
    cell->seed = options->seed;
    cell->bind = options->bind;
    cell->no_graphs = options->no_graphs;
    cell->phases_apart = options->phases_apart;
    cell->parts = options->parts;
    cell->limits = options->limits;
}

void plan_communicator(const char *communicators, size_t i, char name[32])
{
    for (; i > 0 && *communicators != '\0'; --i) {
        communicators += strcspn(communicators, ",");
        communicators += *communicators == ',';
    }
    snprintf(name, 32, "%.*s", (int)strcspn(communicators, ","), communicators);
}

/* A cell that has been given the name that was asked for gets the one that is there. */
static void name_communicator(const struct plan_options *options, const char *communicators,
                              struct cell_config *cell)
{
    size_t i = 0;

    if (cell->per_process > 0) {
        snprintf(cell->communicator, sizeof cell->communicator, "mpi");
        return;
    }
    while (i < options->n_communicators &&
           strcmp(options->communicator[i], cell->communicator) != 0)
        ++i;
    plan_communicator(communicators, i < options->n_communicators ? i : 0, cell->communicator);
}

/* Cells that are compared, those of one workload and batch, run next to each other: a machine
 * changes less between neighbours than over a block. */
static void make_block(const struct plan_options *options, uint64_t *state, size_t order[],
                       struct cell_config *block)
{
    const size_t groups = groups_of(options), n = settings(options);
    size_t *group = order, *place = order + groups;

    shuffle(group, groups, random_next(state));
    for (size_t g = 0; g < groups; ++g) {
        shuffle(place, n, random_next(state));
        for (size_t i = 0; i < n; ++i)
            make_cell(options, group[g], place[i], block++);
    }
}

struct cell_config *plan_make(const struct plan_options *options, const char *communicators,
                              const char *run_id)
{
    const size_t n = plan_cells(options), block = plan_block(options);
    struct cell_config *cells = calloc(n, sizeof *cells);
    size_t *order = calloc(block + groups_of(options), sizeof *order);
    uint64_t state = options->seed;

    for (size_t i = 0; cells && order && i < n; i += block)
        make_block(options, &state, order, cells + i);
    free(order);
    if (!order) {
        free(cells);
        return NULL;
    }
    for (size_t i = 0; cells && i < n; ++i) {
        cells[i].launch = (int)(i / block);
        cells[i].order_index = i;
        name_communicator(options, communicators, &cells[i]);
        snprintf(cells[i].run_id, sizeof cells[i].run_id, "%s", run_id);
    }
    return cells;
}
