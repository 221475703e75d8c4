/* plan/plan.c: makes the list of cells of a sweep from its options.
 *
 * The order is a function of the seed and the grid only, so that a resumed sweep has the same
 * order. A block has one launch of each cell, so drift over the time of a sweep affects all cells
 * alike. In a block, the cells of one workload and batch follow each other. */
#include "plan/plan.h"
#include "numbers/stats.h"

#include "command/device_list.h"
#include "text/alloc.h"
#include "verify/verify.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- a cell ---------------------------------------------------------------------------------- */

const char *const cell_mode_names[CELL_MODES] = {"plain", "dp", "ddp", "plain-mt", "collective"};

bool cell_is_alone(enum cell_mode mode)
{
    return mode == CELL_PLAIN || mode == CELL_PLAIN_MT;
}

int cell_replicas(const struct cell_config *config)
{
    return cell_is_alone(config->mode) ? 1 : config->n_devices;
}

int cell_processes(const struct cell_config *config)
{
    return config->per_process > 0 ? config->n_devices / (int)config->per_process : 0;
}

void cell_warmup_rule(const struct cell_limits *limits, char rule[CELL_RULE_BYTES])
{
    snprintf(rule, CELL_RULE_BYTES, CELL_WARMUP_FORMAT, limits->warmup_steps,
             limits->warmup_seconds, (size_t)CELL_WARMUP_MAX);
}

struct cell_limits cell_samples(const struct cell_config *config)
{
    struct cell_limits limits = config->limits;
    const size_t chain = config->chain;

    if (chain == 0)
        return limits;
    limits.min_steps = limits.min_steps / chain + (limits.min_steps % chain != 0);
    limits.min_steps = limits.min_steps > WORKLOAD_SETS ? limits.min_steps : WORKLOAD_SETS;
    limits.max_steps = limits.max_steps / chain + (limits.max_steps % chain != 0);
    limits.max_steps = limits.max_steps > limits.min_steps ? limits.max_steps : limits.min_steps;
    return limits;
}

/* ---- the options ----------------------------------------------------------------------------- */

static void default_counts(struct plan_options *options, int n_devices)
{
    const size_t all = (size_t)n_devices, least = options->mode[CELL_COLLECTIVE] ? 2 : 1;

    for (size_t count = least; count < all; count *= 2)
        options->count[options->n_counts++] = count;
    options->count[options->n_counts++] = all;
}

/* Writes "plain,dp"; modes is a mask. */
static void mode_names(unsigned modes, char text[64])
{
    text[0] = '\0';
    for (int mode = 0; mode < CELL_MODES; ++mode)
        if (modes & 1u << mode)
            text_list(text, 64, ",", cell_mode_names[mode]);
}

/* The modes that the options ask for, as a mask. */
static unsigned given_modes(const struct plan_options *options)
{
    unsigned given = 0;

    for (int mode = 0; mode < CELL_MODES; ++mode)
        given |= (unsigned)options->mode[mode] << mode;
    return given;
}

/* Every option that was given must have an effect. */
static int check_axes(const struct plan_options *options, struct text_error *why)
{
    const unsigned given = given_modes(options);
    char has[64], wanted[64];

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

/* Some options are for one process only, and every process must have the same number of devices. */
static int check_processes(const struct plan_options *options, struct text_error *why)
{
    size_t most = 0;

    for (size_t i = 0; i < options->n_per_process; ++i)
        most = options->per_process[i] > most ? options->per_process[i] : most;

    const struct {
        bool given;
        const char *option;
    } alone[] = {{options->n_communicators > 0, "--communicator, which is mpi between processes"},
                 {options->n_chains > 0, "--chain"},
                 {options->parts > 0, "--parts"}};

    for (size_t i = 0; most > 0 && i < sizeof alone / sizeof alone[0]; ++i)
        if (alone[i].given)
            return text_fail(why, "--per-process %zu does not go with %s", most, alone[i].option);
    for (size_t i = 0; i < options->n_per_process * options->n_counts; ++i) {
        const size_t each = options->per_process[i / options->n_counts];
        const size_t count = options->count[i % options->n_counts];

        if (each == 0 || count % each == 0)
            continue;
        return text_fail(
            why, "--counts has %zu, but with --per-process %zu it must be a multiple of %zu", count,
            each, each);
    }
    return 0;
}

/* Checks a sweep of models. Ranks, references and weak scaling do not go with all grids, and lists
 * are ascending. Means over ranks are verified only if they are exact, and no rank may be without
 * rows. A reference must be compared with something, and must not be the same as mode plain. */
static int check_training(const struct plan_options *options, struct text_error *why)
{
    const bool ddp = options->mode[CELL_DDP];
    const bool alone = (given_modes(options) & ~(1u << CELL_PLAIN_MT)) == 0;
    const size_t rows = options->batch[options->n_batches - 1];
    const size_t most = options->count[options->n_counts - 1];

    for (size_t i = 0; ddp && i < options->n_workloads; ++i) {
        if (verify_has_ranks(&options->workload[i]))
            continue;
        return text_fail(
            why,
            "--workload %s is partly on the host, but with --mode ddp a rank has its whole "
            "model on one device",
            options->workload[i].name);
    }
    for (size_t i = 0; ddp && i < options->n_counts; ++i) {
        const size_t count = options->count[i];

        if ((count & (count - 1)) == 0)
            continue;
        return text_fail(
            why,
            "--counts has %zu, but --mode ddp is verified on 1, 2, 4, 8, ... devices only: "
            "the means of other counts are not exact; name the counts, like --counts 1,2",
            count);
    }
    if (ddp && !options->weak && options->batch[0] < most)
        return text_fail(why, "--batch has %zu, but --mode ddp needs a row for each of %zu devices",
                         options->batch[0], most);
    if (options->mode[CELL_PLAIN_MT] && (alone || most == 1))
        return text_fail(
            why, "%s",
            alone ? "--mode plain-mt is a reference: add plain, dp or ddp"
                  : "--mode plain-mt uses as many cores as the most devices, and --counts has only "
                    "1");
    if (options->weak && rows * most > PLAN_MAX_ROWS)
        return text_fail(
            why,
            "--batch has %zu: with --scaling weak that is %zu rows on %zu devices; at most %d "
            "are allowed",
            rows, rows * most, most, PLAN_MAX_ROWS);
    return 0;
}

static int default_training(struct plan_options *options, struct text_error *why)
{
    static const char *const names[] = {"tutorial", "mlp:1024,1024,1024,1024"};
    static const size_t batches[] = {10, 30, 32, 64, 128, 256, 512, 1024, 2048, 4096};
    const bool plain = (given_modes(options) & ~(1u << CELL_PLAIN)) == 0;
    char unused[200];

    /* A model whose results are rounded has a bound for float only. */
    for (size_t i = 0; i < options->n_workloads; ++i)
        if (!workload_has_math(&options->workload[i], options->math))
            return text_fail(why,
                             "--workload %s rounds, and is verified with --math f32 only, not %s",
                             options->workload[i].name, dp_math_name(options->math));
    if (options->n_workloads == 0)
        for (size_t i = 0; i < sizeof names / sizeof names[0]; ++i)
            workload_parse(names[i], &options->workload[options->n_workloads++], unused,
                           sizeof unused);
    if (options->n_batches == 0) {
        memcpy(options->batch, batches, sizeof batches);
        options->n_batches = sizeof batches / sizeof batches[0];
    }
    /* The model alone is on one device; with more counts, the command would ask for more in vain.
     */
    if (plain && options->n_counts == 0)
        options->count[options->n_counts++] = 1;
    if (!plain || (options->n_counts == 1 && options->count[0] == 1))
        return 0;
    return text_fail(why, "--counts has %zu, but --mode plain is the model alone on one device",
                     options->count[options->n_counts - 1]);
}

int plan_defaults(struct plan_options *options, int n_devices, struct text_error *why)
{
    if (n_devices < 1)
        return text_fail(why, "--devices %s has no devices to run on in parallel; use virt:N",
                         options->devices);
    if (given_modes(options) == 0) {
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
    for (size_t i = 0; i < options->n_counts; ++i)
        if (options->count[i] > (size_t)n_devices)
            return text_fail(why, "--counts has %zu, but --devices %s has only %d device%s",
                             options->count[i], options->devices, n_devices,
                             n_devices == 1 ? "" : "s");
    if (check_processes(options, why) || (trains && check_training(options, why)))
        return -1;
    if (plan_cells(options) > PLAN_MAX_CELLS)
        return text_fail(why, "--launches %zu of %zu cells are %zu; at most %d are allowed",
                         options->launches, plan_block(options), plan_cells(options),
                         PLAN_MAX_CELLS);
    /* The record of a launch must be certainly short enough. For each step it has two times and a
     * flag, and for each device a time of each phase and of matrix products. No time is longer than
     * a day. */
    for (size_t i = 0; i < options->n_counts; ++i) {
        const size_t number = sizeof "86400000000000," - 1, others = 64 * 1024;
        const size_t step = number * (3 + (RECORD_PHASES + 1) * options->count[i]);
        const size_t most = (RECORD_LINE_BYTES - others) / step - CELL_WARMUP_MAX;

        if (options->limits.max_steps > most)
            return text_fail(
                why,
                "--steps %zu:%zu: the record of a launch on %zu device%s could be longer than "
                "%zu MiB; at most %zu steps are allowed",
                options->limits.min_steps, options->limits.max_steps, options->count[i],
                options->count[i] == 1 ? "" : "s", RECORD_LINE_BYTES >> 20, most);
    }
    return 0;
}

/* The number of device counts of a mode: one for the model alone, all for the others. */
static size_t counts_of(const struct plan_options *options, enum cell_mode mode)
{
    return cell_is_alone(mode) ? 1 : options->n_counts;
}

/* The number of combinations of values of the outer axes of a mode, or of all other axes. */
static size_t values_of(const struct plan_options *options, enum cell_mode mode, bool outer)
{
    size_t n = 1;

    for (size_t i = 0; i < PLAN_OPTIONS; ++i)
        if (plan_option_table[i].axis.outer == outer)
            n *= plan_axis_count(&plan_option_table[i], options, mode);
    return n;
}

/* The number of groups: the cells of one workload and batch, or of one collective and size. */
static size_t groups_of(const struct plan_options *options)
{
    return options->mode[CELL_COLLECTIVE] ? values_of(options, CELL_COLLECTIVE, true)
                                          : options->n_workloads * options->n_batches;
}

/* The number of settings of a group in one mode: each of its device counts has all values of the
 * axes of the mode. */
static size_t settings_of(const struct plan_options *options, enum cell_mode mode)
{
    const size_t n = counts_of(options, mode) * values_of(options, mode, false);

    return options->mode[mode] ? n : 0;
}

/* The number of settings in all modes. */
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

/* Writes a permutation of the numbers 0 .. n-1. */
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

/* Sets the axes of a mode, the outer ones or the others, to combination number place. The first
 * axis in the table changes fastest. */
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

/* Fills the cell with setting number place of a group: one workload with one batch, or one
 * collective with one size. */
static void make_cell(const struct plan_options *options, size_t group, size_t place,
                      struct cell_config *cell)
{
    enum cell_mode mode = CELL_PLAIN;

    for (; place >= settings_of(options, mode); ++mode)
        place -= settings_of(options, mode);

    const size_t counts = counts_of(options, mode);
    /* The reference uses the cores of the largest device count. */
    const size_t at = mode == CELL_PLAIN_MT ? options->n_counts - 1 : place % counts;
    const size_t count = mode == CELL_PLAIN ? 1 : options->count[at];

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

struct cell_config *plan_make(const struct plan_options *options, const char *communicators,
                              const char *run_id)
{
    const size_t n = plan_cells(options), block = plan_block(options);
    const size_t groups = groups_of(options), each = settings(options);
    struct cell_config *cells = cli_alloc(n, sizeof *cells);
    size_t *group = cli_alloc(groups, sizeof *group), *place = cli_alloc(each, sizeof *place);
    uint64_t state = options->seed;

    /* Cells that are compared, those of one workload and batch, follow each other, because the
     * machine changes less between neighbours than over a block. */
    for (size_t i = 0; i < n;) {
        if (i % block == 0)
            shuffle(group, groups, random_next(&state));
        shuffle(place, each, random_next(&state));
        for (size_t k = 0; k < each; ++k, ++i)
            make_cell(options, group[i % block / each], place[k], &cells[i]);
    }
    free(group);
    free(place);
    for (size_t i = 0; i < n; ++i) {
        struct cell_config *cell = &cells[i];
        size_t asked = 0;

        cell->launch = (int)(i / block);
        cell->order_index = i;
        snprintf(cell->run_id, sizeof cell->run_id, "%s", run_id);
        /* The communicator gets the name that it has on these devices, instead of the name that was
         * asked for. */
        while (asked < options->n_communicators &&
               strcmp(options->communicator[asked], cell->communicator) != 0)
            ++asked;
        if (cell->per_process > 0)
            snprintf(cell->communicator, sizeof cell->communicator, "mpi");
        else
            plan_communicator(communicators, asked < options->n_communicators ? asked : 0,
                              cell->communicator);
    }
    return cells;
}
